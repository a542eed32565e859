"""Creative writing: four given sentences end four paragraphs (Tree of Thoughts, section 4.2).

The first thought is a plan, the second the passage. A model scores the coherence of passages
afterwards: a metric (`thoughtgraph.bench.judging`), not part of the search.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.errors import ProblemError
from thoughtgraph.prompts import fill
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks.judgements import after, plain
from thoughtgraph.tasks.sections import (
    TOT_BFS,
    partial_output,
    section_question,
    split,
    vote_question,
)
from thoughtgraph.tree import Path, texts

SENTENCES = (3, 4)
"""Allowed numbers of sentence ends in a problem; some public inputs lack one full stop."""
LONGEST_PROBLEM = 4000
"""Maximum characters of a problem (ours; the public inputs have at most 480)."""

_END = re.compile(r"[.!?][\"'\u201d\u2019)]*(?:\s|$)")
_LABELLED = after(
    "perfectly[ -]coherent|verdict|judge?ment|conclusion|answer",
    r"(yes\b|no\b(?!\s\w)|not (?:perfectly|quite|coherent))(?!\s?[/|])",
)
_NEGATION = (
    r"\b(?:not|\w{2,6}n[\u2019']t|no|nor|never|far from|cannot|hardly|almost|less than)\b"
    r"(?:[^.!?;\n]|[.!?;](?!\s)){0,200}?"
)
_AFFIRMED = (
    r"(?:\b(?:is|remains)\b(?:\W{1,3}(?:indeed|therefore|thus|overall|now|still))?"
    r"|:|(?<![\w,]\n)^)\W{0,20}"
)
_COHERENT = re.compile(
    rf"{_LABELLED}|({_NEGATION})?({_AFFIRMED})?\bperfectly[\s-]coherent\b"
    r"(?![^\w\n]{0,6}(?:[?:=]|(?:except|apart|until|only|if)\b))",
    re.IGNORECASE | re.MULTILINE,
)

PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "refine": {"refinements": 5},
    "tot_bfs": TOT_BFS,
}


class CreativeWriting:
    """The task `creative_writing`; a problem is four sentences on one line, or on four."""

    id = "creative_writing"

    def read(self, text: str) -> str:
        """Returns the four sentences on one line."""
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        problem = " ".join(lines)
        ends = len(_END.findall(problem[:LONGEST_PROBLEM]))
        if len(problem) > LONGEST_PROBLEM or not (len(lines) == 4 or ends in SENTENCES):
            raise ProblemError(
                f"{problem[:40]!r} is no writing problem; write four sentences, each ending in a "
                "full stop, on one line or on four"
            )
        return problem

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the paper's values, but the official scripts' temperature (paper: 0.7)."""
        return {**PUBLISHED.get(method, {}), "temperature": 1.0}

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the zero-shot prompt; `cot` asks for a plan first."""
        return Question(Prompt(fill(f"creative_writing/{style}", input=problem)), each(_passage))

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the passage of a path; None for a plan alone."""
        return split(partial_output(path), "Passage")[1] or None

    def sample(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Asks for a plan, or for the passage after it."""
        return section_question(
            self.ask(problem, "cot", options).prompt.user, path, options, "Passage"
        )

    def vote(
        self, problem: str, paths: Sequence[Path], options: Options
    ) -> Question[Sequence[int | None]]:
        """Asks for a vote among plans or passages; the prompt includes the task."""
        return vote_question(fill("creative_writing/io", input=problem), paths)

    def refine(self, problem: str, path: Path, options: Options) -> Question[Sequence[str | None]]:
        """Asks for a better passage than the last one."""
        passage = _passage(texts(path)[-1]) or ""
        prompt = Prompt(fill("creative_writing/refine", input=problem, passage=passage))
        return Question(prompt, each(_passage))

    def judge(self, problem: str, output: str, options: Options) -> Question[Verdict]:
        """Asks whether a passage is perfectly coherent."""
        prompt = Prompt(fill("creative_writing/judge", input=problem, passage=output))
        return Question(prompt, _coherent)


def _passage(text: str) -> str | None:
    """Returns the passage, whether or not a header precedes it."""
    before, passage = split(text, "Passage")
    return (before if passage is None else passage) or None


def _coherent(samples: Sequence[str]) -> Verdict:
    """Reads the last "perfectly coherent", or the last yes or no after a label, as the verdict.

    A negation earlier in the sentence makes the verdict negative. Otherwise "is", a colon or the
    beginning of the line must stand directly before the words. A question is no verdict.
    """
    matches = list(_COHERENT.finditer(plain(samples[0])))
    if not matches or matches[-1].lastindex is None:
        return Verdict(0.0, malformed=1)
    answer, negated, _ = matches[-1].groups()
    return Verdict(float(answer.lower() == "yes" if answer else not negated))
