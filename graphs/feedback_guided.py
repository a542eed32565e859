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

Children are made one after the other because each sees those before it ("real-time feedback"); the
errors are seen by every branch ("error analysis"). One that does the same as a child before it is
dropped. The paper leaves open n, the depth, the budget and what is answered when nothing is
accepted: ours. The answer evaluator sees question and answer only: it finds the possible answer
from what the model knows, and checks that the given one is that and on topic (appendix E.3). A step
that is labelled impossible is lost with everything below it. Where only one step can be taken, such
as writing down the answer of Game of 24, one child is asked for.
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
"""Entities of the first layer (unpublished; ours)."""
UNREAD = "the judgement could not be read"


async def extract(step: Step, state: SearchState) -> dict[str, Any]:
    """The first layer; a completion without entities begins at the problem itself."""
    question = step.task(Extracts).extract(state["problem"], state["settings"])
    if (said := await step.ask_one(Ask(question, ROOT, "extract"))) is None:
        return step.update(stop_reason="budget")
    if any(move.malformed for move in said.reading):
        step.count(parse_errors={"extract": 1})
    entities, made = said.reading[:MOST_ENTITIES], {"created_by": {"node": "extract"}}
    drafts = [{**move_fields(step, ROOT, move), **made} for move in entities]
    placed = place_below(state, ROOT, drafts, said.usage)
    placed.parents[ROOT]["raw"] = cut(said.texts[0])
    step.count(thoughts=len(placed.new), expansions=1)
    reason = "" if placed.new else "budget"
    return step.update(thoughts=layers.labelled(state, placed.tree), stop_reason=reason)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """One child, which sees those before it and the rejected answers."""
    tree, parent = state["thoughts"], layers.visited(state["thoughts"])
    if layers.is_full(state):  # a person has pruned the visited thought meanwhile
        return {}
    if blocking_limit(state, parent):
        return {"stop_reason": "budget"}
    shown, tried = layers.shown_beside(state), len(children_of(tree, parent))
    ask = move_ask(step, parent, STYLE, hints_of(tree, shown), times=tried)
    if (said := await step.ask_one(ask)) is None:
        return step.update(stop_reason="budget")
    move = said.reading[0]
    fields = move_fields(step, parent, move, said.texts[0])
    if move.malformed or fields.get("action", {}) is None:
        step.count(parse_errors={"generate": 1})
    made = {"node": "generate", "expansion": 0, "sample": tried}
    draft = {**fields, **shown_field(shown), "created_by": made}
    if move.only:
        draft["only"] = True
    done = [layers.words_done(tree[kid]) for kid in layers.layer(state)]
    if layers.words_done(draft) in done:  # it stays in the tree, as it was paid for
        draft |= {"status": "pruned", "note": layers.SAME}
    placed = place_below(state, parent, [draft], said.usage)
    step.count(thoughts=1, expansions=int(tried == 0))
    return step.update(thoughts=layers.labelled(state, placed.tree))


async def call_tool(step: Step, state: SearchState) -> dict[str, Any]:
    """The actions of a layer's new steps."""
    keys = [key for key in layers.layer(state) if awaits_tool(state["thoughts"][key])]
    called = await carry_out(step, keys)
    reason = "" if len(called) == len(keys) else "budget"
    return step.update(thoughts=layers.labelled(state, called), stop_reason=reason)


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """The labels sure, maybe or impossible of a layer's steps."""
    asks, new = [], Tree()
    for key in layers.unlabelled(state)[: layers.spare_requests(state)]:
        judging = await estimate(step, key, STYLE)
        if isinstance(judging, Verdict):
            new[key] = value_fields(judging)
        else:
            asks.append(Ask(judging, key, "step_eval", judges=True))
    for each in await step.ask(asks):
        new[each.ask.about] = value_fields(each.reading) | words_of(each)
    step.count(evaluated=len(new))
    return step.update(thoughts=new)


async def verify(step: Step, state: SearchState) -> dict[str, Any]:
    """Whether the visited answer is on topic and the right one.

    The model finds the possible answer itself (section 3.3.2, appendix E.3). A judgement that
    cannot be read rejects it. What is rejected, and why, is shown to every later generation.
    """
    tree, settings = state["thoughts"], state["settings"]
    key, exact = layers.visited(tree), FgdipSettings.of(settings).exact_check
    text = tree[key].get("answer") or ""
    if exact:
        good = await maybe_await(step.task(Checks).check(state["problem"], text))
        reason, verdict = FAILED, Thought(value_raw="", usage={})
    else:
        check = step.task(Verifies).verify(state["problem"], text, settings)
        read: Judged = await maybe_await(check)
        verdict = Thought()
        if isinstance(read, Question):
            if (said := await step.ask_one(Ask(read, key, "answer_eval", judges=True))) is None:
                return step.update(stop_reason="budget")
            read, verdict = said.reading, words_of(said)
        good, reason = read.value > 0, UNREAD if read.malformed else read.label
    told: dict[str, Any] = {"oracle": True} if exact else {}
    if good:
        step.count(rounds=len(layers.visits(tree)) - state["spent"].get("rounds", 0))
        told["stop_reason"] = "verified" if exact else "finished"
    note = ACCEPTED if good else cut(f"{REJECTED}{reason or 'no reason given'}")
    return step.update(thoughts={key: {**verdict, "note": note}}, **told)


async def conclude(step: Step, state: SearchState) -> dict[str, Any]:
    """The answer that is forced where the search visited none: from the deepest unpruned path."""
    tree, settings = state["thoughts"], state["settings"]
    unpruned = [key for key in tree if key == ROOT or tree[key]["status"] != "pruned"]
    deepest = max(unpruned, key=lambda key: tree[key]["depth"])
    path = path_to(tree, deepest)
    question = step.task(Concludes).conclude(state["problem"], path, settings)
    # `last`: it is asked although the search has ended.
    said = await step.ask_one(Ask(question, deepest, "conclude"), last=True)
    if said is None or said.reading is None:
        step.count(parse_errors={"conclude": 1} if said else {})
        return step.update()
    forced = bounded({"text": said.texts[0], "raw": said.texts[0], "answer": said.reading})
    forced |= {"status": "terminal", "usage": said.usage, "note": FORCED}
    # By `grow`, not `place_below`: nothing was expanded, so the answer bears its own cost.
    new = grow(tree, deepest, [{**forced, "created_by": {"node": "conclude"}}])
    step.count(thoughts=1)
    return step.update(thoughts=new)


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Prunes the impossible steps of a complete layer, and visits the next step.

    An answer that nobody checks ends the search.
    """
    tree, settings = state["thoughts"], FgdipSettings.of(state["settings"])
    if layers.is_unfinished(state):
        return {"stop_reason": limit_reason(state)}
    lost, number = layers.hopeless(state), len(layers.visits(tree))
    rounds = number - state["spent"].get("rounds", 0)
    pruned: Tree = {key: {"status": "pruned"} for key in lost}
    ended = {"thoughts": pruned, "spent": {"rounds": rounds}}
    if len(layers.rejected(tree)) >= settings.max_answer_checks:
        return {**ended, "stop_reason": "budget", "limit": "max_answer_checks"}
    if not (chosen := layers.next_visit(state, lost)):
        return {**ended, "stop_reason": "exhausted"}
    # What may still be done is asked as if the round that ends here were counted already.
    after: Any = {**state, "spent": add_usage(state["spent"], {"rounds": rounds})}
    reason = layers.stop_at(after, tree[chosen])
    return {
        "spent": {"rounds": rounds + (reason == "finished")},
        "thoughts": {**pruned, chosen: {"visit": number + 1}},
        "stop_reason": reason,
    }


async def last(step: Step, state: SearchState) -> dict[str, Any]:
    """The accepted answer, else the most frequent rejected one, else the forced one."""
    wrong = layers.rejected(state["thoughts"])
    voting = await with_ballots(step, [state["thoughts"][key] for key in wrong])
    votes = ballots_of(dict(zip(wrong, voting, strict=True)))
    return await answer(step, state, partial(answers, votes))


def answers(votes: Mapping[str, str | None], state: SearchState) -> Sequence[str]:
    """Returns the accepted or forced answer, else the rejected ones, most frequent first.

    Of equally frequent ones the latest is first. A search that a limit cut short before an
    answer was checked returns those it has.

    Args:
        votes: What each rejected answer counts for.
    """
    tree = state["thoughts"]
    if state["stop_reason"] in ("finished", "verified") or not votes:
        answered, last = [key for key in tree if "answer" in tree[key]], layers.visited(tree)
        ends = [key for key in answered if key == last or tree[key].get("note") == FORCED]
        return answered if state["stop_reason"] in ("budget", "error") and not ends else ends
    often = Counter(votes.values())
    del often[None]
    return sorted(votes, key=lambda key: (-often[votes[key]], -tree[key]["visit"]))


async def begin(state: SearchState) -> Literal["extract", "generate", "answer"]:
    """Routes to the first layer."""
    if state["stop_reason"]:
        return "answer"
    return "extract" if FgdipSettings.of(state["settings"]).extractor else "generate"


async def carry_out_or_go_on(
    state: SearchState,
) -> Literal["call_tool", "generate", "evaluate", "review", "select", "answer"]:
    """Routes to the tools of the new steps; past them when there is none to call."""
    if state["stop_reason"]:
        return "answer"
    waiting = any(awaits_tool(state["thoughts"][key]) for key in layers.layer(state))
    return "call_tool" if waiting else await go_on(state)


async def go_on(state: SearchState) -> Literal["generate", "evaluate", "review", "select"]:
    """Routes to the next child, or to the labels of a complete layer."""
    if not layers.is_full(state) and layers.spare_requests(state):
        return "generate"
    return "evaluate" if layers.unlabelled(state) else await show(state)


show = shown_first(layers.new_layer)


async def visit(state: SearchState) -> Literal["generate", "verify", "conclude", "answer"]:
    """Routes to the expansion of the visited step, to the check of an answer, or to the end."""
    tree = state["thoughts"]
    answered = tree[layers.visited(tree)]["status"] == "terminal"
    if not state["stop_reason"]:
        return "verify" if answered else "generate"
    forced = state["stop_reason"] not in ("finished", "verified", "error") and requests_left(state)
    return "conclude" if forced and not answered and not layers.rejected(tree) else "answer"


async def backtrack(state: SearchState) -> Literal["select", "answer"]:
    """Routes on from a rejected answer."""
    return "answer" if state["stop_reason"] else "select"


def wire(run: Run) -> Graph:
    """Wires the algorithm."""
    graph = method_graph(run, extract, generate, call_tool, evaluate, select, verify, conclude)
    add_answer(graph, run, last, candidates=layers.new_layer)
    graph.add_conditional_edges("start", begin)
    steps = ["generate", "evaluate", "review", "select"]
    graph.add_conditional_edges("extract", carry_out_or_go_on, ["call_tool", "answer", *steps[1:]])
    graph.add_conditional_edges("generate", carry_out_or_go_on, ["call_tool", "answer", *steps])
    graph.add_conditional_edges("call_tool", go_on, steps)
    graph.add_conditional_edges("evaluate", show)
    graph.add_conditional_edges("select", visit)
    graph.add_conditional_edges("verify", backtrack)
    graph.add_edge("conclude", "answer")
    return graph


FGDIP = Method(METHODS["fgdip"], FgdipSettings, wire)
