"""Puts the page together: template, style, library, script and data in one file."""

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from thoughtgraph.cli.text import headline
from thoughtgraph.cli.viewer.payload import payload
from thoughtgraph.cli.viewer.prompts import Result

SCRIPTS = ("model.js", "label.js", "outline.js", "camera.js", "panel.js", "tree.js", "page.js")
LIBRARY = "vendor/d3.min.js"
LICENCE = "vendor/LICENSE.d3.txt"

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def page(results: Sequence[Result]) -> str:
    """Returns a complete HTML page that shows results; it needs no network and no other file.

    Whatever a model wrote reaches the page as JSON and is shown as text. The page's own policy
    allows no request at all, and no script but its own.

    Args:
        results: Stored results, as `thoughtgraph solve --json` writes them. With several, the page
            has a picker.
    """
    style = _asset("page.css")
    library = _asset(LIBRARY)
    script = "\n".join(_asset(name) for name in SCRIPTS)
    values = {
        "policy": _policy(style, library, script),
        "title": html.escape(_title(results)).encode("ascii", "xmlcharrefreplace").decode(),
        "style": style,
        "licence": _asset(LICENCE),
        "library": library,
        "data": _json(payload(results)),
        "script": script,
    }
    return _PLACEHOLDER.sub(lambda found: values[found[1]], _asset("page.html"))


def _policy(style: str, *scripts: str) -> str:
    """Returns the content security policy: nothing is fetched, only these scripts run."""
    sources = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {sources}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _title(results: Sequence[Result]) -> str:
    if len(results) == 1:
        return f"{headline(results[0]['problem'])} · {results[0]['method']}"[:120]
    return f"{len(results)} searches"


def _json(data: Any) -> str:
    """Returns JSON that cannot end the script element it stands in.

    It is pure ASCII, so that the page survives any encoding and half a surrogate pair.
    """
    return json.dumps(_finite(data), separators=(",", ":")).translate(_UNSAFE)


def _finite(data: Any) -> Any:
    """Returns data in which JSON's missing numbers, infinity and NaN, are texts."""
    match data:
        case float() if not math.isfinite(data):
            return str(data)
        case dict():
            return {key: _finite(value) for key, value in data.items()}
        case list() | tuple():
            return [_finite(value) for value in data]
        case _:
            return data


@cache
def _asset(name: str) -> str:
    return files("thoughtgraph.cli.viewer").joinpath(name).read_text(encoding="utf-8").strip()
