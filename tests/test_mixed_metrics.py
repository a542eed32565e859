"""The counts and scores of Tree-of-Mixed-Thought, on trees and runs one can count by hand."""

from typing import Any

import pytest
from support.rows import ROW

from thoughtgraph.bench.method_tables import TRUNCATED, across_sets, method_tables
from thoughtgraph.bench.papers.mixed_metrics import counts, saving, score
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.report_tables import grid, markdown
from thoughtgraph.bench.result_files import packed
from thoughtgraph.context import assignments
from thoughtgraph.errors import InputError
from thoughtgraph.tree import Thought, Tree


def thought(key: str, parent: str, status: Any, text: str = "a", depth: int = 1) -> Thought:
    return {"id": key, "parent": parent, "depth": depth, "text": text, "status": status}


TREE: Tree = {
    "0": {"id": "0", "parent": None, "depth": 0, "text": "", "status": "expanded"},
    "1": thought("1", "0", "pruned"),
    "2": thought("2", "0", "expanded"),
    "3": thought("3", "2", "pruned", depth=2),
    "4": thought("4", "2", "terminal", "b\nc\nd", depth=2),
}


def test_counts_are_read_off_the_tree() -> None:
    assert counts(TREE, 6) == (4, 2, 4, 2), "4 calls, 2 refused, 1 + 3 steps, 2 ahead of need"
    unfinished: Tree = {key: t for key, t in TREE.items() if key != "4"}
    assert counts(unfinished, 3) == (3, 2, 0, 0)


def run(answer: str | None, calls: int, rejected: int = 0, ahead: int = 0) -> dict[str, Any]:
    given = {"answer": answer, "right": answer == "yes", "calls": calls}
    return {**given, "rejected": rejected, "ahead": ahead}


RUNS = [run("yes", 4, ahead=2), run("yes", 12, 3), run("no", 2), run(None, 30, 30)]


def test_scores_by_hand() -> None:
    of = score(RUNS)
    assert (of.correct, of.inconsistent, of.unfinished, of.no_back) == (0.5, 0.25, 0.25, 0.25)
    assert of.calls == 8, "over the questions answered right"
    assert (of.calls_all, of.ahead) == (12, 0.5)
    assert of.interval.low < 0.5 < of.interval.high
    nothing = score([])
    assert (nothing.questions, nothing.correct, nothing.calls) == (0, 0.0, 0.0)
    assert saving(nothing, of) is None
    assert saving(of, score([run("yes", 2), run("no", 90)])) == 4, "each one's own solved questions"


def test_one_long_run_holds_the_shorter_ones() -> None:
    assert [score(RUNS, calls).correct for calls in TRUNCATED] == [0.25, 0.5, 0.5]
    ten = score(RUNS, 10)
    assert (ten.inconsistent, ten.unfinished) == (0.25, 0.5)
    assert ten.calls_all == (4 + 10 + 2 + 10) / 4


def test_settings_are_json_or_text() -> None:
    found = assignments(["redraw=question", "shots=2", "max-calls=null"])
    assert found == {"redraw": "question", "shots": 2, "max_calls": None}
    with pytest.raises(InputError, match="--limit 'shots' is not NAME=VALUE"):
        assignments(["shots"], "--limit")


USAGE = {"samples": 0, "prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0}


def row(method: str, at: int, tree: Tree, hop: int) -> dict[str, Any]:
    """A line of a result folder; its answer is right where its plan came to an end."""
    right = any(thought["status"] == "terminal" for thought in tree.values())
    return {
        **{**ROW, "id": str(at), "seed": 0, "problem": str(at), "task": "ptr", "method": method},
        **{"facts": {"hop": str(hop)}, "answer": "yes" if right else None, "tree": packed(tree)},
        **{"score": float(right), "scores": [float(right)]},
        "usage": {**USAGE, "requests": len(tree) - 1},
    }


def line_of(calls: int) -> Tree:
    """A search that ends with its last call; those before it were refused."""
    tree: Tree = {"0": TREE["0"]}
    tree |= {str(at): thought(str(at), "0", "pruned") for at in range(1, calls)}
    return {**tree, str(calls): thought(str(calls), "0", "terminal")}


def test_the_report_has_the_papers_own_figures_of_plans() -> None:
    calls = {"tomt_tot": (2, 4, 6), "tomt_os": (1, 1, 1), "io": (1, 1, 1)}
    rows = [
        row(method, at, line_of(number), hop=at)
        for method, numbers in calls.items()
        for at, number in enumerate(numbers, 1)
    ]
    [own] = method_tables(entries(rows))
    assert [line[0] for line in own.rows] == ["tomt_tot", "tomt_os"]
    stepwise, one_stop_first = (dict(zip(own.headings, line, strict=True)) for line in own.rows)
    assert stepwise["calls, answered right"] == "4.00"
    assert (stepwise["RSSI"], one_stop_first["RSSI"]) == ("1.00", "4.00")
    assert (stepwise["calls with hops"], one_stop_first["calls with hops"]) == ("+1.00", "")
    assert (stepwise["NoBack"], one_stop_first["NoBack"]) == ("0%", "100%")


def test_the_report_has_the_correlations_over_the_means_of_types() -> None:
    """Means of hops 2, 3, 5; right 100, 50, 25 %; calls of the right ones 2, 4, 8."""
    kinds = {"sum": [(1, 1, True), (3, 3, True)], "count": [(3, 4, True), (3, 9, False)]}
    kinds["logic"] = [(5, 7, False), (5, 8, True), (5, 9, False), (5, 9, False)]
    rows = [
        {
            **row("tomt_tot", at, line_of(calls), hop),
            "data": f"made:{kind}",
            "facts": {"hop": str(hop), "type": kind},
            "score": float(right),
        }
        for kind, questions in kinds.items()
        for at, (hop, calls, right) in enumerate(questions)
    ]
    [own] = across_sets(entries(rows))
    # Hops less their mean are -4/3, -1/3, 5/3: with 1, 1/2, 1/4 it is -13/12 / (7/6) = -.93, and
    # with NoBack's 1/2, 0, 0 it is -2/3 / sqrt(14/3 / 6) = -.76.
    assert own.rows == [["tomt_tot", "ptr", "m", "3", "-0.93", "+1.00", "-0.76"]]
    together = [{**each, "data": "made:sum,count,logic"} for each in rows]
    [whole] = across_sets(entries(together))
    assert whole.rows == own.rows, "sets of several types are divided by type"
    text = markdown(entries(rows))
    assert text.endswith(f"## {own.title}\n\n{grid(own.headings, own.rows)}")
    none_right = [
        {**each, "score": 0.0} if each["facts"]["type"] == "logic" else each for each in rows
    ]
    [own] = across_sets(entries(none_right))
    assert own.rows[0][5] == "", "two types have mean calls"
    assert not list(across_sets(entries(rows[:4]))), "two means are always on a line"
    assert not list(across_sets(entries([{**each, "method": "io"} for each in rows])))
