"""A task and models for property tests: words are spelt letter by letter, judged by a die."""

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from typing import Any

from support.scripted import Call, Reply, ScriptedChat, rng

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tree import Path, texts

BAD = "!"
"""A letter that breaks the rules of the language."""
HOSTILE = {
    "empty": "",
    "spaces": " \n\n\t ",
    "binary": "".join(map(chr, range(256))),
    "long": "h1. apple (certain) " * 20_000,
    "lines": "\n" * 5_000,
    "braces": "{input} {0} %s \\n",
    "surrogate": "\ud800",
}


class Letters:
    """Every thought is a text; nothing is known of it but what the model says."""

    id = "letters"

    def read(self, text: str) -> str:
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        return {}

    def propose(self, problem: str, path: Path, options: Options) -> Question[list[dict[str, Any]]]:
        def read(samples: Sequence[str]) -> list[dict[str, Any]]:
            lines = [line for text in samples for line in text.split("\n") if line]
            return [{"text": line[:1], "score": float(len(line))} for line in lines]

        return Question(Prompt(f"next|{problem}|{spelt(path)}"), read)

    def sample(self, problem: str, path: Path, options: Options) -> Question[list[dict[str, Any]]]:
        read = each(lambda text: {"text": text[:1].strip() or "-"})
        return Question(Prompt(f"next|{problem}|{spelt(path)}"), read)

    def value(self, problem: str, path: Path, options: Options) -> Question[Verdict] | Verdict:
        return self._judged(f"value|{problem}|{spelt(path)}")

    def inspect(self, problem: str, path: Path, options: Options) -> Sequence[Question[Verdict]]:
        return [self._judged(f"value|{problem}|{letter}") for letter in sorted(set(texts(path)))]

    def _judged(self, asked: str) -> Question[Verdict]:
        def read(samples: Sequence[str]) -> Verdict:
            digits = [int(text) for text in samples if text in list("0123456789")]
            return Verdict(float(sum(digits)), malformed=len(samples) - len(digits))

        return Question(Prompt(asked), read)

    def violation(self, problem: str, path: Path) -> str:
        return "breaks the rules" if path[-1]["text"] in (BAD, "?") else ""

    def vote(
        self, problem: str, paths: Sequence[Path], options: Options
    ) -> Question[Sequence[int | None]]:
        def choice(text: str) -> int | None:
            known = [str(at) for at in range(1, len(paths) + 1)]
            return known.index(text) if text in known else None

        asked = f"vote|{problem}|{'|'.join(spelt(path) for path in paths)}"
        return Question(Prompt(asked), each(choice))

    def output(self, problem: str, path: Path) -> str | None:
        return spelt(path) or None


LETTERS = Letters()


def spelt(path: Path) -> str:
    return "".join(texts(path))


def die(seed: int, *, alphabet: str = "abc!", worst: int = 0) -> Reply:
    """A random model: its answers depend on the seed, the draw or the prompt, and nothing else."""

    def reply(call: Call) -> list[str]:
        draws = rng(seed, call.draw or call.prompt)
        if call.role == "generate":
            return [_lines(draws, alphabet) for _ in range(call.n)]
        return [str(draws.randint(worst, 3)) for _ in range(call.n)]

    return reply


def _lines(draws: random.Random, alphabet: str) -> str:
    letters = draws.choices(alphabet, k=draws.randint(0, 4))
    return "\n".join(letter * draws.randint(1, 2) for letter in letters)


def numbers_of(call: Call) -> str:
    """The numbers that a prompt of the Game of 24 asks to go on with."""
    return call.prompt.rstrip().split("\n")[-2].removeprefix("Input: ")


@cache
def built(method: str, task: Any, oracle: Any = False) -> tuple[Graph, ScriptedChat]:
    """A graph and its model, which is given a new script for each search."""
    model = ScriptedChat(reply=lambda call: "")
    return tg.build(method, task=task, model=model, oracle=oracle), model


async def run(
    method: str, task: Any, reply: Reply, problem: str = "x", **context: Any
) -> tuple[Any, list[Call]]:
    """One search; returns its output and the requests it made."""
    graph, model = built(method, task)
    model.reply, model.seen = reply, []
    out = await graph.ainvoke({"problem": problem}, context=context)
    return out, model.seen


async def steps(
    method: str, reply: Reply, task: Any = LETTERS, problem: str = "x", **context: Any
) -> AsyncIterator[Any]:
    """The nodes of one search as they run, each with the state after it."""
    graph, model = built(method, task)
    model.reply = reply
    names: list[str] = []
    modes: Any = {"stream_mode": ["updates", "values"], "output_keys": [*graph.builder.channels]}
    async for mode, chunk in graph.astream({"problem": problem}, context=context, **modes):
        if mode == "updates":
            names.extend(chunk)
        elif mode == "values":
            yield names, chunk
            names = []


def comparable(out: Mapping[str, Any]) -> dict[str, Any]:
    """A result without its clock and its name."""
    usage = {k: v for k, v in out["usage"].items() if k != "seconds"}
    same = {name: value for name, value in out.items() if name not in ("run", "date")}
    return {**same, "usage": usage}


def breadth_first(seed: int) -> dict[str, Any]:
    """Random settings of `tot_bfs`."""
    draws = random.Random(seed)
    return {
        "seed": seed,
        "steps": draws.randint(1, 3),
        "generate": draws.choice(["propose", "sample"]),
        "n_generate": draws.randint(1, 4),
        "evaluate": draws.choice(["value", "vote"]),
        "n_evaluate": draws.randint(1, 3),
        "select": draws.choice(["greedy", "sample"]),
        "breadth": draws.randint(1, 4),
    }


def depth_first(seed: int) -> dict[str, Any]:
    """Random settings of `tot_dfs`."""
    draws = random.Random(seed)
    return {
        "seed": seed,
        "steps": draws.randint(1, 4),
        "threshold": draws.choice([0.0, 1.0, 2.0]),
        "max_per_state": draws.randint(1, 4),
        "max_records": draws.choice([1, 5, 12]),
        "outputs": draws.randint(0, 2),
        "answer_from": draws.choice(["outputs", "records"]),
        "variant": draws.choice(["prune", "prune", "no_prune"]),
        "generate": draws.choice(["propose", "sample"]),
        "n_generate": draws.randint(1, 4),
        "proposal_samples": draws.randint(1, 2),
        "evaluate": draws.choice(["value", "inspect"]),
        "n_evaluate": draws.randint(1, 2),
    }


def edges(method: str, task: Any, oracle: Any = False) -> set[tuple[str, str]]:
    """The arrows of the drawn graph, without those of reviews, in which a person takes part."""
    drawn = built(method, task, oracle)[0].get_graph().edges
    arrows = {(edge.source.strip("_"), edge.target.strip("_")) for edge in drawn}
    return {arrow for arrow in arrows if "review" not in arrow}
