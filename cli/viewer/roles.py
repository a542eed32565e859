"""Which prompts there were about a thought besides the one that made it, by role."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, cast

from thoughtgraph.acting import Acts, Concludes, Extracts, Hints, Reflects, Verifies
from thoughtgraph.nodes.acting.think_act import UNSAID
from thoughtgraph.nodes.actions import hints_of
from thoughtgraph.reasoning import Reviews
from thoughtgraph.task import Estimates, Inspects, Judges, Prompt, Question, Task
from thoughtgraph.tree import Thought, Tree, path_to

Render = Callable[[], Prompt | Question[Any]]
ESTIMATES = {"value": "itot", "step_eval": "fgdip", "score": "level_tot"}
"""In whose style the roles estimate a path."""


class PromptSource(NamedTuple):
    """What prompts are rendered from."""

    task: Task
    problem: str
    tree: Tree
    settings: Mapping[str, Any]
    needs: frozenset[type]
    """The capabilities that the method uses."""

    def hints(self, key: str, thought: str = "") -> Hints:
        """Returns what the prompt that made a thought said besides the path."""
        return hints_of(self.tree, self.tree[key].get("shown", {}), thought)


def extraction_or_conclusion(source: PromptSource, key: str) -> tuple[str, Render] | None:
    """Returns the role and prompt that made a thought, where it was no ordinary generation."""
    task, problem, settings = source.task, source.problem, source.settings
    thought = source.tree[key]
    made = str(thought.get("created_by", {}).get("node"))
    if made == "extract" and isinstance(task, Extracts):
        return made, lambda: task.extract(problem, settings)
    if made == "conclude" and isinstance(task, Concludes):
        path = path_to(source.tree, thought["parent"] or "")
        return made, lambda: task.conclude(problem, path, settings)
    return None


def judgements(source: PromptSource, key: str) -> Iterator[tuple[str, Render]]:
    """Yields the roles and prompts of a thought's judgements other than ToT's value and vote."""
    task, problem, settings = source.task, source.problem, source.settings
    thought, path = source.tree[key], path_to(source.tree, key)
    answer, asked = thought.get("answer") or "", thought.get("usage", {})
    if isinstance(task, Estimates):
        # A value of iToT may be an earlier one's: the thought itself asked for none then.
        valued = "value" in thought and {Acts, Estimates} <= source.needs
        for role, style in ESTIMATES.items():
            if valued if role == "value" else role in asked:
                yield role, partial(task.estimate, problem, path, style, settings)
    if Inspects in source.needs and isinstance(task, Inspects) and "value" in thought:
        parts = (question.prompt for question in task.inspect(problem, path, settings))
        for prompt in dict.fromkeys(parts):
            yield "value", partial(_same, prompt)
    if "answer_eval" in asked and isinstance(task, Verifies):
        yield "answer_eval", lambda: task.verify(problem, answer, settings)
    if "judge" in asked and isinstance(task, Judges):
        yield "judge", lambda: task.judge(problem, answer, settings)
    if isinstance(task, Reviews) and "analysis" in thought:
        unread = cast("Thought", {k: v for k, v in thought.items() if k != "analysis"})
        yield "analyse", lambda: task.analyse(problem, [*path[:-1], unread], settings)
    if isinstance(task, Reviews) and "analysis_raw" in thought:
        yield "extract_index", lambda: task.analyse(problem, path, settings)
    if "lesson" in thought and isinstance(task, Reflects):
        yield "reflect", lambda: task.reflect(problem, path, settings, source.hints(key))


def _same(prompt: Prompt) -> Prompt:
    return prompt


def action_hints(source: PromptSource, key: str) -> Hints | None:
    """Returns the hints of the prompt that asked for a thought's action alone, if one did."""
    thought: Thought = source.tree[key]
    asked = "act" in thought.get("usage", {})
    return source.hints(key, thought["text"] or UNSAID) if asked else None
