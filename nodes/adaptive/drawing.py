"""What a sample is: a whole answer, or a plan that is run up to its first fault."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from thoughtgraph.generation import Expansion, GeneratorInput
from thoughtgraph.method import ChooseGenerator, ThoughtQuestion
from thoughtgraph.nodes.adaptive.batches import next_batch
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.generators import direct_answer, one_thought_each
from thoughtgraph.nodes.limits import limit_reason
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place, times_expanded, with_times
from thoughtgraph.nodes.plan_examples import draw_shots
from thoughtgraph.nodes.step import Step
from thoughtgraph.planning import Plans
from thoughtgraph.run import Run
from thoughtgraph.settings.adaptive import AdaptiveSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question, extras
from thoughtgraph.tree import Path, Thought, cut, path_to, without_root

REPEATED = "the same beginning was drawn before"
ENDLESS = "the plan does not end"


def whole_answers(run: Run, given: GeneratorInput) -> ThoughtQuestion:
    """Asks for whole answers, thought before."""
    return direct_answer("cot", given.get("samples", 1))(run, given)


def whole_plans(run: Run, given: GeneratorInput) -> ThoughtQuestion:
    """Asks for all steps that are left of a plan."""
    settings, problem, path = given["settings"], given["problem"], given["path"]
    task, times = run.task_for(settings, Plans), given.get("expansion", 0)
    library = extras(task).shots(problem, settings)
    shots = draw_shots(settings, problem, given["thought"], times, library)
    made = {"node": "generate", "expansion": times, "shots": shots}

    def plan(steps: Sequence[str], text: str) -> Mapping[str, Any]:
        return {"text": "\n".join(steps), "raw": cut(text), "created_by": made}

    question = task.plan(problem, path, shots, None, settings)
    wanted = given.get("samples", 1)
    return one_thought_each(Question(question.prompt, question.read, wanted), wanted, plan)


def draw_samples(run: Run, generator: ChooseGenerator) -> Node:
    """Makes the node that draws the next samples, in one request; plans are run first.

    Args:
        generator: From the run's settings to how samples are generated.
    """

    async def generate(state: SearchState) -> dict[str, Any]:
        step, batch = Step(run, state), next_batch(state)
        asks = []
        if batch is not None:
            times = times_expanded(state, batch.start)
            asks = [expansion(run, state, generator, batch.start, times, batch.size)]
        drawn = [_numbered(state, each) for each in drafted(await step.ask(asks))]
        if AdaptiveSettings.of(state["settings"]).draw == "plans":
            drawn = [_run(run, state, each) for each in drawn]
            made = [thought for each in drawn for thought in each["thoughts"]]
            if malformed := sum(thought.pop("malformed", False) for thought in made):
                step.count(parse_errors={"generate": malformed})
        placed = place(state, drawn)
        step.count(thoughts=len(placed.new), expansions=len(placed.parents))
        return step.update(
            thoughts=with_times(state, placed),
            stop_reason="" if placed.parents and placed.complete else limit_reason(state),
        )

    return generate


def _numbered(state: SearchState, drawn: Expansion) -> Expansion:
    """Returns an expansion whose thoughts say which request of their start they come from."""
    made = {"node": "generate", "expansion": times_expanded(state, drawn["parent"])}
    thoughts = [{"created_by": made, **thought} for thought in drawn["thoughts"]]
    return {**drawn, "thoughts": thoughts}


def _run(run: Run, state: SearchState, drawn: Expansion) -> Expansion:
    """Runs the plans of an expansion; one that begins like another before it is not continued."""
    path = path_to(state["thoughts"], drawn["parent"])
    seen = {_steps(path_to(state["thoughts"], key)) for key in without_root(state["thoughts"])}
    ran = []
    for written in drawn["thoughts"]:
        fields = _followed(run, state, path, written["text"])
        if "status" not in fields:
            whole = _steps([*path, cast("Thought", fields)])
            if whole in seen:
                fields |= {"status": "pruned", "note": f"{REPEATED}; {fields['note']}"}
            seen.add(whole)
        ran.append({**written, **fields})
    return {**drawn, "thoughts": ran}


def _steps(path: Path) -> str:
    return "\n".join(thought["text"] for thought in path)


def _followed(run: Run, state: SearchState, path: Path, written: str) -> dict[str, Any]:
    """Returns what is left of a plan: its steps up to the first fault, or to its end."""
    task, settings = run.task_for(state["settings"], Plans), state["settings"]
    most = AdaptiveSettings.of(settings).max_steps - len(_steps(path).split("\n")) * bool(path)
    taken: list[Thought] = []
    fault, malformed = ENDLESS, not written
    for step in written.split("\n") if written else []:
        if len(taken) == most:
            fault = f"E_LIMIT: a plan has at most {AdaptiveSettings.of(settings).max_steps} steps"
            break
        ruling = task.execute(state["problem"], [*path, *taken], [step], settings)
        if not ruling.accepted:
            fault, malformed = cut(f"{ruling.code}: {ruling.reason}"), ruling.malformed
            break
        state_after = dict(ruling.tool_state)
        taken.append(
            {"text": ruling.text, "observation": ruling.observation, "tool_state": state_after}
        )
        if ruling.answer is not None:
            return {**_joined(taken), "status": "terminal", "answer": ruling.answer}
    if not taken:
        kept = {"status": "pruned", "text": cut(written), "note": fault}
        return {**kept, "malformed": malformed}
    return {**_joined(taken), "note": fault}


def _joined(taken: Sequence[Thought]) -> dict[str, Any]:
    return {
        "text": _steps(taken),
        "observation": "\n".join(each["observation"] or "" for each in taken),
        "tool_state": taken[-1]["tool_state"],
    }
