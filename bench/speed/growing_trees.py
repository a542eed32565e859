"""Searches on instant scripted models whose trees grow as far as one likes, of long thoughts.

A thought is a text of 250 bytes in which no compressor finds anything. `tot_bfs` takes ten levels
and ten proposals a state, `tot_dfs` and `tomt_tot` trees that have ten children everywhere. On
crosswords `tot_dfs` tries six words for each row of a board, clue by clue, as the task judges it.
Thought Rollback goes back at every second analysis; A* calls a tool for every thought.
"""

import base64
import hashlib
import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.tools import BaseTool, tool

import thoughtgraph as tg
from thoughtgraph.bench.speed.critical_path import drawing
from thoughtgraph.building import Graph
from thoughtgraph.llm.scripted import Call, Reply, ScriptedChat
from thoughtgraph.planning import Ruling
from thoughtgraph.task import Prompt, Question, Task, Verdict
from thoughtgraph.tasks.crossword_board import LABELS, SIZE
from thoughtgraph.tools.costs import Priced
from thoughtgraph.tools.toolbox import ToolSet
from thoughtgraph.tools.wiki.search_tools import finish_tool
from thoughtgraph.tree import Path

LEVELS = 10
FAN = 10
LETTERS = 250
DEEPEST = 5
"""Thoughts on a path of the depth-first searches: the widest tree has room for 10,000."""
WORDS = ("abide", "tenor", "local", "super", "organ", "mirth")
CLUES = "\n".join(f"clue {label}" for label in LABELS)
PROPOSED = {"generate": "propose", "evaluate": "value", "n_evaluate": 1}
ENDLESS = {"limit_requests": None, "limit_rounds": None, "limit_tokens": None}


def noise(seed: str) -> str:
    """Returns a text of `LETTERS` bytes in which no compressor finds anything, as in a good one."""
    drawn = hashlib.shake_256(seed.encode()).digest(LETTERS)
    return base64.b64encode(drawn).decode()[:LETTERS]


class Bulk:
    """A task whose thoughts are long, distinct texts, whatever the model says."""

    id = "bulk"

    def read(self, text: str) -> str:
        """Returns the problem as it is."""
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        """Publishes how `tot_bfs` is to ask, or it would refuse the task."""
        return PROPOSED if method == "tot_bfs" else {}

    def propose(
        self, problem: str, path: Path, options: Mapping[str, Any]
    ) -> Question[list[dict[str, Any]]]:
        """Returns a prompt of the path's last thought; ten follow."""
        stem = path[-1]["text"] if path else problem
        new = [{"text": noise(f"{stem}.{i}"), "raw": ""} for i in range(FAN)]
        return Question(Prompt(stem), lambda samples: new)

    def value(self, problem: str, path: Path, options: Mapping[str, Any]) -> Question[Verdict]:
        """Returns a prompt that no other state shares; all are valued alike."""
        return Question(Prompt(path[-1]["text"]), lambda samples: Verdict(1.0, "fine"))

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the last thought."""
        return path[-1]["text"] if len(path) == LEVELS else None

    def shots(self, problem: str, options: Mapping[str, Any]) -> int:
        """Returns that there are no examples."""
        return 0

    def plan(
        self,
        problem: str,
        path: Path,
        shots: Sequence[int],
        steps: int | None,
        options: Mapping[str, Any],
    ) -> Question[Sequence[Sequence[str]]]:
        """Returns a prompt of the path's last step; the next step is what the model writes."""
        stem = path[-1]["text"] if path else problem
        return Question(Prompt(stem), lambda samples: [[text] for text in samples])

    def execute(
        self, problem: str, path: Path, steps: Sequence[str], options: Mapping[str, Any]
    ) -> Ruling:
        """Accepts every step but the deepest, so that the search tries all of them."""
        return Ruling(len(path) + 1 < DEEPEST, steps[0], code="E_DEEP", reason="too deep")


class Growth(NamedTuple):
    """A search that can be stopped at any number of thoughts."""

    method: str
    task: str | Task
    problem: str
    reply: Reply
    settings: Mapping[str, Any]
    """Its settings, whatever the task publishes; limits apart."""
    most: int = 100_000
    """The most thoughts that its tree can have."""

    def graph(self, checkpointer: Any) -> Graph:
        """Returns the graph of the search on a new model."""
        model = ScriptedChat(reply=self.reply)
        tools = ToolSet([Priced(endless_search()), Priced(finish_tool(), 0.0)])
        given = tools if self.method.startswith("itot") else ()
        return tg.build(
            self.method, task=self.task, model=model, tools=given, checkpointer=checkpointer
        )

    def context(self, thoughts: int) -> dict[str, Any]:
        """Returns the settings under which at least so many thoughts grow, and few more."""
        if self.method == "tot_bfs":
            return {**self.settings, **ENDLESS, "breadth": breadth(thoughts)}
        return {**self.settings, **ENDLESS, "limit_thoughts": thoughts}


def breadth(thoughts: int) -> int:
    """Returns the smallest breadth whose tree has at least so many thoughts."""

    def grown(breadth: int) -> int:
        return sum(FAN * min(breadth, FAN ** min(level, 5)) for level in range(LEVELS))

    return next(b for b in itertools.count(1) if grown(b) >= thoughts)


def filled(call: Call) -> str:
    """Plays crosswords: six words for each row that has none yet, and no clue is impossible."""
    if "Unfilled:" not in call.prompt:
        return "maybe"
    still = call.prompt.rpartition("Unfilled:")[2].partition("Filled:")[0]
    rows = [label for label in LABELS[:SIZE] if f"{label}. " in still]
    return "\n".join(f"{row}. {word} (low)" for row in rows for word in WORDS)


def rolled_back(draws: random.Random, call: Call) -> str:
    """Reasons in long steps, and finds one of the first eight bad in every second analysis."""
    if call.role == "generate":
        text = noise(str(draws.random()))
        return f"{text} The final solution is 1" if draws.random() < 0.15 else text
    return f"Bad step index: {draws.randint(1, 8) if draws.random() < 0.5 else 'None'}"


def searching(draws: random.Random, call: Call) -> str:
    """Thinks in long texts, and calls a tool that never finds the end."""
    if call.role == "generate":
        return f" {noise(str(draws.random()))}\nAction 1: Search[{draws.randrange(10**9)}]"
    return f"Score: {draws.randint(1, 10)}"


def endless_search() -> BaseTool:
    """Returns a Search that finds a short page for anything."""

    @tool("Search")
    async def search(entity: str) -> str:
        """Finds a page."""
        return f"page of {entity}"

    return search


DEPTH_FIRST = {"steps": DEEPEST, "proposal_samples": 1, "outputs": 0}
VISITING = {"max_per_state": 100, "max_records": 100_000}
FINE: Reply = lambda call: "fine"  # noqa: E731
GROWTHS: Mapping[str, Growth] = {
    "tot_bfs": Growth("tot_bfs", Bulk(), CLUES, FINE, {"steps": LEVELS, **PROPOSED}),
    "tot_dfs": Growth("tot_dfs", Bulk(), CLUES, FINE, {**DEPTH_FIRST, **PROPOSED, **VISITING}),
    "tot_dfs on crosswords": Growth(
        "tot_dfs", "crosswords", CLUES, filled, {**DEPTH_FIRST, "n_evaluate": 1, **VISITING}, 3_000
    ),
    "rollback": Growth(
        "rollback",
        "gsm8k",
        "How many apples are left?",
        drawing(0, rolled_back),
        {"solutions": 1000, "path_rollbacks": 1000},
        700,
    ),
    "tomt_tot": Growth(
        "tomt_tot",
        Bulk(),
        CLUES,
        lambda call: noise(str(call.draw)),
        {"branches": FAN, "max_calls": 10_000},
    ),
    "itot_a_star": Growth(
        "itot_a_star",
        "hotpotqa",
        "Which of the two rivers is longer?",
        drawing(0, searching),
        {"rounds": 100_000},
    ),
}
"""The searches, by the label of their figures."""
