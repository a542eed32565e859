"""Converts the files of the public data sets CLEVR and PTR to scenes."""

from collections.abc import Mapping
from typing import Any

from thoughtgraph.errors import ProblemError
from thoughtgraph.tools.scenes.scene import Scene, numbered


def from_clevr(data: Mapping[str, Any]) -> Scene:
    """Returns one entry of a CLEVR scene file (`scenes` of `CLEVR_*_scenes.json`) as a scene.

    Args:
        data: The entry: `objects` with color, size, shape and material, and `relationships`.
            `3d_coords` and `directions`, if present, become positions.

    Raises:
        ProblemError: The data is no such entry.
    """
    try:
        shapes = [each["shape"] for each in data["objects"]]
        contents = [[each["color"], each["size"], each["material"]] for each in data["objects"]]
        return _scene(data, numbered(shapes), contents)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ProblemError(f"this is no CLEVR scene: {_why(error)}") from error


def from_ptr(data: Mapping[str, Any]) -> Scene:
    """Returns a PTR scene file as a scene.

    A part has a color or a count in the file. A part with a count may lack a color; a part without
    a count counts as 1. (On PTR's public scene, dropping the uncolored parts makes 93 of
    1,280 answers wrong; keeping them makes none wrong.)

    Args:
        data: The file: `objects` with a category and `part_color_occluded`, `part_count_occluded`
            (or `part_color`, `part_count`, as PTR's documentation names them).

    Raises:
        ProblemError: The data is no such file.
    """
    try:
        contents = [_parts(each) for each in data["objects"]]
        return _scene(data, numbered([each["category"] for each in data["objects"]]), contents)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ProblemError(f"this is no PTR scene: {_why(error)}") from error


def _parts(entry: Mapping[str, Any]) -> dict[str, list[Any]]:
    colors = entry.get("part_color_occluded", entry.get("part_color", {}))
    counts = entry.get("part_count_occluded", entry.get("part_count", {}))
    names = [*colors, *(name for name in counts if name not in colors)]
    return {
        name: [colors[name][0] if name in colors else None, counts.get(name, 1)] for name in names
    }


def _scene(data: Mapping[str, Any], names: list[str], contents: list[Any]) -> Scene:
    scene: dict[str, Any] = {
        "objects": [{name: content} for name, content in zip(names, contents, strict=True)],
        "relationships": data["relationships"],
    }
    if "directions" in data and all("3d_coords" in each for each in data["objects"]):
        axes = (data["directions"]["right"], data["directions"]["behind"])
        scene["positions"] = [
            [_along(each["3d_coords"], axis) for axis in axes] for each in data["objects"]
        ]
    return Scene.from_json(scene)


def _along(place: list[float], axis: list[float]) -> float:
    return sum(float(a) * float(b) for a, b in zip(place, axis, strict=True))


def _why(error: Exception) -> str:
    missing = isinstance(error, KeyError)
    return f"it has no {error.args[0]!r}" if missing else str(error).partition("\n")[0]
