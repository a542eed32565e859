"""The papers' tables: each can be planned, and run with a scripted model to a complete report."""

import json
import os
import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer, Seen
from support.rows import cells_of

from thoughtgraph.bench.paper_figures import FIGURES, RELATIVES
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.papers.suites import names, suite
from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.cli.bench_options import BenchOptions
from thoughtgraph.cli.bench_plan import batches
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
    "sql": "sql/questions_first_half.jsonl",
}
"""Where each data set lies in the folder that the variable names."""
MODEL: dict[str, Any] = {"model": "http://x/v1#x"}


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


def of(name: str, data: Path) -> str:
    """The folder for a suite: the one that asks for all levels has a file of its own."""
    if any(part.data == "hotpotqa" for part in suite(name).parts):
        for file in data.glob("hotpotqa-*"):
            file.unlink()
        (data / "hotpotqa.jsonl").symlink_to(Path(SETS or "") / PLACES["hotpotqa-hard"])
    return str(data)


@pytest.mark.parametrize("name", names())
def test_a_suite_can_be_planned_and_its_numbers_name_their_part_and_model(
    name: str, request: pytest.FixtureRequest
) -> None:
    table = suite(name)
    parts = {part.id for part in table.parts}
    wholes = {each.name for each in table.wholes}
    assert not parts & wholes
    for line in table.rows:
        assert {each.part for each in line.published} <= parts | wholes
        assert all(each.model for each in line.published)
        assert {each.figure for each in line.published} <= FIGURES.keys() | RELATIVES.keys()
        relative = any(each.figure in RELATIVES for each in line.published)
        assert {line.same_run_as, line.relative_to} <= {"", *(each.name for each in table.rows)}
        assert relative == bool(line.relative_to)
    assert table.source.split(",")[0]
    data = of(name, request.getfixturevalue("data"))
    planned = batches(BenchOptions(suite=name, sample=5, data=data, **MODEL))
    assert all(len(batch.records) == 5 and batch.setups for batch in planned)
    for part, batch in zip(table.parts, planned, strict=True):
        kind: Any = part.data.removeprefix("made:")
        if kind != part.data:
            style: Any = part.task
            made = generate(style, kind, 5, part.sample_seed or 0)
            questions = [json.loads(each.problem)["question"] for each in batch.records]
            assert questions == [each.question for each in made]


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
SAMPLES = {
    "tr-table1": {"gsm8k": 0, "svamp": 300, "aqua": 0, "math": 900},
    "tr-table2": {"math5": 324, "theoremqa": 400, "mmlu": 900},
    "tr-table4": {"math": 900, "theoremqa": 400},
    "tr-figure3": {"game24": 0, "gsm8k": 0, "svamp": 300, "aqua": 0, "math": 900},
}


def test_lines_and_samples_are_the_papers() -> None:
    for name, row, settings in BASELINES:
        [line] = [line for line in suite(name).rows if line.name == row]
        assert line.settings == settings, (name, row)
    for name, samples in SAMPLES.items():
        assert {part.id: part.sample for part in suite(name).parts} == samples
    swept = [line.settings for line in suite("itot-table1").rows]
    for setting in ("failure_cost", "value_weight"):
        assert [each[setting] for each in swept if setting in each] == [0.0, 0.5, 2.0]
    for at in range(1, 7):  # Two of nine types are CLEVR's (Tree-of-Mixed-Thought, A.1).
        parts = suite(f"tomt-table{at}").parts
        assert len(parts) == 9
        assert {part.id for part in parts if part.task == "clevr"} == {"long", "logic"}
        assert all(f"{p.task.upper()} questions are not published" in p.note for p in parts)


def comparing(task: str, *methods: str) -> BenchOptions:
    return BenchOptions(suite="comparison", task=task, method=",".join(methods), **MODEL)


REFUSED = [
    (
        BenchOptions(task="game24", settings=["grammar=true"], **MODEL),
        "is known to take a grammar; choose local",
    ),
    (comparing("gsm9k"), "unknown task or set of comparison 'gsm9k'; did you mean 'gsm8k'"),
    (comparing("", "tot_dsf"), "unknown method of comparison 'tot_dsf'; did you mean 'tot_dfs'"),
    (comparing("gsm8k", "rollback"), "no line of 'comparison' has rollback on gsm8k"),
    (BenchOptions(suite="tot-table4", data="none", **MODEL), "must hold one data set 'gsm8k'"),
    (BenchOptions(suite="tot-table4", data="two", **MODEL), "must hold one data set 'gsm8k'"),
    (
        BenchOptions(suite="tot-table2", settings=["nothing=1"], data="data", **MODEL),
        "no method of 'tot-table2' has the setting 'nothing'",
    ),
    (
        BenchOptions(suite="tr-table2", data="data", **MODEL),
        "324 problems of 'math5' are wanted and 60 are there; take fewer with --sample 60",
    ),
]


@pytest.mark.parametrize(("options", "refusal"), REFUSED)
def test_what_a_table_has_not_is_refused(
    options: BenchOptions,
    refusal: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if options.data == "data":
        request.getfixturevalue("data")
    monkeypatch.chdir(tmp_path)
    for file in ("none/other", "two/gsm8k.jsonl", "two/gsm8k_train.jsonl"):
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).touch()
    with pytest.raises(InputError, match=refusal):
        batches(options)


FORMS = [
    "The answer is 5.",
    "Action: Search[Milan]",
    "Thought: I know.\nAction: Finish[yes]",
    "Evaluation score is 0.5",
    "The best choice is 2",
]
"""Answers of every form that a prompt may want."""
WRITTEN = {"coherence", "mean coherence"}
"""Figures that creative writing has from a judge alone."""


def anything(seen: Seen) -> list[str]:
    draws = random.Random(seen.prompt)
    return [draws.choice(FORMS) for _ in range(seen.n)]


# A package that is imported in a thread hides its own warnings, for all threads or for none.
@pytest.mark.filterwarnings("default::DeprecationWarning")
@pytest.mark.ci
@pytest.mark.parametrize("name", ["tot-table3", "tot-table6", "fgdip-table5"])
def test_a_suite_runs_to_a_complete_table(name: str, data: Path, command: Command) -> None:
    """Crosswords, scores by a judge, and questions for tools."""
    table, sample = suite(name), 5
    Path("wiki.json").write_text('[{"title": "Milan", "text": "Milan is a city. It has a tower."}]')
    told = ["--suite", name, "--sample", str(sample), "--data", of(name, data), "--out", "out"]
    told += ["--set", "corpus=wiki.json"] * name.startswith("fgdip")
    with FakeServer(anything) as fake:
        told += ["--set", 'prices={"fake": [1, 2]}', "--model", fake.specifier]
        code, _, err = command("bench", *told, "--limit", "requests=20")
    assert code == 0, err
    rows = list(ResultFolder("out").rows())
    assert not [row["error"] for row in rows if row.get("error")]
    ran = Counter((row["data"], row["method"], of_line(row["given"])) for row in rows)
    assert ran == {
        (part.id, line.method, of_line(line.settings)): sample
        for line in table.rows
        for part in table.parts_of(line)
        if not line.same_run_as
    }
    cells = cells_of(beside_published(entries(rows)), table.source)
    wanting = [each for each in cells if each.ours == "no score"]
    assert wanting == [each for each in cells if each.figure in WRITTEN]
    if wanting:
        with FakeServer(lambda seen: "Thus the coherency score is 7") as judge:
            _, out, _ = command("report", "out", "--paper", "--judge", judge.specifier)
        cells = cells_of(out, table.source)
        assert {c.ours.partition(" ")[0] for c in cells if c.figure in WRITTEN} == {"7.0"}
    for cell in cells:
        assert re.fullmatch(r"[-+]?[\d,.]+ \(http://\S+#fake\)", cell.ours), cell
        assert int(cell.n) >= sample, cell


def of_line(given: Mapping[str, object]) -> str:
    """Settings in words, less what the whole table was told."""
    ours = ("corpus", "limit_requests", "prices")
    return json.dumps({k: v for k, v in given.items() if k not in ours}, sort_keys=True)
