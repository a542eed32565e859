"""The runs that Tree of Thoughts published, compared at what they cost, on a log made by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.rows import lines_of

from thoughtgraph.bench.papers import recorded_runs
from thoughtgraph.errors import InputError

RIGHT = "Answer: (13 - 9) * (10 - 4) = 24\n"
WRONG = "Answer: 1 + 1 = 24\n"
UNREAD = "I give up.\n"


def run(idx: int, ys: list[str], prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    """A run as the official code writes it; its usage is that of all runs so far."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "cost": 0.0}
    return {"idx": idx, "ys": ys, "usage_so_far": usage, **more}


def steps(puzzle: str) -> dict[str, Any]:
    return {"steps": [{"x": puzzle}]}


SEARCHES = [
    run(900, [UNREAD, RIGHT], 1000, 500, **steps("4 9 10 13")),
    run(901, [WRONG, UNREAD], 3000, 700, **steps("1 1 4 6")),
]
SAMPLES = [
    run(900, [*[WRONG] * 5, *[RIGHT] * 4, UNREAD], 200, 100),
    # The official code was started again here.
    run(901, [UNREAD] * 10, 100, 40),
]


def test_the_recorded_runs_stand_beside_each_other_at_their_own_cost(
    command: Command, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    searches, samples = tmp_path / "tot.json.gz", tmp_path / "cot.json"
    searches.write_bytes(gzip.compress(json.dumps(SEARCHES).encode()))
    samples.write_text(json.dumps(SAMPLES))
    recorded_runs.main([samples, searches], "runs")
    lines = {line.pop("method"): [*line.values()] for line in lines_of(capfd.readouterr().out)}
    told = {name: (right.partition(" ")[0], *cost) for name, (right, *cost) in lines.items()}
    assert told == {
        "one sample": ("20%", "157", "0.005"),
        "vote of 10 samples": ("0%", "220", "0.009"),
        "best of 10 samples (oracle)": ("50%", "220", "0.009"),
        "ToT, first output": ("0%", "1,850", "0.066"),
        "ToT, first output that can be read": ("50%", "1,850", "0.066"),
        "ToT, any output (oracle)": ("50%", "1,850", "0.066"),
    }
    code, out, err = command("report", "runs", "--paper")
    assert code == 0, err
    shown = {line["method"]: line for line in lines_of(out)}
    assert shown["cot_sc (n_generate=10)"]["score"] == "0.0%"
    assert shown["tot_bfs (breadth=2)"]["score"] == "50.0%"
    assert "requests" not in shown["tot_bfs (breadth=2)"], "the logs do not tell them"


def test_what_is_no_log_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text(json.dumps(SAMPLES))
    with pytest.raises(InputError, match="add the log of the searches"):
        recorded_runs.recorded_rows([file])
    for text in ("{", "[1]", '[{"idx": 900}]'):
        file.write_text(text)
        with pytest.raises(InputError, match="is no log of recorded runs"):
            recorded_runs.recorded_rows([file])
