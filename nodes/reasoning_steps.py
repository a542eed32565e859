"""Reasoning step by step: the next step of a path, and its place in the tree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from thoughtgraph.generation import Expansion, GeneratorInput
from thoughtgraph.method import ChooseGenerator, ThoughtGenerator, ThoughtQuestion
from thoughtgraph.nodes.calls import Answer, Ask
from thoughtgraph.nodes.generators import generator_input
from thoughtgraph.nodes.limits import thoughts_left
from thoughtgraph.nodes.placement import Placed, place
from thoughtgraph.outcome import StopReason
from thoughtgraph.reasoning import Steps
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import ReasoningSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Thought, bounded

NOTHING = "(no output)"
"""The thought that stands for an empty completion, asked for twice (ours)."""
TOO_LONG = "the longest path ends here"


def next_step(n: int = 1) -> ThoughtGenerator:
    """Returns the generator of the next step after a path.

    It is warned by the lessons of earlier paths (appendix B.3).

    Args:
        n: How many next steps are asked for, where the task does not say it.
    """

    def generator(run: Run, given: GeneratorInput) -> ThoughtQuestion:
        settings, path = given["settings"], given["path"]
        task, lessons = run.task_for(settings, Steps), given.get("lessons", [])
        question = task.step(given["problem"], path, lessons, settings)
        return replace(question, n=question.n or n)

    return generator


def step_ask(
    run: Run,
    state: SearchState,
    generator: ChooseGenerator,
    key: str,
    times: int,
    experiences: Sequence[str] = (),
) -> Ask[Sequence[Mapping[str, Any]]]:
    """Returns what to ask for one step from a thought.

    Any text is a step, and none is malformed but an empty one: that is asked for once more, then
    stands as a thought that says so.

    Args:
        generator: From the run's settings to the generator of steps.
        key: Id of the thought.
        times: How many steps were taken from it before.
        experiences: Ids of the thoughts whose steps and analyses the prompt contains, in order.
    """
    given = generator_input(state, key, expansion=times, experiences=experiences)
    question = generator(state["settings"])(run, given)
    most = max(1, thoughts_left(state))
    return Ask(question, key, most=most, expansion=times, enough=_says_something)


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
    expansions: list[Expansion] = []
    for said in answers:
        kept: Any = (marks or {}).get(said.ask.name, {})
        steps = [{**bounded(each), **kept} for each in said.reading]
        steps = [{**each, "text": each["text"] or NOTHING} for each in steps]
        expansions.append(Expansion(parent=said.ask.about, thoughts=steps, usage=said.usage))
    placed = place(state, expansions)
    longest = longest_path(ReasoningSettings.of(state["settings"]))
    for thought in placed.new.values():
        if thought["depth"] >= longest and thought["status"] == "open":
            thought |= Thought(status="terminal", answer=None, note=TOO_LONG)
    return placed


def end_reason(step: Thought) -> StopReason:
    """Returns why a path ends with its newest step, if it does."""
    if step["status"] != "terminal":
        return ""
    return "step_limit" if step.get("note") == TOO_LONG else "finished"


def longest_path(settings: ReasoningSettings) -> int:
    """Returns how many steps a path may have."""
    return min(settings.steps, settings.limit_depth or settings.steps)


def _says_something(steps: Sequence[Mapping[str, Any]]) -> bool:
    return any(step["text"].strip() for step in steps)
