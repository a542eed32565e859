"""Tree of Thoughts, depth first: Algorithm 2 of Yao et al. 2023 (arXiv 2305.10601).

    DFS(s, t, p, G, k, V, T, v_th)

    1  if t > T then record the output G(p, s, 1)                     select
    2  for s' in G(p, s, k), candidates sorted                        generate, select
    3      if V(p, {s'}) > v_th                                       evaluate, select
    4          DFS(s', t + 1)                                         select -> generate
       (nothing left to try in s)                                     backtrack

Before its verdict, `select` or `backtrack` screens a candidate: one that breaks what earlier
thoughts fixed is skipped. After the verdict, `select` visits it: it becomes an output, open for
expansion, or pruned. The recursion is derived from the tree (`nodes/families/depth_first.py`, which
also sorts the candidates), so a search can be stopped, edited and resumed anywhere.

* T is `steps`, v_th is `threshold`. If thoughts are sampled, k is `n_generate`; if they are
  proposed, `proposal_samples` is the number of lists.
* G(p, s, 1) is never requested: a state with T thoughts (depth `steps`) is an output.
* Candidates are tried by the generator's own score, best first; without scores, in the order
  proposed. At most `max_per_state` children of a state are visited. V of a candidate is the sum of
  the verdicts on it.
* The search ends after `outputs` outputs (ours: 1; 0: no end, as in the box) or `max_records`
  visits.
* A candidate that changes what an earlier thought fixed, such as a letter, is skipped (section 4.3)
  without a verdict (official crosswords code).
* A wrong verdict costs the whole subtree. `variant="no_prune"` judges but descends regardless.
  `variant="no_backtrack"` follows only the best candidate, unjudged (both: Table 3).
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
from thoughtgraph.state import Children, SearchState
from thoughtgraph.task import Inspects, Judged, Question, Values, Verdict, extras, maybe_await
from thoughtgraph.tree import Path, Status, Thought, Tree, children_of, cut, merge_thoughts, path_to
from thoughtgraph.usage import add_counts

DUPLICATE = "proposed twice; the first one counts"


def generator(step: Step, key: str) -> ThoughtQuestion:
    """Returns the question G(p, s, k): for lists of thoughts, or for one thought per completion."""
    settings = _settings(step.state)
    if settings.generate == "propose":
        return propose(step, key, settings.proposal_samples)
    return sample(step, key, settings.n_generate)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 2: expands a state; under `reuse_proposals`, equal prompts share their children."""
    key, tree = to_expand(state), state["thoughts"]
    if not key:  # a person pruned the state to expand
        return {}
    ask = expansion(step, key, generator(step, key))
    reuses = _settings(state).reuse_proposals
    prompt = state_key_of(ask.question.prompt) if reuses else ""
    twins = (k for k, t in tree.items() if prompt and t.get("prompt") == prompt and k != key)
    twin = next(twins, None)
    expansions = [_copied(tree, key, twin)] if twin else drafted(await step.ask([ask]))
    if not expansions:
        return step.update(stop_reason=limit_reason(state))
    placed, first_ids = place(state, expansions), dict[str, str]()
    for thought in placed.new.values():
        if first_ids.setdefault(thought["text"], thought["id"]) != thought["id"]:
            thought.update({"status": "pruned", "note": DUPLICATE})
    if prompt:
        placed.parents[key]["prompt"] = prompt
    step.count(thoughts=len(placed.new), expansions=1, cached=int(twin is not None))
    return step.update(thoughts=placed.tree, stop_reason="" if placed.complete else "budget")


async def select(step: Step, state: SearchState) -> dict[str, Any]:
    """Lines 1 to 3: skips violators, then visits the next candidate unless it awaits a verdict."""
    changes, update = violators(step, state, current(state["thoughts"])), dict[str, Any]()
    after = _with(state, changes)
    key = next_state(after)
    if key and not awaits_verdict(after, key):
        update = visit(after, key)
        changes |= update["thoughts"]
        after = _with({**after, "step": update["step"]}, changes)
        if "stop_reason" not in update and not to_expand(after):
            # The next candidate goes straight to `evaluate`, so its level is screened now.
            changes |= violators(step, after, current(after["thoughts"]))
    elif not key and _settings(state).variant == "no_backtrack":
        update["stop_reason"] = "dead_end"  # nothing is left to follow
    return {**update, "thoughts": changes} if changes else update


async def evaluate(step: Step, state: SearchState) -> dict[str, Any]:
    """Line 3: requests V, the sum of the verdicts on a candidate; equal questions share one."""
    key, tree = next_state(state), state["thoughts"]
    if not key or not awaits_verdict(state, key):
        return {}  # a person pruned it or gave it a value
    if skipped := violators(step, state, siblings(tree, key)):
        return {"thoughts": skipped}  # a person pruned the screened candidate
    parts = await questions(step, state, path_to(tree, key))
    if isinstance(parts, Verdict):  # no model is needed
        return {"thoughts": {key: {"value": parts.value, "note": parts.label}}}
    keys, stored = [state_key_of(each.prompt) for each in parts], verdicts_in(tree)
    fresh = {k: each for k, each in zip(keys, parts, strict=True) if k not in stored}
    n = _settings(state).n_evaluate
    asks = [Ask(each, key, "value", n, part=k, judges=True) for k, each in fresh.items()]
    answers = await step.ask(asks)
    new = {each.ask.part: verdict_json(each.reading) for each in answers}
    fields: Thought = {"verdicts": new}
    if answers:
        fields["value_raw"] = cut(join_samples([cut(join_samples(a.texts)) for a in answers]))
        fields["usage"] = reduce(add_counts, [each.usage for each in answers])
    if len(new) < len(fresh):
        return step.update(thoughts={key: fields}, stop_reason=limit_reason(state))
    verdicts = [{**stored, **new}[part] for part in keys]
    fields["value"] = float(sum(verdict["value"] for verdict in verdicts))
    fields["note"] = _tally([verdict["label"] for verdict in verdicts])
    step.count(cached=len(set(keys) - new.keys()))
    return step.update(thoughts={key: fields})


async def backtrack(step: Step, state: SearchState) -> dict[str, Any]:
    """Goes back to the deepest level with a candidate left; ends the search if there is none."""
    skipped = Tree()
    for level in levels(state["thoughts"]):
        skipped |= violators(step, state, level)
        if set(candidates(state, level)) - skipped.keys():
            break
    key, tree, reason = next_state(_with(state, skipped)), state["thoughts"], ""
    if not key:
        no_output = "exhausted" if state["step"] else "dead_end"
        reason = "finished" if _output_count(tree) else no_output
    to = tree[key]["parent"] if key else None
    get_stream_writer()({"event": "backtracked", "to": to, "node": "backtrack"})
    return {"thoughts": skipped, "stop_reason": reason}


async def after_generate(state: SearchState) -> Literal["select", "answer"]:
    """Routes to the candidates; to the answer if the search was stopped."""
    return "answer" if state["stop_reason"] else "select"


async def after_select(
    state: SearchState,
) -> Literal["generate", "evaluate", "select", "backtrack", "answer"]:
    """Routes into the state just visited, else to the next candidate of its level, else back."""
    if not state["stop_reason"] and to_expand(state):
        return "generate"
    if not state["stop_reason"] and not candidates(state, current(state["thoughts"])):
        return "backtrack"
    return await to_next_candidate(state)


async def to_next_candidate(state: SearchState) -> Literal["evaluate", "select", "answer"]:
    """Routes to the verdict on the next candidate; to `select` if it needs none."""
    if state["stop_reason"]:
        return "answer"
    return "evaluate" if awaits_verdict(state, next_state(state)) else "select"


def answer_candidates(state: SearchState) -> list[str]:
    """Returns the ids of the outputs; without any, of the deepest visited states, even pruned ones.

    With `answer_from="records"`, it returns the deepest visited states in any case.
    """
    thoughts = visited(state["thoughts"].values())
    complete = [thought for thought in thoughts if thought["status"] == "terminal"]
    if complete and _settings(state).answer_from == "outputs":
        return [thought["id"] for thought in complete]
    deepest = max((thought["depth"] for thought in thoughts), default=0)
    return [thought["id"] for thought in thoughts if thought["depth"] == deepest]


def _copied(tree: Tree, key: str, twin: str) -> Children:
    """Returns an expansion of a state with copies of the children of its twin (equal prompt)."""
    fields = ("text", "score", "answer", "raw")
    thoughts = [{k: v for k, v in t.items() if k in fields} for t in children_of(tree, twin)]
    return {"parent": key, "thoughts": thoughts, "usage": {}}


def _with(state: Mapping[str, Any], changes: Tree) -> SearchState:
    """Returns the state with changes merged into its tree."""
    return cast("SearchState", {**state, "thoughts": merge_thoughts(state["thoughts"], [changes])})


def violators(step: Step, state: SearchState, level: Level) -> Tree:
    """Returns updates that prune the violators of a level before the first valid candidate.

    Without backtracking none is pruned: the best may overwrite letters (section 4.3). Under
    `repo_compat` all but the last may be pruned, so the last is followed if all overwrite.
    """
    settings, pruned, keys = _settings(state), Tree(), candidates(state, level)
    if settings.variant == "no_backtrack":
        keys = keys[:-1] if settings.repo_compat else []
    task = extras(step.task(object))
    for key in keys:
        path = path_to(state["thoughts"], key)
        if "visit" in path[-1] or not (violation := task.violation(state["problem"], path)):
            break
        pruned[key] = {"status": "pruned", "note": violation}
    return pruned


async def questions(
    step: Step, state: SearchState, path: Path
) -> Sequence[Question[Verdict]] | Verdict:
    """Returns the questions about a state, or its verdict if no model is needed."""
    problem, settings = state["problem"], state["settings"]
    if _settings(state).evaluate == "inspect":
        return step.task(Inspects).inspect(problem, path, settings)
    judging: Judged = await maybe_await(step.task(Values).value(problem, path, settings))
    return judging if isinstance(judging, Verdict) else [judging]


def visit(state: SearchState, key: str) -> dict[str, Any]:
    """Marks a candidate `terminal` (an output), `open` (to be expanded) or `pruned` (V <= v_th).

    As in line 3, V of an output is tested, too; V of a state that a person reopened is not.
    """
    settings, number, thought = _settings(state), state["step"] + 1, state["thoughts"][key]
    greedy, reopened = settings.variant == "no_backtrack", thought.get("pruned_by") == ""
    deepest = (settings.greedy_steps if greedy else None) or settings.steps
    status: Status = "terminal" if thought["depth"] >= deepest else "open"
    if settings.variant == "prune" and not reopened and thought["value"] <= settings.threshold:
        status = "pruned"
    update: dict[str, Any] = {
        "thoughts": {key: {"status": status, "visit": number}},
        "step": number,
        "spent": {"rounds": 1, **({"evaluated": 1} if "value" in thought else {})},
    }
    # Counting outputs walks the tree, so count only if `outputs` limits them.
    limited = status == "terminal" and settings.outputs
    done = limited and _output_count(state["thoughts"]) + 1 >= settings.outputs
    if done or (greedy and status == "terminal"):
        return {**update, "stop_reason": "finished"}
    return {**update, "stop_reason": "step_limit"} if number >= settings.max_records else update


def _settings(state: SearchState) -> TotDfsSettings:
    return TotDfsSettings.of(state["settings"])


def _output_count(tree: Tree) -> int:
    return sum(thought["status"] == "terminal" for thought in tree.values())


def _tally(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return ", ".join(f"{label or 'unclear'} {n}" for label, n in sorted(Counter(labels).items()))


def wire(run: Run) -> Graph:
    """Wires Algorithm 2."""
    graph = method_graph(run, generate, select, evaluate, backtrack)
    add_answer(graph, run, partial(answer, pick=answer_candidates), candidates=judged)
    graph.add_conditional_edges("start", begin)
    graph.add_conditional_edges("generate", after_generate)
    graph.add_conditional_edges("select", after_select)
    graph.add_conditional_edges("evaluate", shown_first(judged))  # select, after a review
    graph.add_conditional_edges("backtrack", to_next_candidate)
    return graph


TOT_DFS = Method(METHODS["tot_dfs"], TotDfsSettings, wire)
