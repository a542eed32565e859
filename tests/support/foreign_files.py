"""Readers of files, settings and variables for `support.parsers`, and texts that they accept."""

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from thoughtgraph import registry
from thoughtgraph.bench import scene_data
from thoughtgraph.bench.data import load
from thoughtgraph.bench.data_download import unpack
from thoughtgraph.bench.data_sets import data_set
from thoughtgraph.bench.judging import JUDGED, judgements, with_judgements
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.cli import run_config, view
from thoughtgraph.cli.assignments import assignments
from thoughtgraph.cli.bench_options import ReportOptions
from thoughtgraph.cli.report import report
from thoughtgraph.cli.runs import Runs
from thoughtgraph.cli.viewer.page import page
from thoughtgraph.context import resolve_settings
from thoughtgraph.llm.store import PaidAnswers, SqliteStore, digest
from thoughtgraph.prompts import read_examples
from thoughtgraph.tools.wiki.corpus_files import read_entries
from thoughtgraph.tools.wiki.recordings import WikiCache

Read = Callable[[bytes, Path], object]
"""Reads a text; a folder that is empty is there for files."""

RESULT: Mapping[str, Any] = {
    "key": "k", "id": "1", "seed": 0, "gold": "4", "facts": {"level": "5"}, "data": "d",
    "method": "io", "task": "svamp", "problem": "What is 2 and 2?", "model": "local",
    "evaluator_model": "", "given": {"seed": 0}, "settings": {"seed": 0, "task": "svamp"},
    "answer": "4", "candidates": ["4"], "score": 1.0, "scores": [1.0], "ensembles": {"first": "4"},
    "ensemble_scores": [1.0], "outcome": "x", "stop_reason": "finished", "verified": None,
    "votes": [], "usage": {
        "requests": 1, "samples": 1, "prompt_tokens": 5, "completion_tokens": 5, "dollars": 0.0,
        "seconds": 1.0, "parse_errors": {"generate": 1},
    },
    "tree": {
        "0": {"id": "0", "parent": None, "depth": 0, "text": "", "status": "expanded"},
        "1": {"id": "1", "parent": "0", "depth": 1, "text": "4", "status": "terminal"},
    },
}  # fmt: skip
ANSWER = {"key": "k", "texts": ["a"], "prompt_tokens": 1, "completion_tokens": 1}
PLAN = {
    "format": 7, "run": "r", "begun": "2026", "config": {
        "problem": "4 9 10 13", "method": "io", "task": "game24", "model": "local",
        "evaluator_model": "", "settings": {}, "oracle": False,
    },
}  # fmt: skip
PUBLISHED: Mapping[str, tuple[str, str, str, str | None]] = {
    "game24": ("Rank,Puzzles,AMT (s)\n1,1 1 4 6,4.4\n2,1 1 11 11,4.41\n", "1", "1 1 4 6", None),
    "crosswords": (
        json.dumps([[[f"clue {at}" for at in range(10)], list("abcdefghijklmnopqrstuvwxy")]] * 2),
        "1",
        "\n".join(f"{'hv'[at // 5]}{at % 5 + 1}. clue {at}" for at in range(10)),
        "ABCDE FGHIJ KLMNO PQRST UVWXY",
    ),
    "creative_writing": (
        "A b. C d. E f. G h.\n\nI j. K l. M n. O p.\n",
        "1",
        "A b. C d. E f. G h.",
        None,
    ),
    "gsm8k": (
        '{"question": "How many?", "answer": "1+1=2\\n#### 1,002"}\n'
        '{"question": "And now?", "answer": "#### 3"}\n',
        *("1", "How many?", "1,002"),
    ),
    "svamp": (
        '[{"ID": "c1", "Body": "Ann had 3.", "Question": "How many?", "Answer": 51.0},'
        ' {"ID": "c2", "Body": "Bo had 3", "Question": "How many?", "Answer": 1.0}]',
        *("c1", "Ann had 3. How many?", "51.0"),
    ),
    "aqua": (
        '{"question": "1+1?", "options": ["A)1", "B)2"], "rationale": "", "correct": "B"}\n' * 2,
        *("1", "1+1?\nAnswer choices:\nA) 1\nB) 2", "B"),
    ),
    "math": (
        '{"problem": "Halve 1.", "answer": "\\\\frac12", "unique_id": "t/1", "level": 5}\n'
        '{"problem": "Halve 2.", "solution": "It is $\\\\boxed{1}$."}\n',
        *("t/1", "Halve 1.", r"\frac12"),
    ),
    "theoremqa": (
        '[{"Question": "Which?", "Answer": [0, 5], "id": "a.json"},'
        ' {"Question": "Is it?", "Answer": true, "id": "b.json"}]',
        *("a.json", "Which?", "[0, 5]"),
    ),
    "mmlu": (
        'One?,1,2,3,4,A\n"Two, or more?",1,2,3,4,B\n',
        *("data/1", "One?\nAnswer choices:\nA) 1\nB) 2\nC) 3\nD) 4", "A"),
    ),
    "strategyqa": (
        '[{"qid": "x7", "question": "Is it?", "answer": true},'
        ' {"question": "Or not?", "answer": false}]',
        *("x7", "Is it?", "yes"),
    ),
    "hotpotqa": (
        '[{"_id": "5a8", "question": "Who?", "answer": "Ada", "context": [["T", ["A b."]]]},'
        ' {"question": "When?", "answer": "1815", "context": []}]',
        *("5a8", "Who?", "Ada"),
    ),
    "fever": (
        '{"id": 75397, "label": "SUPPORTS", "claim": "Ada lived.", "evidence": [[]]}\n'
        '{"id": 2, "label": "not enough info", "claim": "Ada had a bicycle."}\n',
        *("75397", "Ada lived.", "SUPPORTS"),
    ),
    "sql": (
        '{"id": "a1", "database": "shop", "problem": "How many?", "gold": ["SELECT 1"]}\n'
        '{"id": "a2", "database": "shop", "problem": "How many?", "gold": ["SELECT 2"]}\n',
        *("a1", '{"question": "How many?", "database": "shop"}', '["SELECT 1"]'),
    ),
}
"""Two problems of a data set as it is published; the first one's id, text and gold answer."""

DATA = {task: text for task, (text, *_) in PUBLISHED.items()}
MEMBERS = {"data/a.csv": b"1,2", "data/b.csv": b"3" * 600}


def _file(folder: Path, name: str, content: bytes) -> Path:
    file = folder / name
    file.write_bytes(content)
    return file


def archive(kind: Literal["tar", "zip"]) -> Read:
    def read(content: bytes, folder: Path) -> object:
        known = {"archive": kind, "members": tuple(MEMBERS)}
        wanted = data_set("mmlu").model_copy(update=known)
        unpack(wanted, _file(folder, "x", content), folder / "made")
        return sorted((folder / "made").iterdir())

    return read


def dataset(task: str) -> Read:
    def read(content: bytes, folder: Path) -> object:
        file = _file(folder, "data.csv", content)
        load(registry.task(task), file)
        return load(registry.task(task), file, paragraphs=task == "hotpotqa")

    return read


def result(content: bytes, folder: Path) -> object:
    return page(view.read(str(_file(folder, "run.json", content))))


def results(content: bytes, folder: Path) -> object:
    _file(folder, "results.jsonl", content)
    ResultFolder(folder).finished()
    report(ReportOptions([str(folder)], by="level"))
    return report(ReportOptions([str(folder)], summaries=str(folder / "summaries"), paper=True))


def judged_runs(content: bytes, folder: Path) -> object:
    _file(folder, JUDGED, content)
    row = {**RESULT, "task": "creative_writing", "score": None}
    return list(with_judgements([row], judgements(folder, "j")))


def paid(content: bytes, folder: Path) -> object:
    file, damage = folder / "run.sqlite", content.decode("utf-8", "replace")
    SqliteStore(file).put("k 0", {"texts": [], "prompt_tokens": 1, "completion_tokens": 1})
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE answers SET answer = ?", (damage,))
    paid = PaidAnswers(file)
    return paid.take("k", 1), paid.unused()


def wiki(content: bytes, folder: Path) -> object:
    file, replayed = folder / "w.sqlite", WikiCache(folder / "w.sqlite", "replay")
    key = digest({"address": "http://127.0.0.1", "parameters": {}})
    text = content.decode("utf-8", "replace")
    SqliteStore(file).put(key, {"texts": [text], "prompt_tokens": 0, "completion_tokens": 0})
    ask: Any = None  # a replay asks nobody
    return replayed.answer("http://127.0.0.1", {}, ask, 0.0)


def run(content: bytes, folder: Path) -> object:
    runs = Runs(folder)
    (runs.path / "r").mkdir()
    _file(runs.path / "r", "run.json", content)
    runs.waiting()
    runs.update("r", why="why")
    return runs.config("r").resolved()


def of_text(read: Callable[[str], object]) -> Read:
    return lambda content, folder: read(content.decode("utf-8", "surrogateescape"))


def environment(variable: str, read: Callable[[], object]) -> Read:
    def reader(content: bytes, folder: Path) -> object:
        # No system has a zero byte in a variable.
        value = content.replace(b"\0", b"").decode("utf-8", "surrogateescape")
        with patch.dict(os.environ, {variable: value}):
            return read()

    return reader


def setting(written: str) -> object:
    given = run_config.given_settings([written])
    return resolve_settings(registry.settings("tot_bfs"), {}, given)


def scenes(name: str) -> Read:
    """Returns the reader of a file of scene questions of that name."""
    return lambda content, folder: scene_data.load_questions(_file(folder, name, content))


def corpus(content: bytes, folder: Path) -> object:
    return list(read_entries(_file(folder, "p.jsonl", content)))


def setting_in_file(content: bytes, folder: Path) -> object:
    return assignments([f"a=@{_file(folder, 'v', content)}"])


def examples(content: bytes, folder: Path) -> object:
    return read_examples(str(_file(folder, "examples", content)))
