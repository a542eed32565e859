"""Folders of results: one line of JSON for each finished problem, and what unfinished ones paid.

    DIR/results.jsonl         a line a problem, in the order in which they finished
    DIR/unfinished/KEY.sqlite the answers of a problem that has not finished

Several processes share a folder by writing `results-1of3.jsonl` and so on: each file has one
writer, and all are read together. A line is written by one call of the operating system, so a
killed process leaves whole lines and at most one torn one, which is passed over.
"""

import base64
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from os.path import expanduser
from pathlib import Path
from typing import Annotated, Any, NotRequired, cast

from filelock import FileLock, Timeout
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from thoughtgraph.errors import InputError
from thoughtgraph.llm.store import forget
from thoughtgraph.tree import Tree
from thoughtgraph.tree_check import damage

Row = dict[str, Any]
"""One finished problem: a stored result, and beside it what the benchmark knows of it (`key`, `id`,
`seed`, `gold`, `given`; `score` of the answer, `scores` of all outputs)."""

UNFINISHED = "unfinished"


class ResultFolder:
    """The results of a benchmark.

    Args:
        path: The folder; it is made with the first result.
        shard: Which part of the problems this process runs, and of how many.

    Raises:
        InputError: It is no folder, or another process writes the same part of it.
    """

    def __init__(self, path: str | Path, shard: tuple[int, int] = (1, 1)) -> None:
        self.path = Path(expanduser(path))
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{str(path)!r} is a file; name a folder for the results")
        part = "" if shard[1] == 1 else f"-{shard[0]}of{shard[1]}"
        self._file = self.path / f"results{part}.jsonl"
        self._lock = FileLock(self._file.with_suffix(".lock"), blocking=False)

    def open(self) -> None:
        """Makes the folder and becomes its writer.

        Raises:
            InputError: It cannot be made, or another process writes there.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            end_line(self._file)
        except Timeout:
            raise InputError(
                f"another process writes {str(self._file)!r}; wait for it, or give each its own "
                "part with --shard 1/2 and --shard 2/2"
            ) from None
        except OSError as error:
            raise InputError(
                f"cannot write results to {str(self.path)!r} ({error.strerror}); name another "
                "folder with --out"
            ) from error

    def close(self) -> None:
        """Lets another process write."""
        self._lock.release()

    def append(self, row: Row) -> None:
        """Adds a finished problem; what it paid is in the row and dropped.

        Raises:
            InputError: It cannot be written.
        """
        append_line(self._file, row)
        if not row.get("error"):
            forget(self.answers(row["key"]))

    def answers(self, key: str) -> Path:
        """Returns the file of what an unfinished problem was answered."""
        return self.path / UNFINISHED / f"{key}.sqlite"

    def rows(self) -> Iterator[Row]:
        """Yields every line of the folder's files, trees packed, in the order of writing.

        Raises:
            InputError: A whole line is no result.
        """
        for file in sorted(self.path.glob("results*.jsonl")):
            for row in read_lines(file):
                if wrong := _fault(row):
                    raise InputError(
                        f"{str(file)!r} holds what is no result ({wrong}); take that line out and "
                        "run the benchmark again"
                    )
                yield row

    def finished(self) -> set[str]:
        """Returns the keys of what is finished; what failed is not."""
        return {row["key"] for row in self.rows() if not row.get("error")}


def latest(rows: Iterator[Row]) -> dict[str, Row]:
    """Returns one row a problem: the finished one, else its last failure."""
    kept: dict[str, Row] = {}
    for row in rows:
        if row["key"] not in kept or kept[row["key"]].get("error"):
            kept[row["key"]] = row
    return kept


def packed(tree: Mapping[str, Any]) -> str:
    """Returns a tree, or the prompts sent, as compressed text, about a tenth of its JSON."""
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return base64.b85encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def unpacked(text: str) -> dict[str, Any]:
    """Returns what was packed; `tree_of` says whether it is a tree.

    Raises:
        InputError: It is none.
    """
    try:
        tree = json.loads(zlib.decompress(base64.b85decode(text)))
    except (ValueError, zlib.error, RecursionError):
        raise InputError("a packed tree of a result cannot be read; the file is damaged") from None
    if not isinstance(tree, dict):
        raise InputError("a packed tree of a result is no tree; the file is damaged")
    return tree


def tree_of(row: Mapping[str, Any]) -> Tree:
    """Returns the tree of a finished problem.

    Raises:
        InputError: It is none that a search could have grown.
    """
    tree = unpacked(row["tree"])
    if wrong := damage(tree):
        raise InputError(f"the tree of {row['key']!r} is none ({wrong}); take that line out")
    return cast("Tree", tree)


class _Spent(TypedDict):
    requests: float
    samples: float
    prompt_tokens: float
    completion_tokens: float
    cached_prompt_tokens: NotRequired[float | None]
    seconds: float
    dollars: NotRequired[float | None]
    parse_errors: NotRequired[dict[str, int]]
    tool_cost: NotRequired[float]
    tool_cost_path: NotRequired[float]


class _Vote(TypedDict):
    got: float | None
    of: float


class _Known(TypedDict):
    """What every line has, of a problem that failed too."""

    key: Annotated[str, Field(pattern="^[0-9A-Za-z_-]{1,64}$")]
    """It names a file, so it can be no path."""
    error: NotRequired[str]


class _Finished(_Known):
    """What reports need of a finished problem."""

    id: str
    seed: int
    task: str
    method: str
    problem: str
    model: str
    evaluator_model: str
    given: dict[str, Any]
    settings: dict[str, Any]
    answer: str | None
    score: float | None
    scores: list[float]
    usage: _Spent
    data: NotRequired[str]
    gold: NotRequired[str | None]
    facts: NotRequired[dict[str, str]]
    candidates: NotRequired[list[str | None]]
    ensembles: NotRequired[dict[str, str | None]]
    ensemble_scores: NotRequired[list[float]]
    votes: NotRequired[list[_Vote]]
    points: NotRequired[list[tuple[dict[str, float], float]]]
    tree: NotRequired[str]
    prompts: NotRequired[str]


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _fault(row: Row) -> str:
    """Returns what keeps a line from being a result; empty if nothing does."""
    try:
        _adapter(_Known if row.get("error") else _Finished).validate_python(row)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))[:80]}: {first['msg'].lower()}"
    return ""


def append_line(file: Path, row: Row) -> None:
    """Adds a line by one call of the operating system, which outlives a killed process.

    Raises:
        InputError: It cannot be written.
    """
    line = (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    try:
        with file.open("ab", buffering=0) as opened:
            if opened.write(line) != len(line):
                raise OSError(0, "it was not written to its end")
    except OSError as error:
        raise InputError(
            f"cannot write {str(file)!r} ({error.strerror}); make room and run again: "
            "what was answered is kept"
        ) from error


def read_lines(file: Path) -> Iterator[Row]:
    """Yields the whole lines of a file: one that was cut off as it was written is passed over."""
    with file.open("rb") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue  # torn when its process was killed
            if isinstance(row, dict) and isinstance(row.get("key"), str):
                yield row


def end_line(file: Path) -> None:
    """Ends a torn last line, so that the next result begins a line of its own."""
    if not file.exists() or not file.stat().st_size:
        return
    with file.open("rb+") as lines:
        lines.seek(-1, os.SEEK_END)
        if lines.read(1) != b"\n":
            lines.write(b"\n")
