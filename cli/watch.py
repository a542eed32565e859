"""What a reader can know of a running search: the graph's stream folded into one picture.

Nothing here knows a method: every update is folded by the state's own rules, and what happens is
read off the changes of the tree and off the names of the running nodes.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from langgraph.types import Overwrite, StreamMode

from thoughtgraph.cli import text
from thoughtgraph.cli.doing import BACK, DOING, PROPAGATE, QUIET, VERIFY
from thoughtgraph.nodes.act import REJECTED
from thoughtgraph.state import first_set
from thoughtgraph.tree import ROOT, Thought, Tree, merge_thoughts
from thoughtgraph.usage import Usage, add_usage

STREAM: tuple[StreamMode, ...] = ("tasks", "updates")
"""The stream modes that a `Watch` folds."""


class Event(NamedTuple):
    """Something that happened, in stable words: a keyword and what it was about."""

    kind: str
    """`propose`, `thought`, `accept`, `reject`, `value`, `select`, `prune`, `backtrack`, `observe`,
    `fail`, `propagate`, `retry`, `stop`, or the name of a node that a method has of its own."""
    about: str

    def __str__(self) -> str:
        """The event as one line of plain output."""
        return f"{self.kind:<9} {self.about}".rstrip()


class Running(NamedTuple):
    """A node at work."""

    node: str
    thoughts: tuple[str, ...]
    """Ids of the thoughts it works on, where the task was sent with them."""


class Watch:
    """The picture of one search.

    Args:
        state: The state of an interrupted search that goes on; empty for a new one.
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.state: dict[str, Any] = dict(state or {})
        self.running: dict[str, Running] = {}
        self.started = 0
        """Tasks of the current superstep, those that are done included."""
        self._fresh = True
        self._depth = -1
        self._went_back = False

    @property
    def tree(self) -> Tree:
        """The search tree so far."""
        return cast("Tree", self.state.get("tree", {}))

    @property
    def usage(self) -> Usage:
        """What has been spent so far."""
        return cast("Usage", self.state.get("usage", {}))

    @property
    def focus(self) -> list[str]:
        """Ids of the thoughts that matter now: those at work, then those that are next."""
        working = [key for task in self.running.values() for key in task.thoughts]
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
        if mode == "updates":
            return [event for node, given in data.items() for event in self._update(node, given)]
        if "input" in data:
            return list(self._begin(data))
        self.running.pop(data["id"], None)
        self._fresh = True
        return []

    def doing(self) -> str:
        """Returns what is going on now, in words."""
        if not self.running:
            return ""
        tasks = list(self.running.values())
        node = tasks[0].node
        thoughts = [key for task in tasks for key in task.thoughts]
        about = self.quote(thoughts[0]) if len(thoughts) == 1 else _thoughts(len(thoughts))
        words = f"{DOING.get(node, node)} {about}".rstrip()
        if self.started > 1:
            words += f" · {self.started - len(tasks)} of {self.started} done"
        return words

    def quote(self, key: str) -> str:
        """Returns a thought's id and text."""
        thought = self.tree.get(key)
        problem = text.headline(self.state.get("problem", ""))
        words = problem if key == ROOT else text.written(thought or Thought())
        return f"{key}: {text.short(words, 300)}"

    def _begin(self, data: Mapping[str, Any]) -> Iterator[Event]:
        node, job = data["name"], data["input"]
        job = job if isinstance(job, Mapping) else {}
        expanded = job.get("thought")
        thoughts = tuple(job.get("about") or ([] if expanded is None else [expanded]))
        if self._fresh:
            self.started = 0
        self.started += 1
        self.running[data["id"]] = Running(node, thoughts)
        if node == "generate" and expanded is not None:
            yield from self._expand(expanded, job.get("expansion", 0))
        elif node not in QUIET | BACK | {PROPAGATE, VERIFY}:
            yield Event(node, ", ".join(self._about(node, key) for key in thoughts))
        self._fresh = False

    def _about(self, node: str, key: str) -> str:
        """Returns what a node works on: the call of a tool, or the thought."""
        call = text.action(self.tree.get(key, Thought())) if node == "call_tool" else ""
        return f"{key}: {text.short(call, 300)}" if call else self.quote(key)

    def _expand(self, key: str, before: int) -> Iterator[Event]:
        """Tells an expansion, and that the search went back when it is no deeper than the last.

        A thought that was expanded before is tried again; that is no way back.
        """
        depth = self.tree.get(key, Thought()).get("depth", 0)
        if self._fresh:
            if depth <= self._depth and not self._went_back and not before:
                yield Event("backtrack", f"to {self.quote(key)}")
            self._depth, self._went_back = depth, False
        self._depth = max(self._depth, depth)
        yield Event(
            "propose", f"from {self.quote(key)}" + (f", try {before + 1}" if before else "")
        )

    def _update(self, node: str, given: Any) -> Iterator[Event]:
        for update in given if isinstance(given, list) else [given]:
            if not isinstance(update, Mapping) or node.startswith("__"):
                continue
            before, retries = self.tree, self.usage.get("retries", 0)
            for channel, value in update.items():
                self.state[channel] = _folded(channel, self.state.get(channel), value)
            if node in BACK:
                self._went_back = True
                yield from self._back(node, before, update)
            if node == "select" and update.get("visiting"):
                yield Event("select", f"visit {self.quote(update['visiting'])}")
            written = update.get("tree")
            if isinstance(written, Mapping):
                yield from self._grown(before, written)
                if node == PROPAGATE:
                    yield from self._raised(written)
                if node == VERIFY:
                    yield from self._verified(written)
                yield from self._chosen(node, before, update)
            if more := self.usage.get("retries", 0) - retries:
                yield Event("retry", f"{text.count(more, 'failed request')} repeated")

    def _back(self, node: str, before: Tree, update: Mapping[str, Any]) -> Iterator[Event]:
        """Tells where a search goes back to: along each new rollback edge, else to one thought."""
        edges = [
            (key, thought["rollback"])
            for key, thought in (update.get("tree") or {}).items()
            if "rollback" in thought and "rollback" not in before.get(key, {})
        ]
        for key, edge in edges:
            yield Event(
                node, f"from {key} (step {edge['step']} is bad) to {self.quote(edge['to'])}"
            )
        if not edges:
            yield Event(node, self._where())

    def _where(self) -> str:
        """Says where a search went back to, if it keeps a stack or names its next thoughts."""
        frames = self._listed("stack")
        keys = [str(frames[-1].get("thought"))] if frames else self._listed("frontier")
        return f"to {self.quote(keys[0])}" if keys else ""

    def _grown(self, before: Tree, written: Mapping[str, Any]) -> Iterator[Event]:
        for key in written:
            old, new = before.get(key, Thought()), self.tree[key]
            if not old and key != ROOT:
                yield self._born(key, new)
            if "value" in new and old.get("value") != new["value"]:
                note = text.short(new.get("note", ""), 120)
                said = f" ({note})" if note else ""
                yield Event("value", f"{key}: {text.value(new['value'])}{said}")
            if new.get("observation") and old.get("observation") != new.get("observation"):
                kind = "fail" if new.get("failed") else "observe"
                price = f" (cost {text.value(new['price'])})" if "price" in new else ""
                yield Event(kind, f"{key}: {text.short(text.seen(new), 300)}{price}")

    def _born(self, key: str, new: Thought) -> Event:
        if "tool_state" in new and not new.get("failed"):
            return Event("accept", f"{self.quote(key)} (from {new.get('parent')})")
        if new.get("status") == "pruned" and new.get("note"):
            return Event("reject", f"{self.quote(key)} ({text.short(new.get('note', ''), 200)})")
        return Event("thought", f"{self.quote(key)} (from {new.get('parent')})")

    def _verified(self, written: Mapping[str, Any]) -> Iterator[Event]:
        """Tells what became of an answer, and why."""
        for key, thought in written.items():
            answer, note = self.tree[key].get("answer") or "", thought.get("note", "")
            kind = "reject" if note.startswith(REJECTED) else "accept"
            why = text.short(note.removeprefix(REJECTED), 200)
            yield Event(kind, f"{key}: {text.short(answer, 300)} ({why})")

    def _raised(self, written: Mapping[str, Any]) -> Iterator[Event]:
        """Tells which thoughts each failed call made dearer: the highest last."""
        for key, thought in written.items():
            raised = thought.get("propagation", {}).get("raised", [])
            dearer = [
                f"{each['thought']} from cost {text.value(each['before'])} "
                f"to {text.value(each['after'])}"
                for each in raised
            ]
            if dearer:
                yield Event(PROPAGATE, f"from {key}: {text.ids(dearer)}")

    def _chosen(self, node: str, before: Tree, update: Mapping[str, Any]) -> Iterator[Event]:
        pruned = [
            key
            for key in update["tree"]
            if self.tree[key].get("status") == "pruned"
            and before.get(key, Thought(status="pruned")).get("status") != "pruned"
        ]
        drop = f"prune {text.ids(pruned)}" if pruned else ""
        kept = update.get("frontier")
        if node == "select" and kept:
            yield Event("select", f"keep {text.ids(kept)}" + (f"; {drop}" if drop else ""))
        elif drop:
            yield Event("prune", text.ids(pruned))


def _folded(channel: str, old: Any, new: Any) -> Any:
    """Returns a channel's value after a write, by the rules of `SearchState`."""
    if isinstance(new, Overwrite):
        return new.value
    if channel == "tree":
        return merge_thoughts(old or {}, [new])
    if channel == "usage":
        return add_usage(old or Usage(), new)
    if channel in ("stop_reason", "error"):
        return first_set(old or "", new)
    return new


def _thoughts(number: int) -> str:
    return text.count(number, "thought") if number else ""
