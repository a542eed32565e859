"""What is written on the thoughts of a drawn tree: what tells them apart, and answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from thoughtgraph.cli import text
from thoughtgraph.tree import ROOT, Thought, Tree

LEAST = 12
"""Characters that siblings must share for them to be left out (ours): less is no gain."""
LONGEST_LABEL = 2_000
"""Characters of a thought that are looked at."""
BESIDE_REASON = 60
"""Characters of a thought that stand beside what running it gave (ours)."""
LONGEST_REASON = 200


def labels(tree: Tree, keys: Iterable[str]) -> dict[str, str]:
    """Returns what to write on thoughts, each on one line.

    Of what siblings write, the beginning that most of them share is left out, marked by an
    ellipsis; but not of a plan's steps, which say nothing without their beginning. An output shows
    the answer that was read from it first, and says so when there was none.

    Args:
        tree: The search tree.
        keys: Ids of the thoughts to be shown; their siblings in the tree are compared with.
    """
    wanted = [key for key in keys if key != ROOT]
    parents = {tree[key].get("parent") for key in wanted}
    families: dict[str | None, list[Thought]] = {parent: [] for parent in parents}
    for key, thought in tree.items():
        if key != ROOT and thought.get("parent") in families:
            families[thought.get("parent")].append(thought)
    written = {
        thought["id"]: label
        for family in families.values()
        for thought, label in zip(family, _told_apart(family), strict=True)
    }
    return {key: _with_answer(tree[key], written[key]) for key in wanted}


def refusal(thought: Thought) -> str:
    """Returns why a thought was refused without a judgement; empty where it was not."""
    refused = thought.get("status") == "pruned" and "value" not in thought
    return text.short(thought.get("note", ""), LONGEST_REASON) if refused else ""


def _told_apart(family: Sequence[Thought]) -> list[str]:
    words = [_words(thought) for thought in family]
    planned = any("steps" in thought.get("created_by", {}) for thought in family)
    return words if planned else distinct(words)


def distinct(texts: Sequence[str]) -> list[str]:
    """Returns texts without the beginning that most of them share, in whole words.

    Equal texts count once, and a last word is always left.
    """
    rows = {text: text.split(" ") for text in texts}
    drop = dict.fromkeys(rows, 0)
    together = list(rows)
    size = 0
    while len(together) > 1:
        open_ended = [each for each in together if len(rows[each]) > size + 1]
        commonest = Counter(rows[each][size] for each in open_ended).most_common(1)
        if not commonest or 2 * commonest[0][1] <= len(rows):
            break
        size += 1
        together = [each for each in open_ended if rows[each][size - 1] == commonest[0][0]]
        drop |= dict.fromkeys(together, size)
    return [_without(rows[text], drop[text]) for text in texts]


def _without(words: Sequence[str], drop: int) -> str:
    left_out = sum(len(word) + 1 for word in words[:drop])
    return " ".join(words) if left_out < LEAST else "…" + " ".join(words[drop:])


def _words(thought: Thought) -> str:
    return text.short(text.thought_text(thought), LONGEST_LABEL)


def _with_answer(thought: Mapping[str, object], label: str) -> str:
    if thought.get("status") != "terminal" or "answer" not in thought:
        return label
    answer = thought["answer"]
    shown = "no answer" if answer is None else text.short(text.flat(answer), LONGEST_LABEL)
    # A text that hardly says more than the answer, such as `Answer: 7`, is not repeated.
    more = len(label) - len(shown)
    alone = answer is not None and more < max(2 * LEAST, len(shown))
    return shown if alone else f"{shown} ← {label}"
