"""Computes the figures of published tables from our runs."""

from collections.abc import Callable, Mapping
from math import isnan
from operator import truediv
from typing import NamedTuple

from thoughtgraph.bench import metrics
from thoughtgraph.bench.budget import SAMPLED
from thoughtgraph.bench.crossword_scores import BoardScore, best_state, score
from thoughtgraph.bench.papers import mixed_metrics
from thoughtgraph.bench.papers.suites import Figure
from thoughtgraph.bench.report_lines import Entry, outputs_of
from thoughtgraph.bench.result_files import Row, tree_of
from thoughtgraph.bench.statistics import mean

Values = Callable[[Entry], list[float]]
TIMES: Mapping[Figure, float] = {
    **dict.fromkeys(("calls, answered right", "interactions", "dollars"), 1),
    **dict.fromkeys(("tokens", "prompt tokens", "completion tokens"), 1),
    **dict.fromkeys(("coherence", "mean coherence"), 10),
}
"""Display factors of the figures that are not percentages; scores are between 0 and 1."""
_PERCENT = 100.0


def scale(figure: Figure) -> float:
    """Returns the factor that converts a figure to the papers' unit."""
    return TIMES.get(figure, _PERCENT)


def shown(figure: Figure, value: float) -> str:
    """Returns a value as text, in the unit of the papers' tables."""
    # With a small model, a problem costs a fraction of a cent.
    digits = 4 if figure == "dollars" else 1
    return f"{scale(figure) * value:,.{digits}f}"


def _answer_scores(entry: Entry) -> list[float]:
    return list(entry.scores.values())


def _mean_scores(entry: Entry) -> list[float]:
    return [mean(row["scores"]) for row in entry.rows if row.get("scores")]


def _best_scores(entry: Entry) -> list[float]:
    return [max(row["scores"]) for row in entry.rows if row.get("scores")]


def _f1(entry: Entry) -> list[float]:
    if entry.task != "hotpotqa":
        return []
    return [
        0.0 if row["answer"] is None else metrics.f1(row["answer"], row["gold"])
        for row in entry.rows
    ]


def _dollars(entry: Entry) -> list[float]:
    spent = [each.dollars for each in entry.spent]
    return [] if any(map(isnan, spent)) else spent


def _calls(entry: Entry) -> list[float]:
    return [mixed_metrics.calls(row) for row in entry.rows if mixed_metrics.right(row)]


def _share_of_plans(holds: Callable[[Row], bool]) -> Values:
    """Returns a figure of plans: 1 for each problem whose row satisfies `holds`, else 0."""
    return lambda entry: [float(holds(row)) for row in entry.rows] if entry.has_trees else []


def _boards(share: str, *, best: bool = False) -> Values:
    """Returns a figure of crosswords.

    Args:
        share: The field of a `BoardScore`: `letters`, `words` or `game`.
        best: Whether to score the best board that a search visited. Otherwise the figure scores the
            answer, or takes the mean over samples if the method draws them.
    """

    def values(entry: Entry) -> list[float]:
        rows = entry.rows if entry.task == "crosswords" else ()
        return [mean([float(getattr(board, share)) for board in boards(row)]) for row in rows]

    def boards(row: Row) -> list[BoardScore]:
        if best:
            return [best_state(tree_of(row), row["gold"])]
        outputs = outputs_of(row) if row["method"] in SAMPLED else [row["answer"]]
        return [score(board, row["gold"]) for board in outputs]

    return values


FIGURES: Mapping[Figure, Values] = {
    "score": _answer_scores,
    "mean": _mean_scores,
    "coherence": _answer_scores,
    "mean coherence": _mean_scores,
    "best": _best_scores,
    "f1": _f1,
    "calls, answered right": _calls,
    "NoBack": _share_of_plans(mixed_metrics.no_back),
    "inconsistent": _share_of_plans(mixed_metrics.inconsistent),
    "interactions": lambda entry: [each.samples for each in entry.spent],
    "tokens": lambda entry: [each.tokens for each in entry.spent],
    "prompt tokens": lambda entry: [each.prompt_tokens for each in entry.spent],
    "completion tokens": lambda entry: [each.completion_tokens for each in entry.spent],
    "dollars": _dollars,
    "letters": _boards("letters"),
    "games": _boards("game"),
    "best letters": _boards("letters", best=True),
    "best words": _boards("words", best=True),
    "best games": _boards("game", best=True),
}
"""The function of each figure; it returns one value per run or per problem."""


class Relative(NamedTuple):
    """A figure of one line relative to another."""

    figure: Figure
    """The figure to take of both lines."""
    relation: Callable[[float, float], float]
    """From this line's mean and the other line's to the value."""
    form: str
    """The format of the value."""

    def formatted(self, own: Entry, other: Entry) -> str:
        """Returns the value as text; empty if a line has no value or the divisor is 0."""
        both = [FIGURES[self.figure](each) for each in (own, other)]
        if not all(both):
            return ""
        try:
            value = self.relation(*map(mean, both))
        except ZeroDivisionError:
            return ""
        return format(value, self.form)


RELATIVES: Mapping[Figure, Relative] = {
    "saving": Relative("calls, answered right", lambda own, other: other / own, ".2f"),
    "prompt ratio": Relative("prompt tokens", truediv, ".2f"),
    "completion ratio": Relative("completion tokens", truediv, ".2f"),
    "score change": Relative("score", lambda own, other: _PERCENT * (own - other), "+.1f"),
    "f1 change": Relative("f1", lambda own, other: _PERCENT * (own - other), "+.1f"),
}
"""The figures relative to another line, which a suite names by `relative_to`."""
