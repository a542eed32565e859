"""V(p, {s}) for a depth-first search: asks about the state at hand, then decides what follows."""

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import Any

from thoughtgraph.nodes.calls import Ask, join_samples
from thoughtgraph.nodes.depth_first.candidates import next_candidate
from thoughtgraph.nodes.limits import limit_reason
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import state_key_of, verdict_json
from thoughtgraph.outcome import StopReason
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.state import DfsState
from thoughtgraph.task import Inspects, Question, Values, Verdict
from thoughtgraph.tree import Path, Status, Thought, Tree, cut, path_to
from thoughtgraph.usage import add_counts


def awaits_verdict(state: DfsState) -> bool:
    """Returns whether the visited state is still to be judged; without backtracking none is."""
    if TotDfsSettings.of(state["settings"]).variant == "no_backtrack":
        return False
    thought = state["thoughts"][state["visiting"]]
    return thought["status"] != "pruned" and "value" not in thought  # A person may have judged it.


def evaluate_state(run: Run) -> Node:
    """Makes the node that judges the visited state, part by part where the task does.

    A part that was judged before has its verdict. What a limit leaves without one has no value.
    """

    async def evaluate(state: DfsState) -> dict[str, Any]:
        key, step = state["visiting"], Step(run, state)
        asked = _questions(run, state, path_to(state["thoughts"], key))
        if isinstance(asked, Verdict):
            return step.update(thoughts={key: Thought(value=asked.value, note=asked.label)})
        keys = [state_key_of(question.prompt) for question in asked]
        earlier, n = _earlier(state, keys), TotDfsSettings.of(state["settings"]).n_evaluate
        fresh = {k: q for k, q in zip(keys, asked, strict=True) if k not in earlier}
        asks = [
            Ask(question, key, "value", n, part=name, judges=True)
            for name, question in fresh.items()
        ]
        answers = await step.ask(asks)
        new = {answer.ask.part: verdict_json(answer.reading) for answer in answers}
        fields, known = Thought(verdicts=new), {**earlier, **new}
        if answers:
            fields["value_raw"] = cut(join_samples([cut(join_samples(a.texts)) for a in answers]))
            fields["usage"] = reduce(add_counts, [answer.usage for answer in answers])
        if all(name in known for name in keys):
            verdicts = [known[name] for name in keys]
            fields["value"] = float(sum(verdict["value"] for verdict in verdicts))
            fields["note"] = _tally([verdict["label"] for verdict in verdicts])
            step.count(cached=len(set(keys) - set(new)))
        return step.update(thoughts={key: fields}, judged=dict.fromkeys(new, key))

    return evaluate


def _questions(run: Run, state: DfsState, path: Path) -> Sequence[Question[Verdict]] | Verdict:
    """Returns what must be asked to judge a state, or its verdict where no model is needed."""
    settings, problem = state["settings"], state["problem"]
    if TotDfsSettings.of(settings).evaluate == "inspect":
        return run.task_for(settings, Inspects).inspect(problem, path, settings)
    asked = run.task_for(settings, Values).value(problem, path, settings)
    return asked if isinstance(asked, Verdict) else [asked]


def visit(run: Run) -> Node:
    """Makes the node that records the judged state, then descends or takes the next candidate.

    One node, because LangGraph keeps a checkpoint of every superstep: two nodes made a search half
    as long again.
    """

    async def node(state: DfsState) -> dict[str, Any]:
        key = state["visiting"]
        thought = state["thoughts"].get(key, {})
        new = key and "visit" not in thought and thought["status"] != "pruned"
        done = _record(state, key) if new else {}
        if done.get("frontier") or done.get("stop_reason"):
            return done
        taken = next_candidate(run, state)
        tree = {**done.get("thoughts", {}), **taken.get("thoughts", {})}
        return {**done, **taken, **({"thoughts": tree} if tree else {})}

    return node


def _record(state: DfsState, key: str) -> dict[str, Any]:
    """Returns what the judgement of the visited state changes.

    With `prune` a state is continued when its value exceeds the threshold, otherwise always. A
    state of depth T that may be continued is an output.
    """
    settings, step = TotDfsSettings.of(state["settings"]), state["step"] + 1
    thought = state["thoughts"][key]
    if "value" not in thought and settings.variant != "no_backtrack":
        return {"stop_reason": limit_reason(state)}
    status = _status(settings, thought)
    limit = settings.limit_depth
    deeper = status == "open" and (limit is None or thought["depth"] < limit)
    counts = {"rounds": 1, "evaluated": int("value" in thought)}
    update = {
        "thoughts": {key: {"status": status, "visit": step}},
        "frontier": [key] if deeper else [],
        "step": step,
        "usage": {name: number for name, number in counts.items() if number},
        "stop_reason": _stop_reason(state, step, status),
    }
    # What is empty was empty before, and every write is a row of the checkpoints.
    return {name: value for name, value in update.items() if value}


def last_depth(settings: TotDfsSettings) -> int:
    """Returns T: the depth of outputs."""
    if settings.variant == "no_backtrack":
        return settings.greedy_steps or settings.steps
    return settings.steps


def _earlier(state: DfsState, keys: Sequence[str]) -> dict[str, Any]:
    """Returns the verdicts that the tree holds already, by state key."""
    holders = {key: state["judged"][key] for key in keys if key in state["judged"]}
    return {key: state["thoughts"][holder]["verdicts"][key] for key, holder in holders.items()}


def _tally(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return ", ".join(f"{label or 'unclear'} {n}" for label, n in sorted(Counter(labels).items()))


def _status(settings: TotDfsSettings, thought: Thought) -> Status:
    if settings.variant == "prune" and thought["value"] <= settings.threshold:
        return "pruned"
    return "terminal" if thought["depth"] >= last_depth(settings) else "open"


def _stop_reason(state: DfsState, step: int, status: Status) -> StopReason:
    """Returns why the search ends with this state, if it does."""
    settings, tree = TotDfsSettings.of(state["settings"]), state["thoughts"]
    if status == "terminal":
        if settings.variant == "no_backtrack":
            return "finished"
        # Not counted where it does not matter: that would look at the whole tree for each output.
        if settings.outputs and _outputs(tree) + 1 == settings.outputs:
            return "finished"
    return "step_limit" if step >= settings.max_records else ""


def _outputs(tree: Tree) -> int:
    return sum(thought["status"] == "terminal" for thought in tree.values())
