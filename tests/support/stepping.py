"""A task of reasoning steps and random models for the property tests of Thought Rollback."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from support import letters
from support.scripted import Call, Reply, rng

import thoughtgraph as tg
from thoughtgraph.task import Options
from thoughtgraph.tasks.rollback_prompts import Reasoning
from thoughtgraph.tree import Path, path_to, texts

MARKER = "solution:"
PROBLEM = "x"


class Stepping(Reasoning):
    """A step is any text; one with the marker ends its path."""

    id = "stepping"
    topic = "Stepping"

    def read(self, text: str) -> str:
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        return {}

    def task_statement(self, options: Options) -> str:
        return f"mark it with {MARKER}"

    def demonstrations(self, count: int) -> Sequence[str]:
        return [f"worked example {at}" for at in range(min(count, 7))]

    def read_step(self, problem: str, path: Path, text: str) -> dict[str, Any]:
        _, mark, value = text.lower().partition(MARKER)
        ends = {"status": "terminal", "answer": value.strip() or None} if mark else {}
        return {"text": text, **ends}


STEPPING = Stepping()


async def run(method: str, reply: Reply, **context: Any) -> tuple[Any, list[Call]]:
    """One search; returns its output and the requests it made."""
    return await letters.run(method, STEPPING, reply, **context)


def walker(seed: int, *, ends: float, bad: float, values: int = 3) -> Reply:
    """A random model: what it says is a function of the prompt and of which try it is.

    Args:
        seed: Its seed.
        ends: How often a step has a solution.
        bad: How often an analysis finds bad steps.
        values: How many different solutions there are.
    """

    def reply(call: Call) -> str:
        # What is asked, not the system's words, which speak of experiences in `rollback` alone.
        draws = rng(seed, call.role, call.prompt.partition("\n")[2])
        if call.role == "analyse":
            return f"analysis {draws.randrange(10**6)}"
        if call.role == "extract_index":
            count = int(re.findall(r"process of (\d+) step", call.prompt)[-1])
            if draws.random() >= bad:
                return "Bad step index: None"
            named = [draws.randint(0, count + 1) for _ in range(draws.randint(1, 3))]
            return f"Bad step index: {', '.join(map(str, named))}"
        if draws.random() < ends:
            return f"{MARKER} {draws.randrange(values)}"
        return f"thought {draws.randrange(10**6)}"

    return reply


def drawn(seed: int) -> tuple[Reply, dict[str, Any]]:
    """A random model and random settings."""
    draws = random.Random(seed)
    model = walker(seed, ends=draws.choice([0.0, 0.2, 0.5]), bad=draws.choice([0.0, 0.3, 0.6, 1.0]))
    return model, {
        "steps": draws.randint(2, 4),
        "solutions": draws.choice([1, 3, 8]),
        "incoming": draws.randint(0, 3),
        "path_rollbacks": draws.choice([0, 1, 3]),
        "growth_order": draws.choice(["experience", "dfs"]),
        "protocol": draws.choice(["two_call", "two_call", "single_call"]),
        "ensemble": draws.choice(["first", "last", "majority", "ratio", "difference"]),
        "shots": draws.randint(0, 2),
        "limit_requests": draws.choice([60, 60, 60, 12]),
    }


def single(reply: Reply) -> Reply:
    """A model that names the bad steps in its analysis, as `single_call` asks it to."""

    def both(call: Call) -> str:
        if call.role == "analyse" and "Bad step index" in call.prompt:
            asked = Call("extract_index", call.prompt, call.draw, 1, None)
            asked.prompt += f"process of {call.prompt.count(chr(10) + 'Step ')} steps"
            return f"{reply(call)}\n{reply(asked)}"
        return str(reply(call))

    return both


def scripted(steps: Mapping[str, str], faults: Mapping[str, str]) -> Reply:
    """A model whose steps are letters and whose solutions are numbers.

    Args:
        steps: What follows a path, such as `{"ab": "c"}`; after `|` the wrong paths that it was
            warned of: `{"a|ab": "d"}` in place of `{"a": "b"}`.
        faults: Which steps of a path its analysis finds to be bad.
    """

    def reply(call: Call) -> str:
        # Without steps of its own, a prompt may still show those of an experience.
        _, own, shown = call.prompt.rpartition("<steps>\n")
        shown = shown if own else ""
        path = "".join(re.findall(r"^Step \d+\. (?:.* )?(\w+)$", shown, re.M))
        wrong = re.findall(r"^(\w+) is wrong$", call.prompt, re.M)
        if call.role == "generate":
            step = steps.get("|".join([path, *wrong])) or steps[path]
            return f"{MARKER} {step}" if step.isdecimal() else step
        if call.role == "extract_index":
            return f"Bad step index: {faults[wrong[-1]] if wrong else 'None'}"
        analysis = f"{path} is wrong" if path in faults else "fine"
        named = "Bad step index" in call.prompt
        return f"{analysis}\nBad step index: {faults.get(path)}" if named else analysis

    return reply


def mistaken(call: Call) -> str:
    """Adds wrongly on GSM8K until an experience warns it of that, and says so when it checks."""
    steps = call.prompt.rpartition("<steps>\n")[2] if "<steps>\n" in call.prompt else ""
    if call.role == "extract_index":
        return f"Bad step index: {1 if 'not 14' in call.prompt else 'None'}"
    if call.role == "analyse":
        return "4 + 9 is 13, not 14." if "= 14" in steps else "All is well."
    total = 14 if "= 14" in steps or "not 14" not in call.prompt else 13
    return f"The final solution is {total}" if steps else f"4 + 9 = {total}"


def shape(tree: tg.Tree) -> list[tuple[Any, ...]]:
    """The thoughts as rows: id, parent, text, where a rollback leads, whose rollback made it."""
    return [
        (
            key,
            thought["parent"],
            thought["text"],
            thought.get("rollback", {}).get("to"),
            thought.get("caused_by"),
        )
        for key, thought in list(tree.items())[1:]
    ]


def paths(tree: tg.Tree) -> list[tuple[Any, ...]]:
    """The thoughts as a multiset without ids: the path's texts and whether a rollback leaves it."""
    rows = (
        (*texts(path_to(tree, key)), "rollback" in thought, thought["status"])
        for key, thought in tree.items()
    )
    return sorted(rows, key=repr)
