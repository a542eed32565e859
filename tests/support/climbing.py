"""A task for plan searches that one can solve by hand: climb to a height by steps of given size.

A plan is a list of lines `+n`; `end` finishes it where the climber stands. A step above the height
cannot stand, nor can anything that is no step.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from support.scripted import Call, Reply, rng

from thoughtgraph.planning import Ruling
from thoughtgraph.task import Options, Prompt, Question, each
from thoughtgraph.tree import Path, texts

METHODS = ("tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block")


class Climbing:
    """The problem is a height; the answer is where the plan ends, which may be too low."""

    id = "climbing"

    def read(self, text: str) -> str:
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        return {}

    def shots(self, problem: str, options: Options) -> int:
        return 20

    def plan(
        self, problem: str, path: Path, shots: Sequence[int], steps: int | None, options: Options
    ) -> Question[Sequence[Sequence[str]]]:
        asked = f"{problem}|{','.join(texts(path))}|{list(shots)}|{steps}"
        return Question(Prompt(asked), each(lambda text: text.split()[:steps]))

    def execute(self, problem: str, path: Path, steps: Sequence[str], options: Options) -> Ruling:
        at = int(path[-1]["tool_state"]["at"]) if path else 0
        told = []
        for count, step in enumerate(steps, 1):
            if step == "end":
                text = "\n".join(steps[:count])
                return Ruling(True, text, "\n".join(told), {"at": at}, answer=str(at))
            if not step.startswith("+"):
                return Ruling(False, "\n".join(steps), code="E_SYNTAX", reason="", malformed=True)
            at += int(step)
            if at > int(problem):
                reason = f"{at} is above {problem}"
                return Ruling(False, "\n".join(steps), code="E_HIGH", reason=reason)
            told.append(f"at {at}")
        if not steps:
            return Ruling(False, "", code="E_EMPTY", reason="no step", malformed=True)
        return Ruling(True, "\n".join(steps), "\n".join(told), {"at": at})


CLIMBING = Climbing()


def climber(seed: int) -> Reply:
    """A random model: what it writes depends on the seed and the draw alone."""
    words = ["+1", "+2", "+3", "oops", "end"]

    def reply(call: Call) -> str:
        draws = rng(seed, call.draw)
        return "\n".join(draws.choices(words, [6, 4, 2, 1, 2], k=draws.randint(0, 6)))

    return reply


def drawn(seed: int) -> tuple[str, dict[str, Any]]:
    """A search over plans and random settings of it."""
    draws = random.Random(seed)
    method = draws.choice(METHODS)
    settings: dict[str, Any] = {
        "tomt_os": {"start_depth": draws.randint(1, 4)},
        "tomt_block": {"block_size": draws.randint(1, 4)},
    }
    return method, {**drawn_calls(seed), **settings.get(method, {})}


def drawn_calls(seed: int) -> dict[str, Any]:
    """Random settings of every search over plans."""
    draws = random.Random(seed)
    return {
        "seed": seed,
        "max_calls": draws.choice([1, 4, 10, 30]),
        "branches": draws.randint(1, 4),
    }
