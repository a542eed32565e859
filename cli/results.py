"""The result of one search as a file: what it holds, how it is written and read."""

import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from os.path import expanduser
from pathlib import Path
from typing import Any

from thoughtgraph.cli.plan import Plan
from thoughtgraph.cli.viewer import page
from thoughtgraph.cli.viewer.payload import without_pages
from thoughtgraph.errors import InputError
from thoughtgraph.tree import ROOT, Tree, root
from thoughtgraph.usage import Usage, report

INTERRUPTED = "interrupted"
"""Stop reason of a run that was stopped by Ctrl-C and can be resumed (ours)."""
PACKAGES = ("thoughtgraph", "langgraph", "langchain-core", "langchain-openai")
NEEDED = ("method", "task", "problem", "tree")
"""What makes a JSON object a result."""
SUFFIXES = (".json", ".jsonl")


def result(plan: Plan, state: Mapping[str, Any], *, finished: bool, model: str) -> dict[str, Any]:
    """Returns the result of a search.

    Args:
        plan: What was run.
        state: The last state.
        finished: Whether the search ran to its end.
        model: Specifier of the generating model, the default resolved.
    """
    settings = dict(state.get("settings") or plan.effective())
    tree: Tree = state.get("tree") or {ROOT: root()}
    return {
        "method": plan.method,
        "task": plan.task,
        "problem": state.get("problem", plan.problem),
        "answer": state.get("answer"),
        "stop_reason": state.get("stop_reason", "") if finished else INTERRUPTED,
        "usage": report(state.get("usage") or Usage()),
        "settings": {**settings, "model": model, "evaluator_model": plan.evaluator_model},
        "tree": {key: without_pages(thought) for key, thought in tree.items()},
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Returns the versions that a result depends on."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def check_writable(path: str) -> None:
    """Refuses a file that cannot be written, before anything is spent on its content.

    Raises:
        InputError: Its folder is missing or it is not to be written.
    """
    target = Path(expanduser(path))
    if target.is_dir():
        raise InputError(f"{path!r} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {str(target.parent)!r}; make it first")
    try:
        # Permissions do not tell: a disk may be read-only, a folder the system's own.
        if target.exists():
            target.open("ab").close()
        else:
            target.open("xb").close()
            target.unlink()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write {path!r} ({reason(error)}); name another file") from None


def reason(error: OSError | ValueError) -> str:
    """Returns why a file cannot be used, in the system's words."""
    return getattr(error, "strerror", None) or str(error)


def write_json(path: str, content: Mapping[str, Any]) -> None:
    """Writes a result as JSON."""
    write(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_html(path: str, content: Mapping[str, Any]) -> None:
    """Writes a result's search tree as one page."""
    write(path, page([content]))


def write(path: str, content: str) -> None:
    """Writes a text file."""
    # Half a surrogate pair, which a model may write, has no UTF-8; JSON and pages show its escape.
    Path(expanduser(path)).write_bytes(content.encode("utf-8", "backslashreplace"))


def read(path: Path) -> list[dict[str, Any]]:
    """Returns the results in a file, or in all the `.json` and `.jsonl` files of a folder.

    Raises:
        InputError: There is none, or the file cannot be read.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        found = [result for file in files for result in _read(file) if is_result(result)]
        if not found:
            raise InputError(f"no results in {str(path)!r}; `solve --json FILE` writes one")
        return found
    found = _read(path)
    if not found or not all(is_result(item) for item in found):
        raise InputError(f"{str(path)!r} is no result; `thoughtgraph solve --json FILE` writes one")
    return found


def is_result(item: Any) -> bool:
    """Returns whether a JSON value is a result."""
    return (
        isinstance(item, dict)
        and all(name in item for name in NEEDED)
        and isinstance(item["tree"], dict)
    )


def _read(path: Path) -> list[Any]:
    try:
        content = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r} ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is no text file; a result is JSON") from None
    parts = content.split("\n") if path.suffix == ".jsonl" else [content]
    try:
        return [json.loads(part) for part in parts if part.strip()]
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not JSON ({error}); give a result file") from None
