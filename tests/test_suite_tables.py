"""Every suite, run with a scripted model: each cell that its table prints has a number."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast, get_args

import pytest
from support.command import Command
from support.fake_server import FakeServer, Reply, Seen
from support.paper_cells import Cell, cells_of
from test_suites import ALL, of
from test_suites import data as data  # a fixture

from thoughtgraph.bench.paper_figures import RELATIVES
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.papers.suites import Suite, suite
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.cli.bench_plan import BenchOptions, left_out
from thoughtgraph.tasks.scenes.scenes import numbered
from thoughtgraph.tools.scenes.vocabulary import Style

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


def judged(command: Command) -> str:
    """The report once a judge has read what was written."""
    with FakeServer(lambda seen: "Thus the coherency score is 7") as judge:
        code, out, err = command("report", "out", "--paper", "--judge", judge.specifier)
    assert code == 0, err
    return out


def sets_of(table: Suite, *, grammar: bool) -> set[tuple[str, str]]:
    """The lines that need a grammar, or all others, with the sets that they are run on."""
    return {
        (line.name, part.id)
        for line in table.rows
        for part in table.parts_of(line)
        if bool(line.settings.get("grammar")) is grammar
    }


# A package that is imported in a thread hides its own warnings, for all threads or for none.
@pytest.mark.filterwarnings("default::DeprecationWarning")
@pytest.mark.ci
@pytest.mark.parametrize("name", ALL)
def test_every_suite_runs_to_a_complete_table(
    name: str, data: Path, tmp_path: Path, command: Command
) -> None:
    table = suite(name)
    (tmp_path / "wiki.json").write_text(json.dumps(WIKI))
    acting = any(part.task in ("hotpotqa", "strategyqa") for part in table.parts)
    pages = ["--set", "corpus=wiki.json"] * (acting and name[:4] in ("itot", "fgdi", "comp"))
    with FakeServer(player(table)) as fake:
        told = ["bench", "--suite", name, "--sample", str(SAMPLE), "--data", str(of(name, data))]
        told += ["--limit", "requests=20", "--model", fake.specifier, "--out", "out", *pages]
        told += ["--set", 'prices={"fake": [1, 2]}']
        code, _, err = command(*told)
    assert code == 0, err
    assert_every_setup_ran_on_five_problems(table)
    cells = cells_of(beside_published(entries(ResultFolder("out").rows())), table.source)
    assert_only_lines_with_a_grammar_are_left_out(table, cells)
    wanting = [each for each in cells if is_judged(table, each)]
    assert [each for each in cells if each.ours == "no score"] == wanting
    if wanting:
        cells = cells_of(judged(command), table.source)
    for cell in cells:
        assert_is_complete(table, cell)
    sevens = [each.ours for each in cells if is_judged(table, each)]
    assert [each.partition(" ")[0] for each in sevens] == ["7.0"] * len(wanting)


def is_judged(table: Suite, cell: Cell) -> bool:
    """Whether a cell has its number from a judge, of what was written, and from nothing else."""
    writing = {part.id for part in table.parts if part.task == "creative_writing"}
    return cell.problems in writing and cell.figure in JUDGED


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
        given = {name: row["given"][name] for name in row["given"] if not _is_told_by_us(name)}
        problems.setdefault((row["data"], row["method"], _text(given)), set()).add(row["id"])
    ran = sets_of(table, grammar=False)
    assert problems.keys() == {
        (part.id, line.method, _text(line.settings))
        for line in table.rows
        for part in table.parts_of(line)
        if not line.same_run_as and (line.name, part.id) in ran
    }
    assert {len(each) for each in problems.values()} == {SAMPLE}


def _is_told_by_us(setting: str) -> bool:
    return setting in ("corpus", "limit_requests", "prices")


def _text(settings: Mapping[str, object]) -> str:
    known = {name: settings[name] for name in settings if not _is_told_by_us(name)}
    return json.dumps(known, sort_keys=True)


def assert_only_lines_with_a_grammar_are_left_out(table: Suite, cells: list[Cell]) -> None:
    """What is not run is what needs a grammar, and the command says so; all else is."""
    missing = {each[:2] for each in cells if each.ours == "not run"}
    assert missing == sets_of(table, grammar=True)
    parts = {part.id for part in table.parts}
    ran = {each[:2] for each in cells if each.problems in parts} - missing
    assert ran == sets_of(table, grammar=False)
    options = BenchOptions(suite=table.id, model="http://x/v1#x")
    assert left_out(options) == sorted({line for line, _ in missing})
    assert bool(missing) == (table.id == "comparison")
