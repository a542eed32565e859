"""How often each evaluator profile rejects a gold plan with one fault in it.

`python -m thoughtgraph.bench.questions.plan_mutations` makes questions, changes one place of each
gold plan, and prints for every kind of fault how often the plan is rejected, passes with a wrong
answer, and passes with the right one: for `paper`, for `grounded`, and for `grounded` when the
question is made one that it knows by its words alone.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from thoughtgraph.bench.questions.question_types import TYPES
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.vocabulary import (
    COLORS,
    FURNITURE,
    MATERIALS,
    NUMBERS,
    PARTS,
    SHAPES,
    SIZES,
    Style,
)

Plan = tuple[str, ...]
Mutation = Callable[[Plan, Style, Random], Plan | None]

_VARIABLE = re.compile(r"\b(?:obj|num|color|category|size|material|relation)\d+\b")
_FILTERS = re.compile(r"(\w+) = (?:filter_\w+|exclude_object)\((?:.*\W)?(\w+)\)$")


class MutantRates(NamedTuple):
    """What became of the faulty plans, each a share of all."""

    rejected: float
    wrong: float
    right: float
    plans: int


def mutants(plan: Plan, style: Style, rng: Random) -> Iterator[tuple[str, Plan]]:
    """Yields one faulty plan for each kind of fault that the plan has a place for."""
    for kind, mutation in MUTATIONS.items():
        changed = mutation(plan, style, rng)
        if changed is not None and changed != plan:
            yield kind, changed


def rates(
    questions: Sequence[SceneQuestion], rules: Rules, seed: int = 0
) -> dict[str, MutantRates]:
    """Returns what became of the questions' mutants, by kind of fault; "all" for all of them."""
    outcomes: dict[str, Counter[str]] = {"all": Counter()}
    for question in questions:
        rng = Random(f"{seed} {question.id}")
        scene = Scene.from_json(question.scene)
        for kind, plan in mutants(question.plan, question.style, rng):
            judged = judge(question.question, scene, None, plan, rules)
            right = judged.answer == question.answer
            result = "rejected" if judged.answer is None else "right" if right else "wrong"
            for name in (kind, "all"):
                outcomes.setdefault(name, Counter())[result] += 1
    return {kind: _rates(found) for kind, found in outcomes.items()}


def _rates(found: Counter[str]) -> MutantRates:
    total = max(1, found.total())
    return MutantRates(
        found["rejected"] / total, found["wrong"] / total, found["right"] / total, found.total()
    )


def _other_word(words: Sequence[str]) -> Mutation:
    """Returns a mutation that replaces one of the words, in quotes, by another of them."""
    known = [word.lower() for word in words]

    def mutate(plan: Plan, style: Style, rng: Random) -> Plan | None:
        places = [
            (at, found)
            for at, line in enumerate(plan)
            for found in re.finditer(r'"([^"]*)"', line)
            if found[1] in known
        ]
        if not places:
            return None
        at, found = rng.choice(places)
        new = rng.choice([word for word in known if word != found[1]])
        line = f'{plan[at][: found.start()]}"{new}"{plan[at][found.end() :]}'
        return (*plan[:at], line, *plan[at + 1 :])

    return mutate


def _other_category(plan: Plan, style: Style, rng: Random) -> Plan | None:
    return _other_word(FURNITURE if style == "ptr" else SHAPES)(plan, style, rng)


def _other_variable(plan: Plan, style: Style, rng: Random) -> Plan | None:
    """Replaces one use of a variable by another one of its kind that is defined there."""
    places = []
    for at, line in enumerate(plan):
        before = [each.partition(" ")[0] for each in plan[:at]]
        for found in _VARIABLE.finditer(line, line.index("=")):
            stem = found[0].rstrip("0123456789")
            others = [n for n in before if n.rstrip("0123456789") == stem and n != found[0]]
            places += [
                (at, found, other) for other in (*others, *(["all_obj"] if stem == "obj" else []))
            ]
    if not places:
        return None
    at, found, other = rng.choice(places)
    line = plan[at][: found.start()] + other + plan[at][found.end() :]
    return (*plan[:at], line, *plan[at + 1 :])


def _dropped_step(plan: Plan, style: Style, rng: Random) -> Plan | None:
    """Drops a filter and lets its input stand for its result."""
    places = [(at, found) for at, line in enumerate(plan) if (found := _FILTERS.match(line))]
    if not places:
        return None
    at, found = rng.choice(places)
    rest = [re.sub(rf"\b{found[1]}\b", found[2], line) for line in plan[at + 1 :]]
    return (*plan[:at], *rest)


def _other_tool(plan: Plan, style: Style, rng: Random) -> Plan | None:
    """Replaces the last step's tool by another one that takes the same arguments."""
    groups = (
        ("count_object", "exist", "query_category"),
        ("query_color", "count_part"),
        ("query_size", "query_material", "query_shape"),
        ("more_than", "few_than", "equal", "sum", "minus"),
    )
    name, _, tail = plan[-1].removeprefix("ans = ").partition("(")
    others = [tool for group in groups if name in group for tool in group if tool != name]
    return (*plan[:-1], f"ans = {rng.choice(others)}({tail}") if others else None


def _swapped(plan: Plan, style: Style, rng: Random) -> Plan | None:
    """Swaps the two arguments of a comparison or of get_relation."""
    pattern = re.compile(r"(.*\b(?:more_than|few_than|minus|get_relation))\((\w+),(\w+)\)")
    for at, line in enumerate(plan):
        if found := pattern.fullmatch(line):
            return (*plan[:at], f"{found[1]}({found[3]},{found[2]})", *plan[at + 1 :])
    return None


MUTATIONS: dict[str, Mutation] = {
    "color": _other_word(COLORS),
    "part": _other_word(PARTS),
    "number": _other_word(list(NUMBERS)[1:10]),
    "relation": _other_word(("left", "right", "front", "behind")),
    "category": _other_category,
    "size": _other_word(SIZES),
    "material": _other_word(MATERIALS),
    "variable": _other_variable,
    "dropped step": _dropped_step,
    "last tool": _other_tool,
    "swapped": _swapped,
}
"""One fault each (ours)."""


def main() -> None:
    """Prints the table for both styles and profiles."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("--count", type=int, default=40, help="questions a type")
    reader.add_argument("--seed", type=int, default=0)
    given = reader.parse_args()
    for style in ("ptr", "clevr"):
        questions = [q for kind in TYPES for q in generate(style, kind, given.count, given.seed)]
        free = [replace(each, question=f"please tell: {each.question}") for each in questions]
        tables = [
            rates(questions, Rules(profile="paper")),
            rates(questions, Rules(profile="grounded")),
            rates(free, Rules(profile="grounded")),
        ]
        print(f"{style}: {len(questions)} questions; rejected, wrong, right of the faulty plans")
        print(f"{'fault':14}{'n':>6}  {'paper':24}{'grounded':24}grounded, words only")
        for kind in sorted(tables[0], key=lambda name: (name == "all", name)):
            cells = [table[kind] for table in tables]
            row = "  ".join(f"{c.rejected:8.1%}{c.wrong:7.1%}{c.right:7.1%}" for c in cells)
            print(f"{kind:14}{cells[0].plans:6}{row}")


if __name__ == "__main__":
    main()
