"""Reasoning step by step: the prompts of Thought Rollback (appendix B) and their readers.

A task that inherits from `Reasoning` defines the topic of its problems and the reader of a step;
the rest is the paper's.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from thoughtgraph.prompts import fill, load, worked_examples
from thoughtgraph.reasoning import TWO_CALLS, Faults
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks.judgements import after, last, plain, points
from thoughtgraph.tree import Path, cut, texts

BREAK = "\n\n---\n\n"
"""Separates worked examples in a file."""
UNSCORED = 0.5
"""Score of a candidate whose score cannot be read (official code)."""
UNREAD = "no score could be read, so a default counts"
LONGEST_LINE = 2_000
"""Maximum characters that are read of a line with bad steps (ours)."""

_HEAD = r"[ \t#*_>-]{0,10}(?:(?:the )?next )?step[ \t]{0,4}"
_LABEL = re.compile(
    rf"\s{{0,10}}{_HEAD}(?:\d{{1,4}}[*_]{{0,3}}[.:)]|[*_]{{0,3}}:)[*_]{{0,3}}\s*", re.I
)
MARKS = ("<steps>", "</steps>")
"""Tags around the steps so far in prompts; models repeat them."""
_LABELS = re.compile(rf"^{_HEAD}(\d{{1,4}})[*_]{{0,3}}[.:)]", re.I | re.M)
"""Step labels at the start of lines."""
_MARKER = re.compile(
    r"(?i)\bbad[ _]steps?(?:[ _](?:ind\w+(?:\(es\))?|numbers?))?[^\w\n:=]{0,6}"
    r"(?:[:=]|-\s|\b(?:is|are)\b)"
)
_BUT = "(?:except|but|apart from|other than)"
_GOOD = r"(?:(?:is|are|was|were)\s)?(?:all\s|both\s)?(?:correct|right|fine|valid|sound|good|ok)\b"
_NONE = re.compile(
    rf"(?i)(?![^\n]{{0,60}}\b(?:not|{_BUT})\b)(?:\W*+|there (?:is|are) )"
    rf"(?:none\b|n/a\b|no\b(?!\D{{0,9}}\d)|(?:all|every)\b[^\n]{{0,40}}?\b{_GOOD})"
)
_LIST = re.compile(
    rf"(?i)(?:none {_BUT}\s)?[^\w\n<=\u2264\u2265]*+"
    r"(?:(?:(?:and|to|through|the|only|bad|steps?|no|numbers?)[^\w\n]*+)*+"
    r"\d{1,9}+(?!\d)[^\w\n.:=+/^%<>]*+)++"
    r"(?!(?<=\d)\.?\w|[=+/^%]|(?:and|or|to|through|also|plus|then|on|onwards?|end|last|all|maybe"
    rf"|perhaps|possibly|later|errors?|mistakes?|bad|wrong)\b|\W*(?:steps?\b|{_GOOD}))"
)
"""The numbers at the start of a line, unless the line calls their steps right."""
_BULLET = re.compile(r"(?i)\s*[-*\u2022]\s*(?:step\s?)?\d")
_REMARK = re.compile(
    r"(?i)(?<=\d)\s{0,3}(?:\((?!and\b)(?:[^()\n]|\([^()\n]*+\))*+\)|(?:/|(?:out )?of)\s?\d+)"
)
"""Remarks in brackets and totals such as `/5`, whose numbers name no steps."""
_RANGE = re.compile(
    r"((?:(?<![\w.])-?|(?<=\bstep)|(?<=\bsteps))\d{1,9})"
    r"(?:\s{0,3}(?:[-~\u2026]|\bto\b|\bthrough\b)\s{0,3}(\d{1,9}))?(?![\d.]*\d)",
    re.I,
)
_SCORE = re.compile(after("evaluation score", points(1)), re.I)


class Reasoning(ABC):
    """A task, or a mixin, whose problems are solved by free-form reasoning steps."""

    topic: str
    """Subject of the problems, for prompts: `Grade-School Math`."""
    numeric: bool = False
    """Whether every answer is a number; the analysis of a solution then also reports variables
    without a value (official code)."""
    examples: str
    """Prompt file of its worked examples."""

    @abstractmethod
    def task_statement(self, options: Options) -> str:
        """Returns the start of a step's prompt: the task and its solution marker."""

    def demonstrations(self, count: int) -> Sequence[str]:
        """Returns at most `count` worked examples."""
        return load(self.examples).split(BREAK)[:count]

    @abstractmethod
    def read_step(self, problem: str, path: Path, text: str) -> dict[str, Any]:
        """Reads the step after a path as a partial thought; see `Steps.step`."""

    def step_format(self) -> str:
        """Returns the instruction on the form of a step; empty for the paper's (free text)."""
        return ""

    def step(
        self, problem: str, path: Path, lessons: Sequence[Path], options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Asks for the next step, with past mistakes as warnings (appendix B.3)."""
        experiences = [
            fill(
                "rollback/experience",
                index=str(at),
                steps=numbered(lesson),
                analysis=lesson[-1]["analysis"],
            )
            for at, lesson in enumerate(lessons, 1)
        ]
        form = self.step_format() or load("rollback/form")
        blocks = [
            self.task_statement(options),
            *_block("demonstrations", worked_examples(self.demonstrations, options)),
            *_block("experiences", experiences),
            fill("rollback/question", question=problem),
            fill(f"rollback/{'next' if path else 'first'}", steps=numbered(path), form=form),
        ]
        role = load("rollback/system")
        if options.get("experiences"):
            role = f"{role} {load('rollback/system_experience')}"
        prompt = Prompt("\n\n".join(filter(None, blocks)), system=role)
        return Question(prompt, each(partial(self._read, problem, path)))

    def analyse(self, problem: str, path: Path, options: Options) -> Question[Faults]:
        """Asks for an analysis of a path, or for the bad steps that an existing analysis names.

        The criteria for a bad step, "unnecessary" and "vague" included, are the official code's.
        """
        thought, two_calls = path[-1], options["protocol"] == TWO_CALLS
        values, role = {"question": problem, "count": counted(path)}, "rollback/analyse_system"
        if two_calls and "analysis" in thought:
            text = fill("rollback/extract", **values, analysis=thought["analysis"])
            role = "rollback/extract_system"
        else:
            text = fill("rollback/analyse", **values, topic=self.topic, steps=numbered(path))
            if self.numeric and thought["status"] == "terminal":
                text = fill("rollback/analyse_numeric", analysis=text)
            if not two_calls:
                text = fill("rollback/report", analysis=text)
        prompt = Prompt(text, system=load(role))
        return Question(prompt, lambda samples: bad_steps(samples[0], len(path)))

    def estimate(self, problem: str, path: Path, style: str, options: Options) -> Question[Verdict]:
        """Asks for a score of the path from 0 to 1."""
        values = {"topic": self.topic, "question": problem, "count": counted(path)}
        text = fill("rollback/score", **values, steps=numbered(path))
        return Question(Prompt(text, system=load("rollback/analyse_system")), step_score)

    def _read(self, problem: str, path: Path, text: str) -> dict[str, Any]:
        step = unlabelled(single_step(text, len(path) + 1))
        return {**self.read_step(problem, path, step), "raw": cut(text)}


def numbered(path: Path) -> str:
    """Returns a path's steps with their numbers."""
    return "\n".join(f"Step {at}. {text}" for at, text in enumerate(texts(path), 1))


def counted(path: Path) -> str:
    """Returns the number of steps of a path as text, such as `3 steps`."""
    return "1 step" if len(path) == 1 else f"{len(path)} steps"


def single_step(text: str, number: int) -> str:
    """Returns the requested step of a response with several numbered ones (ours).

    A response should be one step (appendix B.3), but models often continue to the end or repeat the
    earlier steps. Repeated steps and the text from a later label on are cut. The tags around the
    steps so far are removed, too, as a later prompt would have them twice.

    Args:
        text: The response.
        number: The step's number on its path, from 1.
    """
    for mark in MARKS:
        text = text.replace(mark, "")
    text = text.strip()
    labels = [(mark.start(), int(mark[1])) for mark in _LABELS.finditer(text)]
    repeats = bool(labels) and labels[0][0] == 0 and labels[0][1] < number
    begin = next((at for at, step in labels if repeats and step == number), 0)
    end = next((at for at, step in labels if at > begin and step > number), len(text))
    return text[begin:end]


def unlabelled(text: str) -> str:
    """Returns a step without the labels (`Step 3:`, `Next step:`) that a model repeats."""
    begin = 0
    while label := _LABEL.match(text, begin):
        begin = label.end()
    return text[begin:].strip()


def bad_steps(text: str, count: int) -> Faults:
    """Reads the numbers of bad steps out of a completion.

    The numbers are on the first line with text after the last marker, or in a list there, a bullet
    a step. Only the numbers at the start of a line count, up to any other word. `None` means that
    no step is bad; ranges are expanded. A completion is well-formed if `None` or numbers follow the
    marker or are the whole text, and no number is out of range.

    Args:
        text: The completion.
        count: The number of steps; larger numbers are dropped.
    """
    parts = _MARKER.split(plain(text).strip())
    bare = parts[0].strip(" .*").lower()
    if len(parts) == 1 and bare not in ("none", "no bad steps") and not _LIST.fullmatch(bare):
        return Faults(malformed=1)
    lines = [line for line in parts[-1].split("\n") if line.strip(" :\t\r*_`.")]
    lines = list(takewhile(_BULLET.match, lines)) or lines[:1]
    lines = [_REMARK.sub("", line[:LONGEST_LINE].lstrip(" :=\t")) for line in lines]
    lists = [_LIST.match(line) for line in lines]
    if lines and not lists[0] and _NONE.match(lines[0]):
        return Faults()
    valid = [match is not None for match in lists] or [False]
    steps: set[int] = set()
    for match in _RANGE.finditer("; ".join(match[0] for match in lists if match)):
        first = int(match[1])
        end = first if match[2] is None else int(match[2])
        valid.append(1 <= first <= end <= count)
        steps |= set(range(max(1, first), min(count, end) + 1))
    return Faults(sorted(steps), malformed=int(not valid or not all(valid)))


def score_of(text: str) -> float | None:
    """Returns the last score from 0 to 1; None without one."""
    value = float(last(_SCORE, text) or -1)
    return value if 0 <= value <= 1 else None


def step_score(samples: Sequence[str]) -> Verdict:
    """Reads the score of a path's last step; an unreadable one counts as `UNSCORED`."""
    value = score_of(samples[0])
    return Verdict(UNSCORED, UNREAD, malformed=1) if value is None else Verdict(value)


def _block(name: str, texts: Sequence[str]) -> list[str]:
    """Returns a block of texts with its heading; nothing without texts."""
    return [fill(f"rollback/{name}", **{name: "\n\n".join(texts)})] if texts else []
