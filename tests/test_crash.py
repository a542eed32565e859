"""A process killed outright and resumed ends with the tree of an undisturbed one, and pays once."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.killed import METHODS, kept, killed_after, killed_at, search
from support.players import play
from support.searches import untimed

pytestmark = pytest.mark.ci

slow = pytest.mark.slow
REQUESTS = 30
"""Each of the methods asks at least this often, so that a kill at any of these finds it running."""


class Whole(NamedTuple):
    """A search to which nothing happened."""

    result: Any
    requests: Counter[str]
    nexts: list[str]
    """The node before which each checkpoint was written, in order; empty for the last one."""


def story(out: Any) -> Any:
    return untimed(out["tree"]), out["answer"], out["stop_reason"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Whole]:
    results = {}
    for method in METHODS:
        file = tmp_path_factory.mktemp(method) / "runs.sqlite"
        with FakeServer(play) as server:
            out, nexts = asyncio.run(search(server.specifier, str(file), method))
        results[method] = Whole(story(out), Counter(server.answered), nexts)
    return results


def check(whole: Whole, file: Path, method: str) -> int:
    """Resumes a search that was killed; returns how many of its requests were paid for before."""
    before = kept(file)
    with FakeServer(play) as server:
        out, _ = asyncio.run(search(server.specifier, str(file), method))
    assert story(out) == whole.result
    asked = Counter(server.answered)
    assert not asked - whole.requests
    assert asked.total() == whole.requests.total() - before, "what is on the disk is not asked for"
    return before


AT_REQUESTS = [
    pytest.param(method, k, marks=[] if (method, k) == ("tot_dfs", 9) else slow)
    for method in METHODS
    for k in range(1, REQUESTS + 1, 2)
]


@pytest.mark.parametrize(("method", "k"), AT_REQUESTS)
def test_a_search_killed_amid_its_requests_resumes_where_it_was(
    method: str, k: int, undisturbed: dict[str, Whole], tmp_path: Path
) -> None:
    file = tmp_path / "runs.sqlite"
    with FakeServer(play) as server:
        killed_at(k, server, file, "search", server.specifier, str(file), method)
    assert check(undisturbed[method], file, method) == k


BETWEEN = [
    pytest.param("tot_dfs", "backtrack"),
    *(pytest.param("tot_dfs", node, marks=slow) for node in ("select", "answer")),
    *(pytest.param("tot_bfs", node, marks=slow) for node in ("register", "select", "")),
]


@pytest.mark.parametrize(("method", "node"), BETWEEN)
def test_a_search_killed_between_its_requests_resumes_where_it_was(
    method: str, node: str, undisturbed: dict[str, Whole], tmp_path: Path
) -> None:
    """Before a node that asks for nothing, amid the search; after everything where none is left."""
    file, whole = tmp_path / "runs.sqlite", undisturbed[method]
    writes = [k for k, before in enumerate(whole.nexts, 1) if before == node]
    k = writes[len(writes) // 2]
    with FakeServer(play) as server:
        killed_after(k, "search", server.specifier, str(file), method, "sync")
        assert check(whole, file, method) == len(server.answered)


SMALL = ["4 9 10 13", "--task", "game24", "--set", "breadth=2", "--set", "n_evaluate=1"]


def test_a_command_killed_outright_is_resumed_by_the_id_on_its_first_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    with FakeServer(play) as whole:
        command("solve", *SMALL, "--model", whole.specifier, "--json", "one.json")
    with FakeServer(play) as fake:
        told = ["solve", *SMALL, "--model", fake.specifier]
        out = killed_at(9, fake, tmp_path / "data" / "checkpoints.sqlite", *told)
        run = out.splitlines()[0].split()[1].removesuffix(":")
        assert command("solve", "--resume", run, "--json", "other.json")[0] == 0
    one, other = (json.loads(Path(f"{name}.json").read_text()) for name in ("one", "other"))
    assert untimed(other["tree"]) == untimed(one["tree"])
    assert sorted(fake.answered) == sorted(whole.answered)


@pytest.mark.parametrize("written", [0, pytest.param(1, marks=slow)], ids=["nothing", "the input"])
def test_a_command_killed_before_its_settings_are_in_a_checkpoint_keeps_them(
    written: int, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    with FakeServer(play) as fake:
        told = ["solve", *SMALL, "--limit", "requests=3", "--model", fake.specifier]
        run = killed_after(written, *told).splitlines()[0].split()[1].removesuffix(":")
        command("solve", "--resume", run, "--json", "result.json")
    result = json.loads(Path("result.json").read_text())
    names = ("breadth", "n_evaluate", "limit_requests")
    assert [result["settings"][name] for name in names] == [2, 1, 3]
    assert result["stop_reason"] == "budget"
