"""V(p, S): what is asked about new states, and what is known of them without asking.

A state is judged once, whoever reaches it: its verdict is kept under the key of its prompt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from thoughtgraph.nodes.calls import Answer, Ask, join_samples
from thoughtgraph.nodes.rounds import this_round
from thoughtgraph.nodes.verdicts import (
    VoteCounts,
    counted_votes,
    state_key_of,
    unjudged,
    verdict_fields,
    verdict_json,
    verdicts_in,
    words_of,
)
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question, Values, Verdict, Votes
from thoughtgraph.tree import Thought, Tree, cut, path_to, texts

DUPLICATE = "the same partial solution was created before in this step"


@dataclass
class Valuation:
    """What there is to say of the thoughts of a round that have no value yet."""

    verdicts: Tree = field(default_factory=dict)
    """The fields of those that need no request."""
    reused: int = 0
    """How many of these verdicts an earlier request gave."""
    asks: list[Ask[Verdict]] = field(default_factory=list)
    """What to ask about the others, one question a distinct state."""
    alike: dict[str, list[str]] = field(default_factory=dict)
    """By state key: the thoughts that an answer is about, the one that is asked about first."""

    def judged(self, answers: Sequence[Answer[Verdict]]) -> Tree:
        """Returns the fields of the thoughts that are judged now.

        Args:
            answers: The answers to `asks`.
        """
        tree = dict(self.verdicts)
        for answer in answers:
            key = state_key_of(answer.ask.question.prompt)
            kept = verdict_fields(key, verdict_json(answer.reading))
            kept["value_raw"] = cut(join_samples(answer.texts))
            tree |= {thought: Thought(**kept) for thought in self.alike[key]}
            # The request was made once: of equal states the first thought bears its cost.
            tree[answer.ask.about]["usage"] = answer.usage
        return tree


def valuation(run: Run, state: SearchState) -> Valuation:
    """Returns what is known of the new thoughts of a round, and what to ask about the others."""
    tree, known, seen, made = (
        state["thoughts"],
        verdicts_in(state["thoughts"]),
        set[str](),
        Valuation(),
    )
    task = run.task_for(state["settings"], Values)
    for thought in this_round(state):
        path = path_to(tree, thought)
        line, new = "\n".join(texts(path)), "value" not in tree[thought]
        if new and line in seen:
            made.verdicts[thought] = Thought(value=0.0, note=DUPLICATE)
        elif new:
            asked = task.value(state["problem"], path, state["settings"])
            _sort(made, thought, asked, known, state)
        seen.add(line)
    return made


def _sort(
    made: Valuation,
    thought: str,
    asked: Question[Verdict] | Verdict,
    known: dict[str, dict[str, object]],
    state: SearchState,
) -> None:
    """Adds a thought to those that are judged, or to those that are to be asked about."""
    settings = TotBfsSettings.of(state["settings"])
    # The official code looks a prompt up before it applies a rule that needs no model, and keeps
    # what the rule said as the prompt's verdict.
    ruled = asked if isinstance(asked, Verdict) else None
    prompt = ruled.instead if ruled is not None and settings.repo_compat else None
    if isinstance(asked, Question):
        prompt = asked.prompt
    key = "" if prompt is None else state_key_of(prompt)
    if key in known:
        made.verdicts[thought] = verdict_fields(key, known[key])
        made.reused += 1
    elif isinstance(asked, Verdict):
        kept = verdict_fields(key, verdict_json(asked)) if key else None
        made.verdicts[thought] = kept or Thought(value=asked.value, note=asked.label)
        if key:
            known[key] = verdict_json(asked)
    elif key in made.alike:
        made.alike[key].append(thought)
    else:
        made.alike[key] = [thought]
        made.asks.append(Ask(asked, thought, "value", settings.n_evaluate, judges=True))


def vote(run: Run, state: SearchState) -> list[Ask[VoteCounts]]:
    """Returns the question that compares the thoughts of a round; none when all have votes."""
    keys, settings = unjudged(state, this_round(state)), state["settings"]
    if not keys:
        return []
    paths = [path_to(state["thoughts"], key) for key in keys]
    asked = run.task_for(settings, Votes).vote(state["problem"], paths, settings)
    n = TotBfsSettings.of(settings).n_evaluate
    return [Ask(counted_votes(asked, len(keys)), keys[0], "vote", n, judges=True)]


def voted(state: SearchState, answers: Sequence[Answer[VoteCounts]]) -> Tree:
    """Returns the votes that the thoughts of a round have."""
    tree: Tree = {}
    for answer in answers:
        votes, unread = answer.reading
        lost: Thought = {"unread": unread} if unread else {}
        counts = zip(unjudged(state, this_round(state)), votes, strict=True)
        tree = {key: {"value": float(count), **lost} for key, count in counts}
        tree[answer.ask.about] |= words_of(answer)
    return tree
