"""V(p, {s}) for a depth-first search: asks about the state at hand, then decides what follows."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from langgraph.types import Send

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.nodes.asker import Asker, join_samples
from thoughtgraph.nodes.depth_first.candidates import next_candidate
from thoughtgraph.nodes.judge import judge, verdict_json
from thoughtgraph.nodes.limits import limit_reason, requests_left
from thoughtgraph.nodes.node import Node, fanned_out
from thoughtgraph.nodes.questions import Keyed, drop, kept, keyed, state_key_of
from thoughtgraph.outcome import StopReason
from thoughtgraph.parts import Parts
from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.state import DfsState, Finding
from thoughtgraph.task import Inspects, Values, Verdict
from thoughtgraph.tree import Path, Status, Thought, Tree, cut, path_to
from thoughtgraph.usage import Usage, add_usages


def questions(
    parts: Parts, settings: dict[str, Any], problem: str, path: Path
) -> Sequence[Keyed] | Verdict:
    """Returns what must be asked to judge a state, or its verdict where no model is needed."""
    return kept(path[-1]["id"], lambda: _rendered(parts, settings, problem, path))


def _rendered(
    parts: Parts, settings: dict[str, Any], problem: str, path: Path
) -> Sequence[Keyed] | Verdict:
    if TotDfsSettings.of(settings).evaluate == "inspect":
        asked = parts.task_for(settings, Inspects).inspect(problem, path, settings)
        return [Keyed(state_key_of(question.prompt), question) for question in asked]
    found = keyed(parts.task_for(settings, Values).value(problem, path, settings))
    return [found] if isinstance(found, Keyed) else found


def question_sends(parts: Parts, state: DfsState) -> list[Send]:
    """Returns one task for each distinct question about the visited state not answered before.

    Without backtracking nothing is judged.
    """
    if TotDfsSettings.of(state["settings"]).variant == "no_backtrack":
        return []
    thought = state["tree"][state["visiting"]]
    if thought["status"] == "pruned" or "value" in thought:  # A person may have judged it.
        return []
    path = path_to(state["tree"], state["visiting"])
    asked = questions(parts, state["settings"], state["problem"], path)
    if isinstance(asked, Verdict):
        return []
    known = state["judged"]
    fresh: dict[str, int] = {}
    for at, question in enumerate(asked):
        if question.key not in known:
            fresh.setdefault(question.key, at)
    about = [state["visiting"]]
    to_send = [SendArg(key=key, about=about, question=at) for key, at in fresh.items()]
    return [Send("evaluate", sent) for sent in to_send[: requests_left(state)]]


def evaluate_part(parts: Parts) -> Node:
    """Makes the node that answers one question about a state; one task a question.

    Returns:
        The node: from a `SendArg` to one `Finding`; to none when a limit or a failing endpoint
        forbids the request.
    """

    async def node(given: NodeInput) -> dict[str, Any]:
        settings, problem, path = given["settings"], given["problem"], given["path"]
        asked = questions(parts, settings, problem, path)
        assert not isinstance(asked, Verdict), "a verdict without a request is no task"
        asker, n = Asker(parts, given), TotDfsSettings.of(settings).n_evaluate
        question = asked[given["question"]].question
        found = await judge(asker, question, role="value", n=n)
        if found is None:
            return asker.update()
        finding = Finding(
            key=given["key"],
            verdict=verdict_json(found.verdict),
            raw=cut(join_samples(found.samples)),
            usage=found.usage,
        )
        return asker.update(findings=finding)

    return fanned_out(node)


def visit(parts: Parts) -> Node:
    """Makes the node that records the judged state, then descends or takes the next candidate.

    One node, because LangGraph keeps a checkpoint of every superstep: two nodes made a search half
    as long again.
    """

    async def node(state: DfsState) -> dict[str, Any]:
        key = state["visiting"]
        thought = state["tree"].get(key, {})
        new = key and "visit" not in thought and thought["status"] != "pruned"
        done = _record(parts, state, key) if new else {}
        if done.get("frontier") or done.get("stop_reason"):
            return done
        taken = next_candidate(parts, state)
        tree = {**done.get("tree", {}), **taken.get("tree", {})}
        return {**done, **taken, **({"tree": tree} if tree else {})}

    return node


def _record(parts: Parts, state: DfsState, key: str) -> dict[str, Any]:
    """Returns what the judgement of the visited state changes.

    With `prune` a state is continued when its value exceeds the threshold, otherwise always. A
    state of depth T that may be continued is an output.
    """
    settings, step = TotDfsSettings.of(state["settings"]), state["step"] + 1
    thought = state["tree"][key]
    fields, cached = _judged(parts, state)
    found = dict.fromkeys(fields.get("verdicts", ()), key)
    if "value" not in fields and settings.variant != "no_backtrack":
        return {"tree": {key: fields}, "judged": found, "stop_reason": limit_reason(state)}
    status = _status(settings, thought["depth"], fields)
    limit = settings.limit_depth
    deeper = status == "open" and (limit is None or thought["depth"] < limit)
    counts = {"rounds": 1, "evaluated": int("value" in fields), "cached": cached}
    update = {
        "tree": {key: {**fields, "status": status, "visit": step}},
        "judged": found,
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


def _judged(parts: Parts, state: DfsState) -> tuple[Thought, int]:
    """Returns what is now known of the visited state, and how many verdicts were reused."""
    if TotDfsSettings.of(state["settings"]).variant == "no_backtrack":
        return {}, 0
    path = path_to(state["tree"], state["visiting"])
    if "value" in path[-1]:  # A person gave it.
        return {"value": path[-1]["value"]}, 0
    asked = questions(parts, state["settings"], state["problem"], path)
    drop([state["visiting"]])
    if isinstance(asked, Verdict):
        return {"value": asked.value, "note": asked.label}, 0
    findings = state.get("findings") or []
    new = {finding["key"]: finding["verdict"] for finding in findings}
    keys = [question.key for question in asked]
    known = {**_earlier(state, keys), **new}
    fields: Thought = {"verdicts": new}
    if findings:
        fields["value_raw"] = cut(join_samples([finding["raw"] for finding in findings]))
        usages = [cast("Usage", finding["usage"]) for finding in findings]
        fields["usage"] = cast("Any", add_usages(Usage(), usages))
    if all(key in known for key in keys):
        verdicts = [known[key] for key in keys]
        fields["value"] = float(sum(verdict["value"] for verdict in verdicts))
        fields["note"] = _tally([verdict["label"] for verdict in verdicts])
    return fields, len(set(keys) - set(new))


def _earlier(state: DfsState, keys: Sequence[str]) -> dict[str, Any]:
    """Returns the verdicts that the tree holds already, by state key."""
    holders = {key: state["judged"][key] for key in keys if key in state["judged"]}
    return {key: state["tree"][holder]["verdicts"][key] for key, holder in holders.items()}


def _tally(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return ", ".join(f"{label or 'unclear'} {n}" for label, n in sorted(Counter(labels).items()))


def _status(settings: TotDfsSettings, depth: int, fields: Thought) -> Status:
    if settings.variant == "prune" and fields["value"] <= settings.threshold:
        return "pruned"
    return "terminal" if depth >= last_depth(settings) else "open"


def _stop_reason(state: DfsState, step: int, status: Status) -> StopReason:
    """Returns why the search ends with this state, if it does."""
    settings, tree = TotDfsSettings.of(state["settings"]), state["tree"]
    if status == "terminal":
        if settings.variant == "no_backtrack":
            return "finished"
        # Not counted where it does not matter: that would look at the whole tree for each output.
        if settings.outputs and _outputs(tree) + 1 == settings.outputs:
            return "finished"
    return "step_limit" if step >= settings.max_records else ""


def _outputs(tree: Tree) -> int:
    return sum(thought["status"] == "terminal" for thought in tree.values())
