"""Parses settings that are written as NAME=VALUE."""

import json
from collections.abc import Sequence
from os.path import expanduser
from pathlib import Path
from typing import Any

from thoughtgraph.errors import InputError


def assignments(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Parses settings; a value is JSON or text, and `@FILE` stands for the content of a file.

    Args:
        pairs: The settings, each as NAME=VALUE.
        option: The option of the command line that takes them, for the error.

    Raises:
        InputError: A setting is not NAME=VALUE, or names a file that cannot be read.
    """
    items = (assignment(pair, option) for pair in pairs)
    return {name: _from_json(written_text(value)) for name, value in items}


def assignment(pair: str, option: str) -> tuple[str, str]:
    """Splits a setting into its name, with `_` for `-`, and its value as written.

    Raises:
        InputError: The pair is not NAME=VALUE.
    """
    name, equals, value = pair.partition("=")
    if not equals or not name:
        raise InputError(f"{option} {pair!r} is not NAME=VALUE; write {option} name=value")
    return name.strip().replace("-", "_"), value


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def written_text(written: str) -> str:
    """Returns a text unchanged, or for `@FILE` the content of the file.

    Raises:
        InputError: The file cannot be read.
    """
    if not written.startswith("@"):
        return written
    path = Path(expanduser(written[1:]))
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r} ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is no text file; it must be UTF-8") from None
