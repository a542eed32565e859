"""Tree of Thoughts, breadth first: Algorithm 1 of Yao et al. 2023 (arXiv 2305.10601).

    Require: input x, p, generator G(), states k, evaluator V(), step limit T, breadth b

    1  S_0 <- {x}                                                     start
    2  for t = 1, ..., T do                                           again
    3      S'_t <- {[s, z] | s in S_{t-1}, z in G(p, s, k)}           generate
    4      V_t  <- V(p, S'_t)                                         evaluate
    5      S_t  <- argmax_{S in S'_t, |S| = b} sum_{s in S} V_t(s)    select
    6  return G(p, argmax_{s in S_T} V_T(s), 1)                       answer

The official code makes line 6 one more step of the loop and reports all b outputs; so does this
graph: `candidates` are the outputs, best first, `answer` is the first that can be read. A task's
`steps` counts the answer step. No guarantee of optimality: what the evaluator undervalues is lost
for good.
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
    """G(p, s, k): a list of next thoughts in one completion, or one a completion."""
    settings = _settings(step.state)
    if settings.generate == "propose":
        return propose(step, key)
    return sample(step, key, settings.n_generate)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 3, for as many states as the limits allow; one drawn twice is expanded twice."""
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
    """Line 4: each distinct state is judged by itself, or all are compared with each other."""
    if _settings(state).evaluate == "vote":
        return await compare(step, state)
    judging = await judgements(step, new_states(state))
    answers, judged = await step.ask([*judging.asks.values()]), {**judging.known}
    for each in answers:
        key = state_key_of(each.ask.question.prompt)
        verdict, words = verdict_fields(key, verdict_json(each.reading)), words_of(each)
        equal: Thought = {**verdict, "value_raw": words["value_raw"]}
        # The request was made once: of equal states the first thought bears its cost.
        judged |= dict.fromkeys(judging.alike[key], equal) | {each.ask.about: verdict | words}
    step.count(evaluated=len(answers), cached=judging.reused)
    return step.update(thoughts=judged)


async def compare(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 4, where one vote compares all new states."""
    keys, settings, asks, judged = unjudged(state), state["settings"], [], Tree()
    if keys:
        paths = [path_to(state["thoughts"], key) for key in keys]
        comparison = step.task(Votes).vote(state["problem"], paths, settings)
        question, n = counted_votes(comparison, len(keys)), _settings(state).n_evaluate
        asks = [Ask(question, keys[0], "vote", n, judges=True)]
    for said in await step.ask(asks):
        votes, unread = said.reading
        lost: Thought = {"unread": unread} if unread else {}
        counts = zip(keys, votes, strict=True)
        judged = {key: {"value": float(count), **lost} for key, count in counts}
        judged[keys[0]] |= words_of(said)
    step.count(evaluated=len(judged))
    return step.update(thoughts=judged)


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 5; nothing while a limit has left states unexpanded or unjudged."""
    settings, ruled = _settings(state), Tree()
    if unjudged(state) and settings.evaluate == "value":
        # A person may have added what is judged without asking.
        ruled = (await judgements(step, new_states(state))).known
        state = {**state, "thoughts": merge_thoughts(state["thoughts"], [ruled])}
    if is_unfinished(state):
        reason: StopReason = "" if requests_left(state) else "budget"
        return {"thoughts": ruled, "stop_reason": reason}
    new, t, count = new_states(state), state["step"] + 1, {"rounds": 1}
    if not new:
        return {"thoughts": ruled, "stop_reason": "dead_end", "spent": count}
    kept = kept_states(state, new)
    status: Status = "terminal" if t == settings.steps else "open"
    marks = {key: Thought(status="pruned") for key in new}
    marks |= {key: Thought(status=status) for key in kept}
    if settings.select == "sample":
        for key in kept:
            marks[key]["draws"] = [at for at, each in enumerate(kept) if each == key]
    return {
        "thoughts": merge_thoughts(ruled, [marks]),
        "step": t,
        "spent": count,
        "stop_reason": await _stop_reason(step, state, kept),
    }


async def again(state: SearchState) -> Literal["generate", "answer"]:
    """Line 2; what a limit left undone in a step is done before the next one."""
    last = state["step"] == _settings(state).steps
    return (
        "generate" if is_unfinished(state) and not state["stop_reason"] and not last else "answer"
    )


def selection(state: SearchState) -> list[str]:
    """Returns what the last selection kept, best first or as it was drawn; ids may occur twice."""
    tree, t = state["thoughts"], state["step"]
    kept = [tree[key] for key in living(tree) if tree[key]["depth"] == t]
    drawn = sorted((at, thought["id"]) for thought in kept for at in thought.get("draws", ()))
    best = [thought for thought in kept if "draws" not in thought]
    best.sort(key=lambda thought: -thought.get("value", 0.0))
    return [*(key for _, key in drawn), *(thought["id"] for thought in best)]


def frontier(state: SearchState) -> list[str]:
    """Returns the states to expand, in order; of one drawn several times some draws may be left."""
    tree = state["thoughts"]
    begun = ("open", "expanded")
    return [
        key
        for key in selection(state)
        if tree[key]["status"] in (begun if "draws" in tree[key] else begun[:1])
    ]


def new_states(state: SearchState) -> list[str]:
    """Returns the states created in this step that nobody has dropped (the paper's S'_t)."""
    tree = state["thoughts"]
    return [key for key in living(tree) if tree[key]["depth"] == state["step"] + 1]


def unjudged(state: SearchState) -> list[str]:
    """Returns the new states that have no value yet."""
    return [key for key in new_states(state) if "value" not in state["thoughts"][key]]


def is_unfinished(state: SearchState) -> bool:
    """Returns whether states of this step are still to be expanded or judged."""
    return bool(frontier(state) or unjudged(state))


def judged_states(state: SearchState) -> list[str]:
    """Returns the new states, once they can be selected from."""
    return [] if state["stop_reason"] or is_unfinished(state) else new_states(state)


def votes(state: SearchState, chosen: str) -> list[Vote]:
    """Tells how the chosen states were voted for, where votes compared them."""
    return level_votes(state, chosen, "votes") if _settings(state).evaluate == "vote" else []


def kept_states(state: SearchState, new: Sequence[str]) -> list[str]:
    """Returns the states that are gone on from: the best ones, or as they are drawn."""
    settings, tree, t = _settings(state), state["thoughts"], state["step"] + 1
    if settings.select == "greedy":
        return best_states(tree, new, settings.breadth)
    draws = random.Random(f"{settings.seed}:{state['problem']}:{t}")
    return draw_states(tree, new, settings.breadth, draws)


def best_states(tree: Tree, keys: Sequence[str], b: int) -> list[str]:
    """Returns the b thoughts of highest value; ties keep the order of creation."""
    return sorted(keys, key=lambda key: -tree[key]["value"])[:b]


def draw_states(tree: Tree, keys: Sequence[str], b: int, draws: random.Random) -> list[str]:
    """Draws b thoughts with replacement, with probabilities in proportion to their values.

    Values below zero count as zero; when all are zero the draw is uniform.
    """
    weights = [max(0.0, tree[key]["value"]) for key in keys]
    return draws.choices(keys, weights if any(weights) else None, k=b)


async def _stop_reason(step: Step, state: SearchState, kept: Sequence[str]) -> StopReason:
    """Returns why there is no further step: an output passes (`early_stop`), or a limit."""
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
