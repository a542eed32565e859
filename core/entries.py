"""The methods as data, one entry each. The registry imports the objects that an entry names.

Only the entry has a method's summary and paper: `thoughtgraph methods` lists them without importing
the methods, which would take LangGraph, four times the work.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from thoughtgraph.errors import UnknownName

Edit = Literal["add", "open", "value"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Facts about a method or a task that are available without importing it."""

    id: str
    """The name by which users choose it."""


E = TypeVar("E", bound=Entry)


class Entries(dict[str, E]):
    """Entries by id; an unknown id raises an error with a hint."""

    def __init__(self, kind: str, entries: Iterable[E]) -> None:
        super().__init__({entry.id: entry for entry in entries})
        self._kind = kind

    def __missing__(self, name: str) -> E:
        raise UnknownName(self._kind, name, self)


@dataclass(frozen=True, slots=True)
class MethodEntry(Entry):
    """Facts about a method that are available without importing it, which takes LangGraph."""

    summary: str
    """What the method does, in one line."""
    use: str
    """When to use it, for an agent's model that chooses among the graphs of a server."""
    paper: str
    method: str
    """`module:NAME` of its `thoughtgraph.method.Method`, in `graphs/`."""
    settings: str
    """`module:NAME` of its settings, in `core/settings/`, which take no LangGraph."""
    requests: str
    """Number of requests per problem, in terms of its settings."""
    asks_oracle: bool = False
    """Whether it asks the oracle, if there is one, whether an answer is right."""
    edits: tuple[Edit, ...] = ()
    """What a person may do to its thoughts besides pruning them and changing their notes: `add` if
    they are texts that anybody can write, `open` if the method returns to thoughts that it left,
    `value` if it chooses by values."""
    reach: int | None = None
    """Number of levels that the method still looks at, from the deepest up; None: all."""
    stands: bool = False
    """Whether it continues from its youngest thought alone, which then cannot be pruned."""


_TOT = "Tree of Thoughts (Yao et al. 2023)"
_TOMT = "Tree-of-Mixed-Thought (Hu et al. 2023)"
_TR = "Thought Rollback (Chen and Li 2024)"
_ITOT = "Informed Tree of Thought (Mousavi et al. 2024)"
_REACT = "ReAct (Yao et al. 2023)"
_REFLEXION = "Reflexion (Shinn et al. 2023)"
_FGDIP = "FGDIP (Yan et al. 2025)"
_OURS = "ours; its stopping rule: Adaptive-Consistency (Aggarwal et al. 2023)"

DEFAULT_METHODS = ("tot_bfs", "tomt_os", "io")
"""A task's default is the first of these that can search it, unless its entry names one (ours)."""
METHODS = Entries(
    "method",
    (
        MethodEntry(
            "io",
            "ask once for the answer",
            "for what the model mostly knows at once",
            _TOT,
            "direct:IO",
            "direct:IoSettings",
            requests="1; its samples are one request",
        ),
        MethodEntry(
            "cot",
            "think, then answer",
            "for questions that take a few steps of thought",
            _TOT,
            "direct:COT",
            "direct:CotSettings",
            requests="1; its samples are one request",
        ),
        MethodEntry(
            "cot_sc",
            "think k times, the majority answers",
            "where a short answer can be compared and most samples are right",
            _TOT,
            "direct:COT_SC",
            "direct:CotScSettings",
            requests="1; its samples are one request",
        ),
        MethodEntry(
            "refine",
            "answer, then improve on the answer",
            "where an answer can be checked, or a text improved",
            _TOT,
            "refine:REFINE",
            "direct:RefineSettings",
            requests="1 + refinements, and as many verdicts where no oracle gives them",
            asks_oracle=True,
            stands=True,
        ),
        MethodEntry(
            "tot_bfs",
            "breadth-first tree search",
            "where a problem takes few steps and each can be judged on the way, such as puzzles",
            _TOT,
            "tot_bfs:TOT_BFS",
            "tot:TotBfsSettings",
            requests="1 + breadth * (steps - 1), and 1 per step (vote) or per new state (value)",
            edits=("add", "open", "value"),
            reach=2,
        ),
        MethodEntry(
            "tot_dfs",
            "depth-first tree search",
            "where constraints show early which beginnings lead nowhere, such as crosswords",
            _TOT,
            "tot_dfs:TOT_DFS",
            "tot:TotDfsSettings",
            requests="1 per expanded and 1 per visited state, at most max_records of these",
            edits=("add", "open", "value"),
        ),
        MethodEntry(
            "tomt_one_stop",
            "write the whole plan at once",
            "for plans of tool calls about a scene that are mostly right at once",
            _TOMT,
            "mixed_thought:TOMT_ONE_STOP",
            "mixed_thought:TomtOneStopSettings",
            requests="1 per call, at most max_calls",
        ),
        MethodEntry(
            "tomt_tot",
            "plan step by step, back up from faults",
            "for plans of tool calls about a scene where each call can be checked",
            _TOMT,
            "mixed_thought:TOMT_TOT",
            "mixed_thought:TomtTotSettings",
            requests="1 per call, at most max_calls",
        ),
        MethodEntry(
            "tomt_os",
            "step by step, but first try all that remains",
            "for plans of tool calls about a scene; it costs less than planning call by call",
            _TOMT,
            "mixed_thought:TOMT_OS",
            "mixed_thought:TomtOsSettings",
            requests="1 per call, at most max_calls",
        ),
        MethodEntry(
            "tomt_block",
            "plan k steps at a time",
            "for plans of tool calls about a scene that come in blocks",
            _TOMT,
            "mixed_thought:TOMT_BLOCK",
            "mixed_thought:TomtBlockSettings",
            requests="1 per call, at most max_calls",
        ),
        MethodEntry(
            "rollback",
            "reason step by step, go back to before a mistake and learn from it",
            "for reasoning in which the model sees its mistakes once it checks them",
            _TR,
            "thought_rollback:ROLLBACK",
            "rollback:RollbackSettings",
            requests="1 per thought, 2 per analysed path (single_call: 1), at most limit_requests",
            edits=("add", "open"),
        ),
        MethodEntry(
            "chain",
            "reason step by step, never back",
            "for reasoning step by step without going back, as a baseline",
            _TR,
            "chain:CHAIN",
            "rollback:ChainSettings",
            requests="1 per step, at most steps",
            stands=True,
        ),
        MethodEntry(
            "level_tot",
            "take the best of several steps",
            "for reasoning where a judge can compare next steps, as a baseline",
            _TR,
            "level_tot:LEVEL_TOT",
            "rollback:LevelTotSettings",
            requests="1 + n_generate per step, at most steps",
            edits=("value",),
        ),
        MethodEntry(
            "react",
            "think, act, observe, repeat",
            "for questions that one straight line of searches answers",
            _REACT,
            "react:REACT",
            "acting:ReactSettings",
            requests="1 per step, at most max_steps",
            stands=True,
        ),
        MethodEntry(
            "reflexion",
            "try again with the lesson of each failed trial",
            "for questions to search, where somebody can say whether an answer is right",
            _REFLEXION,
            "reflexion:REFLEXION",
            "acting:ReflexionSettings",
            requests="1 per step and 1 per lesson, at most trials * (max_steps + 1)",
            asks_oracle=True,
            stands=True,
        ),
        MethodEntry(
            "itot_a_star",
            "best first by tool cost less value",
            "for questions to search where tools have prices",
            _ITOT,
            "informed_tot:ITOT_A_STAR",
            "acting:ValuedSettings",
            requests="1 per expansion, 1 per new child; at most rounds * width * (1 + n_generate)",
            asks_oracle=True,
            edits=("open", "value"),
        ),
        MethodEntry(
            "itot_d_star_lite",
            "the same as itot_a_star; a failed tool makes its ancestors dearer and open again",
            "for questions to search where tools have prices and fail",
            _ITOT,
            "informed_tot:ITOT_D_STAR_LITE",
            "acting:ItotDStarLiteSettings",
            requests="1 per expansion, 1 per new child; at most rounds * width * (1 + n_generate)",
            asks_oracle=True,
            edits=("open", "value"),
        ),
        MethodEntry(
            "itot_best_first",
            "best first by value",
            "for questions to search where steps can be judged",
            _ITOT,
            "informed_tot:ITOT_BEST_FIRST",
            "acting:ValuedSettings",
            requests="1 per expansion, 1 per new child; at most rounds * width * (1 + n_generate)",
            asks_oracle=True,
            edits=("open", "value"),
        ),
        MethodEntry(
            "itot_dfs",
            "depth first with tools, no values",
            "for questions to search without a judge of steps, as a baseline",
            _ITOT,
            "informed_tot:ITOT_DFS",
            "acting:ItotDfsSettings",
            requests="1 per expansion, at most rounds * width",
            asks_oracle=True,
            edits=("open",),
        ),
        MethodEntry(
            "fgdip",
            "depth first by tool calls, warned by siblings and rejected answers",
            "for questions whose answer is spread over several pages, where cost does not matter",
            _FGDIP,
            "feedback_guided:FGDIP",
            "acting:FgdipSettings",
            requests="1 for the first entities, 2 per child, 1 per answer; at most limit_requests",
            edits=("open", "value"),
        ),
        MethodEntry(
            "adaptive",
            "draw samples until they agree, or one plan runs",
            "where equal answers can be counted: it stops as soon as the vote is clear",
            _OURS,
            "adaptive:ADAPTIVE",
            "adaptive:AdaptiveSettings",
            requests="1 per batch; at most `samples` samples",
            asks_oracle=True,
        ),
    ),
)
