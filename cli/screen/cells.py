"""Text fitted into a terminal's cells."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from thoughtgraph.cli import text

TAIL = 14
"""Cells kept after a cut in the middle (ours): `left: 4 10 13)` tells more than what is before."""
MOST_LINES = 8
"""Lines of one thought (ours)."""


def set_cell(words: str, width: int) -> str:
    """Returns text that fills exactly so many terminal cells, a cut marked."""
    plain = text.line(words) if "\n" in words else words
    if cell_len(plain) > width:
        plain = set_cell_size(plain, max(0, width - 1)) + "…"
    return set_cell_size(plain, width)


def middle_cut(words: str, width: int) -> str:
    """Returns text of at most so many cells, its middle left out: both ends tell something."""
    if cell_len(words) <= width:
        return words
    end = words[-min(TAIL, width // 3) :] if width > 2 else ""
    while cell_len(end) > width // 3:
        end = end[1:]
    return set_cell_size(words, max(0, width - 1 - cell_len(end))).rstrip() + "…" + end


def wrapped(words: str, width: int, most: int = MOST_LINES) -> list[str]:
    """Returns a text's lines, at least one; what is too long is cut in the middle.

    Args:
        words: One line of text.
        width: Cells of a line.
        most: How many lines there may be.
    """
    lines, size = _broken(words, width), most * width
    while len(lines) > most and size > 0:
        lines = _broken(middle_cut(words, size), width)
        size -= max(1, width // 8)
    return lines[:most]


def _broken(words: str, width: int) -> list[str]:
    lines = [""]
    for word in words.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = word
        while cell_len(lines[-1]) > width:
            head = _head(lines[-1], width)
            lines[-1:] = [head, lines[-1][len(head) :]]
    return lines


def _head(word: str, width: int) -> str:
    """Returns the longest beginning of a word that fits, one character at least."""
    size = min(len(word), width)
    while size > 1 and cell_len(word[:size]) > width:
        size -= 1
    return word[:size]


def shared_out(wanted: Sequence[int], room: int) -> list[int]:
    """Returns how many lines each row gets: one, and more in turn while there is room.

    Args:
        wanted: How many lines each row could fill.
        room: How many lines there are.
    """
    given = [1] * len(wanted)
    spare = room - len(wanted)
    while spare > 0 and (hungry := [at for at, most in enumerate(wanted) if given[at] < most]):
        for at in hungry[:spare]:
            given[at] += 1
        spare -= len(hungry)
    return given
