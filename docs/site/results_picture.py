"""Draws docs/results.svg: the score of each method in the comparison over its cost.

    uv run python docs/site/results_picture.py

It has a panel for each set of problems. The line is the vote of `cot_sc` over one sample, two
samples and so on. Bars are 95 % intervals. A hollow point has too few problems for a verdict.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from results_parts import ENOUGH, line_name, panels

from thoughtgraph.bench.equal_cost import vote_line, votes_of
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.report_lines import Entry
from thoughtgraph.bench.report_plots import hues, score_against_tokens

FILE = Path(__file__).resolve().parents[1] / "results.svg"
ACROSS = 2
"""Number of panels side by side."""
WIDTH, HEIGHT = 6.4, 3.2
"""Size of a panel with its legend, in inches."""
SHADES = (1.0, 0.0), (0.6, 0.0), (0.5, 0.5), (0.3, 0.0)
"""Shades of a method's lines, as a factor and a summand: plain, darker, lighter, darkest."""


def picture() -> str:
    """Returns the picture as SVG, with its words as text, not as paths."""
    sets = panels()
    rows = -(-len(sets) // ACROSS)
    columns = min(ACROSS, len(sets))
    figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, (name, lines) in zip(grid.flat, sets, strict=False):
        _draw(axes, name, lines)
    for axes in grid.flat[len(sets) :]:
        axes.remove()
    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "results"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    # No text of the repository has spaces at the ends of lines.
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def colours() -> dict[str, tuple[float, ...]]:
    """Returns the colour of each line of the suite: a hue a method, a shade for its settings."""
    lines: dict[str, list[str]] = {}
    for name in dict.fromkeys(row.name for row in suite("comparison").rows):
        lines.setdefault(name.partition(",")[0], []).append(name)
    return {
        name: tuple(times * part + more for part in hue)
        for hue, own in zip(map(to_rgb, hues()), lines.values(), strict=False)
        for name, (times, more) in zip(own, SHADES[: len(own)], strict=True)
    }


def _draw(axes: Any, name: str, lines: Sequence[Entry]) -> None:
    entries = {line_name(each): each for each in lines if each.scores}
    palette = {name: colour for name, colour in colours().items() if name in entries}
    axes.set_prop_cycle(color=list(palette.values()))
    score_against_tokens(axes, {name: entries[name] for name in palette}, ENOUGH)
    if votes := votes_of(lines):
        line = vote_line(votes)
        axes.plot(
            *zip(*line, strict=True),
            color="grey",
            zorder=0,
            label=f"{line_name(votes)}, 1 to {len(line)}",
        )
    problems = max(len(each.scores) for each in lines)
    axes.set_title(f"{name}, {problems} problems", fontsize="medium")
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("right")
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False)


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
