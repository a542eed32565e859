"""Recorded GPT-4 runs of the official code, scored again: the official verdicts must come out."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph import registry
from thoughtgraph.bench.metrics import best_of_k, scores
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
