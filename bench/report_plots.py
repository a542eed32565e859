"""The plots of a report, drawn by matplotlib: score against cost, and by kind of problem."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import StringIO
from typing import Any

from thoughtgraph.bench.report_lines import Entry
from thoughtgraph.errors import InputError

GROUP = 0.8
"""Width of the bars of one value, of the space that there is for them (ours)."""
LONGEST = 24
"""Letters of a value that are shown under its bars (ours)."""

SIDE_BY_SIDE = 60
"""Letters of all values that find room under the bars (ours)."""
WIDTH, HEIGHT = 8.0, 4.5
"""Inches of a plot without its legend (ours)."""
ENTRY = 0.2
"""Inches of a row of the legend (ours)."""
HALF = 52
"""Letters of a name that leave room for another one beside it in the legend (ours)."""

Parts = Mapping[str, Entry]
"""A line divided by what the data set says of its problems, by value."""


def score_against_tokens(axes: Any, named: Mapping[str, Entry], enough: int = 0) -> None:
    """Draws each line's score, with its interval, over the tokens it takes.

    Args:
        axes: Matplotlib's.
        named: The lines, by the names to show.
        enough: A line of fewer problems is a hollow point.
    """
    for name, entry in named.items():
        looks = {"fmt": "o", "fillstyle": "full" if len(entry.scores) >= enough else "none"}
        label = _literal(name)
        axes.errorbar(
            entry.tokens, entry.score, yerr=_errors([entry]), capsize=3, label=label, **looks
        )
    _log_scale(axes)
    _label(axes, "tokens a problem")


def budget_curves(
    axes: Any, curves: Mapping[str, Sequence[tuple[float, float]]], unit: str
) -> None:
    """Draws score over what may be spent, a line a method.

    Args:
        axes: Matplotlib's.
        curves: Budgets and scores, by the names to show.
        unit: What a budget counts.
    """
    for name, points in curves.items():
        axes.step(*zip(*points, strict=True), where="post", label=_literal(name))
    _log_scale(axes)
    # Below the first right answer all lines are one.
    if reached := [x for points in curves.values() for x, score in points if score > 0]:
        axes.set_xlim(left=min(reached) / 2)
    _label(axes, f"{unit} a problem, at most")


def bars(axes: Any, named: Mapping[str, Parts], fact: str, values: Sequence[str]) -> None:
    """Draws the score of each line at each value of a fact, with its interval.

    Args:
        axes: Matplotlib's.
        named: The divided lines, by the names to show.
        fact: What they are divided by.
        values: The values, in the order to show.
    """
    width = GROUP / max(1, len(named))
    for at, (name, parts) in enumerate(named.items()):
        shown = {place: parts[value] for place, value in enumerate(values) if value in parts}
        places = [place - GROUP / 2 + (at + 0.5) * width for place in shown]
        scores = [entry.score for entry in shown.values()]
        errors = _errors(list(shown.values()))
        axes.bar(places, scores, width, yerr=errors, capsize=2, label=_literal(name))
    words = [_literal(value[:LONGEST]) for value in values]
    tilted = {"rotation": 30, "ha": "right"} if len("".join(words)) > SIDE_BY_SIDE else {}
    axes.set_xticks(range(len(values)), words, **tilted)
    _label(axes, _literal(fact))


def _errors(lines: Sequence[Entry]) -> list[list[float]]:
    """Returns how far the intervals of lines reach below their scores and above them."""
    ends = [(entry.score, entry.interval) for entry in lines]
    below = [max(0.0, score - low) for score, (low, _) in ends]
    return [below, [max(0.0, high - score) for score, (_, high) in ends]]


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
    _legend(figure, *axes.get_legend_handles_labels())
    out = StringIO()
    figure.savefig(out, format="svg")
    return out.getvalue()


def _legend(figure: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    columns = 2 if max(map(len, names), default=0) <= HALF else 1
    figure.set_figheight(HEIGHT + ENTRY * -(-len(names) // columns))
    figure.legend(handles, names, loc="outside lower left", ncols=columns, fontsize="small")
