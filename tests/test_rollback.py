"""Thought Rollback: hand-solved searches and the properties P23 to P32 of the design."""

import random
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from support.letters import HOSTILE, comparable, edges, interrupted
from support.pools import POOLS
from support.scripted import Call, Reply, ScriptedChat
from support.stepping import (
    MARKER,
    PROBLEM,
    Stepping,
    delayed,
    drawn,
    mistaken,
    paths,
    run,
    shape,
    single,
    told,
    walker,
)

import thoughtgraph as tg
from thoughtgraph.errors import ModelError
from thoughtgraph.llm.exchange import Draw
from thoughtgraph.nodes.rollback.paths import alpha, beta, path_ids
from thoughtgraph.reasoning import Faults
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.tasks.rollback_prompts import bad_steps
from thoughtgraph.tree import path_to, texts

MODES = pytest.mark.parametrize("parallel", [True, False])
EVERYTHING = 100_000


async def test_the_drawn_graph_is_figure_2() -> None:
    assert edges("rollback", Stepping()) == {
        ("start", "start"),
        ("start", "select"),
        ("select", "analyse"),
        ("analyse", "extract_index"),
        ("extract_index", "decide"),
        ("decide", "rollback"),  # a bad step: back to before it
        ("decide", "generate"),  # none: on
        ("rollback", "generate"),
        ("generate", "register"),
        ("register", "select"),
        ("select", "generate"),
        ("select", "extract_index"),  # in parallel a round begins at select
        ("analyse", "select"),
        ("decide", "select"),
        ("rollback", "select"),
        ("analyse", "decide"),  # single_call
        ("select", "ensemble"),
        ("ensemble", "end"),
    }


WORKED = {
    ("generate",): "a",
    ("analyse", "a"): "fine",
    ("generate", "a"): "b",
    ("analyse", "a", "b"): "fine",
    ("generate", "a", "b"): "c",
    ("analyse", "a", "b", "c"): "b and c are wrong",
    ("analyse", "a", "d"): "fine",
    ("generate", "a", "d"): f"{MARKER} 1",
    ("analyse", "a", "d", f"{MARKER} 1"): "fine",
    ("generate", "a", "b", "c"): f"{MARKER} 2",
    ("analyse", "a", "b", "c", f"{MARKER} 2"): "fine",
}


def worked(call: Call) -> str:
    """The worked example of the design: the chain 0, 1, 2, 3 whose steps 2 and 3 are bad."""
    if call.role == "extract_index":
        return f"Bad step index: {'3, 2' if 'b and c' in call.prompt else 'None'}"
    if "b and c are wrong" in call.prompt and shown(call) == "Step 1. a\n":
        return "d"
    return str(told(WORKED)(call))


def shown(call: Call) -> str:
    return call.prompt.rpartition("<steps>\n")[2].partition("</steps>")[0]


@MODES
async def test_a_solution_tells_its_weights_and_all_that_became_of_it(parallel: bool) -> None:
    always = walker(1, ends=0.3, bad=1.0)
    out, _ = await run("rollback", always, parallel=parallel, steps=3, ensemble="ratio")
    tree = out["tree"]
    ends = [thought for thought in tree.values() if thought["status"] == "terminal"]
    assert any("rollback" in thought for thought in ends)
    assert any(thought["beta"] for thought in ends)
    for thought in ends:
        a, b = thought["alpha"], thought["beta"]
        assert (a, b) == (alpha(tree, thought["id"]), beta(tree, thought["id"]))
        assert thought["value"] == (1 + b) / (1 + a)
        *told, weights = thought["note"].split("; ")
        assert weights == f"alpha {a}, beta {b}"
        long = thought["answer"] is None and thought["depth"] == 3
        assert ("the longest path ends here" in told) is long
        if edge := thought.get("rollback"):
            assert f"step {edge['step']} is bad: back to thought {edge['to']}" in told


@pytest.mark.parametrize(("order", "fifth", "first"), [("experience", "4", "1"), ("dfs", "3", "2")])
async def test_a_rollback_by_hand(order: str, fifth: str, first: str) -> None:
    out, seen = await run("rollback", worked, parallel=False, growth_order=order)
    tree = out["tree"]
    assert shape(tree)[:4] == [
        ("1", "0", "a", None, None),
        ("2", "1", "b", None, None),
        ("3", "2", "c", "1", None),
        ("4", "1", "d", None, "3"),
    ]
    assert tree["3"]["bad"] == [2, 3]
    assert tree["3"]["rollback"] == {"to": "1", "step": 2}
    assert tree["5"]["parent"] == fifth
    assert (alpha(tree, "3"), beta(tree, "4")) == (1, 1)
    assert tree["4"]["experiences"] == ["3"]
    assert (out["stop_reason"], len(out["candidates"])) == ("exhausted", 2)
    assert out["ensembles"]["first"] == first
    assert out["answer"] == "1", "its path has an experience and no rollback left it"
    warned = [
        call for call in seen if call.draw == (PROBLEM, "1", 1, 0) and call.role == "generate"
    ]
    assert warned[0].prompt.count("Experience with Analysis") == 1
    assert (
        "Experience with Analysis, No. 1\nStep 1. a\nStep 2. b\nStep 3. c\nAnalysis:\nb and c"
        in (warned[0].prompt)
    )


async def test_the_same_rollback_in_parallel() -> None:
    out, _ = await run("rollback", worked)
    alone, _ = await run("rollback", worked, parallel=False)
    assert paths(out["tree"]) == paths(alone["tree"])
    assert out["usage"]["levels"] < alone["usage"]["levels"]


def thrice(call: Call) -> str:
    """Its first step is bad three times, for another reason each; the fourth is right."""
    path = shown(call).strip() if "<steps>" in call.prompt else ""
    reasons = [reason for reason in REASONS if f"\n{reason}" in call.prompt]
    if call.role == "extract_index":
        return f"Bad step index: {1 if reasons else 'None'}"
    if call.role == "analyse":
        wrong = [at for at in range(3) if path == f"Step 1. try {at}"]
        return REASONS[wrong[0]] if wrong else "All is well."
    return f"{MARKER} {len(reasons)}" if path else f"try {len(reasons)}"


REASONS = ["Wrong sign.", "Wrong sum.", "Wrong unit."]


@MODES
async def test_the_third_try_at_a_thought_sees_three_analyses(parallel: bool) -> None:
    """Appendix D: three rollbacks to one thought, of whose tries the last is shown all three."""
    out, calls = await run("rollback", thrice, parallel=parallel)
    first = [
        call.prompt for call in calls if call.role == "generate" and "<steps>" not in call.prompt
    ]
    told = [[reason for reason in REASONS if f"Analysis:\n{reason}" in text] for text in first]
    assert told == [REASONS[:at] for at in range(4)]
    assert [t["text"] for t in out["tree"].values() if t["depth"] == 1][-1] == "try 3"
    last = max(out["tree"].values(), key=lambda thought: thought.get("beta", 0))
    assert out["answer"] == "3"
    assert (last["beta"], last["value"]) == (3, 4.0)


async def test_rollbacks_of_one_round_are_shown_as_if_decided_one_by_one() -> None:
    """No two tries at one thought are asked for by one prompt, which would be one try twice."""
    for seed in range(12):
        reply = single(walker(seed, ends=0.2, bad=0.7))
        settings = {"steps": 4, "incoming": 5, "protocol": "single_call"}
        out, _ = await run("rollback", reply, **settings)
        tries = [thought for thought in out["tree"].values() if "caused_by" in thought]
        shown = {(t["parent"], tuple(t["experiences"])) for t in tries}
        assert len(shown) == len(tries)
        for thought in tries:
            assert thought["caused_by"] in thought["experiences"]


@pytest.mark.parametrize("pool", POOLS)
@MODES
async def test_what_holds_for_every_search(pool: range, parallel: bool) -> None:
    for seed in pool:
        reply, settings = drawn(seed)
        reply = single(reply)
        out, seen = await run("rollback", reply, parallel=parallel, **settings)
        check_limits(out["tree"], settings)
        check_structure(out, settings, parallel=parallel)
        check_counts(out, seen, settings)
        check_prompts(out, seen, settings)
        if seed % 4 == 0:
            again, _ = await run("rollback", reply, parallel=parallel, **settings)
            assert comparable(again) == comparable(out), "P1"


def check_limits(tree: tg.Tree, settings: dict[str, Any]) -> None:
    into = Counter(t["rollback"]["to"] for t in tree.values() if "rollback" in t)
    assert all(count <= settings["incoming"] for count in into.values()), "P24"
    for key, thought in tree.items():
        assert alpha(tree, key) <= settings["path_rollbacks"] + 1, "P24"
        assert thought["depth"] <= settings["steps"]


def check_structure(out: Any, settings: dict[str, Any], *, parallel: bool) -> None:
    tree = out["tree"]
    for key, thought in tree.items():
        assert key == "0" or int(thought["parent"]) < int(key), "P26: a tree without the rollbacks"
        if "rollback" not in thought:
            continue
        edge, line = thought["rollback"], path_ids(tree, key)
        assert edge["to"] in line[:-1], "P26: back to a proper ancestor"
        assert edge["to"] == line[edge["step"] - 1], "P28"
        assert edge["step"] in thought["bad"], "P28"
        for earlier in thought["bad"]:
            if earlier < edge["step"]:
                before = [
                    s
                    for s, t in tree.items()
                    if t.get("rollback", {}).get("to") == line[earlier - 1]
                ]
                assert len(before) == settings["incoming"], "P28: the first that was admissible"
    made = sum("caused_by" in thought for thought in tree.values())
    backs = sum("rollback" in thought for thought in tree.values())
    if out["stop_reason"] == "exhausted":
        assert made == backs, "P27"
    assert made <= backs, "P27"
    assert parallel or made >= backs - 1, "P27: one at most is pending"
    assert len(out["candidates"]) <= settings["solutions"], "P29"


def check_counts(out: Any, seen: list[Call], settings: dict[str, Any]) -> None:
    roles = Counter(call.role for call in seen)
    thoughts = len(out["tree"]) - 1
    assert roles["generate"] == thoughts, "P25"
    assert roles["analyse"] <= thoughts, "P25"
    assert roles["extract_index"] <= roles["analyse"]
    usage = out["usage"]
    assert usage["requests"] == usage["samples"] == len(seen) <= settings["limit_requests"], "P2"
    assert usage.get("analyses", 0) == roles["analyse"]
    assert usage.get("rollbacks", 0) == sum("rollback" in t for t in out["tree"].values())
    assert {role: n["requests"] for role, n in usage.get("roles", {}).items()} == roles, "P2"


def check_prompts(out: Any, seen: list[Call], settings: dict[str, Any]) -> None:
    tree = out["tree"]
    asked = {call.draw: call.prompt for call in seen if call.role == "generate"}
    made: Counter[str] = Counter()
    for key, thought in sorted(tree.items(), key=lambda item: int(item[0])):
        if key == "0":
            continue
        parent = thought["parent"]
        prompt = asked[Draw(PROBLEM, parent, made[parent], 0)]
        made[parent] += 1
        assert prompt.count("Experience with Analysis, No. ") == beta(tree, key), "P30"
        own = thought.get("experiences", [])[beta(tree, parent) :]
        assert thought.get("experiences", [])[: beta(tree, parent)] == (
            tree[parent].get("experiences", [])
        ), "P30: those of its path first"
        assert own[-1:] == [thought[at] for at in ("caused_by",) if at in thought], "P30"
        assert {tree[source]["rollback"]["to"] for source in own} <= {parent}, "P30"
        for at in range(settings["shots"]):
            assert f"worked example {at}" in prompt, "P30: demonstrations stay"
        assert f"worked example {settings['shots']}" not in prompt
        if thought["depth"] > 1:
            assert f"Step {thought['depth'] - 1}. {tree[parent]['text']}\n</steps>" in prompt


def at_once(call: Call) -> str:
    """Its first step is bad; warned of it, another ends beside the third of the first path."""
    if call.role == "analyse":
        return f"Bad step index: {1 if shown(call).strip() == 'Step 1. a' else 'None'}"
    steps = shown(call).count("Step ") if "<steps>" in call.prompt else 0
    if steps == 0 and "Experience" in call.prompt:
        return f"{MARKER} new"
    return ["a", "b", f"{MARKER} old"][steps]


@pytest.mark.parametrize("late", ["old", "new"])
@pytest.mark.parametrize("wanted", [1, 2])
async def test_what_ends_beside_the_last_solution_is_dropped_by_id(late: str, wanted: int) -> None:
    with delayed("rollback", lambda call: 0.02 * (late in at_once(call))):
        out, _ = await run("rollback", at_once, protocol="single_call", solutions=wanted)
    ends = [(t["text"], t["status"]) for t in out["tree"].values() if MARKER in t["text"]]
    kept = ["terminal", "terminal" if wanted == 2 else "pruned"]
    assert ends == list(zip((f"{MARKER} new", f"{MARKER} old"), kept, strict=True))
    assert out["candidates"] == ["new", "old"][:wanted]


@pytest.mark.parametrize("seed", range(8))
async def test_the_order_in_which_answers_arrive_changes_nothing(seed: int) -> None:
    reply, settings = drawn(seed)
    even, _ = await run("rollback", single(reply), **settings)
    slow = random.Random(seed)
    with delayed("rollback", lambda call: slow.choice([0.0, 0.001, 0.004])):
        uneven, _ = await run("rollback", single(reply), **settings)
    assert comparable(uneven) == comparable(even)


def thoughts(out: Any) -> list[tuple[Any, ...]]:
    return [row[:3] for row in shape(out["tree"])]


@pytest.mark.parametrize("pool", POOLS)
async def test_without_errors_it_is_the_chain(pool: range) -> None:
    for seed in pool:
        calm = walker(seed, ends=0.2, bad=0.0)
        blocked = walker(seed, ends=0.2, bad=1.0)
        given = {"steps": 4, "shots": random.Random(seed).randint(0, 2)}
        chain, _ = await run("chain", calm, **given)
        for parallel in (True, False):
            out, seen = await run("rollback", calm, parallel=parallel, **given)
            assert thoughts(out) == thoughts(chain), "P23"
            assert (out["answer"], len(out["candidates"])) == (chain["answer"], 1), "P23"
            assert len(seen) == 3 * len(thoughts(chain)), "P23"
            out, seen = await run("rollback", blocked, parallel=parallel, incoming=0, **given)
            assert thoughts(out) == thoughts(chain), "P32"
            assert out["answer"] == chain["answer"], "P32"
            assert len(seen) == 3 * len(thoughts(chain)), "P32: analyses are made and counted"


VOTES = ["last", "majority", "ratio", "difference"]
"""The ensembles that do not end a search early."""
UNLIMITED = {"solutions": 1000, "incoming": 1000, "limit_requests": 150}
"""Without U a structure either stays small or grows for ever: the latter is not compared."""


def prompts(seen: list[Call]) -> Counter[str]:
    return Counter(call.prompt for call in seen if call.role == "generate")


def weights(out: Any) -> list[tuple[Any, ...]]:
    """What each solution's vote is worth, and of which counts, as a multiset by path."""
    ends = [(key, t) for key, t in out["tree"].items() if t["status"] == "terminal"]
    return sorted(
        (tuple(texts(path_to(out["tree"], key))), t["alpha"], t["beta"], t["value"])
        for key, t in ends
    )


@pytest.mark.parametrize("pool", POOLS)
async def test_both_ways_of_growing_show_the_same_prompts_and_weigh_alike(pool: range) -> None:
    """As a set, without U and K, where `exhausted` and without `drop_paths`."""
    compared = 0
    for seed in pool:
        draws = random.Random(f"parity {seed}")
        ends, bad = draws.choice([0.4, 0.6]), draws.choice([0.5, 0.7])
        reply = single(walker(seed, ends=ends, bad=bad, values=draws.choice([3, EVERYTHING])))
        settings = {**drawn(seed)[1], **UNLIMITED, "path_rollbacks": draws.randint(0, 3)}
        settings |= {"steps": draws.choice([3, 4, 5]), "ensemble": draws.choice(VOTES)}
        alone, one_by_one = await run("rollback", reply, parallel=False, **settings)
        if alone["stop_reason"] != "exhausted":
            continue
        together, at_once = await run("rollback", reply, parallel=True, **settings)
        assert together["stop_reason"] == "exhausted"
        assert paths(together["tree"]) == paths(alone["tree"])
        assert prompts(at_once) == prompts(one_by_one)
        assert weights(together) == weights(alone)
        assert together["candidates"] == alone["candidates"], "in the order of one path at a time"
        assert together["answer"] == alone["answer"]
        compared += alone["usage"]["rollbacks"] > 0
    assert compared > len(pool) / 8


def forgetful(reply: Reply) -> Reply:
    """The same model, whose steps follow from the latest experience: others change no thought."""

    def latest(call: Call) -> str:
        if call.role != "generate" or "Experience with Analysis, No. " not in call.prompt:
            return str(reply(call))
        head, _, rest = call.prompt.partition("Experience with Analysis, No. ")
        last = rest.rpartition("Experience with Analysis, No. ")[2].partition("\n")[2]
        return str(reply(replace(call, prompt=head + last)))

    return latest


@pytest.mark.parametrize("pool", POOLS)
async def test_a_thought_has_the_same_experiences_however_its_path_is_reached(pool: range) -> None:
    """Also where the budget ends the two ways of growing at different places; without U and K."""
    compared = accumulated = 0
    for seed in pool:
        reply = forgetful(single(walker(seed, ends=0.2, bad=0.9, values=EVERYTHING)))
        settings = {**drawn(seed)[1], **UNLIMITED, "path_rollbacks": 3, "limit_requests": 70}
        shown = []
        for parallel in (True, False):
            out, _ = await run("rollback", reply, parallel=parallel, **settings)
            tree = out["tree"]
            shown.append(
                {
                    tuple(texts(path_to(tree, key))): [
                        texts(path_to(tree, source)) for source in thought.get("experiences", [])
                    ]
                    for key, thought in tree.items()
                }
            )
        for path in shown[0].keys() & shown[1].keys():
            assert shown[0][path] == shown[1][path]
            compared += bool(shown[0][path])
            accumulated += len(shown[0][path]) > 1
    assert compared > accumulated > len(pool)


CORRECTED = {
    ("generate",): "a",
    ("analyse", "a"): "fine",
    ("generate", "a"): "b",
    ("analyse", "a", "b"): "b is wrong",
    ("generate", "a", "b"): f"{MARKER} 10",
    ("analyse", "a", "b", f"{MARKER} 10"): "fine",
    ("analyse", "a", "c"): "a is wrong",
    ("generate", "a", "c"): f"{MARKER} 10",
    ("analyse", "a", "c", f"{MARKER} 10"): "fine",
    ("analyse", "d"): "fine",
    ("generate", "d"): f"{MARKER} 12",
    ("analyse", "d", f"{MARKER} 12"): "fine",
}


def corrected(call: Call) -> str:
    """The chain a, b, whose b is corrected by c, and then a by d."""
    if call.role == "extract_index":
        wrong = ["a is wrong" in call.prompt, "b is wrong" in call.prompt]
        return f"Bad step index: {wrong.index(True) + 1 if any(wrong) else 'None'}"
    if call.role == "generate" and "a is wrong" in call.prompt and "<steps>" not in call.prompt:
        return "d"
    if call.role == "generate" and "b is wrong" in call.prompt and shown(call) == "Step 1. a\n":
        return "c"
    return str(told(CORRECTED)(call))


@MODES
async def test_a_path_is_not_credited_with_the_analysis_of_its_own_mistake(parallel: bool) -> None:
    """Section 4.2: a rollback is outgoing for the thought, incoming for the new path alone."""
    out, _ = await run("rollback", corrected, parallel=parallel)
    ends = {
        texts(path_to(out["tree"], key))[-2]: (t["answer"], t["alpha"], t["beta"], t["value"])
        for key, t in out["tree"].items()
        if t["status"] == "terminal"
    }
    assert ends == {"b": ("10", 1, 0, 0.5), "c": ("10", 1, 1, 1.0), "d": ("12", 0, 1, 2.0)}
    assert (out["answer"], out["ensembles"]["majority"]) == ("12", "10")


def twice(call: Call) -> str:
    """Its first step is found bad after one step and again after two; the correction is bad too."""
    path = shown(call).split("\n")[:-1] if "<steps>" in call.prompt else []
    known = [name for name in "abt" if f"Analysis:\n{name} is wrong" in call.prompt]
    if call.role == "extract_index":
        return f"Bad step index: {1 if 'is wrong' in call.prompt else 'None'}"
    if call.role == "analyse":
        last = path[-1].rpartition(" ")[2]
        return f"{last} is wrong" if last in ("a", "b", "t") else "fine"
    if path:
        return "b" if path == ["Step 1. a"] else f"{MARKER} 1"
    return {"": "a", "a": "t", "ab": "u", "at": "v"}["".join(known)]


@MODES
async def test_tries_beside_each_other_do_not_tell_each_other(parallel: bool) -> None:
    """The second try at the first step came of `a, b`; the third of `t`, which was made before or
    after it as the paths are grown."""
    out, _ = await run("rollback", twice, parallel=parallel)
    tree = out["tree"]
    known = {
        t["text"]: [tree[source]["text"] for source in t.get("experiences", [])]
        for t in tree.values()
        if t["depth"] == 1
    }
    assert known == {"a": [], "t": ["a"], "u": ["a", "b"], "v": ["a", "t"]}


@pytest.mark.ci
async def test_the_published_limits_seldom_change_the_first_solution() -> None:
    """Which rollbacks U admits and which solutions are the first K depends on the order."""
    corrected = alike = unlike_chain = 0
    for seed in range(40):
        reply = single(walker(seed, ends=0.3, bad=0.4, values=EVERYTHING))
        settings = {"steps": 8, "limit_requests": 120}
        alone, _ = await run("rollback", reply, parallel=False, **settings)
        together, _ = await run("rollback", reply, parallel=True, **settings)
        chain, _ = await run("chain", reply, steps=8)
        if alone["usage"]["rollbacks"]:
            corrected += 1
            alike += together["ensembles"]["first"] == alone["ensembles"]["first"]
            unlike_chain += together["ensembles"]["first"] != chain["answer"]
    assert alike > 0.7 * corrected > 0, "though any other prompt gets another answer here"
    assert unlike_chain > corrected / 2, "what was corrected is answered"


async def test_the_first_solution_is_that_of_the_corrected_path() -> None:
    for parallel in (True, False):
        graph = tg.build("rollback", task="gsm8k", model=ScriptedChat(reply=mistaken))
        out = await graph.ainvoke({"problem": "4 + 9?"}, context={"parallel": parallel})
        assert (out["answer"], out["candidates"][1]) == ("13", "14")
        told = {"parallel": parallel, "ensemble": "first"}
        early = await graph.ainvoke({"problem": "4 + 9?"}, context=told)
        assert early["answer"] == "13", "a solution that another may still precede settles nothing"
        assert early["usage"]["requests"] < out["usage"]["requests"]
    graph = tg.build("chain", task="gsm8k", model=ScriptedChat(reply=mistaken))
    assert (await graph.ainvoke({"problem": "4 + 9?"}))["answer"] == "14"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@MODES
async def test_no_text_raises(text: str, parallel: bool) -> None:
    out, _ = await run("rollback", lambda call: text, parallel=parallel, steps=3)
    assert out["stop_reason"] in ("exhausted", "finished")
    # Nothing is to be read out of an empty analysis, so nobody is asked to.
    role = "extract_index" if text.strip() else "analyse"
    assert out["usage"]["parse_errors"][role] == out["usage"]["analyses"]


async def test_an_empty_step_is_asked_for_again_and_then_stands() -> None:
    def once(call: Call) -> str:
        return "" if call.draw is not None and call.draw[3] == 0 else f"{MARKER} 7"

    out, seen = await run("chain", once)
    assert (out["answer"], len(seen)) == ("7", 2)
    out, seen = await run("chain", lambda call: "", steps=2)
    assert [t["text"] for t in list(out["tree"].values())[1:]] == ["(no output)"] * 2
    assert (out["stop_reason"], len(seen)) == ("step_limit", 4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("protocol", ["two_call", "single_call"])
@MODES
async def test_a_run_that_is_stopped_anywhere_ends_the_same(
    seed: int, protocol: str, parallel: bool
) -> None:
    reply, settings = drawn(seed)
    reply = single(reply)
    settings = {**settings, "parallel": parallel, "protocol": protocol}
    whole, _ = await run("rollback", reply, **settings)
    pieces = await interrupted("rollback", Stepping(), reply, **settings)
    assert comparable(pieces) == comparable(whole)


@pytest.mark.parametrize(
    ("text", "bad", "fine"),
    [
        ("Bad step index: 2", [2], True),
        ("Bad step index: 3, 2", [2, 3], True),
        ("bad STEP index: 2 and 2", [2], True),
        ("Bad step index: Step2", [2], True),
        ("Bad step index: steps2-3, step5", [2, 3, 5], True),
        ("Bad step index: Step-2", [2], True),
        ("Bad step index: Step9", [], False),
        ("Bad step index: misstep2", [], False),
        ("Bad step index: None", [], True),
        ("Bad step index: none of the 3", [], True),
        ("Bad step index: 2-4", [2, 3, 4], True),
        ("Bad step index: 1 to 3", [1, 2, 3], True),
        ("Bad step index: 3\u20145", [3, 4, 5], True),
        ("Bad step index: 2 through 4", [2, 3, 4], True),
        ("Bad step indices: 2, 4", [2, 4], True),
        ("**Bad step index:** 1", [1], True),
        ("Bad step index:\n\n  4", [4], True),
        ("Bad step index: 1\nBad step index: 3", [3], True),
        ("Bad step index: 0", [], False),
        ("Bad step index: -2", [], False),
        ("Bad step index: 0, 2, 9", [2], False),
        ("Bad step index: 0, 2", [2], False),
        ("Bad step index: 9, 2", [2], False),
        ("Bad step index: 4-2", [], False),
        ("Bad step index: 3-99", [3, 4, 5], False),
        ("Bad step index: 99999999999999999999999", [], False),
        (f"Bad step index: {', '.join(map(str, range(1, 101)))}", [1, 2, 3, 4, 5], False),
        ("Bad step index: the second one", [], False),
        ("Bad step index: 2 because 3 + 4 is 8", [2], True),
        ("Bad step index: 2 \u2013 the sum is 3 + 4", [2], True),
        ("Bad step index: 2: 3+4=7", [2], True),
        ("Bad step index: Step 2 (3+4=7), Step 4 (vague)", [2, 4], True),
        ("Bad step index: 2 (wrong (3+4) sum); 3: 5-1=4", [2, 3], True),
        ("Bad step index: 2 (and 3)", [2, 3], True),
        ("Bad step index: (2, 3)", [2, 3], True),
        ("Bad step index: 2/5", [2], True),
        ("Bad step index: 2 of 5", [2], True),
        ("Bad step index: Step #3", [3], True),
        ("**Bad step:** 3", [3], True),
        ("Bad steps: 2, 4", [2, 4], True),
        ("Bad step indexes are 2 and 4", [2, 4], True),
        ("Bad step index(es) = [2, 4]", [2, 4], True),
        ('"bad_step_index": 2', [2], True),
        (r"Bad step index: \boxed{2, 3}", [2, 3], True),
        ("Bad step index: $2$", [2], True),
        ("Bad step index\uff1a2\u30013", [2, 3], True),
        ("Bad step index: 2\uff5e4", [2, 3, 4], True),
        ("Bad step index: 2 \u2212 4", [2, 3, 4], True),
        ("Bad step index:\n- 2\n- Step 3: 4 + 5 is 9", [2, 3], True),
        ("Bad step index: No bad step", [], True),
        ("Bad step index: There are no bad steps.", [], True),
        ("Bad step index: all 4 steps are correct", [], True),
        ("Bad step index: N/A", [], True),
        ("Bad step index: No. 2", [2], True),
        ("Bad step index: None except step 2", [2], True),
        ("Bad step index: 2.5", [], False),
        ("Bad step index: every step is wrong", [], False),
        ("Bad step index: 3, which uses 2 instead of 4", [3], True),
        ("Bad step index: Step 3 uses 2 instead of 4", [3], True),
        ("Bad step index: 3 is wrong: 2+2 = 4", [3], True),
        ("Bad step index: 3, not 2", [3], True),
        ("Bad step index: Step 2 is wrong because it uses step 1's result", [2], True),
        ("Bad step index: 3 is wrong; all others are correct", [3], True),
        ("Bad step index: No, step 3", [3], True),
        ("Bad step index: not 1 but 3", [], False),
        ("Bad step index: Steps 1 and 2 are correct; step 3 is wrong", [], False),
        ("Bad step index: 3 or 4", [], False),
        ("Bad step index: 3 and all later ones", [], False),
        ("Bad step index: 3 steps are wrong", [], False),
        ("Bad step index: 1. Step 2", [], False),
        ("Bad step index: every step is sound", [], True),
        ("Bad step index: all 4 are fine", [], True),
        ("Bad step index: not all steps are correct", [], False),
        ("2, 4", [2, 4], True),
        ("2\n4", [], False),
        ("None", [], True),
        ("Bad step index:", [], False),
        ("Steps 2 and 3 are wrong.", [], False),
        ("", [], False),
    ],
)
async def test_where_a_malformed_analysis_leads(text: str, bad: list[int], fine: bool) -> None:
    assert bad_steps(text, 5) == Faults(bad, malformed=int(not fine))

    def fifth(call: Call) -> str:
        if call.role == "generate":
            return f"thought {call.draw}"
        return text if shown_in(call) == 5 else "Bad step index: None"

    for protocol, role in (("two_call", "extract_index"), ("single_call", "analyse")):
        settings = {"steps": 5, "solutions": 1000, "incoming": 1, "protocol": protocol}
        out, _ = await run("rollback", fifth, parallel=False, **settings)
        back = {"to": str(bad[0] - 1), "step": bad[0]} if bad else None
        assert (out["tree"]["5"]["bad"], out["tree"]["5"].get("rollback")) == (bad, back)
        ends = sum("bad" in thought for thought in out["tree"].values() if thought["depth"] == 5)
        counted = out["usage"].get("parse_errors", {})
        assert counted == ({} if fine else {role if text else "analyse": ends})


def shown_in(call: Call) -> int:
    """How many steps a request of the rollback controller is about."""
    return int(re.findall(r"process (?:of|containing) (\d+) step", call.prompt)[-1])


@pytest.mark.parametrize(
    ("settings", "reply", "reason"),
    [
        ({"solutions": 2}, walker(3, ends=0.5, bad=1.0), "finished"),
        ({"solutions": 1}, walker(3, ends=0.5, bad=0.0), "finished"),
        ({}, walker(3, ends=0.5, bad=0.0), "exhausted"),
        ({"limit_requests": 2}, walker(3, ends=0.0, bad=0.0), "budget"),
        ({"limit_requests": 0}, walker(3, ends=0.0, bad=0.0), "budget"),
        ({"limit_thoughts": 2}, walker(3, ends=0.0, bad=0.0), "budget"),
        ({"limit_rounds": 2}, walker(3, ends=0.0, bad=0.0), "round_limit"),
        ({"limit_depth": 2}, walker(3, ends=0.0, bad=0.0), "exhausted"),
    ],
)
@MODES
async def test_why_a_search_ends(settings: Any, reply: Reply, reason: str, parallel: bool) -> None:
    out, seen = await run("rollback", reply, parallel=parallel, **settings)
    assert out["stop_reason"] == reason
    assert len(seen) <= settings.get("limit_requests", EVERYTHING)
    assert len(out["tree"]) - 1 <= settings.get("limit_thoughts", EVERYTHING)


@MODES
async def test_a_failing_endpoint_ends_the_search_with_the_best_answer_so_far(
    parallel: bool,
) -> None:
    def fails(call: Call) -> str:
        if call.role == "extract_index":
            return "Bad step index: 1"
        if call.role == "generate" and call.draw is not None and call.draw[2] == 1:
            raise ModelError("the endpoint is gone")
        return f"{MARKER} 5"

    with pytest.raises(ModelError, match="gone") as failed:
        await run("rollback", fails, parallel=parallel)
    out = failed.value.result
    assert out is not None and (out["stop_reason"], out["answer"]) == ("error", "5")
    assert set(out["ensembles"]) and out["error"] == str(failed.value)


@MODES
async def test_a_model_that_finds_everything_bad_ends(parallel: bool) -> None:
    always = walker(1, ends=0.3, bad=1.0)
    settings = {"steps": 6, "solutions": 1000, "limit_requests": None, "limit_rounds": None}
    out, _ = await run("rollback", always, parallel=parallel, **settings)
    assert out["stop_reason"] == "exhausted"
    into = Counter(t["rollback"]["to"] for t in out["tree"].values() if "rollback" in t)
    assert max(into.values()) == 3, "the published limits are reached, and not exceeded"
    assert max(alpha(out["tree"], key) for key in out["tree"]) <= 4


FORKED = {
    ("generate",): "a",
    ("analyse", "a"): "fine",
    ("generate", "a"): "b",
    ("analyse", "a", "b"): "b is wrong",
    ("generate", "a", "b"): "e",
    ("analyse", "a", "b", "e"): "fine",
    ("generate", "a", "b", "e"): "f",
    ("analyse", "a", "b", "e", "f"): "fine",
    ("generate", "a", "b", "e", "f"): f"{MARKER} 1",
    ("analyse", "a", "b", "e", "f", f"{MARKER} 1"): "fine",
    ("analyse", "a", "d"): "fine",
    ("generate", "a", "d"): f"{MARKER} 2",
    ("analyse", "a", "d", f"{MARKER} 2"): "fine",
}


def forked(call: Call) -> str:
    """The chain a, b, e, f, whose step b is bad; warned of it, d follows a."""
    if call.role == "extract_index":
        return f"Bad step index: {2 if 'b is wrong' in call.prompt else 'None'}"
    if "b is wrong" in call.prompt and shown(call).count("Step ") == 1:
        return "d"
    return str(told(FORKED)(call))


@pytest.mark.parametrize(
    ("parallel", "drop_paths", "grown"),
    [
        (False, True, {"a", "b", "d"}),
        # Analysing b and reading the analysis takes two rounds, in which its path went on.
        (True, True, {"a", "b", "d", "e", "f"}),
        (False, False, {"a", "b", "d", "e", "f"}),
        (True, False, {"a", "b", "d", "e", "f"}),
    ],
)
async def test_a_dropped_path_is_grown_no_further(
    parallel: bool, drop_paths: bool, grown: set[str]
) -> None:
    settings = {"parallel": parallel, "drop_paths": drop_paths, "path_rollbacks": 0}
    out, seen = await run("rollback", forked, **settings)
    kept = {f"{MARKER} 2"} if drop_paths else {f"{MARKER} 1", f"{MARKER} 2"}
    assert {thought["text"] for thought in out["tree"].values()} == {"", *grown, *kept}
    assert out["stop_reason"] == "exhausted"
    assert not any(call.role == "analyse" and shown(call).endswith("f\n") for call in seen)
    within, _ = await run("rollback", forked, **{**settings, "path_rollbacks": 1})
    assert f"{MARKER} 1" in {t["text"] for t in within["tree"].values()}, "one is within the limit"


async def test_dropped_paths_are_the_exception_to_parity() -> None:
    settings = {"drop_paths": True, "path_rollbacks": 0}
    alone, _ = await run("rollback", forked, parallel=False, **settings)
    together, _ = await run("rollback", forked, **settings)
    assert alone["stop_reason"] == together["stop_reason"] == "exhausted"
    beyond = {t["text"] for t in together["tree"].values()} - {
        t["text"] for t in alone["tree"].values()
    }
    assert beyond == {"e", "f"}, "grown before the path is dropped"
    told = RollbackSettings.model_fields["parallel"].description
    assert told is not None
    assert "`drop_paths` is off" in told


@pytest.mark.parametrize("pool", POOLS)
@MODES
async def test_only_dropped_paths_are_left_unfinished(pool: range, parallel: bool) -> None:
    left = 0
    for seed in pool:
        reply = walker(seed, ends=0.2, bad=0.6)
        settings = {"steps": 6, "solutions": 1000, "path_rollbacks": seed % 2, "incoming": 2}
        out, _ = await run("rollback", reply, parallel=parallel, drop_paths=True, **settings)
        tree = out["tree"]
        grown = {thought["parent"] for thought in tree.values()}
        for key, thought in tree.items():
            over = alpha(tree, key) > settings["path_rollbacks"]
            if key not in grown and thought["status"] != "terminal":
                assert over or out["stop_reason"] == "budget"
            left += over and key not in grown and thought["status"] != "terminal"
            assert parallel or not over or key not in grown, "decided before it would grow"
    assert left


async def test_no_experience_is_shown_when_they_are_off() -> None:
    reply = walker(1, ends=0.3, bad=0.6)
    out, seen = await run("rollback", reply, experiences=False)
    assert out["usage"]["rollbacks"]
    assert not any("Experience" in call.prompt for call in seen)


def system(call: Call) -> str:
    return call.prompt.partition("\n")[0]


async def test_the_system_prompts_are_those_of_appendix_b3() -> None:
    """One step a response, the given steps are read first, no error of an experience again."""
    model = ScriptedChat(reply=mistaken)
    graph = tg.build("rollback", task="gsm8k", model=model)
    await graph.ainvoke({"problem": "4 + 9?"})
    said = {call.role: system(call) for call in model.seen}
    for words in ("contains one reasoning step", "Begin by reading", "avoid every error"):
        assert words in said["generate"]
    for words in ("overall logic", "each reasoning step", "Recompute"):
        assert words in said["analyse"]
    for method, settings in (
        ("chain", {}),
        ("level_tot", {"steps": 1}),
        ("rollback", {"experiences": False}),
    ):
        model = ScriptedChat(reply=lambda call: ["Evaluation Score: 1"] * call.n)
        context = {**settings, "limit_requests": 2}
        graph = tg.build(method, task="gsm8k", model=model)
        await graph.ainvoke({"problem": "4 + 9?"}, context=context)
        assert "one reasoning step" in system(model.seen[0])
        assert "experience" not in system(model.seen[0]), "none is ever shown"


@pytest.mark.parametrize("protocol", ["two_call", "single_call"])
@pytest.mark.parametrize(
    ("task", "ends", "variables"),
    [
        ("gsm8k", "The final solution is 13", True),
        ("svamp", "The final solution is 13", True),
        ("math", "The final solution is x + 1", False),
        ("theoremqa", "The final solution is True", False),
        ("aqua", "The final choice is B", False),
        ("mmlu", "The final choice is B", False),
        ("game24", "operation: 4 + 9 = 13", False),
    ],
)
async def test_a_finished_path_is_analysed_by_the_words_of_appendix_b3(
    task: str, ends: str, variables: bool, protocol: str
) -> None:
    """Variables without a value are the official code's question, and asked about numbers alone."""

    def reply(call: Call) -> str:
        if call.role == "generate":
            return ends if "<steps>" in call.prompt else "4 + 9 = 13"
        return "fine\nBad step index: None"

    model = ScriptedChat(reply=reply)
    graph = tg.build("rollback", task=task, model=model)
    problem = "4 9 10 13" if task == "game24" else "What is it?\nA) 1\nB) 2"
    out = await graph.ainvoke({"problem": problem}, context={"protocol": protocol})
    asked = [call.prompt.rpartition("</steps>")[2] for call in model.seen if call.role == "analyse"]
    lasting = "never replaced by its value"
    assert out["tree"][str(len(asked))]["status"] == "terminal"
    assert not any(lasting in text for text in asked[:-1])
    assert (lasting in asked[-1]) is variables
    assert variables or asked[-1] == asked[0], "it asks what every analysis asks"
    assert not any("final solution" in text for text in asked)


async def test_prompts_count_steps_in_english_and_ask_for_one_form() -> None:
    out, seen = await run("rollback", worked)
    texts = [call.prompt for call in seen if call.role in ("analyse", "extract_index")]
    assert any("of 1 step was" in text for text in texts)
    assert any("containing 2 steps:" in text for text in texts)
    assert not any("1 steps" in text for text in texts)
    assert out["answer"] == "1"
    model = ScriptedChat(reply=lambda call: "10 - 4 = 6")
    graph = tg.build("chain", task="game24", model=model)
    await graph.ainvoke({"problem": "4 9 10 13"}, context={"limit_requests": 2})
    for call in model.seen:
        assert "on one line, without further analysis" in call.prompt
        assert "contains its analysis" not in call.prompt


@MODES
async def test_no_bad_step_is_read_out_of_an_empty_analysis(parallel: bool) -> None:
    def silent(call: Call) -> str:
        if call.role == "generate":
            return f"{MARKER} 4" if "<steps>" in call.prompt else "a"
        return " \n" if call.role == "analyse" else "Bad step index: 1"

    out, seen = await run("rollback", silent, parallel=parallel)
    assert Counter(call.role for call in seen) == {"generate": 2, "analyse": 2}
    assert all("no step was found to be bad" in out["tree"][key]["note"] for key in "12")
    assert (out["answer"], out["stop_reason"]) == ("4", "exhausted")
    assert out["usage"]["parse_errors"] == {"analyse": 2}
