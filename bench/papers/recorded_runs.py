"""Compares votes and searches among the GPT-4 runs of Game of 24 that Tree of Thoughts published.

    uv run thoughtgraph data get gpt4-cot gpt4-tot --out sets
    uv run python -m thoughtgraph.bench.papers.recorded_runs sets/gpt4-*.json --out runs
    uv run thoughtgraph report runs --paper

Prints the accuracy and the cost of votes and searches. `--out` stores the runs as `bench` would.
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
"""GPT-4's prices per token at that time (`models.py` of the official code)."""
SAMPLES_A_REQUEST = 20
"""Most samples per request of the official code; each request reads the prompt."""
SIZES = (1, 10, 100)
"""Numbers of samples in the table (ours)."""
HEADINGS = ("method", "right (95 %)", "tokens", "dollars")


def recorded_rows(logs: Sequence[Path]) -> list[Row]:
    """Returns the runs of logs as rows.

    Args:
        logs: Log files of the official code, JSON or gzipped JSON. The logs of samples leave out
            the puzzles, so the logs of searches must be among them.

    Raises:
        InputError: A file cannot be read, or no search tells the puzzle of a sample.
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
    """Yields runs with their own usage: logs hold running totals, which a restart sets to 0."""
    previous = dict.fromkeys(DOLLARS, 0)
    for run in runs:
        total = {name: run["usage_so_far"][name] for name in DOLLARS}
        if any(total[name] < previous[name] for name in DOLLARS):
            previous = dict.fromkeys(DOLLARS, 0)
        yield {**run, "usage": {name: total[name] - previous[name] for name in DOLLARS}}
        previous = total


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
            # The logs leave them out.
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
    """Returns the accuracy and cost of votes of k samples, of the best of k and of searches."""
    lines: list[Sequence[str]] = []
    for entry in entries(rows):
        lines += _search_lines(entry) if entry.method == "tot_bfs" else _vote_lines(entry)
    return Table("", HEADINGS, lines)


def _vote_lines(entry: Entry) -> Iterator[Sequence[str]]:
    runs = [points(row) for row in entry.rows]
    for size in [size for size in SIZES if size <= min(map(len, runs))]:
        usages = [_usage_of(row["usage"], size) for row in entry.rows]
        votes = [each[size - 1].score for each in runs]
        yield _line(f"vote of {size} samples" if size > 1 else "one sample", votes, usages)
        if size > 1:
            yield _line(f"best of {size} samples (oracle)", _best_scores(entry, size), usages)


def _search_lines(entry: Entry) -> Iterator[Sequence[str]]:
    usages = [row["usage"] for row in entry.rows]
    yield _line("ToT, first output", _best_scores(entry, 1), usages)
    yield _line("ToT, first output that can be read", [*entry.scores.values()], usages)
    yield _line("ToT, any output (oracle)", _best_scores(entry), usages)


def _best_scores(entry: Entry, size: int | None = None) -> list[float]:
    return [best_of_k(row["scores"], size) for row in entry.rows]


def _usage_of(usage: Mapping[str, float], size: int) -> dict[str, float]:
    """Returns the usage of the first `size` samples."""
    requests, all_requests = (ceil(n / SAMPLES_A_REQUEST) for n in (size, usage["samples"]))
    return {
        "prompt_tokens": usage["prompt_tokens"] * requests / all_requests,
        "completion_tokens": usage["completion_tokens"] * size / usage["samples"],
    }


def _line(name: str, right: Sequence[float], costs: Sequence[Mapping[str, float]]) -> Sequence[str]:
    low, high = interval(right)
    tokens = mean([sum(each[name] for name in DOLLARS) for each in costs])
    accuracy = f"{mean(right):.0%} ({100 * low:.0f}-{high:.0%})"
    return name, accuracy, f"{tokens:,.0f}", f"{mean([*map(_dollars, costs)]):.3f}"


def main(logs: Sequence[Path], out: str) -> None:
    """Prints the table; stores the runs if a folder is named."""
    rows = recorded_rows(logs)
    print(grid(*comparison(rows)[1:]), end="")
    if out:
        folder = ResultFolder(out)
        folder.open()
        finished = folder.finished()
        for row in rows:
            if row["key"] not in finished:
                folder.append(row)
        folder.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--out", default="", help="folder of results for `thoughtgraph report`")
    arguments = parser.parse_args()
    main(arguments.logs, arguments.out)
