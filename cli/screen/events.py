"""What happened in a search, as lines: the events that its graph publishes, in words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from thoughtgraph.cli import text
from thoughtgraph.cli.labels import labels
from thoughtgraph.outcome import REJECTED
from thoughtgraph.tree import ROOT, Thought, Tree

LONGEST = 300
"""Characters of a thought that a line quotes (ours)."""
SHORT = 200
"""Characters of a reason that a line quotes (ours)."""
TOLD = frozenset(
    {"made", "called", "judged", "checked", "pruned", "selected"}
    | {"rolled_back", "backtracked", "propagated"}
)
"""Events of thoughts that become lines."""
ThoughtEvent = Mapping[str, Any]
"""An event of `thoughtgraph.nodes.thought_events`."""


class Event(NamedTuple):
    """Something that happened, in stable words: a keyword and what it was about."""

    kind: str
    """`propose`, `thought`, `accept`, `reject`, `value`, `select`, `prune`, `backtrack`,
    `rollback`, `observe`, `fail`, `propagate`, `retry`, `stop`, or the name of a node that a method
    has of its own."""
    about: str

    def __str__(self) -> str:
        """The event as one line of plain output."""
        return f"{self.kind:<9} {self.about}".rstrip()


def quote(tree: Tree, key: str, problem: str) -> str:
    """Returns a thought's id and label; of the root, the problem."""
    if key in tree and key != ROOT:
        words = labels(tree, [key])[key]
    else:
        words = text.headline(problem) if key == ROOT else ""
    return f"{key}: {text.short(words, LONGEST)}"


def event_lines(events: Sequence[ThoughtEvent], tree: Tree, problem: str) -> Iterator[Event]:
    """Tells what nodes did to thoughts, by the tree after it."""
    named = labels(tree, [event["id"] for event in events if event["event"] == "made"])
    for node, of_node in groupby(events, lambda event: event["node"]):
        written = list(of_node)
        for event in written:
            if event["event"] == "made":
                yield _made(tree[event["id"]], text.short(named[event["id"]], LONGEST))
            elif event["event"] == "rolled_back":
                step, to = event["step"], quote(tree, event["to"], problem)
                yield Event("rollback", f"from {event['id']} (step {step} is bad) to {to}")
            elif event["event"] == "backtracked":
                to, left = event["to"], "and nothing is left to try"
                yield Event("backtrack", left if to is None else f"to {quote(tree, to, problem)}")
            else:
                yield from _changed(event, tree[event["id"]] if "id" in event else Thought())
        yield from _selected(node, written)


def _made(thought: Thought, label: str) -> Event:
    words = f"{thought['id']}: {label}"
    if thought.get("status") == "pruned" and thought.get("note") and not _accepted(thought):
        return Event("reject", f"{words} ({text.short(thought['note'], SHORT)})")
    kind = "accept" if _accepted(thought) else "thought"
    return Event(kind, f"{words} (from {thought['parent']})")


def _accepted(thought: Thought) -> bool:
    """Returns whether a thought's steps ran."""
    return "tool_state" in thought and not thought.get("failed")


def _changed(event: ThoughtEvent, thought: Thought) -> Iterator[Event]:
    """Tells that a thought was valued, checked, answered by its tools, or dearer for a failure."""
    key = event.get("id")
    match event["event"]:
        case "judged":
            note = text.short(event.get("note", ""), 120)
            yield Event("value", f"{key}: {text.value(event['value'])}{note and f' ({note})'}")
        case "called" if event["observation"]:
            kind = "fail" if event["failed"] else "observe"
            price = f" (cost {text.value(thought['price'])})" if "price" in thought else ""
            seen = text.short(text.observation_text(thought), LONGEST)
            yield Event(kind, f"{key}: {seen}{price}")
        case "checked":
            kind = "accept" if event["right"] else "reject"
            answer = text.short(thought.get("answer") or "", LONGEST)
            why = text.short(event["note"].removeprefix(REJECTED), SHORT)
            yield Event(kind, f"{key}: {answer} ({why})")
        case "propagated":
            dearer = [
                f"{each['thought']} from cost {text.value(each['before'])} "
                f"to {text.value(each['after'])}"
                for each in event["raised"]
            ]
            yield Event("propagate", f"from {key}: {text.ids(dearer)}")


def _selected(node: str, written: Sequence[ThoughtEvent]) -> Iterator[Event]:
    """Tells which thoughts a node kept and which it gave up."""
    born = [event["id"] for event in written if event["event"] == "made"]
    pruned = [event["id"] for event in written if event["event"] == "pruned"]
    dropped = text.ids([key for key in pruned if key not in born])
    kept = [event["ids"] for event in written if event["event"] == "selected"]
    if node == "select" and kept:
        drop = f"; prune {dropped}" if dropped else ""
        yield Event("select", f"keep {text.ids(kept[0])}{drop}")
    elif dropped:
        yield Event("prune", dropped)
