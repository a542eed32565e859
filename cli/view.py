"""`thoughtgraph view`: reads results from files, checks them and writes one page."""

import json
import webbrowser
from functools import cache
from os.path import expanduser
from pathlib import Path
from typing import Any, NotRequired, cast

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from thoughtgraph import results
from thoughtgraph.bench.result_files import unpacked
from thoughtgraph.cli import text
from thoughtgraph.cli.runs import Runs
from thoughtgraph.cli.viewer.page import page
from thoughtgraph.errors import InputError
from thoughtgraph.llm.store import SentPrompt, UnusedAnswers
from thoughtgraph.outcome import Vote
from thoughtgraph.tree import Thought
from thoughtgraph.tree_check import misgrown
from thoughtgraph.usage import Usage

SUFFIXES = (".json", ".jsonl")
DATABASE = b"SQLite format 3\x00"
"""The first bytes of a file of checkpoints or recorded answers."""
REMEDY = "give a result file, as `thoughtgraph solve --json FILE` writes it"


class CheckedResult(TypedDict):
    """A result as `solve --json` writes it; a page needs the first five keys."""

    method: str
    task: str
    problem: str
    settings: dict[str, Any]
    tree: dict[str, Thought]
    answer: NotRequired[str | None]
    candidates: NotRequired[list[str | None]]
    ensembles: NotRequired[dict[str, str | None]]
    outcome: NotRequired[str]
    stop_reason: NotRequired[str]
    limit: NotRequired[str]
    verified: NotRequired[bool | None]
    right: NotRequired[bool]
    votes: NotRequired[list[Vote]]
    run: NotRequired[str]
    date: NotRequired[str]
    error: NotRequired[str]
    usage: NotRequired[Usage]
    unused: NotRequired[UnusedAnswers]
    prompts: NotRequired[dict[str, list[SentPrompt]]]
    prices: NotRequired[dict[str, list[float] | None]]
    versions: NotRequired[dict[str, str]]


PACKED = ("tree", "prompts")
NEEDED = ("method", "task", "problem", "tree")
"""Keys that mark an object as a result, even a damaged one; a folder's others are skipped."""


def read(path: str) -> list[CheckedResult]:
    """Returns the results in a file, or in all the `.json` and `.jsonl` files of a folder."""
    source = Path(expanduser(path))
    if source.is_dir():
        files = sorted(file for file in source.iterdir() if file.suffix in SUFFIXES)
        pairs = [(file, item) for file in files for item in _items(file) if _is_result(item)]
        if not pairs:
            raise InputError(f"no results in {path!r}; {REMEDY}")
        return [checked(str(file), item) for file, item in pairs]
    items = _items(source)
    if not items:
        raise InputError(f"{path!r} is empty; {REMEDY}")
    return [checked(str(source), item) for item in items]


def _items(path: Path) -> list[Any]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r} ({error.strerror}); check the path") from None
    if content.startswith(DATABASE):
        raise InputError(f"{str(path)!r} is a database, not a result; {REMEDY}")
    try:
        decoded = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is no text file; a result is JSON; {REMEDY}") from None
    parts = decoded.split("\n") if path.suffix == ".jsonl" else [decoded]
    try:
        return [whole(json.loads(part)) for part in parts if part.strip()]
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not JSON ({error}); give a result file") from None


def whole(item: Any) -> Any:
    """Returns a result with its tree and prompts unpacked; benchmarks store them packed."""
    if isinstance(item, dict) and isinstance(item.get("tree"), str):
        packed = (name for name in PACKED if isinstance(item.get(name), str))
        return {**item, **{name: unpacked(item[name]) for name in packed}}
    return item


def _is_result(item: Any) -> bool:
    return isinstance(item, dict) and all(name in item for name in NEEDED)


def checked(source: str, item: Any) -> CheckedResult:
    """Returns a result after a check that its tree can be shown; the error names the source."""
    try:
        result = _adapter().validate_python(item, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        fault = f"{place}: {first['msg'].lower()}" if place else first["msg"].lower()
    else:
        fault = misgrown(result["tree"])
    if fault:
        raise InputError(f"{source!r} is no result ({fault}); {REMEDY}")
    # The whole item: fields that a later version adds are kept.
    return cast("CheckedResult", item)


@cache
def _adapter() -> TypeAdapter[CheckedResult]:
    return TypeAdapter(CheckedResult)


FOLDER_PAGE = "trees.html"


def view(path: str, out: str, *, browse: bool = False) -> None:
    """Writes the page of a result file, a folder of results or a run to `out` or a default file."""
    source = Path(expanduser(path))
    run_file = None if source.exists() else Runs().result(path)
    default = source / FOLDER_PAGE if source.is_dir() else source.with_suffix(".html")
    target = out or (f"{run_file.parent.name}.html" if run_file else str(default))
    loaded = read(str(run_file or path))
    results.check_writable(target)
    results.write(target, page(loaded))
    print(f"wrote {target} ({text.count(len(loaded), 'search tree')})")
    address = Path(expanduser(target)).resolve().as_uri()
    if browse and not webbrowser.open(address):
        print(f"no browser can be started here; open {address} yourself")
