"""The search tree as one self-contained HTML page: template, style, library, script and data.

The data are stored results as plain values, their long texts set apart. The prompts of a search
share long heads: sorted, neighbours share most, so each text is written as the number of characters
that it shares with the one before, and the rest ("front coding").
"""

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

from thoughtgraph import registry
from thoughtgraph.cli.labels import labels
from thoughtgraph.cli.text import headline
from thoughtgraph.cli.viewer.prompts import Rendered, Renderer, StoredResult
from thoughtgraph.outcome import rightness, sentence, verdict
from thoughtgraph.results import without_pages
from thoughtgraph.tree import Thought, Tree

SCRIPTS = ("model.js", "label.js", "outline.js", "camera.js", "panel.js", "tree.js", "page.js")
LIBRARY = "vendor/d3.min.js"
LICENCE = "vendor/LICENSE.d3.txt"

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
COPIED = (
    "method",
    "task",
    "problem",
    "answer",
    "candidates",
    "stop_reason",
    "run",
    "date",
    "prices",
    "error",
    "usage",
    "settings",
    "versions",
)
LONG = ("raw", "value_raw", "analysis", "analysis_raw")
"""Fields of a thought that hold long texts."""
DROPPED = (*LONG, "verdicts")
"""Fields that do not travel as they are; `value` and `note` say what `verdicts` says."""


def page(results: Sequence[StoredResult]) -> str:
    """Returns a complete HTML page that shows results; it needs no network and no other file.

    Whatever a model wrote reaches the page as JSON and is shown as text. The page's own policy
    allows no request at all, and no script but its own. Several results have a picker.
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


def _title(results: Sequence[StoredResult]) -> str:
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


class Texts:
    """Collects texts and numbers them in the order of their first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Returns a text's number; equal texts have equal numbers."""
        return self._numbers.setdefault(text, len(self._numbers))

    def packed(self) -> dict[str, Any]:
        """Returns the texts as plain data.

        Returns:
            `entries`: `[shared, rest]` for each text, sorted; `shared` counts UTF-16 units, which
            is how JavaScript counts. `places`: by number, the text's position in `entries`.
        """
        ordered = sorted(self._numbers)
        entries = [
            _entry(before, text) for before, text in zip(["", *ordered], ordered, strict=False)
        ]
        places = [0] * len(ordered)
        for place, text in enumerate(ordered):
            places[self._numbers[text]] = place
        return {"entries": entries, "places": places}


def _entry(before: str, text: str) -> tuple[int, str]:
    size = _shared(before, text)
    return len(text[:size].encode("utf-16-le", "surrogatepass")) // 2, text[size:]


def _shared(a: str, b: str) -> int:
    """Returns how many characters two texts share at their beginning, by bisection."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def payload(results: Sequence[StoredResult]) -> dict[str, Any]:
    """Returns the data of a page: the runs, and the long texts, which thoughts name by number."""
    texts = Texts()
    return {"runs": [_run(result, texts) for result in results], "texts": texts.packed()}


def _run(result: StoredResult, texts: Texts) -> dict[str, Any]:
    renderer = Renderer(result)
    entry = registry.METHODS.get(result["method"])
    named = labels(result["tree"], result["tree"])
    return {
        **{name: result.get(name) for name in COPIED},
        "outcome": result.get("outcome") or sentence(result),
        "verified": _verified(result),
        "right": rightness(result["right"]) if "right" in result else None,
        "about": "" if entry is None else f"{entry.summary} · {entry.paper}",
        "title": headline(result["problem"]),
        "promptless": renderer.unavailable(),
        "picture": _as_uri(renderer.picture()),
        "chosen": renderer.answering(result.get("answer")),
        "thoughts": [
            {**_thought(thought, renderer, texts), "label": named.get(thought["id"], "")}
            for thought in _complete(result["tree"])
        ],
    }


def _verified(result: StoredResult) -> str | None:
    """Returns whether the answer is right by the task's own check; None without an answer."""
    if result.get("answer") is None or "verified" not in result:
        return None
    return verdict(result)


def _as_uri(svg: str | None) -> str | None:
    """Returns an image for an `img` element, in which nothing of it can run."""
    if svg is None:
        return None
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _thought(thought: Thought, renderer: Renderer, texts: Texts) -> dict[str, Any]:
    def numbered(prompts: Sequence[Rendered]) -> list[tuple[str, int]]:
        return [(role, texts.number(text)) for role, text in prompts]

    key = thought["id"]
    expanded = thought.get("status") == "expanded"
    return {
        **{name: value for name, value in without_pages(thought).items() if name not in DROPPED},
        **{name: texts.number(str(text)) for name, text in thought.items() if name in LONG},
        "prompts": numbered(renderer.prompts(key)),
        "expansion": numbered(renderer.expansion(key) if expanded else []),
    }


def _complete(tree: Tree) -> list[Thought]:
    """Returns the thoughts by age, each with the evaluator's text about it.

    The tree keeps that text once, at the first of the thoughts it is about: the others are those of
    an equal state, or those of the same vote.
    """
    ordered = [tree[key] for key in sorted(tree, key=int)]
    texts: dict[str, str] = {}
    for thought in ordered:
        if "value_raw" in thought:
            texts.setdefault(_judged_as(thought), thought["value_raw"])
    return [
        {**thought, "value_raw": texts[_judged_as(thought)]}
        if "value" in thought and _judged_as(thought) in texts
        else thought
        for thought in ordered
    ]


def _judged_as(thought: Thought) -> str:
    """Names what an evaluation was about: a state by its key, a vote by its depth."""
    return next(iter(thought.get("verdicts", {})), f"depth {thought['depth']}")
