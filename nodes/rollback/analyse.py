"""The rollback controller's eyes: a path is analysed, and the bad steps are named (section 4.2)."""

from collections.abc import Sequence
from typing import Any

from thoughtgraph.fan_out import NodeInput
from thoughtgraph.llm.port import Draw
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.judge import judge
from thoughtgraph.nodes.node import Node, fanned_out
from thoughtgraph.parts import Parts
from thoughtgraph.reasoning import TWO_CALLS, Faults, Reviews
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.task import Question
from thoughtgraph.tree import Thought, cut, shortened


def analyse(parts: Parts) -> Node:
    """Makes the node that has the model check a path's steps; it runs as one task a path.

    Returns:
        The node: from a `SendArg` to the thought's `analysis`. Under `single_call` the same answer
        names the bad steps; an empty one names none.
    """

    async def node(given: NodeInput) -> dict[str, Any]:
        asker, key = Asker(parts, given), given["thought"]
        task = parts.task_for(given["settings"], Reviews)
        question = task.analyse(given["problem"], given["path"], given["settings"])
        apart = RollbackSettings.of(given["settings"]).protocol == TWO_CALLS

        def read(samples: Sequence[str]) -> Faults:
            # Nothing can be read out of an empty analysis; asked to, small models make numbers up.
            unnamed = apart and samples[0].strip()
            return Faults() if unnamed else question.read(samples)

        found = await judge(
            asker, Question(question.prompt, read), role="analyse", draw=_draw(given)
        )
        if found is None:
            return asker.update()
        asker.meter.add({"analyses": 1})
        analysis = shortened(found.samples[0].strip())
        new = Thought(analysis=analysis, usage=found.usage)
        if apart and analysis:
            return asker.update(tree={key: new})
        new["bad"] = found.verdict.steps
        return asker.update(tree={key: new}, reports=key)

    return fanned_out(node)


def extract_index(parts: Parts) -> Node:
    """Makes the node that has the model read the bad steps' numbers out of an analysis."""

    async def node(given: NodeInput) -> dict[str, Any]:
        asker, key = Asker(parts, given), given["thought"]
        task = parts.task_for(given["settings"], Reviews)
        question = task.analyse(given["problem"], given["path"], given["settings"])
        found = await judge(asker, question, role="extract_index", draw=_draw(given))
        if found is None:
            return asker.update()
        bad, raw = found.verdict.steps, cut(found.samples[0])
        new = Thought(analysis_raw=raw, bad=bad, usage=found.usage)
        return asker.update(tree={key: new}, reports=key)

    return fanned_out(node)


def _draw(given: NodeInput) -> Draw:
    return Draw(given["problem"], given["thought"])
