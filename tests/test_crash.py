"""A process killed outright and resumed ends with the tree of an undisturbed one, and pays once.

`tests/test_killed_anywhere.py` kills after every write, of every method and saver.
"""

import json
from pathlib import Path

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.killed import killed_after, killed_at
from support.players import play
from support.searches import untimed

pytestmark = [pytest.mark.ci, pytest.mark.usefixtures("own_environment")]

slow = pytest.mark.slow
SMALL = ["1 2 4 7", "--task", "game24", "--set", "n_evaluate=1", "--method"]
SIZES = {"tot_bfs": "breadth=3", "tot_dfs": "outputs=4"}
"""Each of the methods asks at least 30 times, so that a kill at any of these finds it running."""
KILLED = [
    pytest.param(method, k, marks=[] if k == 9 else slow)
    for method in SIZES
    for k in range(1, 31, 2)
]


@pytest.mark.parametrize(("method", "k"), KILLED)
def test_a_command_killed_outright_is_resumed_by_the_id_on_its_first_line(
    method: str, k: int, command: Command, tmp_path: Path
) -> None:
    search = ["solve", *SMALL, method, "--set", SIZES[method]]
    with FakeServer(play) as whole:
        command(*search, "--model", whole.specifier, "--json", "one.json")
    with FakeServer(play) as fake:
        told = [*search, "--model", fake.specifier]
        run = killed_at(k, fake, tmp_path / "data" / "runs", *told)
        assert command("solve", "--resume", run, "--json", "other.json")[0] == 0
    one, other = (json.loads(Path(f"{name}.json").read_text()) for name in ("one", "other"))
    for result in (one, other):
        result["tree"] = untimed(result["tree"])
    for name in ("tree", "answer", "stop_reason"):
        assert other[name] == one[name]
    assert sorted(fake.answered) == sorted(whole.answered), "what is on the disk is not asked for"


@pytest.mark.parametrize("written", [0, pytest.param(1, marks=slow)], ids=["nothing", "the input"])
def test_a_command_killed_before_its_settings_are_in_a_checkpoint_keeps_them(
    written: int, command: Command
) -> None:
    with FakeServer(play) as fake:
        told = ["solve", *SMALL, "tot_bfs", "--set", "breadth=2", "--limit", "requests=3"]
        run = killed_after(written, *told, "--model", fake.specifier)
        command("solve", "--resume", run, "--json", "result.json")
    result = json.loads(Path("result.json").read_text())
    names = ("breadth", "n_evaluate", "limit_requests")
    assert [result["settings"][name] for name in names] == [2, 1, 3]
    assert result["stop_reason"] == "budget"
