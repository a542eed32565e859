"""The answer of several solutions: weights, votes, and when a vote is settled."""

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pools import POOLS
from support.stepping import drawn, run, scripted, single, walker

from thoughtgraph.nodes.rollback.ensemble import ranked, weight
from thoughtgraph.tree import Thought, Tree, root

RULES = ["first", "last", "majority", "ratio", "difference"]


def elected(votes: list[tuple[str | None, int, int]], rule: str) -> str | None:
    """The answer of solutions given as (answer, alpha, beta), each with a path of its own."""
    tree: Tree = {"0": root()}
    ends: list[str] = []
    for answer, alpha, beta in votes:
        above = "0"
        for _ in range(alpha):
            key = str(len(tree))
            tree[key] = Thought(id=key, parent=above, rollback={"to": "0", "step": 1})
            above = key
        end = str(len(tree))
        tree[end] = Thought(id=end, parent=above, answer=answer, experiences=["x"] * beta)
        ends.append(end)
    settings = {"ensemble": rule, "parallel": False}
    state: Any = {"tree": tree, "solutions": ends, "settings": settings}
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
async def test_stopping_when_settled_never_changes_the_answer(pool: range, parallel: bool) -> None:
    saved: dict[str, int] = dict.fromkeys(RULES, 0)
    for seed in pool:
        draws = random.Random(f"settled {seed}")
        ends, bad = draws.choice([0.3, 0.6]), draws.choice([0.1, 0.3, 0.6])
        reply = single(walker(seed, ends=ends, bad=bad, values=draws.choice([2, 3, 9])))
        rule = RULES[seed % len(RULES)]
        settings = {
            **drawn(seed)[1],
            "ensemble": rule,
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
        early, some = await run("rollback", reply, stop_settled=True, **settings)
        assert early["answer"] == whole["ensembles"][rule]
        assert len(some) <= len(all_of_them)
        saved[rule] += len(all_of_them) - len(some)
    assert saved["first"] > 0
    assert saved["majority"] > 0 or len(pool) == 20, "it is rare"
    assert saved["last"] == 0
