"""Published numbers beside ours, table by table, with what keeps them from being compared."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.paper_figures import FIGURES, RELATIVES, scale, shown
from thoughtgraph.bench.papers.suites import (
    Average,
    Correlation,
    Figure,
    Line,
    Part,
    Published,
    Suite,
    names,
    suite,
)
from thoughtgraph.bench.report_lines import Entry
from thoughtgraph.bench.report_tables import grid
from thoughtgraph.bench.statistics import interval, mean, pearson
from thoughtgraph.settings import LIMIT_PREFIX, WATCHING

HEADINGS = ("row", "problems", "figure", "published", "ours", "95 %", "n", "remarks")
NEUTRAL = frozenset(
    {"task", "model", "evaluator_model", "seed", "prices", "share_evaluations", *WATCHING}
    | {"max_completion_tokens", "tool_deadline", "corpus", "database", "contact", "recording"}
)
"""Settings beside the limits that no table names: where things are and what they may cost."""
NOT_RUN, NO_SCORE, NO_PRICE = "not run", "no score", "no price"


Runs = Mapping[tuple[str, str], Sequence[Entry]]
"""What was run of a table, by the names of its lines and the ids of its parts."""


class _Ours(NamedTuple):
    """What we found, in words."""

    value: str
    interval: str = ""
    n: str = ""


def beside_published(lines: Sequence[Entry]) -> str:
    """Returns, as Markdown, every published table of which a line was run.

    Args:
        lines: The lines that were run.
    """
    return "\n".join(chain.from_iterable(_table(suite(name), lines) for name in names()))


def _table(table: Suite, lines: Sequence[Entry]) -> Iterator[str]:
    runs = {
        (line.name, part.id): [entry for entry in lines if _is(entry, line, part)]
        for line in table.rows
        for part in table.parts_of(line)
    }
    if any(runs.values()):
        yield f"## {table.title}: {table.source}\n"
        yield grid(HEADINGS, [row for line in table.rows for row in _rows(table, line, runs)])
        remarks = [f"* {part.id}: {part.note}." for part in table.parts if part.note]
        remarks += [f"* {e.name}: {_joined(e.explanation, e.note)}." for e in table.wholes]
        remarks += [f"* Not reproduced: {each.name}. {each.why}." for each in table.missing]
        yield "\n".join(remarks) + "\n" if remarks else ""


def _is(entry: Entry, line: Line, part: Part) -> bool:
    same = (entry.task, entry.data, entry.method) == (part.task, part.id, line.method)
    if not same or (entry.oracle, entry.same_run) != (line.oracle, bool(line.same_run_as)):
        return False
    wanted = {**line.settings, **_effective(line.method, part.task, line.settings)}
    # A summary tells only what was chosen; the rest were the defaults.
    had = {**_effective(line.method, part.task, entry.given), **entry.rows[0]["settings"]}
    return all(had.get(name) == wanted[name] for name in wanted if not _neutral(name))


def _effective(method: str, task: str, chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    known = registry.settings(method).model_fields
    own = {name: value for name, value in chosen.items() if name in known}
    return effective_settings(method, registry.task(task), own)


def _neutral(name: str) -> bool:
    """Whether a run is a line of the table whatever this setting was."""
    return name in NEUTRAL or name.startswith(LIMIT_PREFIX)


def _rows(table: Suite, line: Line, runs: Runs) -> Iterator[Sequence[str]]:
    for part in table.parts_of(line):
        published: list[Published | None] = [e for e in line.published if e.part == part.id]
        entries: list[Entry | None] = [*runs[line.name, part.id]]
        for entry in entries or [None]:
            for each in published or [None]:
                figure = each.figure if each else "score"
                others = runs.get((line.relative_to, part.id), ())
                yield _row(line, part.id, each, _ours(line, figure, entry, others))
    for whole in table.wholes:
        weighed = whole.weights if isinstance(whole, Average) else None
        parts = [p.id for p in table.parts_of(line) if weighed is None or p.id in weighed]
        sets = _together([runs[line.name, part] for part in parts])
        for each in line.published:
            if each.part == whole.name:
                for told in [_combined(whole, each.figure, some) for some in sets] or [NOT_RUN]:
                    yield _row(line, whole.name, each, _Ours(told), whole.note)


def _row(
    line: Line, place: str, number: Published | None, ours: _Ours, note: str = ""
) -> Sequence[str]:
    if number is None:
        return (line.name, place, "score", "no number", *ours, note)
    published = f"{number.value:g} ({number.model})"
    return (line.name, place, number.figure, published, *ours, _joined(number.note, note))


def _joined(*remarks: str) -> str:
    return "; ".join(filter(None, remarks))


def _ours(line: Line, figure: Figure, entry: Entry | None, others: Sequence[Entry]) -> _Ours:
    """Returns a figure of a run on one part; others are runs of the line it is relative to."""
    if entry is None:
        return _Ours(NOT_RUN)
    if figure in RELATIVES:
        other = _beside(entry, others)
        told = RELATIVES[figure].formatted(entry, other) if other else ""
        lacking = NO_SCORE if other else f"needs {line.relative_to}"
        return _Ours(f"{told} ({entry.model})" if told else lacking)
    values = FIGURES[figure](entry)
    if not values:
        return _Ours(NO_PRICE if figure == "dollars" else NO_SCORE)
    value = f"{shown(figure, mean(values))} ({entry.model})"
    return _Ours(value, _bounds(figure, values), str(len(values)))


def _bounds(figure: Figure, values: Sequence[float]) -> str:
    if scale(figure) == 1:  # It counts something, whose interval is not that of a share.
        return ""
    low, high = interval(values)
    return f"{scale(figure) * low:.1f} to {scale(figure) * high:.1f}"


def _beside(entry: Entry, others: Sequence[Entry]) -> Entry | None:
    """Returns the first of others that ran as an entry did: by the same models and limits."""
    return next((each for each in others if _circumstances(each) == _circumstances(entry)), None)


def _circumstances(entry: Entry) -> tuple[str, str, str]:
    neutral = {name: value for name, value in entry.given.items() if _neutral(name)}
    return entry.model, entry.judge, json.dumps(neutral, sort_keys=True)


def _together(parts: Sequence[Sequence[Entry]]) -> list[list[Entry]]:
    """Returns runs on all of some parts: a list for each model that ran them all."""
    first, *others = parts
    sets = [[entry, *(_beside(entry, runs) for runs in others)] for entry in first]
    return [[entry for entry in each if entry] for each in sets if None not in each]


def _combined(whole: Average | Correlation, figure: Figure, runs: Sequence[Entry]) -> str:
    """Returns a figure of a line over several parts."""
    values = [FIGURES[figure](entry) for entry in runs]
    if not all(values):
        return NO_SCORE
    means = [mean(each) for each in values]
    if isinstance(whole, Average):
        told = shown(figure, fmean(means, [whole.weights[entry.data] for entry in runs]))
    else:
        correlation = pearson([*zip([_mean_fact(e, whole.fact) for e in runs], means, strict=True)])
        told = "" if correlation is None else f"{correlation:+.3f}"
    return f"{told} ({runs[0].model})" if told else NO_SCORE


def _mean_fact(entry: Entry, fact: str) -> float:
    return mean([float(row["facts"][fact]) for row in entry.rows if fact in row.get("facts", {})])
