"""Tables of published numbers next to ours, with remarks on the limits of their comparison."""

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
"""Settings that no published table names: models, places, prices. Limits are neutral, too."""
NOT_RUN, NO_SCORE, NO_PRICE = "not run", "no score", "no price"


Runs = Mapping[tuple[str, str], Sequence[Entry]]
"""The runs of a table, by the names of its lines and the ids of its parts."""


class _Ours(NamedTuple):
    """The cells of a row that hold our figure."""

    value: str
    interval: str = ""
    n: str = ""


def beside_published(lines: Sequence[Entry]) -> str:
    """Returns as Markdown every published table that has a line among our runs.

    Args:
        lines: The lines that were run.
    """
    return "\n".join(chain.from_iterable(_table(suite(name), lines) for name in names()))


def _table(table: Suite, lines: Sequence[Entry]) -> Iterator[str]:
    runs = {
        (line.name, part.id): [entry for entry in lines if _is_run_of(entry, line, part)]
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


def _is_run_of(entry: Entry, line: Line, part: Part) -> bool:
    """Returns whether one of our lines ran a line of a published table on a part."""
    same = (entry.task, entry.data, entry.method) == (part.task, part.id, line.method)
    if not same or (entry.oracle, entry.same_run) != (line.oracle, bool(line.same_run_as)):
        return False
    expected = {**line.settings, **_settings_of(line.method, part.task, line.settings)}
    # A summary holds only the chosen settings; all others had their defaults.
    actual = {**_settings_of(line.method, part.task, entry.given), **entry.rows[0]["settings"]}
    return all(actual.get(name) == expected[name] for name in expected if not _is_neutral(name))


def _settings_of(method: str, task: str, chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = registry.settings(method).model_fields
    own = {name: value for name, value in chosen.items() if name in fields}
    return effective_settings(method, registry.task(task), own)


def _is_neutral(name: str) -> bool:
    """Returns whether a run with any value of this setting counts as a line of the table."""
    return name in NEUTRAL or name.startswith(LIMIT_PREFIX)


def _rows(table: Suite, line: Line, runs: Runs) -> Iterator[Sequence[str]]:
    """Yields the rows of a line: first each part, then averages and correlations."""
    for part in table.parts_of(line):
        published: list[Published | None] = [e for e in line.published if e.part == part.id]
        entries: list[Entry | None] = [*runs[line.name, part.id]]
        for entry in entries or [None]:
            for each in published or [None]:
                figure = each.figure if each else "score"
                others = runs.get((line.relative_to, part.id), ())
                yield _row(line, part.id, each, _ours(line, figure, entry, others))
    for whole in table.wholes:
        weights = whole.weights if isinstance(whole, Average) else None
        parts = [p.id for p in table.parts_of(line) if weights is None or p.id in weights]
        sets = _sets_of_runs([runs[line.name, part] for part in parts])
        for each in line.published:
            if each.part == whole.name:
                for text in [_combined(whole, each.figure, group) for group in sets] or [NOT_RUN]:
                    yield _row(line, whole.name, each, _Ours(text), whole.note)


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
    """Returns our figure on one part; `others` are runs of the line that it is relative to."""
    if entry is None:
        return _Ours(NOT_RUN)
    if figure in RELATIVES:
        other = _counterpart(entry, others)
        text = RELATIVES[figure].formatted(entry, other) if other else ""
        reason = NO_SCORE if other else f"needs {line.relative_to}"
        return _Ours(f"{text} ({entry.model})" if text else reason)
    values = FIGURES[figure](entry)
    if not values:
        return _Ours(NO_PRICE if figure == "dollars" else NO_SCORE)
    value = f"{shown(figure, mean(values))} ({entry.model})"
    return _Ours(value, _bounds(figure, values), str(len(values)))


def _bounds(figure: Figure, values: Sequence[float]) -> str:
    if scale(figure) == 1:  # a count, not a share: `interval` does not apply
        return ""
    low, high = interval(values)
    return f"{scale(figure) * low:.1f} to {scale(figure) * high:.1f}"


def _counterpart(entry: Entry, others: Sequence[Entry]) -> Entry | None:
    """Returns the first of `others` with the same models and the same neutral settings."""
    return next((each for each in others if _conditions(each) == _conditions(entry)), None)


def _conditions(entry: Entry) -> tuple[str, str, str]:
    neutral = {name: value for name, value in entry.given.items() if _is_neutral(name)}
    return entry.model, entry.judge, json.dumps(neutral, sort_keys=True)


def _sets_of_runs(parts: Sequence[Sequence[Entry]]) -> list[list[Entry]]:
    """Returns runs on all parts: one list for each model that ran every part."""
    first, *others = parts
    sets = [[entry, *(_counterpart(entry, runs) for runs in others)] for entry in first]
    return [[entry for entry in each if entry] for each in sets if None not in each]


def _combined(whole: Average | Correlation, figure: Figure, runs: Sequence[Entry]) -> str:
    """Returns, as text, our figure of a line over several parts."""
    values = [FIGURES[figure](entry) for entry in runs]
    if not all(values):
        return NO_SCORE
    means = [mean(each) for each in values]
    if isinstance(whole, Average):
        text = shown(figure, fmean(means, [whole.weights[entry.data] for entry in runs]))
    else:
        facts = [_values(entry, whole.fact) for entry in runs]
        pairs = [*zip(map(mean, facts), means, strict=True)] if all(facts) else []
        correlation = pearson(pairs)
        text = "" if correlation is None else f"{correlation:+.3f}"
    return f"{text} ({runs[0].model})" if text else NO_SCORE


def _values(entry: Entry, fact: str) -> list[float]:
    return [float(row["facts"][fact]) for row in entry.rows if fact in row.get("facts", {})]
