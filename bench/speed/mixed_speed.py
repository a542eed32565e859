"""How many steps of plans a search judges in a second when the model takes no time.

    python -m thoughtgraph.bench.speed.mixed_speed --questions 1000

Generated questions are searched one after the other in one process; a scripted model writes the
gold plan, and a fault in every third call. What is measured is everything but a model: prompts with
four examples drawn afresh, port, LangGraph, the evaluator.

A step of the search is a call of the generator, accepted or refused, as the paper counts. A step of
a plan is one line; with `tomt_tot` a call writes one, with the other methods several. Both rates
are printed, over the whole run and for its quietest tenth, because other work on the machine slows
a CPU second down.
"""

import argparse
import asyncio
import itertools
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import thoughtgraph as tg
from thoughtgraph.bench.questions.plan_writer import PlanWriter, plans_of
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.tasks.scenes.plan_evaluator import judge
from thoughtgraph.tasks.scenes.task import rules_of
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tree import ROOT

FAULTY = 3
"""Every so many calls the model writes a fault."""
PIECES = 10
"""Parts of a run that are timed one by one, with an idle superstep after each."""


async def main(count: int, method: str, settings: Mapping[str, Any]) -> None:
    """Measures and prints."""
    questions = generate("ptr", "sum", count, 1)
    calls = itertools.count(1)
    model = PlanWriter(plans=plans_of(questions), fails=lambda draw: next(calls) % FAULTY == 0)
    graph = tg.build(method, task="ptr", model=model)
    await graph.ainvoke({"problem": questions[0].problem()}, context=settings)  # warm up
    pieces: list[Piece] = []
    idle: list[float] = []
    for at in range(0, count, size := max(1, count // PIECES)):
        pieces.append(await searched(graph, questions[at : at + size], settings))
        idle.append(await superstep())
    whole = Piece(*map(sum, zip(*pieces, strict=True)))
    print(f"{method}: {count} questions, {whole.right} right, {whole.calls} calls")
    hops = statistics.mean(question.hop for question in questions)
    print(f"a gold plan has {hops:.1f} steps, a search makes {whole.calls / count:.1f} calls")
    for name, some in (("all", whole), ("quietest", min(pieces, key=Piece.seconds_a_call))):
        print(
            f"{name}: {some.calls / some.seconds:.0f} calls and {some.lines / some.seconds:.0f} "
            "steps of plans a CPU second"
        )
    print(f"a superstep that does nothing: {1e6 * min(idle):.0f} us (quietest)")
    costs = [piece.seconds_a_call() / each for piece, each in zip(pieces, idle, strict=True)]
    print(f"a call: {statistics.median(costs):.1f} of them (median)")
    for profile in ("paper", "grounded"):
        times = checking(questions, profile)
        print(
            f"checking, {profile}: {1000 * statistics.median(times):.3f} ms a step of a plan "
            f"(median), {1000 * statistics.quantiles(times, n=20)[-1]:.3f} (95 %)"
        )


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


async def searched(
    graph: Any, questions: Sequence[SceneQuestion], settings: Mapping[str, Any]
) -> Piece:
    """Searches some questions, one after the other."""
    right = calls = lines = 0
    began = time.process_time()
    for question in questions:
        out = await graph.ainvoke({"problem": question.problem()}, context=settings)
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

    chart = StateGraph(Counted)
    chart.add_node("count", count)
    chart.add_edge(START, "count")
    chart.add_conditional_edges("count", again)
    graph = chart.compile()
    began = time.process_time()
    await graph.ainvoke({"n": 0}, {"recursion_limit": 2 * steps})
    return (time.process_time() - began) / steps


def checking(questions: Sequence[SceneQuestion], profile: str) -> list[float]:
    """Returns the CPU seconds of judging each step of the gold plans, one by one as a search does.

    The steps before it are read from the state that the last verdict left.
    """
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--method", default="tomt_tot")
    parser.add_argument("--evaluator", default="grounded")
    arguments = parser.parse_args()
    settings = {"evaluator": arguments.evaluator}
    asyncio.run(main(arguments.questions, arguments.method, settings))
