"""Adaptive sampling (ours), with the stopping rule of Aggarwal et al. 2023 (arXiv 2305.11860).

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

The rule is theirs: P is the probability that the most frequent answer, with v1 votes, is more
probable than the second, with v2 votes (from Beta(v1 + 1, v2 + 1): a uniform prior). They draw
one sample at a time. The batch size is ours, so that a batch pays for its prompt once: as many
samples as settle the vote if all agree with the leader, never more. At the default confidence, four
samples that agree settle it. Plans do not vote, so they are drawn four at a time throughout.

A plan is accepted if it runs to its end and the evaluator refuses no step; with an oracle, its
answer must be right, too. The steps before a fault are kept and continued, whereas
Tree-of-Mixed-Thought refuses the whole chunk. Only an oracle accepts other answers. Nothing
guarantees that an accepted plan or the winner of a vote is right: samples that share a mistake
settle the vote on it.
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
    """Returns a question for `size` answers with reasoning, or `size` completions of a plan."""
    if AdaptiveSettings.of(step.state["settings"]).draw == "plans":
        return plan_steps(step, key, times, None, size)
    return direct_answer(step, "cot", size)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests y_1, ..., y_k at once and adds them to the tree; plans are executed first."""
    start, size = _start_of_batch(state), _batch_size(state)
    times = times_expanded(state, start)
    question = generator(step, start, times, size)
    drafts = drafted(await step.ask([expansion(step, start, question, times)]))
    created_by = {"node": "generate", "expansion": times}
    for draft in drafts:
        draft["thoughts"] = [{"created_by": created_by, **thought} for thought in draft["thoughts"]]
        if AdaptiveSettings.of(state["settings"]).draw == "plans":
            draft["thoughts"] = await _run_plans(step, state, draft)
        else:
            draft["thoughts"] = await with_ballots(step, draft["thoughts"])
        if malformed := sum(t.pop("malformed", False) for t in draft["thoughts"]):
            step.count(parse_errors={"generate": malformed})
    placed = place(state, drafts)
    step.count(thoughts=len(placed.new), expansions=len(placed.parents))
    return step.update(
        thoughts=with_times(state, placed),
        stop_reason="" if placed.parents and placed.complete else limit_reason(state),
    )


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Counts the votes; ends the search on an accepted sample, a settled vote or a limit."""
    spent: dict[str, Any] = {"spent": {"rounds": 1}}
    if accepted := await _accepted_sample(step, state):
        reason = "verified" if state["oracle"] else "finished"
        return {"thoughts": {accepted: {"chosen": True}}, "stop_reason": reason, **spent}
    after: SearchState = {**state, "spent": add_usage(state["spent"], spent["spent"])}
    counts, ballot_of = _vote_counts(state), ballots(state)
    votes_for = {key: counts[ballot_of[key] or ""] for key in candidates(state)}
    return {
        "thoughts": {key: {"value": float(votes)} for key, votes in votes_for.items()},
        "stop_reason": state["stop_reason"] or _stop_reason(after),
        **spent,
    }


async def draw(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next batch of samples; to the answer if the search may send no request."""
    return "generate" if may_begin(state) else "answer"


def leader_probability(first: int, second: int) -> float:
    """Returns the probability that the leader is the more probable of the two top answers.

    This is the mass of Beta(first + 1, second + 1) above 1/2: a sum of binomial coefficients.

    Args:
        first: Votes of the leader.
        second: Votes of the runner-up.
    """
    trials = first + second + 1
    ways = sum(comb(trials, at) for at in range(first + 1))
    return float(ways / 2**trials)


def samples_to_settle(votes: Mapping[str, int], confidence: float) -> int:
    """Returns the fewest samples that settle a vote if all agree with its leader; 0 if settled."""
    first, second, *_ = [*sorted(votes.values(), reverse=True), 0, 0]
    more = 0
    while leader_probability(first + more, second) <= confidence:
        more += 1
    return more


def candidates(state: SearchState) -> list[str]:
    """Returns the ids of the complete samples, in order, even those without a readable answer."""
    return [key for key in samples(state) if state["thoughts"][key]["status"] == "terminal"]


def leader(state: SearchState) -> list[str]:
    """Returns the id of the accepted sample, else of the first with the top answer, in a list."""
    tree, counts, ballot_of = state["thoughts"], _vote_counts(state), ballots(state)
    if accepted := [key for key, thought in tree.items() if thought.get("chosen")]:
        return accepted
    top = max(counts, key=lambda answer: counts[answer], default=None)
    return [key for key in candidates(state) if ballot_of[key] == top and counts][:1]


def new_samples(state: SearchState) -> list[str]:
    """Returns the ids of the samples of the last request, without pruned ones."""
    tree = state["thoughts"]
    latest = max((tree[key]["created_by"]["expansion"] for key in samples(state)), default=0)
    keys = [k for k in samples(state) if tree[k]["created_by"]["expansion"] == latest]
    return [key for key in keys if tree[key]["status"] != "pruned"]


def votes(state: SearchState, chosen: str) -> list[Vote]:
    """Returns the vote among answers; empty for plans, where the first that runs is the answer."""
    plans = AdaptiveSettings.of(state["settings"]).draw == "plans"
    return [] if plans else samples_of(state, chosen)


def _vote_counts(state: SearchState) -> Counter[str]:
    """Returns the number of votes for each answer, in the order of first occurrence."""
    return Counter(ballot for ballot in ballots(state).values() if ballot is not None)


def _batch_size(state: SearchState) -> int:
    """Returns how many samples to draw next: enough to settle the vote, at most n in all.

    With an oracle no answer has a vote, as the oracle accepted none of them.
    """
    settings = AdaptiveSettings.of(state["settings"])
    counts = Counter[str]() if state["oracle"] else _vote_counts(state)
    return min(
        samples_to_settle(counts, settings.confidence), settings.samples - len(samples(state))
    )


def _start_of_batch(state: SearchState) -> str:
    """Returns the id of the thought to draw from: the least tried, then most steps, then oldest."""
    tree = state["thoughts"]

    def rank(key: str) -> tuple[int, int, int]:
        steps = sum(len(text.split("\n")) for text in texts(path_to(tree, key)))
        return times_expanded(state, key), -steps, int(key)

    return min((k for k in living(tree) if tree[k]["status"] != "terminal"), key=rank)


async def _accepted_sample(step: Step, state: SearchState) -> str:
    """Returns the id of a plan that ran, or of a sample the oracle accepts; empty if none."""
    tree = state["thoughts"]
    new = [key for key in candidates(state) if "value" not in tree[key]]
    if not state["oracle"]:
        plans = AdaptiveSettings.of(state["settings"]).draw == "plans"
        return new[0] if plans and new else ""
    verdicts: dict[str | None, bool] = {}
    for key in new:
        answer = tree[key]["answer"]
        if answer not in verdicts:
            verdicts[answer] = await is_right(step, answer)
        if verdicts[answer]:
            return key
    return ""


def _stop_reason(state: SearchState) -> StopReason:
    """Returns the stop reason if no more samples may be drawn; else empty."""
    if _batch_size(state) <= 0:
        return "finished"
    rounds = AdaptiveSettings.of(state["settings"]).limit_rounds
    out_of_rounds = rounds is not None and state["spent"].get("rounds", 0) >= rounds
    none_left = not requests_left(state) or not thoughts_left(state)
    return limit_reason(state) if out_of_rounds or none_left else ""


async def _run_plans(step: Step, state: SearchState, children: Children) -> list[dict[str, Any]]:
    """Executes an expansion's plans; prunes unfinished ones that repeat an earlier thought."""
    tree, results = state["thoughts"], []
    path = path_to(tree, children["parent"])
    seen = {"\n".join(texts(path_to(tree, key))) for key in tree if key != ROOT}
    for draft in children["thoughts"]:
        fields = await _run_plan(step, state, path, draft["text"])
        if "status" not in fields:
            steps = "\n".join([*texts(path), fields["text"]])
            if steps in seen:
                fields |= {"status": "pruned", "note": f"{REPEATED}; {fields['note']}"}
            seen.add(steps)
        results.append({**draft, **fields})
    return results


async def _run_plan(step: Step, state: SearchState, path: Path, draft: str) -> dict[str, Any]:
    """Executes a plan; returns its thought's fields, with the steps up to a fault or its end."""
    settings, done = state["settings"], list[Thought]()
    most = AdaptiveSettings.of(settings).max_steps
    left = most - sum(len(text.split("\n")) for text in texts(path))
    fault, ending = ENDLESS, dict[str, Any]()
    malformed = not draft
    for line in draft.split("\n") if draft else []:
        if len(done) == left:
            fault = f"E_LIMIT: a plan has at most {most} steps"
            break
        execution = step.task(Plans).execute(state["problem"], [*path, *done], [line], settings)
        ruling = await maybe_await(execution)
        if not ruling.accepted:
            fault, malformed = cut(f"{ruling.code}: {ruling.reason}"), ruling.malformed
            break
        after = dict(ruling.tool_state)
        done.append(Thought(text=ruling.text, observation=ruling.observation, tool_state=after))
        if ruling.answer is not None:
            ending = {"status": "terminal", "answer": ruling.answer}
            break
    if not done:
        fields = {"status": "pruned", "text": cut(draft), "note": fault}
        return {**fields, "malformed": malformed}
    return {
        "text": "\n".join(texts(done)),
        "observation": "\n".join(each["observation"] or "" for each in done),
        "tool_state": done[-1]["tool_state"],
        **(ending or {"note": fault}),
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
