"""Public CLEVR and PTR question files, with scenes and plans; they are read, never shipped.

CLEVR's are `CLEVR_val_questions.json`, or what CLEVR's generator writes. Scenes are in the data
set's form or in ToMT's.
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
    """The file's name and the question's place in it."""
    scene: Scene
    question: str
    answer: str
    """The official answer, in lower case."""
    plan: tuple[str, ...] | None
    """The plan that the file gives; None where it gives none."""
    program: tuple[str, ...]
    """The names of the functions of the data set's own program."""


def load_questions(path: str | Path) -> list[GoldQuestion]:
    """Reads a question file.

    Args:
        path: The file, JSON, packed with gzip or not: `{"questions": [...]}`. Its scenes are in it,
            else in the `*.tomt.json` beside it whose name is most like its own, else in such a
            `*scenes*.json`.

    Raises:
        InputError: A file cannot be read, or is none of these.
    """
    file = Path(path)
    data = _json(file)
    if not isinstance(data, dict) or not isinstance(data.get("questions"), list):
        raise InputError(f'{str(path)!r} is no question file: it has no list "questions"')
    known = _scenes(data) or _scenes(_json(_beside(file)))
    return [
        _question(f"{file.name}:{at}", entry, known) for at, entry in enumerate(data["questions"])
    ]


def is_scene_file(path: str | Path) -> bool:
    """Returns whether a file holds scenes and no questions, as one that lies beside these does."""
    data = _json(Path(path))
    # A file of several scenes has the former, one scene the latter.
    holds_scenes = isinstance(data, dict) and ("scenes" in data or "objects" in data)
    return holds_scenes and "questions" not in data


def _question(name: str, entry: Mapping[str, Any], known: Mapping[Any, Scene]) -> GoldQuestion:
    try:
        inline = entry.get("scene")
        scene = read_scene(inline) if isinstance(inline, dict) else known[_key(entry)]
        plan = tuple(clean(line) for line in entry["plan"]) if "plan" in entry else None
        program = tuple(each.get("function", each.get("type")) for each in entry.get("program", ()))
        answer = str(entry["answer"]).lower()
        return GoldQuestion(name, scene, entry["question"], answer, plan, program)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name} is no question on a known scene: {error!r}") from error


def read_scene(data: Any) -> Scene:
    """Returns a scene in ToMT's, CLEVR's or PTR's form.

    Raises:
        ProblemError: It is none of them.
    """
    entries = data.get("objects") if isinstance(data, dict) else None
    first = entries[0] if isinstance(entries, list) and entries else {}
    if isinstance(first, dict) and "shape" in first:
        return from_clevr(data)
    if isinstance(first, dict) and "category" in first:
        return from_ptr(data)
    return Scene.from_json(data)


def _scenes(data: Any) -> dict[Any, Scene]:
    """Returns the scenes of a file by image index, or by place; one scene stands for any."""
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


def _beside(file: Path) -> Path:
    others = [each for each in sorted(file.parent.glob("*.json")) if each != file]
    files = [each for each in others if each.match("*.tomt.json")]
    files = files or [each for each in others if each.match("*scenes*.json")]
    if not files:
        raise InputError(
            f"no scenes for {file.name!r}: no *.tomt.json and no *scenes*.json lies beside it"
        )
    # Letters are compared on purpose, not folders.
    return max(files, key=lambda each: len(commonprefix([each.name, file.name])))  # noqa: RUF071


def _json(file: Path) -> Any:
    try:
        packed = file.read_bytes()
        return json.loads(gzip.decompress(packed) if file.suffix == ".gz" else packed)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InputError(f"cannot read {str(file)!r}: {error}") from error
