"""A task with tools for tests: a walk from place to place, its prompts and verdicts one line each.

A step reads `thought>Tool[argument]`. `Go` remembers in the branch's state where it went; it fails
for a place with `!` in it. `Finish` gives the answer.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from support.scripted import Call, Reply, ScriptedChat, rng

import thoughtgraph as tg
from thoughtgraph.acting import Hints, Label, Move, ToolResult, labelled, scored
from thoughtgraph.building import Graph
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tree import Path, Thought

COSTS = {"Go": 1.0, "Ride": 2.0, "Finish": 0.0}


class Walk:
    """A toolbox that has no pages and no network."""

    names = tuple(COSTS)

    max_call_cost = max(COSTS.values())

    def __init__(self, trouble: str = "") -> None:
        self.trouble = trouble
        self.called: list[tuple[str, str, tuple[str, ...]]] = []

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
        if name == "Finish":
            return ToolResult(f"answer {argument}", dict(state or {}), False, 0.0, argument)
        if "!" in argument:
            return ToolResult(f"no way to {argument}", dict(state or {}), True, COSTS[name])
        return ToolResult(" ".join(("been", *been)), {"been": list(been)}, False, COSTS[name])

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

        def read(text: str) -> Move:
            line = text.strip("\n").split("\n")[0]
            thought, _, action = line.partition(">")
            if hints.thought:
                thought, action = hints.thought, action or line
            return Move(thought.strip(), action.strip(), malformed=not action)

        asked = "\n".join([_asked(style, problem, path), *shown, hints.tools])
        return Question(Prompt(asked, stop=("\nObservation",)), each(read))

    def extract(self, problem: str, options: Options) -> Question[Sequence[Move]]:
        return Question(Prompt(f"extract|{problem}"), lambda said: _first(said[0], problem))

    def conclude(self, problem: str, path: Path, options: Options) -> Question[str | None]:
        asked = Prompt(_asked("conclude", problem, path))
        return Question(asked, lambda said: said[0].strip() or None)

    def estimate(self, problem: str, path: Path, style: str, options: Options) -> Question[Verdict]:
        if style == "fgdip":
            return Question(Prompt(_asked("label", problem, path)), lambda said: _label(said[0]))
        return Question(Prompt(_asked("value", problem, path)), scored(_score))

    def reflect(self, problem: str, path: Path, options: Options, hints: Hints) -> Question[str]:
        asked = _asked("reflect", problem, path)
        return Question(Prompt(asked), lambda said: " ".join(said[0].split()))

    def verify(self, problem: str, answer: str, options: Options) -> Question[Verdict]:
        def read(samples: Sequence[str]) -> Verdict:
            verdict, _, reason = samples[0].partition(" ")
            return Verdict(float(verdict == "YES"), reason, int(verdict not in ("YES", "NO")))

        return Question(Prompt(f"verify|{problem}|{answer}"), read)

    def same(self, problem: str, answer: str, options: Options) -> str:
        return answer.casefold()

    def check(self, problem: str, answer: str) -> bool:
        return answer == problem


def _asked(role: str, problem: str, path: Path) -> str:
    return "\n".join([f"{role}|{problem}", *map(shown_step, path)])


def _first(said: str, problem: str) -> Sequence[Move]:
    places = [part.strip() for part in said.split(",") if part.strip()]
    return [
        Move(f"begin at {place}", f"Go[{place}]", malformed=not places)
        for place in dict.fromkeys(places or [problem])
    ]


def _label(said: str) -> Verdict:
    return labelled(next((label for label in get_args(Label) if label == said), None))


def _score(said: str) -> float | None:
    try:
        return float(said.removeprefix("Score: "))
    except ValueError:
        return None


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
    if role == "value":
        return f"Score: {draws.randint(1, 10)}"
    if role == "step_eval":
        return draws.choice(["sure", "maybe", "impossible"])
    if role == "answer_eval":
        return draws.choice(["YES right", "NO wrong", "NO wrong"])
    if role not in ("generate", "act"):
        return ", ".join(draws.choices(odds.places, k=draws.randint(0, 3)))
    place = draws.choice(odds.places)
    luck = draws.random()
    if luck < odds.finish:
        return f"so {place}>Finish[{place}]"
    if luck < odds.finish + odds.bad:
        return f"try {place}>Go[{place}!]"
    return f"to {place}>{draws.choice(['Go', 'Ride'])}[{place}]"


@cache
def built(method: str) -> tuple[Graph, ScriptedChat, Errand]:
    """A graph, its model and its task; the model is given a new script for each search."""
    model, task = ScriptedChat(reply=lambda call: ""), Errand()
    return tg.build(method, task=task, model=model, oracle=method == "reflexion"), model, task


def prepared(method: str, reply: Reply, walk: Walk | None = None) -> Graph:
    graph, model, task = built(method)
    model.reply, model.seen, task.walk = reply, [], walk or Walk()
    return graph


async def run(method: str, reply: Reply, walk: Walk | None = None, **context: Any) -> Any:
    """One search for `a`; `seen` then tells what the model was asked."""
    graph = prepared(method, reply, walk)
    return await graph.ainvoke({"problem": "a"}, context=context or None)


def seen(method: str) -> list[Call]:
    """What the model was asked in the last search of a method."""
    return list(built(method)[1].seen)


def observed(out: Any) -> list[tuple[Any, ...]]:
    """What each step thought and what it was told."""
    return [(t["text"], t.get("observation")) for t in out["tree"].values()]


def by_visit(out: Any) -> list[Any]:
    """The thoughts that a depth-first search went to, in that order."""
    return sorted((t for t in out["tree"].values() if "visit" in t), key=lambda t: t["visit"])


def visited(out: Any) -> list[str]:
    return [thought["text"] for thought in by_visit(out)]
