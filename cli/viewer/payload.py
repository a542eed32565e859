"""What the page knows: stored results as plain data, long texts set apart."""

import base64
from collections.abc import Sequence
from typing import Any

from thoughtgraph import registry
from thoughtgraph.cli.labels import labels
from thoughtgraph.cli.text import headline
from thoughtgraph.cli.viewer.prompts import Rendered, Renderer, Result
from thoughtgraph.cli.viewer.texts import Texts
from thoughtgraph.outcome import rightness, sentence, verdict
from thoughtgraph.results import without_pages
from thoughtgraph.tree import Thought, Tree

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


def payload(results: Sequence[Result]) -> dict[str, Any]:
    """Returns the data of a page.

    Args:
        results: Stored results.

    Returns:
        `runs`: one entry a result; `texts`: the long texts, which thoughts name by number.
    """
    texts = Texts()
    return {"runs": [_run(result, texts) for result in results], "texts": texts.packed()}


def _run(result: Result, texts: Texts) -> dict[str, Any]:
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
        "promptless": renderer.missing(),
        "picture": _as_uri(renderer.picture()),
        "chosen": renderer.answering(result.get("answer")),
        "thoughts": [
            {**_thought(thought, renderer, texts), "label": named.get(thought["id"], "")}
            for thought in _complete(result["tree"])
        ],
    }


def _verified(result: Result) -> str | None:
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
