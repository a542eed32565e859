"""Reasoning step by step: requests the next steps of paths and adds them to the tree."""

from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.nodes.calls import Answer, Ask
from thoughtgraph.nodes.expand import Placed, place
from thoughtgraph.nodes.limits import thoughts_left
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import StopReason
from thoughtgraph.reasoning import Steps
from thoughtgraph.settings.rollback import ReasoningSettings
from thoughtgraph.state import Children, SearchState
from thoughtgraph.tree import Thought, bounded, path_to

NOTHING = "(no output)"
"""Text of a thought whose completion was empty (ours)."""
TOO_LONG = "the longest path ends here"


def step_ask(
    step: Step, key: str, *, n: int = 1, times: int = 0, experiences: Sequence[str] = ()
) -> Ask[Sequence[Mapping[str, Any]]]:
    """Returns the request for next steps of a thought, warned by earlier paths (appendix B.3).

    Any text is a step. A request is malformed if all its completions are empty, and is sent once
    more then; a completion that stays empty becomes the thought `NOTHING`.

    Args:
        step: This run of the node.
        key: Id of the thought to continue.
        n: Number of next steps to request, unless the task sets it.
        times: How often the thought was continued before.
        experiences: Ids of the last thoughts of the paths that the prompt shows, in order; each
            holds the analysis of its path.
    """
    problem, path, settings = step.at(key)
    lessons = [path_to(step.state["thoughts"], each) for each in experiences]
    question = step.task(Steps).step(problem, path, lessons, settings)
    most = max(1, thoughts_left(step.state))
    return Ask(question, key, n=n, most=most, expansion=times, enough=_has_text)


def steps_of(
    state: SearchState,
    answers: Sequence[Answer[Sequence[Mapping[str, Any]]]],
    marks: Mapping[str, Thought] | None = None,
) -> Placed:
    """Makes thoughts of the steps of a superstep; a step at the greatest depth ends its path.

    Args:
        answers: The answers to the requests of `step_ask`.
        marks: Further fields of the steps of an answer, by the name of its request.
    """
    expansions: list[Children] = []
    for reply in answers:
        fields: Any = (marks or {}).get(reply.ask.name, {})
        steps = [{**bounded(each), **fields} for each in reply.reading]
        steps = [{**each, "text": each["text"] or NOTHING} for each in steps]
        expansions.append(Children(parent=reply.ask.about, thoughts=steps, usage=reply.usage))
    placed = place(state, expansions)
    settings = ReasoningSettings.of(state["settings"])
    deepest = min(settings.steps, settings.limit_depth or settings.steps)
    for thought in placed.new.values():
        if thought["depth"] >= deepest and thought["status"] == "open":
            thought |= Thought(status="terminal", answer=None, note=TOO_LONG)
    return placed


def end_reason(step: Thought) -> StopReason:
    """Returns the stop reason if a step ends its path; empty if the path goes on."""
    if step["status"] != "terminal":
        return ""
    return "step_limit" if step.get("note") == TOO_LONG else "finished"


def _has_text(steps: Sequence[Mapping[str, Any]]) -> bool:
    return any(step["text"].strip() for step in steps)
