"""V(s): asks the model how promising a trajectory is, from 1 to 10."""

from typing import Any

from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.informed.propagate import new_thoughts
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import state_key_of, unjudged, verdict_json, verdicts_in, words_of
from thoughtgraph.run import Run
from thoughtgraph.settings.informed import ValuedSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Estimates
from thoughtgraph.tree import Thought, Tree, path_to

STYLE = "itot"


def estimate(run: Run) -> Node:
    """Makes the node that values new trajectories; one that was there before has its value."""

    async def evaluate(state: SearchState) -> dict[str, Any]:
        tree, step, known = state["thoughts"], Step(run, state), verdicts_in(state["thoughts"])
        task = run.task_for(state["settings"], Estimates)
        n, asks, values = ValuedSettings.of(state["settings"]).n_evaluate, [], Tree()
        for key in unjudged(state, new_thoughts(state)):
            path = path_to(tree, key)
            question = task.estimate(state["problem"], path, STYLE, state["settings"])
            verdict = known.get(state_key_of(question.prompt))
            if "cost" in tree[key] and verdict is not None:
                values[key] = Thought(value=verdict["value"])
            elif "cost" in tree[key]:
                asks.append(Ask(question, key, "value", n, judges=True))
        step.count(cached=len(values))
        answers = await step.ask(asks)
        for answer in answers:
            state_key = state_key_of(answer.ask.question.prompt)
            values[answer.ask.about] = {
                "value": answer.reading.value,
                "verdicts": {state_key: verdict_json(answer.reading)},
                **words_of(answer),
            }
        step.count(evaluated=len(answers))
        return step.update(thoughts=values)

    return evaluate
