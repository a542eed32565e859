"""`thoughtgraph report`: result folders compared in tables."""

from collections.abc import Iterable, Iterator, Sequence
from os.path import expanduser
from pathlib import Path

from thoughtgraph import results
from thoughtgraph.bench import report_tables as tables
from thoughtgraph.bench.paper_tables import beside_published
from thoughtgraph.bench.report import Entry, by_fact, entries
from thoughtgraph.bench.report_page import page
from thoughtgraph.bench.result_files import ResultFolder, Row, latest
from thoughtgraph.bench.summary import summary
from thoughtgraph.errors import InputError

NOTHING_PUBLISHED = "nothing here is a line of a paper's table; run one with `bench --suite`\n"


def report(
    folders: Sequence[str], out: str, *, paper: bool = False, by: str = "", summaries: str = ""
) -> None:
    """Prints the tables of result folders, and writes them where that is asked for.

    Args:
        folders: The folders.
        out: Where files of them go; empty: nowhere.
        paper: Whether published numbers are shown beside ours.
        by: What of the problems the tables are divided by, such as `level`; empty: nothing.
        summaries: Folder to which small rows are added that hold no text of anybody; empty: none.

    Raises:
        InputError: There are no results, or the files cannot be written.
    """
    rows = latest(_rows(folders))
    found = entries(by_fact(rows.values(), by) if by else rows.values())
    if not found:
        raise InputError(
            f"no finished problem in {', '.join(folders)}; `thoughtgraph bench --out DIR` makes one"
        )
    text = tables.markdown(found)
    if paper:
        text += f"\n{beside_published(found) or NOTHING_PUBLISHED}"
    print(text)
    if failed := sum(bool(row.get("error")) for row in rows.values()):
        print(f"{failed} problems failed and are not counted; run the benchmark again for them")
    if summaries:
        _summarize(rows.values(), ResultFolder(summaries))
    if out:
        _write(Path(expanduser(out)), found, text)


def _rows(folders: Sequence[str]) -> Iterator[Row]:
    for folder in folders:
        yield from ResultFolder(folder).rows()


def _summarize(rows: Iterable[Row], folder: ResultFolder) -> None:
    folder.open()
    try:
        known = folder.finished()
        for row in rows:
            if not row.get("error") and row["key"] not in known:
                folder.append(summary(row))
    finally:
        folder.close()
    print(f"summarized: {folder.path}")


def _write(folder: Path, found: Sequence[Entry], text: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make {str(folder)!r} ({error.strerror}); name another folder with --out"
        ) from error
    contents = {"report.md": text, "report.csv": tables.as_csv(found), "report.html": page(found)}
    for name, content in contents.items():
        results.write(str(folder / name), content)
    print("written:", ", ".join(str(folder / name) for name in contents))
