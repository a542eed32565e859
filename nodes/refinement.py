"""Adds one output after the latest one: the first try, or a refinement."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.llm.port import Draw
from thoughtgraph.method import ThoughtQuestion
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.nodes.node_input import node_input
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Answers, Question, Refines
from thoughtgraph.tree import Thought, bounded, grow

GIVEN = "given by the caller"


def output_question(parts: Parts, given: NodeInput) -> ThoughtQuestion:
    """Asks outright for a first output, and for a better one once there is one."""
    problem, path, options = given["problem"], given["path"], given["settings"]
    if path:
        question = parts.task_for(options, Refines).refine(problem, path, options)
    else:
        question = parts.task_for(options, Answers).ask(problem, "io", options)

    def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
        answers = zip(question.read(samples), samples, strict=True)
        return [bounded({"text": text, "answer": found, "raw": text}) for found, text in answers]

    return Question(question.prompt, read, 1)


def add_output(parts: Parts, role: Literal["generate", "refine"]) -> Node:
    """Makes the node that adds one output, the child of the latest one.

    Args:
        parts: The graph's objects.
        role: `generate` for the first output, which is the caller's `draft` if there is one (the
            model is not asked then); `refine` for the others.

    Returns:
        The node. When a limit or a failing endpoint forbids the request it stops the search.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        latest = state["frontier"][0]
        if reason := blocking_limit(state, latest):
            return {"stop_reason": reason}
        asker, given = Asker(parts, state), node_input(state, SendArg(thought=latest, expansion=0))
        draft = state["settings"]["draft"] if role == "generate" else ""
        question = output_question(parts, given)
        if draft:
            output = {**question.read([draft])[0], "note": GIVEN}
        else:
            draw = Draw(state["problem"], latest)
            samples = await asker.samples(question.prompt, role=role, draw=draw)
            if samples is None:
                return {"stop_reason": "budget", **asker.update()}
            output = {**question.read(samples)[0]}
            if output["answer"] is None:
                asker.meter.parse_error(role)
        rounds = int(role == "refine")
        asker.meter.add({"thoughts": 1, "expansions": 0 if draft else 1, "rounds": rounds})
        return asker.update(**_added(state, output, asker.meter.by_role()))

    return node


def _added(
    state: SearchState, output: Mapping[str, Any], usage: dict[str, dict[str, float]]
) -> dict[str, Any]:
    latest = state["frontier"][0]
    parent: Thought = {"status": "expanded", "usage": usage}
    new = grow(state["tree"], latest, [output])
    return {
        "tree": {latest: parent, **new},
        "frontier": list(new),
        "generation": [*state["generation"], *new],
    }
