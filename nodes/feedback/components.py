"""FGDIP's steps: openings, one child after another, labels, visits, rejected answers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from thoughtgraph.acting import Hints, Moves, Verifies
from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.nodes.actions import ask_step, hints_of, same_action, shown_field, thought_fields
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.judge import estimate_in, judge, judge_states
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.node import Node, node_input
from thoughtgraph.nodes.placement import place_below
from thoughtgraph.outcome import ACCEPTED, FAILED, FORCED, REJECTED
from thoughtgraph.parts import Parts
from thoughtgraph.settings.feedback import FgdipSettings
from thoughtgraph.state import FeedbackState, SearchState
from thoughtgraph.task import Checks, Question, Task, Verdict, extras
from thoughtgraph.tree import ROOT, Shown, Thought, bounded, cut, grow, path_to

STYLE = "fgdip"
UNREAD = "the judgement could not be read"
SAME = "the same action as a thought beside it"


def extract(parts: Parts) -> Node:
    """Makes the node that begins at each key entity of the problem: the first layer.

    A completion without entities begins at the problem itself.
    """

    async def node(state: FeedbackState) -> dict[str, Any]:
        settings, problem = state["settings"], state["problem"]
        task, asker = parts.task_for(settings, Moves), Asker(parts, state)
        question = task.move(problem, (), STYLE, settings, Hints(wanted="first"))
        samples = await asker.samples(question.prompt, role="extract")
        if samples is None:
            return {"stop_reason": "budget", **asker.update()}
        moves = question.read(samples)
        if any(move.malformed for move in moves):
            asker.meter.parse_error("extract")
        given = node_input(state, SendArg(thought=ROOT))
        made = {"created_by": {"node": "extract"}}
        entities = moves[: FgdipSettings.of(state["settings"]).max_entities]
        fields = [{**thought_fields(parts, given, move, ""), **made} for move in entities]
        placed = place_below(state, ROOT, fields, asker.meter.by_role())
        placed.parents[ROOT]["raw"] = cut(samples[0])
        asker.meter.add({"thoughts": len(placed.new), "expansions": 1})
        return asker.update(
            tree=placed.tree,
            generation=list(placed.new),
            tried=FgdipSettings.of(state["settings"]).n_generate,
            stop_reason="" if placed.new else "budget",
        )

    return node


def generate_next(parts: Parts) -> Node:
    """Makes the node that adds one child, which sees those before it and the rejected answers."""

    async def node(state: FeedbackState) -> dict[str, Any]:
        parent = state["frontier"][0]
        if blocking_limit(state, parent):
            return {"stop_reason": "budget"}
        asker = Asker(parts, state)
        sent = SendArg(thought=parent, expansion=state["tried"])
        shown = _shown(state)
        asked = await ask_step(parts, state, asker, sent, STYLE, hints_of(state["tree"], shown))
        if asked is None:
            return {"stop_reason": "budget", **asker.update()}
        move, fields = asked
        if move.malformed or fields.get("action", {}) is None:
            asker.meter.parse_error("generate")
        made = {"node": "generate", "expansion": 0, "sample": state["tried"]}
        thought = {**fields, **shown_field(shown), "created_by": made}
        placed = place_below(state, parent, [thought], asker.meter.by_role())
        (child,) = placed.new.values()
        same = any(same_action(child, state["tree"][kid]) for kid in state["generation"])
        if same:  # it stays in the tree, as it was paid for
            child["status"], child["note"] = "pruned", SAME
        asker.meter.add({"thoughts": 1, "expansions": int(state["tried"] == 0)})
        all_tried = FgdipSettings.of(state["settings"]).n_generate
        return asker.update(
            tree=placed.tree,
            generation=[*state["generation"], *([] if same else placed.new)],
            tried=all_tried if move.only else state["tried"] + 1,
        )

    return node


def label(parts: Parts) -> Node:
    """Makes the node that labels one step sure, maybe or impossible; it runs as one task a step."""
    return judge_states(parts, estimate_in(STYLE), _record, role="step_eval")


def verify(parts: Parts) -> Node:
    """Makes the node that asks whether the visited answer is on topic and the right one.

    The model finds the possible answer itself (section 3.3.2, appendix E.3). A judgement that
    cannot be read rejects it. What is rejected, and why, is shown to every generation from then on.
    """

    async def node(state: FeedbackState) -> dict[str, Any]:
        exact, key = FgdipSettings.of(state["settings"]).exact_check, state["frontier"][0]
        answer, asker = state["tree"][key].get("answer") or "", Asker(parts, state)
        told = {"oracle": True} if exact else {}
        if exact:
            right = parts.task_for(state["settings"], Checks).check(state["problem"], answer)
            judged: tuple[bool, str, str] | None = (right, FAILED, "")
        else:
            judged = await _judgement(parts, state, asker, answer)
        if judged is None:
            return {"stop_reason": "budget", **asker.update()}
        good, reason, raw = judged
        verdict = {"value_raw": cut(raw), "usage": asker.meter.by_role()}
        if good:
            asker.meter.add({"rounds": state["step"] - state["usage"].get("rounds", 0)})
            reason = "verified" if exact else "finished"
            accepted = {key: {**verdict, "note": ACCEPTED}}
            return asker.update(tree=accepted, stop_reason=reason, **told)
        note = cut(f"{REJECTED}{reason or 'no reason given'}")
        rejected = [*state["rejected"], key]
        return asker.update(tree={key: {**verdict, "note": note}}, rejected=rejected, **told)

    return node


async def _judgement(
    parts: Parts, state: FeedbackState, asker: Asker, answer: str
) -> tuple[bool, str, str] | None:
    """Returns the model's judgement of an answer, the reason and the text; None if forbidden."""
    task, settings = parts.task_for(state["settings"], Verifies), state["settings"]
    question = task.verify(state["problem"], answer, settings)
    found = await judge(asker, question, role="answer_eval")
    if found is None:
        return None
    verdict = found.verdict
    reason = UNREAD if verdict.malformed else verdict.label
    return verdict.value > 0, reason, found.samples[0]


def conclude(parts: Parts) -> Node:
    """Makes the node that forces an answer from the deepest trajectory that is not impossible."""

    async def node(state: FeedbackState) -> dict[str, Any]:
        settings, problem, tree = state["settings"], state["problem"], state["tree"]
        task, asker = parts.task_for(settings, Moves), Asker(parts, state)
        hopeful = [key for key in tree if key == ROOT or tree[key]["status"] != "pruned"]
        deepest = max(hopeful, key=lambda key: tree[key]["depth"])
        path, hints = path_to(tree, deepest), Hints(wanted="answer")
        question = task.move(problem, path, STYLE, settings, hints)
        samples = await asker.samples(question.prompt, role="conclude")
        if samples is None:
            return asker.update()
        answer = question.read(samples)[0].answer
        if answer is None:
            asker.meter.parse_error("conclude")
            return asker.update()
        forced = bounded({"text": samples[0], "raw": samples[0], "answer": answer})
        end: Thought = {
            "status": "terminal",
            "usage": asker.meter.by_role(),
            "note": FORCED,
            "created_by": {"node": "conclude"},
        }
        # Not placed as others are: the thought above was not expanded and does not bear the cost.
        new = grow(tree, deepest, [{**forced, **end}])
        asker.meter.add({"thoughts": 1})
        return asker.update(tree=new, frontier=list(new))

    return node


def answers(parts: Parts, found: SearchState) -> Sequence[str]:
    """Returns the accepted or forced answer, else the rejected ones, the most frequent first.

    Of equally frequent ones the latest is first. A search that a limit cut short before an answer
    was checked returns those it has.
    """
    state = cast("FeedbackState", found)
    tree, rejected = state["tree"], state["rejected"]
    if state["stop_reason"] in ("finished", "verified") or not rejected:
        ends = [key for key in state["frontier"] if "answer" in tree[key]]
        cut_short = state["stop_reason"] in ("budget", "error") and not ends
        return [key for key in tree if "answer" in tree[key]] if cut_short else ends
    normalize = extras(parts.task_for(state["settings"], Task)).normalize
    form = {key: normalize(tree[key].get("answer") or "") for key in rejected}
    often = Counter(form.values())
    latest = {key: at for at, key in enumerate(rejected)}
    return sorted(rejected, key=lambda key: (-often[form[key]], -latest[key]))


def _shown(state: FeedbackState) -> Shown:
    settings, tree = FgdipSettings.of(state["settings"]), state["tree"]
    beside = state["generation"]
    if settings.layer_scope == "global":
        depth = tree[state["frontier"][0]]["depth"] + 1
        beside = [k for k in tree if tree[k]["depth"] == depth and tree[k].get("note") != SAME]
    return Shown(
        rejected=state["rejected"] if settings.error_analysis else [],
        beside=beside if settings.feedback else [],
    )


def _record(given: NodeInput, question: Question[Verdict], verdict: Verdict) -> Thought:
    return {"value": verdict.value, "note": verdict.label}
