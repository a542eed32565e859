"""V(s): asks the model how promising a trajectory is, from 1 to 10."""

from dataclasses import replace
from typing import Any

from thoughtgraph.fan_out import NodeInput
from thoughtgraph.nodes.judge import judge_states, verdict_json
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.questions import drop, kept, state_key_of
from thoughtgraph.parts import Parts
from thoughtgraph.settings.informed import ValuedSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Estimates, Question, Verdict
from thoughtgraph.tree import Path, Thought, path_to

STYLE = "itot"


def estimate(parts: Parts) -> Node:
    """Makes the node that values one trajectory; it runs as one task a thought."""
    return judge_states(parts, _question, _record)


def known_value(parts: Parts, state: SearchState, key: str, verdicts: dict[str, Any]) -> Thought:
    """Returns the value of a trajectory that reads exactly like an earlier one, if there is one."""
    path = path_to(state["tree"], key)
    asked = _estimate(parts, state["settings"], state["problem"], path)
    verdict = verdicts.get(state_key_of(asked.prompt))
    if verdict is None:
        return {}
    drop([key])
    return {"value": verdict["value"]}


def _estimate(
    parts: Parts, settings: dict[str, Any], problem: str, path: Path
) -> Question[Verdict]:
    task = parts.task_for(settings, Estimates)
    return kept(path[-1]["id"], lambda: task.estimate(problem, path, STYLE, settings))


def _question(parts: Parts, given: NodeInput) -> Question[Verdict]:
    question = _estimate(parts, given["settings"], given["problem"], given["path"])
    return replace(question, n=question.n or ValuedSettings.of(given["settings"]).n_evaluate)


def _record(given: NodeInput, question: Question[Verdict], verdict: Verdict) -> Thought:
    key = state_key_of(question.prompt)
    return {"value": verdict.value, "verdicts": {key: verdict_json(verdict)}}
