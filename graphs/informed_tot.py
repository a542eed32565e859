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

The methods guarantee less than their names suggest. A* finds a cheapest path if its heuristic never
overestimates the remaining cost. -V is no such estimate, and a model's values share no unit with
the costs of tools. So the answer need not be the cheapest or the best, f may fall along a path, and
`value_weight` sets the cost that a point of V is worth. Of D* Lite only one idea remains: a changed
cost reopens the thoughts that it affects, and these get fresh samples. Every child's tool is called
when the child is created, so `tool_cost`, the total paid, is at least `tool_cost_path`, the part on
the answer's path. Three repairs make the printed box run: the root costs 0 instead of infinity; V_h
is read as -V; a thought that is taken leaves O. The tools of a round run concurrently. Then its
failures propagate once, in the order of the samples and from g(s) as it was. Then its children are
valued concurrently. An action that calls no tool, because it is unreadable or names none, adds as
much to g as the dearest call (ours), so never less than a failed call.
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
    """Returns the rule by which the search's method orders the open set."""
    return RANKS[state["method"]]


def generator(step: Step, key: str) -> ThoughtQuestion:
    """Returns the question pi(. | s) for K next steps, one per completion."""
    n = ItotDfsSettings.of(step.state["settings"]).n_generate
    return next_actions(step, key, STYLE, n)


async def select(step: Step, state: InformedState) -> dict[str, Any]:
    """Adds new thoughts to O and pops the best into `frontier`, to be expanded next.

    A popped terminal thought ends the search, and is the frontier then; with an oracle, only if
    its answer is right. Wrong answers and thoughts that are too deep are pruned.
    """
    settings, updates = ItotDfsSettings.of(state["settings"]), priorities(state, rank_of(state))
    tree = merge_thoughts(state["thoughts"], [updates])
    rounds = state["step"] - state["spent"].get("rounds", 0)
    update = {"thoughts": updates, "spent": {"rounds": rounds}, "frontier": []}
    if state["stop_reason"] or not updates.keys() >= set(new_thoughts(state)):
        return {**update, "stop_reason": limit_reason(state)}
    if state["step"] >= min(settings.rounds, settings.limit_rounds or settings.rounds):
        return {**update, "stop_reason": "round_limit"}
    if not (open_ids := open_set(tree)):
        return {**update, "stop_reason": "exhausted"}
    next_round = {**update, "step": state["step"] + 1}
    first = tree[open_ids[0]]
    if first["status"] == "terminal":
        if step.run.oracle and not await is_right(step, first["answer"]):
            return {**next_round, "thoughts": merge_thoughts(updates, [{first["id"]: WRONG}])}
        reason = "verified" if step.run.oracle else "finished"
        ending = {"spent": {"rounds": rounds + 1}, "frontier": [first["id"]]}
        return {**next_round, **ending, "stop_reason": reason}
    popped = [*takewhile(lambda k: tree[k]["status"] != "terminal", open_ids[: settings.width])]
    too_deep: Tree = {key: TOO_DEEP for key in popped if not may_grow(state, tree[key])}
    frontier = [key for key in popped if key not in too_deep][: expansions_allowed(state)]
    if not frontier and not too_deep:
        return {**update, "stop_reason": limit_reason(state)}
    return {**next_round, "thoughts": merge_thoughts(updates, [too_deep]), "frontier": frontier}


async def generate(step: Step, state: InformedState) -> dict[str, Any]:
    """Requests K samples per thought and adds C, the distinct ones that are no children yet."""
    keys = _to_expand(state)
    asks = [expansion(step, key, generator(step, key), times_expanded(state, key)) for key in keys]
    expansions = drafted(await step.ask(asks))
    distinct = [_distinct_samples(state, each) for each in expansions]
    placed = place(state, distinct)
    samples = [thought for each in expansions for thought in each["thoughts"]]
    step.count(
        thoughts=len(placed.new),
        expansions=len(placed.parents),
        reexpansions=sum(times_expanded(state, key) > 0 for key in placed.parents),
    )
    if unreadable := sum(thought["action"] is None for thought in samples):
        step.count(parse_errors={"generate": unreadable})
    # An expansion whose samples all equal existing children hit no limit.
    has_new = any(each["thoughts"] for each in distinct)
    short = len(placed.parents) < len(keys) or (has_new and not placed.new)
    reason = limit_reason(state) if short else ""
    return step.update(thoughts=with_times(state, placed), stop_reason=reason)


async def call_tool(step: Step, state: SearchState) -> dict[str, Any]:
    """Carries out the actions of the round's new thoughts, and writes their g."""
    new, tree = new_thoughts(state), state["thoughts"]
    waiting = [key for key in new if awaits_tool(tree[key])]
    updates = await carry_out(step, waiting)
    tree = merge_thoughts(tree, [updates])
    costs = step_costs(step, tree, rank_of(state))
    # Time ran out before the remaining tools were called.
    done = list(takewhile(lambda key: not awaits_tool(tree[key]), new))
    parent_costs = {key: tree[tree[key]["parent"] or ""].get("cost", 0.0) for key in done}
    costs_so_far: Tree = {key: {"cost": parent_costs[key] + costs[key]} for key in done}
    reason = "" if done == new else "budget"
    return step.update(thoughts=merge_thoughts(updates, [costs_so_far]), stop_reason=reason)


async def propagate(step: Step, state: SearchState) -> dict[str, Any]:
    """PROPAGATE: raises and reopens the ancestors of the round's failed calls (Algorithm 3)."""
    return {"thoughts": propagated(state, step_costs(step, state["thoughts"], rank_of(state)))}


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests V(s'), from 1 to 10; a trajectory with an equal prompt reuses its value."""
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
    for reply in answers:
        stored = {state_key_of(reply.ask.question.prompt): verdict_json(reply.reading)}
        fields = Thought(value=reply.reading.value, verdicts=stored)
        values[reply.ask.about] = fields | words_of(reply)
    step.count(evaluated=len(answers))
    return step.update(thoughts=values)


async def expand(state: InformedState) -> Literal["generate", "select", "answer"]:
    """Routes to the expansion of the frontier; to the next round if nothing is to be expanded."""
    if state["stop_reason"]:
        return "answer"
    return "generate" if _to_expand(state) else "select"


async def act(state: SearchState) -> Literal["call_tool", "select", "answer"]:
    """Routes to the tools; to the next round if a repeated expansion gave no new thought."""
    if state["stop_reason"]:
        return "answer"
    return "select" if rank_of(state).propagates and not new_thoughts(state) else "call_tool"


async def judge(state: SearchState) -> Literal["propagate", "evaluate"]:
    """Routes to `propagate` if a call of the round failed, else to `evaluate`."""
    failed = any(state["thoughts"][key].get("failed") for key in new_thoughts(state))
    return "propagate" if failed and not state["stop_reason"] else "evaluate"


def _distinct_samples(state: SearchState, children: Children) -> Children:
    """Returns an expansion without samples equal to a child or to an earlier sample."""
    parent, thoughts = children["parent"], []
    seen = {identity(child) for child in children_of(state["thoughts"], parent)}
    times = times_expanded(state, parent)
    for at, thought in enumerate(children["thoughts"]):
        if identity(thought) not in seen:
            created_by = {"node": "generate", "expansion": times, "sample": at}
            thoughts.append({**thought, "created_by": created_by})
        seen.add(identity(thought))
    return {**children, "thoughts": thoughts}


def _to_expand(state: InformedState) -> list[str]:
    """Returns the ids in the frontier, without thoughts that a person dropped."""
    return [key for key in state["frontier"] if state["thoughts"][key]["status"] != "pruned"]


def _selectable(state: SearchState) -> list[str]:
    """Returns the ids that `select` may pop next: the new thoughts and the open set."""
    return [] if state["stop_reason"] else [*new_thoughts(state), *open_set(state["thoughts"])]


def _outputs(state: InformedState) -> list[str]:
    """Returns the id of the thought that ended the search with an answer.

    After `budget` or `error`, returns all terminal thoughts, least f first. A search that ran to
    its end without an answer returns nothing, as in the paper.
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
    last = partial(answer, pick=_outputs)
    add_answer(graph, run, last, candidates=_selectable)
    graph.add_conditional_edges("start", admitted, {"begins": "select", "refused": "answer"})
    graph.add_conditional_edges("select", expand)
    # Only a repeated expansion can give no new thought.
    again = ["select"] if rank.propagates else []
    graph.add_conditional_edges("generate", act, ["call_tool", "answer", *again])
    if rank.judges:
        graph.add_conditional_edges("evaluate", shown_first(_selectable))
    if rank.propagates:
        graph.add_edge("propagate", "evaluate")
        graph.add_conditional_edges("call_tool", judge)
    elif rank.judges:
        graph.add_edge("call_tool", "evaluate")
    else:
        graph.add_conditional_edges("call_tool", shown_first(_selectable))
    return graph


ITOT_A_STAR = Method(METHODS["itot_a_star"], ValuedSettings, wire)
ITOT_D_STAR_LITE = Method(METHODS["itot_d_star_lite"], ItotDStarLiteSettings, wire)
ITOT_BEST_FIRST = Method(METHODS["itot_best_first"], ValuedSettings, wire)
ITOT_DFS = Method(METHODS["itot_dfs"], ItotDfsSettings, wire)
