"""Tables of what the outputs of lines were and what their tools cost, where trees tell it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain

from thoughtgraph.bench.budget import BATCHED, SAMPLED
from thoughtgraph.bench.equal_cost import VOTE
from thoughtgraph.bench.papers import failed_steps
from thoughtgraph.bench.report_lines import Entry, Table, outputs_of
from thoughtgraph.bench.result_files import Row, tree_of
from thoughtgraph.bench.statistics import mean
from thoughtgraph.tree import Tree

BEST_OF = (1, 2, 5, 10, 25, 50, 100)
"""Outputs of which the best counts; 1 to 100 is Tree of Thoughts' range (the values: ours)."""
VOTED = (VOTE, BATCHED)
"""Methods whose samples vote."""
MAJORITY = 0.5
"""Share of the votes up to which a winner has no majority."""

Failed = Callable[[str, Tree, Collection[str | None]], Iterator[int | None]]
"""At which steps the samples of a problem's tree failed, given the right answers; None: right."""
FAILURES: Mapping[str, Failed] = {
    **dict.fromkeys(SAMPLED, failed_steps.samples),
    "tot_bfs": failed_steps.search,
}
"""How failures are read off the trees of each method."""


def output_tables(table: Sequence[Entry]) -> Iterator[Table]:
    """Yields the tables of which at least one line has something to tell.

    Args:
        table: The lines of one task, set of problems and model, whose rows have trees.
    """
    if curves := [_best_of(entry) for entry in table if _most(entry) > 1]:
        shown = max(map(len, curves))
        rows = [[*curve, *[""] * (shown - len(curve))] for curve in curves]
        yield Table(BEST_TITLE, ("method", *map(str, BEST_OF))[:shown], rows)
    if failures := [row for entry in table for row in _failures(entry)]:
        yield Table(FAILED_TITLE, FAILED_HEADINGS, failures)
    if voted := [row for entry in table for row in _votes(entry)]:
        yield Table(VOTE_TITLE, VOTE_HEADINGS, voted)
    if paid := [row for entry in table for row in _tool_costs(entry)]:
        yield Table(COST_TITLE, COST_HEADINGS, paid)


BEST_TITLE = (
    "Best of the first k outputs, as an oracle would choose (Tree of Thoughts, figure 3 a); one "
    "that cannot be read counts as wrong"
)


def _best_of(entry: Entry) -> list[str]:
    """Returns a line's name, and the best of each number of outputs that it has."""
    sizes = [k for k in BEST_OF if k <= _most(entry)]
    return [entry.name, *(f"{entry.best_of(k):.1%}" for k in sizes)]


def _most(entry: Entry) -> int:
    return max(len(row.get("scores") or ()) for row in entry.rows)


FAILED_TITLE = "Steps at which Game of 24 failed (Tree of Thoughts, figure 3 b)"
FAILED_HEADINGS = ("method", "samples", *(f"step {at}" for at in failed_steps.FAILED), "right")


def _failures(entry: Entry) -> Iterator[list[str]]:
    if entry.task != "game24" or entry.method not in FAILURES:
        return
    found = Counter(chain.from_iterable(_failed(row) for row in entry.rows))
    if size := found.total():
        shares = (found[at] / size for at in (*failed_steps.FAILED, None))
        yield [entry.name, str(size), *(f"{share:.0%}" for share in shares)]


def _failed(row: Row) -> Iterator[int | None]:
    scored = zip(outputs_of(row), row.get("scores") or (), strict=False)
    right = {answer for answer, score in scored if score == 1.0}
    return FAILURES[row["method"]](row["problem"], tree_of(row), right)


VOTE_TITLE = "Votes for the answer, and how often it is right"
VOTE_HEADINGS = ("method", "runs", "share of the votes", "with at most half", "with more than half")


def _votes(entry: Entry) -> Iterator[list[str]]:
    if entry.method not in VOTED:
        return
    lasts = ((row["votes"][-1], row.get("score")) for row in entry.rows if row.get("votes"))
    if voted := [((last["got"] or 0.0) / last["of"], score) for last, score in lasts if last["of"]]:
        low = [score for share, score in voted if share <= MAJORITY]
        high = [score for share, score in voted if share > MAJORITY]
        share = mean([share for share, _ in voted])
        yield [entry.name, str(len(voted)), f"{share:.0%}", _right(low), _right(high)]


def _right(scores: Sequence[float | None]) -> str:
    known = [score for score in scores if score is not None]
    return f"{known.count(1.0)} of {len(known)} right"


COST_TITLE = "Cost of tool calls: of all that were paid, and of those on the path to an answer"
COST_HEADINGS = ("method", "paid", "on the path", "answers")


def _tool_costs(entry: Entry) -> Iterator[list[str]]:
    paid = [float(row["usage"].get("tool_cost", 0.0)) for row in entry.rows]
    if any(paid):
        answered = [row["usage"] for row in entry.rows if row["answer"] is not None]
        path = mean([float(usage.get("tool_cost_path", 0.0)) for usage in answered])
        shown = f"{path:.2f}" if answered else ""
        yield [entry.name, f"{mean(paid):.2f}", shown, str(len(answered))]
