"""Problems with their gold answers, from a file the user names. Gold answers stay in this layer."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os.path import expanduser
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

from thoughtgraph.bench import crossword_scores
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.task import Task
from thoughtgraph.tasks.choices import stated
from thoughtgraph.tasks.fever import VERDICTS
from thoughtgraph.tasks.game24.game24 import puzzles
from thoughtgraph.tasks.math import boxed
from thoughtgraph.tools.scenes.vocabulary import Style


class Record(NamedTuple):
    """One problem of a data set."""

    id: str
    """Its name in the data set: a rank, a line number counted from 1, or the set's own id."""
    problem: str
    """The problem in the task's canonical form."""
    gold: str | None
    """The gold answer as the data set writes it; None where the answer is checked or judged."""
    facts: Mapping[str, str] = {}
    """What else the data set says of it, by which tables group: level, subject, type."""


Rows = Iterator[Record]
Loader = Callable[[Path], Rows]


def load(task: Task, path: str | Path, *, paragraphs: bool = False) -> list[Record]:
    """Reads a data set in its public format.

    Args:
        task: The task.
        path: The file, or a folder of nothing else, in the public format of the task's data set;
            or, for any task, lines of JSON with `problem`, and `gold` and `id` where there are
            such.
        paragraphs: Whether the paragraphs that come with a question are part of the problem
            (HotpotQA's "distractor" setting): then they are the pages of a run without a `corpus`.

    Raises:
        InputError: The file cannot be read, or an entry of it is no problem of the task.
    """
    if paragraphs and task.id not in DISTRACTORS:
        raise InputError(f"the questions of {task.id!r} have no paragraphs; those of hotpotqa have")
    source = Path(expanduser(path))
    records: list[Record] = []
    try:
        # A data set of several files, such as MMLU's subjects, is a folder.
        for file in sorted(source.iterdir()) if source.is_dir() else [source]:
            rows = DISTRACTORS[task.id] if paragraphs else _loader(task, file)
            for record in rows(file):
                records.append(record._replace(problem=task.read(_text(record.problem))))
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r} ({error.strerror}); name a file for {task.id!r}"
        ) from error
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        # InputError is a ValueError: a problem the task refuses is reported with its place.
        raise InputError(
            f"entry {len(records) + 1} of {str(path)!r} is no {task.id} problem: {_why(error)}; "
            f"expected {_expected(task)}"
        ) from error
    if not records:
        raise InputError(f"{str(path)!r} holds no problems; expected {_expected(task)}")
    return records


def found(folder: str | Path, name: str) -> Path:
    """Returns the file, or folder, of a data set in a folder of data sets: its name begins so.

    Args:
        folder: The folder.
        name: The data set's name, such as `gsm8k`, for which `gsm8k_test.jsonl` is taken.

    Raises:
        InputError: There is none, or several.
    """
    try:
        there = sorted(Path(expanduser(folder)).iterdir())
    except OSError as error:
        raise InputError(
            f"cannot read {str(folder)!r} ({error.strerror}); name a folder of data sets"
        ) from error
    fitting = [path for path in there if _begins(path.name.lower().replace("_", "-"), name)]
    if len(fitting) != 1:
        names = ", ".join(path.name for path in fitting) or "none"
        raise InputError(
            f"{str(folder)!r} must hold one data set {name!r}, and has {names}; name it {name}.… "
            "or give another --data"
        )
    return fitting[0]


def _begins(file: str, name: str) -> bool:
    # The word must end there: `math` is no beginning of `mathematics`.
    name = name.replace("_", "-")
    return file.startswith(name) and not file[len(name) : len(name) + 1].isalpha()


def where(records: Sequence[Record], facts: Mapping[str, str]) -> list[Record]:
    """Returns the records of which a data set says all this, such as `level=5`.

    Raises:
        InputError: It says nothing of the kind of any.
    """
    kept = [each for each in records if facts.items() <= each.facts.items()]
    if not kept:
        said = {f"{name}={value}" for each in records for name, value in each.facts.items()}
        known = sorted(said)
        asked = ", ".join(f"{name}={value}" for name, value in facts.items())
        raise InputError(f"no problem has {asked}; known: {', '.join(known[:12]) or 'nothing'}")
    return kept


def generated(
    task: Task, types: Sequence[str] = (), count: int = 100, seed: int = 0
) -> list[Record]:
    """Returns problems that need no data set: all solvable Game-of-24 puzzles, or scene questions.

    Args:
        task: The task.
        types: Types of scene questions, such as `sum`; none: all.
        count: How many questions of each type.
        seed: What they are drawn from.

    Raises:
        InputError: The task's problems cannot be made up, or there is no such type.
    """
    if task.id == "game24":
        return [Record(str(at), puzzle, None) for at, puzzle in enumerate(puzzles(), 1)]
    if task.id not in get_args(Style):
        raise InputError(f"name a file of problems with --data: {_expected(task)}")
    known = get_args(Type)
    for name in types:
        if name not in known:
            raise UnknownName("type of question", name, known)
    style = cast("Style", task.id)
    made = (generate(style, cast("Type", kind), count, seed) for kind in types or known)
    return [
        Record(each.id, task.read(each.problem()), each.answer, _of_scene(each))
        for group in made
        for each in group
    ]


def _of_scene(question: SceneQuestion) -> dict[str, str]:
    return {"type": question.type, "hop": str(question.hop)}


def _loader(task: Task, file: Path) -> Loader:
    """Returns what reads a file: any task's own lines are known by what the first one holds."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError, RecursionError):
        first = None
    own = isinstance(first, dict) and {"problem", "gold"} <= set(first)
    return _own if own or task.id not in LOADERS else LOADERS[task.id]


def _expected(task: Task) -> str:
    own = 'lines of JSON with "problem", and "gold" where the answer is known'
    return f"{FORMATS[task.id]}, or {own}" if task.id in FORMATS else own


def _own(file: Path) -> Rows:
    for number, entry in _json_lines(file):
        gold = entry.get("gold")
        problem = entry["problem"]
        asked = problem if isinstance(problem, str) else json.dumps(problem)
        yield Record(_id(entry, number, "id"), asked, None if gold is None else str(gold))


def _crosswords(file: Path) -> Rows:
    for number, puzzle in enumerate(crossword_scores.load(file), 1):
        yield Record(str(number), puzzle.problem, puzzle.gold)


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
        gold = _text(entry["answer"]).rpartition("####")[2].strip()
        yield Record(str(number), entry["question"], gold)


def _strategyqa(file: Path) -> Rows:
    for number, entry in enumerate(_entries(json.loads(file.read_text(encoding="utf-8-sig"))), 1):
        if not isinstance(entry["answer"], bool):
            raise TypeError("its answer is neither true nor false")
        gold = "yes" if entry["answer"] else "no"
        yield Record(entry.get("qid", str(number)), entry["question"], gold)


def _svamp(file: Path) -> Rows:
    for entry in _entries(json.loads(file.read_text(encoding="utf-8-sig"))):
        body = _text(entry["Body"]).strip()
        asked = f"{body}{'' if body.endswith('.') else ','} {_text(entry['Question']).strip()}"
        yield Record(_text(entry["ID"]), asked, str(entry["Answer"]))


def _aqua(file: Path) -> Rows:
    for number, entry in _json_lines(file):
        options = [_text(option).partition(")")[2] for option in entry["options"]]
        asked = stated(_text(entry["question"]), options)
        yield Record(str(number), asked, _text(entry["correct"]))


def _math(file: Path) -> Rows:
    for number, entry in _json_lines(file):
        gold = entry["answer"] if "answer" in entry else boxed(_text(entry["solution"]))
        key = entry.get("unique_id", str(number))
        facts = _facts(entry, "level", "subject", "type")
        yield Record(key, entry["problem"], _text(gold), facts)


def _theoremqa(file: Path) -> Rows:
    for number, entry in enumerate(_entries(json.loads(file.read_text(encoding="utf-8-sig"))), 1):
        yield Record(entry.get("id", str(number)), entry["Question"], str(entry["Answer"]))


def _mmlu(file: Path) -> Rows:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for number, row in enumerate(csv.reader(lines), 1):
            question, *options, gold = row
            if gold not in ("A", "B", "C", "D") or len(options) != 4:
                raise ValueError("it has no question, four choices and a letter from A to D")
            facts = {"subject": file.stem}
            yield Record(f"{file.stem}/{number}", stated(question, options), gold, facts)


def _hotpotqa(file: Path) -> Rows:
    for number, entry in _objects(file):
        key, facts = _id(entry, number, "_id", "id"), _facts(entry, "level", "type")
        yield Record(key, _text(entry["question"]), _text(entry["answer"]), facts)


def _distractors(file: Path) -> Rows:
    for number, entry in _objects(file):
        # What says which paragraphs matter stays here, as the answer does.
        given = {"question": entry["question"], "context": entry["context"]}
        key, facts = _id(entry, number, "_id", "id"), _facts(entry, "level", "type")
        yield Record(key, json.dumps(given), _text(entry["answer"]), facts)


def _fever(file: Path) -> Rows:
    for number, entry in _objects(file):
        if (label := _text(entry["label"]).upper()) not in VERDICTS:
            raise ValueError(f"its label {label[:40]!r} is none of {', '.join(VERDICTS)}")
        yield Record(_id(entry, number, "id"), _text(entry["claim"]), label)


def _facts(entry: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: str(entry[name]) for name in names if name in entry}


def _id(entry: Mapping[str, Any], number: int, *names: str) -> str:
    return next((str(entry[name]) for name in names if name in entry), str(number))


def _objects(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads one JSON list, as the data sets are published, or one object a line."""
    with file.open(encoding="utf-8-sig") as lines:
        listed = lines.read(1) == "["
    if listed:
        yield from enumerate(_entries(json.loads(file.read_text(encoding="utf-8-sig"))), 1)
    else:
        yield from _json_lines(file)


def _json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, _object(json.loads(line))


def _entries(value: Any) -> Iterable[dict[str, Any]]:
    if not isinstance(value, list):
        raise TypeError("the file is no list")
    return map(_object, value)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("it is no object")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _why(error: Exception) -> str:
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
}

DISTRACTORS: Mapping[str, Loader] = {"hotpotqa": _distractors}
"""The loaders that keep the paragraphs that come with a question."""

FORMATS: Mapping[str, str] = {
    "game24": "a CSV file with the columns Rank and Puzzles",
    "crosswords": "a JSON list of [ten clues, 25 letters]",
    "creative_writing": "a text file with four sentences a line",
    "gsm8k": 'lines of JSON with "question" and "answer", which ends in "#### number"',
    "svamp": 'a JSON list of objects with "ID", "Body", "Question" and "Answer"',
    "aqua": 'lines of JSON with "question", "options" and "correct"',
    "math": 'lines of JSON with "problem" and "answer" or a "solution" with a boxed one',
    "theoremqa": 'a JSON list of objects with "Question" and "Answer"',
    "mmlu": "a CSV file without header: question, four choices, letter; a subject is a file",
    "strategyqa": 'a JSON list of objects with "question" and "answer" (true or false)',
    "hotpotqa": 'a JSON list, or lines of JSON, with "question", "answer" and "context"',
    "fever": 'lines of JSON with "claim" and "label" (SUPPORTS, REFUTES or NOT ENOUGH INFO)',
}
