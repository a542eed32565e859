"""What evaluators, extractors and the like write, read out of their completions (iToT and FGDIP).

What cannot be read falls back as the paper says, and is counted.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import cast

from thoughtgraph.acting import LOWEST, Label, labelled
from thoughtgraph.task import Verdict
from thoughtgraph.tools.wiki.pages import one_line

HIGHEST = 10.0
"""The upper end of the scale of iToT's evaluator."""
LONGEST_ENTITY = 200
"""Characters of an entity that are kept (ours)."""

_DECORATION = r"[*_`\"'\s]{0,6}"
_SCORE = re.compile(
    rf"Score{_DECORATION}[:=]{_DECORATION}(\d{{1,9}}(?:\.\d{{1,9}})?)", re.IGNORECASE
)
_REPLY = re.compile(rf"Reply{_DECORATION}:{_DECORATION}(sure|maybe|impossible)\b", re.IGNORECASE)
_JUDGEMENT = re.compile(rf"Judge?ment{_DECORATION}:{_DECORATION}(yes|no)\b", re.IGNORECASE)
_LIST = re.compile(r"\[[^\[\]]*\]")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")
_LABEL = re.compile(r"^[\s*_]*(?:Thought|Reason|Reflection|Entities)[\s*_]*:[\s*_]*", re.IGNORECASE)


def score(text: str) -> float | None:
    """Returns the last `Score: x`, kept within 1 and 10; None if there is none."""
    found = _SCORE.findall(text)
    return min(HIGHEST, max(LOWEST, float(found[-1]))) if found else None


def label(samples: Sequence[str]) -> Verdict:
    """Reads the last `Reply: sure`, `maybe` or `impossible`."""
    found = _REPLY.findall(samples[0])
    return labelled(cast("Label", found[-1].lower()) if found else None)


def judgement(samples: Sequence[str]) -> Verdict:
    """Reads the last `JUDGMENT: YES` or `NO`, and what stands before it as its reason."""
    text = samples[0]
    found = list(_JUDGEMENT.finditer(text))
    if not found:
        return Verdict(0.0, lesson(text), malformed=1)
    good = found[-1][1].lower() == "yes"
    return Verdict(float(good), lesson(text[: found[-1].start()]))


def lesson(text: str) -> str:
    """Returns what a model thought, on one line and without the label before it."""
    return one_line(_LABEL.sub("", text))


def entities(text: str) -> list[str]:
    """Returns distinct entities in their order.

    They are read from the last list in brackets, else from all quoted texts, else between commas.
    """
    listed = _LIST.findall(text)
    named = _listed(listed[-1]) if listed else None
    if named is None:
        named = _QUOTED.findall(text) or lesson(text).split(",")
    return _distinct(named)


def _listed(text: str) -> list[str] | None:
    try:
        items = json.loads(text)
    except ValueError:
        return _QUOTED.findall(text) or text.strip("[]").split(",")
    return [item for item in items if isinstance(item, str)]


def _distinct(names: Iterable[str]) -> list[str]:
    plain = (one_line(name).strip(" .\"'`*") for name in names)
    first: dict[str, str] = {}
    for name in filter(None, plain):
        first.setdefault(name.casefold(), name[:LONGEST_ENTITY])
    return list(first.values())
