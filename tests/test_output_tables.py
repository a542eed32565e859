"""Tables that are read off the trees of lines, on results one can count by hand."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.rows import finished, tree_of

from thoughtgraph.bench.method_tables import method_tables
from thoughtgraph.bench.papers import failed_steps
from thoughtgraph.bench.report_lines import Table, entries
from thoughtgraph.bench.result_files import packed
from thoughtgraph.tree import Tree

TERMINAL: dict[str, Any] = {"status": "terminal"}
PRUNED: dict[str, Any] = {"status": "pruned"}


def plan_row(method: str, hop: int, calls: int, **more: Any) -> dict[str, Any]:
    """A question of so many hops; all calls but the last were refused."""
    tree = tree_of(*[("0", "a", PRUNED)] * (calls - 1), ("0", "b", TERMINAL))
    known = {"id": str(hop), "task": "ptr", "facts": {"hop": str(hop)}, "tree": packed(tree)}
    return finished(method, **{**known, "usage": {"requests": calls}, **more})


def test_the_report_has_the_papers_own_figures_of_plans() -> None:
    """Two are wrong: an accepted plan, with two requests for calls ahead of need; and no plan."""
    wrong: dict[str, Any] = {"scores": [0.0]}
    rows = [
        *(plan_row("tomt_tot", hop, 5 * hop) for hop in (1, 2, 3)),
        *(plan_row("tomt_os", hop, 1) for hop in (1, 2, 3)),
        plan_row("tomt_os", 4, 3, usage={"requests": 5}, **wrong),
        plan_row("tomt_os", 5, 1, answer=None, **wrong),
        plan_row("io", 1, 1),
    ]
    [own] = method_tables(entries(rows))
    assert own.headings[:6] == (
        *("method", "inconsistent", "NoBack", "calls, answered right", "ahead", "RSSI"),
    )
    assert own.headings[6:] == ("calls with hops", "right at 10", "right at 20", "right at 30")
    assert own.rows == [
        ["tomt_tot", "0%", "0%", "10.00", "0.00", "1.00", "+1.00", "67%", "100%", "100%"],
        ["tomt_os", "20%", "60%", "1.00", "0.40", "10.00", "", "60%", "60%", "60%"],
    ]


PUZZLE = "4 9 10 13"
RIGHT = "(13 - 9) * (10 - 4)"
FIRST, SECOND, THIRD = (
    "13 - 9 = 4 (left: 4 4 10)",
    "10 - 4 = 6 (left: 4 6)",
    "4 * 6 = 24 (left: 24)",
)
LOST = "4 - 9 = -5 (left: -5 10 13)"
"""A step after which 24 is out of reach."""


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
        ([FIRST, SECOND, "6 - 4 = 2 (left: 2)"], 3),
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
    ("2", "c", SOLVED | BACK),  # two rollbacks leave its path: neither In nor Out
    ("0", "10 - 4 = 6", {"caused_by": "2"}),
    ("4", "e", {"caused_by": "3"}),
    ("5", "f", SOLVED),  # two of three thoughts are of rollbacks: In
    ("0", "nothing", {"caused_by": "3"}),
)
OTHERS = tree_of(
    ("0", "a", BACK),
    ("1", "b", BACK),
    ("2", "c", SOLVED | BACK),  # Out
    ("0", "10 - 4 = 6", SOLVED | {"answer": "2"}),  # No
)


def test_the_data_of_thought_rollbacks_figure_3() -> None:
    runs = [("rollback", ROLLBACKS), ("rollback", OTHERS), ("chain", ROLLBACKS)]
    rows = [
        row(method, tree, ["1", "2"], id=str(at), usage={"samples": 11})
        for at, (method, tree) in enumerate(runs)
    ]
    rows = [{**each, "scores": [1.0, 0.0]} for each in rows]
    shown = tables(*rows)
    back, chain = shown["Interactions"].rows
    kinds = ["1 of 1 right", "1 of 1 right", "0 of 1 right"]
    # Of five rollbacks in two runs: two and three steps back, then one, two and three.
    assert back == ["rollback", "11.0", "2.50", "2.2", *kinds]
    assert chain == ["chain", "11.0", *[""] * 5]
    first = [["0", "3", "2"], ["1", "1", "0"], ["2", "1", "1"]]
    assert shown["Failures"].rows == [["rollback", *each] for each in first]
    assert "Failures" not in tables(*({**each, "task": "gsm8k"} for each in rows))
