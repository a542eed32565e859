"""Long texts, each stored once and without the beginning it shares with its neighbour.

The prompts of a search share long heads. Sorted, neighbours share most, so each text is written as
the number of characters it shares with the one before and the rest ("front coding").
"""

from typing import Any


class Texts:
    """Collects texts and numbers them in the order of their first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Returns a text's number; equal texts have equal numbers."""
        return self._numbers.setdefault(text, len(self._numbers))

    def packed(self) -> dict[str, Any]:
        """Returns the texts as plain data.

        Returns:
            `entries`: `[shared, rest]` for each text, sorted; `shared` counts UTF-16 units, which
            is how JavaScript counts. `places`: by number, the text's position in `entries`.
        """
        ordered = sorted(self._numbers)
        entries = [
            _entry(before, text) for before, text in zip(["", *ordered], ordered, strict=False)
        ]
        places = [0] * len(ordered)
        for place, text in enumerate(ordered):
            places[self._numbers[text]] = place
        return {"entries": entries, "places": places}


def _entry(before: str, text: str) -> tuple[int, str]:
    size = _shared(before, text)
    return len(text[:size].encode("utf-16-le", "surrogatepass")) // 2, text[size:]


def _shared(a: str, b: str) -> int:
    """Returns how many characters two texts share at their beginning, by bisection."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
