"""The stored form of a search result: its contents, and how to write and show it.

Results of a graph and of `thoughtgraph solve --json` share one stored form, so that either can be
viewed and compared with the other.
"""

import html as markup
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from os.path import expanduser
from pathlib import Path
from pkgutil import resolve_name
from reprlib import Repr
from typing import Any, Self

from thoughtgraph.errors import InputError
from thoughtgraph.llm.prices import unpriced
from thoughtgraph.outcome import chosen_thought, sentence
from thoughtgraph.tree import Thought
from thoughtgraph.usage import Usage, report

PACKAGES = ("thoughtgraph", "langgraph", "langchain-core", "langchain-openai")
NEEDED = ("method", "problem", "settings", "tree")
"""Keys without which a result cannot be stored."""
OPTIONAL = ("candidates", "ensembles", "error", "prices", "unused")
"""Keys that a stored result has only if their values are not empty."""
TOLD = ("verified", "right", "limit", "votes", "run", "date")
"""Keys about the run and how it ended, besides its outcome in words."""
_brief = Repr()
_brief.maxstring = 200
FRAME = (
    '<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0" '
    'sandbox="allow-scripts"></iframe>'
)


class Page(str):
    """A self-contained HTML page; a notebook shows it where it is a cell's last expression.

    Args:
        markup: The text of the page.
        told: The answer and how the search ended, shown instead of the page where only text fits.
    """

    __slots__ = ("told",)
    told: str

    def __new__(cls, markup: str, told: str = "") -> Self:
        """Makes a page."""
        page = super().__new__(cls, markup)
        page.told = told
        return page

    def __repr__(self) -> str:
        """Returns a short text, for a Python prompt or a notebook without HTML."""
        return f"<Page {self.told or f'of {len(self)} characters'}>"

    def _repr_html_(self) -> str:
        # A frame keeps the page's style and script apart from the rest of the notebook.
        return FRAME.format(page=markup.escape(self, quote=True))


class Result(dict[str, Any]):
    """The result of a graph, as a dictionary; a notebook shows it as the page of its tree."""

    def __repr__(self) -> str:
        """Returns a short text for a Python prompt: the tree alone would fill screens."""
        names = ("answer", "stop_reason", *(["error"] if self.get("error") else []))
        values = {name: self.get(name) for name in names}
        facts = ", ".join(f"{name}={value!r}" for name, value in values.items())
        return f"<Result {facts}, keys: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        return html(self)._repr_html_()

    @property
    def returned(self) -> str:
        """The output of running the answer, such as a query's rows; empty if it is not run."""
        return str(chosen_thought(self).get("returned", ""))


def stored(out: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a result in its stored form; a stored result comes back with the same contents.

    Args:
        out: The result of a graph, the last state of a stopped one, or a stored result.

    Raises:
        InputError: `out` is not a result.
    """
    missing = [name for name in NEEDED if name not in out] if isinstance(out, Mapping) else NEEDED
    if missing:
        raise InputError(
            f"this is no result, it has no {missing[0]!r}; give what `tg.solve` or `ainvoke` of a "
            "graph returned"
        )
    settings = {**out["settings"], **_models(out)}
    return {
        "method": out["method"],
        "task": settings.get("task", ""),
        "problem": out["problem"],
        "answer": out.get("answer"),
        **{name: out[name] for name in OPTIONAL if out.get(name)},
        **{name: out[name] for name in TOLD if name in out},
        "outcome": out.get("outcome") or sentence(out),
        "stop_reason": out.get("stop_reason", ""),
        "usage": report(out.get("usage") or Usage(), priced=not unpriced(out.get("prices", {}))),
        # `oracle` is not a setting, but the result depends on it: every result with feedback says
        # so.
        "settings": {**settings, "oracle": bool(out.get("oracle", settings.get("oracle")))},
        "tree": {key: without_pages(thought) for key, thought in out["tree"].items()},
        "versions": {**(out.get("versions") or versions())},
        **({"prompts": out["prompts"]} if out.get("prompts") else {}),
    }


def _models(out: Mapping[str, Any]) -> dict[str, str]:
    """Returns the models that the settings leave open because the graph was built around them."""
    models, settings = list(out.get("prices") or ()), out["settings"]
    if settings.get("model") or not models:
        return {}
    judge = settings.get("evaluator_model") or (models[1] if len(models) > 1 else "")
    return {"model": models[0], "evaluator_model": judge}


def without_pages(thought: Thought) -> Thought:
    """Returns a thought whose `tool_state` names its page but omits the page's text."""
    state = thought.get("tool_state") or {}
    if not isinstance(page := state.get("page"), dict):
        return thought
    reference = {name: page[name] for name in ("title", "url") if page.get(name)}
    return {**thought, "tool_state": {**state, "page": reference}}


@cache
def versions() -> Mapping[str, str]:
    """Returns the versions that a result depends on.

    They are cached: the look-up takes longer than everything else in storing a small result.
    """
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def html(out: Mapping[str, Any]) -> Page:
    """Returns the page of a result's search tree; a notebook shows it.

    Args:
        out: The result of `tg.solve` or of a graph, or a stored result.

    Raises:
        InputError: `out` is not a result.
    """
    result = stored(out)
    summary = f"answer={_brief.repr(result['answer'])}, {result['outcome']}"
    # Resolved at run time, as the viewer belongs to a layer above.
    page: str = resolve_name("thoughtgraph.cli.viewer.page:page")([result])
    return Page(page, summary)


def save(out: Mapping[str, Any], path: str | Path) -> None:
    """Writes a result to a file, like `thoughtgraph solve --json` or, for `.html`, `--html`.

    `thoughtgraph view` reads the JSON.

    Args:
        out: The result of `tg.solve` or of a graph, or a stored result.
        path: The file; an existing one is replaced.

    Raises:
        InputError: `out` is not a result, or the file cannot be written.
    """
    check_writable(str(path))
    page = Path(path).suffix.lower() in (".html", ".htm")
    write(str(path), html(out) if page else as_json(stored(out)))


def as_json(content: Mapping[str, Any]) -> str:
    """Returns a stored result as JSON."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def check_writable(path: str) -> None:
    """Refuses a file that cannot be written, before anything is spent on its content.

    Raises:
        InputError: The path is a folder, its folder is missing, or the file cannot be written.
    """
    target = Path(expanduser(path))
    if target.is_dir():
        raise InputError(f"{path!r} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {str(target.parent)!r}; make it first")
    try:
        # Permission bits are not enough: a disk may be read-only, a folder the system's own.
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


def write(path: str, content: str) -> None:
    """Writes a text file.

    Raises:
        InputError: The file cannot be written, for example because the disk is full.
    """
    # A lone surrogate, which a model may write, has no UTF-8 form; JSON and pages show its escape.
    encoded = content.encode("utf-8", "backslashreplace")
    try:
        Path(expanduser(path)).write_bytes(encoded)
    except OSError as error:
        raise InputError(
            f"cannot write {path!r} ({reason(error)}); make room or name another file"
        ) from error
