"""The GPT-4 runs that Tree of Thoughts published, as a comparison: Game of 24, votes and search.

    uv run thoughtgraph data get gpt4-cot gpt4-tot --out sets
    uv run python -m thoughtgraph.bench.papers.recorded_runs sets/gpt4-*.json --out runs
    uv run thoughtgraph report runs --paper

Prints what votes and searches solve and cost. With `--out` the runs become results as of `bench`.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, nan
from pathlib import Path
from typing import Any

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.budget import Point, points
from thoughtgraph.bench.metrics import best_of_k, scores
from thoughtgraph.bench.report_lines import Entry, Table, entries
from thoughtgraph.bench.report_tables import grid
from thoughtgraph.bench.result_files import ResultFolder, Row
from thoughtgraph.bench.statistics import interval, mean
from thoughtgraph.errors import InputError
from thoughtgraph.tasks.game24.game24 import Game24
from thoughtgraph.tree import Thought

DOLLARS = {"prompt_tokens": 0.03 / 1000, "completion_tokens": 0.06 / 1000}
"""The price of a token of GPT-4 then (`models.py` of the official code)."""
SAMPLES_A_REQUEST = 20
"""The most samples that the official code asks for at once; each request reads the prompt."""
SIZES = (1, 10, 100)
"""Numbers of samples that are shown (ours)."""
HEADINGS = ("method", "right (95 %)", "tokens", "dollars")


def recorded_rows(logs: Sequence[Path]) -> list[Row]:
    """Returns the runs of logs, as results.

    Args:
        logs: Files of the official code, JSON or packed with gzip. Those of samples leave out what
            the puzzles are: those of searches tell it.

    Raises:
        InputError: A file cannot be read, or there is no search of a puzzle.
    """
    runs = [run for each in logs for run in _priced(_read(each))]
    puzzles = {run["idx"]: run["steps"][0]["x"] for run in runs if "steps" in run}
    if unknown := [run["idx"] for run in runs if run["idx"] not in puzzles]:
        raise InputError(f"no log says what puzzle {unknown[0]} is; add the log of the searches")
    return [_row(run, puzzles[run["idx"]]) for run in runs]


def _read(log: Path) -> list[dict[str, Any]]:
    try:
        content = log.read_bytes()
        runs = json.loads(gzip.decompress(content) if log.suffix == ".gz" else content)
        return [{**run, "ys": run["ys"], "usage_so_far": run["usage_so_far"]} for run in runs]
    except (OSError, EOFError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{str(log)!r} is no log of recorded runs: {error!r}") from error


def _priced(runs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields runs with their own usage: logs add it up, from nothing again after a restart."""
    before = dict.fromkeys(DOLLARS, 0)
    for run in runs:
        total = {name: run["usage_so_far"][name] for name in DOLLARS}
        if any(total[name] < before[name] for name in DOLLARS):
            before = dict.fromkeys(DOLLARS, 0)
        yield {**run, "usage": {name: total[name] - before[name] for name in DOLLARS}}
        before = total


def _row(run: Mapping[str, Any], puzzle: str) -> Row:
    task, searched = registry.task("game24"), "steps" in run
    read = Game24().ask(puzzle, "cot", {}).read
    outputs = [_output(text) for text in run["ys"]] if searched else [*read(run["ys"])]
    votes = Counter(answer for answer in outputs if answer is not None)
    answer = max(votes, key=lambda each: 0 if searched else votes[each], default=None)
    method = "tot_bfs" if searched else "cot_sc"
    settings = {"breadth" if searched else "n_generate": len(outputs)}
    tokens, dollars = sum(run["usage"].values()), _dollars(run["usage"])
    row: Row = {
        "key": f"gpt-4-{method}-{run['idx']}",
        "id": str(run["idx"] + 1),
        "seed": 0,
        "data": "game24",
        "task": "game24",
        "method": method,
        "problem": puzzle,
        "model": "gpt-4",
        "evaluator_model": "",
        "given": settings,
        "settings": effective_settings(method, task, settings),
        "answer": answer,
        "candidates": outputs,
        "score": scores("game24", puzzle, [answer], None)[0],
        "scores": scores("game24", puzzle, outputs, None),
        "usage": {
            **run["usage"],
            "dollars": dollars,
            "samples": len(outputs),
            "calls": ceil(len(outputs) / SAMPLES_A_REQUEST),
            # The logs do not tell them.
            **dict.fromkeys(("requests", "seconds"), nan),
        },
    }
    end = Point({"tokens": tokens, "dollars": dollars}, row["score"])
    return {**row, "points": [end] if searched else points(row)}


def _output(text: str) -> str | None:
    return Game24().output("", [Thought(text=text)])


def _dollars(usage: Mapping[str, float]) -> float:
    return sum(price * usage[name] for name, price in DOLLARS.items())


def comparison(rows: Iterable[Row]) -> Table:
    """Returns what votes of k samples, the best of k and the searches solve and cost."""
    made: list[Sequence[str]] = []
    for entry in entries(rows):
        made += _searches(entry) if entry.method == "tot_bfs" else _votes(entry)
    return Table("", HEADINGS, made)


def _votes(entry: Entry) -> Iterator[Sequence[str]]:
    reached = [points(row) for row in entry.rows]
    for size in [size for size in SIZES if size <= min(map(len, reached))]:
        spent = [_part(row["usage"], size) for row in entry.rows]
        voted = [each[size - 1].score for each in reached]
        yield _line(f"vote of {size} samples" if size > 1 else "one sample", voted, spent)
        if size > 1:
            yield _line(f"best of {size} samples (oracle)", _best(entry, size), spent)


def _searches(entry: Entry) -> Iterator[Sequence[str]]:
    spent = [row["usage"] for row in entry.rows]
    yield _line("ToT, first output", _best(entry, 1), spent)
    yield _line("ToT, first output that can be read", [*entry.scores.values()], spent)
    yield _line("ToT, any output (oracle)", _best(entry), spent)


def _best(entry: Entry, size: int | None = None) -> list[float]:
    return [best_of_k(row["scores"], size) for row in entry.rows]


def _part(usage: Mapping[str, float], size: int) -> dict[str, float]:
    """Returns what some of the samples cost."""
    requests, all_requests = (ceil(n / SAMPLES_A_REQUEST) for n in (size, usage["samples"]))
    return {
        "prompt_tokens": usage["prompt_tokens"] * requests / all_requests,
        "completion_tokens": usage["completion_tokens"] * size / usage["samples"],
    }


def _line(name: str, right: Sequence[float], spent: Sequence[Mapping[str, float]]) -> Sequence[str]:
    low, high = interval(right)
    tokens = mean([sum(each[name] for name in DOLLARS) for each in spent])
    told = f"{mean(right):.0%} ({100 * low:.0f}-{high:.0%})"
    return name, told, f"{tokens:,.0f}", f"{mean([*map(_dollars, spent)]):.3f}"


def main(logs: Sequence[Path], out: str) -> None:
    """Prints the table, and keeps the runs where a folder is named."""
    rows = recorded_rows(logs)
    print(grid(*comparison(rows)[1:]), end="")
    if out:
        folder = ResultFolder(out)
        folder.open()
        known = folder.finished()
        for row in rows:
            if row["key"] not in known:
                folder.append(row)
        folder.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--out", default="", help="folder of results for `thoughtgraph report`")
    arguments = parser.parse_args()
    main(arguments.logs, arguments.out)
