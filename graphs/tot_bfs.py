"""Tree of Thoughts, breadth first: Algorithm 1 of Yao et al. 2023 (arXiv 2305.10601).

    Require: input x, p, generator G(), states k, evaluator V(), step limit T, breadth b

    1  S_0 <- {x}                                                     start
    2  for t = 1, ..., T do                                           again
    3      S'_t <- {[s, z] | s in S_{t-1}, z in G(p, s, k)}           generate
    4      V_t  <- V(p, S'_t)                                         evaluate
    5      S_t  <- argmax_{S in S'_t, |S| = b} sum_{s in S} V_t(s)    select
    6  return G(p, argmax_{s in S_T} V_T(s), 1)                       answer

The official code makes line 6 one more step of the loop and reports all b outputs. So does this
graph: `candidates` are the outputs, best first, and `answer` is the first readable one. A task's
`steps` includes the answer step. Optimality is not guaranteed: a state that the evaluator
undervalues is lost for good.
"""

import random
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.expand import ThoughtQuestion, drafted, expansion, place, propose, sample
from thoughtgraph.nodes.limits import expansions_allowed, requests_left
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.review import shown_first
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import level_votes
from thoughtgraph.nodes.valuation import judgements
from thoughtgraph.nodes.verdicts import (
    counted_votes,
    state_key_of,
    verdict_fields,
    verdict_json,
    words_of,
)
from thoughtgraph.outcome import StopReason, Vote
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Checks, Outputs, Votes, maybe_await
from thoughtgraph.tree import Status, Thought, Tree, living, merge_thoughts, path_to


def generator(step: Step, key: str) -> ThoughtQuestion:
    """Returns the question G(p, s, k): for one list of thoughts, or for k single thoughts."""
    settings = _settings(step.state)
    if settings.generate == "propose":
        return propose(step, key)
    return sample(step, key, settings.n_generate)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 3: expands as many states as the limits allow; one drawn twice is expanded twice."""
    tree, settings = state["thoughts"], _settings(state)
    each = settings.n_generate if settings.generate == "sample" else 1
    due = frontier(state)[: expansions_allowed(state, each=each)]
    asks = [
        expansion(step, key, generator(step, key), due[:at].count(key))
        for at, key in enumerate(due)
    ]
    answers = await step.ask(asks)
    placed, served = place(state, drafted(answers)), [each.ask.about for each in answers]
    for key, parent in placed.parents.items():
        if "draws" in tree[key]:
            parent["draws"] = tree[key]["draws"][served.count(key) :]
    step.count(thoughts=len(placed.new), expansions=len(answers))
    return step.update(thoughts=placed.tree, stop_reason="" if placed.complete else "budget")


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 4: judges each distinct new state on its own, or compares all of them by votes."""
    if _settings(state).evaluate == "vote":
        return await compare(step, state)
    pending = await judgements(step, new_states(state))
    answers, updates = await step.ask([*pending.asks.values()]), {**pending.known}
    for reply in answers:
        key = state_key_of(reply.ask.question.prompt)
        verdict, words = verdict_fields(key, verdict_json(reply.reading)), words_of(reply)
        equal: Thought = {**verdict, "value_raw": words["value_raw"]}
        # Equal states shared one request: the first thought carries its usage.
        updates |= dict.fromkeys(pending.alike[key], equal) | {reply.ask.about: verdict | words}
    step.count(evaluated=len(answers), cached=pending.reused)
    return step.update(thoughts=updates)


async def compare(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 4 by votes: one request compares all new states."""
    keys, settings, asks, updates = unjudged(state), state["settings"], [], Tree()
    if keys:
        paths = [path_to(state["thoughts"], key) for key in keys]
        comparison = step.task(Votes).vote(state["problem"], paths, settings)
        question, n = counted_votes(comparison, len(keys)), _settings(state).n_evaluate
        asks = [Ask(question, keys[0], "vote", n, judges=True)]
    for reply in await step.ask(asks):
        votes, unread = reply.reading
        unread_field: Thought = {"unread": unread} if unread else {}
        counts = zip(keys, votes, strict=True)
        updates = {key: {"value": float(count), **unread_field} for key, count in counts}
        updates[keys[0]] |= words_of(reply)
    step.count(evaluated=len(updates))
    return step.update(thoughts=updates)


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 5: keeps b new states, unless a limit left some unexpanded or unjudged."""
    settings, values = _settings(state), Tree()
    if unjudged(state) and settings.evaluate == "value":
        # A person may have added states that need no request.
        values = (await judgements(step, new_states(state))).known
        state = {**state, "thoughts": merge_thoughts(state["thoughts"], [values])}
    if is_unfinished(state):
        reason: StopReason = "" if requests_left(state) else "budget"
        return {"thoughts": values, "stop_reason": reason}
    new, t, count = new_states(state), state["step"] + 1, {"rounds": 1}
    if not new:
        return {"thoughts": values, "stop_reason": "dead_end", "spent": count}
    survivors = kept_states(state, new)
    status: Status = "terminal" if t == settings.steps else "open"
    marks = {key: Thought(status="pruned") for key in new}
    marks |= {key: Thought(status=status) for key in survivors}
    if settings.select == "sample":
        for key in survivors:
            marks[key]["draws"] = [at for at, each in enumerate(survivors) if each == key]
    return {
        "thoughts": merge_thoughts(values, [marks]),
        "step": t,
        "spent": count,
        "stop_reason": await _stop_reason(step, state, survivors),
    }


async def again(state: SearchState) -> Literal["generate", "answer"]:
    """Line 2: routes to the next step, or to the rest of a step that a limit cut short."""
    last = state["step"] == _settings(state).steps
    return (
        "generate" if is_unfinished(state) and not state["stop_reason"] and not last else "answer"
    )


def selection(state: SearchState) -> list[str]:
    """Returns the ids of the last selection: best first, or in drawing order with repeats."""
    tree, t = state["thoughts"], state["step"]
    states = [tree[key] for key in living(tree) if tree[key]["depth"] == t]
    draws = sorted((at, thought["id"]) for thought in states for at in thought.get("draws", ()))
    best = [thought for thought in states if "draws" not in thought]
    best.sort(key=lambda thought: -thought.get("value", 0.0))
    return [*(key for _, key in draws), *(thought["id"] for thought in best)]


def frontier(state: SearchState) -> list[str]:
    """Returns the ids of the states to expand, in order; a drawn state once for each draw left."""
    tree = state["thoughts"]
    expandable = ("open", "expanded")
    return [
        key
        for key in selection(state)
        if tree[key]["status"] in (expandable if "draws" in tree[key] else expandable[:1])
    ]


def new_states(state: SearchState) -> list[str]:
    """Returns the ids of the unpruned states of this step (the paper's S'_t)."""
    tree = state["thoughts"]
    return [key for key in living(tree) if tree[key]["depth"] == state["step"] + 1]


def unjudged(state: SearchState) -> list[str]:
    """Returns the ids of the new states without a value."""
    return [key for key in new_states(state) if "value" not in state["thoughts"][key]]


def is_unfinished(state: SearchState) -> bool:
    """Returns whether states of this step are still to be expanded or judged."""
    return bool(frontier(state) or unjudged(state))


def judged_states(state: SearchState) -> list[str]:
    """Returns the ids of the new states, once `select` can choose among them."""
    return [] if state["stop_reason"] or is_unfinished(state) else new_states(state)


def votes(state: SearchState, chosen: str) -> list[Vote]:
    """Returns the votes on the answer's path, step by step; none if states were valued alone."""
    return level_votes(state, chosen, "votes") if _settings(state).evaluate == "vote" else []


def kept_states(state: SearchState, new: Sequence[str]) -> list[str]:
    """Returns the ids of the states to continue (S_t): the b best, or b draws."""
    settings, tree, t = _settings(state), state["thoughts"], state["step"] + 1
    if settings.select == "greedy":
        return best_states(tree, new, settings.breadth)
    draws = random.Random(f"{settings.seed}:{state['problem']}:{t}")
    return draw_states(tree, new, settings.breadth, draws)


def best_states(tree: Tree, keys: Sequence[str], b: int) -> list[str]:
    """Returns the ids of the b thoughts of highest value; ties keep the order of creation."""
    return sorted(keys, key=lambda key: -tree[key]["value"])[:b]


def draw_states(tree: Tree, keys: Sequence[str], b: int, draws: random.Random) -> list[str]:
    """Draws b thoughts with replacement, with probabilities in proportion to their values.

    Values below zero count as zero; when all are zero the draw is uniform.
    """
    weights = [max(0.0, tree[key]["value"]) for key in keys]
    return draws.choices(keys, weights if any(weights) else None, k=b)


async def _stop_reason(step: Step, state: SearchState, kept: Sequence[str]) -> StopReason:
    """Returns the stop reason if no step follows: an output passes (`early_stop`), or a limit."""
    settings, t = _settings(state), state["step"] + 1
    if settings.early_stop:
        outputs, checks = step.task(Outputs), step.task(Checks)
        for key in kept:
            output = outputs.output(state["problem"], path_to(state["thoughts"], key))
            if output is not None and await maybe_await(checks.check(state["problem"], output)):
                return "verified"
    if t == settings.steps:
        return ""
    if not requests_left(state):
        return "budget"
    if t >= (settings.limit_depth or t + 1):
        return "step_limit"
    return "round_limit" if t >= (settings.limit_rounds or t + 1) else ""


def _settings(state: SearchState) -> TotBfsSettings:
    return TotBfsSettings.of(state["settings"])


def wire(run: Run) -> Graph:
    """Wires Algorithm 1."""
    graph = method_graph(run, generate, evaluate, select)
    last = partial(answer, pick=selection, complete=True, tally=votes)
    add_answer(graph, run, last, candidates=judged_states)
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    graph.add_edge("generate", "evaluate")
    graph.add_conditional_edges("evaluate", shown_first(judged_states))
    graph.add_conditional_edges("select", again)
    return graph


TOT_BFS = Method(METHODS["tot_bfs"], TotBfsSettings, wire)
