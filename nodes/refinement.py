"""Adds one output after the latest one: the first try, or a refinement."""

from collections.abc import Mapping
from typing import Any, Literal

from thoughtgraph.generation import GeneratorInput
from thoughtgraph.method import ThoughtQuestion
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.check import latest_output
from thoughtgraph.nodes.generators import generator_input, one_thought_each
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place_below
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.direct import RefineSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Answers, Question, Refines
from thoughtgraph.tree import bounded

GIVEN = "given by the caller"


def output_question(run: Run, given: GeneratorInput) -> ThoughtQuestion:
    """Asks for a first output, and for a better one once there is one."""
    problem, path, options = given["problem"], given["path"], given["settings"]
    if path:
        question = run.task_for(options, Refines).refine(problem, path, options)
    else:
        question = run.task_for(options, Answers).ask(problem, "io", options)
    one = Question(question.prompt, question.read, 1)  # each output is shown the one before it
    return one_thought_each(one, 1, _output)


def _output(found: str | None, text: str) -> Mapping[str, Any]:
    return bounded({"text": text, "answer": found, "raw": text})


def add_output(run: Run, role: Literal["generate", "refine"]) -> Node:
    """Makes the node that adds one output, the child of the latest one.

    Args:
        role: `generate` for the first output, which is the caller's `draft` if there is one (the
            model is not asked then); `refine` for the others. It is the node's name too.

    When a limit or a failing endpoint forbids the request it stops the search.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        latest, step = latest_output(state), Step(run, state)
        if reason := blocking_limit(state, latest):
            return {"stop_reason": reason}
        draft = RefineSettings.of(state["settings"]).draft if role == "generate" else ""
        question = output_question(run, generator_input(state, latest))
        answers = [] if draft else await step.ask([Ask(question, latest, role, expansion=0)])
        if draft:
            output = {**question.read([draft])[0], "note": GIVEN}
        elif answers:
            output = {**answers[0].reading[0]}
        else:
            return step.update(stop_reason="budget")
        if answers and output["answer"] is None:
            step.count(parse_errors={role: 1})
        step.count(thoughts=1, expansions=len(answers), rounds=int(role == "refine"))
        placed = place_below(state, latest, [output], answers[0].usage if answers else {})
        return step.update(thoughts=placed.tree)

    node.__name__ = role
    return node
