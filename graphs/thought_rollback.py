"""Thought Rollback: reasoning that goes back to before a mistake (Chen and Li 2024, ICML).

    Require: question q, solutions wanted K, rollbacks into one thought U,
             path_rollbacks: a path that more rollbacks start from is not analysed again

    1  open <- {q}                                                    start
    2  while fewer than K paths have ended and one is open            select, begin
           take the open path made with most experiences, ties
           depth first; with `parallel` all open paths
    3      the path from the root to its last thought z_n is
           analysed, once, unless path_rollbacks forbids it           analyse
    4      B <- the indexes of its bad steps                          extract_index
    5      m <- the first in B with fewer than U rollbacks to z_m-1   rollback
    6      if there is one, add a rollback edge from z_n to z_m-1,
           with the path and its analysis as an experience            rollback
    7      z <- next step, given the path and its experiences         generate
    8      z becomes a thought; one with a solution ends its path     generate
    9  return the winner of a weighted vote of the solutions          ensemble

With `parallel`, every open path takes a step in each round while it is analysed. In either mode, a
path with a bad step keeps growing next to the new branch (unless `drop_paths`). A round's decisions
are applied in the order of ids, whatever the timing. `parallel=false` is the paper's order, one
request at a time. In either mode, line 9 takes the solutions in that order, and also reports the
answers of the other ensembles. With `ensemble=first`, line 2 ends at the first solution with an
answer. If no step is ever found bad, the requests are those of `chain`, with one more sentence in
the system prompt, on experiences.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, cast, get_args

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.families import rollback_paths as paths
from thoughtgraph.nodes.families import rollback_schedule as schedule
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.reasoning_steps import step_ask, steps_of
from thoughtgraph.nodes.review import shown_first
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import with_ballots
from thoughtgraph.outcome import with_note
from thoughtgraph.reasoning import TWO_CALLS, Faults, Reviews
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import Ensemble, RollbackSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question, maybe_await
from thoughtgraph.tree import Thought, Tree, cut, merge_thoughts, path_to, shortened

BACK = "step {step} is bad: back to thought {to}"
SURPLUS = "ended after the last solution that was wanted"


async def requests_and_faults(
    step: Step, state: SearchState, role: str, *, free_form: bool
) -> tuple[list[Ask[Faults]], Tree]:
    """Returns the requests about the paths due at a node, and the faults the task itself finds.

    Args:
        step: This run of the node.
        state: The state.
        role: The node's name, also the role of its requests.
        free_form: Whether completions are analyses, whose bad steps a later request reads.
    """
    task, asks, task_faults = step.task(Reviews), list[Ask[Faults]](), Tree()
    for due in schedule.due_at(state, role):
        path = path_to(state["thoughts"], due.thought)
        review: Question[Faults] | Faults = await maybe_await(
            task.analyse(state["problem"], path, state["settings"])
        )
        if isinstance(review, Faults):
            task_faults[due.thought] = Thought(analysis=review.analysis, bad=review.steps)
        else:
            question = _read_later(review) if free_form else review
            asks.append(Ask(question, due.thought, role, expansion=0, judges=True))
    return asks, task_faults


async def analyse(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 3: requests analyses; under `single_call` they name the bad steps, an empty one none."""
    free_form = RollbackSettings.of(state["settings"]).protocol == TWO_CALLS
    asks, new = await requests_and_faults(step, state, "analyse", free_form=free_form)
    for reply in await step.ask(asks):
        analysis = shortened(reply.texts[0].strip())
        faults = Thought() if free_form and analysis else Thought(bad=reply.reading.steps)
        new[reply.ask.about] = {"analysis": analysis, "usage": reply.usage, **faults}
    step.count(analyses=len(new))
    return step.update(thoughts=new)


async def extract_index(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 4: requests B, the bad steps that each analysis names."""
    asks, new = await requests_and_faults(step, state, "extract_index", free_form=False)
    for reply in await step.ask(asks):
        bad, raw = reply.reading.steps, cut(reply.texts[0])
        new[reply.ask.about] = Thought(analysis_raw=raw, bad=bad, usage=reply.usage)
    return step.update(thoughts=new)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Lines 7 and 8: requests next steps and adds them; solutions after the K-th are pruned."""
    tree, asks = state["thoughts"], []
    settings, marks = RollbackSettings.of(state["settings"]), dict[str, Thought]()
    times = Counter(thought["parent"] for thought in tree.values())
    for due in schedule.due_at(state, "generate"):
        lessons = paths.experiences(tree, settings, due.thought, due.source)
        ask = step_ask(step, due.thought, times=times[due.thought], experiences=lessons)
        times[due.thought] += 1
        marks[ask.name] = Thought(experiences=lessons) if lessons else Thought()
        if due.source is not None:
            marks[ask.name]["caused_by"] = due.source
        asks.append(ask)

    answers = await step.ask(asks)
    placed = steps_of(state, answers, marks)
    solution_ids = [key for key, thought in placed.new.items() if thought["status"] == "terminal"]
    for key in solution_ids[settings.solutions - len(paths.solutions(tree)) :]:
        placed.new[key] |= Thought(status="pruned", note=SURPLUS)
    step.count(thoughts=len(placed.new), expansions=len(answers))
    return step.update(thoughts=placed.tree)


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 2: begins a round, or ends the search if its solutions suffice."""
    # A round is counted after it ends, so that the round limit does not stop its own requests.
    ended = {"spent": {"rounds": int(state["step"] > 0)}, "stop_reason": schedule.solved(state)}
    return {"step": state["step"] + 1, **ended}


async def rollback(step: Step, state: SearchState) -> dict[str, Any]:
    """Lines 5 and 6: adds rollback edges, path by path, so that each counts the edges before it."""
    tree, new, added = dict(state["thoughts"]), Tree(), 0
    settings = RollbackSettings.of(state["settings"])
    into = Counter(t["rollback"]["to"] for t in tree.values() if "rollback" in t)
    for key in schedule.undecided(tree):
        edge, note = schedule.rollback_from(tree, settings, key, into), tree[key].get("note", "")
        if not isinstance(edge, str):
            into[edge["to"]] += 1
            added += 1
            new[key] = Thought(rollback=edge, note=with_note(tree[key], BACK.format(**edge)))
            tree[key] = {**tree[key], **new[key]}
        elif not any(reason in note for reason in schedule.NO_ROLLBACK):
            new[key] = Thought(note=with_note(tree[key], edge))
    return {"thoughts": new, **({"spent": {"rollbacks": added}} if added else {})}


async def ensemble(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 9: votes; a solution's `value` is the weight of its vote, its `note` explains it."""
    rule, ends = RollbackSettings.of(state["settings"]).ensemble, paths.solutions(state["thoughts"])
    voters = await with_ballots(step, [state["thoughts"][key] for key in ends])
    tree = state["thoughts"] | dict(zip(ends, voters, strict=True))
    ending = {"stop_reason": schedule.why_ended(state), "thoughts": tree}
    state, weights = cast("SearchState", {**state, **ending}), Tree()
    for key in ends:
        a, b = paths.alpha(tree, key), paths.beta(tree, key)
        note = with_note(tree[key], f"alpha {a}, beta {b}")
        worth = float(paths.weight(rule, a, b))
        weights[key] = Thought(value=worth, alpha=a, beta=b, note=note)
        if "ballot" in tree[key]:
            weights[key]["ballot"] = tree[key]["ballot"]
    # A search that stopped once its own answer was final lacks solutions for other ensembles.
    rules = [rule] if state["stop_reason"] == "settled" else get_args(Ensemble)
    best = {each: paths.ranked(state, each)[:1] for each in rules}
    answers = {each: tree[keys[0]]["answer"] if keys else None for each, keys in best.items()}
    update = await answer(step, state, paths.solution_order, best=paths.winners, tally=paths.tally)
    thoughts = merge_thoughts(weights, [update["thoughts"]])
    return {**update, "thoughts": thoughts, "ensembles": answers}


async def begin(state: SearchState) -> list[str]:
    """Routes to all nodes with requests due in this round; without any, to `ensemble`."""
    return [*dict.fromkeys(due.node for due in schedule.plan(state))] or ["ensemble"]


async def read_off(state: SearchState) -> Literal["extract_index", "rollback"]:
    """Routes to `extract_index` if an analysis awaits it; in parallel the next round sends it."""
    return "extract_index" if _is_due(state, "extract_index") else "rollback"


async def end_round(state: SearchState) -> Literal["rollback", "review", "select"]:
    """Routes a parallel round to `rollback`, where its requests join; else to the next round."""
    return "rollback" if RollbackSettings.of(state["settings"]).parallel else await show(state)


async def regrow(state: SearchState) -> Literal["generate", "review", "select"]:
    """Routes to the next step, of the path or after a rollback; in parallel to the next round."""
    return "generate" if _is_due(state, "generate") else await show(state)


show = shown_first(schedule.open_paths)


def _read_later(question: Question[Faults]) -> Question[Faults]:
    """Returns the question for an analysis alone; another request reads it, unless it is empty."""

    def read(samples: Sequence[str]) -> Faults:
        # An empty analysis needs no second request, in which small models make numbers up.
        return Faults() if samples[0].strip() else question.read(samples)

    return Question(question.prompt, read, 1)


def _is_due(state: SearchState, node: str) -> bool:
    """Returns whether the one request due is the node's; in parallel, `select` begins a round."""
    return not RollbackSettings.of(state["settings"]).parallel and bool(
        schedule.due_at(state, node)
    )


def wire(run: Run) -> Graph:
    """Wires the search."""
    graph = method_graph(run, select, analyse, extract_index, rollback, generate)
    add_answer(graph, run, ensemble, "ensemble", candidates=schedule.open_paths)
    graph.add_conditional_edges("start", admitted, {"begins": "select", "refused": "ensemble"})
    targets = ["analyse", "extract_index", "generate", "ensemble"]
    graph.add_conditional_edges("select", begin, targets)
    graph.add_conditional_edges("analyse", read_off)
    graph.add_edge("extract_index", "rollback")
    graph.add_conditional_edges("generate", end_round)
    graph.add_conditional_edges("rollback", regrow)
    return graph


ROLLBACK = Method(METHODS["rollback"], RollbackSettings, wire, abreast=3)
