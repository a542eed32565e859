"""The result of one search as it is kept: what it holds, how it is written, how it is shown.

What a graph returns and what `thoughtgraph solve --json` writes have one stored form, so that
either can be viewed and compared with the other.
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
"""What a result cannot be stored without."""
OPTIONAL = ("candidates", "ensembles", "error", "prices", "unused")
"""What a stored result holds where there is some."""
TOLD = ("verified", "right", "limit", "votes", "run", "date")
"""What it holds of how the search ended, besides its outcome in words."""
_brief = Repr()
_brief.maxstring = 200
FRAME = (
    '<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0" '
    'sandbox="allow-scripts"></iframe>'
)


class Page(str):
    """A self-contained HTML page; a notebook shows it where it is a cell's last expression.

    Args:
        markup: The page.
        told: What stands for it where only text is shown: the answer, and how the search ended.
    """

    __slots__ = ("told",)
    told: str

    def __new__(cls, markup: str, told: str = "") -> Self:
        """Makes a page."""
        page = super().__new__(cls, markup)
        page.told = told
        return page

    def __repr__(self) -> str:
        """Returns what a prompt shows, and a notebook without HTML: not the whole page."""
        return f"<Page {self.told or f'of {len(self)} characters'}>"

    def _repr_html_(self) -> str:
        # In a frame of its own: its style and script concern nothing else of the notebook.
        return FRAME.format(page=markup.escape(self, quote=True))


class Result(dict[str, Any]):
    """What a graph returned, as a dictionary; a notebook shows it as the page of its tree."""

    def __repr__(self) -> str:
        """Returns what a prompt shows: the tree alone would fill screens."""
        names = ("answer", "stop_reason", *(["error"] if self.get("error") else []))
        shown = {name: self.get(name) for name in names}
        facts = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"<Result {facts}, keys: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        return html(self)._repr_html_()

    @property
    def returned(self) -> str:
        """What the answer gives when it is run, such as the rows of a query; empty if it is not."""
        return str(chosen_thought(self).get("returned", ""))


def stored(out: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a result in the form in which it is kept; of a stored one, the same again.

    Args:
        out: What a graph returned, or the last state of one that was stopped.

    Raises:
        InputError: It is no result.
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
        # `oracle` is no setting, but what the result depends on: every result with feedback says
        # so.
        "settings": {**settings, "oracle": bool(out.get("oracle", settings.get("oracle")))},
        "tree": {key: without_pages(thought) for key, thought in out["tree"].items()},
        "versions": {**(out.get("versions") or versions())},
        **({"prompts": out["prompts"]} if out.get("prompts") else {}),
    }


def _models(out: Mapping[str, Any]) -> dict[str, str]:
    """Returns the names of models that the settings leave open: a graph was built around them."""
    used, named = list(out.get("prices") or ()), out["settings"]
    if named.get("model") or not used:
        return {}
    judge = named.get("evaluator_model") or (used[1] if len(used) > 1 else "")
    return {"model": used[0], "evaluator_model": judge}


def without_pages(thought: Thought) -> Thought:
    """Returns a thought whose tools' state names its page but does not hold the page's text."""
    state = thought.get("tool_state") or {}
    if not isinstance(page := state.get("page"), dict):
        return thought
    named = {name: page[name] for name in ("title", "url") if page.get(name)}
    return {**thought, "tool_state": {**state, "page": named}}


@cache
def versions() -> Mapping[str, str]:
    """Returns the versions that a result depends on.

    They are looked up once: that takes longer than all else of storing a small result.
    """
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def html(out: Mapping[str, Any]) -> Page:
    """Returns the page of a result's search tree; a notebook shows it.

    Args:
        out: What `tg.solve` or a graph returned, or a stored result.

    Raises:
        InputError: It is no result.
    """
    kept = stored(out)
    told = f"answer={_brief.repr(kept['answer'])}, {kept['outcome']}"
    # The viewer stands in a layer above.
    page: str = resolve_name("thoughtgraph.cli.viewer.page:page")([kept])
    return Page(page, told)


def save(out: Mapping[str, Any], path: str | Path) -> None:
    """Writes a result to a file, as `thoughtgraph solve --json` or, for `.html`, `--html` does.

    `thoughtgraph view` reads the JSON.

    Args:
        out: What `tg.solve` or a graph returned, or a stored result.
        path: The file; it is replaced if it is there.

    Raises:
        InputError: It is no result, or the file cannot be written.
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


def write(path: str, content: str) -> None:
    """Writes a text file.

    Raises:
        InputError: It cannot be written, such as where the disk is full.
    """
    # Half a surrogate pair, which a model may write, has no UTF-8; JSON and pages show its escape.
    encoded = content.encode("utf-8", "backslashreplace")
    try:
        Path(expanduser(path)).write_bytes(encoded)
    except OSError as error:
        raise InputError(
            f"cannot write {path!r} ({reason(error)}); make room or name another file"
        ) from error
