"""Reasoning step by step: the next step of a path, and its place in the tree."""

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
"""The thought that stands for an empty completion, asked for twice (ours)."""
TOO_LONG = "the longest path ends here"


def step_ask(
    step: Step, key: str, *, n: int = 1, times: int = 0, experiences: Sequence[str] = ()
) -> Ask[Sequence[Mapping[str, Any]]]:
    """Returns a request for next steps of a thought, warned by earlier paths (appendix B.3).

    Any text is a step, and none is malformed but an empty one: that is asked for once more, then
    stands as a thought that says so.

    Args:
        step: This run of the node.
        key: Id of the thought to continue.
        n: How many next steps are asked for, where the task does not say it.
        times: How often the thought was continued before.
        experiences: Ids of the last thoughts of the paths that the prompt is to contain, in order;
            each holds its analysis.
    """
    problem, path, settings = step.at(key)
    lessons = [path_to(step.state["thoughts"], each) for each in experiences]
    question = step.task(Steps).step(problem, path, lessons, settings)
    most = max(1, thoughts_left(step.state))
    return Ask(question, key, n=n, most=most, expansion=times, enough=_says_something)


def steps_of(
    state: SearchState,
    answers: Sequence[Answer[Sequence[Mapping[str, Any]]]],
    marks: Mapping[str, Thought] | None = None,
) -> Placed:
    """Places the steps of a superstep; one at the greatest depth ends its path.

    Args:
        answers: The answers to `step_ask`.
        marks: What the steps of an answer keep besides, by the question's name.
    """
    expansions: list[Children] = []
    for said in answers:
        kept: Any = (marks or {}).get(said.ask.name, {})
        steps = [{**bounded(each), **kept} for each in said.reading]
        steps = [{**each, "text": each["text"] or NOTHING} for each in steps]
        expansions.append(Children(parent=said.ask.about, thoughts=steps, usage=said.usage))
    placed = place(state, expansions)
    settings = ReasoningSettings.of(state["settings"])
    longest = min(settings.steps, settings.limit_depth or settings.steps)
    for thought in placed.new.values():
        if thought["depth"] >= longest and thought["status"] == "open":
            thought |= Thought(status="terminal", answer=None, note=TOO_LONG)
    return placed


def end_reason(step: Thought) -> StopReason:
    """Returns why a path ends with its newest step, if it does."""
    if step["status"] != "terminal":
        return ""
    return "step_limit" if step.get("note") == TOO_LONG else "finished"


def _says_something(steps: Sequence[Mapping[str, Any]]) -> bool:
    return any(step["text"].strip() for step in steps)
