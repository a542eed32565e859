"""Renders the prompts of a stored run again: a function of task, tree and settings alone."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Never, cast

from thoughtgraph import registry
from thoughtgraph.acting import Acts, Concludes, Extracts, Hints, Reflects, Verifies
from thoughtgraph.errors import ModelUnavailable, ThoughtgraphError
from thoughtgraph.method import GeneratorInput, load
from thoughtgraph.nodes.acting.think_act import UNSAID
from thoughtgraph.nodes.actions import hints_of
from thoughtgraph.reasoning import Reviews
from thoughtgraph.run import Run
from thoughtgraph.task import (
    Estimates,
    Inspects,
    Judges,
    Outputs,
    Prompt,
    Question,
    Task,
    Values,
    Votes,
    extras,
)
from thoughtgraph.tree import ROOT, Thought, Tree, path_to

StoredResult = Mapping[str, Any]
"""What `thoughtgraph solve --json` writes."""

FOREIGN = (ThoughtgraphError, LookupError, AttributeError, TypeError, ValueError)
"""What rendering raises for a result of a task, a method or a version that is not at hand."""

SPEAKERS = {"system": "System", "human": "User", "ai": "Assistant"}
ESTIMATES = {"value": "itot", "step_eval": "fgdip", "score": "level_tot"}
"""In whose style the roles estimate a path."""

Render = Callable[[], object]
Asked = tuple[str, object, Render]
"""A prompt that was asked: its role, what it was about, and how it is rendered."""


class Rendered(NamedTuple):
    """One prompt of a thought."""

    role: str
    """What was asked for: `generate`, `value`, `vote`, `act`, …; the roles are usage's."""
    text: str
    """The messages as one text."""


class Renderer:
    """Renders the prompts of one result, each expansion and each vote once.

    What cannot be rendered here is left out: the task is not registered, or the method generates
    nothing.

    Args:
        result: A stored result.
    """

    def __init__(self, result: StoredResult) -> None:
        self._problem: str = result["problem"]
        self._tree: Tree = result["tree"]
        self._eldest = {t.get("parent"): key for key, t in reversed(self._tree.items())}
        self._settings = {**result["settings"], "task": result["task"]}
        self._task = _known_task(result["task"])
        self._ask, self._needs = _known_method(result["method"], self._settings)
        self._known: dict[tuple[str, object], str | None] = {}

    def unavailable(self) -> str | None:
        """Returns why no prompts can be shown; None when they can be."""
        if self._task is None:
            return (
                "Prompts are not shown: the task is not one of thoughtgraph's own, and a file of "
                "results may not choose code to run."
            )
        return None

    def prompts(self, key: str) -> list[Rendered]:
        """Returns the prompts that made and judged a thought, and drew its lesson, in that order.

        The root has none, nor has a judgement that needed no request.
        """
        if self._tree[key].get("parent") is None:
            return []
        return self._rendered(chain(self._creation(key), self._action(key), self._judgements(key)))

    def expansion(self, key: str) -> list[Rendered]:
        """Returns the prompt that asked for the first children of a thought."""
        eldest = self._eldest.get(key)
        if eldest is None:
            return self._rendered(self._expansion(key, 0, self._tree[key]))
        return self._rendered(self._creation(eldest))

    def answering(self, answer: str | None) -> str | None:
        """Returns the id of the best thought that gives an answer, None when none does."""
        if answer is None:
            return None
        giving = [key for key in self._tree if key != ROOT and self._output(key) == answer]
        return min(giving, key=self._rank, default=None)

    def picture(self) -> str | None:
        """Returns the problem's picture as an SVG image, None when its task has none."""
        picture = extras(self._task).picture
        try:
            return None if picture is None else picture(self._problem)
        except FOREIGN:
            return None

    def _rendered(self, asked: Iterator[Asked]) -> list[Rendered]:
        found = []
        with suppress(*FOREIGN):
            for role, about, render in asked:
                if (role, about) not in self._known:
                    self._known[role, about] = _text_of(render)
                if (text := self._known[role, about]) is not None:
                    found.append(Rendered(role, text))
        return found

    def _creation(self, key: str) -> Iterator[Asked]:
        """Yields the prompt that made a thought; a draft that was given was not asked for."""
        thought = self._tree[key]
        parent, made = thought["parent"] or ROOT, thought.get("created_by", {})
        node, call = str(made.get("node")), made.get("expansion", 0)
        if parent == ROOT and self._settings.get("draft"):
            return
        task, problem, settings = self._task, self._problem, self._settings
        if node == "extract" and isinstance(task, Extracts):
            yield node, key, lambda: task.extract(problem, settings)
        elif node == "conclude" and isinstance(task, Concludes):
            path = path_to(self._tree, parent)
            yield node, key, lambda: task.conclude(problem, path, settings)
        elif "shown" in thought:
            hints = hints_of(self._tree, thought["shown"])
            yield "generate", key, lambda: self._generation(parent, call, (), hints)
        else:
            yield from self._expansion(parent, call, thought)

    def _expansion(self, key: str, call: int, taught: Thought) -> Iterator[Asked]:
        """Yields the prompt of one of a thought's expansions, with a thought's experiences."""
        lessons = tuple(taught.get("experiences", ()))
        about = (key, call, lessons)
        yield "generate", about, lambda: self._generation(key, call, lessons)

    def _action(self, key: str) -> Iterator[Asked]:
        """Yields the prompt that asked for a thought's action alone, if one did."""
        thought = self._tree[key]
        if "act" in thought.get("usage", {}):
            hints = hints_of(self._tree, thought.get("shown", {}), thought["text"] or UNSAID)
            yield "act", key, lambda: self._generation(thought["parent"] or ROOT, 0, (), hints)

    def _generation(
        self, key: str, call: int, taught: tuple[str, ...], hints: Hints | None = None
    ) -> Prompt | None:
        given = GeneratorInput(
            problem=self._problem,
            settings=self._settings,
            thought=key,
            expansion=call,
            path=path_to(self._tree, key),
            hints=hints or hints_of(self._tree, {}),
            lessons=[path_to(self._tree, source) for source in taught],
        )
        return None if self._ask is None else self._ask(given)

    def _judgements(self, key: str) -> Iterator[Asked]:
        thought, task = self._tree[key], self._task
        if self._settings.get("evaluate") == "vote":
            if isinstance(task, Votes) and "value" in thought:
                yield "vote", thought["depth"], partial(self._vote, task, thought["depth"])
            return
        others = [*self._other_judgements(key)]
        yield from others
        if not others and isinstance(task, Values) and thought.get("verdicts"):
            path = path_to(self._tree, key)
            yield "value", key, partial(task.value, self._problem, path, self._settings)

    def _other_judgements(self, key: str) -> Iterator[Asked]:
        """Yields the judgements of a thought other than ToT's value and vote."""
        task, problem, settings, needs = self._task, self._problem, self._settings, self._needs
        thought, path = self._tree[key], path_to(self._tree, key)
        answer, asked = thought.get("answer") or "", thought.get("usage", {})
        if isinstance(task, Estimates):
            # A value of iToT may be an earlier one's: the thought itself asked for none then.
            valued = "value" in thought and {Acts, Estimates} <= needs
            for role, style in ESTIMATES.items():
                if valued if role == "value" else role in asked:
                    yield role, key, partial(task.estimate, problem, path, style, settings)
        if Inspects in needs and isinstance(task, Inspects) and "value" in thought:
            parts = (question.prompt for question in task.inspect(problem, path, settings))
            for at, prompt in enumerate(dict.fromkeys(parts)):
                yield "value", (key, at), partial(_same, prompt)
        if "answer_eval" in asked and isinstance(task, Verifies):
            yield "answer_eval", key, partial(task.verify, problem, answer, settings)
        if "judge" in asked and isinstance(task, Judges):
            yield "judge", key, partial(task.judge, problem, answer, settings)
        if isinstance(task, Reviews) and "analysis" in thought:
            unread = cast("Thought", {k: v for k, v in thought.items() if k != "analysis"})
            yield "analyse", key, partial(task.analyse, problem, [*path[:-1], unread], settings)
        if isinstance(task, Reviews) and "analysis_raw" in thought:
            yield "extract_index", key, partial(task.analyse, problem, path, settings)
        if "lesson" in thought and isinstance(task, Reflects):
            hints = hints_of(self._tree, thought.get("shown", {}))
            yield "reflect", key, partial(task.reflect, problem, path, settings, hints)

    def _vote(self, task: Votes, depth: int) -> Question[Any]:
        """Compares all thoughts of a depth, as a step's vote does."""
        voted = [key for key, t in self._tree.items() if t["depth"] == depth and "value" in t]
        return task.vote(self._problem, [path_to(self._tree, key) for key in voted], self._settings)

    def _output(self, key: str) -> str | None:
        thought = self._tree[key]
        if "answer" in thought:
            return thought["answer"]
        if not isinstance(self._task, Outputs):
            return None
        return self._task.output(self._problem, path_to(self._tree, key))

    def _rank(self, key: str) -> tuple[bool, bool, float, int]:
        thought = self._tree[key]
        unchosen, unfinished = not thought.get("chosen"), thought["status"] != "terminal"
        return unchosen, unfinished, -thought.get("value", 0.0), int(key)


def _known_task(name: str) -> Task | None:
    try:
        return registry.task(name)
    except FOREIGN:
        return None


def _known_method(
    method: str, settings: Mapping[str, Any]
) -> tuple[Callable[[GeneratorInput], Prompt] | None, frozenset[type]]:
    """Returns how a method asks for thoughts, None when it is unknown, and what it needs."""
    try:
        found = load(method)
        needs = frozenset(found.settings.of(settings).needs())
    except FOREIGN:
        return None, frozenset()
    run = Run(found, found.settings, _no_model)
    return lambda about: found.generator(run, about).prompt, needs


def _no_model(specifier: str) -> Never:
    raise ModelUnavailable("rendering a prompt needs no model")


def _same(prompt: Prompt) -> Prompt:
    return prompt


def _text_of(render: Render) -> str | None:
    """Returns a prompt's messages as one text; None where it cannot be rendered here."""
    try:
        asked = render()
    except FOREIGN:
        return None
    prompt = asked.prompt if isinstance(asked, Question) else asked
    if not isinstance(prompt, Prompt):
        return None
    messages = prompt.messages()
    if len(messages) == 1:
        return prompt.user
    return "\n\n".join(f"{SPEAKERS[m.type]}:\n{m.text}" for m in messages)
