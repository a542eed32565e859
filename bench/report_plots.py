"""The plots of a report, drawn by matplotlib: score against cost, and within budgets."""

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
"""Inches of a row of the legend (ours)."""


def score_against_tokens(axes: Any, named: Mapping[str, Entry], enough: int = 0) -> None:
    """Draws each line's score, with its interval, over the tokens it takes.

    Args:
        axes: Matplotlib's.
        named: The lines, by the names to show.
        enough: A line of fewer problems is a hollow point.
    """
    for name, entry in named.items():
        looks = {"fmt": "o", "fillstyle": "full" if len(entry.scores) >= enough else "none"}
        low, high = entry.interval
        reach = [[max(0.0, entry.score - low)], [max(0.0, high - entry.score)]]
        label = _literal(name)
        axes.errorbar(entry.tokens, entry.score, yerr=reach, capsize=3, label=label, **looks)
    _log_scale(axes)
    _label(axes, "tokens a problem")


def budget_curves(axes: Any, budgets: BudgetScores) -> None:
    """Draws score over what may be spent, a line a method, on axes of matplotlib."""
    for name, scores in budgets.scores.items():
        axes.step([*map(float, budgets.budgets)], scores, where="post", label=_literal(name))
    _log_scale(axes)
    _label(axes, f"{budgets.unit} a problem, at most")


def _literal(words: str) -> str:
    # Matplotlib takes what stands between two of these for a formula.
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
    # Over more than two decades the numbers of three ticks each run into one another.
    ticks = (1, 2, 5) if high < 100 * low else (1, 3)
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=ticks))
    axes.xaxis.set_major_formatter("{x:,.9g}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())


def hues() -> list[Any]:
    """Returns the colours of lines, 18 of matplotlib's that can be told apart."""
    sequences = import_module("matplotlib").color_sequences
    return [*sequences["tab10"], *sequences["Dark2"]]


def drawn(draw: Callable[[Any], None]) -> str:
    """Returns a plot as SVG, its legend below it: a dozen names would cover what is drawn.

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
    figure = figures.Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    axes.set_prop_cycle(color=hues())
    draw(axes)
    handles, names = axes.get_legend_handles_labels()
    figure.set_figheight(HEIGHT + ENTRY * len(names))
    figure.legend(handles, names, loc="outside lower left", fontsize="small")
    out = StringIO()
    figure.savefig(out, format="svg")
    return out.getvalue()
