"""Scores that a model gives after the runs: by hand, resumable, never mixed."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.fake_server import FakeServer, Seen

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.result_files import ResultFolder, packed

Command = Callable[..., tuple[int, str, str]]
GOOD, BAD = "The moon rose. It was silver.", "Spoons. Why."


def score(seen: Seen) -> str:
    return f"So the coherency score is {8 if GOOD in seen.prompt else 2}."


@pytest.fixture
def judge() -> Iterator[FakeServer]:
    with FakeServer(score) as fake:
        yield fake


def written(
    folder: Path, method: str, passages: dict[str, list[str | None]], model: str = "m"
) -> None:
    results = ResultFolder(folder)
    results.open()
    usage = {"requests": 1, "samples": 1, "prompt_tokens": 9, "completion_tokens": 9}
    for problem, outputs in passages.items():
        results.append(
            {
                "key": f"{method}-{problem}-{model}",
                "id": problem,
                "seed": 0,
                "task": "creative_writing",
                "data": "writing",
                "method": method,
                "model": model,
                "evaluator_model": "",
                "problem": problem,
                "gold": None,
                "given": {},
                "settings": {"seed": 0},
                "answer": outputs[0],
                "candidates": outputs,
                "score": None,
                "scores": [],
                "usage": {**usage, "dollars": None, "seconds": 1.0},
                "stop_reason": "finished",
                "tree": packed({}),
            }
        )
    results.close()


def test_a_judge_scores_what_was_written_and_is_asked_once(
    command: Command, judge: FakeServer
) -> None:
    written(Path("r"), "io", {"a": [BAD, GOOD], "b": [GOOD, None]})
    written(Path("r"), "cot", {"a": [GOOD], "b": [GOOD]})
    told = ["report", "r", "--judge", judge.specifier, "--samples", "3"]
    code, out, err = command(*told)
    assert code == 0 and "4 runs of r are judged" in err
    # io's answers score 2 and 8; the empty output of b scores nothing and is not asked about.
    assert "| io | 2 | 50.0% |" in out and "| cot | 2 | 80.0% |" in out
    assert len(judge.seen) <= 5
    before = len(judge.seen)
    assert command(*told)[1] == out and len(judge.seen) == before
    assert "| io | 2 | 50.0% |" not in command("report", "r")[1], "nobody judged that report"


def test_judges_are_not_mixed(command: Command, judge: FakeServer) -> None:
    written(Path("r"), "io", {"a": [GOOD]})
    with FakeServer(lambda seen: "The coherency score is 1.") as other:
        assert "80.0%" in command("report", "r", "--judge", judge.specifier)[1]
        assert "10.0%" in command("report", "r", "--judge", other.specifier)[1]
        assert "80.0%" in command("report", "r", "--judge", judge.specifier)[1]
    assert len(judge.seen) == 1


def test_a_judge_that_cannot_be_asked_is_one_line(command: Command, judge: FakeServer) -> None:
    written(Path("r"), "io", {"a": [GOOD]})
    code, _, err = command("report", "r", "--judge", judge.specifier.replace("/v1", "/v2"))
    assert code == 2 and "404" in err and "bug" not in err


def test_a_torn_judgement_is_passed_over_and_asked_for_again(
    command: Command, judge: FakeServer
) -> None:
    written(Path("r"), "io", {"a": [GOOD], "b": [BAD]})
    told = ["report", "r", "--judge", judge.specifier]
    out = command(*told)[1]
    file = Path("r/judged.jsonl")
    file.write_bytes(file.read_bytes()[:-5])
    assert command(*told)[1] == out == command(*told)[1]
    assert len(judge.seen) == 3


def test_passages_are_paired_for_people(command: Command) -> None:
    written(Path("r"), "io", {"a": [BAD], "b": [BAD], "c": [BAD], "d": [BAD]})
    written(Path("r"), "cot", {"a": [GOOD], "b": [GOOD], "d": [GOOD], "e": [GOOD]})
    code, out, _ = command("report", "r", "--pairs", "pairs.csv")
    assert code == 0 and "pairs-key.csv" in out
    shown, key = (
        list(csv.DictReader(Path(f"pairs{k}.csv").read_text().splitlines())) for k in ("", "-key")
    )
    assert [row["problem"] for row in shown] == ["a", "b", "d"]
    assert "io" not in Path("pairs.csv").read_text()
    for passages, methods in zip(shown, key, strict=True):
        assert passages[next(side for side in "AB" if methods[side] == "cot")] == GOOD
    code, _, err = command("report", "r", "--pairs", "nowhere/pairs.csv")
    assert code == 2 and "\n" not in err.strip()


def test_passages_of_every_two_lines_are_paired(command: Command) -> None:
    for method, model, passage in (("io", "m", "one"), ("io", "n", "two"), ("cot", "m", "three")):
        written(Path("r"), method, {"a": [passage], "b": [passage]}, model)
    command("report", "r", "--pairs", "pairs.csv")
    with Path("pairs.csv").open() as shown, Path("pairs-key.csv").open() as key:
        passages, methods = list(csv.DictReader(shown)), list(csv.DictReader(key))
    assert [row["number"] for row in passages] == [row["number"] for row in methods] == [*"123456"]
    two = [frozenset((row["A"], row["B"])) for row in passages]
    assert {each: two.count(each) for each in two} == {
        frozenset(each): 2 for each in (("one", "two"), ("one", "three"), ("two", "three"))
    }
    assert {row[side] for row in methods for side in "AB"} == {"io, m", "io, n", "cot, m"}


def test_the_published_scores_are_from_one_to_ten() -> None:
    row: dict[str, Any] = {
        "key": "k",
        "id": "1",
        "seed": 0,
        "task": "creative_writing",
        "data": "writing",
        "method": "io",
        "model": "m",
        "evaluator_model": "",
        "problem": "p",
        "given": {"n_generate": 10},
        "settings": {"n_generate": 10, "temperature": 1.0, "seed": 0},
        "answer": "x",
        "score": 0.9,
        "scores": [0.9, 0.5],
        "usage": {"requests": 1, "samples": 1, "prompt_tokens": 9, "completion_tokens": 9}
        | {"dollars": None, "seconds": 1.0},
    }
    row["settings"] = effective_settings(
        "io", registry.task("creative_writing"), {"n_generate": 10}
    )
    text = beside_published(entries([row]))
    (line,) = [each for each in text.splitlines() if each.startswith("| IO |") and "6.19" in each]
    assert "| 7.0 (m) |" in line
