"""The rollback controller's eyes: a path is analysed, and the bad steps are named (section 4.2)."""

from collections.abc import Sequence
from typing import Any

from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.rollback.schedule import due_at
from thoughtgraph.nodes.step import Step
from thoughtgraph.reasoning import TWO_CALLS, Faults, Reviews
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.task import Question
from thoughtgraph.tree import Thought, Tree, cut, path_to, shortened


def analyse(run: Run) -> Node:
    """Makes the node that has the model check the steps of paths.

    Under `single_call` the same answer names the bad steps; an empty one names none.
    """

    async def analyse(state: RollbackState) -> dict[str, Any]:
        step, new, named = Step(run, state), Tree(), list[str]()
        apart = RollbackSettings.of(state["settings"]).protocol == TWO_CALLS
        answers = await step.ask(_reviews(run, state, "analyse"))
        for answer in answers:
            key, analysis = answer.ask.about, shortened(answer.texts[0].strip())
            new[key] = Thought(analysis=analysis, usage=answer.usage)
            if not apart or not analysis:
                new[key]["bad"] = answer.reading.steps
                named.append(key)
        step.count(analyses=len(answers))
        return step.update(thoughts=new, reports=named)

    return analyse


def extract_index(run: Run) -> Node:
    """Makes the node that has the model read the bad steps' numbers out of analyses."""

    async def extract_index(state: RollbackState) -> dict[str, Any]:
        step, new = Step(run, state), Tree()
        for answer in await step.ask(_reviews(run, state, "extract_index")):
            bad, raw = answer.reading.steps, cut(answer.texts[0])
            new[answer.ask.about] = Thought(analysis_raw=raw, bad=bad, usage=answer.usage)
        return step.update(thoughts=new, reports=list(new))

    return extract_index


def _reviews(run: Run, state: RollbackState, role: str) -> list[Ask[Faults]]:
    """Returns what to ask about the paths that a node is to review."""
    task = run.task_for(state["settings"], Reviews)
    apart = role == "analyse" and RollbackSettings.of(state["settings"]).protocol == TWO_CALLS
    asks = []
    for due in due_at(state, role):
        path = path_to(state["thoughts"], due.thought)
        question = task.analyse(state["problem"], path, state["settings"])
        read = _unread(question) if apart else question
        asks.append(Ask(read, due.thought, role, expansion=0, judges=True))
    return asks


def _unread(question: Question[Faults]) -> Question[Faults]:
    """Returns the question whose answer is read by a request of its own, unless it is empty."""

    def read(samples: Sequence[str]) -> Faults:
        # Nothing can be read out of an empty analysis; asked to, small models make numbers up.
        return Faults() if samples[0].strip() else question.read(samples)

    return Question(question.prompt, read, 1)
