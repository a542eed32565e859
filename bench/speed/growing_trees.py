"""Searches on instant scripted models whose trees grow as far as one likes, of long thoughts.

A thought is a text of 250 bytes in which no compressor finds anything. `tot_bfs` takes ten levels
and ten proposals a state, `tot_dfs` and `tomt_tot` trees that have ten children everywhere. Thought
Rollback goes back at every second analysis; A* calls a tool for every thought.
"""

import base64
import hashlib
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.tools import tool

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.llm.scripted import Call, ScriptedChat
from thoughtgraph.planning import Ruling
from thoughtgraph.task import Prompt, Question, Task, Verdict
from thoughtgraph.tools.costs import Priced
from thoughtgraph.tools.toolbox import ToolSet
from thoughtgraph.tools.wiki.search_tools import finish_tool
from thoughtgraph.tree import Path

LEVELS = 10
FAN = 10
LETTERS = 250
DEEPEST = 5
"""Thoughts on a path of the depth-first searches: the widest tree has room for 10,000."""
PROPOSED = {"generate": "propose", "evaluate": "value", "n_evaluate": 1}
ENDLESS = {"limit_requests": None, "limit_rounds": None, "limit_tokens": None}


def noise(seed: str) -> str:
    """Returns a text of `LETTERS` bytes in which no compressor finds anything."""
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


Writer = Callable[[random.Random, Call], str]
"""Writes one sample, with randomness that hangs on the request and the sample alone."""


class Growth(NamedTuple):
    """A search that can be stopped at any number of thoughts."""

    method: str
    task: str | Task
    settings: Mapping[str, Any]
    """Its settings, limits apart."""
    write: Writer
    most: int = 100_000
    """The most thoughts that its tree can have."""

    def graph(self, checkpointer: Any) -> Graph:
        """Returns the graph of the search on a new model."""

        def reply(call: Call) -> list[str]:
            keys = (f"{call.role} {call.prompt} {call.draw} {n}" for n in range(call.n))
            return [self.write(random.Random(key), call) for key in keys]

        tools = ToolSet([Priced(endless_search), Priced(finish_tool(), 0.0)])
        model = ScriptedChat(reply=reply)
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


def long_step(draws: random.Random, call: Call) -> str:
    """Writes a step that no other call writes."""
    return noise(str(draws.random()))


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


@tool("Search")
async def endless_search(entity: str) -> str:
    """Finds a page."""
    return f"page of {entity}"


DEPTH_FIRST = {"steps": DEEPEST, "proposal_samples": 1, "outputs": 0}
VISITING = {"max_per_state": 100, "max_records": 100_000}
GROWTHS: Mapping[str, Growth] = {
    each.method: each
    for each in (
        Growth("tot_bfs", Bulk(), {"steps": LEVELS, **PROPOSED}, long_step),
        Growth("tot_dfs", Bulk(), {**DEPTH_FIRST, **PROPOSED, **VISITING}, long_step),
        Growth("rollback", "gsm8k", {"solutions": 1000, "path_rollbacks": 1000}, rolled_back, 700),
        Growth("tomt_tot", Bulk(), {"branches": FAN, "max_calls": 10_000}, long_step),
        Growth("itot_a_star", "hotpotqa", {"rounds": 100_000}, searching),
    )
}
"""The searches, by their methods."""
