"""Level-greedy search over reasoning steps: scores a level's candidates, keeps the best."""

from typing import Any

from thoughtgraph.nodes.calls import Answer, Ask
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.reasoning_steps import end_reason
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import unjudged, words_of
from thoughtgraph.run import Run
from thoughtgraph.state import SearchState
from thoughtgraph.task import Estimates, Verdict
from thoughtgraph.tree import Thought, Tree, children_of, path_to

STYLE = "level_tot"


def score(run: Run) -> Node:
    """Makes the node that scores a level's candidates, each by itself."""

    async def evaluate(state: SearchState) -> dict[str, Any]:
        step, tree = Step(run, state), state["thoughts"]
        task = run.task_for(state["settings"], Estimates)
        asks = [
            Ask(
                task.estimate(state["problem"], path_to(tree, key), STYLE, state["settings"]),
                key,
                "score",
                expansion=0,
                judges=True,
            )
            for key in unjudged(state, state["generation"])
        ]
        answers = await step.ask(asks)
        step.count(evaluated=len(answers))
        return step.update(thoughts={each.ask.about: _scored(tree, each) for each in answers})

    return evaluate


def level(state: SearchState) -> list[str]:
    """Returns the candidates of a level, once all are scored."""
    return (
        []
        if state["stop_reason"] or unjudged(state, state["generation"])
        else [*state["generation"]]
    )


async def keep_best(state: SearchState) -> dict[str, Any]:
    """Goes on with the best candidate of a level, the first of equals.

    A level without a positive score ends the search dead. One that a limit left without scores ends
    it too.
    """
    tree, level = state["thoughts"], state["generation"]
    if state["stop_reason"]:
        return {}
    last = state["frontier"][:1]
    if unjudged(state, state["generation"]) or (last and not children_of(tree, last[0])):
        return {"stop_reason": "budget"}
    if not level:  # A person dropped all.
        return {"frontier": [], "stop_reason": "dead_end"}
    best = max(level, key=lambda key: tree[key]["value"])
    lost = {key: Thought(status="pruned") for key in level if key != best}
    update = {"generation": [], "step": state["step"] + 1, "usage": {"rounds": 1}}
    if tree[best]["value"] <= 0:
        lost[best] = Thought(status="pruned")
        return {**update, "thoughts": lost, "frontier": [], "stop_reason": "dead_end"}
    reason, left = end_reason(tree[best])
    return {**update, "thoughts": lost, "frontier": left, "stop_reason": reason}


def _scored(tree: Tree, answer: Answer[Verdict]) -> Thought:
    verdict = answer.reading
    scored: Thought = {"value": verdict.value, **words_of(answer)}
    if verdict.malformed:
        scored["unread"] = verdict.malformed
    if verdict.malformed and "note" not in tree[answer.ask.about]:
        scored["note"] = verdict.label  # one that says why the path ends stays
    return scored
