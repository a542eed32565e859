"""`thoughtgraph bench` and `report`, as a user runs them, against a server that plays."""

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer, Fault, Seen, after
from support.players import play
from support.rows import ROW

from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.report_tables import COMPARED
from thoughtgraph.bench.result_files import ResultFolder, latest, unpacked
from thoughtgraph.cli.bench_display import makespan

PUZZLES = ["--task", "game24", "--problems", "5:8"]


def rows(folder: str = "results") -> list[dict[str, Any]]:
    return list(ResultFolder(folder).rows())


def test_each_finished_problem_is_a_line_and_nothing_is_asked_again(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", *PUZZLES, "--method", "io,tot_bfs", "--model", fake.specifier]
        code, out, _ = command(*told)
        assert code == 0
        assert [
            line.split()[:3] for line in out.splitlines() if line.startswith(("io", "tot"))
        ] == [
            ["io", "4/4", "100.0%"],
            ["tot_bfs", "4/4", "100.0%"],
        ]
        asked = len(fake.seen)
        assert command(*told)[0] == 0
        assert len(fake.seen) == asked
    found = rows()
    assert len({row["key"] for row in found}) == len(found) == 8
    one = next(row for row in found if row["method"] == "tot_bfs")
    assert one["id"] in "5678" and one["score"] == 1.0 and one["seed"] == 0
    assert one["usage"]["requests"] and one["versions"]["langgraph"]
    assert unpacked(one["tree"])["0"]["status"] == "expanded"
    assert max(len(json.dumps(row)) for row in found) < 20_000
    assert not list(Path("results/unfinished").iterdir())
    command("view", "results/results.jsonl", "--out", "trees.html")
    assert "</html>" in Path("trees.html").read_text()


def test_a_sweep_compares_values_and_seeds_repeat(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", *PUZZLES, "--method", "tot_bfs", "--model", fake.specifier]
        _, out, _ = command(*told, "--sweep", "breadth=1,3", "--seeds", "2", "--set", "seed=7")
    assert "tot_bfs (breadth=1) 8/8" in " ".join(out.split())
    settings = Counter((row["settings"]["breadth"], row["settings"]["seed"]) for row in rows())
    assert settings == {(1, 7): 4, (1, 8): 4, (3, 7): 4, (3, 8): 4}


def test_a_failed_problem_is_kept_with_its_error_and_tried_again(command: Command) -> None:
    with FakeServer(play) as whole:
        command("bench", *PUZZLES, "--method", "tot_bfs", "--model", whole.specifier, "--out", "w")
    with FakeServer(play, after(60, Fault(401))) as fake:
        told = ["bench", *PUZZLES, "--method", "tot_bfs", "--concurrency", "1"]
        told += ["--model", fake.specifier]
        code, out, _ = command(*told)
        assert code == 1 and "failed; run the same command again" in out and "401" in out
        failed = [row for row in rows() if row.get("error")]
        assert failed and all("401" in row["error"] for row in failed)
        fake.fault = lambda seen: Fault()
        assert command(*told)[0] == 0
        assert Counter(fake.answered) == Counter(whole.answered), "nothing is paid twice"
    kept = latest(iter(rows()))
    assert len(kept) == 4 and not any(row.get("error") for row in kept.values())


def test_a_model_that_is_not_there_ends_it_soon(command: Command) -> None:
    with FakeServer(play, after(0, Fault(401))) as fake:
        told = ["--task", "game24", "--method", "io", "--model", fake.specifier]
        code, _, err = command("bench", *told, "--concurrency", "1")
        assert code == 2 and "401" in err
        assert len(fake.seen) <= 6


def test_a_dry_run_says_what_all_would_take(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", "--task", "game24", "--method", "io", "--problems", "1:10"]
        code, out, _ = command(*told, "--model", fake.specifier, "--dry-run")
        assert code == 0 and len(fake.seen) == 2
        assert "io: 10 problems will take about 10 requests" in out
        command(*told, "--model", fake.specifier)
        assert len(fake.seen) == 10, "what was tried counts"


def test_a_dry_run_prints_what_its_page_shows(command: Command) -> None:
    page = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text()
    section = page.partition("## What it would take")[2]
    [line] = re.findall(r"^uv run thoughtgraph (.*--dry-run)$", section, re.M)
    shown = re.findall(r"```text\n(.*?)```", section, re.S)[0].splitlines()
    with FakeServer(play) as fake:
        fake.latency = 0.1
        name = fake.specifier.partition("#")[2]
        told = line.replace("--model local", f"--model {fake.specifier}")
        code, out, _ = command(*shlex.split(told.replace('"local"', f'"{name}"')))
    assert code == 0
    pages, printed = ([measures(each) for each in lines] for lines in (shown, out.splitlines()))
    assert printed == pages


def measures(line: str) -> str:
    """A line without its numbers, and as wide as its words."""
    return " ".join(re.sub(r"\d[\d.,]*k?( min)?", "#", line).split())


def test_a_dry_run_says_how_long_it_takes_with_problems_side_by_side(command: Command) -> None:
    with FakeServer(play) as fake:
        fake.latency = 0.5
        told = ["bench", "--task", "game24", "--method", "io", "--problems", "1:40", "--dry-run"]
        _, out, _ = command(*told, "--model", fake.specifier, "--concurrency", "20")
    [line] = [each for each in out.splitlines() if each.startswith("all together")]
    one_by_one, side_by_side = map(float, re.findall(r"([\d.]+) s\b", line))
    assert one_by_one > 19
    assert side_by_side == pytest.approx(one_by_one / 20, abs=0.1), "two rounds of twenty"


@pytest.mark.parametrize(
    ("seconds", "workers", "taken"),
    [([2] * 10, 1, 20), ([2] * 10, 16, 2), ([2] * 17, 16, 4), ([1, 5, 1, 5], 2, 7), ([], 3, 0)],
)
def test_a_worker_begins_the_next_search_as_one_ends(
    seconds: list[float], workers: int, taken: float
) -> None:
    assert makespan(seconds, workers) == taken


def test_parts_of_the_problems_share_a_folder(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["bench", *PUZZLES, "--method", "io", "--model", fake.specifier]
        command(*told, "--shard", "1/2")
        command(*told, "--shard", "2/2")
        assert len(rows()) == 4 and len(fake.seen) == 4
        assert {file.name for file in Path("results").glob("*.jsonl")} == {
            "results-1of2.jsonl",
            "results-2of2.jsonl",
        }


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (["--task", "game24", "--problems", "9:2"], "no range of 1362"),
        (["--task", "game24", "--problems", "x"], "no range of 1362"),
        (["--task", "game24", "--sample", "2000"], "take fewer"),
        (["--task", "game24", "--shard", "3/2"], "write 1/4"),
        (["--task", "game24", "--method", "nope"], "unknown method"),
        (["--task", "game24", "--method", "rollback,react"], "react"),
        (["--task", "game24", "--sweep", "breadth=2,x", "--method", "tot_bfs"], "breadth"),
        (["--task", "nope"], "unknown task"),
        (["--task", "gsm8k", "--data", "nowhere.jsonl"], "cannot read"),
        (["--task", "game24", "--out", "a-file"], "name a folder"),
    ],
)
def test_bad_input_is_one_line(command: Command, told: list[str], said: str) -> None:
    Path("a-file").touch()
    code, _, err = command("bench", "--model", "http://127.0.0.1:9/v1#none", *told)
    assert code == 2 and said in err and err.count("\n") == 1


def test_two_processes_do_not_write_one_file(command: Command) -> None:
    folder = ResultFolder("results")
    folder.open()
    code, _, err = command("bench", *PUZZLES, "--model", "http://127.0.0.1:9/v1#none")
    assert code == 2 and "--shard" in err
    folder.close()


def test_a_torn_line_is_passed_over_and_ended(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path)
    folder.open()
    folder.append({"key": "a", "error": "no answer"})
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"key": "b", "ans')
    folder.close()
    again = ResultFolder(tmp_path)
    again.open()
    again.append({"key": "c", "error": "no answer"})
    again.close()
    assert [row["key"] for row in again.rows()] == ["a", "c"]


@pytest.mark.parametrize("key", ["../../kept", "/tmp/kept", "a/b", "", "x" * 300])
def test_a_result_names_no_file_outside_its_folder(command: Command, key: str) -> None:
    Path("r").mkdir()
    Path("kept.jsonl").write_text("mine")
    usage = dict.fromkeys(("requests", "samples", "prompt_tokens", "completion_tokens"), 1)
    row = {**ROW, "key": key, "id": "1", "seed": 0, "method": "io", "score": 1.0}
    line = {**row, "usage": {**usage, "seconds": 0.0}}
    Path("r/results.jsonl").write_text(json.dumps(line) + "\n")
    code, _, err = command("report", "r", "--summaries", "out/in")
    assert code == 2 and "no result (key:" in err and err.count("\n") == 1
    assert Path("kept.jsonl").read_text() == "mine"


def counted(seen: Seen) -> str:
    """A step of reasoning that is another one for each problem and depth."""
    draws = random.Random(seen.prompt)
    return f"{draws.random()}" if draws.random() < 0.8 else f"So the answer is {draws.random()}."


RUNS = 10
PROBLEMS = 200


@pytest.mark.ci
def test_killed_ten_times_it_ends_with_every_problem_once(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    lines = ({"problem": f"What is {at} and {at}?", "gold": "1"} for at in range(PROBLEMS))
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    times: dict[str, list[float]] = {}
    lock, kills = threading.Lock(), [0.0]

    def reply(seen: Seen) -> str:
        with lock:
            times.setdefault(seen.prompt, []).append(time.monotonic())
        return counted(seen)

    draws = random.Random(1)
    with FakeServer(reply) as fake:
        fake.latency = 0.02
        told = [sys.executable, "-c", "from thoughtgraph.cli.app import main; main()", "bench"]
        told += ["--task", "gsm8k", "--method", "chain", "--data", str(data)]
        told += ["--model", fake.specifier, "--out", str(tmp_path / "out"), "--concurrency", "4"]
        environment = {**os.environ, "NO_COLOR": "1"}
        for _ in range(RUNS):
            before = len(times)
            process = subprocess.Popen(told, env=environment, stdout=subprocess.DEVNULL)
            while len(times) == before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(draws.random())
            process.send_signal(signal.SIGKILL)
            kills.append(time.monotonic())
            process.wait()
        assert subprocess.run(told, env=environment, stdout=subprocess.DEVNULL).returncode == 0
    found = rows(str(tmp_path / "out"))
    assert len(found) == len({row["key"] for row in found}) == PROBLEMS
    for prompt, answered in times.items():
        for first, second in pairwise(answered):
            # An answer may have been on its way when its reader was killed.
            assert any(first - 0.1 < kill < second and kill - first < 0.1 for kill in kills), prompt


def written(folder: Path, method: str, scores: list[list[float]], tokens: int) -> None:
    results = ResultFolder(folder)
    results.open()
    for at, each in enumerate(scores):
        usage = {"requests": 2, "samples": 3, "prompt_tokens": tokens, "completion_tokens": 10}
        usage |= {"dollars": 0.5, "seconds": 1.0, "parse_errors": {"generate": at}}
        known = {"key": f"{method}{at}", "id": str(at), "seed": 0, "method": method}
        results.append({**ROW, **known, "score": each[0], "scores": each, "usage": usage})
    results.close()


def test_a_report_agrees_with_hand_computation(command: Command, tmp_path: Path) -> None:
    written(tmp_path / "r", "cot", [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]], 30)
    written(tmp_path / "r", "tot_bfs", [[1.0], [1.0], [1.0], [0.0]], 150)
    code, out, _ = command("report", "r", "--out", "page")
    assert code == 0
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines()]
    cells = {line[0]: line for line in lines if len(line) > len(COMPARED)}
    # Of four problems cot solves one first and two in all; Wilson's interval of 1 in 4.
    assert cells["cot"] == ["cot", "4", "25.0%", "4.6% to 69.9%", "50.0%", "2.0", *cells["cot"][6:]]
    assert cells["tot_bfs"][2:4] == ["75.0%", "30.1% to 95.4%"]
    assert cells["tot_bfs"][9] == "4.00", "tokens to cot"
    assert "| cot | tot_bfs | 4 | -50.0% | -100.0% to +0.0% (a tie) | 0 | 2 | 0.500 |" in out
    table = Path("page/report.csv").read_text().splitlines()
    assert len(table) == 3 and "0.75" in table[2]
    assert "</html>" in Path("page/report.html").read_text()


def test_lines_that_differ_in_a_setting_never_merge(command: Command, tmp_path: Path) -> None:
    results = ResultFolder(tmp_path / "r")
    results.open()
    usage = dict.fromkeys(("requests", "samples", "prompt_tokens", "completion_tokens"), 1)
    for at, breadth in enumerate((1, 5, 5)):
        known = {"key": str(at), "id": str(at), "seed": at, "method": "tot_bfs", "score": 1.0}
        settings = {"settings": {"seed": at, "breadth": breadth}, "given": {"breadth": breadth}}
        results.append(
            {**ROW, **known, **settings, "usage": {**usage, "dollars": None, "seconds": 0.0}}
        )
    results.close()
    _, out, _ = command("report", "r")
    assert "| tot_bfs (breadth=1) | 1 |" in out and "| tot_bfs (breadth=5) | 2 |" in out


def test_what_all_lines_have_in_common_stands_in_the_heading(command: Command) -> None:
    common = ["--set", "temperature=0.5", "--limit", "requests=30"]
    with FakeServer(play) as fake:
        told = ["bench", *PUZZLES, *common, "--model", fake.specifier]
        command(*told, "--method", "io,cot", "--sweep", "n_generate=1,2")
    _, out, _ = command("report", "results")
    (heading,) = [line for line in out.splitlines() if line.startswith("## ")]
    assert heading.endswith("; temperature=0.5, limit_requests=30")
    assert "| io (n_generate=1) | 4 |" in out and "temperature" not in out.replace(heading, "")


def test_problems_of_a_file_are_answered_and_the_same_command_goes_on(command: Command) -> None:
    Path("own.jsonl").write_text('{"problem": "1 1 4 6"}\n{"id": "b", "problem": "4 9 10 13"}\n')
    Path("own.txt").write_text("1 1 4 6\n\n4 9 10 13\n")
    with FakeServer(play) as fake:
        told = ["solve", "--task", "game24", "--method", "io", "--model", fake.specifier]
        code, out, _ = command(*told, "--file", "own.jsonl")
        assert code == 0
        lines = out.splitlines()
        assert lines[0] == "1: 1 1 4 6" and "24" not in lines[0] and lines[2] == "b: 4 9 10 13"
        assert "4" in lines[1]
        assert command(*told, "--file", "own.jsonl")[1] == out
        assert len(fake.seen) == 2
        _, out, _ = command(*told, "--file", "own.txt", "--out", "other")
        assert [line[:2] for line in out.splitlines()[:3:2]] == ["1:", "3:"]
        code, _, err = command(*told, "4 9 10 13", "--file", "own.txt")
        assert code == 2 and "for one problem" in err
        code, _, err = command(*told, "--file", "nowhere.txt")
        assert code == 2 and "cannot read" in err


def test_one_run_of_rollback_gives_a_line_for_each_ensemble() -> None:
    usage = dict.fromkeys(("requests", "samples", "prompt_tokens", "completion_tokens"), 1)
    row = {
        **ROW,
        "method": "rollback",
        "seed": 0,
        "id": "1",
        "settings": {"seed": 0, "ensemble": "ratio"},
        "answer": "7",
        "score": 1.0,
        "scores": [1.0],
        "ensembles": {"first": "3", "ratio": "7", "majority": "7"},
        "ensemble_scores": [0.0, 1.0, 1.0],
        "usage": {**usage, "dollars": None, "seconds": 1.0},
    }
    alone = {**row, "settings": {"seed": 0, "ensemble": "first"}, "given": {"ensemble": "first"}}
    del alone["ensembles"], alone["ensemble_scores"]
    found = {line.name: line.score for line in entries([row, alone])}
    assert found == {
        "rollback": 1.0,
        "rollback (ensemble=first, same run)": 0.0,
        "rollback (ensemble=majority, same run)": 1.0,
        "rollback (ensemble=first)": 1.0,
    }


def test_tables_can_be_divided_and_the_page_has_budget_curves(command: Command) -> None:
    with FakeServer(play) as fake:
        told = ["--method", "cot_sc,tot_bfs", "--set", "n_generate=3", "--model", fake.specifier]
        command("bench", *PUZZLES, *told)
    _, out, _ = command("report", "results", "--by", "level", "--out", "page")
    assert "## game24 (level unknown), " in out
    page = Path("page/report.html").read_text()
    assert "What each method would have reached with fewer tokens" in page
    assert "<script" not in page


def test_the_score_is_of_the_answer_not_of_the_first_sample(command: Command) -> None:
    def mostly(seen: Seen) -> list[str]:
        return ["nothing", *[play(seen)] * (seen.n - 1)]

    with FakeServer(mostly) as fake:
        told = ["--method", "cot_sc", "--set", "n_generate=3", "--model", fake.specifier]
        command("bench", *PUZZLES, *told)
    assert [row["scores"] for row in rows()] == [[0.0, 1.0, 1.0]] * 4
    assert [row["score"] for row in rows()] == [1.0] * 4
