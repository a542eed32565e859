"""Parts of the pages of methods: boxes, settings with their sources, costs, published figures."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import worked_searches
from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.papers import suites
from thoughtgraph.bench.report_lines import Entry, entries
from thoughtgraph.bench.report_tables import markdown, sections
from thoughtgraph.bench.result_files import ResultFolder, latest
from thoughtgraph.bench.statistics import mean
from thoughtgraph.cli.describe import FITS, bounds, default, fit
from thoughtgraph.settings import CHOICES, Settings

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
UNMEASURED = "Nothing is measured yet."
NEEDS: Mapping[str, str] = {
    "Acts": "tools",
    "Answers": "a question",
    "Checks": "an exact check",
    "Concludes": "an answer on demand",
    "Estimates": "a judge of steps",
    "Extracts": "a request for first steps",
    "Inspects": "a judge of parts",
    "Judges": "a judge of answers, or an oracle",
    "Moves": "tools",
    "Plans": "steps that can be run",
    "Proposes": "proposals",
    "Refines": "a request to improve",
    "Reflects": "a request for lessons",
    "Reviews": "a review of steps",
    "Samples": "samples of steps",
    "Steps": "reasoning steps",
    "Values": "a judge of states",
    "Verifies": "a judge of answers",
    "Votes": "votes among states",
}
"""What a capability of a task is, in the words of the tables."""
Row = Sequence[str]


def table(titles: Row, rows: Iterable[Row]) -> str:
    """Returns a table of Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


def code(words: str) -> str:
    """Returns words as code; nothing for none."""
    return f"`{words}`" if words else ""


def graph_file(method: str) -> Path:
    """Returns the file of a method's graph."""
    return ROOT / "graphs" / f"{registry.METHODS[method].method.partition(':')[0]}.py"


def box(method: str) -> str:
    """Returns the paper's box: what the file of a method's graph begins with."""
    told = ast.get_docstring(ast.parse(graph_file(method).read_text(encoding="utf-8")))
    return f"```text\n{told}\n```"


def facts(*methods: str) -> str:
    """Returns where methods stand, what they cost and which tasks they take."""
    file = graph_file(methods[0]).relative_to(ROOT)
    rows = [
        (code(name), registry.METHODS[name].requests, needs_of(name), "; ".join(_tasks(name)))
        for name in methods
    ]
    titles = ("method", "requests per problem", "a task must have", "tasks")
    return (
        f"{registry.METHODS[methods[0]].paper}. Its graph: [{file}](../../{file}).\n\n"
        f"{table(titles, rows)}"
    )


def _tasks(method: str) -> Iterator[str]:
    for how in FITS:
        if taken := [code(task) for task in registry.TASKS if fit(method, task) == how]:
            yield f"{', '.join(taken)}{how and f' ({how})'}"


def needs_of(method: str) -> str:
    """Returns in words what a method needs of a task, with the settings of the first it takes."""
    taken = next(task for task in registry.TASKS if fit(method, task) is not None)
    settings = effective_settings(method, registry.task(taken))
    needed = registry.settings(method).model_construct(**settings).needs()
    return ", ".join(dict.fromkeys(NEEDS[each.__name__] for each in needed))


def settings(*methods: str) -> str:
    """Returns the settings that methods have of their own, and those they begin with."""
    known: dict[tuple[str, ...], list[str]] = {}
    for method in methods:
        for name, info in registry.settings(method).model_fields.items():
            if name not in CHOICES and not _is_shared(name, info):
                row = (name, default(info, None), bounds(info), info.description or "")
                known.setdefault(row, []).append(method)
    order = list(dict.fromkeys(row[0] for row in known))
    rows = [
        (_named(row[0], of, methods), code(row[1]), code(row[2]), row[3])
        for row, of in sorted(known.items(), key=lambda item: order.index(item[0][0]))
    ]
    return table(("setting", "default", "values", "meaning and source"), rows)


def _named(field: str, of: Sequence[str], methods: Sequence[str]) -> str:
    return code(field) + ("" if len(of) == len(methods) else f" ({', '.join(map(code, of))})")


def _is_shared(name: str, info: FieldInfo) -> bool:
    shared = Settings.model_fields.get(name)
    return shared is not None and _description_and_default(shared) == _description_and_default(info)


def _description_and_default(info: FieldInfo) -> tuple[str, str]:
    return default(info, None), info.description or ""


def shared_settings() -> str:
    """Returns the settings that every method has."""
    rows = [
        (code(name), code(default(info, None)), code(bounds(info)), info.description or "")
        for name, info in Settings.model_fields.items()
    ]
    return table(("setting", "default", "values", "meaning and source"), rows)


def published(*methods: str) -> str:
    """Returns what papers published of methods, a row each line of a table, model and figure."""
    rows = [row for name in suites.names() for row in _published(suites.suite(name), methods)]
    if not rows:
        return "Nothing was published of it."
    return table(("table", "line", "settings", "model", "figure", "published"), rows)


def _published(suite: suites.Suite, methods: Sequence[str]) -> Iterator[Row]:
    for line in suite.rows:
        if line.method not in methods:
            continue
        found: dict[tuple[str, str], list[str]] = {}
        for each in line.published:
            note = f" ({each.note})" if each.note else ""
            part = "" if len(suite.parts) == 1 else f"{each.part} "
            found.setdefault((each.model, each.figure), []).append(f"{part}{each.value:g}{note}")
        given = ", ".join(f"{name}={value}" for name, value in line.settings.items())
        for (model, figure), values in found.items():
            name = f"{line.name} ({code(line.method)})" if len(methods) > 1 else line.name
            yield (code(suite.id), name, given, model, figure, ", ".join(values))


def where_ours_are(*methods: str) -> str:
    """Says on GitHub where our own figures are, if there are any."""
    kept = [f"`uv run thoughtgraph report {RESULTS.relative_to(ROOT)}/{f}`" for f in _kept(methods)]
    if not kept:
        return UNMEASURED
    return f"{' and '.join(kept)} {'prints' if len(kept) == 1 else 'print'} what we measured."


def report(folder: str) -> str:
    """Returns the tables of results that are kept, as `thoughtgraph report` prints them."""
    # Below the page's own headings.
    return re.sub("^(#+ )", r"#\1", markdown(sections(kept_lines(folder))), flags=re.M).strip()


def kept_lines(folder: str) -> list[Entry]:
    """Returns the lines of results that are kept in a folder of `bench/results/`."""
    return entries(latest(ResultFolder(RESULTS / folder).rows()).values())


def ours(*methods: str) -> str:
    """Returns what we measured of methods, from the lines of results that are kept."""
    lines = [line for found in _kept(methods).values() for line in found]
    if not lines:
        return UNMEASURED
    rows = [(*map(code, (line.data, line.name, line.model)), *_measured(line)) for line in lines]
    titles = ("problems of", "method", "model", "problems", "score", "requests", "tokens")
    return f"{table(titles, rows)}\n\nFewer than 50 problems decide nothing."


def _kept(methods: Sequence[str]) -> dict[str, list[Entry]]:
    """Returns the lines of methods that have a score, by the folder of their results."""
    found = {}
    for folder in sorted(path.parent.name for path in RESULTS.glob("*/results.jsonl")):
        lines = kept_lines(folder)
        found[folder] = [each for each in lines if each.method in methods and each.scores]
    return {name: lines for name, lines in found.items() if lines}


def _measured(line: Entry) -> Row:
    requests = mean([each.requests for each in line.spent])
    return str(len(line.scores)), f"{line.score:.0%}", f"{requests:.1f}", f"{line.tokens:.0f}"


def costs() -> str:
    """Returns what every method costs: the formula, and what the worked search of its page took."""
    worked = {m: file for file in worked_searches.names() for m in worked_searches.methods_of(file)}
    rows = [
        (code(name), entry.requests, *_spent(worked[name], name), needs_of(name))
        for name, entry in registry.METHODS.items()
    ]
    titles = (
        "method",
        "requests per problem",
        "worked search: requests",
        "samples",
        "tokens",
        "needs",
    )
    return table(titles, rows)


def _spent(file: str, method: str) -> Row:
    usage = worked_searches.search(file, method).result["usage"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    return str(usage["requests"]), str(usage["samples"]), str(tokens)
