"""Tree-of-Mixed-Thought: Algorithm 1 of Hu et al. 2023 (arXiv 2308.09658) and its generators G().

    DFS(s, d)                                  s: the accepted steps; d: depth, 1 at first
    1  for i = 0, ..., b - 1 do                                      go_on
    2      if T calls were made: stop                                evaluate, go_on
    3      s' = G(s, d, i, k), its examples drawn afresh             generate
    4      if V(s + s') fails: next i                                evaluate -> generate
    5      if stop_sign in s': return s + s'                         evaluate -> answer
    6      DFS(s + s', d + 1)                                        evaluate -> generate
       (all b continuations failed)                                  backtrack

    G() of tomt_one_stop: all remaining steps
    G() of tomt_tot:      the next step
    G() of tomt_os:       all remaining steps if d >= sn and i = 0, else the next step
    G() of tomt_block:    the next k steps

V executes the steps: every one must run, with parameters that exist. Three contradictions of the
printed box are repaired: its loop variable overwrites the step counter, it drops the result of the
inner DFS, and it reports a spent budget as success. T counts calls of G, refused ones included,
which reproduces the paper's step numbers. A chunk is accepted or refused as a whole: one bad step
refuses it. Nothing guarantees the answer: a plan that runs may still be wrong.
"""

from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.families.plan_search import (
    accepted,
    backtrack,
    calls_due,
    evaluate,
    top,
    tried,
)
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.plan_steps import plan_steps
from thoughtgraph.nodes.review import reviews
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.mixed_thought import (
    TomtBlockSettings,
    TomtOneStopSettings,
    TomtOsSettings,
    TomtTotSettings,
)
from thoughtgraph.state import PlanState
from thoughtgraph.tree import path_to


def steps_wanted(state: PlanState, index: int) -> int | None:
    """Returns how many steps G() requests in the call `index` (i); None: all that remain."""
    method, settings = state["method"], state["settings"]
    if method == "tomt_block":
        return TomtBlockSettings.of(settings).block_size
    if method == "tomt_os":
        depth = len(path_to(state["thoughts"], top(state["thoughts"]))) + 1
        return None if depth >= TomtOsSettings.of(settings).start_depth and not index else 1
    return 1 if method == "tomt_tot" else None


async def generate(step: Step, state: PlanState) -> dict[str, Any]:
    """Line 3: requests s', the top state's next continuation; `ahead` keeps speculative ones."""
    key, first, asks = top(state["thoughts"]), tried(state["thoughts"]), []
    for index in range(first, first + calls_due(state)):
        size = steps_wanted(state, index)
        question = plan_steps(step, key, index, size, steps=size)
        asks.append(replace(expansion(step, key, question, index), ahead=index > first))
    answers = {answer.ask.name: answer for answer in await step.ask(asks)}
    served = [*takewhile(bool, (answers.get(ask.name) for ask in asks))]
    if not served:
        return step.update(stop_reason="budget")
    calls = drafted([answer for answer in served if answer])
    return step.update(ahead={**state["ahead"], key: calls})


async def begin(state: PlanState) -> Literal["generate", "answer"]:
    """Routes to the first call, if a request is allowed."""
    begins = not state["stop_reason"] and calls_due(state) > 0
    return "generate" if begins else "answer"


async def show(
    state: PlanState,
) -> Literal["review", "generate", "evaluate", "backtrack", "answer"]:
    """Routes an accepted chunk to a person under `review="select"`; else as `go_on`."""
    return "review" if reviews(state, accepted) else await go_on(state)


async def go_on(
    state: PlanState,
) -> Literal["generate", "evaluate", "backtrack", "answer"]:
    """Lines 1 and 2: routes to the top state's next continuation, or back if all b failed."""
    if state["stop_reason"] or terminal(state):
        return "answer"
    tree = state["thoughts"]
    if state["ahead"].get(top(tree)):
        return "evaluate"
    if tried(tree) == TomtTotSettings.of(state["settings"]).branches:
        return "backtrack"
    return "generate" if calls_due(state) > 0 else "answer"


def wire(run: Run) -> Graph:
    """Wires Algorithm 1."""
    graph = method_graph(run, generate, evaluate, backtrack, state=PlanState, ahead={})
    last = partial(answer, pick=terminal)
    add_answer(graph, run, last, candidates=accepted, onward=go_on)
    graph.add_conditional_edges("start", begin)
    graph.add_edge("generate", "evaluate")
    graph.add_conditional_edges("evaluate", show)
    graph.add_conditional_edges("backtrack", go_on)
    return graph


TOMT_ONE_STOP = Method(METHODS["tomt_one_stop"], TomtOneStopSettings, wire)
TOMT_TOT = Method(METHODS["tomt_tot"], TomtTotSettings, wire)
TOMT_OS = Method(METHODS["tomt_os"], TomtOsSettings, wire)
TOMT_BLOCK = Method(METHODS["tomt_block"], TomtBlockSettings, wire)
