"""Small changes of the product, drawn by a seed, and which of them a set of tests notices.

A test suite guards a line when a change of that line makes a test fail. `list` draws such changes,
spread over the rooms of the product, before anybody knows which tests will run; `try` makes each in
turn in a copy of the checkout, runs the tests that are named, and writes down what they noticed:

    python tests/support/mutants.py list --seed 41 --count 100 > mutants.jsonl
    python tests/support/mutants.py try mutants.jsonl --tree ../copy --out seen.jsonl -- tests/

The copy must be a checkout of its own, with an environment in `.venv`: its files are changed.
"""

import argparse
import ast
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOMS = ("core", "core/settings", "core/llm", "nodes", "graphs", "tasks", "tools", "bench", "cli")
"""Folders of the product; a file belongs to the longest that it stands in."""
PATIENCE = 900
"""Seconds after which a run of tests counts as hanging, which a changed loop may well do."""
COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
COMPUTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "*"),
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


class Mutant(NamedTuple):
    """One change of one line: columns and lines as Python counts them, lines from 1."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Yields every change of a file that this script knows: of operators, constants, conditions."""
    lines = source.splitlines()

    def change(line: int, start: int, end: int, after: str) -> Mutant:
        # Python's columns are counted in bytes.
        raw = lines[line - 1].encode()
        return Mutant(path, line, start, end, raw[start:end].decode(), after)

    def between(left: ast.expr, right: ast.expr, sign: str, after: str) -> Iterator[Mutant]:
        if left.end_lineno == right.lineno and left.end_col_offset is not None:
            raw = lines[right.lineno - 1].encode()[left.end_col_offset : right.col_offset]
            at = raw.find(sign.encode())
            if at >= 0:
                start = left.end_col_offset + at
                yield change(right.lineno, start, start + len(sign.encode()), after)

    for node in _read(ast.parse(source)):
        line, start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", 0)
        if line != getattr(node, "end_lineno", 0) and isinstance(node, ast.Constant | ast.Name):
            continue
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield from between(left, right, *COMPARED[type(op)])
            case ast.BoolOp(op=op, values=[left, right, *_]):
                sign, after = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                yield from between(left, right, sign, after)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in COMPUTED:
                yield from between(left, right, *COMPUTED[type(op)])
            case ast.UnaryOp(op=ast.Not()):
                # What is denied may begin with a bracket, which is no part of it.
                yield change(line, start, start + len("not "), "")
            case ast.Constant(value=bool(value)):
                yield change(line, start, end, str(not value))
            case ast.Constant(value=int(value)) | ast.Constant(value=float(value)):
                yield change(line, start, end, repr(value + 1))
            case ast.Call(func=ast.Name(id=name)) if name in CALLED and not node.keywords:
                yield change(line, start, node.func.end_col_offset or 0, CALLED[name])
            case ast.If(test=test) | ast.IfExp(test=test) if test.lineno == test.end_lineno:
                raw = lines[test.lineno - 1].encode()[test.col_offset : test.end_col_offset]
                after = f"(not ({raw.decode()}))"
                yield change(test.lineno, test.col_offset, test.end_col_offset or 0, after)
            case ast.Break() | ast.Continue():
                yield change(line, start, end, "pass")


def _read(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes that run: neither annotations nor what only a type checker reads."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _read(child)


def drawn(root: Path, seed: int, count: int, only: str = "") -> list[Mutant]:
    """Draws changes: first a fair share for every room, then by how many a room has.

    Args:
        root: The checkout.
        seed: Another seed draws others.
        count: How many.
        only: What their paths begin with, from the root; every room if empty.
    """
    random_ = random.Random(seed)
    rooms: dict[str, list[Mutant]] = {room: [] for room in ROOMS}
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            nearest = max((each for each in ROOMS if path.startswith(f"{each}/")), key=len)
            if nearest == room and path.startswith(only):
                rooms[room] += mutants_of(path, file.read_text(encoding="utf-8"))
    pools = {room: random_.sample(pool, len(pool)) for room, pool in rooms.items() if pool}
    fair = count // (2 * len(pools))
    chosen = [each for pool in pools.values() for each in pool[:fair]]
    rest = [each for pool in pools.values() for each in pool[fair:]]
    chosen += random_.sample(rest, min(count - len(chosen), len(rest)))
    return sorted(chosen)


def mutated(source: str, mutant: Mutant) -> str:
    """Returns a file's text with the change.

    Raises:
        ValueError: The file is another than the one that the change was drawn from.
    """
    lines = source.splitlines(keepends=True)
    raw = lines[mutant.line - 1].encode()
    if raw[mutant.start : mutant.end].decode() != mutant.before:
        raise ValueError(f"{mutant.path}:{mutant.line} no longer reads {mutant.before!r}")
    changed = raw[: mutant.start] + mutant.after.encode() + raw[mutant.end :]
    lines[mutant.line - 1] = changed.decode()
    return "".join(lines)


def noticed(tree: Path, mutant: Mutant, tests: list[str]) -> dict[str, Any]:
    """Runs tests in a copy that has the change; returns which failed first, if any did."""
    file = tree / mutant.path
    source = file.read_text(encoding="utf-8")
    began = time.monotonic()
    arguments = [".venv/bin/pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    file.write_text(mutated(source, mutant), encoding="utf-8")
    try:
        run = subprocess.Popen(
            arguments,
            cwd=tree,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            out, _ = run.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            out = "FAILED: hung"
            run.wait()
    finally:
        file.write_text(source, encoding="utf-8")
    failed = [line for line in out.splitlines() if line.startswith(("FAILED", "ERROR"))]
    # 5: no test was chosen.
    killed = run.returncode not in (0, 5)
    by = (failed or out.splitlines()[-1:] or [""])[0][:160] if killed else ""
    return {"killed": killed, "by": by, "seconds": round(time.monotonic() - began)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="print changes, one JSON object a line")
    listing.add_argument("--seed", type=int, required=True)
    listing.add_argument("--count", type=int, default=100)
    listing.add_argument("--only", default="", help="what their paths begin with, as tasks/scenes")
    trying = verbs.add_parser("try", help="make each change in a copy and run tests")
    trying.add_argument("mutants", type=Path)
    trying.add_argument("--tree", type=Path, required=True, help="the copy: its files are changed")
    trying.add_argument("--out", type=Path, required=True, help="results, one JSON object a line")
    trying.add_argument("tests", nargs="+", help="arguments for pytest")
    args = parser.parse_args()
    if args.verb == "list":
        root = Path(__file__).resolve().parents[2]
        for mutant in drawn(root, args.seed, args.count, args.only):
            sys.stdout.write(json.dumps(mutant._asdict()) + "\n")
        return
    for text in args.mutants.read_text(encoding="utf-8").splitlines():
        mutant = Mutant(**json.loads(text))
        result = {**mutant._asdict(), **noticed(args.tree, mutant, args.tests)}
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        state = "killed" if result["killed"] else "SURVIVED"
        told = f"{mutant.path}:{mutant.line} {mutant.before!r} -> {mutant.after!r}: {state}"
        sys.stdout.write(told + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
