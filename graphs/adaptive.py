"""Spend where it is undecided: ours, with the stopping rule of Aggarwal et al. 2023 (2305.11860).

    spent <- 0; start <- the problem                                  start
    while spent < n do
        k <- the fewest samples that could settle the vote            draw
        y_1, ..., y_k ~ p(. | problem, start), in one request         generate
        spent <- spent + k                                            generate
        answers vote; a plan is run up to its first fault             generate
        if one is accepted then return it                             select -> answer
        if P(leader beats runner-up | votes) > confidence then stop   select -> answer
        start <- of the plans tried least, what came furthest         select
    return argmax of the votes                                        answer

Theirs is the rule: for the two most frequent answers, with v1 and v2 votes, the probability that
the first is the more probable one, under a uniform prior a Beta(v1 + 1, v2 + 1). They ask for one
sample at a time. Ours is the size of a batch, which pays for a prompt once: as many samples as
settle the vote if all agree with the leader, never more. Four that agree are the fewest, and as
many plans are drawn at a time: plans do not vote.

A plan is accepted when it runs to its end and the evaluator refuses no step; its steps before a
fault are kept and continued, where Tree-of-Mixed-Thought refuses the whole of what was written. An
answer is accepted by an oracle alone. Nothing guarantees that what is accepted, or agreed on, is
right: samples that share a mistake settle the vote on it.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from math import comb
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.check import is_right
from thoughtgraph.nodes.expand import (
    ThoughtQuestion,
    direct_answer,
    drafted,
    expansion,
    place,
    times_expanded,
    with_times,
)
from thoughtgraph.nodes.limits import limit_reason, may_begin, requests_left, thoughts_left
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.plan_steps import plan_steps
from thoughtgraph.nodes.review import shown_first
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import ballots, samples, samples_of, with_ballots
from thoughtgraph.outcome import StopReason, Vote
from thoughtgraph.planning import Plans
from thoughtgraph.run import Run
from thoughtgraph.settings.adaptive import AdaptiveSettings
from thoughtgraph.state import Children, SearchState
from thoughtgraph.task import maybe_await
from thoughtgraph.tree import ROOT, Path, Thought, cut, living, path_to, texts
from thoughtgraph.usage import add_usage

REPEATED = "the same beginning was drawn before"
ENDLESS = "the plan does not end"


def generator(step: Step, key: str, times: int, size: int) -> ThoughtQuestion:
    """Asks for whole answers, thought before, or for all steps that are left of a plan."""
    if AdaptiveSettings.of(step.state["settings"]).draw == "plans":
        return plan_steps(step, key, times, None, size)
    return direct_answer(step, "cot", size)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Draws the next samples, in one request; plans are run first."""
    start, size = _start(state), _batch(state)
    times = times_expanded(state, start)
    question = generator(step, start, times, size)
    drawn = drafted(await step.ask([expansion(step, start, question, times)]))
    made = {"node": "generate", "expansion": times}
    for each in drawn:
        each["thoughts"] = [{"created_by": made, **thought} for thought in each["thoughts"]]
        if AdaptiveSettings.of(state["settings"]).draw == "plans":
            each["thoughts"] = await _ran(step, state, each)
        else:
            each["thoughts"] = await with_ballots(step, each["thoughts"])
        if malformed := sum(t.pop("malformed", False) for t in each["thoughts"]):
            step.count(parse_errors={"generate": malformed})
    placed = place(state, drawn)
    step.count(thoughts=len(placed.new), expansions=len(placed.parents))
    return step.update(
        thoughts=with_times(state, placed),
        stop_reason="" if placed.parents and placed.complete else limit_reason(state),
    )


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Counts the votes; ends the search once one is accepted or they are settled."""
    spent: dict[str, Any] = {"spent": {"rounds": 1}}
    if accepted := await _accepted(step, state):
        reason = "verified" if state["oracle"] else "finished"
        return {"thoughts": {accepted: {"chosen": True}}, "stop_reason": reason, **spent}
    after: SearchState = {**state, "spent": add_usage(state["spent"], spent["spent"])}
    counted, cast = _counted(state), ballots(state)
    worth = {key: counted[cast[key] or ""] for key in candidates(state)}
    return {
        "thoughts": {key: {"value": float(votes)} for key, votes in worth.items()},
        "stop_reason": state["stop_reason"] or _stop_reason(after),
        **spent,
    }


async def draw(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next batch, or to the answer when there is none to be drawn."""
    return "generate" if may_begin(state) else "answer"


def leader_probability(first: int, second: int) -> float:
    """Returns the probability that of two answers the first is the more probable one.

    It is that of Beta(first + 1, second + 1) above 1/2, which is a sum of binomial coefficients.

    Args:
        first: Votes of the leader.
        second: Votes of the runner-up.
    """
    drawn = first + second + 1
    ways = sum(comb(drawn, at) for at in range(first + 1))
    return float(ways / 2**drawn)


def samples_to_settle(votes: Mapping[str, int], confidence: float) -> int:
    """Returns the fewest samples that settle a vote if all agree with its leader; 0: it is."""
    first, second, *_ = [*sorted(votes.values(), reverse=True), 0, 0]
    more = 0
    while leader_probability(first + more, second) <= confidence:
        more += 1
    return more


def candidates(state: SearchState) -> list[str]:
    """Returns the samples that gave an answer, or should have, in order."""
    return [key for key in samples(state) if state["thoughts"][key]["status"] == "terminal"]


def leader(state: SearchState) -> list[str]:
    """Returns the sample that was accepted, else the first that gave the most frequent answer."""
    tree, counted, cast = state["thoughts"], _counted(state), ballots(state)
    if accepted := [key for key, thought in tree.items() if thought.get("chosen")]:
        return accepted
    most = max(counted, key=lambda answer: counted[answer], default=None)
    return [key for key in candidates(state) if cast[key] == most and counted][:1]


def new_samples(state: SearchState) -> list[str]:
    """Returns the samples of the last request."""
    tree = state["thoughts"]
    drawn = max((tree[key]["created_by"]["expansion"] for key in samples(state)), default=0)
    last = [k for k in samples(state) if tree[k]["created_by"]["expansion"] == drawn]
    return [key for key in last if tree[key]["status"] != "pruned"]


def votes(state: SearchState, chosen: str) -> list[Vote]:
    """Tells how the answers voted; nothing of plans, of which the first that runs answers."""
    plans = AdaptiveSettings.of(state["settings"]).draw == "plans"
    return [] if plans else samples_of(state, chosen)


def _counted(state: SearchState) -> Counter[str]:
    """Returns how often each answer was given, in the order of their first occurrence."""
    return Counter(ballot for ballot in ballots(state).values() if ballot is not None)


def _batch(state: SearchState) -> int:
    """Returns how many samples are drawn next: what settles the vote, but no more than n in all.

    An oracle that accepted none of the answers leaves no votes.
    """
    settings = AdaptiveSettings.of(state["settings"])
    standing = Counter[str]() if state["oracle"] else _counted(state)
    return min(
        samples_to_settle(standing, settings.confidence), settings.samples - len(samples(state))
    )


def _start(state: SearchState) -> str:
    """Returns the start of the next samples: tried least, then furthest, then the oldest."""
    tree = state["thoughts"]

    def order(key: str) -> tuple[int, int, int]:
        steps = sum(len(text.split("\n")) for text in texts(path_to(tree, key)))
        return times_expanded(state, key), -steps, int(key)

    return min((k for k in living(tree) if tree[k]["status"] != "terminal"), key=order)


async def _accepted(step: Step, state: SearchState) -> str:
    """Returns the sample that ends the search: a plan that ran, or what an oracle accepts."""
    tree = state["thoughts"]
    new = [key for key in candidates(state) if "value" not in tree[key]]
    if not state["oracle"]:
        plans = AdaptiveSettings.of(state["settings"]).draw == "plans"
        return new[0] if plans and new else ""
    known: dict[str | None, bool] = {}
    for key in new:
        answer = tree[key]["answer"]
        if answer not in known:
            known[answer] = await is_right(step, answer)
        if known[answer]:
            return key
    return ""


def _stop_reason(state: SearchState) -> StopReason:
    """Returns why no more samples are drawn; empty while they are."""
    if _batch(state) <= 0:
        return "finished"
    rounds = AdaptiveSettings.of(state["settings"]).limit_rounds
    over = rounds is not None and state["spent"].get("rounds", 0) >= rounds
    none_left = not requests_left(state) or not thoughts_left(state)
    return limit_reason(state) if over or none_left else ""


async def _ran(step: Step, state: SearchState, drawn: Children) -> list[dict[str, Any]]:
    """Runs the plans of an expansion; one that begins like another before it is not continued."""
    tree, ran = state["thoughts"], []
    path = path_to(tree, drawn["parent"])
    seen = {"\n".join(texts(path_to(tree, key))) for key in tree if key != ROOT}
    for written in drawn["thoughts"]:
        fields = await _followed(step, state, path, written["text"])
        if "status" not in fields:
            whole = "\n".join([*texts(path), fields["text"]])
            if whole in seen:
                fields |= {"status": "pruned", "note": f"{REPEATED}; {fields['note']}"}
            seen.add(whole)
        ran.append({**written, **fields})
    return ran


async def _followed(step: Step, state: SearchState, path: Path, written: str) -> dict[str, Any]:
    """Returns what is left of a plan: its steps up to the first fault, or to its end."""
    settings, taken = state["settings"], list[Thought]()
    most = AdaptiveSettings.of(settings).max_steps
    left = most - sum(len(text.split("\n")) for text in texts(path))
    fault, end = ENDLESS, dict[str, Any]()
    malformed = not written
    for line in written.split("\n") if written else []:
        if len(taken) == left:
            fault = f"E_LIMIT: a plan has at most {most} steps"
            break
        ran = step.task(Plans).execute(state["problem"], [*path, *taken], [line], settings)
        ruling = await maybe_await(ran)
        if not ruling.accepted:
            fault, malformed = cut(f"{ruling.code}: {ruling.reason}"), ruling.malformed
            break
        after = dict(ruling.tool_state)
        taken.append(Thought(text=ruling.text, observation=ruling.observation, tool_state=after))
        if ruling.answer is not None:
            end = {"status": "terminal", "answer": ruling.answer}
            break
    if not taken:
        kept = {"status": "pruned", "text": cut(written), "note": fault}
        return {**kept, "malformed": malformed}
    return {
        "text": "\n".join(texts(taken)),
        "observation": "\n".join(each["observation"] or "" for each in taken),
        "tool_state": taken[-1]["tool_state"],
        **(end or {"note": fault}),
    }


def wire(run: Run) -> Graph:
    """Wires the loop of draws."""
    graph = method_graph(run, generate, select)
    last = partial(answer, pick=candidates, best=leader, complete=True, tally=votes)
    add_answer(graph, run, last, candidates=new_samples)
    graph.add_conditional_edges("start", draw)
    graph.add_conditional_edges("generate", shown_first(new_samples))
    graph.add_conditional_edges("select", draw)
    return graph


ADAPTIVE = Method(METHODS["adaptive"], AdaptiveSettings, wire)
