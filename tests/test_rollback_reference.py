"""Growth of one path at a time against the design's loop, written out apart from the graph."""

import hashlib
import random
import re
from typing import Any, NamedTuple

import pytest
from support.pools import POOLS
from support.scripted import Call, Reply
from support.stepping import MARKER, run, shape


class Oracle(NamedTuple):
    """A random model whose answers follow from what it is shown, not from its wording."""

    seed: int
    ends: float
    bad: float

    def draws(self, *about: Any) -> random.Random:
        return random.Random(hashlib.sha256(repr((self.seed, about)).encode()).digest())

    def step(self, path: tuple[str, ...], taught: tuple[str, ...]) -> str:
        draws = self.draws("step", path, taught)
        if draws.random() < self.ends:
            return f"{MARKER} {draws.randrange(4)}"
        return f"thought {draws.randrange(10**9)}"

    def analysis(self, path: tuple[str, ...]) -> str:
        return f"analysis {self.draws('analysis', path).randrange(10**12)}"

    def bad_steps(self, analysis: str, count: int) -> list[int]:
        draws = self.draws("bad", analysis)
        if draws.random() >= self.bad:
            return []
        return sorted({draws.randint(1, count) for _ in range(draws.randint(1, 3))})

    def scripted(self) -> Reply:
        def reply(call: Call) -> str:
            block = call.prompt.rpartition("<steps>\n")[2].partition("</steps>")[0]
            steps = (
                re.findall(r"^Step \d+\. (.*)$", block, re.M) if "<steps>\n" in call.prompt else []
            )
            found = re.findall(r"^(analysis \d+)$", call.prompt, re.M)
            if call.role == "generate":
                return self.step(tuple(steps), tuple(found))
            if call.role == "analyse":
                return self.analysis(tuple(steps))
            count = int(re.findall(r"process of (\d+) step", call.prompt)[-1])
            named = map(str, reversed(self.bad_steps(found[-1], count)))
            return f"Bad step index: {', '.join(named) or 'None'}"

        return reply


class Node:
    """A thought of the loop."""

    def __init__(self, number: int, text: str = "", above: "Node | None" = None) -> None:
        self.number, self.text, self.above = number, text, above
        self.path: list[Node] = [*(above.path if above else []), self]
        self.taught: list[Node] = []
        self.past: list[Node] = [self]
        self.caused_by: Node | None = None
        self.back: Node | None = None
        self.analysis = ""

    @property
    def place(self) -> list[int]:
        return [node.number for node in self.path]

    @property
    def sink(self) -> bool:
        return MARKER in self.text

    def texts(self) -> tuple[str, ...]:
        return tuple(node.text for node in self.path[1:])

    def alpha(self) -> int:
        return sum(node.back is not None for node in self.path)


def loop(oracle: Oracle, settings: dict[str, Any]) -> tuple[list[Node], str]:
    """The main loop of the design; returns the thoughts and why it stopped."""
    nodes = [Node(0)]
    live, sources, asked = {nodes[0]}, list[Node](), 0
    pending: Node | None = None

    def ends(node: Node) -> bool:
        return node.sink or len(node.path) > settings["steps"]

    def taught(node: Node) -> list[Node]:
        tries = [led for led in pending.past if led.back is node] if pending else []
        return [*node.taught, *tries]

    def rank(node: Node) -> tuple[int, list[int]]:
        dfs = settings["growth_order"] == "dfs"
        return (0 if dfs else -len(node.taught), node.place)

    while sum(map(ends, nodes)) < settings["solutions"]:
        if pending and pending.back:
            at = pending.back
        elif not live:
            return nodes, "exhausted"
        else:
            at = min(live, key=rank)
            if at.above and not at.analysis and at.alpha() <= settings["path_rollbacks"]:
                if asked + 2 > settings["limit_requests"]:
                    return nodes, "budget"
                asked += 2
                at.analysis = oracle.analysis(at.texts())
                for bad in oracle.bad_steps(at.analysis, len(at.path) - 1):
                    to = at.path[bad - 1]
                    if sum(source.back is to for source in sources) < settings["incoming"]:
                        at.back, pending = to, at
                        sources.append(at)
                        live -= {at} if ends(at) else set()
                        break
                if pending:
                    continue
            if ends(at):
                live.remove(at)
                continue
        if asked == settings["limit_requests"]:
            return nodes, "budget"
        asked += 1
        lessons = taught(at)
        told = tuple(source.analysis for source in lessons)
        new = Node(len(nodes), oracle.step(at.texts(), told), at)
        new.past = [*(pending or at).past, new]
        new.taught, new.caused_by, pending = lessons, pending, None
        nodes.append(new)
        live = (live - {at}) | {new}
    return nodes, "finished"


def number(node: Node | None) -> str | None:
    return None if node is None else str(node.number)


@pytest.mark.parametrize("pool", POOLS)
async def test_one_path_at_a_time_is_the_loop_of_the_design(pool: range) -> None:
    seen = set()
    for seed in pool:
        draws = random.Random(f"reference {seed}")
        oracle = Oracle(seed, draws.choice([0.0, 0.2, 0.4]), draws.choice([0.0, 0.3, 0.6, 1.0]))
        settings = {
            "steps": draws.randint(2, 6),
            "solutions": draws.choice([1, 3, 8, 50]),
            "incoming": draws.randint(0, 3),
            "path_rollbacks": draws.choice([0, 1, 3]),
            "growth_order": draws.choice(["experience", "dfs"]),
            "limit_requests": draws.choice([90, 90, 30, 12]),
        }
        out, _ = await run("rollback", oracle.scripted(), parallel=False, **settings)
        nodes, reason = loop(oracle, settings)
        seen.add(reason)
        assert out["stop_reason"] == reason
        assert shape(out["tree"]) == [
            (number(node), number(node.above), node.text, number(node.back), number(node.caused_by))
            for node in nodes[1:]
        ]
        assert [t.get("experiences", []) for t in out["tree"].values()] == [
            [str(source.number) for source in node.taught] for node in nodes
        ]
    assert seen == {"finished", "exhausted", "budget"}
