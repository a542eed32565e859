"""The papers' tables: each can be planned, run and reported."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.paper_figures import FIGURES, RELATIVES
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.papers.suites import names, suite
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.result_files import packed
from thoughtgraph.cli.bench_plan import BenchOptions, batches, left_out
from thoughtgraph.errors import InputError

SETS = os.environ.get("THOUGHTGRAPH_TEST_SETS")
PLACES = {
    "game24": "puzzles/game24.csv",
    "crosswords": "puzzles/crosswords_20.json",
    "creative_writing": "puzzles/creative_writing_100.txt",
    "gsm8k": "math/gsm8k_test_first_half.jsonl",
    "svamp": "math/svamp_first_half.json",
    "aqua": "math/aqua_test_first_half.jsonl",
    "math": "math/math500_first_half.jsonl",
    "theoremqa": "math/theoremqa_first_half.json",
    "mmlu": "math/mmlu",
    "strategyqa": "wiki/strategyqa_dev.json",
    "hotpotqa-easy": "wiki/hotpotqa_easy_100.jsonl",
    "hotpotqa-medium": "wiki/hotpotqa_medium_100.jsonl",
    "hotpotqa-hard": "wiki/hotpotqa_hard_100.jsonl",
}
"""Where each data set lies in the folder that the variable names."""
HELD = [
    f"{name}, grammar"
    for name in [
        "ToT of plans",
        "ToT-Block",
        "ToT-OS",
        "adaptive",
        "one-stop plans",
        "repeated one-stop plans",
    ]
]
"""Lines that need a server which takes a grammar."""
ALL = names()


def test_every_table_of_the_five_papers_has_a_suite_and_so_has_ours() -> None:
    wanted = {"tot": range(2, 9), "tomt": range(1, 7), "tr": range(1, 5), "itot": [1]}
    wanted["fgdip"] = [1, 2, 3, 5]
    figures = {"tot-figure3", "tot-figure5", "tr-figure3", "fgdip-ablations"}
    tables = {f"{paper}-table{at}" for paper, each in wanted.items() for at in each}
    assert {*ALL} == tables | figures | {"comparison"}


@pytest.mark.parametrize("name", ALL)
def test_a_published_number_names_its_part_and_its_model(name: str) -> None:
    table = suite(name)
    parts = {part.id for part in table.parts}
    wholes = {each.name for each in table.wholes}
    assert not parts & wholes
    for line in table.rows:
        assert {each.part for each in line.published} <= parts | wholes
        assert all(each.model for each in line.published)
        relative = any(each.figure in RELATIVES for each in line.published)
        assert {line.same_run_as, line.relative_to} <= {"", *(each.name for each in table.rows)}
        assert relative == bool(line.relative_to)
    assert table.source.split(",")[0]


STEPS = {"zero_shot": "steps", "top_p": 0.7}
BASELINES: list[tuple[str, str, Mapping[str, Any]]] = [
    ("tr-table1", "ZeroShot", STEPS),
    ("tr-table1", "ZeroShot-CoT", STEPS),
    ("tr-table2", "ZeroShot-CoT", {"top_p": 0.7}),
    ("tr-table4", "ZeroShot-CoT", {"top_p": 0.7}),
    *((f"fgdip-table{at}", name, {"shots": 6}) for at in (1, 2, 5) for name in ("Standard", "CoT")),
    ("fgdip-table3", "Standard", {}),
    ("itot-table1", "Base LM", {"examples": "none"}),
    ("itot-table1", "Few-shot", {"shots": 6}),
    ("itot-table1", "CoT", {"zero_shot": "steps"}),
    ("tot-table5", "ToT", {"breadth": 5, "shots": 3}),
    ("tot-table2", "ToT (b = 5)", {"breadth": 5}),
]


@pytest.mark.parametrize(("name", "row", "settings"), BASELINES)
def test_a_baseline_has_the_settings_of_its_paper(
    name: str, row: str, settings: Mapping[str, Any]
) -> None:
    [line] = [line for line in suite(name).rows if line.name == row]
    assert line.settings == settings


SAMPLES = {
    "tr-table1": {"gsm8k": 0, "svamp": 300, "aqua": 0, "math": 900},
    "tr-table2": {"math5": 324, "theoremqa": 400, "mmlu": 900},
    "tr-table4": {"math": 900, "theoremqa": 400},
    "tr-figure3": {"game24": 0, "gsm8k": 0, "svamp": 300, "aqua": 0, "math": 900},
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_as_large_as_the_papers(name: str) -> None:
    assert {part.id: part.sample for part in suite(name).parts} == SAMPLES[name]


@pytest.mark.parametrize("at", range(1, 7))
def test_two_of_nine_types_of_questions_are_clevrs(at: int) -> None:
    """Long Spatial Relation and Logic Both (Tree-of-Mixed-Thought, appendix A.1)."""
    parts = suite(f"tomt-table{at}").parts
    assert len(parts) == 9
    assert {part.id for part in parts if part.task == "clevr"} == {"long", "logic"}
    for part in parts:
        assert f"{part.task.upper()} questions are not published" in part.note


DAGGERS = {
    ("ZeroShot", "svamp", "GPT-4"),
    ("ZeroShot", "math", "GPT-3.5"),
    ("ZeroShot-CoT", "gsm8k", "GPT-4"),
    ("ZeroShot-CoT", "svamp", "GPT-4"),
    ("ZeroShot-CoT", "math", "GPT-3.5"),
}
"""The cells of table 1's zero-shot rows that have a dagger (Thought Rollback, section 5)."""


def test_a_cell_that_a_paper_quotes_is_marked() -> None:
    quoted = "quoted from other work"
    for line in suite("tr-table1").rows:
        for each in line.published:
            own = not line.name.startswith("ZeroShot")
            own = own or (line.name, each.part, each.model) in DAGGERS
            assert each.note == ("" if own else quoted), (line.name, each)
    changes = [
        each.part
        for line in suite("tr-table4").rows
        for each in line.published
        if each.figure == "score change" and "44.7, which table 1 quotes" in each.note
    ]
    assert changes == ["math"] * 3


@pytest.fixture
def data(tmp_path: Path) -> Path:
    if SETS is None:
        pytest.skip("THOUGHTGRAPH_TEST_SETS names no folder of public data sets")
    folder = tmp_path / "data"
    folder.mkdir()
    for name, place in PLACES.items():
        path = Path(SETS) / place
        (folder / f"{name}{path.suffix}").symlink_to(path)
    return folder


def of(name: str, data: Path) -> Path:
    """The folder for a suite: the one that asks for all levels has a file of its own."""
    if any(part.data == "hotpotqa" for part in suite(name).parts):
        for file in data.glob("hotpotqa-*"):
            file.unlink()
        (data / "hotpotqa.jsonl").symlink_to(Path(SETS or "") / PLACES["hotpotqa-hard"])
    return data


@pytest.mark.parametrize("name", ALL)
def test_every_suite_can_be_planned(name: str, data: Path) -> None:
    options = BenchOptions(suite=name, sample=5, model="http://x/v1#x", data=str(of(name, data)))
    planned = batches(options)
    assert len(planned) == len(suite(name).parts)
    assert all(len(batch.records) == 5 and batch.setups for batch in planned)


def test_a_setting_that_no_method_of_a_table_has_is_refused(data: Path) -> None:
    options = BenchOptions(
        suite="tot-table2", settings=["nothing=1"], model="http://x/v1#x", data=str(data)
    )
    with pytest.raises(InputError, match="no method of 'tot-table2' has the setting 'nothing'"):
        batches(options)


def test_a_data_set_that_is_smaller_than_the_papers_sample_is_refused_by_name(data: Path) -> None:
    options = BenchOptions(suite="tr-table2", model="http://x/v1#x", data=str(data))
    words = "324 problems of 'math5' are wanted and 60 are there; take fewer with --sample 60"
    with pytest.raises(InputError, match=words):
        batches(options)


def test_a_part_of_a_table_can_be_run_by_itself(data: Path) -> None:
    options = BenchOptions(
        suite="comparison",
        task="game24",
        methods=["io", "tot_bfs"],
        data=str(data),
        model="local",
    )
    [batch] = batches(options)
    assert [setup.method for setup in batch.setups] == ["io", *["tot_bfs"] * 3]
    assert [setup.effective["breadth"] for setup in batch.setups[1:]] == [1, 1, 5]
    assert [record.id for record in batch.records] == [str(rank) for rank in range(901, 951)]
    [fewer] = batches(replace(options, sample=5))
    assert {record.id for record in fewer.records} < {record.id for record in batch.records}


@pytest.mark.parametrize(
    "model, server, left",
    [
        ("http://x/v1#x", "", HELD),
        ("local", "", []),
        ("served", "http://x", []),
    ],
)
def test_lines_that_a_model_is_not_known_to_take_are_left_out(
    model: str, server: str, left: list[str]
) -> None:
    options = BenchOptions(suite="comparison", task="sum", model=model, server=server)
    [batch] = batches(options)
    assert left_out(options) == left
    assert len(batch.setups) == 8 - len(left)


def test_a_grammar_is_refused_before_the_first_problem() -> None:
    options = BenchOptions(task="game24", settings=["grammar=true"], model="http://x/v1#x")
    with pytest.raises(InputError, match="is known to take a grammar; choose local"):
        batches(options)


@pytest.mark.parametrize(
    "task, methods, refusal",
    [
        ("gsm9k", [], "unknown task or set of comparison 'gsm9k'; did you mean 'gsm8k'"),
        ("", ["fgdib"], "unknown method of comparison 'fgdib'; did you mean 'fgdip'"),
        ("game24", ["fgdip"], "no line of 'comparison' has fgdip on game24"),
    ],
)
def test_a_part_that_a_table_has_not_is_refused(
    task: str, methods: list[str], refusal: str
) -> None:
    options = BenchOptions(suite="comparison", task=task, methods=methods, model="http://x/v1#x")
    with pytest.raises(InputError, match=refusal):
        batches(options)


@pytest.mark.parametrize("there", [[], ["gsm8k.jsonl", "gsm8k_train.jsonl"]])
def test_a_data_set_that_cannot_be_told_is_refused(tmp_path: Path, there: list[str]) -> None:
    for name in there:
        (tmp_path / name).touch()
    options = BenchOptions(suite="tot-table4", model="http://x/v1#x", data=str(tmp_path))
    with pytest.raises(InputError, match="must hold one data set 'gsm8k'"):
        batches(options)


def test_published_numbers_stand_beside_ours() -> None:
    usage = {"requests": 7, "samples": 7, "prompt_tokens": 100, "completion_tokens": 50}
    row = {
        "task": "game24",
        "data": "game24",
        "method": "tot_bfs",
        "model": "m",
        "evaluator_model": "",
        "settings": effective_settings("tot_bfs", registry.task("game24"), {"breadth": 5}),
        "given": {"breadth": 5},
        "answer": "x",
        "score": 0.0,
        "scores": [0.0, 1.0],
        "usage": {**usage, "dollars": None, "seconds": 1.0},
        "seed": 0,
    }
    rows = [{**row, "id": str(at), "problem": str(at)} for at in range(4)]
    rows[0]["scores"] = [0.0, 0.0]
    text = beside_published(entries(rows))
    assert "## Game of 24: Tree of Thoughts (Yao et al. 2023), table 2" in text
    told = "| ToT (b = 5) | game24 | best | 74 (GPT-4) | 75.0 (m) | 30.1 to 95.4 | 4 |"
    assert told in text, "any of the five outputs"
    assert "| ToT | game24 | prompt tokens | 1400 (GPT-4) | 100.0 (m) |" in text
    assert "| ToT | game24 | completion tokens | 5500 (GPT-4) | 50.0 (m) |" in text
    assert "| ToT | game24 | dollars | 0.74 (GPT-4) | no price |" in text
    priced = [{**row, "usage": {**row["usage"], "dollars": 0.00125}} for row in rows]
    text = beside_published(entries(priced))
    assert "| ToT | game24 | dollars | 0.74 (GPT-4) | 0.0013 (m) |  | 4 |" in text
    assert "| ToT (b = 1) | game24 | best | 45 (GPT-4) | not run |" in text
    rows = [{**row, "settings": {**row["settings"], "temperature": 0.1}}]
    assert not beside_published(entries(rows)), "at another temperature it is no line of the table"


def test_the_figures_of_crosswords_by_hand() -> None:
    gold = "AGEND MOTOR ARTSY SALLE SLEER"
    usage = {"requests": 1, "samples": 2, "prompt_tokens": 1, "completion_tokens": 1, "seconds": 1}
    row = {
        **{"task": "crosswords", "method": "io", "model": "m", "evaluator_model": ""},
        **{"id": "1", "problem": "?", "gold": gold, "given": {}, "settings": {}, "seed": 0},
        "key": "1",
        "answer": gold,
        "candidates": [gold, "BGEND MOTOR ARTSY SALLE SLEER", None],
        "score": 1.0,
        "scores": [1.0, 0.8, 0.0],
        "usage": usage,
        "tree": packed(
            {"0": {"id": "0", "parent": None, "depth": 0, "text": "", "status": "open"}}
        ),
    }
    [entry] = entries([row])
    assert FIGURES["letters"](entry) == [pytest.approx((1 + 24 / 25 + 0) / 3)]
    assert FIGURES["games"](entry) == [pytest.approx(1 / 3)]
    assert FIGURES["best words"](entry) == [0.0], "no board was visited"
    [other] = entries([{**row, "task": "game24"}])
    assert FIGURES["letters"](other) == FIGURES["best games"](other) == []
