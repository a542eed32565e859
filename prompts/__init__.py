"""The prompts: Markdown files, one folder a task or step, loaded by name."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from thoughtgraph.errors import InputError

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@cache
def load(name: str) -> str:
    """Returns a prompt's text.

    Args:
        name: Folder and file without ending, such as `game24/propose`.

    Raises:
        InputError: There is no such prompt.
    """
    file = files("thoughtgraph.prompts").joinpath(f"{name}.md")
    if not file.is_file():
        raise InputError(f"there is no prompt {name!r}")
    return file.read_text(encoding="utf-8").rstrip("\n")


@cache
def data(name: str) -> Any:
    """Returns what a JSON file beside the prompts holds; it is shared, so not to be changed.

    Args:
        name: Folder and file without ending, such as `plans/ptr_sum`.

    Raises:
        InputError: There is no such file.
    """
    file = files("thoughtgraph.prompts").joinpath(f"{name}.json")
    if not file.is_file():
        raise InputError(f"there is no file {name!r} beside the prompts")
    return json.loads(file.read_text(encoding="utf-8"))


def fill(name: str, **values: str) -> str:
    """Returns a prompt with its `{placeholders}` filled in.

    Values are inserted as they are: braces in them are not placeholders.
    """
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), load(name))
