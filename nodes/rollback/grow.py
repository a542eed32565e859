"""A path's next step: warned by the experiences of its rollbacks (appendix B.3)."""

from typing import Any

from thoughtgraph.method import ChooseGenerator
from thoughtgraph.nodes.calls import Answer
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.reasoning_steps import step_ask, steps_of
from thoughtgraph.nodes.rollback.paths import experiences
from thoughtgraph.nodes.rollback.schedule import due_at
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.tree import Thought

SURPLUS = "ended after the last solution that was wanted"


def grow(run: Run, generator: ChooseGenerator) -> Node:
    """Makes the node that takes the next steps of paths, and of the destinations of rollbacks.

    Solutions beyond the K-th are dropped in the order of their ids.

    Args:
        generator: From the run's settings to the generator of steps.
    """

    async def generate(state: RollbackState) -> dict[str, Any]:
        step, dues = Step(run, state), due_at(state, "generate")
        taught = [experiences(state, due.thought, due.source) for due in dues]
        asks = [
            step_ask(run, state, generator, due.thought, due.times, shown)
            for due, shown in zip(dues, taught, strict=True)
        ]
        answers = await step.ask(asks)
        asked = {ask.name: (due, shown) for ask, due, shown in zip(asks, dues, taught, strict=True)}

        def mark(answer: Answer[Any]) -> Thought:
            due, shown = asked[answer.ask.name]
            kept = Thought(experiences=shown) if shown else Thought()
            return kept if due.source is None else {**kept, "caused_by": due.source}

        placed = steps_of(state, answers, mark)
        served = [asked[answer.ask.name][0] for answer in answers]
        ends = [key for key, thought in placed.new.items() if thought["status"] == "terminal"]
        room = RollbackSettings.of(state["settings"]).solutions - len(state["ends"])
        for key in ends[room:]:
            placed.new[key] |= Thought(status="pruned", note=SURPLUS)
        step.count(thoughts=len(placed.new), expansions=len(answers))
        gone = {due.thought for due in served if due.source is None}
        continued = {due.source for due in served}
        return step.update(
            thoughts=placed.tree,
            frontier=[*(at for at in state["frontier"] if at not in gone), *placed.new],
            pending=[at for at in state["pending"] if at not in continued],
            ends=[*state["ends"], *ends[:room]],
        )

    return generate
