"""Lines of a report beside each other: equal cost, and what a judge says."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import Command
from support.fake_server import FakeServer, Seen
from support.rows import PUZZLES, RIGHT, WRONG, finished, kept, row, runs

from thoughtgraph.bench.equal_cost import beside_votes, vote_line, votes_of
from thoughtgraph.bench.method_tables import method_tables
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.report_page import page
from thoughtgraph.bench.report_tables import as_csv, grid, markdown, sections
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.bench.result_summaries import summary


def test_a_line_stands_beside_the_fewest_votes_that_cost_as_much() -> None:
    (beside,) = beside_votes(entries(runs()))
    assert (beside.entry.method, beside.tokens, beside.score) == ("tot_bfs", 125.0, 1.0)
    assert (beside.samples, beside.vote_tokens, beside.vote_score) == (3, 130.0, 0.5)
    assert (beside.comparison.problems, beside.comparison.difference) == (2, 0.5)
    line = "2 | 125 | 100.0% | 3 | 130 | 50.0% | +50.0% | +0.0% to +100.0% (a tie) | 1.000 |"
    assert f"| tot_bfs (n_generate=1) | {line}" in markdown(sections(entries(runs())))
    (equal,) = beside_votes(entries([*runs()[:2], row("tot_bfs", "1", [1.0], 20)]))
    assert (equal.tokens, equal.samples, equal.vote_tokens) == (120.0, 2, 120.0)
    alone = markdown(sections(entries(runs()[2:])))
    assert "\n\ntot_bfs (n_generate=1) scores 100.0% for 125 tokens.\n" in alone
    (dearer,) = beside_votes(entries([*runs()[:2], row("tot_bfs", "1", [1.0], 9_000)]))
    assert (dearer.samples, dearer.vote_tokens) == (4, 140.0), "all votes that there are"
    assert dearer.comparison.problems == 1, "only the problem that both have"
    assert not list(beside_votes(entries(runs()[2:]))), "nobody voted"


def test_the_line_of_votes_says_what_each_number_of_samples_costs_and_scores() -> None:
    """Of the second puzzle one sample is wrong, and one pair in a row: of equals the first wins."""
    (votes,) = entries(runs()[:2])
    assert vote_line(votes) == [(110, 0.375), (120, 0.375), (130, 0.5), (140, 0.5)]


def test_of_two_lines_of_as_many_votes_the_better_is_what_others_are_measured_by() -> None:
    chat = {"given": {"wording": "chat"}, "settings": {"wording": "chat", "oracle": False}}
    other = [row("cot_sc", at, [1.0] * 4, 40, **chat) for at in PUZZLES]
    votes = votes_of(entries([*runs(), *other]))
    assert votes is not None and votes.given == {"wording": "chat"}
    assert votes_of(entries(runs()[2:])) is None


def test_votes_of_several_calls_pay_for_the_prompts_that_were_read() -> None:
    """Two calls of two samples, 50 tokens of prompt each: the first two samples read one."""
    votes = runs()[:2]
    for each in votes:
        each["usage"]["calls"] = 2
    (beside,) = beside_votes(entries([*votes, row("tot_bfs", "1", [1.0], -35)]))
    assert (beside.tokens, beside.samples, beside.vote_tokens) == (65.0, 2, 70.0)


def test_summaries_give_the_same_report_and_publish_no_text(tmp_path: Path) -> None:
    whole, small = runs(), [summary(each) for each in runs()]
    told = markdown(sections(entries(whole)))
    for own in method_tables(entries(whole)):
        told = told.replace(f"{own.title}:\n\n{grid(own.headings, own.rows)}\n", "")
    assert told == markdown(sections(entries(small))), "less what is read off the trees alone"
    assert as_csv(entries(whole)) == as_csv(entries(small))
    assert page(sections(entries(small), budgets=True)).count("<img") == 2, "with a budget curve"
    text = json.dumps(small)
    for hidden in ("SECRET", *PUZZLES.values(), *RIGHT.values(), WRONG):
        assert hidden not in text
    assert [summary(each) for each in small] == small
    assert summary(row("tot_bfs", "1", [], 20, score=None, answer=None))["points"] == []
    kept(tmp_path, small)
    assert ResultFolder(tmp_path).finished() == {each["key"] for each in whole}


def test_lines_that_differ_in_a_setting_or_its_default_never_merge() -> None:
    """Of three lines one is asked in the papers' words, by default, and two in ours."""
    whole = [
        finished(method, given=given, settings={"seed": 0, "wording": wording})
        for method, given, wording in (
            ("cot", {}, "published"),
            ("cot", {"wording": "chat"}, "chat"),
            ("io", {"wording": "chat"}, "chat"),
        )
    ]
    names = ["cot", "cot (wording=chat)", "io (wording=chat)"]
    swept = [
        finished("tot_bfs", settings={"seed": at, "breadth": b}, given={"breadth": b}, id=str(at))
        for at, b in enumerate((1, 5, 5))
    ]
    other = runs()[0]
    other["settings"] = {**other["settings"], "temperature": 0.0}
    for kind in (dict, summary):
        assert [entry.name for entry in entries(map(kind, whole))] == names
        lines = entries(map(kind, swept))
        sizes = {entry.name: len(entry.rows) for entry in lines}
        assert sizes == {"tot_bfs (breadth=1)": 1, "tot_bfs (breadth=5)": 2}
        assert len(entries(map(kind, [runs()[0], other]))) == 2


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
