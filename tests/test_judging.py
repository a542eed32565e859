"""Scores that a model gives after the runs: by hand, resumable, never mixed."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import Command
from support.fake_server import FakeServer, Seen
from support.rows import finished, kept

GOOD, BAD = "The moon rose. It was silver.", "Spoons. Why."


def score(seen: Seen) -> str:
    return f"So the coherency score is {8 if GOOD in seen.prompt else 2}."


@pytest.fixture
def judge() -> Iterator[FakeServer]:
    with FakeServer(score) as fake:
        yield fake


def written(method: str, passages: dict[str, list[str | None]], model: str = "m") -> None:
    """Results in the folder `r` of what a method wrote for each problem."""
    known = {"task": "creative_writing", "data": "writing", "gold": None, "scores": []}
    for at, outputs in passages.items():
        own = {"id": at, "problem": at, "key": f"{method}-{at}-{model}", "model": model}
        said = {"answer": outputs[0], "candidates": outputs}
        kept("r", [finished(method, **known, **own, **said)])


def test_a_judge_scores_what_was_written_and_is_asked_once(
    command: Command, judge: FakeServer
) -> None:
    written("io", {"a": [BAD, GOOD], "b": [GOOD, None]})
    written("cot", {"a": [GOOD], "b": [GOOD]})
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
    written("io", {"a": [GOOD]})
    with FakeServer(lambda seen: "The coherency score is 1.") as other:
        for each, share in ((judge, "80.0%"), (other, "10.0%"), (judge, "80.0%")):
            assert share in command("report", "r", "--judge", each.specifier)[1]
    assert len(judge.seen) == 1


def test_a_judge_that_cannot_be_asked_is_one_line(command: Command, judge: FakeServer) -> None:
    written("io", {"a": [GOOD]})
    code, _, err = command("report", "r", "--judge", judge.specifier.replace("/v1", "/v2"))
    assert code == 2 and "404" in err and "bug" not in err


def test_a_torn_judgement_is_passed_over_and_asked_for_again(
    command: Command, judge: FakeServer
) -> None:
    written("io", {"a": [GOOD], "b": [BAD]})
    told = ["report", "r", "--judge", judge.specifier]
    out = command(*told)[1]
    file = Path("r/judged.jsonl")
    file.write_bytes(file.read_bytes()[:-5])
    assert command(*told)[1] == out == command(*told)[1]
    assert len(judge.seen) == 3


def paired() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The passages in pairs, and the key to them."""
    files = (Path(name).read_text() for name in ("pairs.csv", "pairs-key.csv"))
    shown, key = (list(csv.DictReader(text.splitlines())) for text in files)
    return shown, key


def test_passages_are_paired_for_people(command: Command) -> None:
    written("io", {"a": [BAD], "b": [BAD], "c": [BAD], "d": [BAD]})
    written("cot", {"a": [GOOD], "b": [GOOD], "d": [GOOD], "e": [GOOD]})
    code, out, _ = command("report", "r", "--pairs", "pairs.csv")
    assert code == 0 and "pairs-key.csv" in out
    shown, key = paired()
    assert [row["problem"] for row in shown] == ["a", "b", "d"]
    assert "io" not in Path("pairs.csv").read_text()
    for passages, methods in zip(shown, key, strict=True):
        assert passages[next(side for side in "AB" if methods[side] == "cot")] == GOOD
    code, _, err = command("report", "r", "--pairs", "nowhere/pairs.csv")
    assert code == 2 and "\n" not in err.strip()
