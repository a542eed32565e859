"""Renders a report as one self-contained page: tables, plots, links to the trees of some runs."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from typing import Any, NamedTuple

from thoughtgraph.bench.report_lines import Entry, spent
from thoughtgraph.bench.report_plots import budget_curves, drawn, score_against_tokens
from thoughtgraph.bench.report_tables import Section
from thoughtgraph.bench.result_files import Row

STYLE = """
:root { color-scheme: light dark; --line: #8886 }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: right;
  white-space: nowrap }
th:first-child, td:first-child { text-align: left }
img { max-width: 100%; background: white; border-radius: 6px }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Stops a browser from running or fetching anything in the text of a model or a data file."""
LINKED = 10
"""Most trees that the page links for a line (ours)."""
RUNS = ("method", "problem", "seed", "score", "tokens")
RUNS_TITLE = f"Trees: of each line the {LINKED} runs that scored least"


class Link(NamedTuple):
    """A table cell that links another page."""

    address: str
    words: str


Cells = Sequence[Sequence[str | Link]]


def page(report: Sequence[Section], trees: str = "") -> str:
    """Returns a report as HTML.

    Args:
        report: The sections of the report.
        trees: Name of the folder next to the page that holds the trees of the `linked` runs, each
            in its `tree_file`; empty: the page links no trees.

    Raises:
        InputError: The extra `bench`, which draws the plots, is not installed.
    """
    parts: list[str] = []
    for section in report:
        heading, in_short = escape(section.heading), escape(section.in_short)
        parts += [f"<h2>{heading}</h2><p>{in_short}</p>", *_plots(section)]
        for title, headings, rows in section.tables:
            parts += [f"<h3>{escape(title)}</h3>" if title else "", _table(headings, rows)]
        linked_rows = [(entry, row) for entry in section.lines for row in linked(entry)]
        if trees and (runs := [_run(entry, row, trees) for entry, row in linked_rows]):
            parts += [f"<h3>{escape(RUNS_TITLE)}</h3>", _table(RUNS, runs)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>thoughtgraph: results</title><style>{STYLE}</style></head><body>"
        f"<h1>Results</h1>{''.join(parts)}</body></html>\n"
    )


def linked(entry: Entry) -> list[Row]:
    """Returns the runs of a line whose trees the page links: those with the lowest scores.

    Summaries have no trees. Several ensembles of a run share its tree, which the page links once.
    """
    runs = [row for row in entry.rows if "tree" in row and not row.get("same_run")]
    return sorted(runs, key=lambda row: row["score"] or 0.0)[:LINKED]


def tree_file(row: Row) -> str:
    """Returns the file name of a run's tree; it holds no text of a model or a data set."""
    return f"{row['key']}.html"


def _run(entry: Entry, row: Row, trees: str) -> Sequence[str | Link]:
    score = "" if row["score"] is None else f"{row['score']:.0%}"
    link = Link(f"{trees}/{tree_file(row)}", row["id"])
    return entry.name, link, str(row["seed"]), score, f"{spent(row).tokens:,.0f}"


def _table(headings: Sequence[str], rows: Cells) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in headings)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: str | Link) -> str:
    if isinstance(cell, Link):
        return f'<a href="{escape(cell.address)}">{escape(cell.words)}</a>'
    return escape(cell)


def _plots(section: Section) -> Iterator[str]:
    """Yields the plots of a section."""
    named = {entry.name: entry for entry in section.lines if entry.scores}
    if named:
        caption = "Score against tokens a problem, with 95 % intervals"
        yield _image(caption, partial(score_against_tokens, named=named))
    for budgets in section.budgets:
        caption = f"What each method would have reached with fewer {budgets.unit}"
        yield _image(caption, partial(budget_curves, budgets=budgets))


def _image(caption: str, draw: Callable[[Any], None]) -> str:
    image = b64encode(drawn(draw).encode()).decode()
    return f'<p><img alt="{escape(caption)}" src="data:image/svg+xml;base64,{image}"></p>'
