"""Reads public question files of CLEVR and PTR with their scenes and plans; we ship none of them.

CLEVR's file is `CLEVR_val_questions.json` or an output of CLEVR's generator. Scenes have the data
set's format or ToMT's.
"""

import gzip
import json
import zlib
from collections.abc import Mapping
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple

from thoughtgraph.errors import InputError
from thoughtgraph.tasks.scenes.plan_language import clean
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.scene_files import from_clevr, from_ptr


class GoldQuestion(NamedTuple):
    """A question of a public file."""

    id: str
    """The file's name and the question's index in it."""
    scene: Scene
    question: str
    answer: str
    """The official answer, in lower case."""
    plan: tuple[str, ...] | None
    """The plan in the file; None if the file has none."""
    program: tuple[str, ...]
    """The names of the functions of the data set's own program."""


def load_questions(path: str | Path) -> list[GoldQuestion]:
    """Reads a question file.

    Args:
        path: The file, JSON or gzipped JSON: `{"questions": [...]}`. Scenes come from the file
            itself, else from the `*.tomt.json` in its folder whose name shares the longest prefix
            with its own, else from such a `*scenes*.json`.

    Raises:
        InputError: A file cannot be read, or has another format.
    """
    file = Path(path)
    data = _json(file)
    if not isinstance(data, dict) or not isinstance(data.get("questions"), list):
        raise InputError(f'{str(path)!r} is no question file: it has no list "questions"')
    scenes = _scenes(data) or _scenes(_json(_scene_file_of(file)))
    return [
        _question(f"{file.name}:{at}", entry, scenes) for at, entry in enumerate(data["questions"])
    ]


def is_scene_file(path: str | Path) -> bool:
    """Returns whether a file holds scenes and no questions, like those next to question files."""
    data = _json(Path(path))
    # A file of several scenes has "scenes", a file of one scene has "objects".
    holds_scenes = isinstance(data, dict) and ("scenes" in data or "objects" in data)
    return holds_scenes and "questions" not in data


def _question(name: str, entry: Mapping[str, Any], scenes: Mapping[Any, Scene]) -> GoldQuestion:
    try:
        inline = entry.get("scene")
        scene = read_scene(inline) if isinstance(inline, dict) else scenes[_key(entry)]
        plan = tuple(clean(line) for line in entry["plan"]) if "plan" in entry else None
        program = tuple(each.get("function", each.get("type")) for each in entry.get("program", ()))
        answer = str(entry["answer"]).lower()
        return GoldQuestion(name, scene, entry["question"], answer, plan, program)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name} is no question on a known scene: {error!r}") from error


def read_scene(data: Any) -> Scene:
    """Reads a scene in the format of ToMT, CLEVR or PTR.

    Raises:
        ProblemError: The data has none of these formats.
    """
    entries = data.get("objects") if isinstance(data, dict) else None
    first = entries[0] if isinstance(entries, list) and entries else {}
    if isinstance(first, dict) and "shape" in first:
        return from_clevr(data)
    if isinstance(first, dict) and "category" in first:
        return from_ptr(data)
    return Scene.from_json(data)


def _scenes(data: Any) -> dict[Any, Scene]:
    """Returns the scenes of a file, or its only scene, by image index, else by position."""
    if isinstance(data, dict) and "scenes" in data:
        entries = data["scenes"]
        if isinstance(entries, dict):
            return {key: read_scene(entry) for key, entry in entries.items()}
        return {entry.get("image_index", at): read_scene(entry) for at, entry in enumerate(entries)}
    if isinstance(data, dict) and "objects" in data:
        return {data.get("image_index", 0): read_scene(data)}
    return {}


def _key(entry: Mapping[str, Any]) -> Any:
    names = ("image_index", "scene_index", "scene", "scene_id")
    return entry[next((name for name in names if name in entry), names[0])]


def _scene_file_of(file: Path) -> Path:
    others = [each for each in sorted(file.parent.glob("*.json")) if each != file]
    files = [each for each in others if each.match("*.tomt.json")]
    files = files or [each for each in others if each.match("*scenes*.json")]
    if not files:
        raise InputError(
            f"no scenes for {file.name!r}: no *.tomt.json and no *scenes*.json lies beside it"
        )
    # `commonprefix` compares letters, not folders, as it should here.
    return max(files, key=lambda each: len(commonprefix([each.name, file.name])))  # noqa: RUF071


def _json(file: Path) -> Any:
    try:
        content = file.read_bytes()
        return json.loads(gzip.decompress(content) if file.suffix == ".gz" else content)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InputError(f"cannot read {str(file)!r}: {error}") from error
