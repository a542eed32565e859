"""The rollback controller's eyes: a path is analysed, and the bad steps are named (section 4.2)."""

import re
from collections.abc import Mapping
from typing import Any

from thoughtgraph.jobs import Job
from thoughtgraph.llm.port import Draw
from thoughtgraph.nodes.ask import Asker
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.steps import counted, numbered
from thoughtgraph.parts import Parts
from thoughtgraph.prompts import fill, load
from thoughtgraph.task import Prompt, Steps
from thoughtgraph.tree import Path, Thought, cut, shortened

_MARKER = re.compile(r"bad step (?:index(?:es)?|indices)[*_ \t]{0,4}:", re.I)
_NONE = re.compile(r"\bnone\b", re.I)
_RANGE = re.compile(
    r"((?:(?<![\w.])-?|(?<=\bstep)|(?<=\bsteps))\d{1,9})"
    r"(?:\s{0,3}(?:[-\u2013\u2014]|\bto\b|\bthrough\b)\s{0,3}(\d{1,9}))?(?![\d.]*\d)",
    re.I,
)
EXTRACTED = "two_call"


def analyse(parts: Parts) -> Node:
    """Makes the node that has the model check a path's steps; it runs as one task a path.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from an `Order` to the thought's `analysis`. Under `single_call` the same answer
        names the bad steps; an empty one names none.
    """

    async def node(job: Job) -> dict[str, Any]:
        asker, key, path = Asker(parts, job), job["thought"], job["path"]
        task = parts.task_for(job["settings"], Steps)
        prompt = analysis_prompt(task, job["problem"], path, job["settings"])
        draw = Draw(job["problem"], key)
        samples = await asker.samples(prompt, role="analyse", draw=draw)
        if samples is None:
            return asker.update()
        asker.meter.add({"analyses": 1})
        found = Thought(analysis=shortened(samples[0].strip()))
        # Nothing can be read out of an empty analysis; asked to, small models make indexes up.
        if job["settings"]["protocol"] == EXTRACTED and found["analysis"]:
            return asker.update(tree={key: {**found, "usage": asker.meter.by_role()}})
        return _named(asker, key, path, samples[0], found)

    return fanned_out(node)


def extract_index(parts: Parts) -> Node:
    """Makes the node that has the model read the bad steps' indexes out of an analysis.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from an `Order` to the thought's `bad` steps.
    """

    async def node(job: Job) -> dict[str, Any]:
        asker, key, path = Asker(parts, job), job["thought"], job["path"]
        prompt = index_prompt(job["problem"], path)
        draw = Draw(job["problem"], key)
        samples = await asker.samples(prompt, role="extract_index", draw=draw)
        if samples is None:
            return asker.update()
        return _named(asker, key, path, samples[0], Thought(analysis_raw=cut(samples[0])))

    return fanned_out(node)


def analysis_prompt(task: Steps, problem: str, path: Path, settings: Mapping[str, Any]) -> Prompt:
    """Returns the prompt that has a path's steps checked."""
    asked = fill(
        "rollback/analyse",
        topic=task.topic,
        question=problem,
        count=counted(path),
        steps=numbered(path),
    )
    if path[-1]["status"] == "terminal":
        asked = fill("rollback/analyse_solution", analysis=asked)
    if settings["protocol"] != EXTRACTED:
        asked = fill("rollback/report", analysis=asked)
    return Prompt(asked, system=load("rollback/analyse_system"))


def index_prompt(problem: str, path: Path) -> Prompt:
    """Returns the prompt that has the indexes of bad steps read out of a path's analysis."""
    analysis, count = path[-1]["analysis"], counted(path)
    asked = fill("rollback/extract", question=problem, count=count, analysis=analysis)
    return Prompt(asked, system=load("rollback/extract_system"))


def bad_steps(text: str, count: int) -> tuple[list[int], bool]:
    """Reads the indexes of bad steps out of a completion.

    What counts is the rest of the line after the last marker, or the next line with text in it.
    `none` means that no step is bad; ranges are spelt out.

    Args:
        text: The completion.
        count: How many steps there are.

    Returns:
        The indexes from 1 to `count` in ascending order, no one twice; and whether the completion
        was well-formed: it has the marker, after it `None` or numbers, and no number is out of
        range.
    """
    marks = list(_MARKER.finditer(text))
    if not marks:
        return [], False
    lines = text[marks[-1].end() :].split("\n")
    line = next((line for line in lines if line.strip(" \t\r*_`.")), "")[:2_000]
    if _NONE.search(line):
        return [], True
    named: set[int] = set()
    within: list[bool] = []
    for found in _RANGE.finditer(line):
        first = int(found[1])
        last = first if found[2] is None else int(found[2])
        within.append(1 <= first <= last <= count)
        named |= set(range(max(1, first), min(count, last) + 1))
    return sorted(named), bool(within) and all(within)


def _named(asker: Asker, key: str, path: Path, text: str, found: Thought) -> dict[str, Any]:
    bad, fine = bad_steps(text, len(path))
    if not fine:
        asker.meter.parse_error("extract_index" if "analysis_raw" in found else "analyse")
    new = found | Thought(bad=bad, usage=asker.meter.by_role())
    return asker.update(tree={key: new}, reports=key)
