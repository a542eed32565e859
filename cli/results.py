"""The result of one search as a file: what it holds and how it is written."""

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
        **({"ensembles": state["ensembles"]} if "ensembles" in state else {}),
        "stop_reason": state.get("stop_reason", "") if finished else INTERRUPTED,
        "usage": report(state.get("usage") or Usage()),
        "settings": {
            **settings,
            "model": model,
            "evaluator_model": plan.evaluator_model,
            # No setting, but what the result depends on: every result with feedback says so.
            "oracle": bool(state.get("oracle", plan.oracle)),
        },
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
    if path == "-":
        raise InputError("a result goes into a file, not to standard output; name one instead of -")
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
