"""V(p, S): asks the model how promising partial solutions are."""

from dataclasses import replace
from typing import Any

from langgraph.types import Send

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.judge import (
    counted_votes,
    judge,
    judge_states,
    unjudged,
    verdict_fields,
    verdict_json,
)
from thoughtgraph.nodes.node import Node, fanned_out
from thoughtgraph.nodes.questions import Keyed, kept, keyed
from thoughtgraph.parts import Parts
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question, Values, Verdict, Votes
from thoughtgraph.tree import Path, Thought, Tree, path_to


def evaluate(parts: Parts) -> Node:
    """Makes the node that judges: one task a distinct state for values, one a step for votes."""
    value, vote = judge_states(parts, _question, _record), _vote(parts)

    async def node(sent: SendArg) -> dict[str, Any]:
        return await (vote if sent.get("vote") else value)(sent)

    return node


def value_sends(parts: Parts, state: SearchState) -> list[Send]:
    """Returns one task for each distinct state of this step without a value, in creation order."""
    distinct: dict[str, SendArg] = {}
    for thought in unjudged(state):
        path = path_to(state["tree"], thought)
        asked = value_question(parts, state["settings"], state["problem"], path)
        if isinstance(asked, Verdict):
            continue
        if asked.key in distinct:
            distinct[asked.key]["about"].append(thought)
        else:
            distinct[asked.key] = {"key": asked.key, "about": [thought]}
    return [Send("evaluate", sent) for sent in distinct.values()]


def vote_sends(state: SearchState) -> list[Send]:
    """Returns the one task that compares all thoughts of this step; none when all have votes."""
    keys = unjudged(state)
    return [Send("evaluate", SendArg(about=keys, vote=True))] if keys else []


def value_question(
    parts: Parts, settings: dict[str, Any], problem: str, path: Path
) -> Keyed | Verdict:
    """Returns what must be asked to value a path's last thought, or the verdict on it."""
    task = parts.task_for(settings, Values)
    return kept(path[-1]["id"], lambda: keyed(task.value(problem, path, settings)))


def _question(parts: Parts, given: NodeInput) -> Question[Verdict]:
    asked = value_question(parts, given["settings"], given["problem"], given["path"])
    assert isinstance(asked, Keyed), "a verdict without a request is written by register"
    n = asked.question.n or TotBfsSettings.of(given["settings"]).n_evaluate
    return replace(asked.question, n=n)


def _record(given: NodeInput, question: Question[Verdict], verdict: Verdict) -> Thought:
    return verdict_fields(given["key"], verdict_json(verdict))


def _vote(parts: Parts) -> Node:
    async def node(given: NodeInput) -> dict[str, Any]:
        asker, about, settings = Asker(parts, given), given["about"], given["settings"]
        asked = parts.task_for(settings, Votes).vote(given["problem"], given["paths"], settings)
        question = counted_votes(asked, len(about))
        found = await judge(asker, question, role="vote", n=TotBfsSettings.of(settings).n_evaluate)
        if found is None:
            return asker.update(tree={})
        votes, unread = found.verdict
        asker.meter.add({"evaluated": len(votes)})
        lost: Thought = {"unread": unread} if unread else {}
        tree: Tree = {key: {"value": float(n), **lost} for key, n in zip(about, votes, strict=True)}
        tree[about[0]] |= found.fields()
        return asker.update(tree=tree)

    return fanned_out(node)
