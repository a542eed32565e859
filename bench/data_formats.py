"""The public formats of the tasks' data sets, with one loader per format.

A loader yields the texts of each entry unchanged. It raises `KeyError`, `TypeError` or `ValueError`
for an entry that does not have its format.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from thoughtgraph.bench.crossword_scores import rows
from thoughtgraph.bench.scene_data import is_scene_file, load_questions
from thoughtgraph.tasks.answer_text import boxed
from thoughtgraph.tasks.choices import stated
from thoughtgraph.tasks.fever import VERDICTS
from thoughtgraph.tasks.scenes.scenes import question_type


class Record(NamedTuple):
    """One problem of a data set."""

    id: str
    """Its id in the data set: a rank, a line number from 1, or an id of the set's own."""
    problem: str
    """The problem in the task's canonical form."""
    gold: str | None
    """The gold answer as the data set writes it; None where the answer is checked or judged."""
    facts: Mapping[str, str] = {}
    """Other facts in the data set, by which tables group: level, subject, split, type."""


Rows = Iterator[Record]
Loader = Callable[[Path], Rows]


def text_lines(file: Path) -> Rows:
    """Yields one problem per line of text, without gold answers."""
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield Record(str(number), line.strip(), None)


def own_lines(file: Path) -> Rows:
    """Yields one problem per line of JSON: `problem`, and optionally `gold` and `id`."""
    for number, entry in _json_lines(file):
        gold = entry.get("gold")
        problem = entry["problem"]
        text = problem if isinstance(problem, str) else json.dumps(problem)
        yield Record(_id(entry, number, "id"), text, None if gold is None else str(gold))


def _crosswords(file: Path) -> Rows:
    pairs = json.loads(file.read_text(encoding="utf-8-sig"))
    for number, (clues, letters) in enumerate(pairs, 1):
        yield Record(str(number), json.dumps(clues), rows("".join(letters)))


def _game24(file: Path) -> Rows:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for row in csv.DictReader(lines):
            yield Record(row["Rank"], row["Puzzles"], None)


def _creative_writing(file: Path) -> Rows:
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield Record(str(number), line, None)


def _gsm8k(file: Path) -> Rows:
    for number, entry in _json_lines(file):
        gold = as_text(entry["answer"]).rpartition("####")[2].strip()
        yield Record(str(number), entry["question"], gold)


def _strategyqa(file: Path) -> Rows:
    for number, entry in _objects(file):
        if not isinstance(entry["answer"], bool):
            raise TypeError("its answer is neither true nor false")
        gold = "yes" if entry["answer"] else "no"
        yield Record(entry.get("qid", str(number)), entry["question"], gold)


def _svamp(file: Path) -> Rows:
    for _, entry in _objects(file):
        body = as_text(entry["Body"]).strip()
        text = f"{body}{'' if body.endswith('.') else ','} {as_text(entry['Question']).strip()}"
        yield Record(as_text(entry["ID"]), text, str(entry["Answer"]))


def _aqua(file: Path) -> Rows:
    for number, entry in _json_lines(file):
        options = [as_text(option).partition(")")[2] for option in entry["options"]]
        text = stated(as_text(entry["question"]), options)
        yield Record(str(number), text, as_text(entry["correct"]))


def _math(file: Path) -> Rows:
    for number, entry in _json_lines(file):
        gold = entry["answer"] if "answer" in entry else boxed(as_text(entry["solution"]))
        key = entry.get("unique_id", str(number))
        facts = _facts(entry, "level", "subject", "type")
        yield Record(key, entry["problem"], as_text(gold), facts)


def _theoremqa(file: Path) -> Rows:
    for number, entry in _objects(file):
        if not entry.get("Picture"):
            yield Record(entry.get("id", str(number)), entry["Question"], str(entry["Answer"]))


def _mmlu(file: Path) -> Rows:
    subject, _, split = file.stem.rpartition("_")
    published = subject and split in ("test", "dev", "val")
    facts = {"subject": subject, "split": split} if published else {"subject": file.stem}
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for number, row in enumerate(csv.reader(lines), 1):
            question, *options, gold = row
            if gold not in ("A", "B", "C", "D") or len(options) != 4:
                raise ValueError("it has no question, four choices and a letter from A to D")
            yield Record(f"{file.stem}/{number}", stated(question, options), gold, facts)


def _hotpotqa(file: Path) -> Rows:
    for number, entry in _objects(file):
        key, facts = _id(entry, number, "_id", "id"), _facts(entry, "level", "type")
        yield Record(key, as_text(entry["question"]), as_text(entry["answer"]), facts)


def _distractors(file: Path) -> Rows:
    for number, entry in _objects(file):
        # The supporting facts, like the answer, must not reach the model.
        problem = {"question": entry["question"], "context": entry["context"]}
        key, facts = _id(entry, number, "_id", "id"), _facts(entry, "level", "type")
        yield Record(key, json.dumps(problem), as_text(entry["answer"]), facts)


def _fever(file: Path) -> Rows:
    for number, entry in _objects(file):
        if (label := as_text(entry["label"]).upper()) not in VERDICTS:
            raise ValueError(f"its label {label[:40]!r} is none of {', '.join(VERDICTS)}")
        yield Record(_id(entry, number, "id"), as_text(entry["claim"]), label)


def _sql(file: Path) -> Rows:
    """Yields own lines with a `database`, and entries of Spider and BIRD (with BIRD's hint)."""
    if file.is_dir():  # a folder of databases next to the questions
        return
    for number, entry in _objects(file):
        question = as_text(entry["problem"] if "problem" in entry else entry["question"])
        hint = f"\nHint: {entry['evidence']}" if entry.get("evidence") else ""
        name = entry["database"] if "database" in entry else entry.get("db_id", "")
        gold = next((entry[key] for key in ("gold", "query", "SQL") if key in entry), None)
        accepted = [gold] if isinstance(gold, str) else gold
        problem = json.dumps({"question": question + hint, "database": name})
        facts = _facts(entry, "category", "difficulty", "database", "db_id")
        key = _id(entry, number, "id", "question_id")
        yield Record(key, problem, json.dumps(accepted) if accepted else None, facts)


def _scenes(file: Path) -> Rows:
    if is_scene_file(file):  # `load_questions` reads the scenes next to its questions.
        return
    for each in load_questions(file):
        problem = {"question": each.question, "scene": each.scene.to_json()}
        yield Record(
            each.id, json.dumps(problem), each.answer, {"type": question_type(each.question)}
        )


def _facts(entry: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: str(entry[name]) for name in names if name in entry}


def _id(entry: Mapping[str, Any], number: int, *names: str) -> str:
    return next((str(entry[name]) for name in names if name in entry), str(number))


def _objects(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields numbered objects of one JSON list, as data sets publish it, or of lines of JSON."""
    with file.open(encoding="utf-8-sig") as lines:
        is_list = lines.read(1) == "["
    if is_list:
        yield from enumerate(map(_object, json.loads(file.read_text(encoding="utf-8-sig"))), 1)
    else:
        yield from _json_lines(file)


def _json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, _object(json.loads(line))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("it is no object")
    return value


def as_text(value: Any) -> str:
    """Returns a value that must be a text.

    Raises:
        TypeError: The value is not a text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def reason(error: Exception) -> str:
    """Returns, in a few words, why an entry is not a problem."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    return str(error).partition("; ")[0].partition("\n")[0]


LOADERS: Mapping[str, Loader] = {
    "game24": _game24,
    "crosswords": _crosswords,
    "creative_writing": _creative_writing,
    "gsm8k": _gsm8k,
    "svamp": _svamp,
    "aqua": _aqua,
    "math": _math,
    "theoremqa": _theoremqa,
    "mmlu": _mmlu,
    "strategyqa": _strategyqa,
    "hotpotqa": _hotpotqa,
    "fever": _fever,
    "clevr": _scenes,
    "ptr": _scenes,
    "sql": _sql,
}

DISTRACTORS: Mapping[str, Loader] = {"hotpotqa": _distractors}
"""The loaders of problems that include the paragraphs of their question."""

FORMATS: Mapping[str, str] = {
    "game24": "a CSV file with the columns Rank and Puzzles",
    "crosswords": "a JSON list of [ten clues, 25 letters]",
    "creative_writing": "a text file with four sentences a line",
    "gsm8k": 'lines of JSON with "question" and "answer", which ends in "#### number"',
    "svamp": 'a JSON list of objects with "ID", "Body", "Question" and "Answer"',
    "aqua": 'lines of JSON with "question", "options" and "correct"',
    "math": 'lines of JSON with "problem" and "answer" or a "solution" with a boxed one',
    "theoremqa": (
        'a JSON list of objects with "Question" and "Answer" (those with a "Picture" are left out)'
    ),
    "mmlu": "a CSV file without header: question, four choices, letter; a subject is a file",
    "strategyqa": 'a JSON list of objects with "question" and "answer" (true or false)',
    "hotpotqa": 'a JSON list, or lines of JSON, with "question", "answer" and "context"',
    "fever": 'lines of JSON with "claim" and "label" (SUPPORTS, REFUTES or NOT ENOUGH INFO)',
    "sql": 'lines of JSON with "problem", "database" and "gold", or a JSON list of Spider or BIRD',
    **dict.fromkeys(
        ("clevr", "ptr"), 'a JSON file with "questions", whose scenes are in it or beside it'
    ),
}
