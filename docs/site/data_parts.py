"""The part of a page that lists the public data sets."""

from method_parts import code, table

from thoughtgraph.bench.data_sets import catalogue
from thoughtgraph.cli import text

TITLES = ("name", "what it is", "problems", "download", "licence", "home")


def data_sets() -> str:
    """Returns a table of what can be downloaded."""
    rows = [
        (
            code(each.name),
            each.title,
            f"{each.entries:,}",
            "not known beforehand" if each.size is None else text.size(each.size),
            each.licence,
            f"[{each.home.partition('://')[2]}]({each.home})",
        )
        for each in catalogue().sets.values()
    ]
    return table(TITLES, rows)
