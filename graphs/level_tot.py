"""ToT Reasoning: level by level, the best of several next steps (baseline of Thought Rollback).

    candidates <- 5 next steps of the best step so far, in one request    generate
    each is scored in [0, 1]                                              evaluate
    the best one stays; of equally good ones the first                    select
    the solution of the first best step that has one                      answer

As in the official code, the search never goes back: a level's other candidates are lost.
"""

from functools import partial
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.limits import may_begin
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.reasoning_steps import end_reason, step_ask, steps_of
from thoughtgraph.nodes.review import shown_first
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import level_votes
from thoughtgraph.nodes.verdicts import estimate, value_fields, words_of
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import LevelTotSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Verdict
from thoughtgraph.tree import Thought, Tree, living

STYLE = "level_tot"


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests the candidates of the next level, in one request."""
    n = LevelTotSettings.of(state["settings"]).n_generate
    answers = await step.ask([step_ask(step, key, n=n) for key in level(state, 0)])
    placed = steps_of(state, answers)
    step.count(thoughts=len(placed.new), expansions=len(answers))
    return step.update(thoughts=placed.tree)


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """Scores each candidate on its own."""
    tree, asks, new = state["thoughts"], [], Tree()
    for key in unscored(state):
        question = await estimate(step, key, STYLE)
        if isinstance(question, Verdict):
            new[key] = value_fields(question)
        else:
            asks.append(Ask(question, key, "score", expansion=0, judges=True))
    for reply in await step.ask(asks):
        key, verdict = reply.ask.about, reply.reading
        new[key] = {"value": verdict.value, **words_of(reply)}
        if verdict.malformed:  # a note on why the path ends stays
            new[key] |= {"unread": verdict.malformed}
            new[key]["note"] = tree[key].get("note", verdict.label)
    step.count(evaluated=len(new))
    return step.update(thoughts=new)


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Keeps the best candidate of a level, the first of equals, and prunes the others.

    The search ends in a dead end if no candidate has a positive score, or if a person dropped them
    all. It ends with `budget` if a limit left the level without candidates or scores.
    """
    tree, depth, keys = state["thoughts"], state["step"] + 1, level(state)
    if state["stop_reason"]:
        return {}
    if unscored(state) or not any(thought["depth"] == depth for thought in tree.values()):
        return {"stop_reason": "budget"}
    if not keys:
        return {"stop_reason": "dead_end"}
    best = max(keys, key=lambda key: tree[key]["value"])
    is_positive = tree[best]["value"] > 0
    pruned = {key: Thought(status="pruned") for key in keys if key != best or not is_positive}
    reason = end_reason(tree[best]) if is_positive else "dead_end"
    return {"thoughts": pruned, "step": depth, "spent": {"rounds": 1}, "stop_reason": reason}


async def go_on(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next level until one has the solution or a limit is reached."""
    return "generate" if may_begin(state) and level(state, 0) else "answer"


def level(state: SearchState, more: int = 1) -> list[str]:
    """Returns the ids of the next level's candidates; with `more=0`, of the step kept last."""
    tree, depth = state["thoughts"], state["step"] + more
    return [key for key in living(tree) if tree[key]["depth"] == depth]


def unscored(state: SearchState) -> list[str]:
    """Returns the ids of the candidates without a score."""
    return [key for key in level(state) if "value" not in state["thoughts"][key]]


def candidates(state: SearchState) -> list[str]:
    """Returns the ids of the candidates to show to a person: all, once all are scored."""
    return [] if state["stop_reason"] or unscored(state) else level(state)


def wire(run: Run) -> Graph:
    """Wires the levels."""
    graph = method_graph(run, generate, evaluate, select)
    scores = partial(level_votes, by="scores")
    last = partial(answer, pick=terminal, tally=scores)
    add_answer(graph, run, last, candidates=candidates)
    graph.add_conditional_edges("start", go_on)
    graph.add_edge("generate", "evaluate")
    graph.add_conditional_edges("evaluate", shown_first(candidates))
    graph.add_conditional_edges("select", go_on)
    return graph


LEVEL_TOT = Method(METHODS["level_tot"], LevelTotSettings, wire)
