"""Makes model text safe for a terminal: no control characters, no markup, fitted to its cells."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len, chop_cells, set_cell_size

LONGEST_TEXT = 2_000
"""Characters of a text that a line is made from; a terminal shows fewer."""
UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that move the cursor, reorder the line or have no width of their own."""
_VARIATION = re.compile("[\ufe00-\ufe0f]")
_SECONDS_A_MINUTE = 60
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def line(text: object) -> str:
    """Returns any text as one line without control characters, which a terminal shows as it is."""
    composed = _VARIATION.sub("", unicodedata.normalize("NFC", str(text)[:LONGEST_TEXT]))
    chars = (" " if unicodedata.category(char) in UNSHOWN else char for char in composed)
    return " ".join("".join(chars).split())


def lines(text: str) -> str:
    """Returns a text with its line breaks kept, each line cleaned by `line`."""
    return "\n".join(line(part) for part in text.splitlines()).strip()


def short(text: object, most: int) -> str:
    """Returns a text as one line of at most `most` characters; an ellipsis marks a cut."""
    full = line(text)
    return full if len(full) <= most else full[: most - 1].rstrip() + "…"


def flat(text: object) -> str:
    """Returns the lines of a text joined by semicolons."""
    return "; ".join(part for part in str(text)[:LONGEST_TEXT].split("\n") if part.strip())


def headline(problem: str) -> str:
    """Returns the question of a problem that is JSON with a question; else the whole problem."""
    if not problem.startswith("{"):
        return problem
    try:
        question = json.loads(problem).get("question")
    except (ValueError, RecursionError):
        return problem
    return question if isinstance(question, str) else problem


def ids(keys: Sequence[str], most: int = 6) -> str:
    """Lists at most `most` ids of thoughts, then the number of the others."""
    more = f" and {len(keys) - most} more" if len(keys) > most else ""
    return ", ".join(keys[:most]) + more


def action(thought: Mapping[str, Any]) -> str:
    """Returns a thought's tool call, such as `Search[Milan]`; empty without one."""
    call = thought.get("action")
    return line(f"{call['name']}[{call['argument']}]") if call else ""


def count(number: float, word: str) -> str:
    """Returns a number and its noun, such as `1 request` and `12,345 tokens`."""
    return f"{number:,.0f} {word}{'' if number == 1 else 's'}"


def tools(calls: float, failed: float) -> str:
    """Returns the number of tool calls, such as `5 tool calls, 2 failed`."""
    return count(calls, "tool call") + (f", {failed:,.0f} failed" if failed else "")


def rough(number: float) -> str:
    """Returns a large number in three digits, such as `12.3k`."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}"


def size(number: float) -> str:
    """Returns a number of bytes, such as `1.12 GB`."""
    for unit, name in _UNITS:
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:.0f} bytes"


def value(number: float) -> str:
    """Returns a value of a thought with at most four significant digits."""
    return f"{number:.4g}"


def seconds(number: float) -> str:
    """Returns a duration, such as `4.2 s` or `3 min 07 s`."""
    if number < _SECONDS_A_MINUTE:
        return f"{number:.1f} s"
    minutes, rest = divmod(round(number), _SECONDS_A_MINUTE)
    return f"{minutes} min {rest:02d} s"


def thought_text(thought: Mapping[str, Any]) -> str:
    """Returns a thought's text; of steps, as one line, the raw completion if none was kept."""
    if "steps" in thought.get("created_by", {}):
        return flat(thought.get("text") or thought.get("raw", ""))
    return str(thought.get("text", ""))


def observation_text(thought: Mapping[str, Any]) -> str:
    """Returns a thought's observation; the results of several steps are joined into one line."""
    return (
        flat(thought.get("observation") or "")
        if "tool_state" in thought
        else str(thought.get("observation") or "")
    )


TAIL = 14
"""Cells kept after a cut in the middle (ours): an end such as `left: 4 10 13)` says most."""
MOST_LINES = 8
"""Most lines for one thought (ours)."""


def set_cell(words: str, width: int) -> str:
    """Pads or cuts a text to exactly `width` terminal cells; an ellipsis marks a cut."""
    plain = line(words) if "\n" in words else words
    if cell_len(plain) > width:
        plain = set_cell_size(plain, max(0, width - 1)) + "…"
    return set_cell_size(plain, width)


def middle_cut(words: str, width: int) -> str:
    """Cuts a text to at most `width` cells in its middle, because both ends carry information."""
    if cell_len(words) <= width:
        return words
    end = words[-min(TAIL, width // 3) :] if width > 2 else ""
    while cell_len(end) > width // 3:
        end = end[1:]
    return set_cell_size(words, max(0, width - 1 - cell_len(end))).rstrip() + "…" + end


def wrapped(words: str, width: int, most: int = MOST_LINES) -> list[str]:
    """Wraps a text into 1 to `most` lines; a text that is too long is cut in its middle."""
    lines, size = _break_lines(words, width), most * width
    while len(lines) > most and size > 0:
        lines = _break_lines(middle_cut(words, size), width)
        size -= max(1, width // 8)
    return lines[:most]


def _break_lines(words: str, width: int) -> list[str]:
    lines = [""]
    for word in words.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        lines += [""] if lines[-1] else []
        lines[-1:] = chop_cells(word, width)
    return lines


def lines_per_row(wanted: Sequence[int], room: int) -> list[int]:
    """Returns the number of lines for each row: one, and more in turn while there is room."""
    heights = [1] * len(wanted)
    spare = room - len(wanted)
    while spare > 0 and (growing := [at for at, most in enumerate(wanted) if heights[at] < most]):
        for at in growing[:spare]:
            heights[at] += 1
        spare -= len(growing)
    return heights
