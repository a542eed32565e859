"""Renders the prompts of a stored run again: a function of task, tree and settings alone."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Never

from thoughtgraph import registry
from thoughtgraph.acting import Hints
from thoughtgraph.cli.viewer.roles import (
    PromptSource,
    Render,
    action_hints,
    extraction_or_conclusion,
    judgements,
)
from thoughtgraph.errors import ModelUnavailable, ThoughtgraphError
from thoughtgraph.generation import GeneratorInput
from thoughtgraph.method import load
from thoughtgraph.nodes.actions import hints_of
from thoughtgraph.run import Run
from thoughtgraph.task import Outputs, Prompt, Question, Task, Values, Votes, extras
from thoughtgraph.tree import ROOT, Tree, path_to

StoredResult = Mapping[str, Any]
"""What `thoughtgraph solve --json` writes."""

FOREIGN = (ThoughtgraphError, LookupError, AttributeError, TypeError, ValueError)
"""What rendering raises for a result of a task, a method or a version that is not at hand."""

SPEAKERS = {"system": "System", "human": "User", "ai": "Assistant"}


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
        self._ask, needs = _known_method(result["method"], self._settings)
        self._source = None
        if self._task is not None:
            self._source = PromptSource(
                self._task, self._problem, self._tree, self._settings, needs
            )
        self._known: dict[tuple[str, object], list[Rendered]] = {}

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
        thought = self._tree[key]
        parent = thought.get("parent")
        if parent is None:
            return []
        call = thought.get("created_by", {}).get("expansion", 0)
        return [
            *self._creation(key, parent, call),
            *self._action(key, parent),
            *self._judgement(key),
        ]

    def expansion(self, key: str) -> list[Rendered]:
        """Returns the prompt that asked for the first children of a thought."""
        eldest = self._eldest.get(key)
        if eldest is None:
            return self._expansion(key, 0, self._experiences(key))
        call = self._tree[eldest].get("created_by", {}).get("expansion", 0)
        return self._creation(eldest, key, call)

    def _creation(self, key: str, parent: str, call: int) -> list[Rendered]:
        """Returns the prompt that made a thought; a draft that was given was not asked for."""
        if parent == ROOT and self._settings.get("draft"):
            return []
        if (
            self._source is not None
            and (found := extraction_or_conclusion(self._source, key)) is not None
        ):
            role, render = found
            return self._cached(role, key, render)
        shown = self._tree[key].get("shown")
        if shown is None:
            return self._expansion(parent, call, self._experiences(key))
        hints = hints_of(self._tree, shown)
        return self._cached("generate", key, lambda: self._generation(parent, call, (), hints))

    def _action(self, key: str, parent: str) -> list[Rendered]:
        """Returns the prompt that asked for a thought's action alone, if one did."""
        if self._source is None or (hints := action_hints(self._source, key)) is None:
            return []
        return self._cached("act", key, lambda: self._generation(parent, 0, (), hints))

    def _experiences(self, key: str) -> tuple[str, ...]:
        """Returns the experiences that the prompt of a thought contained."""
        return tuple(self._tree[key].get("experiences", ()))

    def _expansion(self, key: str, call: int, taught: tuple[str, ...]) -> list[Rendered]:
        """Returns the prompt of one of a thought's expansions, with the experiences in it."""
        about = (key, call, taught)
        return self._cached("generate", about, lambda: self._generation(key, call, taught))

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

    def _cached(
        self, role: str, about: object, render: Callable[[], Prompt | object | None]
    ) -> list[Rendered]:
        if (role, about) not in self._known:
            try:
                prompt = render()
            except FOREIGN:
                prompt = None
            prompt = prompt.prompt if isinstance(prompt, Question) else prompt
            texts = [_as_text(prompt)] if isinstance(prompt, Prompt) else []
            self._known[role, about] = [Rendered(role, text) for text in texts]
        return self._known[role, about]

    def _generation(
        self, key: str, call: int, taught: tuple[str, ...], hints: Hints | None = None
    ) -> Prompt | None:
        path = path_to(self._tree, key)
        given = GeneratorInput(
            problem=self._problem, settings=self._settings, thought=key, expansion=call, path=path
        )
        given["hints"] = hints or hints_of(self._tree, {})
        given["lessons"] = [path_to(self._tree, source) for source in taught]
        return None if self._ask is None else self._ask(given)

    def _judgement(self, key: str) -> list[Rendered]:
        thought, task = self._tree[key], self._task
        if self._settings.get("evaluate") == "vote":
            if isinstance(task, Votes) and "value" in thought:
                depth = thought["depth"]
                return self._cached("vote", depth, lambda: self._vote(task, depth))
        elif found := self._other_judgements(key):
            return [
                each
                for at, (role, render) in enumerate(found)
                for each in self._cached(role, (key, at), render)
            ]
        elif isinstance(task, Values) and thought.get("verdicts"):
            path = path_to(self._tree, key)
            settings = self._settings
            return self._cached("value", key, lambda: task.value(self._problem, path, settings))
        return []

    def _other_judgements(self, key: str) -> list[tuple[str, Render]]:
        try:
            return [] if self._source is None else list(judgements(self._source, key))
        except FOREIGN:
            return []

    def _vote(self, task: Votes, depth: int) -> Question[Any]:
        """Compares all thoughts of a depth, as a step's vote does."""
        voted = [key for key, t in self._tree.items() if t["depth"] == depth and "value" in t]
        paths = [path_to(self._tree, key) for key in voted]
        return task.vote(self._problem, paths, self._settings)

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
        generator = found.generator(settings)
        needs = frozenset(found.needs(settings))
    except FOREIGN:
        return None, frozenset()
    run = Run(found, found.settings, _no_model)
    return lambda given: generator(run, given).prompt, needs


def _no_model(specifier: str) -> Never:
    raise ModelUnavailable("rendering a prompt needs no model")


def _as_text(prompt: Prompt) -> str:
    messages = prompt.messages()
    if len(messages) == 1:
        return prompt.user
    return "\n\n".join(f"{SPEAKERS[m.type]}:\n{m.text}" for m in messages)
