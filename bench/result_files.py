"""Result folders: one line of JSON per finished problem, and the paid answers of unfinished ones.

    DIR/results.jsonl         one line per problem, in the order of completion
    DIR/unfinished/KEY.sqlite the paid answers of an unfinished problem

Several processes can share a folder: each writes a file of its own, such as `results-1of3.jsonl`,
and readers read all files. One system call writes a line, so a killed process leaves whole lines
and at most one torn line, which readers skip.
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
"""One finished problem: a stored result and the benchmark's own fields (`key`, `id`, `seed`,
`gold`, `given`; `score` of the answer, `scores` of all outputs)."""

UNFINISHED = "unfinished"


class ResultFolder:
    """The results of a benchmark.

    Args:
        path: The folder; `open` creates it.
        shard: The part of the problems that this process runs, and the number of parts.

    Raises:
        InputError: The path is a file.
    """

    def __init__(self, path: str | Path, shard: tuple[int, int] = (1, 1)) -> None:
        self.path = Path(expanduser(path))
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{str(path)!r} is a file; name a folder for the results")
        part = "" if shard[1] == 1 else f"-{shard[0]}of{shard[1]}"
        self._file = self.path / f"results{part}.jsonl"
        self._lock = FileLock(self._file.with_suffix(".lock"), blocking=False)

    def open(self) -> None:
        """Creates the folder and locks this process's file in it.

        Raises:
            InputError: The folder cannot be written, or another process writes the same file.
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
        """Releases the lock on this process's file."""
        self._lock.release()

    def append(self, row: Row) -> None:
        """Adds a row; unless the problem failed, deletes its paid answers, which the row replaces.

        Raises:
            InputError: The row cannot be written.
        """
        append_line(self._file, row)
        if not row.get("error"):
            forget(self.answers(row["key"]))

    def answers(self, key: str) -> Path:
        """Returns the file of the paid answers of an unfinished problem."""
        return self.path / UNFINISHED / f"{key}.sqlite"

    def rows(self) -> Iterator[Row]:
        """Yields the rows of all files by name, each file's in the order of writing.

        Trees stay packed.

        Raises:
            InputError: A line with a key is not a result.
        """
        for file in sorted(self.path.glob("results*.jsonl")):
            for row in read_lines(file):
                if wrong := _fault(row):
                    raise InputError(
                        f"a line of {str(file)!r} is no result ({wrong}); take it out and run the "
                        "benchmark again"
                    )
                yield row

    def finished(self) -> set[str]:
        """Returns the keys of finished problems; failed ones are not finished."""
        return {row["key"] for row in self.rows() if not row.get("error")}


def latest(rows: Iterator[Row]) -> dict[str, Row]:
    """Returns one row per key: the first finished one, else the last failure."""
    rows_by_key: dict[str, Row] = {}
    for row in rows:
        if row["key"] not in rows_by_key or rows_by_key[row["key"]].get("error"):
            rows_by_key[row["key"]] = row
    return rows_by_key


def packed(tree: Mapping[str, Any]) -> str:
    """Returns a tree, or the prompts of a run, as compressed text, a tenth as long as its JSON."""
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return base64.b85encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def unpacked(text: str) -> dict[str, Any]:
    """Returns a packed object; only `tree_of` checks that it is a tree.

    Raises:
        InputError: The text is not a packed object.
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
        InputError: The row holds no tree that a search could have grown.
    """
    tree = unpacked(row["tree"])
    if wrong := damage(tree):
        raise InputError(f"the tree of {row['key']!r} is damaged ({wrong}); take that line out")
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
    """The fields of every row, even of a failed problem."""

    key: Annotated[str, Field(pattern="^[0-9A-Za-z_-]{1,64}$")]
    """It names a file, so it must not be a path."""
    error: NotRequired[str]


class _Finished(_Known):
    """The fields of a finished problem that reports need."""

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
    """Returns why a row is not a result; empty if it is one."""
    try:
        _adapter(_Known if row.get("error") else _Finished).validate_python(row)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))[:80]}: {first['msg'].lower()}"
    return ""


def append_line(file: Path, row: Row) -> None:
    """Appends a row by one system call, so that the row outlives a killed process.

    Raises:
        InputError: The row cannot be written.
    """
    line = (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    try:
        with file.open("ab", buffering=0) as stream:
            if stream.write(line) != len(line):
                raise OSError(0, "it was not written to its end")
    except OSError as error:
        raise InputError(
            f"cannot write {str(file)!r} ({error.strerror}); make room and run again: "
            "paid answers are kept"
        ) from error


def read_lines(file: Path) -> Iterator[Row]:
    """Yields the rows of a file; skips torn lines and those without a key."""
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
    with file.open("rb+") as stream:
        stream.seek(-1, os.SEEK_END)
        if stream.read(1) != b"\n":
            stream.write(b"\n")
