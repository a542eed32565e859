"""V(p, S): what is asked about new states, and what is known of them without asking.

A state is judged once, whoever reaches it: its verdict is kept under the key of its prompt.
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
    """What there is to say of the new states that have no value yet."""

    known: Tree = field(default_factory=dict)
    """The fields of those that need no request."""
    reused: int = 0
    """How many of these have the verdict that an earlier request gave."""
    asks: dict[str, Ask[Verdict]] = field(default_factory=dict)
    """What to ask about the others, a question for each distinct state, by state key."""
    alike: dict[str, list[str]] = field(default_factory=dict)
    """The thoughts that an answer is about, by state key; the first is asked about."""


async def judgements(step: Step, new_states: Sequence[str]) -> Judgements:
    """Returns what is known of the new states without a value, and what to ask about them."""
    state, result, seen = step.state, Judgements(), set[str]()
    settings = TotBfsSettings.of(state["settings"])
    tree, task, verdicts = state["thoughts"], step.task(Values), verdicts_in(state["thoughts"])
    for thought in new_states:
        path = path_to(tree, thought)
        line, new = "\n".join(texts(path)), "value" not in tree[thought]
        if new and line in seen:
            result.known[thought] = {"value": 0.0, "note": DUPLICATE}
        elif new:
            judging: Judged = await maybe_await(
                task.value(state["problem"], path, state["settings"])
            )
            if isinstance(judging, Question):
                prompt: Prompt | None = judging.prompt
            else:
                # The official code looks a prompt up before it applies a rule that needs no model,
                # and keeps what the rule said as the prompt's verdict.
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
