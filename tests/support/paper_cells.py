"""The cells of a published table, read out of a report."""

import re
from typing import NamedTuple


class Cell(NamedTuple):
    """What a table says of one line on one of its sets, or on several together."""

    row: str
    problems: str
    figure: str
    ours: str
    n: str


def cells_of(report: str, source: str) -> list[Cell]:
    """The cells of the table from one source."""
    (section,) = [each for each in report.split("## ") if each.split("\n")[0].endswith(source)]
    return [Cell(*(line[name] for name in Cell._fields)) for line in lines_of(section)]


def lines_of(section: str) -> list[dict[str, str]]:
    """The lines of the first table of a text, each by its headings."""
    rows = re.findall(r"^\|.*\|$", re.split(r"(?<=\|)\n(?!\|)", section, maxsplit=1)[0], re.M)
    headings, _, *lines = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows
    ]
    return [dict(zip(headings, line, strict=True)) for line in lines]
