"""`thoughtgraph bench`, as a user runs it, against a server that plays."""

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer, Fault, Seen, after
from support.players import play
from support.rows import finished, kept

from thoughtgraph.bench.result_files import ResultFolder, latest, unpacked

PUZZLES = ["--task", "game24", "--problems", "5:8"]
SMALL = ["--set", "breadth=1", "--set", "n_evaluate=1"]


def rows(folder: str = "results") -> list[dict[str, Any]]:
    return list(ResultFolder(folder).rows())


def test_each_finished_problem_is_a_line_and_nothing_is_asked_again(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", "--task", "game24", "--problems", "5:5", "--model", fake.specifier]
        told += ["--method", "io,tot_bfs", "--set", 'prices={"fake": [1000, 2000]}']
        code, out, _ = command(*told)
        assert code == 0
        assert "problems score 95 % requests tokens $" in " ".join(out.split())
        cells = [line.split() for line in out.splitlines() if line.startswith(("io", "tot"))]
        assert [line[:7] for line in cells] == [
            ["io", "1/1", "100.0%", "20.7%", "to", "100.0%", "1.0"],
            ["tot_bfs", "1/1", "100.0%", "20.7%", "to", "100.0%", "49.0"],
        ]
        assert float(cells[0][8]) > 0.1, "dollars"
        asked = len(fake.seen)
        code, out, _ = command(*told)
        assert code == 0 and out.startswith("2 of 2 are done\n")
        assert len(fake.seen) == asked
    found = rows()
    assert len({row["key"] for row in found}) == len(found) == 2
    one = next(row for row in found if row["method"] == "tot_bfs")
    assert one["id"] == "5" and one["score"] == 1.0 and one["seed"] == 0
    assert one["usage"]["requests"] and one["versions"]["langgraph"]
    assert unpacked(one["tree"])["0"]["status"] == "expanded"
    assert max(len(json.dumps(row)) for row in found) < 20_000
    assert not list(Path("results/unfinished").iterdir())
    command("view", "results/results.jsonl", "--out", "trees.html")
    assert "</html>" in Path("trees.html").read_text()


def test_a_sweep_compares_values_and_seeds_repeat(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", *PUZZLES, "--method", "cot_sc", "--model", fake.specifier]
        _, out, _ = command(*told, "--sweep", "n_generate=1,3", "--seeds", "2", "--set", "seed=7")
    assert "cot_sc (n_generate=1) 8/8" in " ".join(out.split())
    settings = Counter((row["settings"]["n_generate"], row["settings"]["seed"]) for row in rows())
    assert settings == {(1, 7): 4, (1, 8): 4, (3, 7): 4, (3, 8): 4}


def test_a_failed_problem_is_kept_with_its_error_and_tried_again(command: Command) -> None:
    told = ["bench", *PUZZLES, "--method", "tot_bfs", *SMALL, "--concurrency", "1", "--model"]
    with FakeServer(play) as whole:
        command(*told, whole.specifier, "--out", "w")
    with FakeServer(play, after(len(whole.seen) // 2, Fault(401))) as fake:
        code, out, _ = command(*told, fake.specifier)
        assert code == 1 and "failed; rerun the command" in out and "401" in out
        failed = [row for row in rows() if row.get("error")]
        assert failed and all("401" in row["error"] for row in failed)
        fake.fault = lambda seen: Fault()
        assert command(*told, fake.specifier)[0] == 0
        assert Counter(fake.answered) == Counter(whole.answered), "nothing is paid twice"
    found = latest(iter(rows()))
    assert len(found) == 4 and not any(row.get("error") for row in found.values())


def test_a_model_that_is_not_there_ends_it_soon(command: Command) -> None:
    with FakeServer(play, after(0, Fault(401))) as fake:
        told = ["--task", "game24", "--method", "io", "--model", fake.specifier]
        code, _, err = command("bench", *told, "--concurrency", "1")
        assert code == 2 and "401" in err
        assert len(fake.seen) == 5


def test_a_dry_run_says_what_all_would_take(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", "--task", "game24", "--method", "io", "--problems", "1:10"]
        options = ["--model", fake.specifier, "--concurrency", "5"]
        code, out, _ = command(*told, *options, "--dry-run")
        assert code == 0 and len(fake.seen) == 2
        assert "io: 10 problems will take about 10 requests" in out
        assert " with --concurrency 5, if the model is no slower then" in out
        command(*told, "--model", fake.specifier)
        assert len(fake.seen) == 10, "what was tried counts"


def test_parts_of_the_problems_share_a_folder(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", *PUZZLES, "--method", "io", "--model", fake.specifier]
        command(*told, "--shard", "1/2")
        command(*told, "--shard", "2/2")
        assert len(rows()) == 4 and len(fake.seen) == 4
        files = {file.name for file in Path("results").glob("*.jsonl")}
        assert files == {"results-1of2.jsonl", "results-2of2.jsonl"}


GAME = ["bench", "--task", "game24"]
BAD_INPUT = [
    ([*GAME, "--problems", "9:2"], "no range of 1362"),
    ([*GAME, "--problems", "x"], "no range of 1362"),
    ([*GAME, "--sample", "2000"], "take fewer"),
    ([*GAME, "--shard", "3/2"], "write 1/4"),
    ([*GAME, "--method", "nope"], "unknown method"),
    ([*GAME, "--method", "rollback,react"], "react"),
    ([*GAME, "--sweep", "breadth=2,x", "--method", "tot_bfs"], "breadth"),
    ([*GAME, "--limit", "requests"], "--limit 'requests' is not NAME=VALUE"),
    (["bench", "--task", "gsm8k", "--data", "nowhere.jsonl"], "cannot read"),
    ([*GAME, "--out", "a-file"], "name a folder"),
    ([*GAME, "--out", "taken"], "--shard"),  # by another process
    (["solve", "4 9 10 13", "--task", "game24", "--file", "a-file"], "for one problem"),
]


@pytest.mark.parametrize(("told", "said"), BAD_INPUT)
def test_bad_input_is_one_line(command: Command, told: list[str], said: str) -> None:
    Path("a-file").touch()
    writer = ResultFolder("taken")
    writer.open()
    code, _, err = command(*told, "--model", "http://127.0.0.1:9/v1#none")
    assert code == 2 and said in err and err.count("\n") == 1
    writer.close()


def test_a_torn_line_is_passed_over_and_ended(tmp_path: Path) -> None:
    kept(tmp_path, [{"key": "a", "error": "no answer"}])
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"key": "b", "ans')
    kept(tmp_path, [{"key": "c", "error": "no answer"}])
    assert [row["key"] for row in rows(str(tmp_path))] == ["a", "c"]


@pytest.mark.parametrize("key", ["../../kept", "/tmp/kept", "a/b", "", "x" * 300])
def test_a_result_names_no_file_outside_its_folder(command: Command, key: str) -> None:
    Path("r").mkdir()
    Path("kept.jsonl").write_text("mine")
    Path("r/results.jsonl").write_text(json.dumps(finished("io", key=key)) + "\n")
    code, _, err = command("report", "r", "--summaries", "out/in")
    assert code == 2 and "no result (key:" in err and err.count("\n") == 1
    assert Path("kept.jsonl").read_text() == "mine"


PROBLEMS, WORKERS = 30, 4


@pytest.mark.parametrize(
    "kills", [pytest.param(2, marks=pytest.mark.ci), pytest.param(10, marks=pytest.mark.slow)]
)
def test_killed_at_any_answer_it_ends_with_every_problem_once(tmp_path: Path, kills: int) -> None:
    """Only what a worker was waiting for when it was killed is asked for again."""
    data = tmp_path / "data.jsonl"
    lines = ({"problem": f"What is {at} and {at}?", "gold": "1"} for at in range(PROBLEMS))
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    draws, ends = random.Random(1), {"after": 0}
    on_end: list[Callable[[], None]] = []

    def reply(seen: Seen) -> str:
        """A step of reasoning that is another one for each problem and depth."""
        ends["after"] -= 1
        if not ends["after"]:
            on_end.pop()()
        step = random.Random(seen.prompt)
        return f"{step.random()}" if step.random() < 0.8 else f"So the answer is {step.random()}."

    told = [sys.executable, "-c", "from thoughtgraph.cli.app import main; main()", "bench"]
    told += ["--task", "gsm8k", "--method", "chain", "--data", str(data)]
    told += ["--out", str(tmp_path / "out"), "--concurrency", str(WORKERS), "--model"]
    with FakeServer(reply) as fake:
        for _ in range(kills):
            ends["after"] = draws.randint(1, 12)
            process = subprocess.Popen([*told, fake.specifier], stdout=subprocess.DEVNULL)
            on_end.append(process.kill)
            assert process.wait() != 0
        done = subprocess.run([*told, fake.specifier], stdout=subprocess.DEVNULL)
    assert done.returncode == 0
    found = rows(str(tmp_path / "out"))
    assert len(found) == len({row["key"] for row in found}) == PROBLEMS
    assert len(fake.answered) - len(set(fake.answered)) <= WORKERS * kills
    assert len(fake.answered) > PROBLEMS


def test_problems_of_a_file_are_answered_and_the_same_command_goes_on(command: Command) -> None:
    Path("own.jsonl").write_text('{"problem": "1 1 4 6"}\n{"id": "b", "problem": "4 9 10 13"}\n')
    Path("own.txt").write_text("1 1 4 6\n\n4 9 10 13\n")
    with FakeServer(play) as fake:
        told = ["solve", "--task", "game24", "--method", "io", "--model", fake.specifier]
        code, out, _ = command(*told, "--file", "own.jsonl")
        assert code == 0
        lines = out.splitlines()
        assert lines[0] == "1: 1 1 4 6" and lines[2] == "b: 4 9 10 13"
        assert "4" in lines[1]
        assert command(*told, "--file", "own.jsonl")[1] == f"2 of 2 are done\n{out}"
        assert len(fake.seen) == 2
        _, out, _ = command(*told, "--file", "own.txt", "--out", "other")
        assert [line[:2] for line in out.splitlines()[:3:2]] == ["1:", "3:"]
