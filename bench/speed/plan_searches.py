"""Searches for plans about scenes: steps judged in a second of the CPU, and what a check costs.

A scripted model writes the gold plan, and a fault now and then, so what is measured is everything
but a model: prompts with four examples drawn afresh, port, LangGraph, the evaluator.

A step of the search is a call of the generator, accepted or refused, as the paper counts. A step of
a plan is one line; `tomt_tot` writes one a call. Both rates are told over the whole run and for its
quietest tenth, because other work on the machine slows a CPU second down.
"""

import gc
import itertools
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import thoughtgraph as tg
from thoughtgraph.bench.questions.question_types import TYPES
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.bench.speed.measurement import Conditions, Figure, Measurement, Readings
from thoughtgraph.llm.scripted import Call, ScriptedChat
from thoughtgraph.tasks.scenes.plan_evaluator import judge
from thoughtgraph.tasks.scenes.question_reading import read
from thoughtgraph.tasks.scenes.scenes import numbered, rules_of
from thoughtgraph.tasks.scenes.step_meaning import plan_meaning
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tree import ROOT

FAULT = "Step 1:obj1 = filter_objects(table)"
FAULTY = 3
"""Every so many calls the model writes a fault."""
FAULTY_SHARE = 0.4
"""The share of faults where they hang on the call alone."""
PIECES = 10
"""Parts of a run that are timed one by one, with an idle superstep after each."""
BRANCHES = 3
"""b, as in the paper."""
PROFILES = ("paper", "grounded")


def plan_writer(
    questions: Sequence[SceneQuestion], fails: Callable[[Call], bool], latency: float = 0.0
) -> ScriptedChat:
    """Returns a model that writes the gold plan of the question in the prompt, or a fault.

    Args:
        questions: The questions.
        fails: Whether a call writes a fault.
        latency: Seconds that an answer takes.
    """
    plans = {question.question: numbered(question.plan) for question in questions}

    def reply(call: Call) -> str:
        question = call.prompt.rpartition("Question: ")[2].partition("\n")[0]
        return FAULT if fails(call) else plans[question]

    return ScriptedChat(reply=reply, delay=latency)


class Piece(NamedTuple):
    """What a part of the searches did, or all of them."""

    right: int
    calls: int
    """Calls of the generator, which are the search's steps."""
    lines: int
    """Steps of plans that were judged, refused ones included."""
    seconds: float
    """Of the CPU."""

    def seconds_a_call(self) -> float:
        """Returns the CPU seconds of one call."""
        return self.seconds / self.calls


async def searched(graph: Any, questions: Sequence[SceneQuestion]) -> Piece:
    """Searches some questions, one after the other."""
    right = calls = lines = 0
    began = time.process_time()
    for question in questions:
        context = {"evaluator": "grounded"}
        out = await graph.ainvoke({"problem": question.problem()}, context=context)
        judged = [thought["text"] for key, thought in out["tree"].items() if key != ROOT]
        right += out["answer"] == question.answer
        calls += len(judged)
        lines += sum(text.count("\n") + 1 for text in judged)
    return Piece(right, calls, lines, time.process_time() - began)


class Counted(TypedDict):
    """The state of a graph that counts."""

    n: int


async def superstep(steps: int = 300) -> float:
    """Returns the CPU seconds of one superstep of LangGraph on this machine, now."""

    async def count(state: Counted) -> Counted:
        return {"n": state["n"] + 1}

    async def again(state: Counted) -> Literal["count", "__end__"]:
        return "count" if state["n"] < steps else "__end__"

    builder = StateGraph(Counted)
    builder.add_node("count", count)
    builder.add_edge(START, "count")
    builder.add_conditional_edges("count", again)
    graph = builder.compile()
    began = time.process_time()
    await graph.ainvoke({"n": 0}, {"recursion_limit": 2 * steps})
    return (time.process_time() - began) / steps


async def rates(under: Conditions) -> Readings:
    """Returns how many steps a CPU second judges, and a call's cost in idle supersteps."""
    questions = generate("ptr", "sum", under.count, 1)
    calls = itertools.count(1)
    model = plan_writer(questions, lambda call: next(calls) % FAULTY == 0)
    graph = tg.build("tomt_tot", task="ptr", model=model)
    await searched(graph, questions[:1])  # warms imports up
    pieces: list[Piece] = []
    idle: list[float] = []
    for at in range(0, under.count, size := max(1, under.count // PIECES)):
        pieces.append(await searched(graph, questions[at : at + size]))
        idle.append(await superstep())
    whole = Piece(*map(sum, zip(*pieces, strict=True)))
    quietest = min(pieces, key=Piece.seconds_a_call)
    costs = [piece.seconds_a_call() / each for piece, each in zip(pieces, idle, strict=True)]
    return {
        "answers that are right": whole.right / under.count,
        "calls of a search": whole.calls / under.count,
        "steps of a gold plan": statistics.mean(question.hop for question in questions),
        "calls": whole.calls / whole.seconds,
        "calls, quietest": quietest.calls / quietest.seconds,
        "steps of plans": whole.lines / whole.seconds,
        "steps of plans, quietest": quietest.lines / quietest.seconds,
        "an idle superstep, quietest": 1e6 * min(idle),
        "a call": statistics.median(costs),
    }


def checking(questions: Sequence[SceneQuestion], profile: str) -> list[float]:
    """Returns the CPU seconds of judging each step of the gold plans, one by one as a search does.

    The steps before it are read from the state that the last verdict left. Each question is read
    and judged for the first time: nothing is known from an earlier run.
    """
    plan_meaning.cache_clear()
    read.cache_clear()
    gc.collect()
    gc.freeze()  # the questions themselves are no cost of checking
    chosen = {"empty": "strict", "ambiguous": "error", "tools_profile": "extended"}
    rules = rules_of({**chosen, "evaluator": profile})
    times = []
    for question in questions:
        scene, state = Scene.from_json(question.scene), None
        for line in question.plan:
            began = time.process_time()
            judged = judge(question.question, scene, state, [line], rules)
            times.append(time.process_time() - began)
            state = judged.state
    return times


async def checks(under: Conditions) -> Readings:
    """Returns the milliseconds of a verdict on one step, of the quietest of three runs."""
    count = -(-under.count // (2 * len(TYPES)))
    questions = [q for s in ("ptr", "clevr") for kind in TYPES for q in generate(s, kind, count, 0)]
    readings: dict[str, float] = {}
    for profile in PROFILES:
        runs = [checking(questions, profile) for _ in range(3)]
        quietest = min(runs, key=sum)
        readings[f"{profile}, mean"] = 1000 * statistics.fmean(quietest)
        readings[f"{profile}, median"] = 1000 * statistics.median(quietest)
        readings[f"{profile}, 95 %"] = 1000 * statistics.quantiles(quietest, n=20)[-1]
    return readings


async def speculated(under: Conditions) -> Readings:
    """Returns what siblings generated ahead of need cost and save, against none."""
    questions = generate("ptr", "sum", under.count, 1)

    def fails(call: Call) -> bool:
        return random.Random(repr(list(call.draw or ()))).random() < FAULTY_SHARE

    model = plan_writer(questions, fails, under.latency / 2)
    graph = tg.build("tomt_tot", task="ptr", model=model)
    plain, *_ = await _ahead(graph, questions[:1], 0)  # warms imports up
    plain, requests, levels, seconds = await _ahead(graph, questions, 0)
    readings: dict[str, float] = {}
    same = 0
    for ahead in range(1, BRANCHES + 1):
        found, *cost = await _ahead(graph, questions, ahead)
        same += sum(one == other for one, other in zip(found, plain, strict=True))
        readings[f"{ahead} ahead, requests"] = cost[0] / requests
        readings[f"{ahead} ahead, dependent levels"] = cost[1] / levels
        readings[f"{ahead} ahead, wall time"] = cost[2] / seconds
    return {"results that stay the same": same / (BRANCHES * under.count), **readings}


async def _ahead(
    graph: Any, questions: Sequence[SceneQuestion], speculate: int
) -> tuple[list[Any], int, int, float]:
    """Returns all trees and answers; the requests, dependent levels and seconds of them all."""
    found: list[Any] = []
    requests = levels = 0
    began = time.perf_counter()
    for question in questions:
        context = {"speculate": speculate, "branches": BRANCHES}
        out = await graph.ainvoke({"problem": question.problem()}, context=context)
        found.append((out["tree"], out["answer"], out["stop_reason"]))
        requests += out["usage"]["requests"]
        levels += out["usage"]["levels"]
    return found, requests, levels, time.perf_counter() - began


PLAN_SEARCHES = Measurement(
    "plan_searches",
    "calls and steps of plans that tomt_tot judges in a second of the CPU, the model's time aside",
    "1,000 generated questions (--count), every third call a fault, one process",
    (
        Figure("answers that are right", "share"),
        Figure("calls of a search", ""),
        Figure("steps of a gold plan", ""),
        Figure("calls", "1/CPU s"),
        Figure("calls, quietest", "1/CPU s"),
        Figure("steps of plans", "1/CPU s"),
        Figure("steps of plans, quietest", "1/CPU s"),
        Figure("an idle superstep, quietest", "CPU us"),
        Figure("a call", "idle supersteps"),
    ),
    count=1000,
    quick=20,
    take=rates,
)
PLAN_CHECKS = Measurement(
    "plan_checks",
    "what checking one step of a plan costs, alone, in the environment after the step before",
    "gold plans of 1,000 questions (--count) of all types and styles, quietest of three runs",
    tuple(
        Figure(f"{profile}, {kind}", "CPU ms/step")
        for profile in PROFILES
        for kind in ("mean", "median", "95 %")
    ),
    count=1000,
    quick=18,
    take=checks,
)
SPECULATION = Measurement(
    "speculation",
    "what siblings generated ahead of need (`speculate`) cost tomt_tot and save it, against none",
    "10 questions (--count), b = 3, faults in 40 % of the calls, half of --latency a request",
    (
        Figure("results that stay the same", "share", least=1.0),
        *(
            Figure(f"{ahead} ahead, {cost}", "x")
            for ahead in range(1, BRANCHES + 1)
            for cost in ("requests", "dependent levels", "wall time")
        ),
    ),
    count=10,
    quick=2,
    take=speculated,
)
