"""Tables of figures that papers report besides score and cost, for lines whose runs have trees."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from thoughtgraph.bench.budget import BATCHED, SAMPLED
from thoughtgraph.bench.equal_cost import VOTE
from thoughtgraph.bench.paper_figures import FIGURES, RELATIVES
from thoughtgraph.bench.papers import failed_steps
from thoughtgraph.bench.papers.mixed_metrics import PLANNED, ahead, right
from thoughtgraph.bench.papers.rollback_stats import (
    METHODS,
    STRUCTURED,
    Kinds,
    first_steps,
    kinds,
    solutions,
    spans,
)
from thoughtgraph.bench.papers.suites import Figure
from thoughtgraph.bench.report_lines import Entry, Table, outputs_of, without_empty
from thoughtgraph.bench.result_files import Row, tree_of
from thoughtgraph.bench.statistics import mean, pearson
from thoughtgraph.tree import Tree

Cells = Iterable[Sequence[str]]


class Kind(NamedTuple):
    """A kind of table."""

    title: str
    headings: Sequence[str]
    """The headings after the column of the line's name."""
    rows: Callable[[Entry, Sequence[Entry]], Cells]
    """From a line and all lines to the rows of that line, without its name; possibly none."""


def method_tables(table: Sequence[Entry]) -> Iterator[Table]:
    """Yields the tables in which at least one line has a row.

    Args:
        table: The lines of one task, set of problems and model.
    """
    lines = [entry for entry in table if entry.has_trees]
    for kind in KINDS:
        if rows := [[e.name, *cells] for e in lines for cells in kind.rows(e, lines)]:
            yield without_empty(kind.title, ("method", *kind.headings), rows)


STEPWISE = "tomt_tot"
"""The method that savings are relative to."""
TRUNCATED = (10, 20, 30)
"""Limits on calls at which Tree-of-Mixed-Thought's appendix B reports accuracy."""
CALLS: Figure = "calls, answered right"


def _plans(entry: Entry, table: Sequence[Entry]) -> Cells:
    if not entry.method.startswith(PLANNED):
        return
    stepwise = next((other for other in table if _is_stepwise_of(other, entry)), None)
    yield [
        *(f"{mean(FIGURES[name](entry)):.0%}" for name in ("inconsistent", "NoBack")),
        f"{mean(FIGURES[CALLS](entry)):.2f}",
        f"{mean([*map(ahead, entry.rows)]):.2f}",
        RELATIVES["saving"].formatted(entry, stepwise) if stepwise else "",
        _hop_correlation(entry),
        *(f"{mean([right(row, calls) for row in entry.rows]):.0%}" for calls in TRUNCATED),
    ]


def _is_stepwise_of(other: Entry, entry: Entry) -> bool:
    """Returns whether `other` is the step-by-step search that an entry's saving is relative to."""
    shared = {name: value for name, value in entry.given.items() if name in other.given}
    return other.method == STEPWISE and all(other.given[name] == shared[name] for name in shared)


def _hop_correlation(entry: Entry) -> str:
    """Returns the correlation of calls and hops over questions answered right (table 3)."""
    answered = [row for row in entry.rows if right(row)]
    hops = [row.get("facts", {}).get("hop") for row in answered]
    pairs = zip(hops, FIGURES[CALLS](entry), strict=True)
    correlation = pearson([(float(hop), calls) for hop, calls in pairs if hop is not None])
    return "" if correlation is None else f"{correlation:+.2f}"


def _rollbacks(entry: Entry, table: Sequence[Entry]) -> Cells:
    if entry.method not in METHODS:
        return
    cells = [f"{mean(FIGURES['interactions'](entry)):.1f}", *[""] * 5]
    if entry.method == STRUCTURED:
        steps_back = [span for row in entry.rows for span in spans(tree_of(row))]
        mean_steps = f"{mean(steps_back):.1f}" if steps_back else ""
        cells[1:] = [f"{len(steps_back) / len(entry.rows):.2f}", mean_steps, *_kinds(entry)]
    yield cells


def _kinds(entry: Entry) -> Iterator[str]:
    """Yields how many paths of each kind end in a right answer."""
    paths, right_paths = Counter[str](), Counter[str]()
    for row in entry.rows:
        tree = tree_of(row)
        scores = dict(zip(outputs_of(row), row["scores"], strict=False))
        for key in solutions(tree):
            path_kinds = [name for name, holds in kinds(tree, key)._asdict().items() if holds]
            paths.update(path_kinds)
            right_paths.update(path_kinds if scores.get(tree[key].get("answer")) == 1.0 else ())
    for name in Kinds._fields:
        yield f"{right_paths[name]} of {paths[name]} right"


def _first_steps(entry: Entry, table: Sequence[Entry]) -> Cells:
    if entry.task != "game24" or entry.method != STRUCTURED:
        return
    steps, failed = Counter[int](), Counter[int]()
    for row in entry.rows:
        for step in first_steps(row["problem"], tree_of(row)):
            steps[step.before] += 1
            failed[step.before] += step.failed
    for before in sorted(steps):
        yield [str(before), str(steps[before]), str(failed[before])]


BEST_OF = (1, 2, 5, 10, 25, 50, 100)
"""Values of k for best-of-k; Tree of Thoughts' range is 1 to 100 (the values: ours)."""


def _best_of(entry: Entry, table: Sequence[Entry]) -> Cells:
    most = max(len(row.get("scores") or ()) for row in entry.rows)
    if most > 1:
        yield [f"{entry.best_of(k):.1%}" if k <= most else "" for k in BEST_OF]


Failed = Callable[[str, Tree, Collection[str | None]], Iterator[int | None]]
"""From problem, tree and right answers to the step at which each sample failed; None: right."""
FAILURES: Mapping[str, Failed] = {
    **dict.fromkeys(SAMPLED, failed_steps.samples),
    "tot_bfs": failed_steps.search,
}
"""The function that reads failed steps from the trees of each method."""


def _failures(entry: Entry, table: Sequence[Entry]) -> Cells:
    if entry.task != "game24" or entry.method not in FAILURES:
        return
    failures = Counter(chain.from_iterable(_failed(row) for row in entry.rows))
    if size := failures.total():
        shares = (failures[at] / size for at in (*failed_steps.FAILED, None))
        yield [str(size), *(f"{share:.0%}" for share in shares)]


def _failed(row: Row) -> Iterator[int | None]:
    scored = zip(outputs_of(row), row.get("scores") or (), strict=False)
    right_answers = {answer for answer, score in scored if score == 1.0}
    return FAILURES[row["method"]](row["problem"], tree_of(row), right_answers)


VOTED = (VOTE, BATCHED)
"""Methods whose samples vote."""
MAJORITY = 0.5
"""Share of the votes up to which a winner has no majority."""


def _votes(entry: Entry, table: Sequence[Entry]) -> Cells:
    votes = [(row["votes"][-1], row.get("score")) for row in entry.rows if row.get("votes")]
    shares = [((last["got"] or 0.0) / last["of"], score) for last, score in votes if last["of"]]
    if entry.method in VOTED and shares:
        without_majority = [score for share, score in shares if share <= MAJORITY]
        with_majority = [score for share, score in shares if share > MAJORITY]
        share = mean([share for share, _ in shares])
        yield [str(len(shares)), f"{share:.0%}", _right(without_majority), _right(with_majority)]


def _right(scores: Sequence[float | None]) -> str:
    scored = [score for score in scores if score is not None]
    return f"{scored.count(1.0)} of {len(scored)} right"


def _tool_costs(entry: Entry, table: Sequence[Entry]) -> Cells:
    paid = [float(row["usage"].get("tool_cost", 0.0)) for row in entry.rows]
    if any(paid):
        answered = [row["usage"] for row in entry.rows if row["answer"] is not None]
        path = mean([float(usage.get("tool_cost_path", 0.0)) for usage in answered])
        yield [f"{mean(paid):.2f}", f"{path:.2f}" if answered else "", str(len(answered))]


KINDS = (
    Kind(
        "Calls and plans, as Tree-of-Mixed-Thought counts them (section 4, appendix B)",
        (
            *("inconsistent", "NoBack", CALLS, "ahead", "RSSI", "calls with hops"),
            *(f"right at {calls}" for calls in TRUNCATED),
        ),
        _plans,
    ),
    Kind(
        "Interactions and rollbacks, as Thought Rollback counts them (figure 3)",
        ("samples", "rollbacks", "steps back", "In", "Out", "No"),
        _rollbacks,
    ),
    Kind(
        "Failures at the first step of Game of 24, by rollbacks to the problem (figure 3 c)",
        ("rollbacks before", "first steps", "failed"),
        _first_steps,
    ),
    Kind(
        "Best of the first k outputs, as an oracle would choose (Tree of Thoughts, figure 3 a); "
        "one that cannot be read counts as wrong",
        tuple(map(str, BEST_OF)),
        _best_of,
    ),
    Kind(
        "Steps at which Game of 24 failed (Tree of Thoughts, figure 3 b)",
        ("samples", *(f"step {at}" for at in failed_steps.FAILED), "right"),
        _failures,
    ),
    Kind(
        "Votes for the answer, and how often it is right",
        ("runs", "share of the votes", "with at most half", "with more than half"),
        _votes,
    ),
    Kind(
        "Cost of tool calls: of all that were paid, and of those on the path to an answer",
        ("paid", "on the path", "answers"),
        _tool_costs,
    ),
)
"""All kinds of tables, in the order in which a report has them."""
