"""Labels for the thoughts of a drawn tree: words that tell siblings apart, and answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from thoughtgraph.cli import text
from thoughtgraph.tree import ROOT, Thought, Tree

LEAST = 12
"""Shortest shared beginning, in characters, that labels of siblings leave out (ours)."""
LONGEST_LABEL = 2_000
"""Characters of a thought that its label is made from."""
BESIDE_REASON = 24
"""Characters of a thought that are shown beside the reason for its refusal (ours)."""
LONGEST_REASON = 200


def labels(tree: Tree, keys: Iterable[str]) -> dict[str, str]:
    """Returns the labels of thoughts by id, each on one line.

    An ellipsis replaces a beginning that most siblings share, except in steps of a plan, which mean
    nothing without it. The label of an output starts with the answer that was read from it, or with
    `no answer`.

    Args:
        tree: The search tree.
        keys: Ids of the thoughts to label, which are compared with all their siblings in the tree.
    """
    ids = [key for key in keys if key != ROOT]
    parents = {tree[key].get("parent") for key in ids}
    families: dict[str | None, list[Thought]] = {parent: [] for parent in parents}
    for key, thought in tree.items():
        if key != ROOT and thought.get("parent") in families:
            families[thought.get("parent")].append(thought)
    by_id = {
        thought["id"]: label
        for family in families.values()
        for thought, label in zip(family, _family_labels(family), strict=True)
    }
    return {key: _with_answer(tree[key], by_id[key]) for key in ids}


def refusal(thought: Thought) -> str:
    """Returns why a thought was pruned, where no model judged it; empty for any other thought."""
    judged = thought.keys() & {"value_raw", "verdicts"}  # equal questions share a verdict
    refused = thought.get("status") == "pruned" and not judged
    return text.short(thought.get("note", ""), LONGEST_REASON) if refused else ""


def _family_labels(family: Sequence[Thought]) -> list[str]:
    words = [_words(thought) for thought in family]
    planned = any("steps" in thought.get("created_by", {}) for thought in family)
    return words if planned else distinct(words)


def distinct(texts: Sequence[str]) -> list[str]:
    """Returns texts without the beginning that most of them share, in whole words.

    Equal texts count once, and the last word of a text always stays.
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
    words = "no answer" if answer is None else text.short(text.flat(answer), LONGEST_LABEL)
    # A text that hardly says more than the answer, such as `Answer: 7`, is not repeated.
    more = len(label) - len(words)
    alone = answer is not None and more < max(2 * LEAST, len(words))
    return words if alone else f"{words} ← {label}"
