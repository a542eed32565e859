"""A problem one can solve by hand: spell a word letter by letter, two proposals a step.

The right letter is always proposed first and judged better, so every search must find the word, and
every thought of its tree can be told from those of another problem's.
"""

from collections.abc import Mapping
from typing import Any

from support.fake_server import Seen
from support.letters import spelt
from support.scripted import Call, ScriptedChat

from thoughtgraph.errors import ProblemError
from thoughtgraph.task import Options, Prompt, Question, Verdict
from thoughtgraph.tree import Path

WRONG = "-"
SETTINGS = {"generate": "propose", "evaluate": "value", "n_evaluate": 1, "breadth": 2}


class Spelling:
    """The problem is a word; a thought is its next letter; the output is what was spelt."""

    id = "spelling"

    def read(self, text: str) -> str:
        if not text.strip().isalpha():
            raise ProblemError(f"{text!r} is no word; write one such as 'tree'")
        return text.strip()

    def published(self, method: str) -> Mapping[str, Any]:
        return {**SETTINGS, "steps": 4} if method == "tot_bfs" else {}

    def propose(self, problem: str, path: Path, options: Options) -> Question[list[dict[str, Any]]]:
        return Question(
            Prompt(f"{problem}|{spelt(path)}"),
            lambda samples: [{"text": line} for line in samples[0].split("\n")],
        )

    def value(self, problem: str, path: Path, options: Options) -> Question[Verdict]:
        return Question(
            Prompt(f"{problem}|{spelt(path)}"),
            lambda samples: Verdict(float(len(samples[0])), samples[0]),
        )

    def output(self, problem: str, path: Path) -> str | None:
        return spelt(path) or None


def speller(delay: float = 0.0) -> ScriptedChat:
    """A model that proposes the right letter and a dash, and judges by the right letters."""

    def reply(call: Call) -> str:
        word, spelt = call.prompt.split("|")
        if call.role == "value":
            return "+" * sum(a == b for a, b in zip(word, spelt, strict=False))
        return f"{word[len(spelt)]}\n{WRONG}"

    return ScriptedChat(reply=reply, delay=delay)


def spell(seen: Seen) -> str:
    """A server's answer: the next letter and a dash. Equal values keep what was proposed first."""
    word, spelt = seen.prompt.splitlines()[-1].split("|")
    return f"{word[len(spelt)]}\n{WRONG}" if len(spelt) < len(word) else "+"
