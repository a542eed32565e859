"""The prompts: Markdown files, one folder per task or step, loaded by name."""

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
"""The values of the setting `examples` that are no file."""
LONGEST_EXAMPLES = 200_000
"""Maximum characters of a file of worked examples (ours)."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@cache
def load(name: str) -> str:
    """Returns a prompt's text.

    Args:
        name: Folder and file without ending, such as `game24/propose`.
    """
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


@cache
def data(name: str) -> Any:
    """Returns the content of a JSON file among the prompts; do not modify it.

    Args:
        name: Folder and file without ending, such as `plans/ptr_sum`.
    """
    return json.loads(files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8"))


def worked_examples(
    own: Callable[[int], Sequence[str]],
    options: Mapping[str, Any],
    default: str = OWN,
) -> list[str]:
    """Returns the worked examples that the setting `examples` chooses: own, none or a file's.

    Args:
        own: Returns the task's own examples, given the setting `shots` (0 without that setting).
        options: The effective settings.
        default: The meaning of an empty `examples`.

    Raises:
        InputError: The file cannot be read.
    """
    chosen = options.get("examples") or default
    if chosen == NONE:
        return []
    return list(own(options.get("shots") or 0)) if chosen == OWN else [read_examples(chosen)]


@lru_cache(maxsize=8)
def read_examples(name: str) -> str:
    """Returns a user's file of worked examples, read once per process.

    Args:
        name: Path of the file.

    Raises:
        InputError: The file cannot be read, or it is too long.
    """
    try:
        text = Path(expanduser(name)).read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(
            f"cannot read the examples in {name!r} ({why}); set examples to the path of a text "
            f"file, {OWN!r} or {NONE!r}"
        ) from error
    if len(text) > LONGEST_EXAMPLES:
        raise InputError(
            f"the examples in {name!r} are longer than {LONGEST_EXAMPLES} characters; choose fewer"
        )
    return text


def blocks(folder: str, **lists: Iterable[str]) -> str:
    """Renders each non-empty list as a block, by the prompt of the same name.

    Args:
        folder: The folder of the prompts.
        lists: The lines of each block, by the name of its prompt.
    """
    texts = {name: "\n".join(lines) for name, lines in lists.items()}
    prompts = (fill(f"{folder}/{name}", lines=text) for name, text in texts.items() if text)
    return "".join(f"\n\n{prompt}" for prompt in prompts)


def fill(name: str, **values: str) -> str:
    """Fills in the `{placeholders}` of a prompt.

    Values are inserted as they are: braces in values are no placeholders.
    """
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), load(name))
