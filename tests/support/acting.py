"""A task with tools for tests: a walk from place to place, its prompts and verdicts one line each.

A step reads `thought>Tool[argument]`. `Go` remembers in the branch's state where it went; it fails
for a place with `!` in it. `Finish` gives the answer.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from support.scripted import Call, Reply, ScriptedChat, rng

from thoughtgraph.acting import Hints, Label, Move, ToolResult, labelled, scored
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tree import Path, Thought

COSTS = {"Go": 1.0, "Ride": 2.0, "Finish": 0.0}


class Walk:
    """A toolbox; what it costs may be scaled."""

    names = tuple(COSTS)

    def __init__(self, scale: float = 1.0, trouble: str = "") -> None:
        self.scale = scale
        self.trouble = trouble
        self.called: list[tuple[str, str, tuple[str, ...]]] = []

    @property
    def dearest(self) -> float:
        return self.scale * max(COSTS.values())

    def describe(self) -> str:
        return " ".join(self.names)

    def parse(self, text: str) -> tuple[str, str] | None:
        name, bracket, rest = text.partition("[")
        argument, closed, _ = rest.partition("]")
        return (name, argument) if name.isalpha() and bracket and closed and argument else None

    async def call(self, name: str, argument: str, state: Mapping[str, Any] | None) -> ToolResult:
        been = (*(state or {}).get("been", ()), argument)
        self.called.append((name, argument, been))
        if name not in COSTS:
            text = f"Invalid action: {name}"
            return ToolResult(text, dict(state or {}), True, 0.0, invalid=True)
        cost = self.scale * COSTS[name]
        if name == "Finish":
            return ToolResult(f"answer {argument}", dict(state or {}), False, cost, argument)
        if "!" in argument:
            return ToolResult(f"no way to {argument}", dict(state or {}), True, cost)
        return ToolResult(" ".join(("been", *been)), {"been": list(been)}, False, cost)

    async def check(self) -> str:
        return self.trouble


class Errand:
    """The task. Its prompts are `role|problem|trajectory|hints`."""

    id = "errand"

    def __init__(self, walk: Walk | None = None) -> None:
        self.walk = walk or Walk()

    def read(self, text: str) -> str:
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        return {}

    def tools(self, problem: str, options: Options, extra: Sequence[Any]) -> Walk:
        return self.walk

    def move(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Question[Sequence[Move]]:
        shown = [
            *(f"wrong {r['answer']} {r['thought']} {r['reason']}" for r in hints.rejected),
            *(f"beside {shown_step(sibling)}" for sibling in hints.siblings),
            *(f"lesson {lesson}" for lesson in hints.reflections),
            *([f"act on {hints.thought}"] if hints.thought else []),
        ]
        lines = [f"{style}|{problem}", *map(shown_step, path), *shown, hints.tools]
        if hints.wanted == "first":
            return self._first_steps(problem)
        if hints.wanted == "answer":
            asked = "\n".join([f"conclude|{problem}", *map(shown_step, path)])
            return Question(
                Prompt(asked), each(lambda text: Move(text, answer=text.strip() or None))
            )

        def read(text: str) -> Move:
            line = text.strip("\n").split("\n")[0]
            thought, _, action = line.partition(">")
            if hints.thought:
                thought, action = hints.thought, action or line
            return Move(thought.strip(), action.strip(), malformed=not action)

        return Question(Prompt("\n".join(lines), stop=("\nObservation",)), each(read))

    def estimate(self, problem: str, path: Path, style: str, options: Options) -> Question[Verdict]:
        if style == "fgdip":
            return Question(Prompt("\n".join([f"label|{problem}", *map(shown_step, path)])), _label)

        def score(text: str) -> float | None:
            try:
                return float(text.removeprefix("Score: "))
            except ValueError:
                return None

        asked = "\n".join([f"value|{problem}", *map(shown_step, path)])
        return Question(Prompt(asked), scored(score))

    def reflect(self, problem: str, path: Path, options: Options, hints: Hints) -> Question[str]:
        asked = "\n".join([f"reflect|{problem}", *map(shown_step, path)])
        return Question(Prompt(asked), lambda samples: " ".join(samples[0].split()))

    def _first_steps(self, problem: str) -> Question[Sequence[Move]]:
        def read(samples: Sequence[str]) -> Sequence[Move]:
            places = [part.strip() for part in samples[0].split(",") if part.strip()]
            return [
                Move(f"begin at {place}", f"Go[{place}]", malformed=not places)
                for place in dict.fromkeys(places or [problem])
            ]

        return Question(Prompt(f"extract|{problem}"), read)

    def verify(self, problem: str, answer: str, options: Options) -> Question[Verdict]:
        def read(samples: Sequence[str]) -> Verdict:
            verdict, _, reason = samples[0].partition(" ")
            return Verdict(float(verdict == "YES"), reason, int(verdict not in ("YES", "NO")))

        return Question(Prompt(f"verify|{problem}|{answer}"), read)

    def normalize(self, answer: str) -> str:
        return answer.casefold()

    def check(self, problem: str, answer: str) -> bool:
        return answer == problem


def _label(samples: Sequence[str]) -> Verdict:
    labels: tuple[Label, ...] = ("sure", "maybe", "impossible")
    return labelled(next((label for label in labels if label == samples[0]), None))


def shown_step(thought: Thought) -> str:
    action = thought.get("action")
    done = "nothing" if not action else f"{action['name']}[{action['argument']}]"
    return f"{thought['text']}>{done}={thought.get('observation')}"


@dataclass(frozen=True)
class Odds:
    """What a random model tends to do."""

    places: str = "abc"
    bad: float = 0.2
    finish: float = 0.15
    lost: float = 0.0
    """How often it writes something that is no step, no score or no label."""
    shift: float = 0.0
    scale: float = 1.0


def walker(seed: int, odds: Odds | None = None) -> Reply:
    """A random model: its answers depend on the seed, the draw or the prompt, and nothing else."""
    odds = odds or Odds()

    def reply(call: Call) -> list[str]:
        draws = rng(seed, call.role, call.draw or call.prompt)
        return [_said(call.role, draws, odds) for _ in range(call.n)]

    return reply


def _said(role: str, draws: random.Random, odds: Odds) -> str:
    if draws.random() < odds.lost:
        return draws.choice(["", "?", "no step here", "Score: none"])
    if role in ("generate", "act"):
        return _step(draws, odds)
    if role == "value":
        return f"Score: {odds.scale * draws.randint(1, 10) + odds.shift}"
    if role == "step_eval":
        return draws.choice(["sure", "maybe", "impossible"])
    if role == "answer_eval":
        return draws.choice(["YES right", "NO wrong", "NO wrong"])
    return ", ".join(draws.choices(odds.places, k=draws.randint(0, 3)))


def _step(draws: random.Random, odds: Odds) -> str:
    place = draws.choice(odds.places)
    luck = draws.random()
    if luck < odds.finish:
        return f"so {place}>Finish[{place}]"
    if luck < odds.finish + odds.bad:
        return f"try {place}>Go[{place}!]"
    return f"to {place}>{draws.choice(['Go', 'Ride'])}[{place}]"


def by_prompt(lines: Mapping[str, str | Sequence[str]]) -> Reply:
    """Answers by the first key that ends a prompt (its hints and tools left out)."""

    def reply(call: Call) -> str | list[str]:
        for key, said in lines.items():
            if key in call.prompt:
                return said if isinstance(said, str) else list(said)
        raise AssertionError(f"no line for {call.role}: {call.prompt!r}")

    return reply


def model(reply: Reply) -> ScriptedChat:
    return ScriptedChat(reply=reply)
