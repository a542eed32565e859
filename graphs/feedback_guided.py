"""FGDIP: feedback-guided dynamic interactive planning, Yan, Wu and Zhou 2025.

    for each key entity e of the problem: a child of the root that searches e    extract, call_tool
    label each child sure, maybe or impossible                                   evaluate
    push them: sure before maybe, without the impossible                         select
    while the stack is not empty do
        c <- the next thought of the top layer; none left: pop it                select
        if c is an answer then
            if the answer evaluator accepts it then return it                    verify -> answer
            remember answer, last thought and reason as an error                 verify -> select
        else if c is not too deep then
            for k = 1, ..., n do                                                 go_on
                a child <- the model, shown the errors and the children so far   generate
                carry out its action                                             call_tool
            label the children and push them                                     evaluate, select
    return the most frequent rejected answer, else one that is forced            conclude, answer

Children are generated one after another, because each prompt shows the earlier ones ("real-time
feedback"). Prompts on all branches show the errors ("error analysis"). A child with the action of
an earlier one is dropped. The paper does not give n, the depth, the budget, or the answer if none
is accepted: these are ours. The answer evaluator's prompt shows only question and answer. The model
finds an answer from its own knowledge, then checks that the search's answer matches it and is on
topic (appendix E.3). A step labelled impossible is lost with everything below it. If only one step
is possible, such as writing down the answer of Game of 24, one child is generated.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from thoughtgraph.acting import Concludes, Extracts, Verifies
from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.actions import (
    awaits_tool,
    carry_out,
    hints_of,
    move_ask,
    move_fields,
    shown_field,
)
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.expand import place_below
from thoughtgraph.nodes.families import layers
from thoughtgraph.nodes.limits import blocking_limit, limit_reason, requests_left
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.review import shown_first
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import ballots_of, with_ballots
from thoughtgraph.nodes.verdicts import estimate, value_fields, words_of
from thoughtgraph.outcome import ACCEPTED, FAILED, FORCED, REJECTED
from thoughtgraph.run import Run
from thoughtgraph.settings.acting import FgdipSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Checks, Judged, Question, Verdict, maybe_await
from thoughtgraph.tree import ROOT, Thought, Tree, bounded, children_of, cut, grow, path_to
from thoughtgraph.usage import add_usage

STYLE = "fgdip"
MOST_ENTITIES = 20
"""Most entities in the first layer (unpublished; ours)."""
UNREAD = "the judgement could not be read"


async def extract(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests the entities of the first layer; without any, the layer starts at the problem."""
    question = step.task(Extracts).extract(state["problem"], state["settings"])
    if (reply := await step.ask_one(Ask(question, ROOT, "extract"))) is None:
        return step.update(stop_reason="budget")
    if any(move.malformed for move in reply.reading):
        step.count(parse_errors={"extract": 1})
    entities, origin = reply.reading[:MOST_ENTITIES], {"created_by": {"node": "extract"}}
    drafts = [{**move_fields(step, ROOT, move), **origin} for move in entities]
    placed = place_below(state, ROOT, drafts, reply.usage)
    placed.parents[ROOT]["raw"] = cut(reply.texts[0])
    step.count(thoughts=len(placed.new), expansions=1)
    reason = "" if placed.new else "budget"
    return step.update(thoughts=layers.labelled(state, placed.tree), stop_reason=reason)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests one child; the prompt shows the errors and the children so far."""
    tree, parent = state["thoughts"], layers.visited(state["thoughts"])
    if layers.is_full(state):  # a person has pruned the visited thought meanwhile
        return {}
    if blocking_limit(state, parent):
        return {"stop_reason": "budget"}
    shown, child_count = layers.shown_beside(state), len(children_of(tree, parent))
    ask = move_ask(step, parent, STYLE, hints_of(tree, shown), times=child_count)
    if (reply := await step.ask_one(ask)) is None:
        return step.update(stop_reason="budget")
    move = reply.reading[0]
    fields = move_fields(step, parent, move, reply.texts[0])
    if move.malformed or fields.get("action", {}) is None:
        step.count(parse_errors={"generate": 1})
    created_by = {"node": "generate", "expansion": 0, "sample": child_count}
    draft = {**fields, **shown_field(shown), "created_by": created_by}
    if move.only:
        draft["only"] = True
    earlier = [layers.words_done(tree[kid]) for kid in layers.layer(state)]
    if layers.words_done(draft) in earlier:  # kept in the tree, as it was paid for
        draft |= {"status": "pruned", "note": layers.SAME}
    placed = place_below(state, parent, [draft], reply.usage)
    step.count(thoughts=1, expansions=int(child_count == 0))
    return step.update(thoughts=layers.labelled(state, placed.tree))


async def call_tool(step: Step, state: SearchState) -> dict[str, Any]:
    """Carries out the actions of the layer's new steps."""
    keys = [key for key in layers.layer(state) if awaits_tool(state["thoughts"][key])]
    updates = await carry_out(step, keys)
    reason = "" if len(updates) == len(keys) else "budget"
    return step.update(thoughts=layers.labelled(state, updates), stop_reason=reason)


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """Labels the layer's steps sure, maybe or impossible."""
    asks, new = [], Tree()
    for key in layers.unlabelled(state)[: layers.spare_requests(state)]:
        question = await estimate(step, key, STYLE)
        if isinstance(question, Verdict):
            new[key] = value_fields(question)
        else:
            asks.append(Ask(question, key, "step_eval", judges=True))
    for reply in await step.ask(asks):
        new[reply.ask.about] = value_fields(reply.reading) | words_of(reply)
    step.count(evaluated=len(new))
    return step.update(thoughts=new)


async def verify(step: Step, state: SearchState) -> dict[str, Any]:
    """Judges whether the visited answer is on topic and right: the answer evaluator.

    The model first finds an answer itself (section 3.3.2, appendix E.3). An unreadable judgement
    rejects the answer. Every later generation is shown the rejected answers and the reasons.
    """
    tree, settings = state["thoughts"], state["settings"]
    key, exact = layers.visited(tree), FgdipSettings.of(settings).exact_check
    text = tree[key].get("answer") or ""
    if exact:
        is_accepted = await maybe_await(step.task(Checks).check(state["problem"], text))
        reason, verdict = FAILED, Thought(value_raw="", usage={})
    else:
        check = step.task(Verifies).verify(state["problem"], text, settings)
        judged: Judged = await maybe_await(check)
        verdict = Thought()
        if isinstance(judged, Question):
            if (reply := await step.ask_one(Ask(judged, key, "answer_eval", judges=True))) is None:
                return step.update(stop_reason="budget")
            judged, verdict = reply.reading, words_of(reply)
        is_accepted, reason = judged.value > 0, UNREAD if judged.malformed else judged.label
    update: dict[str, Any] = {"oracle": True} if exact else {}
    if is_accepted:
        step.count(rounds=len(layers.visits(tree)) - state["spent"].get("rounds", 0))
        update["stop_reason"] = "verified" if exact else "finished"
    note = ACCEPTED if is_accepted else cut(f"{REJECTED}{reason or 'no reason given'}")
    return step.update(thoughts={key: {**verdict, "note": note}}, **update)


async def conclude(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests a forced answer from the deepest unpruned path if the search visited no answer."""
    tree, settings = state["thoughts"], state["settings"]
    unpruned = [key for key in tree if key == ROOT or tree[key]["status"] != "pruned"]
    deepest = max(unpruned, key=lambda key: tree[key]["depth"])
    path = path_to(tree, deepest)
    question = step.task(Concludes).conclude(state["problem"], path, settings)
    # `last`: the search has ended, which forbids other requests.
    reply = await step.ask_one(Ask(question, deepest, "conclude"), last=True)
    if reply is None or reply.reading is None:
        step.count(parse_errors={"conclude": 1} if reply else {})
        return step.update()
    forced = bounded({"text": reply.texts[0], "raw": reply.texts[0], "answer": reply.reading})
    forced |= {"status": "terminal", "usage": reply.usage, "note": FORCED}
    # `grow`, not `place_below`: no thought was expanded, so the answer carries its own usage.
    new = grow(tree, deepest, [{**forced, "created_by": {"node": "conclude"}}])
    step.count(thoughts=1)
    return step.update(thoughts=new)


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Prunes the impossible steps of a complete layer, and visits c, the next step.

    Without the answer evaluator, the first visited answer ends the search.
    """
    tree, settings = state["thoughts"], FgdipSettings.of(state["settings"])
    if layers.is_unfinished(state):
        return {"stop_reason": limit_reason(state)}
    impossible, visit_count = layers.hopeless(state), len(layers.visits(tree))
    rounds = visit_count - state["spent"].get("rounds", 0)
    pruned: Tree = {key: {"status": "pruned"} for key in impossible}
    update = {"thoughts": pruned, "spent": {"rounds": rounds}}
    if len(layers.rejected(tree)) >= settings.max_answer_checks:
        return {**update, "stop_reason": "budget", "limit": "max_answer_checks"}
    if not (chosen := layers.next_visit(state, impossible)):
        return {**update, "stop_reason": "exhausted"}
    # Limits are checked as if the round that ends here were already counted.
    after: Any = {**state, "spent": add_usage(state["spent"], {"rounds": rounds})}
    reason = layers.stop_at(after, tree[chosen])
    return {
        "spent": {"rounds": rounds + (reason == "finished")},
        "thoughts": {**pruned, chosen: {"visit": visit_count + 1}},
        "stop_reason": reason,
    }


async def last(step: Step, state: SearchState) -> dict[str, Any]:
    """Ends with the accepted answer, else the most frequent rejected one, else the forced one."""
    rejected = layers.rejected(state["thoughts"])
    thoughts = await with_ballots(step, [state["thoughts"][key] for key in rejected])
    votes = ballots_of(dict(zip(rejected, thoughts, strict=True)))
    return await answer(step, state, partial(answers, votes))


def answers(votes: Mapping[str, str | None], state: SearchState) -> Sequence[str]:
    """Returns the id of the accepted or forced answer, else the rejected ones, most frequent first.

    Of equally frequent answers, the latest comes first. If a limit or a failure ended the search
    before it checked an answer, all answers are returned.

    Args:
        votes: Ballot of each rejected answer, by id; None: no vote.
    """
    tree = state["thoughts"]
    if state["stop_reason"] in ("finished", "verified") or not votes:
        with_answer, latest = [key for key in tree if "answer" in tree[key]], layers.visited(tree)
        ends = [key for key in with_answer if key == latest or tree[key].get("note") == FORCED]
        return with_answer if state["stop_reason"] in ("budget", "error") and not ends else ends
    counts = Counter(votes.values())
    del counts[None]
    return sorted(votes, key=lambda key: (-counts[votes[key]], -tree[key]["visit"]))


async def begin(state: SearchState) -> Literal["extract", "generate", "answer"]:
    """Routes to the first layer: to `extract`, or without the extractor to `generate`."""
    if state["stop_reason"]:
        return "answer"
    return "extract" if FgdipSettings.of(state["settings"]).extractor else "generate"


async def carry_out_or_go_on(
    state: SearchState,
) -> Literal["call_tool", "generate", "evaluate", "review", "select", "answer"]:
    """Routes to the tool calls of the new steps; past them if no step awaits one."""
    if state["stop_reason"]:
        return "answer"
    waiting = any(awaits_tool(state["thoughts"][key]) for key in layers.layer(state))
    return "call_tool" if waiting else await go_on(state)


async def go_on(state: SearchState) -> Literal["generate", "evaluate", "review", "select"]:
    """Routes to the next child; once the layer is complete, to its labels or the selection."""
    if not layers.is_full(state) and layers.spare_requests(state):
        return "generate"
    return "evaluate" if layers.unlabelled(state) else await show(state)


show = shown_first(layers.new_layer)


async def visit(state: SearchState) -> Literal["generate", "verify", "conclude", "answer"]:
    """Routes to the expansion of the visited step, to the check of an answer, or to the end."""
    tree = state["thoughts"]
    is_answer = tree[layers.visited(tree)]["status"] == "terminal"
    if not state["stop_reason"]:
        return "verify" if is_answer else "generate"
    forces = state["stop_reason"] not in ("finished", "verified", "error") and requests_left(state)
    return "conclude" if forces and not is_answer and not layers.rejected(tree) else "answer"


async def backtrack(state: SearchState) -> Literal["select", "answer"]:
    """Routes to the next step after a rejected answer, or to the end of the search."""
    return "answer" if state["stop_reason"] else "select"


def wire(run: Run) -> Graph:
    """Wires the algorithm."""
    graph = method_graph(run, extract, generate, call_tool, evaluate, select, verify, conclude)
    add_answer(graph, run, last, candidates=layers.new_layer)
    graph.add_conditional_edges("start", begin)
    nodes = ["generate", "evaluate", "review", "select"]
    graph.add_conditional_edges("extract", carry_out_or_go_on, ["call_tool", "answer", *nodes[1:]])
    graph.add_conditional_edges("generate", carry_out_or_go_on, ["call_tool", "answer", *nodes])
    graph.add_conditional_edges("call_tool", go_on, nodes)
    graph.add_conditional_edges("evaluate", show)
    graph.add_conditional_edges("select", visit)
    graph.add_conditional_edges("verify", backtrack)
    graph.add_edge("conclude", "answer")
    return graph


FGDIP = Method(METHODS["fgdip"], FgdipSettings, wire)
