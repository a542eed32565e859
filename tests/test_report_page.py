"""Reports, and the papers' numbers beside ours."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.rows import TREE, finished, kept, row, runs, tree_of

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.paper_figures import FIGURES
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.report_budgets import budget_scores, with_points
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.report_page import LINKED, linked
from thoughtgraph.bench.result_files import Row, packed, unpacked
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
    cells = {line[0]: line for line in table if len(line) > 10}
    # Of four problems cot solves one first and two in all; Wilson's interval of 1 in 4.
    known = ["cot", "4", "25.0%", "4.6% to 69.9%", "50.0%", "2.0", "2.0 ± 0.0", "30.0 ± 0.0"]
    assert cells["cot"] == [*known, "10.0 ± 0.0", "1.00", "0.5000", "1.0", "0%", "1.5"]
    assert cells["tot_bfs"][2:4] == ["75.0%", "30.1% to 95.4%"]
    assert cells["tot_bfs"][9] == "4.00", "tokens to cot"
    assert "\nBoth tie; cot costs 1/4 of tot_bfs.\n" in out
    _, _, line = Path("page/report.csv").read_text().splitlines()
    told, _, numbers = line.partition(",0.3006")
    assert told == "game24,,m,,tot_bfs,{},False,4,4,0.75"
    assert numbers.endswith(",0.75,2.0,3.0,150.0,10.0,0.5,1.0,0.0,1.5")
    _, pair = Path("page/pairs.csv").read_text().splitlines()
    # The second alone is right on two of four: as likely as two heads in a row, or two tails.
    assert pair.startswith('"game24, m",cot,tot_bfs,4,-0.5,') and pair.endswith(",0.5")
    assert "</html>" in Path("page/report.html").read_text()


def test_one_run_of_rollback_gives_a_line_for_each_ensemble() -> None:
    answers = {"first": "3", "ratio": "7", "majority": "7"}
    told: dict[str, Any] = {"ensembles": answers, "ensemble_scores": [0.0, 1.0, 1.0]}
    run = finished("rollback", settings={"seed": 0, "ensemble": "ratio"}, **told)
    alone = finished("rollback", settings={"ensemble": "first"}, given={"ensemble": "first"})
    lines = entries([run, alone])
    assert {line.name: line.score for line in lines} == {
        "rollback": 1.0,
        "rollback (ensemble=first, same run)": 0.0,
        "rollback (ensemble=majority, same run)": 1.0,
        "rollback (ensemble=first)": 1.0,
    }
    assert [len(linked(line)) for line in lines] == [1, 0, 0, 1], "a tree is linked once"


def test_scores_at_budgets_agree_with_hand_computation() -> None:
    """Four votes cost 140 tokens and one 110; the searches 120 and 130, and a dollar each."""
    rows = runs()
    for each in rows[2:]:
        each["usage"] |= {"dollars": 1.0, "requests": 4}
    requests, tokens, dollars = (each.table for each in budget_scores(entries(rows)))
    votes, search = ("cot_sc (n_generate=4)", "tot_bfs (n_generate=1)")
    assert list(requests.headings) == ["method", "1", "2", "5"]
    assert requests.rows == [[votes, "50.0%", "50.0%", "50.0%"], [search, "0.0%", "0.0%", "100.0%"]]
    assert [each[-2:] for each in tokens.rows] == [["0.0%", "50.0%"], ["0.0%", "100.0%"]]
    assert dollars.headings[-1] == "1"
    assert dollars.rows == [[search, *["0.0%"] * 5, "100.0%"]], "no price of the votes is known"


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
    *(("rollback", tree) for tree in ({}, {"0": {}}, {"0": None}, {"0": {**TOP, "depth": 0}})),
    ("tomt_os", {}),
]


@pytest.mark.parametrize(("method", "tree"), BAD_TREES)
def test_a_tree_that_no_search_grew_is_told_in_one_line_and_no_page_leads_to_it(
    method: str, tree: dict[str, Any], command: Command
) -> None:
    kept("r", [asked(method, 0, 1.0, {}, tree=packed(tree))])
    code, _, err = command("report", "r", "--out", "page")
    assert code == 2 and f"the tree of '{method}-0' is damaged" in err and "\n" not in err.strip()
    assert method != "io" or "(thought '0' has no depth)" in err
    assert not Path("page").exists()


PARTLY = "Milan once was a city"
"""An answer whose F1 with Milan is 2 * 1/4 / (1 + 1/4) = 0.4: articles do not count."""


def run(task: str, data: str, method: str, given: Mapping[str, Any], **told: Any) -> Any:
    """A finished run; a right answer of one request, unless something else is told."""
    settings = effective_settings(method, registry.task(task), given)
    known = {"id": data, "problem": data, "gold": "Milan", "answer": "Milan", "data": data}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, **told.pop("usage", {})}
    known |= {"task": task, "given": dict(given), "settings": settings, "usage": usage}
    return finished(method, **{**known, **told})


def table_of(rows: list[Row], name: str) -> str:
    """The section of one table."""
    text = beside_published(entries(rows))
    (section,) = [each for each in text.split("## ") if suite(name).source in each.split("\n")[0]]
    return section


def test_published_numbers_stand_beside_ours() -> None:
    spent = {"requests": 7, "samples": 7, "prompt_tokens": 100, "completion_tokens": 50}
    told = {"score": 0.0, "usage": spent}
    rows = [
        run("game24", "game24", "tot_bfs", {"breadth": 5}, id=id, problem=id, scores=scores, **told)
        for id, scores in zip("1234", [[0.0, 0.0], *[[0.0, 1.0]] * 3], strict=True)
    ]
    text = beside_published(entries(rows))
    assert "## Game of 24: Tree of Thoughts (Yao et al. 2023), table 2" in text
    best = "| ToT (b = 5) | game24 | best | 74 (GPT-4) | 75.0 (m) | 30.1 to 95.4 | 4 |"
    assert best in text, "any of the five outputs"
    assert "| ToT | game24 | prompt tokens | 1400 (GPT-4) | 100.0 (m) |" in text
    assert "| ToT | game24 | completion tokens | 5500 (GPT-4) | 50.0 (m) |" in text
    assert "| ToT | game24 | dollars | 0.74 (GPT-4) | no price |" in text
    assert "| ToT (b = 1) | game24 | best | 45 (GPT-4) | not run |" in text
    assert beside_published(entries(map(summary, rows))) == text, "also off their summaries"
    priced = [{**row, "usage": {**row["usage"], "dollars": 0.00125}} for row in rows]
    text = beside_published(entries(priced))
    assert "| ToT | game24 | dollars | 0.74 (GPT-4) | 0.0013 (m) |  | 4 |" in text
    colder = {**rows[0], "settings": {**rows[0]["settings"], "temperature": 0.1}}
    assert not beside_published(entries([colder])), "at another temperature it is no line of it"


def test_the_figures_of_crosswords_by_hand() -> None:
    gold = "AGEND MOTOR ARTSY SALLE SLEER"
    boards = [gold, f"B{gold[1:]}", None]
    told = {"gold": gold, "answer": gold, "candidates": boards, "scores": [1.0, 0.8, 0.0]}
    [entry] = entries([run("crosswords", "crosswords", "io", {}, **told)])
    assert FIGURES["letters"](entry) == [pytest.approx((1 + 24 / 25 + 0) / 3)]
    assert FIGURES["games"](entry) == [pytest.approx(1 / 3)]
    assert FIGURES["best words"](entry) == [0.0], "no board was visited"
    [other] = entries([run("game24", "crosswords", "io", {}, **told)])
    assert FIGURES["letters"](other) == FIGURES["best games"](other) == []


def asked_of(level: str, answer: str, given: Mapping[str, Any] | None = None, **told: Any) -> Any:
    """A run of CoT on a level."""
    tokens = {"prompt_tokens": 1000 if level == "hard" else 100, "completion_tokens": 0}
    return run(
        "hotpotqa", level, "cot", {"shots": 6, **(given or {})}, answer=answer, usage=tokens, **told
    )


def test_an_average_weighs_the_levels_as_the_paper_does() -> None:
    rows = [asked_of("easy", "Milan"), asked_of("medium", "Rome"), asked_of("hard", PARTLY)]
    section = table_of(rows, "fgdip-table1")
    # 100 * (34.7 * 1 + 33.4 * 0 + 31.8 * 0.4) / 99.9 = 47.47; each alike would be 46.7.
    marked = "weights fitted to the paper's own averages (ours)"
    assert f"| CoT | average | f1 | 45.16 (GPT-3.5) | 47.5 (m) |  |  | {marked} |" in section
    assert f"* average: easy 34.7, medium 33.4, hard 31.8; {marked}." in section
    assert "| CoT | mean | tokens | 582 (GPT-3.5) | 400.0 (m) |" in section, "1200 over 3"


@pytest.mark.parametrize("last", [None, {"model": "other"}, {"given": {"limit_requests": 3}}])
def test_an_average_needs_all_levels_by_one_model_under_the_same_limits(
    last: Mapping[str, Any] | None,
) -> None:
    rows = [asked_of("easy", "Milan"), asked_of("medium", "Milan")]
    rows += [asked_of("hard", "Milan", **last)] if last else []
    assert "| CoT | average | f1 | 45.16 (GPT-3.5) | not run |" in table_of(rows, "fgdip-table1")


def planned(kind: str, method: str, calls: int, *, hop: int = 5, **told: Any) -> Any:
    """A run of Tree-of-Mixed-Thought with so many calls."""
    calls_made = [*["pruned"] * (calls - 1), "terminal"]
    tree = tree_of(*(("0", "x", {"status": status}) for status in calls_made))
    known = {"facts": {"hop": str(hop)}, "tree": packed(tree), "usage": {"requests": calls}}
    task = "clevr" if kind in ("long", "logic") else "ptr"
    return run(task, kind, method, {}, **{**known, **told})


def test_a_saving_is_the_calls_of_the_stepwise_search_over_a_lines() -> None:
    """Calls are counted over questions answered right; without a tree they are all requests."""
    rows = [planned("sum", "tomt_tot", 9), planned("sum", "tomt_os", 4)]
    rows.append(planned("sum", "tomt_block", 4, score=0.0))
    treeless = [{name: part for name, part in each.items() if name != "tree"} for each in rows]
    for each in (rows, treeless):
        section = table_of(each, "tomt-table2")
        assert "| ToT-OS | sum | saving | 2.64 (ChatGPT 0631) | 2.25 (m) |" in section
        assert "| ToT-Block | sum | saving | 1.91 (ChatGPT 0631) | no score |" in section


def test_a_correlation_is_over_the_means_of_all_types() -> None:
    kinds = [part.id for part in suite("tomt-table3").parts]
    rows = [planned(kind, "tomt_tot", 20 - 2 * at, hop=at) for at, kind in enumerate(kinds)]
    section = table_of(rows, "tomt-table3")
    line = "| ToT | hops | calls, answered right | 0.912 (ChatGPT 0631) |"
    assert f"{line} -1.000 (m) |" in section
    assert "| ToT | hops | score | -0.095 (ChatGPT 0631) | no score |" in section, "all are right"
    assert f"{line} not run |" in table_of(rows[1:], "tomt-table3")


def test_tokens_stand_apart_and_beside_those_of_the_line_they_are_relative_to() -> None:
    spent = {"prompt_tokens": 200, "completion_tokens": 30, "samples": 7}
    chain = run("math", "math", "chain", {}, usage=spent)
    section = table_of([run("math", "math", "cot", {"top_p": 0.7}), chain], "tr-table4")
    assert "| Chain Reasoning | math | prompt tokens | 2657.5 (GPT-4) | 200.0 (m) |" in section
    assert "| Chain Reasoning | math | prompt ratio | 24.1 (GPT-4) | 20.00 (m) |" in section
    assert "| Chain Reasoning | math | completion ratio | 2.84 (GPT-4) | 6.00 (m) |" in section
    [entry] = entries([chain])
    assert FIGURES["interactions"](entry) == [7]
