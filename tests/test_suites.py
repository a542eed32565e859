"""The papers' tables: each can be planned, and run with a scripted model to a complete report."""

import json
import os
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import pytest
from support.command import Command
from support.fake_server import FakeServer, Reply, Seen
from support.paper_cells import Cell, cells_of

from thoughtgraph.bench.paper_figures import RELATIVES
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.papers.suites import Suite, names, suite
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.cli.bench_plan import BenchOptions, batches, left_out
from thoughtgraph.errors import InputError
from thoughtgraph.tasks.scenes.scenes import numbered
from thoughtgraph.tools.scenes.vocabulary import Style

ALL = names()
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
PLANS = ["ToT of plans", "ToT-Block", "ToT-OS", "adaptive", "one-stop plans"]
HELD = [f"{name}, grammar" for name in [*PLANS, "repeated one-stop plans"]]
"""Lines that need a server which takes a grammar."""
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


def test_every_table_of_the_five_papers_has_a_suite_and_so_has_ours() -> None:
    wanted = {"tot": range(2, 9), "tomt": range(1, 7), "tr": range(1, 5), "itot": [1]}
    wanted["fgdip"] = [1, 2, 3, 5]
    figures = {"tot-figure3", "tot-figure5", "tr-figure3", "fgdip-ablations"}
    tables = {f"{paper}-table{at}" for paper, each in wanted.items() for at in each}
    assert {*ALL} == tables | figures | {"comparison"}


@pytest.mark.parametrize("name", ALL)
def test_a_suite_can_be_planned_and_its_numbers_name_their_part_and_model(
    name: str, data: Path
) -> None:
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
    planned = batches(BenchOptions(suite=name, sample=5, data=of(name, data), **MODEL))
    assert len(planned) == len(table.parts)
    assert all(len(batch.records) == 5 and batch.setups for batch in planned)


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


DAGGERS = {
    ("ZeroShot", "svamp", "GPT-4"),
    ("ZeroShot", "math", "GPT-3.5"),
    ("ZeroShot-CoT", "gsm8k", "GPT-4"),
    ("ZeroShot-CoT", "svamp", "GPT-4"),
    ("ZeroShot-CoT", "math", "GPT-3.5"),
}
"""The cells of table 1's zero-shot rows that have a dagger (Thought Rollback, section 5)."""


def test_a_cell_that_a_paper_quotes_is_marked() -> None:
    for line in suite("tr-table1").rows:
        for each in line.published:
            own = not line.name.startswith("ZeroShot")
            own = own or (line.name, each.part, each.model) in DAGGERS
            assert each.note == ("" if own else "quoted from other work"), (line.name, each)
    changes = [each for line in suite("tr-table4").rows for each in line.published]
    changes = [each for each in changes if each.figure == "score change"]
    marked = [each.part for each in changes if "44.7, which table 1 quotes" in each.note]
    assert marked == ["math"] * 3


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
    ("model", "server", "left"),
    [("http://x/v1#x", "", HELD), ("local", "", []), ("served", "http://x", [])],
)
def test_lines_that_a_model_is_not_known_to_take_are_left_out(
    model: str, server: str, left: list[str]
) -> None:
    options = BenchOptions(suite="comparison", task="sum", model=model, server=server)
    [batch] = batches(options)
    assert left_out(options) == left
    assert len(batch.setups) == 8 - len(left)


def comparing(task: str, *methods: str) -> BenchOptions:
    return BenchOptions(suite="comparison", task=task, methods=methods, **MODEL)


REFUSED = [
    (
        BenchOptions(task="game24", settings=["grammar=true"], **MODEL),
        "is known to take a grammar; choose local",
    ),
    (
        comparing("gsm9k"),
        "unknown task or set of comparison 'gsm9k'; did you mean 'gsm8k'",
    ),
    (comparing("", "fgdib"), "unknown method of comparison 'fgdib'; did you mean 'fgdip'"),
    (comparing("game24", "fgdip"), "no line of 'comparison' has fgdip on game24"),
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
    options: BenchOptions, refusal: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    for file in ("none/other", "two/gsm8k.jsonl", "two/gsm8k_train.jsonl"):
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).touch()
    with pytest.raises(InputError, match=refusal):
        batches(options)


SAMPLE = 5
WIKI = [{"title": "Milan", "text": "Milan is a city. It has a tower."}]
FORMS = [
    "The answer is 5.",
    "The final solution is 5.",
    "Step 1: there are 5.",
    "1 + 2 = 3 (left: 3 4 5)",
    "Action: Search[Milan]",
    "Thought: I know.\nAction: Finish[yes]",
    "sure",
    "Evaluation score is 0.5",
    "The best choice is 2",
    "obj1 = filter_category(objects, chair)\nans = count(obj1)",
    "Bad step index: none",
]
"""Answers of every form that a prompt may want."""
JUDGED = {"score", "mean", "best", "coherence", "mean coherence"}
"""Figures that creative writing has from a judge alone."""


class Known(NamedTuple):
    """How a model plans for a question."""

    plan: Sequence[str]
    at_once: int
    """How many steps it writes each time that it is asked."""


def player(table: Suite) -> Reply:
    """A model that plans right for scene questions, mostly, and has nothing to say of others."""
    known = dict(_known(table))

    def reply(seen: Seen) -> list[str]:
        asked, _, answer = seen.prompt.rpartition("Question: ")[2].partition("\n")
        if asked in known:
            plan, at_once = known[asked]
            return [numbered(plan[: answer.count("Step ") + at_once])] * seen.n
        draws = random.Random(seen.prompt)
        return [draws.choice(FORMS) for _ in range(seen.n)]

    return reply


def _known(table: Suite) -> Iterator[tuple[str, Known]]:
    """Of every other set a question is not known, and one is solved in steps of two.

    So neither scores nor calls are the same for all sets, and what goes with them can be told.
    """
    for at, part in enumerate(table.parts):
        if part.task in get_args(Style):
            kind, seed = part.data.removeprefix("made:"), part.sample_seed or 0
            first, *others = generate(cast("Style", part.task), cast("Type", kind), SAMPLE, seed)
            for each in others if at % 2 else [first, *others]:
                halting = at % 2 and each is others[0]
                yield each.question, Known(each.plan, 2 if halting else len(each.plan))


RUN = ("tot-table3", "tot-table6", "fgdip-table5")
"""Crosswords, scores by a judge, and questions for tools."""


# A package that is imported in a thread hides its own warnings, for all threads or for none.
@pytest.mark.filterwarnings("default::DeprecationWarning")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.ci if n in RUN else pytest.mark.slow) for n in ALL],
)
def test_a_suite_runs_to_a_complete_table(
    name: str, data: Path, tmp_path: Path, command: Command
) -> None:
    table = suite(name)
    (tmp_path / "wiki.json").write_text(json.dumps(WIKI))
    acting = any(part.task in ("hotpotqa", "strategyqa") for part in table.parts)
    pages = ["--set", "corpus=wiki.json"] * (acting and name[:4] in ("itot", "fgdi", "comp"))
    with FakeServer(player(table)) as fake:
        told = ["bench", "--suite", name, "--sample", str(SAMPLE), "--data", of(name, data)]
        told += ["--limit", "requests=20", "--model", fake.specifier, "--out", "out", *pages]
        code, _, err = command(*told, "--set", 'prices={"fake": [1, 2]}')
    assert code == 0, err
    assert_every_setup_ran_on_five_problems(table)
    cells = cells_of(beside_published(entries(ResultFolder("out").rows())), table.source)
    assert_only_lines_with_a_grammar_are_left_out(table, cells)
    writing = {part.id for part in table.parts if part.task == "creative_writing"}
    judged = [at for at, c in enumerate(cells) if c.problems in writing and c.figure in JUDGED]
    assert [at for at, each in enumerate(cells) if each.ours == "no score"] == judged
    if judged:
        with FakeServer(lambda seen: "Thus the coherency score is 7") as judge:
            _, out, _ = command("report", "out", "--paper", "--judge", judge.specifier)
        cells = cells_of(out, table.source)
    for cell in cells:
        assert_is_complete(table, cell)
    assert {cells[at].ours.partition(" ")[0] for at in judged} <= {"7.0"}


def sets_of(table: Suite, *, grammar: bool) -> set[tuple[str, str]]:
    """The lines that need a grammar, or all others, with the sets that they are run on."""
    return {
        (line.name, part.id)
        for line in table.rows
        for part in table.parts_of(line)
        if bool(line.settings.get("grammar")) is grammar
    }


def assert_is_complete(table: Suite, cell: Cell) -> None:
    """A cell of a line that was run has a number, of at least five problems where it counts any."""
    if cell[:2] in sets_of(table, grammar=True):
        return
    assert re.fullmatch(r"[-+]?[\d,.]+ \(http://\S+#fake\)", cell.ours), cell
    whole = cell.problems in {each.name for each in table.wholes}
    if whole or cell.figure in RELATIVES:
        assert cell.n == "", cell
    else:
        assert int(cell.n) >= SAMPLE, cell


def assert_every_setup_ran_on_five_problems(table: Suite) -> None:
    """Of each line and set that is run by itself there are rows of five problems, none failed."""
    problems: dict[tuple[str, str, str], set[str]] = {}
    for row in ResultFolder("out").rows():
        assert not row.get("error"), row["error"]
        setup = (row["data"], row["method"], _text(row["given"]))
        problems.setdefault(setup, set()).add(row["id"])
    ran = sets_of(table, grammar=False)
    assert problems.keys() == {
        (part.id, line.method, _text(line.settings))
        for line in table.rows
        for part in table.parts_of(line)
        if not line.same_run_as and (line.name, part.id) in ran
    }
    assert {len(each) for each in problems.values()} == {SAMPLE}


def _text(settings: Mapping[str, object]) -> str:
    ours = ("corpus", "limit_requests", "prices")
    return json.dumps({k: v for k, v in settings.items() if k not in ours}, sort_keys=True)


def assert_only_lines_with_a_grammar_are_left_out(table: Suite, cells: list[Cell]) -> None:
    """What is not run is what needs a grammar, and the command says so; all else is."""
    missing = {each[:2] for each in cells if each.ours == "not run"}
    assert missing == sets_of(table, grammar=True)
    parts = {part.id for part in table.parts}
    ran = {each[:2] for each in cells if each.problems in parts} - missing
    assert ran == sets_of(table, grammar=False)
    options = BenchOptions(suite=table.id, **MODEL)
    assert left_out(options) == sorted({line for line, _ in missing})
    assert bool(missing) == (table.id == "comparison")
