"""Recorded GPT-4 runs of the official code, scored again: the official verdicts must come out."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph import registry
from thoughtgraph.bench import report_lines, report_tables
from thoughtgraph.bench.budget import curve
from thoughtgraph.bench.metrics import best_of_k, scores
from thoughtgraph.bench.statistics import mean
from thoughtgraph.nodes.select import best_states
from thoughtgraph.tasks.sections import split

VARIABLE = "THOUGHTGRAPH_REPLAY_LOGS"


def task_of(name) -> Any:
    return registry.task(name)


def logs(pattern):
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"set {VARIABLE} to the folder of recorded runs")
    files = sorted(Path(folder).glob(pattern))
    if not files:
        pytest.skip(f"no {pattern} in ${VARIABLE}")
    return [entry for file in files for entry in json.loads(gzip.decompress(file.read_bytes()))]


def puzzles():
    """The puzzles by number; the logs of plain prompting leave them out."""
    return {entry["idx"]: entry["steps"][0]["x"] for entry in logs("game24_tot_bfs*.json.gz")}


@pytest.mark.parametrize("pattern", ["game24_io*.json.gz", "game24_cot*.json.gz"])
def test_samples_of_game24_score_as_recorded(pattern):
    task, known = task_of("game24"), puzzles()
    for entry in logs(pattern):
        puzzle = known[entry["idx"]]
        recorded = entry.get("accs") or [info["r"] for info in entry["infos"]]
        outputs = task.ask(puzzle, "io", {}).read(entry["ys"])
        ours = scores("game24", puzzle, outputs, None)
        assert ours == [float(right) for right in recorded], entry["idx"]
        assert best_of_k(ours) == float(any(recorded))


def test_plans_and_passages_are_selected_as_recorded():
    for entry in logs("creative_writing_tot*.json.gz"):
        for step in entry["steps"]:
            tree: Any = {str(at): {"value": votes} for at, votes in enumerate(step["values"])}
            kept = [step["new_ys"][int(key)] for key in best_states(tree, list(tree), 1)]
            assert kept == step["select_new_ys"], entry["idx"]


def test_recorded_passages_are_read_whole():
    task = task_of("creative_writing")
    for entry in logs("creative_writing_tot*.json.gz"):
        problem = task.read(entry["steps"][0]["x"])
        plan, passage = (step["select_new_ys"][0] for step in entry["steps"])
        official = passage.split("Passage:\n")[-1].strip()
        path = [*task.sample(problem, [], {}).read([plan])]
        path += task.sample(problem, path, {}).read([passage.removeprefix(plan)])
        assert task.output(problem, path) == official
        assert split(passage, "Passage")[1] == official
        assert task.sample(problem, path[:1], {}).prompt.user.endswith(
            f"{plan.strip()}\n\nPassage:\n"
        )


RECORDED = [
    ("game24_io*.json.gz", "io"),
    ("game24_cot*.json.gz", "cot"),
    ("game24_cot*.json.gz", "cot_sc"),
    ("game24_tot_bfs*.json.gz", "tot_bfs"),
]


def recorded_row(method: str, entry: Any, puzzle: str, before: Any) -> dict[str, Any]:
    """A recorded run as a row of a result folder; its log counts tokens from the first run on."""
    outputs = task_of("game24").ask(puzzle, "io", {}).read(entry["ys"])
    tokens = {
        name: entry["usage_so_far"][name] - before.get(name, 0)
        for name in ("prompt_tokens", "completion_tokens")
    }
    return {
        "task": "game24",
        "method": method,
        "model": "gpt-4",
        "evaluator_model": "",
        "id": str(entry["idx"]),
        "problem": puzzle,
        "given": {},
        "settings": {},
        "seed": 0,
        "answer": outputs[0],
        "candidates": outputs,
        "score": scores("game24", puzzle, outputs, None)[0],
        "scores": scores("game24", puzzle, outputs, None),
        "tree": {},
        "stop_reason": "finished",
        "usage": {"requests": 1, "samples": len(outputs), **tokens, "dollars": None, "seconds": 0},
    }


def report_of(pattern: str, method: str) -> Any:
    known, before = puzzles(), {}
    rows: list[dict[str, Any]] = []
    for entry in logs(pattern):
        rows.append(recorded_row(method, entry, known[entry["idx"]], before))
        before = entry["usage_so_far"]
    (line,) = report_lines.entries(rows)
    return line


@pytest.mark.parametrize(("pattern", "method"), RECORDED)
def test_recorded_runs_give_the_published_figures_through_a_report(pattern, method):
    entries = logs(pattern)
    right = [entry.get("accs") or [info["r"] for info in entry["infos"]] for entry in entries]
    line = report_of(pattern, method)
    assert line.score == pytest.approx(mean([each[0] for each in right])), "the first output"
    assert line.best == pytest.approx(mean([max(each) for each in right])), "any of them"
    (cells,) = [report_tables.cells(entry, [line]) for entry in [line]]
    assert cells["best of k"] == f"{mean([max(each) for each in right]):.1%}"
    assert cells["k"] == f"{len(right[0]):.1f}"


def test_recorded_samples_give_the_curve_of_self_consistency():
    line = report_of("game24_cot*.json.gz", "cot_sc")
    rows, whole = line.rows, max(each.prompt_tokens + each.completion_tokens for each in line.spent)
    one, most = curve(rows, lambda row, answers: [], "tokens", [whole / 20, whole])
    # One vote is the first sample that has an answer: no better than all of them together.
    votes = []
    for row in rows:
        said = [answer for answer in row["candidates"] if answer is not None]
        winner = max(said, key=said.count, default=None)
        votes.append(0.0 if winner is None else row["scores"][row["candidates"].index(winner)])
    assert most == pytest.approx(mean(votes))
    assert one is not None and 0.0 <= one <= 1.0
