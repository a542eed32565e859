"""What happened in a search, in stable words, told from the changes of its tree."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from thoughtgraph.cli import text
from thoughtgraph.cli.labels import labels
from thoughtgraph.outcome import REJECTED
from thoughtgraph.tree import ROOT, Thought, Tree

QUIET = frozenset(
    {
        "start",
        "generate",
        "register",
        "settle",
        "evaluate",
        "select",
        "answer",
        "extract_index",
        "ensemble",
    }
)
"""Nodes whose work shows as changes of the tree; any other node is announced by its name."""
TELLING = frozenset({"act", "call_tool", "reflect"})
"""Nodes that may tell each of their calls, and are then announced by these."""
BACK = frozenset({"backtrack", "rollback"})
"""Nodes that go back to an earlier thought; told when they have chosen which."""
PROPAGATE = "propagate"
"""The node that makes thoughts above failed calls dearer; told when it is known which."""
VERIFY = "verify"
"""The node that has an answer checked; told when it is known what became of it."""
DOING = {
    "start": "reading the problem",
    "generate": "proposing from",
    "register": "placing new thoughts",
    "evaluate": "valuing",
    "select": "selecting",
    "backtrack": "backtracking",
    "check": "checking",
    "extract": "naming where to begin",
    "act": "asking for the action of",
    "settle": "adding up costs",
    "verify": "checking an answer",
    "conclude": "forcing an answer",
    "reflect": "reflecting",
    "refine": "refining",
    "vote": "counting votes",
    "analyse": "analysing",
    "extract_index": "reading the analysis of",
    "ensemble": "counting votes",
    "rollback": "rolling back",
    "call_tool": "calling a tool for",
    "propagate": "propagating costs",
    "answer": "reading off the answer",
}
"""What a running node does, in words."""


LONGEST = 300
"""Characters of a thought that a line quotes (ours)."""


class Event(NamedTuple):
    """Something that happened, in stable words: a keyword and what it was about."""

    kind: str
    """`propose`, `thought`, `accept`, `reject`, `value`, `select`, `prune`, `backtrack`, `observe`,
    `fail`, `propagate`, `retry`, `stop`, or the name of a node that a method has of its own."""
    about: str

    def __str__(self) -> str:
        """The event as one line of plain output."""
        return f"{self.kind:<9} {self.about}".rstrip()


@dataclass(frozen=True)
class Narrator:
    """Tells how a tree came to be as it is.

    Args:
        tree: The tree.
        problem: What the root asks.
    """

    tree: Tree
    problem: str

    def quote(self, key: str) -> str:
        """Returns a thought's id and label; of the root, the problem."""
        if key in self.tree and key != ROOT:
            words = labels(self.tree, [key])[key]
        else:
            words = text.headline(self.problem) if key == ROOT else ""
        return f"{key}: {text.short(words, LONGEST)}"

    def went_back(
        self, node: str, before: Tree, update: Mapping[str, Any], to: str | None
    ) -> Iterator[Event]:
        """Tells where a search goes back to: along each new rollback edge, else to one thought.

        Args:
            node: The node that goes back.
            before: The tree before it ran.
            update: What it wrote.
            to: Where the search stands now, where it keeps a stack or names its next thoughts.
        """
        edges = [
            (key, thought["rollback"])
            for key, thought in (update.get("thoughts") or {}).items()
            if "rollback" in thought and "rollback" not in before.get(key, {})
        ]
        for key, edge in edges:
            yield Event(
                node, f"from {key} (step {edge['step']} is bad) to {self.quote(edge['to'])}"
            )
        if not edges and node != "rollback":
            yield Event(
                node, "and nothing is left to try" if to is None else f"to {self.quote(to)}"
            )

    def grew(self, before: Tree, written: Mapping[str, Any]) -> Iterator[Event]:
        """Tells thoughts that are new, valued or answered by their tools."""
        born = labels(self.tree, [key for key in written if key not in before])
        for key in written:
            old, new = before.get(key, Thought()), self.tree[key]
            if key in born:
                yield self._born(new, f"{key}: {text.short(born[key], LONGEST)}")
            if "value" in new and old.get("value") != new["value"]:
                note = text.short(new.get("note", ""), 120)
                reason = f" ({note})" if note else ""
                yield Event("value", f"{key}: {text.value(new['value'])}{reason}")
            if new.get("observation") and old.get("observation") != new.get("observation"):
                kind = "fail" if new.get("failed") else "observe"
                price = f" (cost {text.value(new['price'])})" if "price" in new else ""
                yield Event(kind, f"{key}: {text.short(text.observation_text(new), 300)}{price}")

    def _born(self, new: Thought, words: str) -> Event:
        if "tool_state" in new and not new.get("failed"):
            return Event("accept", f"{words} (from {new.get('parent')})")
        if new.get("status") == "pruned" and new.get("note"):
            return Event("reject", f"{words} ({text.short(new.get('note', ''), 200)})")
        return Event("thought", f"{words} (from {new.get('parent')})")

    def verified(self, written: Mapping[str, Any]) -> Iterator[Event]:
        """Tells what became of an answer, and why."""
        for key, thought in written.items():
            answer, note = self.tree[key].get("answer") or "", thought.get("note", "")
            kind = "reject" if note.startswith(REJECTED) else "accept"
            why = text.short(note.removeprefix(REJECTED), 200)
            yield Event(kind, f"{key}: {text.short(answer, 300)} ({why})")

    def became_dearer(self, written: Mapping[str, Any]) -> Iterator[Event]:
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

    def selected(self, node: str, before: Tree, update: Mapping[str, Any]) -> Iterator[Event]:
        """Tells which thoughts were kept and which were given up."""
        pruned = [
            key
            for key in update["thoughts"]
            if self.tree[key].get("status") == "pruned"
            and before.get(key, Thought(status="pruned")).get("status") != "pruned"
        ]
        drop = f"prune {text.ids(pruned)}" if pruned else ""
        kept = update.get("frontier")
        if node == "select" and kept:
            yield Event("select", f"keep {text.ids(kept)}" + (f"; {drop}" if drop else ""))
        elif drop:
            yield Event("prune", text.ids(pruned))
