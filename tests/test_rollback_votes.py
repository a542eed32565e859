"""Thought Rollback's analyses and votes."""

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pools import POOLS
from support.scripted import Call
from support.stepping import drawn, run, scripted, single, walker

from thoughtgraph.nodes.families.rollback_paths import ranked, weight
from thoughtgraph.reasoning import Faults
from thoughtgraph.tasks.rollback_prompts import bad_steps, score_of, single_step, unlabelled
from thoughtgraph.tree import Thought, Tree, root

TABLE = (Path(__file__).parent / "support" / "step_readings.txt").read_text()


def readings(of: str) -> list[tuple[str, str]]:
    """The texts of one part of the table, each with what is read out of it."""
    part = next(part for part in TABLE.split("== ") if part.startswith(of))
    rows = [re.split("  +", row, maxsplit=1) for row in part.splitlines()[1:]]
    return [
        (text.replace("\\n", "\n").replace("<nothing>", ""), expected)
        for expected, texts in rows
        for text in texts.split(" ¦ ")
    ]


LABELLED = [(f"Bad step index: {text}", steps) for text, steps in readings("bad_steps: after")]


@pytest.mark.parametrize(("text", "steps"), [*LABELLED, *readings("bad_steps: with")])
def test_bad_steps_are_read_out_of_an_analysis(text: str, steps: str) -> None:
    bad = json.loads(steps.rstrip("?"))
    assert bad_steps(text, 5) == Faults(bad, malformed=int(steps.endswith("?")))


@pytest.mark.parametrize(("text", "score"), readings("score_of"))
def test_scores_are_read(text: str, score: str) -> None:
    assert score_of(text) == json.loads(score)


@pytest.mark.parametrize(("text", "step"), [*readings("unlabelled"), ("  plain  ", '"plain"')])
def test_labels_are_dropped(text: str, step: str) -> None:
    assert unlabelled(text) == json.loads(step)


@pytest.mark.parametrize(
    ("text", "number", "step"),
    [
        ("Step 1: a\nb\n\n**Step 2.** c\nThe final solution is 7", 1, "Step 1: a\nb\n\n"),
        ("a\nStep 2: c", 1, "a\n"),
        ("Step 1. a\nStep 2. b\nStep 3. c\nStep 4. d", 3, "Step 3. c\n"),
        ("Step 1. a\nStep 2. b", 3, "Step 1. a\nStep 2. b"),
        ("\nStep 2. b", 1, "Step 2. b"),
        ("By Step 2: nothing.\nSo a step 3: b", 1, "By Step 2: nothing.\nSo a step 3: b"),
        ("Step 3. c", 3, "Step 3. c"),
        ("Next step 2: b\nNext step 3: c", 2, "Next step 2: b\n"),
        ("<steps>\nStep 2. b\n</steps>", 2, "Step 2. b"),
        ("<steps>\nStep 1. a\nStep 2. b\n</steps>\nDone.", 2, "Step 2. b\n\nDone."),
        ("", 1, ""),
    ],
)
def test_a_response_is_one_step(text: str, number: int, step: str) -> None:
    assert single_step(text, number) == step


@pytest.mark.parametrize("protocol", ["two_call", "single_call"])
@pytest.mark.parametrize(
    ("text", "bad", "fine"),
    [
        ("Bad step index: 3, 2", [2, 3], True),
        ("Bad step index: None", [], True),
        ("Bad step index: 0, 2, 9", [2], False),
        ("Bad step index: -2", [], False),
        ("", [], False),
    ],
)
async def test_where_an_analysis_leads(
    text: str, bad: list[int], fine: bool, protocol: str
) -> None:
    def fifth(call: Call) -> str:
        if call.role == "generate":
            return f"thought {call.draw}"
        shown = re.findall(r"process (?:of|containing) (\d+) step", call.prompt)[-1]
        return text if shown == "5" else "Bad step index: None"

    settings: dict[str, Any] = {"steps": 5, "solutions": 1000, "incoming": 1, "parallel": False}
    out, _ = await run("rollback", fifth, protocol=protocol, **settings)
    back = {"to": str(bad[0] - 1), "step": bad[0]} if bad else None
    assert (out["tree"]["5"]["bad"], out["tree"]["5"].get("rollback")) == (bad, back)
    ends = sum("bad" in thought for thought in out["tree"].values() if thought["depth"] == 5)
    role = "extract_index" if text and protocol == "two_call" else "analyse"
    assert out["usage"].get("parse_errors", {}) == ({} if fine else {role: ends})


RULES = ["first", "last", "majority", "ratio", "difference"]


def elected(votes: list[tuple[str | None, int, int]], rule: str) -> str | None:
    """The answer of solutions given as (answer, alpha, beta), each with a path of its own."""
    tree: Tree = {"0": root()}
    for answer, alpha, beta in votes:
        above = "0"
        for _ in range(alpha):
            key = str(len(tree))
            edge: Any = {"to": "0", "step": 1}
            tree[key] = Thought(id=key, parent=above, status="expanded", rollback=edge)
            above = key
        end = Thought(id=str(len(tree)), parent=above, status="terminal", answer=answer)
        tree[end["id"]] = {**end, "experiences": ["x"] * beta}
    settings = {"ensemble": rule, "parallel": False}
    state: Any = {"thoughts": tree, "settings": settings}
    order = ranked(state, rule)
    return tree[order[0]]["answer"] if order else None


WORKED: list[tuple[str | None, int, int]] = [("A", 1, 0), ("B", 0, 2), ("A", 0, 1)]


def test_the_worked_vote() -> None:
    answers = {rule: elected(WORKED, rule) for rule in RULES}
    assert answers == {"first": "A", "last": "A", "majority": "A", "ratio": "B", "difference": "B"}
    assert [weight("ratio", a, b) for _, a, b in WORKED] == [Fraction(1, 2), 3, 2]
    assert weight("difference", 3, 0) == Fraction(1, 1000)


VOTES = st.lists(
    st.tuples(st.sampled_from(["A", "B", "C", None]), st.integers(0, 4), st.integers(0, 4)),
    max_size=8,
)


@given(VOTES, st.sampled_from(RULES[2:]), st.randoms(use_true_random=False))
def test_a_vote_depends_on_the_votes_alone(votes: Any, rule: str, draws: random.Random) -> None:
    winner = elected(votes, rule)
    assert (winner is None) == all(answer is None for answer, _, _ in votes)
    assert elected(votes * 2, rule) == winner, "P31: doubling changes nothing"
    names = {"A": "x", "B": "y", "C": "z", None: None}
    assert elected([(names[v], a, b) for v, a, b in votes], rule) == names[winner], "P31"
    totals: dict[Any, Fraction] = {}
    for answer, alpha, beta in votes:
        totals[answer] = totals.get(answer, Fraction(0)) + weight(rule, alpha, beta)
    totals.pop(None, None)
    mixed = draws.sample(votes, len(votes))
    best = [answer for answer in totals if totals[answer] == max(totals.values())]
    assert winner == next(iter(best), None), "the earliest of the best"
    assert len(best) != 1 or elected(mixed, rule) == winner, "P31: order matters for ties alone"


async def test_one_run_has_the_answer_of_every_ensemble() -> None:
    """The rows TR and TR + W-Voting come from the same run, as published."""
    steps = {"": "a", "a": "1", "|a1": "d", "d": "2", "|a1|d2": "e", "e": "2"}
    reply = scripted(steps, {"a1": "1", "d2": "1"})
    for parallel in (True, False):
        out, seen = await run("rollback", reply, parallel=parallel)
        tree = out["tree"]
        # (1 + experiences) / (1 + rollbacks)
        assert [t["value"] for t in tree.values() if t["status"] == "terminal"] == [0.5, 1.0, 3.0]
        assert out["ensembles"] == {**dict.fromkeys(RULES, "2"), "first": "1"}
        assert (out["answer"], out["candidates"]) == ("2", ["1", "2", "2"])
        assert [key for key in tree if tree[key].get("chosen")] == ["4"], "the earliest of them"
        plain, fewer = await run("rollback", reply, ensemble="first", parallel=parallel)
        assert (plain["answer"], plain["ensembles"]) == ("1", {"first": "1"})
        assert plain["stop_reason"] == "settled"
        assert len(fewer) < len(seen), "it stops at the first solution"


@pytest.mark.parametrize(
    "pool", [range(20), pytest.param(range(20, 100), marks=pytest.mark.ci), POOLS[-1]]
)
@pytest.mark.parametrize("parallel", [True, False])
async def test_stopping_at_the_first_solution_never_changes_the_answer(
    pool: range, parallel: bool
) -> None:
    saved = 0
    for seed in pool:
        draws = random.Random(f"settled {seed}")
        ends, bad = draws.choice([0.3, 0.6]), draws.choice([0.1, 0.3, 0.6])
        reply = single(walker(seed, ends=ends, bad=bad, values=draws.choice([2, 3, 9])))
        settings = {
            **drawn(seed)[1],
            "ensemble": "first",
            "steps": draws.randint(2, 5),
            "solutions": draws.randint(1, 8),
            "drop_paths": draws.random() < 0.2,
            "experiences": draws.random() < 0.8,
            "limit_requests": draws.choice([300, 300, 300, 30, 15]),
            "limit_rounds": draws.choice([None] * 7 + [draws.randint(2, 8)]),
            "limit_thoughts": draws.choice([1000] * 7 + [draws.randint(2, 12)]),
            "parallel": parallel,
        }
        # Every ensemble lets the same structure grow, but `first`, which stops early by itself.
        patient = {**settings, "ensemble": "last"}
        whole, all_of_them = await run("rollback", reply, **patient)
        early, some = await run("rollback", reply, **settings)
        assert early["answer"] == whole["ensembles"]["first"]
        assert len(some) <= len(all_of_them)
        saved += len(all_of_them) - len(some)
    assert saved > 0
