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
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOMS = ("core", "core/settings", "core/llm", "nodes", "graphs", "tasks", "tools", "bench", "cli")
"""Folders of the product; a file belongs to the longest that it stands in."""
PATIENCE = 900
"""Seconds after which a run of tests counts as hanging, which a changed loop may well do."""
SIGNS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn},
    **{ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add},
    **{ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.Mult},
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
SKIPPED = ("annotation", "returns", "type_params", "decorator_list")
"""Parts of the syntax that do not run, or run once."""


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str, Any]]:
    """Yields what may be changed: of a node which field, and to what."""
    match node:
        case ast.If(test=test) if "TYPE_CHECKING" in ast.unparse(test):
            return
        case ast.Compare(ops=[op]) if type(op) in SIGNS:
            yield node, "ops", [SIGNS[type(op)]()]
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SIGNS:
            yield node, "op", SIGNS[type(op)]()
        case ast.Constant(value=bool(value)):
            yield node, "value", not value
        case ast.Constant(value=int(value)) | ast.Constant(value=float(value)):
            yield node, "value", value + 1
        case ast.Call(func=ast.Name(id=name) as function, keywords=[]) if name in CALLED:
            yield function, "id", CALLED[name]
        case ast.If(test=test) | ast.IfExp(test=test):
            yield node, "test", ast.UnaryOp(ast.Not(), test)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in SKIPPED:
                yield from changes(child)


def mutated(source: str, number: int) -> tuple[str, dict[str, Any]]:
    """Returns a file's text with one of its changes, without comments, and what that is."""
    tree = ast.parse(source)
    node, name, new = [*changes(tree)][number]
    before = ast.unparse(node)[:200]
    setattr(node, name, new)
    line = getattr(node, "lineno", 0)
    return ast.unparse(tree), {"line": line, "before": before, "after": ast.unparse(node)[:200]}


def drawn(root: Path, seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Draws changes: first a fair share for every room, then by how many a room has."""
    random_, rooms = random.Random(seed), dict[str, list[tuple[Path, int]]]()
    for file in sorted(file for room in ROOMS for file in (root / room).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        room = max((each for each in ROOMS if path.startswith(f"{each}/")), key=len)
        found = enumerate(changes(ast.parse(file.read_text(encoding="utf-8"))))
        rooms.setdefault(room, []).extend((file, number) for number, _ in found)
    pools = [random_.sample([*dict.fromkeys(pool)], len({*pool})) for pool in rooms.values()]
    fair = count // (2 * len(pools))
    rest = [each for pool in pools for each in pool[fair:]]
    first = [each for pool in pools for each in pool[:fair]]
    for file, number in sorted([*first, *random_.sample(rest, count - len(first))]):
        _, told = mutated(file.read_text(encoding="utf-8"), number)
        yield {"path": file.relative_to(root).as_posix(), "number": number, **told}


def noticed(tree: Path, mutant: dict[str, Any], tests: list[str]) -> dict[str, Any]:
    """Runs tests in a copy that has the change; returns which failed first, if any did."""
    file = tree / mutant["path"]
    source = file.read_text(encoding="utf-8")
    changed, told = mutated(source, mutant["number"])
    assert told.items() <= mutant.items(), "the file is another than the one it was drawn from"
    arguments = [".venv/bin/pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    limited = ["timeout", "--kill-after=9", str(PATIENCE), *arguments]
    file.write_text(changed, encoding="utf-8")
    try:
        run = subprocess.run(limited, cwd=tree, capture_output=True, text=True, errors="replace")
    finally:
        file.write_text(source, encoding="utf-8")
    failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    killed = run.returncode not in (0, 5)  # 5: no test was chosen
    return {**mutant, "killed": killed, "by": "".join(failed[:1])[:160]}


def main() -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list")
    listing.add_argument("--seed", type=int, required=True)
    listing.add_argument("--count", type=int, default=100)
    trying = verbs.add_parser("try")
    trying.add_argument("mutants", type=Path)
    for name in ("--tree", "--out"):
        trying.add_argument(name, type=Path, required=True)
    trying.add_argument("tests", nargs="+")
    args = parser.parse_args()
    if args.verb == "list":
        for mutant in drawn(Path(__file__).resolve().parents[2], args.seed, args.count):
            sys.stdout.write(json.dumps(mutant) + "\n")
        return
    for text in args.mutants.read_text(encoding="utf-8").splitlines():
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(noticed(args.tree, json.loads(text), args.tests)) + "\n")


if __name__ == "__main__":
    main()
