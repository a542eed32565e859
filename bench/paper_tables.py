"""Published numbers beside ours, table by table, with what keeps them from being compared."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench import metrics
from thoughtgraph.bench.crossword_scores import best_state, score
from thoughtgraph.bench.papers.suites import Figure, Line, Part, Published, Suite, names, suite
from thoughtgraph.bench.report_lines import Entry, outputs_of
from thoughtgraph.bench.report_tables import grid
from thoughtgraph.bench.result_files import unpacked
from thoughtgraph.bench.statistics import interval, mean
from thoughtgraph.settings import LIMIT_PREFIX, WATCHING

HEADINGS = ("row", "problems", "figure", "published", "ours", "95 %", "n", "remarks")
NEUTRAL = frozenset(
    {"task", "model", "evaluator_model", "seed", "prices", "share_evaluations"}
    | {*WATCHING, "max_completion_tokens", "corpus", "contact", "recording", "tool_deadline"}
)
"""Settings beside the limits that no table names: where things are and what they may cost."""
TIMES: Mapping[Figure, float] = {"calls": 1, "tokens": 1, "coherence": 10, "mean coherence": 10}
"""By what figures are shown that are no percentages; scores are between 0 and 1."""
_PERCENT = 100.0


def beside_published(found: Sequence[Entry]) -> str:
    """Returns, as Markdown, every published table of which a line was run.

    Args:
        found: The lines that were run.
    """
    parts: list[str] = []
    for name in names():
        table = suite(name)
        lines = list(_lines(table, found))
        if not any(ours for *_, ours in lines):
            continue
        parts.append(f"## {table.title}: {table.source}\n")
        parts.append(grid(HEADINGS, [_row(*line) for line in lines]))
        remarks = [f"* {part.id}: {part.note}." for part in table.parts if part.note]
        remarks += [f"* Not reproduced: {each.name}. {each.why}." for each in table.missing]
        parts.append("\n".join(remarks) + "\n" if remarks else "")
    return "\n".join(parts)


def _lines(
    table: Suite, found: Sequence[Entry]
) -> Iterator[tuple[Line, Part, Published | None, Entry | None]]:
    for line in table.rows:
        for part in table.parts_of(line):
            ours: list[Entry | None] = [entry for entry in found if _is(entry, line, part)]
            given: list[Published | None] = [
                each for each in line.published if each.part == part.id
            ]
            for entry in ours or [None]:
                for each in given or [None]:
                    yield line, part, each, entry


def _is(entry: Entry, line: Line, part: Part) -> bool:
    same = (entry.task, entry.data, entry.method) == (part.task, part.id, line.method)
    if not same or entry.oracle != line.oracle:
        return False
    wanted = effective_settings(line.method, registry.task(part.task), line.settings)
    had = entry.rows[0]["settings"]
    return all(had.get(name) == wanted[name] for name in wanted if not _neutral(name))


def _neutral(name: str) -> bool:
    """Whether a run is a line of the table whatever this setting was."""
    return name in NEUTRAL or name.startswith(LIMIT_PREFIX)


def _row(line: Line, part: Part, given: Published | None, ours: Entry | None) -> list[str]:
    figure: Figure = given.figure if given else "score"
    published = f"{given.value:g} ({given.model})" if given else "no number"
    remark = given.note if given else ""
    if ours is None:
        return [line.name, part.id, figure, published, "not run", "", "", remark]
    values = FIGURES[figure](ours)
    if not values:
        return [line.name, part.id, figure, published, "no score", "", "", remark]
    shares = figure not in ("calls", "tokens")
    low, high = interval(values) if shares else (0.0, 0.0)
    times = TIMES.get(figure, _PERCENT)
    return [
        line.name,
        part.id,
        figure,
        published,
        f"{times * mean(values):,.1f} ({ours.model})",
        f"{times * low:.1f} to {times * high:.1f}" if shares else "",
        str(len(values)),
        remark,
    ]


def _first(entry: Entry) -> list[float]:
    return list(entry.scores.values())


def _all(entry: Entry) -> list[float]:
    return [mean(row["scores"]) for row in entry.rows if row.get("scores")]


def _best(entry: Entry) -> list[float]:
    return [max(row["scores"]) for row in entry.rows if row.get("scores")]


def _f1(entry: Entry) -> list[float]:
    if entry.task != "hotpotqa":
        return []
    return [
        0.0 if row["answer"] is None else metrics.f1(row["answer"], row["gold"])
        for row in entry.rows
    ]


def _calls(entry: Entry) -> list[float]:
    # As Tree-of-Mixed-Thought counts its reasoning steps: over questions answered right.
    return [row["usage"]["requests"] for row in entry.rows if row["score"] == 1.0]


def _tokens(entry: Entry) -> list[float]:
    return [each.tokens for each in entry.spent]


def _boards(share: str) -> Callable[[Entry], list[float]]:
    """Makes a figure of crosswords: a mean over a problem's outputs."""

    def values(entry: Entry) -> list[float]:
        if entry.task != "crosswords":
            return []
        return [
            mean([float(getattr(score(each, row["gold"]), share)) for each in outputs_of(row)])
            for row in entry.rows
        ]

    return values


def _best_board(share: str) -> Callable[[Entry], list[float]]:
    """Makes a figure of the best board that each search of crosswords visited."""

    def values(entry: Entry) -> list[float]:
        if entry.task != "crosswords":
            return []
        boards = [best_state(unpacked(row["tree"]), row["gold"]) for row in entry.rows]
        return [float(getattr(board, share)) for board in boards]

    return values


FIGURES: Mapping[Figure, Callable[[Entry], list[float]]] = {
    "score": _first,
    "mean": _all,
    "coherence": _first,
    "mean coherence": _all,
    "best": _best,
    "f1": _f1,
    "calls": _calls,
    "tokens": _tokens,
    "letters": _boards("letters"),
    "games": _boards("game"),
    "best letters": _best_board("letters"),
    "best words": _best_board("words"),
    "best games": _best_board("game"),
}
"""What each figure is, one value a run or a problem."""
