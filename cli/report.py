"""`thoughtgraph report`: compares result folders in tables."""

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import expanduser
from pathlib import Path

from thoughtgraph import results
from thoughtgraph.bench import report_tables as tables
from thoughtgraph.bench.judging import judge_runs, judgements, with_judgements
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.report_lines import Entry, by_fact, entries
from thoughtgraph.bench.report_page import linked, page, tree_file
from thoughtgraph.bench.result_files import ResultFolder, Row, latest
from thoughtgraph.bench.result_summaries import summary
from thoughtgraph.cli import text, view
from thoughtgraph.cli.bench_options import ReportOptions
from thoughtgraph.cli.viewer.page import page as tree_page
from thoughtgraph.errors import InputError
from thoughtgraph.llm.endpoints import port_for

TREES = "trees"
"""Folder beside the report's page for the pages of trees that it links."""
NOTHING_PUBLISHED = "nothing here is a line of a paper's table; run one with `bench --suite`\n"


def report(options: ReportOptions) -> None:
    """Prints the tables of result folders, and writes the files that the options name."""
    rows = latest(_rows(options))
    if any("points" in row for row in rows.values()):
        # If one row is a summary, all become summaries: otherwise one setup would be two lines.
        rows = {key: row if row.get("error") else summary(row) for key, row in rows.items()}
    chosen = by_fact(rows.values(), options.by) if options.by else rows.values()
    lines = entries(chosen)
    if not lines:
        raise InputError(
            f"no finished problem in {', '.join(options.folders)}; "
            "`thoughtgraph bench --out DIR` makes one"
        )
    published = f"\n{beside_published(lines) or NOTHING_PUBLISHED}" if options.paper else ""
    # Names may come from other people's results, so control characters are removed.
    sections = tables.sections(lines, budgets=bool(options.out))
    print(text.lines(tables.markdown(sections) + published))
    if failed := sum(bool(row.get("error")) for row in rows.values()):
        print(f"{failed} problems failed and are not counted; run the benchmark again for them")
    if options.summaries:
        _summarize(rows.values(), ResultFolder(options.summaries))
    if options.out:
        _write(Path(expanduser(options.out)), lines, sections, published)


def _rows(options: ReportOptions) -> Iterator[Row]:
    for folder in map(ResultFolder, options.folders):
        if options.judge:
            asyncio.run(_judge(folder, options))
            yield from with_judgements(folder.rows(), judgements(folder.path, options.judge))
        else:
            yield from folder.rows()


async def _judge(folder: ResultFolder, options: ReportOptions) -> None:
    def tell(done: int) -> None:
        print(f"{done} runs of {folder.path} are judged", file=sys.stderr)

    finished = [row for row in latest(folder.rows()).values() if not row.get("error")]
    port, samples = port_for(options.judge), options.samples
    await judge_runs(finished, folder.path, options.judge, port, samples=samples, tell=tell)


def _summarize(rows: Iterable[Row], folder: ResultFolder) -> None:
    folder.open()
    try:
        finished = folder.finished()
        for row in rows:
            if not row.get("error") and row["key"] not in finished:
                folder.append(summary(row))
    finally:
        folder.close()
    print(f"summarized: {folder.path}")


def _write(
    folder: Path, lines: Sequence[Entry], sections: Sequence[tables.Section], published: str
) -> None:
    trees = _tree_pages(lines)
    _make_folder(folder / TREES if trees else folder)
    contents = {
        "report.md": text.lines(tables.markdown(sections) + published),
        "report.csv": tables.as_csv(lines),
        "pairs.csv": tables.pairs_csv(sections),
        "report.html": page(sections, TREES if trees else ""),
    }
    for name, content in contents.items():
        results.write(str(folder / name), content)
    for name, row in trees.items():
        results.write(str(folder / TREES / name), tree_page([row]))
    names = [str(folder / name) for name in contents]
    names += [f"{text.count(len(trees), 'search tree')} in {folder / TREES}"] if trees else []
    print("written:", ", ".join(names))


def _tree_pages(lines: Sequence[Entry]) -> Mapping[str, view.CheckedResult]:
    """Returns the results whose trees the page links, by the file names of their pages."""
    runs = {tree_file(row): row for entry in lines for row in linked(entry)}
    return {name: view.checked(f"run {row['key']}", view.whole(row)) for name, row in runs.items()}


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make {str(folder)!r} ({error.strerror}); name another folder with --out"
        ) from error
