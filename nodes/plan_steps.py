"""What is asked for the next steps of a plan, and which worked examples the prompt shows."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.method import GeneratorInput, ThoughtQuestion
from thoughtgraph.nodes.expand import one_thought_each
from thoughtgraph.planning import Plans
from thoughtgraph.run import Run
from thoughtgraph.task import Question, extras
from thoughtgraph.tree import cut


def plan_steps(
    run: Run, about: GeneratorInput, most: int | None, n: int = 1, **told: Any
) -> ThoughtQuestion:
    """Asks for the next steps of a plan, with no example twice, drawn by seed, problem and call.

    Where `redraw` says so, all calls of a question show the same ones.

    Args:
        run: The objects of the graph.
        about: The path to go on from.
        most: How many steps are wanted; None: all that are left.
        n: How many completions.
        told: What `created_by` says of the call besides.
    """
    settings, problem = about["settings"], about["problem"]
    task, index = run.task_for(settings, Plans), about.get("expansion", 0)
    library = extras(task).shots(problem, settings)
    call = (about["thought"], index) if settings["redraw"] == "call" else ()
    draws = random.Random(repr((settings["seed"], problem, *call)))
    shots = draws.sample(range(library), min(settings["shots"], library))
    made = {"node": "generate", "expansion": index, "shots": shots, **told}

    def chunk(steps: Sequence[str], text: str) -> Mapping[str, Any]:
        return {"text": "\n".join(steps), "raw": cut(text), "created_by": made}

    question = task.plan(problem, about["path"], shots, most, settings)
    return one_thought_each(Question(question.prompt, question.read, n), n, chunk)
