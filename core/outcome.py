"""How a search ended, in one sentence that terminal, JSON and page share: written here alone.

What is said follows from plain data of the result: `stop_reason`, `limit`, `answer`, `votes`.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Literal

from typing_extensions import TypedDict

from thoughtgraph.settings import LIMIT_PREFIX, limits_of
from thoughtgraph.usage import Ending, spent

StopReason = Literal[
    "",
    "finished",
    "verified",
    "settled",
    "exhausted",
    "dead_end",
    "round_limit",
    "step_limit",
    "budget",
    "error",
    "refused",
]
"""Why a search ended; empty while it runs. None of these says that the answer is right.

* `finished`: the method came to its own end, with or without an answer.
* `verified`: an answer passed the task's exact check, or the oracle, which ended the search.
* `settled`: no further solution could have changed the answer.
* `exhausted`: nothing was left to search; an answer is the best of what there was.
* `dead_end`: no thought was left to go on from.
* `round_limit`, `step_limit`, `budget`: a limit on rounds, on steps, or another one; `limit` names
  it.
* `error`: the model could not be asked; `error` says why.
* `refused`: of a server alone, the search could not begin as it was asked for; `error` says why.
"""
REFUSED = "refused"
INTERRUPTED = "interrupted"
"""Stop reason of a run that was stopped by Ctrl-C and can be resumed: the command's own."""
SPENT = ("exhausted", "dead_end")
"""Reasons that say nothing was left, which a limit on depth may be the cause of."""
LIMITED = ("round_limit", "step_limit", "budget")
ROUNDS = ("rounds", "refinements", "trials")
STEPS = ("max_records", "max_steps", "steps", "max_depth")
"""Settings that bound a method's own rounds and steps; a method has one of each."""
REJECTED = "rejected: "
"""What the note of an answer that the search itself rejected begins with."""
ACCEPTED = "accepted by the answer evaluator"
FORCED = "forced at the end"
GOOD = "the model finds it good"
POOR = "the model does not find it good yet"
DENIED = "the oracle says wrong"
FAILED = "the exact check says wrong"
JUDGED = {
    ACCEPTED: "that the answer evaluator accepted",
    FORCED: "that was forced at the end",
    GOOD: "that the model finds good",
    DENIED: "that the oracle found wrong",
    FAILED: "that the exact check found wrong",
    POOR: "that the model does not find good yet",
}
"""What a thought's note says of its answer, as the outcome says it."""
INCOMPLETE: Mapping[Ending, str] = {
    "cut_off": "cut off at max_completion_tokens={longest}; raise it",
    "filtered": "withheld by a content filter",
    "refused": "refused by the model",
    "tool_call": "a call of a tool without text",
    "empty": "empty, reasoning apart",
}
"""What ended a completion, by its name in `usage`, as the outcome says it."""
SHOWN = 5
"""Tied answers that are named."""
LONGEST = 40
"""Characters of a tied answer that are shown."""

By = Literal["votes", "weights", "scores"]


class Vote(TypedDict):
    """What the answer, or a thought on the way to it, was chosen by."""

    by: By
    """`votes`: of samples; `weights`: votes that weigh more or less; `scores`: each candidate's
    own, from 0 to 1, of which the best counts."""
    step: int
    """Depth of the thoughts that were compared; 0 where whole answers were."""
    got: float | None
    """What the chosen one has; None where its own could not be read and a default counted."""
    of: float
    """What all have together; of scores: 1. 0 where nothing could be read."""
    tied: list[str]
    """The others with as much, in order: their answers, else `thought ID`. The first counts."""
    unread: int
    """Votes or scores in which nothing could be read."""


def vote(
    by: By,
    worth: Mapping[str, float],
    chosen: str,
    *,
    unread: int = 0,
    step: int = 0,
    read: bool = True,
) -> Vote:
    """Returns how a choice came about.

    Args:
        by: What it was made by.
        worth: What each candidate has, in order, by what it is called.
        chosen: The one that was chosen.
        unread: Votes or scores that could not be read.
        step: Depth of the compared thoughts.
        read: Whether what the chosen one has was read, and is no default.
    """
    got = worth[chosen]
    tied = [name for name, other in worth.items() if other == got and name != chosen]
    total = 1.0 if by == "scores" else sum(worth.values())
    told = got if read else None
    return {"by": by, "step": step, "got": told, "of": total, "tied": tied, "unread": unread}


def limit_reached(state: Mapping[str, Any]) -> str:
    """Returns the name of the setting that ended a search; empty where none did.

    Args:
        state: The last state; `limit` is the name where the step that ended it knows it.
    """
    reason, settings = state.get("stop_reason", ""), state["settings"]
    if reason in SPENT:
        allowed = limits_of(settings).get("depth")
        cut = allowed is not None and _deepest(state["tree"]) >= allowed
        return f"{LIMIT_PREFIX}depth" if cut else ""
    if reason not in LIMITED:
        return ""
    if state.get("limit"):
        return str(state["limit"])
    limits = limits_of(settings)
    if reason == "budget":
        return LIMIT_PREFIX + (spent(limits, state["usage"]) or "thoughts")
    own, name = (ROUNDS, "rounds") if reason == "round_limit" else (STEPS, "depth")
    if reason == "round_limit":
        used, allowed = state["usage"].get("rounds", 0), limits.get("rounds")
    else:
        used, allowed = _deepest(state["tree"]), limits.get("depth")
    if allowed is not None and used >= allowed:
        return LIMIT_PREFIX + name
    return next((each for each in own if each in settings), LIMIT_PREFIX + name)


def sentence(result: Mapping[str, Any]) -> str:
    """Returns how a search ended, as one sentence without a full stop.

    Args:
        result: A result, or the last state of a search.
    """
    votes = result.get("votes") or []
    close = [each for each in votes[:-1] if each["tied"] or each["unread"]]
    if len(close) > 1:
        before = [f"{len(close)} choices before the last were tied or partly unread"]
    else:
        before = [vote_words(each) for each in close]
    parts = [_end(result), _incomplete(result), *before, *map(vote_words, votes[-1:])]
    return "; ".join(filter(None, parts))


def verdict(result: Mapping[str, Any]) -> str:
    """Says whether an answer is right, as far as anybody can tell without the gold answer.

    Args:
        result: A result with an answer; `verified` is what the exact check, or the oracle, said.
    """
    right, task = result.get("verified"), result["task"]
    if right is None:
        return f"unknown: {task} has no exact check"
    if result.get("stop_reason") == "verified" or note_of(result) == DENIED:
        return f"{'yes' if right else 'no'}, by {_judge(result)}"
    return f"{'yes' if right else 'no'}, by the exact check of {task}"


def rightness(right: bool, gold: str | None = None) -> str:
    """Says whether an answer is the gold one, which stored results do not hold."""
    if right:
        return "yes, it is the gold answer"
    return "no, it is not the gold answer" if gold is None else f"no, it is {gold!r}"


def vote_words(chosen: Vote) -> str:
    """Returns what a vote came to, such as `3 of 5 votes` or `1 of 5 votes, tied with 84, 96`."""
    where = f"step {chosen['step']}: " if chosen["step"] else ""
    unread, one = chosen["unread"], {"scores": "score"}.get(chosen["by"], "vote")
    if not chosen["of"]:
        return f"{where}no {one} of {unread} could be read, so the first one counts"
    words = _got(chosen)
    if chosen["tied"]:
        words += f", tied with {_named(chosen['tied'])}: the first one counts"
    if unread:
        words += f"; {unread} {one}{'' if unread == 1 else 's'} could not be read"
    return where + words


def _got(chosen: Vote) -> str:
    if chosen["got"] is None:
        return "nothing of its own score could be read, so a default counted"
    got, of = f"{chosen['got']:.3g}", f"{chosen['of']:.3g}"
    return {
        "votes": f"{got} of {of} vote{'' if of == '1' else 's'}",
        "weights": f"weighted vote {got} of {of}",
        "scores": f"scored {got} of {of}",
    }[chosen["by"]]


def _end(result: Mapping[str, Any]) -> str:
    reason, settings = result.get("stop_reason", ""), result.get("settings", {})
    answered, judged = result.get("answer") is not None, _judged(result)
    having = f"with an answer{judged}" if answered else "without an answer"
    if reason in LIMITED:
        best = having if judged or not answered else "with the best answer so far"
        return f"stopped by {_limit(str(result.get('limit', '')), settings)}, {best}"
    within = f" within {_limit(str(result['limit']), settings)}" if result.get("limit") else ""
    return {
        "finished": f"finished {having}{_unread(result)}",
        "verified": f"finished with an answer that {_judge(result)} found right",
        "settled": "finished with an answer that no further solution could change",
        "exhausted": f"finished {having}, as nothing was left to search{within}",
        "dead_end": f"finished {having}, as no thought was left to go on from{within}",
        "error": f"stopped {having}, as the model could not be asked",
        REFUSED: "refused before the model was asked anything",
        INTERRUPTED: "stopped by Ctrl-C; what was answered is kept",
    }.get(reason, reason or "unknown")


def _unread(result: Mapping[str, Any]) -> str:
    """Returns why a search that came to its end has no answer, where its outputs show it."""
    outputs = [each for each in result.get("tree", {}).values() if each["status"] == "terminal"]
    unread = outputs and all(each.get("answer") is None for each in outputs)
    return ", as none could be read" * bool(unread)


def _incomplete(result: Mapping[str, Any]) -> str:
    """Returns which completions of a search without an answer were no whole ones, and why."""
    usage, settings = result.get("usage", {}), result.get("settings", {})
    counts: Mapping[Ending, int] = usage.get("incomplete") or {}
    if result.get("answer") is not None or not counts:
        return ""
    ending, number = max(counts.items(), key=itemgetter(1))
    which = f"{number} of {usage['samples']} completions {'was' if number == 1 else 'were'}"
    if usage["samples"] == 1:
        which = "the only completion was"
    return f"{which} {INCOMPLETE[ending].format(longest=settings.get('max_completion_tokens'))}"


def note_of(result: Mapping[str, Any]) -> str:
    """Returns the note of the thought that gave the answer; empty where there is none."""
    thoughts = result.get("tree", {}).values()
    return next((each.get("note", "") for each in thoughts if each.get("chosen")), "")


def _judged(result: Mapping[str, Any]) -> str:
    """Returns what the search itself thinks of its answer; empty where it does not say."""
    note = note_of(result)
    words = "that the search itself rejected" if note.startswith(REJECTED) else JUDGED.get(note)
    return f" {words}" if words else ""


def _judge(result: Mapping[str, Any]) -> str:
    """Returns who ended the search because an answer was right."""
    settings = result.get("settings", {})
    told = settings.get("oracle") or result.get("oracle")
    return "the oracle" if told and not settings.get("exact_check") else "the exact check"


def _limit(name: str, settings: Mapping[str, Any]) -> str:
    if not name:
        return "a limit"
    value = settings.get(name)
    size = "" if value is None else f" ({name}={value:g})"
    if name.startswith(LIMIT_PREFIX):
        return f"the limit on {name.removeprefix(LIMIT_PREFIX)}{size}"
    return f"the method's own bound{size}"


def _named(names: Sequence[str]) -> str:
    shown = [_short(name) for name in names[:SHOWN]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _short(name: str) -> str:
    flat = " ".join(name.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1].rstrip() + "…"


def _deepest(tree: Mapping[str, Any]) -> int:
    return max((thought["depth"] for thought in tree.values()), default=0)
