"""Makes one self-contained HTML page of search trees: template, style, library, script and data.

The data are stored results as plain values, with their long texts in a table. The prompts of a
search share long beginnings. The table is sorted, and each text is stored as the number of
characters that it shares with the text before it, and the rest ("front coding").
"""

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from thoughtgraph import registry
from thoughtgraph.cli.labels import BESIDE_REASON, labels, refusal
from thoughtgraph.cli.text import headline, short
from thoughtgraph.errors import ThoughtgraphError
from thoughtgraph.llm.store import SentPrompt
from thoughtgraph.outcome import sentence, verdict
from thoughtgraph.results import without_pages
from thoughtgraph.task import extras
from thoughtgraph.tree import Thought, Tree

SCRIPTS = ("model.js", "label.js", "outline.js", "camera.js", "panel.js", "tree.js", "page.js")
LIBRARY = "vendor/d3.min.js"
LICENCE = "vendor/LICENSE.d3.txt"

StoredResult = Mapping[str, Any]
"""A result as `thoughtgraph solve --json` writes it."""
MAKING = ("generate", "refine", "act")
"""Roles whose prompts ask for the children of a thought."""
ENDS = ("extract", "conclude")
"""Roles whose prompts ask for thoughts outside the expansion, in nodes of the same names."""
PROMPTLESS = "Only results of the command hold the prompts; the result of a graph does not."
FOREIGN = (ThoughtgraphError, LookupError, AttributeError, TypeError, ValueError)
"""Errors of a task for a problem of another version, and of the registry for an unknown task."""
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
"""Fields that a page does not hold as they are; `value` and `note` repeat `verdicts`."""


def page(results: Sequence[StoredResult]) -> str:
    """Returns a complete HTML page that shows results; it needs no network and no other file.

    Text of a model reaches the page as JSON and is shown as plain text. The page's security policy
    allows no requests, and no scripts but its own. With several results, the page has a picker.
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
    return _PLACEHOLDER.sub(lambda match: values[match[1]], _asset("page.html"))


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
    """Returns data with infinity and NaN, which JSON does not have, as texts."""
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
    """Returns the data of a page: runs, and long texts, to which thoughts refer by number."""
    texts = Texts()
    return {"runs": [_run(result, texts) for result in results], "texts": texts.packed()}


def _run(result: StoredResult, texts: Texts) -> dict[str, Any]:
    tree: Tree = result["tree"]
    entry = registry.METHODS.get(result["method"])
    labels_by_id = labels(tree, tree)
    chosen = (key for key, thought in tree.items() if thought.get("chosen"))
    return {
        **{name: result.get(name) for name in COPIED},
        "outcome": result.get("outcome") or sentence(result),
        "verified": _verified(result),
        "right": _right(result),
        "about": "" if entry is None else f"{entry.summary} · {entry.paper}",
        "title": headline(result["problem"]),
        "promptless": None if result.get("prompts") else PROMPTLESS,
        "picture": _picture(result),
        "chosen": next(chosen, None),
        "thoughts": [
            {**_thought(thought, result, texts), "label": _label(thought, labels_by_id)}
            for thought in _complete(tree)
        ],
    }


def _right(result: StoredResult) -> str | None:
    """Says whether the answer equals the known one; None if no answer is known."""
    if "right" not in result:
        return None
    return f"{'yes' if result['right'] else 'no'}, by an answer that the search never saw"


def _verified(result: StoredResult) -> str | None:
    """Returns the verdict of the task's check; None without an answer, or if `_right` has one."""
    if result.get("answer") is None or "verified" not in result or "right" in result:
        return None
    return verdict(result)


def _picture(result: StoredResult) -> str | None:
    """Returns the problem's picture as the source of an `img` element, which runs no scripts."""
    try:
        draw = extras(registry.task(result["task"])).picture
        svg = None if draw is None else draw(result["problem"])
    except FOREIGN:
        return None
    return svg and f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _label(thought: Thought, labels_by_id: Mapping[str, str]) -> str:
    """Returns a card's text; of a refused thought, its beginning and the reason."""
    label, why = labels_by_id.get(thought["id"], ""), refusal(thought)
    return f"{short(label, BESIDE_REASON)} ← {why}" if why else label


def _thought(thought: Thought, result: StoredResult, texts: Texts) -> dict[str, Any]:
    sent: Mapping[str, Sequence[SentPrompt]] = result.get("prompts", {})
    own = sent.get(thought["id"], ())
    judging = [each for each in own if each["role"] not in (*MAKING, *ENDS)]

    def numbered(prompts: Sequence[SentPrompt]) -> list[tuple[str, int]]:
        return [(each["role"], texts.number(each["text"])) for each in prompts]

    return {
        **{name: value for name, value in without_pages(thought).items() if name not in DROPPED},
        **{name: texts.number(str(text)) for name, text in thought.items() if name in LONG},
        "prompts": numbered([*_makers(thought, sent), *judging]),
        "expansion": numbered([each for each in own if each["role"] in MAKING]),
    }


def _makers(thought: Thought, sent: Mapping[str, Sequence[SentPrompt]]) -> Iterator[SentPrompt]:
    """Yields the prompts that produced a thought; the result stores them with its parent."""
    origin = thought.get("created_by", {})
    for each in sent.get(thought.get("parent") or "", ()):
        if origin.get("node") in ENDS:
            same_role = each["role"] == origin["node"]
        else:
            same_role = each["role"] in MAKING and each["expansion"] == origin.get("expansion", 0)
        if same_role:
            yield each


def _complete(tree: Tree) -> list[Thought]:
    """Returns the thoughts by age, each with the evaluator's text about it.

    The tree stores that text once, with the first thought that it is about. It is also about every
    other thought of an equal state or in the same vote.
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
    """Returns the key of a thought's evaluation: its state's key, or its depth for a vote."""
    return next(iter(thought.get("verdicts", {})), f"depth {thought['depth']}")
