"""Problems with their gold answers, from a file the user names. Gold answers stay in this layer."""

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
        # InputError is a ValueError: a problem the task refuses is reported with its place.
        raise InputError(
            f"entry {len(records) + 1} of {str(path)!r} is no {task.id} problem: {reason(error)}; "
            f"expected {_expected(task)}"
        ) from error
    if not records:
        raise InputError(f"{str(path)!r} holds no problems; expected {_expected(task)}")
    return records


def set_file(folder: str | Path, name: str) -> Path:
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
    wanted = _plain(facts).items()
    kept = [each for each in records if wanted <= _plain(each.facts).items()]
    if not kept:
        said = {f"{name}={value}" for each in records for name, value in each.facts.items()}
        known = sorted(said)
        told = ", ".join(f"{name}={value}" for name, value in facts.items())
        raise InputError(f"no problem has {told}; known: {', '.join(known[:12]) or 'nothing'}")
    return kept


def _plain(facts: Mapping[str, str]) -> dict[str, str]:
    # Files of MATH write `Level 5`, those of MATH-500 `5`.
    return {name: value.removeprefix("Level ") for name, value in facts.items()}


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
    tools = "paper" if uses_paper_tools(question.plan) else "extended"
    return {"type": question.type, "hop": str(question.hop), "tools": tools}


def _loader(task: Task, file: Path) -> Loader:
    """Returns what reads a file: any task's own lines are known by what the first one holds."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError, RecursionError):
        first = None
    # The set MATH calls its problems so as well.
    known = {"problem", "gold"} if task.id == "math" else {"problem"}
    own = isinstance(first, dict) and known <= set(first) and task.id != "sql"
    return own_lines if own or task.id not in LOADERS else LOADERS[task.id]


def _expected(task: Task) -> str:
    own = 'lines of JSON with "problem", and "gold" where the answer is known'
    return f"{FORMATS[task.id]}, or {own}" if task.id in FORMATS else own


def unscored(task: Task, path: str | Path) -> list[Record]:
    """Reads problems of people who want answers: lines of JSON with `problem`, or lines of text.

    Args:
        task: The task.
        path: The file.

    Raises:
        InputError: It cannot be read, or a line is no problem of the task.
    """
    file = Path(expanduser(path))
    own = file.suffix in (".jsonl", ".json")
    return _read(task, path, own_lines if own else text_lines)
