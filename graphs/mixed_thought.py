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

V runs the steps: every one must execute, with parameters that exist. The printed box is repaired
where it contradicts itself: its loop variable overwrites the step counter, it drops what the inner
DFS found, and it reports a spent budget as success. T counts calls of G, refused ones included,
which is how the paper's step numbers come out. What a call gives is never taken apart: one bad step
refuses its whole chunk. Nothing guarantees the answer: a plan that runs may still be wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.types import Send
from pydantic import Field

from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.chart import Chart, chart
from thoughtgraph.nodes.generate import Way, generate
from thoughtgraph.nodes.plans.search import (
    TOP,
    Portion,
    backtrack,
    calls,
    evaluate_steps,
    next_steps,
)
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.planning import Plans
from thoughtgraph.settings import SHOTS, Layout, Settings
from thoughtgraph.state import PlanState, SearchState


class TotSettings(Settings):
    """What `tomt_tot` can be told, and every method of this file."""

    max_calls: int = Field(
        30, ge=1, le=10_000, description="T: calls of the generator (section 4.1: 30)."
    )
    branches: int = Field(
        3, ge=1, le=100, description="b: calls per state (section 4.1: 3; tomt_block 5)."
    )
    evaluator: Literal["paper", "grounded"] = Field(
        "paper",
        description="Accept steps that run with parameters that exist (section 3.3.4), or only "
        "those whose words come from the question or from earlier results as well (ours).",
    )
    empty: Literal["strict", "lazy"] = Field(
        "strict", description="Whether a filter that finds nothing is refused (ours: strict)."
    )
    ambiguous: Literal["error", "first"] = Field(
        "error",
        description="Several objects where a tool takes one: refused, or the first is taken (the "
        "paper does not say; ours: error).",
    )
    tools_profile: Literal["extended", "paper"] = Field(
        "extended",
        description="The paper's tools alone, with the examples that make do with them, or also "
        "those that its questions need (ours).",
    )
    shots: int = Field(4, ge=0, le=20, description=f"{SHOTS} (appendix A.4: 4 of 20).")
    redraw: Literal["call", "question"] = Field(
        "call",
        description="Draw the examples for each call (section 3.3.3), or once a question, so that "
        "a server can reuse its work on the prompt; then temperature alone varies calls (ours).",
    )
    layout: Layout = "text"
    speculate: int = Field(
        0,
        ge=0,
        le=100,
        description="Siblings generated ahead of need, side by side: the requests are more, the "
        "result is the same while no limit on requests, tokens, dollars or time is reached (ours: "
        "0, the paper's cost).",
    )
    max_steps: int = Field(32, ge=1, le=1000, description="Most steps of a plan (ours).")
    temperature: float | None = Field(
        1.0, ge=0, le=2, description="Sampling temperature (section 4.1: 1)."
    )
    max_completion_tokens: int = Field(
        400, ge=1, le=100_000, description="Longest completion, in tokens (ours: 400)."
    )


class OneStopSettings(TotSettings):
    """What `tomt_one_stop` can be told. More calls and branches make it a repeated one-stop."""

    max_calls: int = Field(1, ge=1, le=10_000, description="T: calls of the generator (paper: 1).")
    branches: int = Field(1, ge=1, le=100, description="b: calls per state (paper: 1).")


class OneStopTotSettings(TotSettings):
    """What `tomt_os` can be told."""

    start_depth: int = Field(
        2,
        ge=1,
        le=10_000,
        description="sn: from this depth on a state's first call writes all that remains; the "
        "first step has depth 1 (section 4.4.1: 2).",
    )


class BlockSettings(TotSettings):
    """What `tomt_block` can be told."""

    branches: int = Field(5, ge=1, le=100, description="b: calls per state (section 4.1: 5).")
    block_size: int = Field(
        2, ge=1, le=1000, description="k: steps per call (section 3.3.2; table 5: 2 to 4)."
    )


@dataclass(frozen=True)
class Method:
    """One method of the family: the settings it takes and its G().

    Args:
        SETTINGS: Its settings.
        portion: How many steps one call of the generator writes.
    """

    SETTINGS: type[Settings]
    portion: Portion

    def needs(self, settings: Mapping[str, Any]) -> Sequence[type]:
        """Returns the capabilities a task must have."""
        return [Plans]

    def way(self, settings: Mapping[str, Any]) -> Way:
        """Returns how thoughts are generated."""
        return next_steps(self.portion)(settings)

    def build(self, parts: Parts) -> Chart:
        """Wires Algorithm 1."""
        graph = chart(parts, state=PlanState)
        graph.add_node("start", start(parts, stack=[TOP]))
        graph.add_node("generate", generate(parts, self.way))
        graph.add_node("evaluate", evaluate_steps(parts))
        graph.add_node("backtrack", backtrack())
        graph.add_node("answer", answer(parts, pick=solution, cut_short=solution))
        graph.add_edge(START, "start")
        graph.add_conditional_edges("start", begin, ["generate", "answer"])
        graph.add_edge("generate", "evaluate")
        targets = ["generate", "evaluate", "backtrack", "answer"]
        graph.add_conditional_edges("evaluate", go_on, ["generate", "backtrack", "answer"])
        graph.add_conditional_edges("backtrack", go_on, targets)
        graph.add_edge("answer", END)
        return graph


async def begin(state: PlanState) -> list[Send] | Literal["answer"]:
    """Routes to the first call, if a request is allowed."""
    return calls(state) or "answer"


async def go_on(state: PlanState) -> list[Send] | Literal["evaluate", "backtrack", "answer"]:
    """Routes to the next continuation of the top state, one generated ahead first."""
    if state["stop_reason"]:
        return "answer"
    top = state["stack"][-1]
    if top["ahead"]:
        return "evaluate"
    if top["tried"] == state["settings"]["branches"]:
        return "backtrack"
    return calls(state) or "answer"


def solution(state: SearchState) -> list[str]:
    """Returns the thought that ends the accepted plan, if there is one."""
    return [key for key, thought in state["tree"].items() if thought["status"] == "terminal"]


one_stop = Method(OneStopSettings, lambda settings, depth, index: None)
tot = Method(TotSettings, lambda settings, depth, index: 1)
one_stop_tot = Method(
    OneStopTotSettings,
    lambda settings, depth, index: None if depth >= settings["start_depth"] and index == 0 else 1,
)
block = Method(BlockSettings, lambda settings, depth, index: settings["block_size"])
