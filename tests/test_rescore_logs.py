"""Recorded GPT-4 runs of the official code, scored again: the official verdicts must come out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.command import Command
from support.paper_cells import cells_of
from support.recorded import entries, held, recorded
from support.recorded_rows import MODEL, keep, sampled, spending

from thoughtgraph.bench import report_lines
from thoughtgraph.bench.budget import curve
from thoughtgraph.bench.metrics import best_of_k, scores
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.bench.result_summaries import rescored
from thoughtgraph.nodes.select import best_states
from thoughtgraph.tasks.creative_writing import CreativeWriting
from thoughtgraph.tasks.game24.game24 import Game24
from thoughtgraph.tasks.sections import split

pytestmark = recorded


def puzzles() -> dict[int, str]:
    """The puzzles by number; the logs of plain prompting leave them out."""
    return {entry["idx"]: entry["steps"][0]["x"] for entry in entries("game24_tot_bfs*.json.gz")}


@pytest.mark.parametrize("pattern", ["game24_io*.json.gz", "game24_cot*.json.gz"])
def test_samples_of_game24_score_as_recorded(pattern: str) -> None:
    task, known = Game24(), puzzles()
    for entry in entries(pattern):
        puzzle = known[entry["idx"]]
        verdicts = entry.get("accs") or [info["r"] for info in entry["infos"]]
        outputs = task.ask(puzzle, "io", {}).read(entry["ys"])
        ours = scores("game24", puzzle, outputs, None)
        assert ours == [float(right) for right in verdicts], entry["idx"]
        assert best_of_k(ours) == float(any(verdicts))


def test_plans_and_passages_are_selected_and_read_as_recorded() -> None:
    task = CreativeWriting()
    for entry in entries("creative_writing_tot*.json.gz"):
        for step in entry["steps"]:
            tree: Any = {str(at): {"value": votes} for at, votes in enumerate(step["values"])}
            kept = [step["new_ys"][int(key)] for key in best_states(tree, list(tree), 1)]
            assert kept == step["select_new_ys"], entry["idx"]
        problem = task.read(entry["steps"][0]["x"])
        plan, passage = (step["select_new_ys"][0] for step in entry["steps"])
        official = passage.split("Passage:\n")[-1].strip()
        path: list[Any] = [*task.sample(problem, [], {}).read([plan])]
        path += task.sample(problem, path, {}).read([passage.removeprefix(plan)])
        assert task.output(problem, path) == official
        assert split(passage, "Passage")[1] == official
        asked = task.sample(problem, path[:1], {}).prompt.user
        assert asked.endswith(f"{plan.strip()}\n\nPassage:\n")


@pytest.fixture(scope="module")
def sampled_runs() -> Mapping[str, Mapping[int, Any]]:
    """What our graphs return when the model says what was recorded, by method and number."""
    known = puzzles()
    number = {problem: at for at, problem in known.items()}
    found: dict[str, dict[int, Any]] = {}
    for method in ("io", "cot", "cot_sc"):
        runs = entries(f"game24_{method.removesuffix('_sc')}*.json.gz")
        outs = sampled("game24", method, {known[entry["idx"]]: entry["ys"] for entry in runs})
        found[method] = {number[problem]: out for problem, out in outs.items()}
    return found


class Figures(NamedTuple):
    """Percent of some puzzles."""

    io_mean: float
    io_best: float
    cot_mean: float
    cot_best: float
    cot_sc: float


FIGURES = {
    range(900, 950): Figures(100 * 234 / 5000, 36, 100 * 254 / 5000, 56, 8),
    range(900, 1000): Figures(7.34, 33, 4.03, 49, 9),
}
"""By range: 100 samples a puzzle, any of them, the vote. Of the first 50 puzzles the logs call 234
samples of IO right and 254 of CoT, some of 18 and of 28 puzzles, and the votes of 4."""


@pytest.mark.ci
def test_the_report_of_recorded_samples_has_the_published_figures(
    command: Command, sampled_runs: Mapping[str, Mapping[int, Any]]
) -> None:
    """A sample costs a token here: with k tokens a budget curve has the vote of k samples."""
    told = {"IO prompt": "io", "CoT prompt": "cot", "CoT-SC (k = 100)": "cot_sc"}
    for which, expected in held(FIGURES, sampled_runs["cot"]).items():
        folder = Path(f"puzzles-{which.stop}")
        for method, outs in sampled_runs.items():
            kept = [spending(outs[at], 0, 100) for at in which]
            keep(folder, "game24", method, kept, given={"n_generate": 100})
        code, out, err = command("report", str(folder), "--paper")
        assert code == 0, err
        cells = [each for each in cells_of(out, suite("tot-table2").source) if each.row in told]
        assert {(told[each.row], each.figure): each.ours for each in cells} == {
            ("io", "mean"): f"{expected.io_mean:.1f} ({MODEL})",
            ("io", "best"): f"{expected.io_best:.1f} ({MODEL})",
            ("cot", "mean"): f"{expected.cot_mean:.1f} ({MODEL})",
            ("cot", "best"): f"{expected.cot_best:.1f} ({MODEL})",
            ("cot_sc", "score"): f"{expected.cot_sc:.1f} ({MODEL})",
        }
        assert {each.n for each in cells} == {str(len(which))}
        lines = report_lines.entries(ResultFolder(folder).rows())
        [rows] = [line.rows for line in lines if line.rows[0]["method"] == "cot_sc"]
        one, whole = curve(rows, rescored, "tokens", [1, 100])
        assert one == pytest.approx(expected.cot_mean / 100, abs=5e-5), "a mean over all samples"
        assert whole == expected.cot_sc / 100


@pytest.mark.ci
def test_recorded_tokens_are_those_of_the_published_costs(
    command: Command, sampled_runs: Mapping[str, Mapping[int, Any]]
) -> None:
    """The log of plain prompting counts tokens from the first puzzle on: 1,000 and 1,803 each."""
    kept, before = [], {"prompt_tokens": 0, "completion_tokens": 0}
    for entry in entries("game24_io*_900-949.json.gz"):
        spent = [entry["usage_so_far"][name] - before[name] for name in before]
        kept.append(spending(sampled_runs["io"][entry["idx"]], *spent))
        before = {name: entry["usage_so_far"][name] for name in before}
    keep(Path("io"), "game24", "io", kept, given={"n_generate": 100})
    cells = cells_of(command("report", "io", "--paper")[1], suite("tot-table7").source)
    tokens = {each.figure: each.ours for each in cells if each.row.startswith("IO")}
    assert tokens["prompt tokens"] == f"1,000.0 ({MODEL})", "published: 1.0k"
    assert tokens["completion tokens"] == f"1,803.3 ({MODEL})", "published: 1.8k"
