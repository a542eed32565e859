"""Turns the events that a graph publishes during a search into lines of text."""

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
    """An event of a search in stable words: a keyword and its details."""

    kind: str
    """A kind of the graph's events (`nodes.thought_events`), or of the command's own: `retry`,
    `stop`, `resume`, `dollars`."""
    about: str

    def __str__(self) -> str:
        """Returns the event as one line of plain output."""
        return f"{self.kind:<11} {self.about}".rstrip()


def quote(tree: Tree, key: str, problem: str) -> str:
    """Returns a thought's id and label; of the root, the problem."""
    if key in tree and key != ROOT:
        words = labels(tree, [key])[key]
    else:
        words = text.headline(problem) if key == ROOT else ""
    return f"{key}: {text.short(words, LONGEST_QUOTE)}"


def event_lines(events: Sequence[ThoughtEvent], tree: Tree, problem: str) -> Iterator[Event]:
    """Yields lines for the changes that nodes made to thoughts, from the tree after them."""
    new_ids = [event["id"] for event in events if event["event"] == "made"]
    names = labels(tree, new_ids)
    for kind, group in groupby(events, lambda each: (each["event"], "note" in each)):
        if kind == ("pruned", False):
            yield Event("pruned", text.ids([event["id"] for event in group]))
            continue
        for event in group:
            if event["event"] == "made":
                key, parent = event["id"], event["parent"]
                words = f"{key}: {text.short(names[key], LONGEST_QUOTE)} (from {parent})"
            else:
                words = _words(event, tree, problem)
            if words:
                yield Event(event["event"], words)


def _words(event: ThoughtEvent, tree: Tree, problem: str) -> str:
    """Returns the details of an event; empty if a line of another event has them."""
    key = event.get("id", "")
    thought = tree.get(key, Thought())
    note = text.short(event.get("note") or thought.get("note", ""), SHORT)
    match event["event"]:
        case "judged":
            return f"{key}: {text.value(event['value'])}{note and f' ({note})'}"
        case "called" if event["observation"]:
            observation = text.short(text.observation_text(thought), LONGEST_QUOTE)
            price = f" (cost {text.value(thought['price'])})" if "price" in thought else ""
            return f"{key}: {'failed: ' if event['failed'] else ''}{observation}{price}"
        case "checked":
            reason = text.short(event["note"].removeprefix(REJECTED), SHORT)
            return f"{key}: {text.short(thought.get('answer') or '', LONGEST_QUOTE)} ({reason})"
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
            return f"from {key}: {text.ids([*_raised_costs(event)])}"
    return ""


def _raised_costs(event: ThoughtEvent) -> Iterator[str]:
    for each in event["raised"]:
        costs = text.value(each["before"]), text.value(each["after"])
        yield f"{each['thought']} from cost {costs[0]} to {costs[1]}"
