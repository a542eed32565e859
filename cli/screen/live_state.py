"""What a reader can know of a running search: the graph's stream folded into one picture.

Nothing here knows a method: every update is folded by the rules of the graph's own state, and what
happens is read off the changes of the tree and off the names of the running nodes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from inspect import isfunction
from typing import Any, NamedTuple, cast, get_origin, get_type_hints

from langgraph.channels import DeltaChannel
from langgraph.types import Overwrite, StreamMode

from thoughtgraph.cli import text
from thoughtgraph.cli.screen.events import (
    BACK,
    DOING,
    PROPAGATE,
    QUIET,
    TELLING,
    VERIFY,
    Event,
    Narrator,
)
from thoughtgraph.cli.screen.progress import Slot
from thoughtgraph.nodes.calls import MODEL, TOOLS
from thoughtgraph.nodes.step import RETRY
from thoughtgraph.tree import Thought, Tree
from thoughtgraph.usage import Usage

STREAM: tuple[StreamMode, ...] = ("tasks", "updates", "custom")
"""The stream modes that a `LiveState` folds."""
CALLS = (MODEL, TOOLS)
"""Names of tasks that are no nodes."""
Fold = Callable[[Any, Any], Any]
"""Makes a channel's value of the old one, None before the first write, and of what is written."""


class RunningNode(NamedTuple):
    """A node at work."""

    node: str
    thoughts: tuple[str, ...]
    """Ids of the thoughts it works on, where the task was sent with them."""


class LiveState:
    """The picture of one search.

    Args:
        schema: The state of the search's graph, whose annotations say how writes are folded.
        state: The values of an interrupted search that goes on; empty for a new one.
    """

    def __init__(self, schema: type, state: Mapping[str, Any] | None = None) -> None:
        self._folds = folds(schema)
        self.state: dict[str, Any] = dict(state or {})
        self.running: dict[str, RunningNode] = {}
        self.started = 0
        """Tasks of the current superstep, those that are done included."""
        self.trouble = ""
        """Why requests are being repeated, in one line; empty once something was answered."""
        self.slots: Sequence[Slot] = ()
        """What the embedded model is working on, as it told last; empty for any other model."""
        self._requests: dict[tuple[Any, ...], RunningNode] = {}
        self._fresh = True
        self._depth = -1
        self._went_back = False

    @property
    def tree(self) -> Tree:
        """The search tree so far."""
        return cast("Tree", self.state.get("thoughts", {}))

    @property
    def usage(self) -> Usage:
        """What has been spent so far."""
        return cast("Usage", self.state.get("usage", {}))

    @property
    def working(self) -> list[RunningNode]:
        """What is at work now: the requests of nodes that tell them, else the nodes."""
        return [*self._requests.values()] or [*self.running.values()]

    @property
    def focus(self) -> list[str]:
        """Ids of the thoughts that matter now: those at work, then those that are next."""
        working = [key for task in self.working for key in task.thoughts]
        visiting = self.state.get("visiting") or ""
        named = [*working, visiting, *self._listed("frontier"), *self._listed("generation")]
        return [key for key in named if key in self.tree]

    def _listed(self, channel: str) -> list[Any]:
        return self.state.get(channel) or []

    def apply(self, mode: str, data: Any) -> list[Event]:
        """Folds one part of the stream.

        Args:
            mode: The stream mode it came under, of `STREAM`.
            data: What was streamed.

        Returns:
            What happened, in order.
        """
        if mode == "custom":
            return list(self._follow(data))
        if mode == "updates":
            self.trouble = ""
            return [event for node, given in data.items() for event in self._update(node, given)]
        if data["name"] in CALLS:
            return []
        if "input" in data:
            return list(self._begin(data))
        self.running.pop(data["id"], None)
        self._requests.clear()
        self._fresh = True
        return []

    def doing(self) -> str:
        """Returns what is going on now, in words."""
        tasks = self.working
        if not tasks:
            return ""
        if self.trouble:
            return f"trying again: {self.trouble}"
        node = tasks[0].node
        thoughts = [key for task in tasks for key in task.thoughts]
        about = self.narrator.quote(thoughts[0]) if len(thoughts) == 1 else _thoughts(len(thoughts))
        words = f"{DOING.get(node, node)} {about}".rstrip()
        if self.started > 1:
            words += f" · {self.started - len(tasks)} of {self.started} done"
        return words

    @property
    def narrator(self) -> Narrator:
        """Tells what the tree says now."""
        return Narrator(self.tree, self.state.get("problem", ""))

    def _follow(self, data: Any) -> Iterator[Event]:
        """Follows the requests of a node, where it tells them."""
        event = data.get("event") if isinstance(data, Mapping) else ""
        if event == RETRY:
            yield from self._trouble(data)
        elif event == "asked":
            self.started += 1
            self._requests[_request(data)] = RunningNode(data["node"], (data["id"],))
            if data["node"] == "generate":
                yield from self._expand(data["id"], data["expansion"])
            elif data["node"] in TELLING:
                yield Event(data["node"], self._about(data["node"], data["id"]))
            self._fresh = False
        elif event == "answered":
            self.trouble = ""
            self._requests.pop(_request(data), None)

    def _trouble(self, data: Mapping[str, Any]) -> Iterator[Event]:
        """Tells why a request is repeated: once, until something is answered."""
        if not self.trouble:
            yield Event("retry", data["reason"])
        self.trouble = data["reason"]

    def _begin(self, data: Mapping[str, Any]) -> Iterator[Event]:
        node, job = data["name"], data["input"]
        job = job if isinstance(job, Mapping) else {}
        expanded = job.get("thought")
        thoughts = tuple(job.get("about") or ([] if expanded is None else [expanded]))
        if self._fresh:
            self.started = 0
        self.started += bool(thoughts)
        self.running[data["id"]] = RunningNode(node, thoughts)
        if node == "generate" and expanded is not None:
            yield from self._expand(expanded, job.get("expansion", 0))
        elif node not in QUIET | BACK | {PROPAGATE, VERIFY} and (thoughts or node not in TELLING):
            yield Event(node, ", ".join(self._about(node, key) for key in thoughts))
        self._fresh = not thoughts

    def _about(self, node: str, key: str) -> str:
        """Returns what a node works on: the call of a tool, or the thought."""
        call = text.action(self.tree.get(key, Thought())) if node == "call_tool" else ""
        return f"{key}: {text.short(call, 300)}" if call else self.narrator.quote(key)

    def _expand(self, key: str, before: int) -> Iterator[Event]:
        """Tells an expansion, and that the search went back when it is no deeper than the last.

        A thought that was expanded before is tried again; that is no way back.
        """
        depth = self.tree.get(key, Thought()).get("depth", 0)
        if self._fresh:
            if depth <= self._depth and not self._went_back and not before:
                yield Event("backtrack", f"to {self.narrator.quote(key)}")
            self._depth, self._went_back = depth, False
        self._depth = max(self._depth, depth)
        yield Event(
            "propose",
            f"from {self.narrator.quote(key)}" + (f", try {before + 1}" if before else ""),
        )

    def _update(self, node: str, given: Any) -> Iterator[Event]:
        for update in given if isinstance(given, list) else [given]:
            if not isinstance(update, Mapping) or node.startswith("__") or node in CALLS:
                continue
            before, retries = self.tree, self.usage.get("retries", 0)
            for channel, value in update.items():
                self.state[channel] = self._folded(channel, value)
            if node in BACK:
                back = [*self.narrator.went_back(node, before, update, self._top())]
                self._went_back = bool(back)
                yield from back
            written = update.get("thoughts")
            if isinstance(written, Mapping):
                yield from self.narrator.grew(before, written)
                if node == PROPAGATE:
                    yield from self.narrator.became_dearer(written)
                if node == VERIFY:
                    yield from self.narrator.verified(written)
                yield from self.narrator.selected(node, before, update)
            if node == "select" and update.get("visiting"):
                yield Event("select", f"visit {self.narrator.quote(update['visiting'])}")
            if more := self.usage.get("retries", 0) - retries:
                yield Event("retry", f"{text.count(more, 'failed request')} repeated")

    def _folded(self, channel: str, new: Any) -> Any:
        """Returns a channel's value after a write."""
        if isinstance(new, Overwrite):
            return new.value
        fold = self._folds.get(channel)
        return new if fold is None else fold(self.state.get(channel), new)

    def _top(self) -> str | None:
        """Returns where a search stands, if it keeps a stack or names its next thoughts."""
        frames = self._listed("stack")
        keys = [str(frames[-1].get("thought"))] if frames else self._listed("frontier")
        return keys[0] if keys else None


def _request(data: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns what tells a request from those beside it."""
    return data["node"], data["id"], data.get("expansion")


def _thoughts(number: int) -> str:
    return text.count(number, "thought") if number else ""


def folds(schema: type) -> dict[str, Fold]:
    """Returns how writes change the channels of a state that have a rule for it.

    The rules are those of the state's annotations, as LangGraph applies them. A channel that is not
    named takes the last write.

    Args:
        schema: A method's state, `SearchState` or a subclass.
    """
    rules: dict[str, Fold] = {}
    for name, hint in get_type_hints(schema, include_extras=True).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, DeltaChannel):
                rules[name] = partial(_batched, mark.reducer, mark.typ or dict)
            elif isfunction(mark):
                rules[name] = partial(
                    _one_by_one, mark, get_origin(hint.__origin__) or hint.__origin__
                )
    return rules


def _batched(reducer: Callable[[Any, Sequence[Any]], Any], empty: type, old: Any, new: Any) -> Any:
    return reducer(empty() if old is None else old, [new])


def _one_by_one(operator: Callable[[Any, Any], Any], empty: type, old: Any, new: Any) -> Any:
    return operator(empty() if old is None else old, new)
