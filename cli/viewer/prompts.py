"""Renders the prompts of a stored run again: a function of task, tree and settings alone."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Never

from thoughtgraph import registry
from thoughtgraph.errors import ModelUnavailable, ThoughtgraphError
from thoughtgraph.nodes.generate import Way
from thoughtgraph.parts import Parts
from thoughtgraph.state import Job
from thoughtgraph.task import Outputs, Prompt, Task, Values, Votes
from thoughtgraph.tree import ROOT, Tree, path_to

Result = Mapping[str, Any]
"""What `thoughtgraph solve --json` writes."""

FOREIGN = (ThoughtgraphError, LookupError, AttributeError)
"""What rendering raises for a result of a task, a method or a version that is not at hand."""

SPEAKERS = {"system": "System", "human": "User", "ai": "Assistant"}


class Rendered(NamedTuple):
    """One prompt of a thought."""

    role: str
    """What was asked for: `generate`, `value` or `vote`."""
    text: str
    """The messages as one text."""


def prompts_of(result: Result, key: str) -> list[Rendered]:
    """Returns the prompts that made and judged a thought, in that order.

    Args:
        result: A stored result.
        key: Id of the thought; the root has no prompts.

    Returns:
        The prompts, without those that cannot be rendered here (the task is not registered, the
        method has no `way`) and without a judgement that needed no request.
    """
    return Renderer(result).prompts(key)


class Renderer:
    """Renders the prompts of one result, each expansion and each vote once.

    Args:
        result: A stored result.
    """

    def __init__(self, result: Result) -> None:
        self._problem: str = result["problem"]
        self._tree: Tree = result["tree"]
        self._settings = {**result["settings"], "task": result["task"]}
        self._task = _known_task(result["task"])
        self._ask = _known_way(result["method"], self._settings)
        self._known: dict[tuple[str, object], list[Rendered]] = {}

    def prompts(self, key: str) -> list[Rendered]:
        """Returns the prompts that made and judged a thought."""
        parent = self._tree[key].get("parent")
        return [] if parent is None else [*self.expansion(parent), *self._judgement(key)]

    def expansion(self, key: str) -> list[Rendered]:
        """Returns the prompt that asked for the children of a thought."""
        return self._once("generate", key, lambda: self._generation(key))

    def answering(self, answer: str | None) -> str | None:
        """Returns the id of the best thought that gives an answer, None when none does."""
        if answer is None:
            return None
        giving = [key for key in self._tree if key != ROOT and self._output(key) == answer]
        return min(giving, key=self._rank, default=None)

    def _once(
        self, role: str, about: object, render: Callable[[], Prompt | object | None]
    ) -> list[Rendered]:
        if (role, about) not in self._known:
            try:
                prompt = render()
            except FOREIGN:
                prompt = None
            texts = [_as_text(prompt)] if isinstance(prompt, Prompt) else []
            self._known[role, about] = [Rendered(role, text) for text in texts]
        return self._known[role, about]

    def _generation(self, key: str) -> Prompt | None:
        path = path_to(self._tree, key)
        job = Job(problem=self._problem, settings=self._settings, thought=key, path=path)
        return None if self._ask is None else self._ask(job)

    def _judgement(self, key: str) -> list[Rendered]:
        thought, task = self._tree[key], self._task
        if self._settings.get("evaluate") == "vote":
            if isinstance(task, Votes) and "value" in thought:
                depth = thought["depth"]
                return self._once("vote", depth, lambda: self._vote(task, depth))
        elif isinstance(task, Values) and thought.get("verdicts"):
            path = path_to(self._tree, key)
            return self._once("value", key, lambda: task.value(self._problem, path))
        return []

    def _vote(self, task: Votes, depth: int) -> Prompt:
        """Compares all thoughts of a depth, as a step's vote does."""
        voted = [key for key, t in self._tree.items() if t["depth"] == depth and "value" in t]
        return task.vote(self._problem, [path_to(self._tree, key) for key in voted])

    def _output(self, key: str) -> str | None:
        thought = self._tree[key]
        if "answer" in thought:
            return thought["answer"]
        if not isinstance(self._task, Outputs):
            return None
        return self._task.output(self._problem, path_to(self._tree, key))

    def _rank(self, key: str) -> tuple[bool, float, int]:
        thought = self._tree[key]
        return thought["status"] != "terminal", -thought.get("value", 0.0), int(key)


def _known_task(name: str) -> Task | None:
    try:
        return registry.task(name)
    except FOREIGN:
        return None


def _known_way(method: str, settings: Mapping[str, Any]) -> Callable[[Job], Prompt] | None:
    """Returns how a method asks for thoughts, None when it is unknown or says nothing of it."""
    try:
        module = registry.method_module(method)
        way: Way = module.way(settings)
    except FOREIGN:
        return None
    parts = Parts(method, module.SETTINGS, module.needs, _no_model)
    return lambda job: way(parts, job)[0]


def _no_model(specifier: str) -> Never:
    raise ModelUnavailable("rendering a prompt needs no model")


def _as_text(prompt: Prompt) -> str:
    messages = prompt.messages()
    if len(messages) == 1:
        return prompt.user
    return "\n\n".join(f"{SPEAKERS[m.type]}:\n{m.text}" for m in messages)
