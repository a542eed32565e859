"""What happened in a search, as lines: the events that its graph publishes, in words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from thoughtgraph.cli import text
from thoughtgraph.cli.labels import labels
from thoughtgraph.outcome import REJECTED
from thoughtgraph.tree import ROOT, Thought, Tree

LONGEST_QUOTE = 300
"""Characters of a thought that a line quotes (ours)."""
SHORT = 200
"""Characters of a reason that a line quotes (ours)."""
ThoughtEvent = Mapping[str, Any]
"""An event of `thoughtgraph.nodes.thought_events`."""


class Event(NamedTuple):
    """Something that happened, in stable words: a keyword and what it was about."""

    kind: str
    """As the graph names it (`nodes.thought_events`), or the command's own: `retry`, `stop`,
    `resume`, `dollars`."""
    about: str

    def __str__(self) -> str:
        """The event as one line of plain output."""
        return f"{self.kind:<11} {self.about}".rstrip()


def quote(tree: Tree, key: str, problem: str) -> str:
    """Returns a thought's id and label; of the root, the problem."""
    if key in tree and key != ROOT:
        words = labels(tree, [key])[key]
    else:
        words = text.headline(problem) if key == ROOT else ""
    return f"{key}: {text.short(words, LONGEST_QUOTE)}"


def event_lines(events: Sequence[ThoughtEvent], tree: Tree, problem: str) -> Iterator[Event]:
    """Tells what nodes did to thoughts, by the tree after it."""
    made = [event["id"] for event in events if event["event"] == "made"]
    named = labels(tree, made)
    for kind, alike in groupby(events, lambda each: (each["event"], "note" in each)):
        if kind == ("pruned", False):
            yield Event("pruned", text.ids([event["id"] for event in alike]))
            continue
        for event in alike:
            if event["event"] == "made":
                key, parent = event["id"], event["parent"]
                words = f"{key}: {text.short(named[key], LONGEST_QUOTE)} (from {parent})"
            else:
                words = _words(event, tree, problem)
            if words:
                yield Event(event["event"], words)


def _words(event: ThoughtEvent, tree: Tree, problem: str) -> str:
    """Returns what there is to say of an event; nothing of one that another one tells."""
    key = event.get("id", "")
    thought = tree.get(key, Thought())
    note = text.short(event.get("note") or thought.get("note", ""), SHORT)
    match event["event"]:
        case "judged":
            return f"{key}: {text.value(event['value'])}{note and f' ({note})'}"
        case "called" if event["observation"]:
            seen = text.short(text.observation_text(thought), LONGEST_QUOTE)
            price = f" (cost {text.value(thought['price'])})" if "price" in thought else ""
            return f"{key}: {'failed: ' if event['failed'] else ''}{seen}{price}"
        case "checked":
            why = text.short(event["note"].removeprefix(REJECTED), SHORT)
            return f"{key}: {text.short(thought.get('answer') or '', LONGEST_QUOTE)} ({why})"
        case "pruned":
            return f"{key}: {note}"
        case "selected":
            return text.ids(event["ids"])
        case "rolled_back":
            to = quote(tree, event["to"], problem)
            return f"from {key} (step {event['step']} is bad) to {to}"
        case "backtracked":
            to = event["to"]
            return "nothing is left to try" if to is None else f"to {quote(tree, to, problem)}"
        case "propagated":
            return f"from {key}: {text.ids([*_dearer(event)])}"
    return ""


def _dearer(event: ThoughtEvent) -> Iterator[str]:
    for each in event["raised"]:
        costs = text.value(each["before"]), text.value(each["after"])
        yield f"{each['thought']} from cost {costs[0]} to {costs[1]}"
