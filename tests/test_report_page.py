"""What a report shows: its tables, plots by kind of problem, scores at budgets, trees."""

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from support.command import Command
from support.rows import TREE, finished, kept, row, runs

from thoughtgraph.bench.report_budgets import budget_tables, curves, with_points
from thoughtgraph.bench.report_facts import divided
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.report_page import LINKED, linked
from thoughtgraph.bench.report_plots import bars
from thoughtgraph.bench.report_tables import COMPARED
from thoughtgraph.bench.result_files import packed, unpacked
from thoughtgraph.bench.result_summaries import summary


def asked(method: str, at: int, score: float, facts: dict[str, str], **more: Any) -> dict[str, Any]:
    known = {"id": f"problem {at}", "key": f"{method}-{at}", "facts": facts}
    return row(method, "1", [score], 20, **{**known, **more})


def test_a_report_agrees_with_hand_computation(command: Command) -> None:
    lines = {
        "cot": ([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]], 30),
        "tot_bfs": ([[1.0], [1.0], [1.0], [0.0]], 150),
    }
    for method, (scores, tokens) in lines.items():
        spent = {"requests": 2, "samples": 3, "prompt_tokens": tokens, "completion_tokens": 10}
        spent |= {"dollars": 0.5}
        usages = ({**spent, "parse_errors": {"generate": at}} for at in range(4))
        four = zip("1234", scores, usages, strict=True)
        kept("r", (finished(method, id=at, scores=each, usage=u) for at, each, u in four))
    code, out, _ = command("report", "r", "--out", "page")
    assert code == 0
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines()]
    cells = {line[0]: line for line in table if len(line) > len(COMPARED)}
    # Of four problems cot solves one first and two in all; Wilson's interval of 1 in 4.
    known = ["cot", "4", "25.0%", "4.6% to 69.9%", "50.0%", "2.0", "2.0 ± 0.0", "30.0 ± 0.0"]
    assert cells["cot"] == [*known, "10.0 ± 0.0", "1.00", "0.5000", "1.0", "0%", "1.5"]
    assert cells["tot_bfs"][2:4] == ["75.0%", "30.1% to 95.4%"]
    assert cells["tot_bfs"][9] == "4.00", "tokens to cot"
    assert "| cot | tot_bfs | 4 | -50.0% | -100.0% to +0.0% (a tie) | 0 | 2 | 0.500 |" in out
    _, _, line = Path("page/report.csv").read_text().splitlines()
    told, _, numbers = line.partition(",0.3006")
    assert told == "game24,,m,,tot_bfs,{},False,4,4,0.75"
    assert numbers.split(",")[2:] == ["0.75", "2.0", "3.0", "150.0", "10.0", "0.5", "1.0", "1.5"]
    assert "</html>" in Path("page/report.html").read_text()


def test_one_run_of_rollback_gives_a_line_for_each_ensemble() -> None:
    both = {"ensembles": {"first": "3", "ratio": "7", "majority": "7"}}
    run = finished(
        "rollback",
        settings={"seed": 0, "ensemble": "ratio"},
        ensemble_scores=[0.0, 1.0, 1.0],
        **both,
    )
    alone = finished("rollback", settings={"ensemble": "first"}, given={"ensemble": "first"})
    lines = entries([run, alone])
    assert {line.name: line.score for line in lines} == {
        "rollback": 1.0,
        "rollback (ensemble=first, same run)": 0.0,
        "rollback (ensemble=majority, same run)": 1.0,
        "rollback (ensemble=first)": 1.0,
    }
    assert [len(linked(line)) for line in lines] == [1, 0, 0, 1], "a tree is linked once"


def test_bars_are_the_scores_of_each_value_grouped_by_method() -> None:
    """`cot` has 1 of 2 bridges and no comparison right, `io` was asked no bridge."""
    found = [(1.0, "bridge"), (0.0, "bridge"), (0.0, "comparison")]
    rows = [asked("cot", at, score, {"type": of}) for at, (score, of) in enumerate(found)]
    table = entries([*rows, asked("io", 2, 1.0, {"type": "comparison"})])
    axes: Any = Figure().add_subplot()
    named = {entry.name: divided(entry, "type") for entry in table}
    bars(axes, named, "type", ["bridge", "comparison"])
    shown = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in axes.patches]
    assert [each[1] for each in shown] == [0.5, 0.0, 1.0]
    assert [each[0] for each in shown] == pytest.approx([-0.2, 0.8, 1.2])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["bridge", "comparison"]
    # Wilson's interval of 1 in 2.
    ((_, low), (_, high)) = axes.collections[0].get_segments()[0]
    assert (low, high) == (pytest.approx(0.0945, abs=1e-4), pytest.approx(0.9055, abs=1e-4))


def test_scores_at_budgets_agree_with_hand_computation() -> None:
    """Four votes cost 140 tokens and one 110; the searches 120 and 130, and a dollar each."""
    rows = runs()
    for each in rows[2:]:
        each["usage"] |= {"dollars": 1.0, "requests": 4}
    lines = with_points(entries(rows))
    requests, tokens, dollars = budget_tables(lines)
    votes, search = ("cot_sc (n_generate=4)", "tot_bfs (n_generate=1)")
    assert list(requests.headings) == ["method", "1", "2", "5"]
    assert requests.rows == [[votes, "50.0%", "50.0%", "50.0%"], [search, "0.0%", "0.0%", "100.0%"]]
    assert [each[-2:] for each in tokens.rows] == [["0.0%", "50.0%"], ["0.0%", "100.0%"]]
    assert dollars.headings[-1] == "1"
    assert dollars.rows == [[search, *["0.0%"] * 5, "100.0%"]], "no price of the votes is known"
    curve = curves(lines, "requests", 4.0)[search]
    assert (curve[0], curve[-1]) == ((1.0, 0.0), (4.0, 1.0))


def test_what_a_judge_said_is_not_asked_of_a_scorer() -> None:
    """A passage has no right answer: its score is the judge's."""
    output = {"id": "1", "parent": "0", "depth": 1, "status": "terminal", "answer": "P", "text": ""}
    tree = packed({**unpacked(TREE), "1": output})
    known = {"task": "creative_writing", "candidates": ["P"], "answer": "P", "gold": None}
    (line,) = with_points(entries([row("tot_bfs", "1", [0.7], 20, **known, tree=tree)]))
    assert {point.score for point in line.rows[0]["points"]} == {0.7}


def test_the_trees_of_the_runs_that_scored_least_are_linked(command: Command) -> None:
    scores = [1.0] * (LINKED + 2) + [0.0]
    many = [asked("cot", at, score, {}) for at, score in enumerate(scores)]
    kept("r", [*many, asked("io", 0, 1.0, {}, id='<b>"../x"</b>')])
    _, out, _ = command("report", "r", "--out", "page")
    shown = Path("page/report.html").read_text()
    links = re.findall(r'<a href="([^"]*)">([^<]*)</a>', shown)
    assert links[:2] == [("trees/cot-12.html", "problem 12"), ("trees/cot-0.html", "problem 0")]
    assert links[-1] == ("trees/io-0.html", "&lt;b&gt;&quot;../x&quot;&lt;/b&gt;")
    files = {f"trees/{file.name}" for file in Path("page/trees").iterdir()}
    assert files == {address for address, _ in links} and len(files) == LINKED + 1
    assert "11 search trees in page/trees" in out
    assert "<script" not in shown and "default-src 'none'" in shown
    assert "</html>" in Path("page/trees/cot-12.html").read_text()
    kept("s", [summary(each) for each in runs()])
    command("report", "s", "--out", "small")
    assert not Path("small/trees").exists(), "summaries have no trees"
    assert "<a " not in Path("small/report.html").read_text()


TOP = {"id": "0", "parent": None, "text": "", "usage": {}}
BAD_TREES: list[tuple[str, dict[str, Any]]] = [
    ("io", {"0": {**TOP, "status": "expanded"}}),  # It has no depth.
    *(
        (method, tree)
        for method in ("rollback", "tomt_os")
        for tree in ({}, {"0": {}}, {"0": None}, {"0": {**TOP, "depth": 0}})
    ),
]


@pytest.mark.parametrize(("method", "tree"), BAD_TREES)
def test_a_tree_that_no_search_grew_is_told_in_one_line_and_no_page_leads_to_it(
    method: str, tree: dict[str, Any], command: Command
) -> None:
    kept("r", [asked(method, 0, 1.0, {}, tree=packed(tree))])
    code, _, err = command("report", "r", "--out", "page")
    assert code == 2 and f"the tree of '{method}-0' is none" in err and "\n" not in err.strip()
    assert method != "io" or "(thought '0' has no depth)" in err
    assert not Path("page").exists()
