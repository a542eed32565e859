"""Draws the plots of a report with matplotlib: score against cost, and score within budgets."""

from collections.abc import Callable, Mapping
from importlib import import_module
from io import StringIO
from typing import Any

from thoughtgraph.bench.report_budgets import BudgetScores
from thoughtgraph.bench.report_lines import Entry
from thoughtgraph.errors import InputError

WIDTH, HEIGHT = 8.0, 4.5
"""Inches of a plot without its legend (ours)."""
ENTRY = 0.2
"""Inches of a legend row (ours)."""


def score_against_tokens(axes: Any, named: Mapping[str, Entry], enough: int = 0) -> None:
    """Draws the score of each line, with its interval, over its tokens.

    Args:
        axes: Axes of matplotlib.
        named: The lines, by their names in the legend.
        enough: Number of problems below which a line's point is hollow.
    """
    for name, entry in named.items():
        marker = {"fmt": "o", "fillstyle": "full" if len(entry.scores) >= enough else "none"}
        low, high = entry.interval
        error_bars = [[max(0.0, entry.score - low)], [max(0.0, high - entry.score)]]
        label = _escaped(name)
        axes.errorbar(entry.tokens, entry.score, yerr=error_bars, capsize=3, label=label, **marker)
    _log_scale(axes)
    _label(axes, "tokens a problem")


def budget_curves(axes: Any, budgets: BudgetScores) -> None:
    """Draws the score over the budget, one curve per method, on axes of matplotlib."""
    for name, scores in budgets.scores.items():
        axes.step([*map(float, budgets.budgets)], scores, where="post", label=_escaped(name))
    _log_scale(axes)
    _label(axes, f"{budgets.unit} a problem, at most")


def _escaped(words: str) -> str:
    # Matplotlib reads text between two dollar signs as a formula.
    return words.replace("$", r"\$")


def _label(axes: Any, across: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel("score")
    axes.set_ylim(-0.02, 1.02)
    axes.grid(alpha=0.3)


def _log_scale(axes: Any) -> None:
    ticker = import_module("matplotlib.ticker")
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    # Over more than two decades, the labels of three ticks per decade would overlap.
    ticks = (1, 2, 5) if high < 100 * low else (1, 3)
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=ticks))
    axes.xaxis.set_major_formatter("{x:,.9g}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())


def hues() -> list[Any]:
    """Returns the colours of the lines: 18 colours of matplotlib that are easy to tell apart."""
    sequences = import_module("matplotlib").color_sequences
    return [*sequences["tab10"], *sequences["Dark2"]]


def drawn(draw: Callable[[Any], None]) -> str:
    """Returns a plot as SVG, with its legend below: a dozen names would cover the plot.

    Args:
        draw: Draws the plot on axes of matplotlib.

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
    figure = figures.Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    axes.set_prop_cycle(color=hues())
    draw(axes)
    handles, names = axes.get_legend_handles_labels()
    figure.set_figheight(HEIGHT + ENTRY * len(names))
    figure.legend(handles, names, loc="outside lower left", fontsize="small")
    svg = StringIO()
    figure.savefig(svg, format="svg")
    return svg.getvalue()
