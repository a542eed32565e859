"""Renders how a search ended as one sentence, which terminal, JSON and page share.

The sentence depends on plain data of the result alone, such as `stop_reason` and `votes`.
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
"""Why a search ended; empty while it runs. Only `verified` says that the answer is right.

* `finished`: the method came to its own end, with or without an answer.
* `verified`: an answer passed the task's exact check or the oracle, which ended the search.
* `settled`: no further solution could have changed the answer.
* `exhausted`: nothing was left to search; the answer, if any, is the best one so far.
* `dead_end`: no thought was left to continue from.
* `round_limit`, `step_limit`, `budget`: a limit on rounds, on steps, or another one; `limit` names
  it.
* `error`: the model failed for good; `error` says why.
* `refused`: the search could not begin; `error` says why. Only servers and conversations end so.
"""
REFUSED = "refused"
INTERRUPTED = "interrupted"
"""Stop reason of a run that Ctrl-C stopped and that can be resumed; only the command sets it."""
SPENT = ("exhausted", "dead_end")
"""Stop reasons of a search with nothing left to do, which a limit on depth may have caused."""
LIMITED = ("round_limit", "step_limit", "budget")
REJECTED = "rejected: "
"""Prefix of the note on an answer that the search itself rejected."""
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
"""The outcome's words about an answer, by the note of its thought."""
INCOMPLETE: Mapping[Ending, str] = {
    "cut_off": "cut off at max_completion_tokens={longest}; raise it",
    "filtered": "withheld by a content filter",
    "refused": "refused by the model",
    "tool_call": "a call of a tool without text",
    "empty": "empty, reasoning apart",
}
"""The outcome's words about incomplete completions, by their `Ending` in `usage`."""
SHOWN = 5
"""Most tied answers that the outcome names."""
LONGEST_TIED = 40
"""Most characters of a tied answer in the outcome."""

By = Literal["votes", "weights", "scores"]


class Vote(TypedDict):
    """The votes, weights or scores that chose the answer, or a thought on the path to it."""

    by: By
    """`votes`: one vote per sample; `weights`: weighted votes; `scores`: each candidate has a score
    from 0 to 1, and the best one wins."""
    step: int
    """Depth of the compared thoughts; 0 if whole answers were compared."""
    got: float | None
    """Votes, weight or score of the winner; None if it was unreadable and a default counted."""
    of: float
    """Total of all candidates; for scores: 1. 0 if nothing could be read."""
    tied: list[str]
    """Ties with the winner, which comes first, in order: their answers, else `thought ID`."""
    unread: int
    """Number of votes or scores that could not be read."""


def vote(
    by: By,
    worth: Mapping[str, float],
    chosen: str,
    *,
    unread: int = 0,
    step: int = 0,
    read: bool = True,
) -> Vote:
    """Returns the record of a choice among candidates.

    Args:
        by: Kind of vote.
        worth: Votes, weight or score of each candidate, by the candidate's name, in order.
        chosen: Name of the winner.
        unread: Number of votes or scores that could not be read.
        step: Depth of the compared thoughts; 0: whole answers were compared.
        read: Whether the winner's worth was read; otherwise it is a default.
    """
    count = worth[chosen]
    tied = [name for name, other in worth.items() if other == count and name != chosen]
    total = 1.0 if by == "scores" else sum(worth.values())
    got = count if read else None
    return {"by": by, "step": step, "got": got, "of": total, "tied": tied, "unread": unread}


def limit_reached(state: Mapping[str, Any]) -> str:
    """Returns the name of the setting that ended a search; empty if no limit did.

    Args:
        state: The last state; its `limit` is that name if the last step knew it.
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
    quantity, used = "depth", deepest
    if reason == "round_limit":
        quantity, used = "rounds", state["usage"].get("rounds", 0)
    limit = settings.get(LIMIT_PREFIX + quantity)
    bounds = registry.settings(state["method"]).marked(Bounds).items()
    bound = next((name for name, mark in bounds if mark.what == quantity), "")
    return LIMIT_PREFIX + quantity if (limit is not None and used >= limit) or not bound else bound


def sentence(result: Mapping[str, Any]) -> str:
    """Returns how a search ended, as one sentence without a full stop.

    Args:
        result: A result, or the last state of a search.
    """
    votes = result.get("votes") or []
    unclear = [each for each in votes[:-1] if each["tied"] or each["unread"]]
    if len(unclear) > 1:
        before = [f"{len(unclear)} choices before the last were tied or partly unread"]
    else:
        before = [vote_words(each) for each in unclear]
    parts = [_end(result), _incomplete(result), *before, *map(vote_words, votes[-1:])]
    return "; ".join(filter(None, parts))


def verdict(result: Mapping[str, Any]) -> str:
    """Returns in words whether an answer is right, as far as is known without the gold answer.

    Args:
        result: A result with an answer; its `verified` comes from the exact check or the oracle.
    """
    right, task = result.get("verified"), result["task"]
    if right is None:
        return f"not checked: {task} has no exact check"
    if result.get("stop_reason") == "verified" or chosen_thought(result).get("note") == DENIED:
        return f"{'yes' if right else 'no'}, by {_judge(result)}"
    return f"{'yes' if right else 'no'}, by the exact check of {task}"


def vote_words(chosen: Vote) -> str:
    """Returns a vote in words, such as `1 of 5 votes, tied with 84, 96: the first one counts`."""
    prefix = f"step {chosen['step']}: " if chosen["step"] else ""
    unread, kind = chosen["unread"], "scores" if chosen["by"] == "scores" else "votes"
    singular = kind.removesuffix("s")
    if not chosen["of"]:
        return f"{prefix}no {singular} of {unread} could be read, so the first one counts"
    got, of = chosen["got"], f"{chosen['of']:.3g}"
    words = "nothing of its own score could be read, so a default counted"
    if got is not None:
        words = {
            "votes": f"{got:.3g} of {of} vote{'' if of == '1' else 's'}",
            "weights": f"weighted vote {got:.3g} of {of}",
            "scores": f"scored {got:.3g} of {of}",
        }[chosen["by"]]
    if names := [" ".join(name.split()) for name in chosen["tied"]]:
        short_names = (
            n if len(n) <= LONGEST_TIED else f"{n[: LONGEST_TIED - 1].rstrip()}…"
            for n in names[:SHOWN]
        )
        more = f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)
        words += f", tied with {', '.join(short_names)}{more}: the first one counts"
    if unread:
        words += f"; {unread} {singular if unread == 1 else kind} could not be read"
    return prefix + words


def _end(result: Mapping[str, Any]) -> str:
    """Returns in words why a search ended and whether it has an answer, without the votes."""
    reason, limit, chosen = result.get("stop_reason", ""), _limit(result), chosen_thought(result)
    note, runs = chosen.get("note", ""), chosen.get("plausible")
    answer = "with an answer" if result.get("answer") is not None else "without an answer"
    if note and result.get("answer") is not None:
        rejected = note.startswith(REJECTED)
        judged = "that the search itself rejected" if rejected else JUDGED.get(note, "")
        answer = f"{answer} {judged}".rstrip()
    if runs is not None:
        answer += " that runs" if runs else " that does not run or returns nothing"
    if reason in LIMITED:
        ending = "with the best answer so far" if answer == "with an answer" else answer
        return f"stopped by {limit or 'a limit'}, {ending}"
    within = f" within {limit}" if limit else ""
    outputs = [each for each in result.get("tree", {}).values() if each["status"] == "terminal"]
    return {
        "finished": f"finished {answer}{_lacking(outputs) if result.get('answer') is None else ''}",
        "verified": f"finished with an answer that {_judge(result)} found right",
        "settled": "finished with an answer that no further solution could change",
        "exhausted": f"finished {answer}, as nothing was left to search{within}",
        "dead_end": f"finished {answer}, as no thought was left to go on from{within}",
        "error": f"stopped {answer}, as the model could not be asked",
        REFUSED: "refused before the model was asked anything",
        INTERRUPTED: "stopped by Ctrl-C; what was answered is kept",
    }.get(reason, reason or "unknown")


def _lacking(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Returns why there is no answer although there are outputs; empty if the reason is unknown."""
    readable = [each for each in outputs if each.get("answer") is not None]
    if outputs and not readable:
        return ", as none could be read"
    if readable and all(each.get("ballot", "") is None for each in readable):
        return f", as none of {len(readable)} had a vote: {readable[0].get('note', '')}".rstrip(
            ": "
        )
    return ""


def _incomplete(result: Mapping[str, Any]) -> str:
    """Returns the most frequent reason for incomplete completions of a search without an answer."""
    usage, settings = result.get("usage", {}), result.get("settings", {})
    counts: Mapping[Ending, int] = usage.get("incomplete") or {}
    if result.get("answer") is not None or not counts:
        return ""
    ending, number = max(counts.items(), key=itemgetter(1))
    subject = f"{number} of {usage['samples']} completions {'was' if number == 1 else 'were'}"
    if usage["samples"] == 1:
        subject = "the only completion was"
    return f"{subject} {INCOMPLETE[ending].format(longest=settings.get('max_completion_tokens'))}"


def chosen_thought(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the thought that gave the answer; an empty mapping if there is none."""
    return next((each for each in result.get("tree", {}).values() if each.get("chosen")), {})


def _judge(result: Mapping[str, Any]) -> str:
    """Returns, in words, whether the oracle or the exact check judged the answer."""
    settings, method = result.get("settings", {}), str(result.get("method"))
    method_settings = registry.settings(method) if method in registry.METHODS else Settings
    exact = any(settings.get(name) for name in method_settings.marked(Exact))
    has_oracle = settings.get("oracle") or result.get("oracle")
    return "the oracle" if has_oracle and not exact else "the exact check"


def _limit(result: Mapping[str, Any]) -> str:
    """Returns the limit that ended the search, in words; empty if none did."""
    name = str(result.get("limit") or "")
    value = result.get("settings", {}).get(name)
    size = "" if value is None else f" ({name}={value:g})"
    if not name.startswith(LIMIT_PREFIX):
        return name and f"the method's own bound{size}"
    return f"the limit on {name.removeprefix(LIMIT_PREFIX)}{size}"


def with_note(thought: Mapping[str, Any], note: str) -> str:
    """Returns a thought's note with another one appended."""
    return f"{thought['note']}; {note}" if thought.get("note") else note
