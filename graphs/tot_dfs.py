"""Tree of Thoughts, depth first: Algorithm 2 of Yao et al. 2023 (arXiv 2305.10601).

    DFS(s, t, p, G, k, V, T, v_th)

    1  if t > T then record the output G(p, s, 1)                     select
    2  for s' in G(p, s, k), candidates sorted                        generate, select
    3      if V(p, {s'}) > v_th                                       evaluate, select
    4          DFS(s', t + 1)                                         select -> generate
       (nothing left to try in s)                                     backtrack

The recursion is read off the tree (`nodes/families/depth_first.py`), so a search can be stopped,
edited and resumed anywhere. Line 1 asks for nothing: a state of T thoughts is the output. Of a
state's candidates at most `max_per_state` are visited, sorted by the generator's own score where
the task asks for one; `outputs` and `max_records` end the search. As in the official crosswords
code, a candidate is judged only when its turn comes, and one that alters what an earlier thought
fixed is passed over unjudged. What the evaluator undervalues is lost with everything below it;
`variant="no_prune"` judges but descends regardless, and `variant="no_backtrack"` follows the best
candidate only, unjudged (both are rows of the paper's Table 3).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any, Literal, cast

from langgraph.config import get_stream_writer

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask, join_samples
from thoughtgraph.nodes.expand import ThoughtQuestion, drafted, expansion, place, propose, sample
from thoughtgraph.nodes.families.depth_first import (
    Level,
    awaits_verdict,
    candidates,
    current,
    judged,
    levels,
    next_state,
    siblings,
    to_expand,
    visited,
)
from thoughtgraph.nodes.limits import limit_reason
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.review import shown_first
from thoughtgraph.nodes.start import begin
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import state_key_of, verdict_json, verdicts_in
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.state import Expansion, SearchState
from thoughtgraph.task import Inspects, Judged, Question, Values, Verdict, extras, maybe_await
from thoughtgraph.tree import Path, Status, Thought, Tree, children_of, cut, merge_thoughts, path_to
from thoughtgraph.usage import add_counts

DUPLICATE = "proposed twice; the first one counts"


def generator(step: Step, key: str) -> ThoughtQuestion:
    """G(p, s, k): lists of next thoughts, or one a completion."""
    settings = _settings(step.state)
    if settings.generate == "propose":
        return propose(step, key, settings.proposal_samples)
    return sample(step, key, settings.n_generate)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 2; with `reuse_proposals` an equal prompt gets the same proposals without a request."""
    key, tree = to_expand(state), state["thoughts"]
    if not key:  # a person pruned the state to expand
        return {}
    ask = expansion(step, key, generator(step, key))
    reuses = _settings(state).reuse_proposals
    prompt = state_key_of(ask.question.prompt) if reuses else ""
    known = next((k for k, t in tree.items() if prompt and t.get("prompt") == prompt), None)
    expansions = [_repeated(tree, key, known)] if known else drafted(await step.ask([ask]))
    if not expansions:
        return step.update(stop_reason=limit_reason(state))
    placed, first = place(state, expansions), dict[str, str]()
    for thought in placed.new.values():
        if first.setdefault(thought["text"], thought["id"]) != thought["id"]:
            thought |= {"status": "pruned", "note": DUPLICATE}
    if prompt:
        placed.parents[key]["prompt"] = prompt
    step.count(thoughts=len(placed.new), expansions=1, cached=int(known is not None))
    return step.update(thoughts=placed.tree, stop_reason="" if placed.complete else "budget")


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Lines 1 and 3: records the next state if it is judged, and prunes what is passed over."""
    passed, update = passed_over(step, state, current(state["thoughts"])), dict[str, Any]()
    after = _with(state, passed)
    key = next_state(after)
    if key and not awaits_verdict(after, key):
        update = record(after, key)
        passed |= update["thoughts"]
        after = _with({**after, "step": update["step"]}, passed)
        if "stop_reason" not in update and not to_expand(after):
            passed |= passed_over(step, after, current(after["thoughts"]))
    elif _settings(state).variant == "no_backtrack":
        update["stop_reason"] = "dead_end"
    return {**update, "thoughts": passed} if passed else update


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 3; with `evaluate="inspect"` part by part, and no judged part is asked about again."""
    key, tree = next_state(state), state["thoughts"]
    if not key or not awaits_verdict(state, key):
        return {}  # a person has pruned it, or given it a value
    if passed := passed_over(step, state, siblings(tree, key)):
        return {"thoughts": passed}  # a person pruned the one before it
    judging = await questions(step, state, path_to(tree, key))
    if isinstance(judging, Verdict):
        return {"thoughts": {key: {"value": judging.value, "note": judging.label}}}
    keys, known = [state_key_of(each.prompt) for each in judging], verdicts_in(tree)
    fresh = {k: each for k, each in zip(keys, judging, strict=True) if k not in known}
    n = _settings(state).n_evaluate
    asks = [Ask(each, key, "value", n, part=k, judges=True) for k, each in fresh.items()]
    answers = await step.ask(asks)
    new = {answer.ask.part: verdict_json(answer.reading) for answer in answers}
    fields: Thought = {"verdicts": new}
    if answers:
        fields["value_raw"] = cut(join_samples([cut(join_samples(a.texts)) for a in answers]))
        fields["usage"] = reduce(add_counts, [answer.usage for answer in answers])
    if len(new) < len(fresh):
        return step.update(thoughts={key: fields}, stop_reason=limit_reason(state))
    verdicts = [{**known, **new}[part] for part in keys]
    fields["value"] = float(sum(verdict["value"] for verdict in verdicts))
    fields["note"] = _tally([verdict["label"] for verdict in verdicts])
    step.count(cached=len(set(keys) - new.keys()))
    return step.update(thoughts={key: fields})


async def backtrack(step: Step, state: SearchState) -> dict[str, Any]:
    """Finds the deepest level with something left to try; ends the search without one."""
    passed = Tree()
    for level in levels(state["thoughts"]):
        passed |= passed_over(step, state, level)
        if set(candidates(state, level)) - passed.keys():
            break
    key, tree = next_state(_with(state, passed)), state["thoughts"]
    to, reason = (tree[key]["parent"], "") if key else (None, "finished")
    if not key and not _outputs(tree):
        reason = "exhausted" if state["step"] else "dead_end"
    get_stream_writer()({"event": "backtracked", "to": to, "node": "backtrack"})
    return {"thoughts": passed, "stop_reason": reason}


async def go_on(state: SearchState) -> Literal["select", "answer"]:
    """Routes to the candidates, unless a limit kept some of them out of the tree."""
    return "answer" if state["stop_reason"] else "select"


async def visit_next(
    state: SearchState,
) -> Literal["generate", "evaluate", "select", "backtrack", "answer"]:
    """Routes into the state that was recorded, to the next one of its level, or back."""
    if not state["stop_reason"] and to_expand(state):
        return "generate"
    if not state["stop_reason"] and not candidates(state, current(state["thoughts"])):
        return "backtrack"
    return await try_next(state)


async def try_next(state: SearchState) -> Literal["evaluate", "select", "answer"]:
    """Routes to the judgement of the next candidate; past it where a person has judged it."""
    if state["stop_reason"]:
        return "answer"
    return "evaluate" if awaits_verdict(state, next_state(state)) else "select"


def outputs(state: SearchState) -> list[str]:
    """Returns what a search puts out: the outputs in order, else the deepest states it visited."""
    thoughts = visited(state["thoughts"].values())
    passed = [thought for thought in thoughts if thought["status"] == "terminal"]
    if passed and _settings(state).answer_from == "outputs":
        return [thought["id"] for thought in passed]
    deepest = max((thought["depth"] for thought in thoughts), default=0)
    return [thought["id"] for thought in thoughts if thought["depth"] == deepest]


def _repeated(tree: Tree, key: str, known: str) -> Expansion:
    """Returns the expansion of a state by the proposals of one that had an equal prompt."""
    kept = ("text", "score", "answer", "raw")
    thoughts = [{k: v for k, v in t.items() if k in kept} for t in children_of(tree, known)]
    return {"parent": key, "thoughts": thoughts, "usage": {}}


def _with(state: Mapping[str, Any], changes: Tree) -> SearchState:
    return cast("SearchState", {**state, "thoughts": merge_thoughts(state["thoughts"], [changes])})


def passed_over(step: Step, state: SearchState, level: Level) -> Tree:
    """Returns the first candidates of a level that break what earlier thoughts fixed, pruned.

    Without backtracking the best candidate may overwrite that (section 4.3: "allowing
    overwriting"); in the official code the last one, where all do.
    """
    settings, pruned, keys = _settings(state), Tree(), candidates(state, level)
    if settings.variant == "no_backtrack":
        keys = keys[:-1] if settings.repo_compat else []
    task = extras(step.task(object))
    for key in keys:
        path = path_to(state["thoughts"], key)
        if "visit" in path[-1] or not (why := task.violation(state["problem"], path)):
            break
        pruned[key] = {"status": "pruned", "note": why}
    return pruned


async def questions(
    step: Step, state: SearchState, path: Path
) -> Sequence[Question[Verdict]] | Verdict:
    """Returns what to ask about a state, or its verdict where nobody need be asked."""
    problem, settings = state["problem"], state["settings"]
    if _settings(state).evaluate == "inspect":
        return step.task(Inspects).inspect(problem, path, settings)
    judging: Judged = await maybe_await(step.task(Values).value(problem, path, settings))
    return judging if isinstance(judging, Verdict) else [judging]


def record(state: SearchState, key: str) -> dict[str, Any]:
    """Returns what the verdict on a state changes: it is an output, gone into, or left.

    With `prune` a state is continued only if its value exceeds the threshold or a person opened it
    again; else always.
    """
    settings, number, thought = _settings(state), state["step"] + 1, state["thoughts"][key]
    greedy, reopened = settings.variant == "no_backtrack", thought.get("pruned_by") == ""
    last = (settings.greedy_steps if greedy else None) or settings.steps
    status: Status = "terminal" if thought["depth"] >= last else "open"
    if settings.variant == "prune" and not reopened and thought["value"] <= settings.threshold:
        status = "pruned"
    update: dict[str, Any] = {
        "thoughts": {key: {"status": status, "visit": number}},
        "step": number,
        "spent": {"rounds": 1, **({"evaluated": 1} if "value" in thought else {})},
    }
    # Counted only where their number can end the search: it takes a pass over the tree.
    wanted = status == "terminal" and settings.outputs
    done = wanted and _outputs(state["thoughts"]) + 1 == settings.outputs
    if done or (greedy and status == "terminal"):
        return {**update, "stop_reason": "finished"}
    return {**update, "stop_reason": "step_limit"} if number >= settings.max_records else update


def _settings(state: SearchState) -> TotDfsSettings:
    return TotDfsSettings.of(state["settings"])


def _outputs(tree: Tree) -> int:
    return sum(thought["status"] == "terminal" for thought in tree.values())


def _tally(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return ", ".join(f"{label or 'unclear'} {n}" for label, n in sorted(Counter(labels).items()))


def wire(run: Run) -> Graph:
    """Wires Algorithm 2."""
    graph = method_graph(run, generate, select, evaluate, backtrack)
    last = partial(answer, pick=outputs)
    add_answer(graph, run, last, candidates=judged)
    graph.add_conditional_edges("start", begin)
    graph.add_conditional_edges("generate", go_on)
    graph.add_conditional_edges("select", visit_next)
    graph.add_conditional_edges("evaluate", shown_first(judged))
    graph.add_conditional_edges("backtrack", try_next)
    return graph


TOT_DFS = Method(METHODS["tot_dfs"], TotDfsSettings, wire)
