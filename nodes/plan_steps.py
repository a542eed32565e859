"""The question for the next steps of a plan, with the worked examples that its prompt shows."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.nodes.expand import ThoughtQuestion, one_thought_each
from thoughtgraph.nodes.step import Step
from thoughtgraph.planning import Plans
from thoughtgraph.task import Question, extras
from thoughtgraph.tree import cut


def plan_steps(
    step: Step, key: str, index: int, most: int | None, n: int = 1, **details: Any
) -> ThoughtQuestion:
    """Returns a question for the next steps of a plan, with examples drawn without replacement.

    The draw depends on seed, problem and call; without `redraw="call"`, on seed and problem alone.

    Args:
        step: This run of the node.
        key: Id of the thought to continue.
        index: How often the thought was expanded before.
        most: Most steps to request; None: all that are left.
        n: Number of completions.
        details: Further fields of `created_by`.
    """
    task, (problem, path, settings) = step.task(Plans), step.at(key)
    available = extras(task).shots(problem, settings)
    call = (key, index) if settings["redraw"] == "call" else ()
    draws = random.Random(repr((settings["seed"], problem, *call)))
    shots = draws.sample(range(available), min(settings["shots"], available))
    created_by = {"node": "generate", "expansion": index, "shots": shots, **details}

    def chunk(steps: Sequence[str], text: str) -> Mapping[str, Any]:
        return {"text": "\n".join(steps), "raw": cut(text), "created_by": created_by}

    question = task.plan(problem, path, shots, most, settings)
    return one_thought_each(Question(question.prompt, question.read, n), n, chunk)
