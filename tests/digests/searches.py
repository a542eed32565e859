"""Random searches of every method: on tasks of the tests' own, and on every task that it takes."""

import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from support.acting import Errand, Odds
from support.acting import walker as actor
from support.climbing import CLIMBING, METHODS, Climbing, climber, drawn_calls
from support.drawing import PAGES
from support.informed import settings as informed
from support.letters import LETTERS, breadth_first, depth_first, die
from support.players import equations, expression
from support.scripted import Call, Reply, rng
from support.stepping import MARKER, STEPPING, drawn, single

from thoughtgraph import registry
from thoughtgraph.admission import tasks_of
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate

WORDS = ("scent", "canoe", "arson", "rouse", "fleet", "scarf", "carol", "ensue", "noose", "creed")
ENDS = (
    *("So the answer is: {}.", "The final solution is {}.", "The final choice is ({})."),
    "The answer is {}.",
)
ANSWERS = {"strategyqa": ("yes", "no"), "fever": ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")}
KINDS: tuple[Type, ...] = ("short", "sum", "compare", "logic")
QUERIES = (
    "SELECT name, count(*) FROM author JOIN book ON author.id = author_id GROUP BY 1 ORDER BY 1",
    "SELECT count(*) AS n, name FROM book JOIN author a ON a.id = author_id GROUP BY 2 ORDER BY 2",
    "SELECT name FROM author ORDER BY id",
    "SELECT name FROM author WHERE id > 9",
    "SELECT nam FROM author",
    "written = SELECT author_id, count(*) AS n FROM book GROUP BY 1 ORDER BY 1",
    "SELECT n FROM written",
    "book",
)
"""Queries of the example database, and parts; some fail, one returns nothing."""
SMALL = {
    **{"n_generate": 2, "n_evaluate": 2, "breadth": 2, "max_steps": 4, "rounds": 3, "branches": 2},
    **{"max_calls": 8, "solutions": 2, "samples": 6, "max_records": 8, "refinements": 2},
    **{"max_answer_checks": 2, "trials": 2, "limit_requests": 40, "proposal_samples": 1},
}
"""Sizes at which a search of a published task takes no time, for the methods that have them."""


class SelfPublished(Climbing):
    """Says itself that it has plans, as `adaptive` wants it."""

    def published(self, method: str) -> Mapping[str, Any]:
        return {"draw": "plans", "shots": 2}


PLANS = SelfPublished()


class Search(NamedTuple):
    """A search whose model and settings are drawn."""

    method: str
    task: Any
    reply: Reply
    problem: str
    settings: dict[str, Any]
    oracle: Any = False


def own(method: str, seed: int) -> Search:
    """A search of a task of the tests' own, where the method takes one of them."""
    draws = random.Random(seed)
    if method in ("tot_bfs", "tot_dfs"):
        told = breadth_first(seed) if method == "tot_bfs" else depth_first(seed)
        return Search(method, LETTERS, die(seed), "x", told)
    if method in METHODS:
        sizes = {"tomt_os": {"start_depth": seed % 4 + 1}, "tomt_block": {"block_size": 2}}
        told = {**drawn_calls(seed), **sizes.get(method, {}), "speculate": seed % 3}
        return Search(method, CLIMBING, climber(seed), "6", told)
    if method == "rollback":
        reply, settings = drawn(seed)
        protocol = ("two_call", "single_call")[seed // 2 % 2]
        settings |= {"parallel": seed % 2 == 0, "protocol": protocol}
        return Search(method, STEPPING, single(reply), "x", settings)
    if method == "level_tot":
        return Search(method, STEPPING, levels(seed), "x", {"n_generate": 3, "steps": 4})
    if method == "chain":
        return Search(method, STEPPING, lambda call: "a step", "x", {"steps": 1 + seed % 4})
    if method == "adaptive":
        return Search(method, PLANS, climber(seed), "9", {"samples": 12, "seed": seed})
    if method.startswith("itot"):
        told = {**informed(seed, method), "rounds": seed % 5 + 2}
        return Search(method, Errand(), actor(seed, Odds("abcdef", lost=0.05)), "a", told)
    if method in ("react", "reflexion", "fgdip"):
        sizes = {"max_depth": 3, "n_generate": draws.randint(1, 3)} if method == "fgdip" else {}
        model = actor(seed, Odds(lost=0.1, finish=draws.choice([0.1, 0.3])))
        limit = {"limit_requests": draws.choice([10, 40])}
        return Search(method, Errand(), model, "a", {**sizes, **limit}, method == "reflexion")
    choice = ("game24", "creative_writing") if method == "refine" else ("gsm8k", "question")
    return published(method, choice[seed % 2], seed)


def levels(seed: int) -> Reply:
    """A model that writes and scores the candidates of a level."""

    def reply(call: Call) -> str | list[str]:
        at = call.prompt.count("\nStep ") + seed
        if call.role == "score":
            return f"Evaluation Score: 0.{at % 10}"
        return [f"{MARKER} {at}" if at % 4 == 3 else f"{at} {of}" for of in range(call.n)]

    return reply


def tasks(method: str) -> list[str]:
    """The published tasks that a method takes."""
    return [task.id for task in tasks_of(method)]


def published(method: str, task: str, seed: int) -> Search:
    """A search of a published task, by a model that now and then says what can be read."""
    known = registry.settings(method).model_fields
    sizes: dict[str, Any] = {name: size for name, size in SMALL.items() if name in known}
    problem, question = registry.TASKS[task].example, None
    if task in ("clevr", "ptr"):
        question = scenes(task)[seed % 4]
        problem = json.dumps({"question": question.question, "scene": question.scene})
    if "corpus" in known and task not in ("game24", "sql"):
        sizes["corpus"] = corpus()
    oracle = registry.METHODS[method].asks_oracle and seed % 3 == 0
    if method == "reflexion" or (method == "refine" and task != "creative_writing"):
        oracle = True

    def reply(call: Call) -> list[str]:
        draws = rng(seed, call.role, call.draw or call.prompt)
        return [_said(task, call, draws, question) for _ in range(call.n)]

    return Search(method, task, reply, problem, sizes, sometimes if oracle else False)


async def sometimes(answer: str) -> bool:
    """An oracle that agrees with one answer in three, by the answer alone."""
    return rng(answer).random() < 0.33


@cache
def scenes(task: Any) -> list[SceneQuestion]:
    return [generate(task, kind, 1, 7)[0] for kind in KINDS]


@cache
def corpus() -> str:
    """A file of pages; it stays until the process ends."""
    folder = tempfile.mkdtemp()
    path = Path(folder) / "pages.json"
    path.write_text(json.dumps(PAGES), encoding="utf-8")
    return str(path)


def _said(task: str, call: Call, draws: random.Random, question: SceneQuestion | None) -> str:
    if call.role not in ("generate", "act", "conclude", "reflect"):
        return _judged(draws)
    if question is not None:
        return _planned(call, draws, question.plan)
    if task == "game24":
        return _calculated(call, draws)
    if task == "crosswords":
        word = draws.choice(WORDS)
        sure = draws.choice(["certain", "high", "low"])
        board = "\n".join(" ".join(word.upper()) for word in draws.sample(WORDS, 5))
        return f"{draws.choice('hv')}{draws.randint(1, 5)}. {word} ({sure})\n{board}"
    if task == "creative_writing":
        return (
            f"Plan:\n{draws.randint(1, 9)} scenes\n\nPassage:\nIt rained. {draws.randint(1, 99)}."
        )
    if task == "sql":
        query = draws.choice(QUERIES)
        tool = draws.choice(["run_query", "sample_rows", "Finish"])
        return draws.choice([query, f"```\n{query}\n```", f"Thought: so.\nAction: {tool}[{query}]"])
    place = draws.choice("ABCDEFG")
    tool = draws.choice(["Search", "Search", "Lookup", "Finish"])
    said = draws.choice(ANSWERS.get(task, "AB")) if tool == "Finish" else place
    acting = f"Action: {tool}[{said}]"
    end = draws.choice(ENDS).format(draws.choice(ANSWERS.get(task, ("7", "12", "B"))))
    return draws.choice([f"Note {draws.randint(1, 99)}.", f"Thought: on.\n{acting}", end])


def _judged(draws: random.Random) -> str:
    """Says something of everything that a judge may be asked for."""
    some = [
        f"Reply: {draws.choice(['sure', 'maybe', 'likely', 'impossible'])}",
        f"The best choice is {draws.randint(1, 3)}",
        f"Evaluation Score: 0.{draws.randint(1, 9)}",
        f"Bad step index: {draws.choice(['1', '2', '1, 2', 'none'])}",
        f"Judgment: {draws.choice(['yes', 'no'])}",
        f"The evaluation score is {draws.randint(1, 10)}",
        draws.choice(["sure", "impossible", "YES", "NO", "A, B", "?"]),
    ]
    return "\n".join(draws.sample(some, draws.choice([1, len(some)])))


def _planned(call: Call, draws: random.Random, plan: Sequence[str]) -> str:
    """Goes on with the right plan, mostly; now and then a line of it is wrong or missing."""
    written = call.prompt[-600:]
    at = sum(line in written for line in plan) if draws.random() < 0.8 else 0
    lines = list(plan[at : draws.choice([len(plan), at + draws.randint(1, len(plan))])])
    if lines and draws.random() < 0.2:
        lines[draws.randrange(len(lines))] = draws.choice(["obj1 = nonsense(", "", plan[-1]])
    return "\n".join(lines)


def _calculated(call: Call, draws: random.Random) -> str:
    shown = [line for line in call.prompt.splitlines() if line.startswith("Input:")]
    numbers = shown[-1].removeprefix("Input:").split() if shown else []
    if not numbers or not all(each.isdigit() for each in numbers):
        return "Answer: 4 + 9 + 10 + 13 = 24"
    if "ossible next steps" not in call.prompt or len(numbers) == 1:
        right = draws.random() < 0.7 and expression([(Fraction(n), n) for n in numbers])
        return f"Answer: {right or ' + '.join(numbers)} = 24"
    return "\n".join(draws.sample([*equations(numbers), "4 + 4 = 9 (left: 9)"], 4))
