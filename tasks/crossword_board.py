"""The board of a 5 x 5 crossword: ten clues, five across (h1 to h5) and five down (v1 to v5)."""

from dataclasses import dataclass
from typing import Literal

SIZE = 5
BLANK = "_"
LABELS = tuple(f"{way}{n}" for way in "hv" for n in range(1, SIZE + 1))
"""The clues' names, in the order of the problem."""

Filling = Literal["unfilled", "filled", "changed"]


@dataclass(frozen=True, slots=True)
class CrosswordBoard:
    """Letters and clue states; placing a word returns a new board."""

    cells: str = BLANK * SIZE * SIZE
    """The letters row by row, upper case, `_` for a blank."""
    fillings: tuple[Filling, ...] = tuple[Filling, ...]("unfilled" for _ in LABELS)
    """State of each clue: no word placed, a word placed, or a letter altered by another word."""

    def words(self) -> tuple[str, ...]:
        """Returns the letters at each clue, blanks included."""
        rows = [self.cells[at : at + SIZE] for at in range(0, SIZE * SIZE, SIZE)]
        columns = [self.cells[at::SIZE] for at in range(SIZE)]
        return (*rows, *columns)

    def place(self, label: str, word: str) -> "CrosswordBoard":
        """Returns the board with a word of five letters written at a clue.

        The clue becomes `filled`, every other clue with an altered letter `changed` (official
        code). Filling a blank alters nothing.
        """
        at = LABELS.index(label)
        cells = list(self.cells)
        start, step = (at * SIZE, 1) if at < SIZE else (at - SIZE, SIZE)
        for offset, letter in enumerate(word.upper()):
            cells[start + offset * step] = letter
        placed = CrosswordBoard("".join(cells))
        fillings: list[Filling] = [
            "changed" if _altered(old, new) else filling
            for old, new, filling in zip(self.words(), placed.words(), self.fillings, strict=True)
        ]
        fillings[at] = "filled"
        return CrosswordBoard(placed.cells, tuple(fillings))

    def placed(self) -> set[str]:
        """Returns the placed words that are unaltered, such as `h1. adapt`."""
        trios = zip(LABELS, self.words(), self.fillings, strict=True)
        return {f"{label}. {word.lower()}" for label, word, filling in trios if filling == "filled"}

    def altered(self, after: "CrosswordBoard") -> list[str]:
        """Returns the labels of clues with a letter that a later board alters."""
        pairs = zip(LABELS, self.words(), after.words(), strict=True)
        return [label for label, old, new in pairs if _altered(old, new)]

    def render(self, clues: dict[str, str]) -> str:
        """Returns the board and its clues as text, in the layout of the official code."""
        rows = "\n".join(self.words()[:SIZE])
        sections = [f"Current Board:\n{rows}\n"]
        for title in ("unfilled", "filled", "changed"):
            lines = [
                f"{label}. {clues[label]}: {word}\n"
                for label, word, filling in zip(LABELS, self.words(), self.fillings, strict=True)
                if filling == title
            ]
            sections.append(f"{title.capitalize()}:\n{''.join(lines)}")
        return "\n".join(sections)

    def answer(self) -> str:
        """Returns the five rows, separated by single spaces."""
        return " ".join(self.words()[:SIZE])


def _altered(old: str, new: str) -> bool:
    return any(a not in (b, BLANK) for a, b in zip(old, new, strict=True))
