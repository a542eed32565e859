"""What a search with tools did, read off its tree: the way to its answer, the calls it refused."""

from collections import Counter
from collections.abc import Iterator

from thoughtgraph.cli import text
from thoughtgraph.tree import Thought, Tree, path_to

LONGEST = 200
"""Characters of a line that are shown."""


def plan_lines(tree: Tree) -> list[str]:
    """Returns the accepted plan, each step with what it returned; none if no plan was accepted."""
    ends = [key for key, thought in tree.items() if _ends(thought)]
    return [line for key in ends[:1] for thought in path_to(tree, key) for line in _lines(thought)]


def action_lines(tree: Tree) -> list[str]:
    """Returns the way to the answer: each thought, its call of a tool, and what was observed.

    There is none in a search that calls no tools.
    """
    end = chosen(tree)
    way = () if end is None else path_to(tree, end["id"])
    acted = any(thought.get("action") for thought in way)
    return [_action_line(thought) for thought in way if acted]


def chosen(tree: Tree) -> Thought | None:
    """Returns the thought that gave the answer; None without an answer."""
    return next((thought for thought in tree.values() if thought.get("chosen")), None)


def tries(tree: Tree) -> str:
    """Returns how many calls wrote steps and why some were refused; empty for another search."""
    calls = [t for t in tree.values() if "steps" in t.get("created_by", {})]
    if not calls:
        return ""
    refused = Counter(
        t.get("note", "").partition(":")[0] for t in calls if t.get("status") == "pruned"
    )
    reasons = ", ".join(f"{code} {number}" for code, number in sorted(refused.items()))
    told = f"{text.count(len(calls), 'call')} for steps, {refused.total()} refused"
    return f"{told} ({reasons})" if reasons else told


def _ends(thought: Thought) -> bool:
    ended = thought.get("status") == "terminal" and "tool_state" in thought
    return ended and not thought.get("action")


def _action_line(thought: Thought) -> str:
    if "action" not in thought:  # an answer that was forced without a call
        return text.short(thought["text"], LONGEST)
    did = text.action(thought) or "(no action)"
    seen = text.short(thought.get("observation") or "", LONGEST)
    return f"{text.short(thought.get('text', ''), LONGEST)} {did}  → {seen}"


def _lines(thought: Thought) -> Iterator[str]:
    steps = thought.get("text", "").split("\n")
    seen = (thought.get("observation") or "").split("\n")
    for at, step in enumerate(steps):
        value = f"  → {text.short(seen[at], LONGEST)}" if at < len(seen) and seen[at] else ""
        yield text.short(step, LONGEST) + value
