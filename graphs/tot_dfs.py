"""Tree of Thoughts, depth first: Algorithm 2 of Yao et al. 2023 (arXiv 2305.10601).

    DFS(s, t, p, G, k, V, T, v_th)

    1  if t > T then record the output G(p, s, 1)                     select
    2  for s' in G(p, s, k), candidates sorted                        generate, register, select
    3      if V(p, {s'}) > v_th                                       evaluate, select
    4          DFS(s', t + 1)                                         select -> generate
       (nothing left to try in s)                                     backtrack

The recursion is a stack in the state, so a search can be stopped and resumed anywhere. `register`
opens a frame of candidates, sorted by the generator's own score where the task asks for one;
`select` writes down the state that was judged and goes into it, or else takes the top frame's next
candidate, and `backtrack` closes a frame. As in the official crosswords code, a state is judged
when it is visited and a candidate that alters what an earlier thought fixed is passed over. What
the evaluator undervalues is lost with everything below it; `variant="no_prune"` descends regardless
and `variant="no_backtrack"` follows the best candidate only (both are rows of the paper's Table 3).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from langgraph.graph import END, START
from langgraph.types import Send
from pydantic import Field

from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.chart import Chart, chart
from thoughtgraph.nodes.depth_first.frames import backtrack, expansions, nothing_tried, open_frame
from thoughtgraph.nodes.depth_first.record import evaluate_part, open_questions, visit
from thoughtgraph.nodes.generate import WAYS, Way, expand_root, generate
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.settings import ProposingSettings
from thoughtgraph.state import DfsState, SearchState
from thoughtgraph.task import Inspects, Proposes, Samples, Values
from thoughtgraph.tree import Thought


class TotDfsSettings(ProposingSettings):
    """What `tot_dfs` can be told."""

    steps: int = Field(
        10, ge=1, le=100, description="T: thoughts of an output (crosswords 10, game24 4)."
    )
    threshold: float = Field(
        0.0,
        ge=-1000,
        le=1000,
        description="v_th: a state is continued when its value exceeds it (crosswords -1: no clue "
        "is impossible; game24 0.5, ours).",
    )
    max_per_state: int = Field(
        3, ge=1, le=1000, description="Candidates visited per state (official code: 3; game24 8)."
    )
    max_records: int = Field(
        100, ge=1, le=100_000, description="States visited (section 4.3: 100 search steps)."
    )
    outputs: int = Field(
        1, ge=0, le=1000, description="Stop after this many outputs (ours); 0: go on (crosswords)."
    )
    answer_from: Literal["outputs", "records"] = Field(
        "outputs",
        description="Answer with the first output, else the deepest state (ours), or always with "
        "the deepest state, the first of several (crosswords, official logs).",
    )
    variant: Literal["prune", "no_prune", "no_backtrack"] = Field(
        "prune", description="Table 3's ablations: descend regardless of V; or greedily, without V."
    )
    greedy_steps: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Steps of no_backtrack (crosswords 20). None: as many as `steps`.",
    )
    generate: Literal["propose", "sample"] = Field(
        "propose", description="How thoughts are generated (section 4.3: propose)."
    )
    proposal_samples: int = Field(
        5, ge=1, le=100, description="Completions per proposal (section 4.3: 5; game24 1)."
    )
    n_generate: int = Field(
        5, ge=1, le=100, description="k: samples per state, when sampling (section 4.2: 5)."
    )
    evaluate: Literal["value", "inspect"] = Field(
        "value", description="Judge a state as a whole, or part by part (crosswords: each clue)."
    )
    n_evaluate: int = Field(
        3,
        ge=1,
        le=100,
        description="Samples per judgement (game24: 3 per state, crosswords: 1 per clue).",
    )
    reuse_proposals: bool = Field(
        False,
        description="Expand equal prompts once (crosswords: on, as in the official code).",
    )
    repo_compat: bool = Field(
        False,
        description="Do as the official crosswords code does: 8 proposals, 9 words, never stop "
        "early, unless these are given, and without backtracking the last candidate if none fits.",
    )

    repository: ClassVar[Mapping[str, Any]] = {"steps": 9, "proposal_samples": 8, "outputs": 0}
    """`env_steps < 10` allows nine words; eight proposals a state."""


SETTINGS = TotDfsSettings


def needs(settings: Mapping[str, Any]) -> Sequence[type]:
    """Returns the capabilities a task must have for these settings."""
    generator = Proposes if settings["generate"] == "propose" else Samples
    return [generator, Values if settings["evaluate"] == "value" else Inspects]


def way(settings: Mapping[str, Any]) -> Way:
    """Returns how thoughts are generated."""
    return WAYS[settings["generate"]]


def build(parts: Parts) -> Chart:
    """Wires Algorithm 2."""

    async def visit_next(
        state: DfsState,
    ) -> list[Send] | Literal["register", "select", "backtrack", "answer"]:
        if state["stop_reason"]:
            return "answer"
        if state["frontier"]:
            return expansions(parts, way, state) or "register"
        if not state["visiting"]:
            return "backtrack"
        return open_questions(parts, state) or "select"

    graph = chart(parts, state=DfsState)
    graph.add_node("start", start(parts, **nothing_tried()))
    graph.add_node("generate", generate(parts, way))
    graph.add_node("register", open_frame(parts, way))
    graph.add_node("select", visit(parts))
    graph.add_node("evaluate", evaluate_part(parts))
    graph.add_node("backtrack", backtrack())
    graph.add_node("answer", answer(parts, pick=outputs, cut_short=outputs))
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", expand_root, ["generate", "answer"])
    graph.add_edge("generate", "register")
    graph.add_conditional_edges("register", go_on, ["select", "answer"])
    targets = ["generate", "register", "evaluate", "select", "backtrack", "answer"]
    graph.add_conditional_edges("select", visit_next, targets)
    graph.add_edge("evaluate", "select")
    graph.add_conditional_edges("backtrack", go_on, ["select", "answer"])
    graph.add_edge("answer", END)
    return graph


async def go_on(state: DfsState) -> Literal["select", "answer"]:
    """Routes to the top frame's next candidate unless the search has ended."""
    return "answer" if state["stop_reason"] else "select"


def outputs(state: SearchState) -> list[str]:
    """Returns what a search puts out: the outputs in order, else the deepest states it visited."""
    thoughts = visited(state["tree"].values())
    passed = [thought for thought in thoughts if thought["status"] == "terminal"]
    if passed and state["settings"]["answer_from"] == "outputs":
        return [thought["id"] for thought in passed]
    deepest = max((thought["depth"] for thought in thoughts), default=0)
    return [thought["id"] for thought in thoughts if thought["depth"] == deepest]


def visited(thoughts: Iterable[Thought]) -> list[Thought]:
    """Returns the thoughts that a search recorded, in the order of its visits."""
    return sorted((t for t in thoughts if "visit" in t), key=lambda thought: thought["visit"])
