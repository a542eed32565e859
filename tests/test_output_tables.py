"""Tables that are read off the trees of lines, on results one can count by hand."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.rows import ROW, finished, tree_of

from thoughtgraph.bench.method_tables import method_tables
from thoughtgraph.bench.papers import failed_steps
from thoughtgraph.bench.papers.mixed_metrics import ahead, calls, inconsistent, no_back, right
from thoughtgraph.bench.papers.rollback_stats import first_steps, kinds, spans
from thoughtgraph.bench.report_lines import Table, entries
from thoughtgraph.bench.result_files import packed
from thoughtgraph.cli.assignments import assignments
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
    """Four calls, of which two are refused; with two requests for calls ahead of need."""
    told = {"score": 1.0, "answer": "yes", "usage": {"requests": 6}, "method": "tomt_os"}
    row = {**told, "tree": packed(TREE)}
    assert (calls(row), ahead(row), right(row)) == (4, 2, True)
    assert not no_back(row) and not inconsistent(row)
    assert not right(row, 3) and right(row, 4), "one long run holds the shorter ones"
    assert inconsistent({**row, "score": 0.0})
    assert not inconsistent({**row, "score": 0.0, "answer": None})
    assert no_back({**row, "tree": packed({key: TREE[key] for key in ("0", "2")})})
    assert (calls(told), ahead(told)) == (6, 0), "a summary has no tree"


def test_settings_are_json_or_text() -> None:
    found = assignments(["redraw=question", "shots=2", "max-calls=null"])
    assert found == {"redraw": "question", "shots": 2, "max_calls": None}
    with pytest.raises(InputError, match="--limit 'shots' is not NAME=VALUE"):
        assignments(["shots"], "--limit")


USAGE = {"samples": 0, "prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0}


def plan_row(method: str, at: int, tree: Tree, hop: int) -> dict[str, Any]:
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
        plan_row(method, at, line_of(number), hop=at)
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


PUZZLE = "4 9 10 13"
RIGHT = "(13 - 9) * (10 - 4)"
FIRST, SECOND, THIRD = (
    "13 - 9 = 4 (left: 4 4 10)",
    "10 - 4 = 6 (left: 4 6)",
    "4 * 6 = 24 (left: 24)",
)
LOST = "4 - 9 = -5 (left: -5 10 13)"
"""A step after which 24 is out of reach."""
TERMINAL: dict[str, Any] = {"status": "terminal"}
PRUNED: dict[str, Any] = {"status": "pruned"}


def row(method: str, tree: Tree, answers: Sequence[str | None], **more: Any) -> dict[str, Any]:
    scores = [float(answer == RIGHT) for answer in answers]
    known = {"problem": PUZZLE, "answer": answers[0], "candidates": list(answers)}
    return finished(method, **known, scores=scores, tree=packed(tree), **more)


def tables(*rows: dict[str, Any]) -> dict[str, Table]:
    """The tables of lines, by what their titles begin with."""
    return {own.title.split()[0]: own for own in method_tables(entries(rows))}


@pytest.mark.parametrize(
    ("steps", "failed"),
    [
        ([], 1),
        ([LOST], 1),
        (["13 - 9 = 5 (left: 4 5 10)"], 1),  # wrong
        (["13 - 9 = 4 (left: 4 10)"], 1),  # a number is forgotten
        ([FIRST], 2),
        ([FIRST, "10 + 4 = 14 (left: 4 14)"], 2),
        ([FIRST, SECOND], 3),
        ([FIRST, SECOND, "6 - 4 = 2 (left: 2)"], 3),
        ([FIRST, SECOND, THIRD], 4),
        ([FIRST, SECOND, THIRD, "Answer: 4 * 6 = 24"], 4),
    ],
)
def test_a_sample_fails_at_the_first_step_that_leaves_nothing(
    steps: list[str], failed: int
) -> None:
    assert failed_steps.failed_step(PUZZLE, steps) == failed


def test_a_chain_of_thought_fails_at_a_step_or_is_right() -> None:
    steps = "\n".join((FIRST, SECOND, THIRD))
    texts = {
        f"Steps:\n{steps}\nAnswer: {RIGHT} = 24": RIGHT,
        f"Steps:\n{steps}\nAnswer: 4 * 6 = 24": "4 * 6",
        f"Steps:\n{FIRST}\n{THIRD}\nAnswer: 1": "1",
        f"Steps:\n{LOST}\nAnswer: 2": "2",
        "Answer: 3": "3",
    }
    tree = tree_of(*(("0", text, {**TERMINAL, "answer": a}) for text, a in texts.items()))
    shown = tables(row("cot", tree, [*texts.values()]))["Steps"]
    assert shown.rows == [["cot", "4", "25%", "25%", "0%", "25%", "25%"]], "one has no steps"
    assert "Steps" not in tables(row("cot", tree_of(("0", "Answer: 3", TERMINAL)), ["3"]))
    assert "Steps" not in tables(row("cot", tree, [*texts.values()], task="question"))


def test_a_search_fails_where_all_that_it_kept_has_failed() -> None:
    both = tree_of(("0", LOST, {}), ("0", FIRST, {}), ("2", SECOND, PRUNED), ("1", "no step", {}))
    none = tree_of(("0", LOST, {}), ("0", FIRST, PRUNED))
    whole = tree_of(("0", FIRST, {}), ("1", SECOND, {}), ("2", THIRD, {}), ("3", "Answer: 1", {}))
    rows = [
        row("tot_bfs", both, ["1"]),  # the step that was good has been continued wrongly
        row("tot_bfs", none, ["1"], id="2"),
        row("tot_bfs", whole, ["1"], id="3"),
        row("tot_bfs", whole, ["1", RIGHT], id="4"),
        row("tot_bfs", tree_of(), [None], id="5"),
    ]
    shown = tables(*rows)["Steps"]
    assert shown.rows == [["tot_bfs", "4", "25%", "25%", "0%", "25%", "25%"]]


def test_the_best_of_k_outputs() -> None:
    late = [None, "1", RIGHT, None, None]
    rows = [row("io", tree_of(), late), row("io", tree_of(), [RIGHT] + 4 * ["1"], id="2")]
    shown = tables(*rows, row("cot", tree_of(), [RIGHT, "1"]), row("react", tree_of(), ["1"]))
    assert shown["Best"].headings == ("method", "1", "2", "5")
    assert shown["Best"].rows == [
        ["io", "50.0%", "50.0%", "100.0%"],
        ["cot", "100.0%", "100.0%", ""],
    ]
    summarized = [{k: v for k, v in each.items() if k != "tree"} for each in rows]
    assert not tables(*summarized), "summaries have no trees"


def test_votes_for_the_answer() -> None:
    def voted(at: int, answer: str, got: float) -> dict[str, Any]:
        votes = [{"by": "votes", "got": got, "of": 4.0}]
        return row("cot_sc", tree_of(), [answer], id=str(at), votes=votes)

    rows = [voted(1, RIGHT, 4.0), voted(2, "1", 3.0), voted(3, "1", 2.0), voted(4, "1", 1.0)]
    unread = row("cot_sc", tree_of(), [None], id="5", votes=[])
    shown = tables(*rows, unread, row("cot", tree_of(), ["1"]))["Votes"]
    assert shown.rows == [["cot_sc", "4", "62%", "0 of 2 right", "1 of 2 right"]]


def test_tool_costs_that_were_paid_and_on_the_path() -> None:
    def spent(at: int, answer: str | None, paid: float, path: float) -> dict[str, Any]:
        usage = {"tool_cost": paid, "tool_cost_path": path}
        return row("informed_tot", tree_of(), [answer], id=str(at), usage=usage)

    rows = [spent(1, "1", 6.0, 2.0), spent(2, "1", 3.0, 3.0), spent(3, None, 3.0, 0.0)]
    shown = tables(*rows, row("react", tree_of(), ["1"]))["Cost"]
    assert shown.rows == [["informed_tot", "4.00", "2.50", "2"]]


BACK: dict[str, Any] = {"rollback": {"to": "0", "step": 1}}
SOLVED: dict[str, Any] = {"status": "terminal", "answer": "1"}
ROLLBACKS = tree_of(
    ("0", "4 - 9 = -5", {}),
    ("1", "b", BACK),
    ("2", "c", SOLVED | BACK),
    ("0", "10 - 4 = 6", {"caused_by": "2"}),
    ("4", "e", {"caused_by": "3"}),
    ("5", "f", SOLVED),
    ("0", "nothing", {"caused_by": "3"}),
)


def test_paths_and_first_steps_of_thought_rollback() -> None:
    assert kinds(ROLLBACKS, "3") == (False, False, False), "two rollbacks leave it: neither kind"
    assert kinds(ROLLBACKS, "6") == (True, False, False), "of three thoughts two are of rollbacks"
    assert kinds(ROLLBACKS, "1") == (False, False, True)
    out = tree_of(("0", "a", BACK), ("1", "b", BACK), ("2", "c", BACK))
    assert kinds(out, "3") == (False, True, False)
    assert spans(ROLLBACKS) == [2, 3]
    assert first_steps(PUZZLE, ROLLBACKS) == [(0, True), (1, False), (2, True)]


def test_the_data_of_thought_rollbacks_figure_3() -> None:
    rows = [
        row(method, ROLLBACKS, ["1"], id=str(at), usage={"samples": 11})
        for at, method in enumerate(("rollback", "rollback", "chain"))
    ]
    rows = [{**each, "scores": [1.0]} for each in rows]
    shown = tables(*rows)
    back, chain = shown["Interactions"].rows
    assert back == ["rollback", "11.0", "2.00", "2.5", "2 of 2 right", *["0 of 0 right"] * 2]
    assert chain == ["chain", "11.0", *[""] * 5]
    first = [["0", "2", "2"], ["1", "2", "0"], ["2", "2", "2"]]
    assert shown["Failures"].rows == [["rollback", *each] for each in first]
    assert "Failures" not in tables(*({**each, "task": "gsm8k"} for each in rows))
