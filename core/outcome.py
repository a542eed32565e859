"""How a search ended, in one sentence that terminal, JSON and page share: written here alone.

What is said follows from plain data of the result: `stop_reason`, `limit`, `answer`, `votes`.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Literal

from typing_extensions import TypedDict

from thoughtgraph import registry
from thoughtgraph.settings import LIMIT_PREFIX, Settings
from thoughtgraph.settings.marks import Bounds, Exact
from thoughtgraph.usage import Ending, reached_limit

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
LONGEST_TIED = 40
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
    deepest = max((thought["depth"] for thought in state["tree"].values()), default=0)
    depth = settings.get("limit_depth")
    if reason in SPENT:
        return "limit_depth" if depth is not None and deepest >= depth else ""
    if reason not in LIMITED:
        return ""
    if state.get("limit"):
        return str(state["limit"])
    if reason == "budget":
        return LIMIT_PREFIX + (
            reached_limit(Settings.of(settings).limits, state["usage"]) or "thoughts"
        )
    what, used = "depth", deepest
    if reason == "round_limit":
        what, used = "rounds", state["usage"].get("rounds", 0)
    most = settings.get(LIMIT_PREFIX + what)
    bounds = registry.settings(state["method"]).marked(Bounds).items()
    own = next((name for name, mark in bounds if mark.what == what), "")
    return LIMIT_PREFIX + what if (most is not None and used >= most) or not own else own


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
        return f"not checked: {task} has no exact check"
    if result.get("stop_reason") == "verified" or chosen_thought(result).get("note") == DENIED:
        return f"{'yes' if right else 'no'}, by {_judge(result)}"
    return f"{'yes' if right else 'no'}, by the exact check of {task}"


def vote_words(chosen: Vote) -> str:
    """Returns what a vote came to, such as `3 of 5 votes` or `1 of 5 votes, tied with 84, 96`."""
    where = f"step {chosen['step']}: " if chosen["step"] else ""
    unread, kind = chosen["unread"], "scores" if chosen["by"] == "scores" else "votes"
    one = kind.removesuffix("s")
    if not chosen["of"]:
        return f"{where}no {one} of {unread} could be read, so the first one counts"
    got, of = chosen["got"], f"{chosen['of']:.3g}"
    words = "nothing of its own score could be read, so a default counted"
    if got is not None:
        words = {
            "votes": f"{got:.3g} of {of} vote{'' if of == '1' else 's'}",
            "weights": f"weighted vote {got:.3g} of {of}",
            "scores": f"scored {got:.3g} of {of}",
        }[chosen["by"]]
    if names := [" ".join(name.split()) for name in chosen["tied"]]:
        cut = (
            n if len(n) <= LONGEST_TIED else f"{n[: LONGEST_TIED - 1].rstrip()}…"
            for n in names[:SHOWN]
        )
        more = f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)
        words += f", tied with {', '.join(cut)}{more}: the first one counts"
    if unread:
        words += f"; {unread} {one if unread == 1 else kind} could not be read"
    return where + words


def _end(result: Mapping[str, Any]) -> str:
    reason, limit, chosen = result.get("stop_reason", ""), _limit(result), chosen_thought(result)
    note, runs = chosen.get("note", ""), chosen.get("plausible")
    having = "with an answer" if result.get("answer") is not None else "without an answer"
    if note and result.get("answer") is not None:
        rejected = note.startswith(REJECTED)
        judged = "that the search itself rejected" if rejected else JUDGED.get(note, "")
        having = f"{having} {judged}".rstrip()
    if runs is not None:
        having += " that runs" if runs else " that does not run or returns nothing"
    if reason in LIMITED:
        best = "with the best answer so far" if having == "with an answer" else having
        return f"stopped by {limit or 'a limit'}, {best}"
    within = f" within {limit}" if limit else ""
    outputs = [each for each in result.get("tree", {}).values() if each["status"] == "terminal"]
    return {
        "finished": f"finished {having}{_lacking(outputs) if result.get('answer') is None else ''}",
        "verified": f"finished with an answer that {_judge(result)} found right",
        "settled": "finished with an answer that no further solution could change",
        "exhausted": f"finished {having}, as nothing was left to search{within}",
        "dead_end": f"finished {having}, as no thought was left to go on from{within}",
        "error": f"stopped {having}, as the model could not be asked",
        REFUSED: "refused before the model was asked anything",
        INTERRUPTED: "stopped by Ctrl-C; what was answered is kept",
    }.get(reason, reason or "unknown")


def _lacking(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Returns why there is no answer although there are outputs; empty where nobody knows."""
    readable = [each for each in outputs if each.get("answer") is not None]
    if outputs and not readable:
        return ", as none could be read"
    if readable and all(each.get("ballot", "") is None for each in readable):
        return f", as none of {len(readable)} had a vote: {readable[0].get('note', '')}".rstrip(
            ": "
        )
    return ""


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


def chosen_thought(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the thought that gave the answer; an empty one where there is none."""
    return next((each for each in result.get("tree", {}).values() if each.get("chosen")), {})


def _judge(result: Mapping[str, Any]) -> str:
    """Returns who ended the search because an answer was right."""
    settings, method = result.get("settings", {}), str(result.get("method"))
    known = registry.settings(method) if method in registry.METHODS else Settings
    exact = any(settings.get(name) for name in known.marked(Exact))
    told = settings.get("oracle") or result.get("oracle")
    return "the oracle" if told and not exact else "the exact check"


def _limit(result: Mapping[str, Any]) -> str:
    """Returns the limit that ended the search, in words; empty where none did."""
    name = str(result.get("limit") or "")
    value = result.get("settings", {}).get(name)
    size = "" if value is None else f" ({name}={value:g})"
    if not name.startswith(LIMIT_PREFIX):
        return name and f"the method's own bound{size}"
    return f"the limit on {name.removeprefix(LIMIT_PREFIX)}{size}"


def with_note(thought: Mapping[str, Any], note: str) -> str:
    """Returns a thought's note with another after it."""
    return f"{thought['note']}; {note}" if thought.get("note") else note
