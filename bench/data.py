"""Loads problems with their gold answers from the user's files; gold answers stay in this layer."""

import csv
import json
from collections.abc import Mapping, Sequence
from os.path import expanduser
from pathlib import Path
from typing import cast, get_args

from thoughtgraph.bench.data_formats import (
    DISTRACTORS,
    FORMATS,
    LOADERS,
    Loader,
    Record,
    as_text,
    own_lines,
    reason,
    text_lines,
)
from thoughtgraph.bench.questions.game24_puzzles import puzzles
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.task import Task
from thoughtgraph.tasks.scenes.scenes import uses_paper_tools
from thoughtgraph.tools.scenes.vocabulary import Style


def load(task: Task, path: str | Path, *, paragraphs: bool = False) -> list[Record]:
    """Reads a data set in its public format.

    Args:
        task: The task.
        path: A file in the public format of the task's data set, or a folder that holds only such
            files. Any task accepts lines of JSON with `problem`, and optionally `gold` and `id`.
        paragraphs: Whether the paragraphs that come with a question are part of the problem
            (HotpotQA's "distractor" setting). A run without a `corpus` uses them as its pages.

    Raises:
        InputError: The file cannot be read, or an entry is not a problem of the task.
    """
    if paragraphs and task.id not in DISTRACTORS:
        raise InputError(f"the questions of {task.id!r} have no paragraphs; those of hotpotqa have")
    return _read(task, path, DISTRACTORS[task.id] if paragraphs else None)


def _read(task: Task, path: str | Path, loader: Loader | None) -> list[Record]:
    source = Path(expanduser(path))
    records: list[Record] = []
    try:
        # A data set of several files, such as MMLU's subjects, is a folder.
        for file in sorted(source.iterdir()) if source.is_dir() else [source]:
            for record in (loader or _loader(task, file))(file):
                records.append(record._replace(problem=task.read(as_text(record.problem))))
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r} ({error.strerror}); name a file for {task.id!r}"
        ) from error
    except (KeyError, TypeError, ValueError, csv.Error, RecursionError) as error:
        # InputError is a ValueError: a problem that the task refuses is reported here, too.
        raise InputError(
            f"entry {len(records) + 1} of {str(path)!r} is no {task.id} problem: {reason(error)}; "
            f"expected {_format_of(task)}"
        ) from error
    if not records:
        raise InputError(f"{str(path)!r} holds no problems; expected {_format_of(task)}")
    return records


def set_file(folder: str | Path, name: str) -> Path:
    """Returns the only file or subfolder whose name begins with the name of a data set.

    Args:
        folder: A folder of data sets.
        name: The data set's name, such as `gsm8k`, which matches `gsm8k_test.jsonl`.

    Raises:
        InputError: The folder cannot be read, or holds none or several.
    """
    try:
        entries = sorted(Path(expanduser(folder)).iterdir())
    except OSError as error:
        raise InputError(
            f"cannot read {str(folder)!r} ({error.strerror}); name a folder of data sets"
        ) from error
    matches = [path for path in entries if _begins_with(path.name.lower().replace("_", "-"), name)]
    if len(matches) != 1:
        names = ", ".join(path.name for path in matches) or "none"
        raise InputError(
            f"{str(folder)!r} must hold one data set {name!r}, and has {names}; name it {name}.… "
            "or give another --data"
        )
    return matches[0]


def _begins_with(file: str, name: str) -> bool:
    # No letter may follow: `math` does not match `mathematics`.
    name = name.replace("_", "-")
    return file.startswith(name) and not file[len(name) : len(name) + 1].isalpha()


def where(records: Sequence[Record], facts: Mapping[str, str]) -> list[Record]:
    """Returns the records that have all of some facts, such as `level=5`.

    Raises:
        InputError: No record has them.
    """
    wanted = _without_level(facts).items()
    matches = [each for each in records if wanted <= _without_level(each.facts).items()]
    if not matches:
        pairs = {f"{name}={value}" for each in records for name, value in each.facts.items()}
        choices = sorted(pairs)
        text = ", ".join(f"{name}={value}" for name, value in facts.items())
        raise InputError(f"no problem has {text}; known: {', '.join(choices[:12]) or 'nothing'}")
    return matches


def _without_level(facts: Mapping[str, str]) -> dict[str, str]:
    # Files of MATH write `Level 5`, those of MATH-500 `5`.
    return {name: value.removeprefix("Level ") for name, value in facts.items()}


def generated(
    task: Task, types: Sequence[str] = (), count: int = 100, seed: int = 0
) -> list[Record]:
    """Returns problems that need no data set: all solvable Game-of-24 puzzles, or scene questions.

    Args:
        task: The task.
        types: Types of scene questions, such as `sum`; empty: all.
        count: How many questions of each type.
        seed: Seed of the random questions.

    Raises:
        InputError: The task has no generated problems, or a type of question is unknown.
    """
    if task.id == "game24":
        return [Record(str(at), puzzle, None) for at, puzzle in enumerate(puzzles(), 1)]
    if task.id not in get_args(Style):
        raise InputError(f"name a file of problems with --data: {_format_of(task)}")
    all_types = get_args(Type)
    for name in types:
        if name not in all_types:
            raise UnknownName("type of question", name, all_types)
    style = cast("Style", task.id)
    groups = (generate(style, cast("Type", kind), count, seed) for kind in types or all_types)
    return [
        Record(each.id, task.read(each.problem()), each.answer, _facts_of(each))
        for group in groups
        for each in group
    ]


def _facts_of(question: SceneQuestion) -> dict[str, str]:
    tools = "paper" if uses_paper_tools(question.plan) else "extended"
    return {"type": question.type, "hop": str(question.hop), "tools": tools}


def _loader(task: Task, file: Path) -> Loader:
    """Returns the loader of a file; the keys of the first line tell own lines from a data set."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError, RecursionError):
        first = None
    # MATH's entries have a `problem` too, but no `gold`.
    own_keys = {"problem", "gold"} if task.id == "math" else {"problem"}
    own = isinstance(first, dict) and own_keys <= set(first) and task.id != "sql"
    return own_lines if own or task.id not in LOADERS else LOADERS[task.id]


def _format_of(task: Task) -> str:
    own = 'lines of JSON with "problem", and "gold" where the answer is known'
    return f"{FORMATS[task.id]}, or {own}" if task.id in FORMATS else own


def unscored(task: Task, path: str | Path) -> list[Record]:
    """Reads problems to be answered and not scored: lines of JSON with `problem`, or of text.

    Args:
        task: The task.
        path: The file.

    Raises:
        InputError: The file cannot be read, or a line is not a problem of the task.
    """
    file = Path(expanduser(path))
    own = file.suffix in (".jsonl", ".json")
    return _read(task, path, own_lines if own else text_lines)
