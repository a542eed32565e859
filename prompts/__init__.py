"""The prompts: Markdown files, one folder a task or step, loaded by name."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from os.path import expanduser
from pathlib import Path
from typing import Any

from thoughtgraph.errors import InputError

OWN, NONE = "own", "none"
"""Values of the setting `examples` that are no file."""
LONGEST_EXAMPLES = 200_000
"""Characters of a user's worked examples (ours)."""

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


def worked(
    own: Callable[[int], Sequence[str]],
    options: Mapping[str, Any],
    default: str = OWN,
) -> list[str]:
    """Returns the worked examples that `examples` chooses: own ones, none, or a user's file.

    Args:
        own: Returns the task's own ones, so many as the setting `shots` says, where there is it.
        options: The effective settings.
        default: What it means when it is empty.

    Raises:
        InputError: The file cannot be read.
    """
    # Each is looked up whatever the other says: what a task uses is seen from that.
    chosen, count = options.get("examples") or default, options.get("shots") or 0
    if chosen == NONE:
        return []
    return list(own(count)) if chosen == OWN else [shown(chosen)]


@lru_cache(maxsize=8)
def shown(name: str) -> str:
    """Returns a user's file of worked examples; the same all through a process, as a run must be.

    Args:
        name: Its path.

    Raises:
        InputError: It cannot be read, or it is too long.
    """
    try:
        text = Path(expanduser(name)).read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no UTF-8"
        raise InputError(
            f"cannot read the examples in {name!r} ({why}); name a text file, {OWN} or {NONE}"
        ) from error
    if len(text) > LONGEST_EXAMPLES:
        raise InputError(
            f"the examples in {name!r} are longer than {LONGEST_EXAMPLES} characters; choose fewer"
        )
    return text


def blocks(folder: str, **lists: Iterable[str]) -> str:
    """Returns a block for each list that has lines: the folder's prompt of that name.

    Args:
        folder: The folder of the prompts.
        lists: The lines, by the names of the prompts.
    """
    texts = {name: "\n".join(lines) for name, lines in lists.items()}
    prompts = (fill(f"{folder}/{name}", lines=text) for name, text in texts.items() if text)
    return "".join(f"\n\n{prompt}" for prompt in prompts)


def fill(name: str, **values: str) -> str:
    """Returns a prompt with its `{placeholders}` filled in.

    Values are inserted as they are: braces in them are not placeholders.
    """
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), load(name))
