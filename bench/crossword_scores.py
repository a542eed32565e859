"""Scores of crosswords: letters, words, whole games (Tree of Thoughts, Table 3).

A gold answer is five rows of five letters, separated by spaces, like the answers of the task. The
table's row "+best state" scores the best board that a search visited. Its choice uses the gold
answer, so it is an oracle's score and stays apart from all others.
"""

from typing import NamedTuple

from thoughtgraph.tasks.crossword_board import BLANK, SIZE
from thoughtgraph.tasks.crosswords import board_of
from thoughtgraph.tree import Tree, path_to


class BoardScore(NamedTuple):
    """The parts of a board that are right."""

    letters: float
    """Share of the 25 letters."""
    words: float
    """Share of the 10 words."""
    game: bool
    """Whether all letters are right."""


def rows(letters: str) -> str:
    """Returns 25 letters as five rows, separated by spaces."""
    return " ".join(letters[at : at + SIZE] for at in range(0, SIZE * SIZE, SIZE)).upper()


def score(answer: str | None, gold: str) -> BoardScore:
    """Scores an answer against the gold answer; None counts as an empty board."""
    board = (answer or rows(BLANK * SIZE * SIZE)).split()
    right = gold.split()
    columns = [list(zip(*each, strict=True)) for each in (board, right)]
    pairs = [*zip(board, right, strict=True), *zip(*columns, strict=True)]
    letters = sum(a == b for a, b in zip("".join(board), "".join(right), strict=True))
    words = sum(tuple(a) == tuple(b) for a, b in pairs)
    return BoardScore(letters / (SIZE * SIZE), words / (2 * SIZE), board == right)


def best_state(tree: Tree, gold: str) -> BoardScore:
    """Returns the score of the visited board with most right words, an oracle's choice.

    Args:
        tree: The tree of a depth-first search. Its first visit wins a tie.
        gold: The gold answer.
    """
    visited = sorted((t for t in tree.values() if "visit" in t), key=lambda t: t["visit"])
    scores = [score(board_of(path_to(tree, t["id"])).answer(), gold) for t in visited]
    return max(scores, key=lambda each: each.words, default=score(None, gold))
