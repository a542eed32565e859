"""FGDIP's steps: openings, one child after another, labels, visits, rejected answers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from thoughtgraph.acting import Concludes, Extracts, Verifies
from thoughtgraph.nodes.actions import (
    awaits_tool,
    carry_out,
    hints_of,
    move_ask,
    move_fields,
    same_action,
    shown_field,
    thought_fields,
)
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.feedback.traversal import labelled, spare_requests
from thoughtgraph.nodes.generators import generator_input
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place_below
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import unjudged, words_of
from thoughtgraph.outcome import ACCEPTED, FAILED, FORCED, REJECTED
from thoughtgraph.run import Run
from thoughtgraph.settings.feedback import FgdipSettings
from thoughtgraph.state import FeedbackState, SearchState
from thoughtgraph.task import Checks, Estimates, Task, extras
from thoughtgraph.tree import ROOT, Shown, Thought, Tree, bounded, cut, grow, path_to

STYLE = "fgdip"
MOST_ENTITIES = 20
"""Entities of the first layer (unpublished; ours)."""
UNREAD = "the judgement could not be read"
SAME = "the same action as a thought beside it"


def extract(run: Run) -> Node:
    """Makes the node that begins at each key entity of the problem: the first layer.

    A completion without entities begins at the problem itself.
    """

    async def extract(state: FeedbackState) -> dict[str, Any]:
        settings, step = FgdipSettings.of(state["settings"]), Step(run, state)
        task = run.task_for(state["settings"], Extracts)
        question = task.extract(state["problem"], state["settings"])
        answers = await step.ask([Ask(question, ROOT, "extract")])
        if not answers:
            return step.update(stop_reason="budget")
        [said] = answers
        if any(move.malformed for move in said.reading):
            step.count(parse_errors={"extract": 1})
        given = generator_input(state, ROOT)
        made = {"created_by": {"node": "extract"}}
        entities = said.reading[:MOST_ENTITIES]
        fields = [{**thought_fields(run, given, move, ""), **made} for move in entities]
        placed = place_below(state, ROOT, fields, said.usage)
        placed.parents[ROOT]["raw"] = cut(said.texts[0])
        step.count(thoughts=len(placed.new), expansions=1)
        return step.update(
            thoughts=labelled(state, placed.tree, list(placed.new)),
            generation=list(placed.new),
            tried=settings.n_generate,
            stop_reason="" if placed.new else "budget",
        )

    return extract


def generate_next(run: Run) -> Node:
    """Makes the node that adds one child, which sees those before it and the rejected answers."""

    async def generate(state: FeedbackState) -> dict[str, Any]:
        parent, step, shown = state["frontier"][0], Step(run, state), _shown(state)
        if blocking_limit(state, parent):
            return {"stop_reason": "budget"}
        hints = hints_of(state["thoughts"], shown)
        ask = move_ask(run, state, parent, STYLE, hints, times=state["tried"])
        answers = await step.ask([ask])
        if not answers:
            return step.update(stop_reason="budget")
        [said] = answers
        move, fields = said.reading[0], move_fields(run, state, said)
        if move.malformed or fields.get("action", {}) is None:
            step.count(parse_errors={"generate": 1})
        made = {"node": "generate", "expansion": 0, "sample": state["tried"]}
        thought = {**fields, **shown_field(shown), "created_by": made}
        placed = place_below(state, parent, [thought], said.usage)
        (child,) = placed.new.values()
        same = any(same_action(child, state["thoughts"][kid]) for kid in state["generation"])
        if same:  # it stays in the tree, as it was paid for
            child["status"], child["note"] = "pruned", SAME
        step.count(thoughts=1, expansions=int(state["tried"] == 0))
        all_tried = FgdipSettings.of(state["settings"]).n_generate
        new = [] if same else list(placed.new)
        return step.update(
            thoughts=labelled(state, placed.tree, new),
            generation=[*state["generation"], *new],
            tried=all_tried if move.only else state["tried"] + 1,
        )

    return generate


def call_tools(run: Run) -> Node:
    """Makes the node that carries out the actions of a layer's new steps."""

    async def call_tool(state: FeedbackState) -> dict[str, Any]:
        step, tree = Step(run, state), state["thoughts"]
        keys = [key for key in state["generation"] if awaits_tool(tree[key])]
        called = await carry_out(run, state, step, keys)
        reason = "" if len(called) == len(keys) else "budget"
        return step.update(thoughts=labelled(state, called, list(called)), stop_reason=reason)

    return call_tool


def label(run: Run) -> Node:
    """Makes the node that has the model label the steps of a layer sure, maybe or impossible."""

    async def evaluate(state: FeedbackState) -> dict[str, Any]:
        step, tree = Step(run, state), Tree()
        task = run.task_for(state["settings"], Estimates)
        asks = []
        for key in unjudged(state, state["generation"])[: spare_requests(state)]:
            path = path_to(state["thoughts"], key)
            question = task.estimate(state["problem"], path, STYLE, state["settings"])
            asks.append(Ask(question, key, "step_eval", judges=True))
        answers = await step.ask(asks)
        for answer in answers:
            tree[answer.ask.about] = {
                "value": answer.reading.value,
                "note": answer.reading.label,
                **words_of(answer),
            }
        step.count(evaluated=len(answers))
        return step.update(thoughts=tree)

    return evaluate


def verify(run: Run) -> Node:
    """Makes the node that asks whether the visited answer is on topic and the right one.

    The model finds the possible answer itself (section 3.3.2, appendix E.3). A judgement that
    cannot be read rejects it. What is rejected, and why, is shown to every generation from then on.
    """

    async def verify(state: FeedbackState) -> dict[str, Any]:
        exact, key = FgdipSettings.of(state["settings"]).exact_check, state["frontier"][0]
        answer, step = state["thoughts"][key].get("answer") or "", Step(run, state)
        told = {"oracle": True} if exact else {}
        if exact:
            right = run.task_for(state["settings"], Checks).check(state["problem"], answer)
            good, reason, verdict = right, FAILED, Thought(value_raw="", usage={})
        else:
            task = run.task_for(state["settings"], Verifies)
            question = task.verify(state["problem"], answer, state["settings"])
            answers = await step.ask([Ask(question, key, "answer_eval", judges=True)])
            if not answers:
                return step.update(stop_reason="budget")
            [said] = answers
            good, reason = said.reading.value > 0, said.reading.label
            reason = UNREAD if said.reading.malformed else reason
            verdict = words_of(said)
        if good:
            step.count(rounds=state["step"] - state["usage"].get("rounds", 0))
            ended = "verified" if exact else "finished"
            return step.update(
                thoughts={key: {**verdict, "note": ACCEPTED}}, stop_reason=ended, **told
            )
        note = cut(f"{REJECTED}{reason or 'no reason given'}")
        rejected = [*state["rejected"], key]
        return step.update(thoughts={key: {**verdict, "note": note}}, rejected=rejected, **told)

    return verify


def conclude(run: Run) -> Node:
    """Makes the node that forces an answer from the deepest trajectory that is not impossible."""

    async def conclude(state: FeedbackState) -> dict[str, Any]:
        tree, settings, step = state["thoughts"], state["settings"], Step(run, state, last=True)
        hopeful = [key for key in tree if key == ROOT or tree[key]["status"] != "pruned"]
        deepest = max(hopeful, key=lambda key: tree[key]["depth"])
        task = run.task_for(settings, Concludes)
        question = task.conclude(state["problem"], path_to(tree, deepest), settings)
        answers = await step.ask([Ask(question, deepest, "conclude")])
        answer = answers[0].reading if answers else None
        if answers and answer is None:
            step.count(parse_errors={"conclude": 1})
        if answer is None:
            return step.update()
        text = answers[0].texts[0]
        forced = bounded({"text": text, "raw": text, "answer": answer})
        end: Thought = {
            "status": "terminal",
            "usage": answers[0].usage,
            "note": FORCED,
            "created_by": {"node": "conclude"},
        }
        # Not placed as others are: the thought above was not expanded and does not bear the cost.
        new = grow(tree, deepest, [{**forced, **end}])
        step.count(thoughts=1)
        return step.update(thoughts=new, frontier=list(new))

    return conclude


def answers(run: Run, found: SearchState) -> Sequence[str]:
    """Returns the accepted or forced answer, else the rejected ones, the most frequent first.

    Of equally frequent ones the latest is first. A search that a limit cut short before an answer
    was checked returns those it has.
    """
    state = cast("FeedbackState", found)
    tree, rejected = state["thoughts"], state["rejected"]
    if state["stop_reason"] in ("finished", "verified") or not rejected:
        ends = [key for key in state["frontier"] if "answer" in tree[key]]
        cut_short = state["stop_reason"] in ("budget", "error") and not ends
        return [key for key in tree if "answer" in tree[key]] if cut_short else ends
    normalize = extras(run.task_for(state["settings"], Task)).normalize
    form = {key: normalize(tree[key].get("answer") or "") for key in rejected}
    often = Counter(form.values())
    latest = {key: at for at, key in enumerate(rejected)}
    return sorted(rejected, key=lambda key: (-often[form[key]], -latest[key]))


def _shown(state: FeedbackState) -> Shown:
    settings = FgdipSettings.of(state["settings"])
    return Shown(
        rejected=state["rejected"] if settings.error_analysis else [],
        beside=state["generation"] if settings.feedback else [],
    )
