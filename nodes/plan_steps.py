"""What is asked for the next steps of a plan, and which worked examples the prompt shows."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.nodes.expand import ThoughtQuestion, one_thought_each
from thoughtgraph.nodes.step import Step
from thoughtgraph.planning import Plans
from thoughtgraph.task import Question, extras
from thoughtgraph.tree import cut


def plan_steps(
    step: Step, key: str, index: int, most: int | None, n: int = 1, **told: Any
) -> ThoughtQuestion:
    """Asks for the next steps of a plan, with no example twice, drawn by seed, problem and call.

    Where `redraw` says so, all calls of a question show the same ones.

    Args:
        step: This run of the node.
        key: Id of the thought to go on from.
        index: How often it was expanded before.
        most: How many steps are wanted; None: all that are left.
        n: How many completions.
        told: What `created_by` says of the call besides.
    """
    task, (problem, path, settings) = step.task(Plans), step.at(key)
    library = extras(task).shots(problem, settings)
    call = (key, index) if settings["redraw"] == "call" else ()
    draws = random.Random(repr((settings["seed"], problem, *call)))
    shots = draws.sample(range(library), min(settings["shots"], library))
    made = {"node": "generate", "expansion": index, "shots": shots, **told}

    def chunk(steps: Sequence[str], text: str) -> Mapping[str, Any]:
        return {"text": "\n".join(steps), "raw": cut(text), "created_by": made}

    question = task.plan(problem, path, shots, most, settings)
    return one_thought_each(Question(question.prompt, question.read, n), n, chunk)
