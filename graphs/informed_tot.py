"""Informed Tree of Thought: Algorithms 1 to 3 of Mousavi et al. 2024, and the paper's baselines.

    g(root), f(root) <- 0, 0; O <- {root}                                   start
    for r = 1, ..., R do                                                    select
        s <- argmin over O of (f, -depth, id); remove s from O              select
        if s is terminal then return s                                      select -> answer
        if depth(s) > L then continue                                       select -> select
        C <- the distinct ones of K samples of pi(. | s)                    generate
        for s' in C: carry out its action                                   call_tool
            g(s') <- g(s) + V_T(tool)                                       call_tool
            if it failed: g(s') += delta_T; PROPAGATE(s')                   call_tool, propagate
            f(s') <- g(s') - lambda V(s'); O <- O + {s'}                    evaluate, select
    PROPAGATE(s): while g(parent(s)) < g(s) do
        s <- parent(s); g(s) += delta_T; update f(s); O <- O + {s}          propagate

    itot_a_star        as above without the line of failures
    itot_d_star_lite   as above
    itot_best_first    V_T = 0
    itot_dfs           V_T = 0, no V: the youngest thought is next

The names promise more than the methods keep. A* finds a cheapest path when its heuristic never
overestimates what is left to pay: -V is no such estimate, and the values of a model share no unit
with the costs of tools. So no answer is the cheapest or the best, f may fall along a path, and
`value_weight` decides what a point of V is worth. Of D* Lite only one idea is left: a changed cost
reopens the thoughts that it concerns, which then get fresh samples. Every child's tool is called
when the child is made: `tool_cost`, which is paid, is at least `tool_cost_path`, which is what g
counts. The printed box cannot run, and three things in it are repaired: the root costs 0, where it
costs infinity in print; V_h is read as -V; a thought that is taken leaves O. The tools of a round
run side by side, then its failures propagate once, in the order of the samples and from g(s) as it
was; then its children are valued side by side. An action that calls no tool, because it cannot be
read or names none, adds to g what the dearest call adds (ours), so never less than a failed call.
"""

from functools import partial
from itertools import takewhile
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.actions import awaits_tool, carry_out, next_actions
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.check import is_right
from thoughtgraph.nodes.expand import (
    ThoughtQuestion,
    drafted,
    expansion,
    place,
    times_expanded,
    with_times,
)
from thoughtgraph.nodes.families.informed import (
    Rank,
    by_priority,
    identity,
    may_grow,
    new_thoughts,
    open_set,
    priorities,
    propagated,
    step_costs,
)
from thoughtgraph.nodes.limits import expansions_allowed, limit_reason
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.review import shown_first
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import (
    estimate,
    state_key_of,
    value_fields,
    verdict_json,
    verdicts_in,
    words_of,
)
from thoughtgraph.run import Run
from thoughtgraph.settings.acting import ItotDfsSettings, ItotDStarLiteSettings, ValuedSettings
from thoughtgraph.state import Children, InformedState, SearchState
from thoughtgraph.task import Verdict
from thoughtgraph.tree import Thought, Tree, children_of, merge_thoughts

STYLE = "itot"
ORIGIN: Thought = {"cost": 0.0, "priority": 0.0}
"""g and f of the root."""
TOO_DEEP: Thought = {"status": "pruned", "note": "too deep to be continued"}
WRONG: Thought = {"status": "pruned", "note": "the oracle says wrong"}


RANKS = {
    "itot_a_star": Rank(pays=True, judges=True),
    "itot_d_star_lite": Rank(pays=True, judges=True, propagates=True),
    "itot_best_first": Rank(pays=False, judges=True),
    "itot_dfs": Rank(pays=False, judges=False),
}


def rank_of(state: SearchState) -> Rank:
    """Returns the order of the open set of a search, which its method says."""
    return RANKS[state["method"]]


def generator(step: Step, key: str) -> ThoughtQuestion:
    """pi(. | s): K next steps, one a completion."""
    n = ItotDfsSettings.of(step.state["settings"]).n_generate
    return next_actions(step, key, STYLE, n)


async def select(step: Step, state: InformedState) -> dict[str, Any]:
    """Puts new thoughts into O and takes out who is next: `frontier` is then expanded.

    A terminal thought that comes out ends the search, with an oracle only if its answer is
    right; the frontier is that thought then. Thoughts that are too deep are dropped.
    """
    settings, entered = ItotDfsSettings.of(state["settings"]), priorities(state, rank_of(state))
    tree = merge_thoughts(state["thoughts"], [entered])
    ended = state["step"] - state["spent"].get("rounds", 0)
    update = {"thoughts": entered, "spent": {"rounds": ended}, "frontier": []}
    if state["stop_reason"] or not entered.keys() >= set(new_thoughts(state)):
        return {**update, "stop_reason": limit_reason(state)}
    if state["step"] >= min(settings.rounds, settings.limit_rounds or settings.rounds):
        return {**update, "stop_reason": "round_limit"}
    if not (ordered := open_set(tree)):
        return {**update, "stop_reason": "exhausted"}
    begun = {**update, "step": state["step"] + 1}
    first = tree[ordered[0]]
    if first["status"] == "terminal":
        if step.run.oracle and not await is_right(step, first["answer"]):
            return {**begun, "thoughts": merge_thoughts(entered, [{first["id"]: WRONG}])}
        reason = "verified" if step.run.oracle else "finished"
        end = {"spent": {"rounds": ended + 1}, "frontier": [first["id"]]}
        return {**begun, **end, "stop_reason": reason}
    taken = [*takewhile(lambda k: tree[k]["status"] != "terminal", ordered[: settings.width])]
    deep: Tree = {key: TOO_DEEP for key in taken if not may_grow(state, tree[key])}
    growing = [key for key in taken if key not in deep][: expansions_allowed(state)]
    if not growing and not deep:
        return {**update, "stop_reason": limit_reason(state)}
    return {**begun, "thoughts": merge_thoughts(entered, [deep]), "frontier": growing}


async def generate(step: Step, state: InformedState) -> dict[str, Any]:
    """C: samples become children, without those that are there already."""
    keys = _growing(state)
    asks = [expansion(step, key, generator(step, key), times_expanded(state, key)) for key in keys]
    expansions = drafted(await step.ask(asks))
    distinct = [_distinct(state, each) for each in expansions]
    placed = place(state, distinct)
    written = [thought for each in expansions for thought in each["thoughts"]]
    step.count(
        thoughts=len(placed.new),
        expansions=len(placed.parents),
        reexpansions=sum(times_expanded(state, key) > 0 for key in placed.parents),
    )
    if lost := sum(thought["action"] is None for thought in written):
        step.count(parse_errors={"generate": lost})
    # An expansion without a new thought is no shortage: all its samples were there before.
    wanted = any(each["thoughts"] for each in distinct)
    short = len(placed.parents) < len(keys) or (wanted and not placed.new)
    reason = limit_reason(state) if short else ""
    return step.update(thoughts=with_times(state, placed), stop_reason=reason)


async def call_tool(step: Step, state: SearchState) -> dict[str, Any]:
    """Carries out the actions of a round; g of its thoughts."""
    new, tree = new_thoughts(state), state["thoughts"]
    waiting = [key for key in new if awaits_tool(tree[key])]
    called = await carry_out(step, waiting)
    tree = merge_thoughts(tree, [called])
    costs = step_costs(step, tree, rank_of(state))
    # The others' tools were not called before the time was over.
    done = list(takewhile(lambda key: not awaits_tool(tree[key]), new))
    above = {key: tree[tree[key]["parent"] or ""].get("cost", 0.0) for key in done}
    settled: Tree = {key: {"cost": above[key] + costs[key]} for key in done}
    reason = "" if done == new else "budget"
    return step.update(thoughts=merge_thoughts(called, [settled]), stop_reason=reason)


async def propagate(step: Step, state: SearchState) -> dict[str, Any]:
    """Algorithm 3, once a round."""
    return {"thoughts": propagated(state, step_costs(step, state["thoughts"], rank_of(state)))}


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """V(s'), from 1 to 10; a trajectory that was there before has its value."""
    tree, verdicts = state["thoughts"], verdicts_in(state["thoughts"])
    asks, values, n = [], Tree(), ValuedSettings.of(state["settings"]).n_evaluate
    for key in new_thoughts(state):
        if "value" in tree[key] or "cost" not in tree[key]:
            continue
        question = await estimate(step, key, STYLE)
        if isinstance(question, Verdict):
            values[key] = value_fields(question)
        elif verdict := verdicts.get(state_key_of(question.prompt)):
            values[key] = {"value": verdict["value"]}
            step.count(cached=1)
        else:
            asks.append(Ask(question, key, "value", n, judges=True))
    answers = await step.ask(asks)
    for each in answers:
        new = {state_key_of(each.ask.question.prompt): verdict_json(each.reading)}
        fields = Thought(value=each.reading.value, verdicts=new)
        values[each.ask.about] = fields | words_of(each)
    step.count(evaluated=len(answers))
    return step.update(thoughts=values)


async def expand(state: InformedState) -> Literal["generate", "select", "answer"]:
    """Routes to the expansions of this round; to the next one when nothing may be expanded."""
    if state["stop_reason"]:
        return "answer"
    return "generate" if _growing(state) else "select"


async def act(state: SearchState) -> Literal["call_tool", "select", "answer"]:
    """Routes past the tools where a further expansion found nothing new."""
    if state["stop_reason"]:
        return "answer"
    return "select" if rank_of(state).propagates and not new_thoughts(state) else "call_tool"


async def judge(state: SearchState) -> Literal["propagate", "evaluate"]:
    """Routes to the thoughts above the calls that failed."""
    failed = any(state["thoughts"][key].get("failed") for key in new_thoughts(state))
    return "propagate" if failed and not state["stop_reason"] else "evaluate"


def _distinct(state: SearchState, made: Children) -> Children:
    """Returns an expansion without what its thought's children think and do already."""
    parent, kept = made["parent"], []
    seen = {identity(child) for child in children_of(state["thoughts"], parent)}
    times = times_expanded(state, parent)
    for at, thought in enumerate(made["thoughts"]):
        if identity(thought) not in seen:
            by = {"node": "generate", "expansion": times, "sample": at}
            kept.append({**thought, "created_by": by})
        seen.add(identity(thought))
    return {**made, "thoughts": kept}


def _growing(state: InformedState) -> list[str]:
    """Returns the thoughts that were taken out of O, without those that a person dropped."""
    return [key for key in state["frontier"] if state["thoughts"][key]["status"] != "pruned"]


def _waiting(state: SearchState) -> list[str]:
    """Returns who may be next, and the new thoughts that come in with the next choice."""
    return [] if state["stop_reason"] else [*new_thoughts(state), *open_set(state["thoughts"])]


def _returned(state: InformedState) -> list[str]:
    """Returns the thought that solved the search, else the best terminal ones that are open.

    A search that ran to its end without one returns nothing, as the paper does.
    """
    if state["stop_reason"] in ("finished", "verified"):
        return state["frontier"]
    if state["stop_reason"] not in ("budget", "error"):
        return []
    tree = state["thoughts"]
    return sorted(terminal(state), key=lambda k: ("priority" not in tree[k], by_priority(tree[k])))


def wire(run: Run) -> Graph:
    """Wires Algorithm 1, without the lines that a method leaves out."""
    rank = RANKS[run.method.entry.id]
    judging = [evaluate] if rank.judges else []
    propagating = [propagate] if rank.propagates else []
    nodes = (select, generate, call_tool, *judging, *propagating)
    graph = method_graph(run, *nodes, state=InformedState, origin=ORIGIN, frontier=[])
    last = partial(answer, pick=_returned)
    add_answer(graph, run, last, candidates=_waiting)
    graph.add_conditional_edges("start", admitted, {"begins": "select", "refused": "answer"})
    graph.add_conditional_edges("select", expand)
    # Only a thought that was expanded before can have nothing new.
    again = ["select"] if rank.propagates else []
    graph.add_conditional_edges("generate", act, ["call_tool", "answer", *again])
    if rank.judges:
        graph.add_conditional_edges("evaluate", shown_first(_waiting))
    if rank.propagates:
        graph.add_edge("propagate", "evaluate")
        graph.add_conditional_edges("call_tool", judge)
    elif rank.judges:
        graph.add_edge("call_tool", "evaluate")
    else:
        graph.add_conditional_edges("call_tool", shown_first(_waiting))
    return graph


ITOT_A_STAR = Method(METHODS["itot_a_star"], ValuedSettings, wire)
ITOT_D_STAR_LITE = Method(METHODS["itot_d_star_lite"], ItotDStarLiteSettings, wire)
ITOT_BEST_FIRST = Method(METHODS["itot_best_first"], ValuedSettings, wire)
ITOT_DFS = Method(METHODS["itot_dfs"], ItotDfsSettings, wire)
