"""Methods beside votes of the same cost, and the summaries that can be published."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.rows import PUZZLES, RIGHT, WRONG, row, runs

from thoughtgraph.bench.budget import vote_points
from thoughtgraph.bench.equal_cost import beside_votes, vote_line, votes_of
from thoughtgraph.bench.method_tables import method_tables
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.report_page import page
from thoughtgraph.bench.report_tables import as_csv, grid, markdown
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.bench.result_summaries import summary


def test_a_line_stands_beside_the_fewest_votes_that_cost_as_much() -> None:
    (beside,) = beside_votes(entries(runs()))
    assert (beside.entry.method, beside.tokens, beside.score) == ("tot_bfs", 125.0, 1.0)
    assert (beside.samples, beside.vote_tokens, beside.vote_score) == (3, 130.0, 0.5)
    assert (beside.comparison.problems, beside.comparison.difference) == (2, 0.5)
    text = markdown(entries(runs()))
    assert (
        "| tot_bfs | 2 | 125 | 100.0% | 3 | 130 | 50.0% | +50.0% | +0.0% to +100.0% (a tie) |"
        in (text.replace(" (n_generate=1)", ""))
    )


def test_the_line_of_votes_says_what_each_number_of_samples_costs_and_scores() -> None:
    """Of the second puzzle one sample is wrong, and one pair in a row: of equals the first wins."""
    (votes,) = entries(runs()[:2])
    assert vote_line(votes) == [(110, 0.375), (120, 0.375), (130, 0.5), (140, 0.5)]


def test_of_two_lines_of_as_many_votes_the_better_is_what_others_are_measured_by() -> None:
    chat = {"given": {"wording": "chat"}, "settings": {"wording": "chat", "oracle": False}}
    other = [row("cot_sc", at, [1.0] * 4, 40, **chat) for at in PUZZLES]
    votes = votes_of(entries([*runs(), *other]))
    assert votes is not None
    assert votes.given == {"wording": "chat"}
    assert votes_of(entries(runs()[2:])) is None


def test_votes_of_several_calls_pay_for_the_prompts_that_were_read() -> None:
    """Two calls of two samples, 50 tokens of prompt each: the first two samples read one."""
    votes = runs()[:2]
    for each in votes:
        each["usage"]["calls"] = 2
    reached = [point.spent["tokens"] for point in vote_points(votes[0])]
    assert reached == [60.0, 70.0, 130.0, 140.0]
    (beside,) = beside_votes(entries([*votes, row("tot_bfs", "1", [1.0], -35)]))
    assert (beside.tokens, beside.samples, beside.vote_tokens) == (65.0, 2, 70.0)


def test_a_dearer_line_stands_beside_all_votes_there_are() -> None:
    found = entries([*runs()[:2], row("tot_bfs", "1", [1.0], 9_000)])
    (beside,) = beside_votes(found)
    assert (beside.samples, beside.vote_tokens) == (4, 140.0)
    assert beside.comparison.problems == 1, "only the problem that both have"


def test_without_votes_nothing_stands_beside() -> None:
    assert not list(beside_votes(entries(runs()[2:])))


def test_summaries_give_the_same_report_and_publish_no_text() -> None:
    whole, small = runs(), [summary(each) for each in runs()]
    told = markdown(entries(whole))
    for own in method_tables(entries(whole)):
        told = told.replace(f"{own.title}:\n\n{grid(own.headings, own.rows)}\n", "")
    assert told == markdown(entries(small)), "what is read off the trees alone is left out"
    assert as_csv(entries(whole)) == as_csv(entries(small))
    assert page(entries(small)).count("<img") == 2, "the budget curve is drawn from them as well"
    text = json.dumps(small)
    for hidden in ("SECRET", *PUZZLES.values(), *RIGHT.values(), WRONG):
        assert hidden not in text
    assert [summary(each) for each in small] == small


def test_a_default_that_a_summary_leaves_out_is_not_taken_for_what_other_lines_were_given() -> None:
    """One line is asked in the papers' words, by default, and two in ours."""

    def asked(method: str, **given: str) -> dict[str, Any]:
        wording = {"wording": given.get("wording", "published")}
        return row(method, "1", [1.0], 10, given=given, settings={"seed": 0, **wording})

    whole = [asked("cot"), asked("cot", wording="chat"), asked("io", wording="chat")]
    names = ["cot", "cot (wording=chat)", "io (wording=chat)"]
    for rows in (whole, [summary(each) for each in whole]):
        assert [entry.name for entry in entries(rows)] == names


def test_summaries_of_lines_that_differ_in_a_default_never_merge() -> None:
    other = runs()[0]
    other["settings"] = {**other["settings"], "temperature": 0.0}
    assert len(entries([summary(runs()[0]), summary(other)])) == 2


def test_a_benchmark_takes_what_is_summarized_as_finished(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path)
    folder.open()
    for each in runs():
        folder.append(summary(each))
    folder.close()
    assert folder.finished() == {each["key"] for each in runs()}


@pytest.mark.parametrize("problem", PUZZLES)
def test_a_run_without_a_score_has_no_points(problem: str) -> None:
    assert summary(row("tot_bfs", problem, [], 20, score=None, answer=None))["points"] == []
