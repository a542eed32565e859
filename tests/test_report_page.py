"""What the report's page shows beside its tables: plots by kind of problem, budgets, trees."""

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from support.command import Command
from support.rows import RIGHT, WRONG, row, runs

from thoughtgraph.bench.report_budgets import budget_tables, budgets, curves, markdown, with_points
from thoughtgraph.bench.report_facts import divided, dividing
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.report_page import LINKED, linked, page
from thoughtgraph.bench.report_plots import bars, drawn, requests_by_hops, score_by_hops
from thoughtgraph.bench.result_files import ResultFolder, packed
from thoughtgraph.bench.result_summaries import summary

THOUGHT = {"depth": 0, "text": "", "usage": {}}
TREE = packed({"0": {**THOUGHT, "id": "0", "parent": None, "status": "expanded"}})


def asked(method: str, at: int, score: float, facts: dict[str, str], **more: Any) -> dict[str, Any]:
    known = {"id": f"problem {at}", "key": f"{method}-{at}", "tree": TREE, "facts": facts}
    return row(method, "1", [score], 20, **{**known, **more})


def kept(folder: Path, rows: list[dict[str, Any]]) -> None:
    results = ResultFolder(folder)
    results.open()
    for each in rows:
        results.append(each)
    results.close()


def test_a_fact_divides_a_table_where_its_problems_differ_in_it() -> None:
    facts = [{"level": "10", "type": "a"}, {"level": "9", "type": "a"}, {"level": "9"}]
    table = entries([asked("cot", at, 0.0, each) for at, each in enumerate(facts)])
    assert dividing(table) == {"level": ["9", "10"], "type": ["a", "unknown"]}
    same = entries([asked("cot", at, 0.0, {"type": "a"}) for at in range(2)])
    assert dividing(same) == {}


def test_of_many_values_those_of_most_problems_are_shown() -> None:
    rows = [asked("cot", at, 0.0, {"subject": f"s{at // 2:02}"}) for at in range(41)]
    assert dividing(entries(rows))["subject"] == [f"s{at:02}" for at in range(20)]


def test_bars_are_the_scores_of_each_value_grouped_by_method() -> None:
    """`cot` has 1 of 2 bridges and no comparison right, `io` was asked no bridge."""
    found = [(1.0, "bridge"), (0.0, "bridge"), (0.0, "comparison")]
    rows = [asked("cot", at, score, {"type": of}) for at, (score, of) in enumerate(found)]
    table = entries([*rows, asked("io", 2, 1.0, {"type": "comparison"})])
    axes: Any = Figure().add_subplot()
    named = {entry.name: divided(entry, "type") for entry in table}
    bars(axes, named, "type", ["bridge", "comparison"])
    shown = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in axes.patches]
    assert shown == [
        (pytest.approx(-0.2), 0.5),
        (pytest.approx(0.8), 0.0),
        (pytest.approx(1.2), 1.0),
    ]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["bridge", "comparison"]
    # Wilson's interval of 1 in 2.
    ((_, low), (_, high)) = axes.collections[0].get_segments()[0]
    assert (low, high) == (pytest.approx(0.0945, abs=1e-4), pytest.approx(0.9055, abs=1e-4))


def test_hops_are_numbers_in_order_with_the_requests_that_they_took() -> None:
    took = {"requests": 6, "samples": 6, "prompt_tokens": 1, "completion_tokens": 1}
    usage: dict[str, Any] = {"usage": {**took, "dollars": None, "seconds": 1.0, "parse_errors": {}}}
    rows = [asked("cot", 0, 0.0, {"hop": "10"}, **usage), asked("cot", 1, 1.0, {"hop": "9"})]
    named = {entry.name: divided(entry, "hop") for entry in entries(rows)}
    for draw, expected in ((score_by_hops, [1.0, 0.0]), (requests_by_hops, [1.0, 6.0])):
        axes: Any = Figure().add_subplot()
        draw(axes, named)
        assert axes.lines[0].get_xydata().tolist() == [[9.0, expected[0]], [10.0, expected[1]]]
        assert list(axes.get_xticks()) == [9.0, 10.0]


def test_names_stand_below_a_plot_not_over_its_points_and_no_colour_comes_twice() -> None:
    """Fifteen lines, as a table of all methods has, are three times as many as fit inside."""
    kept_axes: list[Any] = []

    def draw(axes: Any) -> None:
        kept_axes.append(axes)
        for at in range(15):
            axes.plot(
                [1, 2], [0, at], label=f"method {at} (max_completion_tokens=400, limit_tokens=4000)"
            )

    assert drawn(draw).startswith("<?xml")
    (axes,) = kept_axes
    axes.figure.draw_without_rendering()
    (names,) = axes.figure.legends
    assert names.get_window_extent().y1 <= axes.get_tightbbox().y0
    assert axes.get_window_extent().height > 200
    assert len({line.get_color() for line in axes.lines}) == 15


def test_hops_that_are_no_numbers_are_drawn_as_bars() -> None:
    facts = [{"hop": "two"}, {"hop": "3"}]
    shown = page(entries([asked("cot", at, 1.0, each) for at, each in enumerate(facts)]))
    assert "Score by hop, with 95 % intervals" in shown and "by hops" not in shown


def test_what_a_data_set_calls_its_problems_is_no_formula() -> None:
    facts = [{"type": "$\\frac{$"}, {"type": "<script>alert(1)</script>"}]
    shown = page(entries([asked("cot", at, 1.0, each) for at, each in enumerate(facts)]))
    assert "Score by type" in shown and "<script" not in shown


@pytest.mark.parametrize(
    ("unit", "most", "expected"),
    [
        ("tokens", 140, "5 10 20 50 100 200"),
        ("tokens", 2000, "50 100 200 500 1,000 2,000"),
        ("requests", 1, "1"),
        ("requests", 7, "1 2 5 10"),
        ("dollars", 0.02, "0.0005 0.001 0.002 0.005 0.01 0.02"),
        ("dollars", 0, ""),
    ],
)
def test_budgets_are_round_and_the_last_is_enough(unit: Any, most: float, expected: str) -> None:
    assert " ".join(f"{each:,f}" for each in budgets(unit, most)) == expected


def test_scores_at_budgets_agree_with_hand_computation() -> None:
    """Four votes cost 140 tokens and one 110; the searches 120 and 130, and a dollar each."""
    rows = runs()
    for each in rows[2:]:
        each["usage"]["dollars"] = 1.0
        each["usage"]["requests"] = 4
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


def test_the_page_has_a_curve_for_each_unit_and_the_markdown_tells_whole_results_alone() -> None:
    rows = runs()
    for each in rows:
        each["usage"] |= {"dollars": 0.5, "requests": 3}
    for found in (entries(rows), entries([summary(each) for each in rows])):
        shown = page(found)
        for unit in ("requests", "tokens", "dollars"):
            assert f"What each method would have reached with fewer {unit}" in shown
            assert f"Score with at most so many {unit} a problem" in shown
    assert "## Score at each budget: game24 (puzzles), m" in markdown(entries(rows))
    assert markdown(entries([summary(each) for each in rows])) == ""


def test_what_a_judge_said_is_not_asked_of_a_scorer() -> None:
    """A passage has no right answer: its score is the judge's."""
    output = {**THOUGHT, "id": "1", "parent": "0", "depth": 1, "status": "terminal", "answer": "P"}
    tree = packed({"0": {**THOUGHT, "id": "0", "parent": None, "status": "expanded"}, "1": output})
    known = {"task": "creative_writing", "candidates": ["P"], "answer": "P", "gold": None}
    judged = row("tot_bfs", "1", [0.7], 20, **known, tree=tree)
    (line,) = with_points(entries([judged]))
    assert {point.score for point in line.rows[0]["points"]} == {0.7}


def test_the_trees_of_the_runs_that_scored_least_are_linked(
    command: Command, tmp_path: Path
) -> None:
    scores = [1.0] * (LINKED + 2) + [0.0]
    many = [asked("cot", at, score, {}) for at, score in enumerate(scores)]
    kept(tmp_path / "r", [*many, asked("io", 0, 1.0, {}, id='<b>"../x"</b>')])
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


def test_summaries_have_no_trees_to_link(command: Command, tmp_path: Path) -> None:
    kept(tmp_path / "r", [summary(each) for each in runs()])
    command("report", "r", "--out", "page")
    assert not Path("page/trees").exists()
    assert "<a " not in Path("page/report.html").read_text()


def test_another_ensemble_of_a_run_has_no_tree_of_its_own() -> None:
    both = {"ensembles": {"first": WRONG, "last": RIGHT["1"]}, "ensemble_scores": [0.0, 1.0]}
    settings = {"settings": {"ensemble": "first", "seed": 0}}
    found = entries([asked("rollback", 0, 0.0, {}, **both, **settings)])
    assert [len(linked(entry)) for entry in found] == [1, 0]


def test_a_tree_that_cannot_be_shown_is_told_and_no_page_leads_to_it(
    command: Command, tmp_path: Path
) -> None:
    no_depth = {"id": "0", "parent": None, "status": "expanded", "text": ""}
    kept(tmp_path / "r", [asked("io", 0, 1.0, {}, tree=packed({"0": no_depth}))])
    code, _, err = command("report", "r", "--out", "page")
    assert code == 2 and "the tree of 'io-0' is none (thought '0' has no depth)" in err
    assert not Path("page").exists()


@pytest.mark.parametrize("method", ["rollback", "tomt_os"])
@pytest.mark.parametrize("tree", [{}, {"0": {}}, {"0": None}, {"0": {**THOUGHT, "id": "0"}}])
def test_trees_that_no_search_grew_are_told_in_one_line(
    method: str, tree: dict[str, Any], command: Command, tmp_path: Path
) -> None:
    kept(tmp_path / "r", [asked(method, 0, 1.0, {}, tree=packed(tree))])
    code, _, err = command("report", "r")
    assert code == 2 and f"the tree of '{method}-0' is none" in err and "\n" not in err.strip()
