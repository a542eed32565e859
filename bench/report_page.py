"""The report as one self-contained page: tables, and plots of score against cost."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import import_module
from io import StringIO
from typing import Any

from thoughtgraph import registry
from thoughtgraph.bench.budget import curve
from thoughtgraph.bench.equal_cost import beside_votes
from thoughtgraph.bench.method_tables import method_tables
from thoughtgraph.bench.report_lines import Entry, comparisons
from thoughtgraph.bench.report_tables import (
    COLUMNS,
    COMPARED,
    EQUAL,
    EQUAL_TITLE,
    cells,
    compared,
    equal_cost,
    tables,
)
from thoughtgraph.bench.result_summaries import rescored
from thoughtgraph.errors import InputError

STYLE = """
:root { color-scheme: light dark; --line: #8886 }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: right;
  white-space: nowrap }
th:first-child, td:first-child { text-align: left }
img { max-width: 100%; background: white; border-radius: 6px }
"""
POINTS, SPAN = 200, 1_000
"""Budgets at which a curve is drawn, and the largest as a multiple of the smallest (ours)."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Nothing of what a model or a data file wrote is run or fetched."""


def page(found: Sequence[Entry]) -> str:
    """Returns the page.

    Args:
        found: The lines of the tables.

    Raises:
        InputError: The extra `bench`, which draws the plots, is not installed.
    """
    parts = [_section(*kind) for kind in tables(found)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>thoughtgraph: results</title><style>{STYLE}</style></head><body>"
        f"<h1>Results</h1>{''.join(parts)}</body></html>\n"
    )


def _section(heading: str, table: Sequence[Entry]) -> str:
    rows = [cells(entry, table) for entry in table]
    shown = [name for name in COLUMNS if any(row[name] for row in rows)]
    parts = [f"<h2>{escape(heading)}</h2>", _plot(table)]
    parts.append(_table(shown, [[row[name] for name in shown] for row in rows]))
    for own in method_tables(table):
        parts += [f"<h3>{escape(own.title)}</h3>", _table(own.headings, own.rows)]
    if beside := [equal_cost(each) for each in beside_votes(table)]:
        parts += [f"<h3>{escape(EQUAL_TITLE)}</h3>", _table(EQUAL, beside)]
    if pairs := [compared(*pair) for pair in comparisons(table)]:
        parts += ["<h3>Differences on the same problems</h3>", _table(COMPARED, pairs)]
    return "".join(parts)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in headings)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _plot(table: Sequence[Entry]) -> str:
    scored = [entry for entry in table if entry.scores]
    if not scored:
        return ""
    told = "Score against tokens a problem, with 95 % intervals"
    named = {entry.name: entry for entry in scored}
    parts = [_image(told, lambda axes: score_against_tokens(axes, named))]
    most = max(each.tokens for e in scored for each in e.spent)
    budgets = [most / SPAN ** (1 - at / POINTS) for at in range(POINTS + 1)]
    if curves := {entry.name: points for entry in scored if (points := _curve(entry, budgets))}:
        told = "What each method would have reached with fewer tokens"
        parts.append(_image(told, lambda axes: budget_curves(axes, curves)))
    return "".join(parts)


def _image(told: str, draw: Callable[[Any], None]) -> str:
    image = b64encode(drawn(draw).encode()).decode()
    return f'<p><img alt="{escape(told)}" src="data:image/svg+xml;base64,{image}"></p>'


def _curve(entry: Entry, budgets: Sequence[float]) -> list[tuple[float, float]]:
    """Returns tokens and score at each budget; nothing where answers cannot be scored again."""
    known = all("tree" in row or row.get("points") for row in entry.rows)
    if not known or entry.task not in registry.TASKS:
        return []
    reached = curve(entry.rows, rescored, "tokens", budgets)
    return [(x, y) for x, y in zip(budgets, reached, strict=True) if y is not None]


def budget_curves(axes: Any, curves: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Draws score over tokens, a line a method."""
    for name, points in curves.items():
        axes.step(*zip(*points, strict=True), where="post", label=name)
    _label(axes, "tokens a problem, at most")


def score_against_tokens(axes: Any, named: Mapping[str, Entry], enough: int = 0) -> None:
    """Draws each line's score, with its interval, over the tokens it takes.

    Args:
        axes: Matplotlib's.
        named: The lines, by the names to show.
        enough: A line of fewer problems is a hollow point.
    """
    for name, entry in named.items():
        low, high = entry.interval
        bars = [[max(0.0, entry.score - low)], [max(0.0, high - entry.score)]]
        looks = {"fmt": "o", "fillstyle": "full" if len(entry.scores) >= enough else "none"}
        axes.errorbar(entry.tokens, entry.score, yerr=bars, capsize=3, label=name, **looks)
    _label(axes, "tokens a problem")


def _label(axes: Any, tokens: str) -> None:
    axes.set_xscale("log")
    axes.set_xlabel(tokens)
    axes.set_ylabel("score")
    axes.set_ylim(-0.02, 1.02)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def drawn(draw: Callable[[Any], None]) -> str:
    """Returns a plot as SVG.

    Args:
        draw: Draws on the axes of matplotlib that it is given.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        figures = import_module("matplotlib.figure")
    except ImportError:
        raise InputError(
            "plots need the extra `bench`: uv add 'thoughtgraph[bench]'; without --out the tables "
            "are printed alone"
        ) from None
    figure = figures.Figure(figsize=(8, 4.5), layout="constrained")
    draw(figure.add_subplot())
    out = StringIO()
    figure.savefig(out, format="svg")
    return out.getvalue()
