"""V(p, S): the requests that judge new states, and the values that need no request.

Equal states are judged once: a verdict is kept under the state key, which the prompt determines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import state_key_of, verdict_fields, verdict_json, verdicts_in
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.task import Judged, Prompt, Question, Values, Verdict, maybe_await
from thoughtgraph.tree import Tree, path_to, texts

DUPLICATE = "the same partial solution was created before in this step"


@dataclass
class Judgements:
    """Values and requests for the new states that have no value yet."""

    known: Tree = field(default_factory=dict)
    """New fields of the states that need no request."""
    reused: int = 0
    """Number of these states with the verdict of an earlier request."""
    asks: dict[str, Ask[Verdict]] = field(default_factory=dict)
    """Requests about the other states, one for each distinct state, by state key."""
    alike: dict[str, list[str]] = field(default_factory=dict)
    """Ids of the thoughts that share an answer, by state key; the request is about the first."""


async def judgements(step: Step, new_states: Sequence[str]) -> Judgements:
    """Returns the values of new states that need no request, and the requests about the others."""
    state, result, seen = step.state, Judgements(), set[str]()
    settings = TotBfsSettings.of(state["settings"])
    tree, task, verdicts = state["thoughts"], step.task(Values), verdicts_in(state["thoughts"])
    for thought in new_states:
        path = path_to(tree, thought)
        line, is_new = "\n".join(texts(path)), "value" not in tree[thought]
        if is_new and line in seen:
            result.known[thought] = {"value": 0.0, "note": DUPLICATE}
        elif is_new:
            judging: Judged = await maybe_await(
                task.value(state["problem"], path, state["settings"])
            )
            if isinstance(judging, Question):
                prompt: Prompt | None = judging.prompt
            else:
                # The official code looks a prompt up before it applies a rule that needs no model,
                # and stores the rule's verdict as that of the prompt.
                prompt = judging.instead if settings.repo_compat else None
            key = "" if prompt is None else state_key_of(prompt)
            if key in verdicts:
                result.known[thought] = verdict_fields(key, verdicts[key])
                result.reused += 1
            elif isinstance(judging, Verdict):
                result.known[thought] = {"value": judging.value, "note": judging.label}
                if key:
                    verdicts[key] = verdict_json(judging)
                    result.known[thought] = verdict_fields(key, verdicts[key])
            else:
                ask = Ask(judging, thought, "value", settings.n_evaluate, judges=True)
                result.asks.setdefault(key, ask)
                result.alike.setdefault(key, []).append(thought)
        seen.add(line)
    return result
