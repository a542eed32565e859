"""Acting: asks for a next step, reads the action out of it, calls the tool in its branch's state.

What a tool answered is shown to the model and never read as an action, a score or an answer.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from thoughtgraph.acting import Acts, Hints, Move, Moves, Rejected, Toolbox, ToolResult
from thoughtgraph.generation import GeneratorInput
from thoughtgraph.llm.meter import Meter
from thoughtgraph.method import ThoughtGenerator, ThoughtQuestion
from thoughtgraph.nodes.calls import TOOLS, Answer, Ask, Call
from thoughtgraph.nodes.generators import generator_input, one_thought_each
from thoughtgraph.nodes.limits import limits_in
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tracing import labels, traced_as
from thoughtgraph.outcome import REJECTED
from thoughtgraph.run import Run
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tree import ROOT, Path, Shown, Thought, Tree, bounded, cut, path_to, shortened


def next_actions(style: str, n: int = 1) -> ThoughtGenerator:
    """Returns the generator of independent next steps, each a thought with an action.

    Args:
        style: Whose prompt asks; see `Moves.move`.
        n: How many steps are asked for, where the task does not say it.
    """

    def generator(run: Run, given: GeneratorInput) -> ThoughtQuestion:
        hints = given.get("hints") or Hints(tools=tool_lines(run, given))
        question = move_question(run, given, style, hints)
        return one_thought_each(question, n, partial(thought_fields, run, given))

    return generator


def move_question(
    run: Run, given: GeneratorInput, style: str, hints: Hints
) -> Question[Sequence[Move]]:
    """Returns what to ask for a next step.

    Args:
        given: What to continue.
        style: Whose prompt asks; see `Moves.move`.
        hints: What the prompt says besides.
    """
    problem, path, settings = given["problem"], given["path"], given["settings"]
    return run.task_for(settings, Moves).move(problem, path, style, settings, hints)


def move_ask(
    run: Run, state: SearchState, key: str, style: str, hints: Hints, *, times: int
) -> Ask[Sequence[Move]]:
    """Returns what to ask for one next step of a thought, or for the action that it lacks.

    Args:
        key: Id of the thought.
        style: Whose prompt asks; see `Moves.move`.
        hints: What the prompt says besides.
        times: How many steps were taken from it before.
    """
    question = move_question(run, generator_input(state, key), style, hints)
    role = "act" if hints.thought else "generate"
    return Ask(Question(question.prompt, question.read, 1), key, role, expansion=times)


def move_fields(run: Run, state: SearchState, answer: Answer[Sequence[Move]]) -> dict[str, Any]:
    """Returns the partial thought that the answer to `move_ask` makes."""
    given = generator_input(state, answer.ask.about)
    return thought_fields(run, given, answer.reading[0], answer.texts[0])


def toolbox(run: Run, given: SearchState | GeneratorInput) -> Toolbox | None:
    """Returns the tools of a run; None where its task has none."""
    settings = given["settings"]
    if not isinstance(run.task_for(settings, Moves), Acts):
        return None
    return run.tools_for(settings, given["problem"], given.get("run", ""))


def tool_lines(run: Run, given: SearchState | GeneratorInput) -> str:
    """Returns one line a tool, for the prompt."""
    tools = toolbox(run, given)
    return "" if tools is None else tools.describe()


def hints_of(tree: Tree, shown: Shown, thought: str = "") -> Hints:
    """Returns what a prompt says besides the path.

    Args:
        shown: Which thoughts it shows.
        thought: The thought that lacks its action, where only that is asked for.
    """
    return Hints(
        tools=tree[ROOT].get("tools", ""),
        rejected=[_rejected(tree[key]) for key in shown.get("rejected", ())],
        siblings=[tree[key] for key in shown.get("beside", ())],
        reflections=[tree[key]["lesson"] for key in shown.get("lessons", ())],
        thought=thought,
    )


def shown_field(shown: Shown) -> Thought:
    """Returns the fields by which a thought keeps what its prompt showed; none for nothing."""
    kept = {name: keys for name, keys in shown.items() if keys}
    return cast("Thought", {"shown": kept} if kept else {})


def thought_fields(run: Run, given: GeneratorInput, move: Move, text: str) -> dict[str, Any]:
    """Returns the partial thought that a step makes.

    One without a readable action has failed already, and nothing was paid; the model is told so.
    """
    fields: dict[str, Any] = {"text": cut(move.text), "raw": cut(text)}
    if move.answer is not None:
        fields |= {"answer": move.answer, "status": "terminal"}
    tools = toolbox(run, given)
    if tools is None:
        lost = {"failed": True, "invalid": True} if move.malformed else {}
        return bounded({**fields, **lost})
    return bounded({**fields, **action_fields(tools, given["path"], move.action)})


def action_fields(tools: Toolbox, path: Path, action: str) -> dict[str, Any]:
    """Returns the fields by which a thought keeps its action, read out of the action's text."""
    if found := tools.parse(action):
        return {"action": {"name": found[0], "argument": found[1]}}
    said = one_line(action) or "none was written"
    known = ", ".join(tools.names)
    return {
        "action": None,
        "observation": cut(f"Invalid action: {said}. The actions are: {known}"),
        "tool_state": tool_state_after(path),
        "failed": True,
        "invalid": True,
        "price": 0.0,
    }


def tool_state_after(path: Path) -> dict[str, Any]:
    """Returns the state in which a path leaves the tools."""
    return dict(path[-1].get("tool_state", {})) if path else {}


def same_action(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Returns whether two thoughts do the same, whatever they say."""
    return _action_words(first) == _action_words(second)


def awaits_tool(thought: Thought) -> bool:
    """Returns whether a thought's action is still to be carried out."""
    return bool(thought.get("action")) and "observation" not in thought


async def carry_out(run: Run, state: SearchState, step: Step, keys: Sequence[str]) -> Tree:
    """Carries out the actions of thoughts side by side, each in the state that its parent left.

    Returns:
        What each call does to its thought; nothing for one that the limit on seconds cut off.
    """
    limit = limits_in(state).get("seconds")
    if limit is not None and state["usage"]["seconds"] >= limit:
        return {}
    results = await step.call([_call(run, state, key) for key in keys])
    tree: Tree = {}
    for key, kept in zip(keys, results, strict=True):
        if kept is not None:
            fields = tree[key] = kept["fields"]
            action, invalid = state["thoughts"][key]["action"], fields.get("invalid")
            assert action is not None
            if invalid:
                # Counted for whoever wrote the action: its own request, or that of the thought.
                whose = "act" if "act" in state["thoughts"][key].get("usage", {}) else "generate"
                step.count(parse_errors={whose: 1})
            else:
                name, cost = action["name"], fields["price"]
                failures = {name: int(fields["failed"])} if fields["failed"] else {}
                step.count(tool_calls={name: 1}, tool_cost=cost, tool_failures=failures)
    return tree


def _call(run: Run, state: SearchState, key: str) -> Call:
    """Returns the call of a thought's tool."""
    *before, acting = path_to(state["thoughts"], key)
    tools, action = toolbox(run, state), acting["action"]
    assert tools is not None and action is not None, "only actions of tools are carried out"
    name, argument = action["name"], action["argument"]

    async def make(meter: Meter) -> dict[str, Any]:
        async with meter.in_time():
            with traced_as(labels(run, state, key)):
                result = await tools.call(name, argument, tool_state_after(before))
        return {"fields": _observed(result)}

    return Call(TOOLS, f"call {key} {name} {argument}", {"id": key, "role": "tool"}, make)


def _observed(result: ToolResult) -> Thought:
    """Returns the fields by which a thought keeps what its tool answered."""
    fields: Thought = {
        "observation": result.observation,
        "tool_state": dict(result.state),
        "failed": result.failed,
        "price": result.cost,
    }
    if result.answer is not None:
        fields |= {"answer": shortened(result.answer), "status": "terminal"}
    if result.invalid:
        fields["invalid"] = True
    return fields


def _rejected(thought: Thought) -> Rejected:
    reason = thought["note"].removeprefix(REJECTED)
    return Rejected(answer=thought.get("answer") or "", thought=thought["text"], reason=reason)


def _action_words(thought: Mapping[str, Any]) -> tuple[str, ...]:
    action = thought.get("action")
    said = [thought["text"]] if action is None else [action["name"], action["argument"]]
    return tuple(" ".join(part.casefold().split()) for part in said)
