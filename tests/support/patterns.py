"""The regular expressions of the source, and texts that are hard for each.

They are read from the syntax tree of every module, so that a new one is tried without being listed.
What is computed at run time (`re.escape(marker)`) is computed with a word in place of each name
that only a call knows.
"""

import ast
import builtins
import importlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
ROOMS = ("core", "prompts", "tools", "tasks", "nodes", "graphs", "bench", "cli")
MODULE_CALLS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")


class Expression(NamedTuple):
    """One expression of the source."""

    where: str
    pattern: re.Pattern[str]
    anchored: bool
    """Whether it is tried at one place of a text only, by `match` or `fullmatch`."""


def files(room: str) -> list[Path]:
    """Returns the modules of a folder of the source."""
    return sorted((ROOT / room).rglob("*.py"))


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yields every module that is no test, with its syntax tree."""
    for room in ROOMS:
        for file in files(room):
            inner = file.relative_to(ROOT / room).with_suffix("").parts
            package = () if room == "core" else (room,)
            parts = [part for part in (*package, *inner) if part != "__init__"]
            yield ".".join(["thoughtgraph", *parts]), ast.parse(file.read_text())


def expressions() -> list[Expression]:
    """Returns all regular expressions of the source.

    Raises:
        ValueError: One is written in a way that is not understood here.
    """
    trees = dict(modules())
    found = []
    for module, tree in trees.items():
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for call in filter(_makes_one, ast.walk(tree)):
            assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            function = parents[call]
            while function in parents and not isinstance(function, ast.FunctionDef):
                function = parents[function]
            where, method = f"{module}:{call.lineno}", call.func.attr
            values = _Namespace(vars(importlib.import_module(module)))
            pattern = _pattern(call, method, values, function, where)
            ways = {method}
            if method == "compile" and isinstance(parent := parents[call], ast.Assign):
                [name] = map(_name, parent.targets)
                ways = {way for each in trees for way in _uses(trees, each, module, name)}
            found.append(Expression(where, pattern, ways <= {"match", "fullmatch"}))
    return found


def _makes_one(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in ("compile", *MODULE_CALLS)
    )


def _name(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _uses(trees: dict[str, ast.Module], user: str, module: str, name: str) -> Iterator[str]:
    """Yields how a module uses a name of another; what is handed on may be used in any way."""
    nodes = _nodes(trees[user])
    if user != module and not any(
        isinstance(node, ast.ImportFrom)
        and node.module == module
        and any(each.name == name for each in node.names)
        for node in nodes
    ):
        return
    direct = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in MODULE_CALLS:
            either = node.value
            for each in (either.body, either.orelse) if isinstance(either, ast.IfExp) else [either]:
                direct.add(each)
                if _name(each) == name:
                    yield node.attr
    for node in nodes:
        loads = isinstance(getattr(node, "ctx", None), ast.Load)
        if loads and _name(node) == name and node not in direct:
            yield "handed on"


@cache
def _nodes(tree: ast.Module) -> list[ast.AST]:
    return list(ast.walk(tree))


class _Anything:
    """What only a call knows: any attribute of it is two words."""

    def __getattr__(self, name: str) -> list[str]:
        return ["Answer", "Search"]


class _Namespace(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return _Anything() if name == "self" else "Answer"


def _pattern(
    call: ast.Call, method: str, known: _Namespace, scope: ast.AST, where: str
) -> re.Pattern[str]:
    _bind(call.args[0], scope, known)
    at = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2}.get(method, len(call.args))
    flags = [
        *call.args[at : at + 1],
        *(each.value for each in call.keywords if each.arg == "flags"),
    ]
    source, *more = (eval(ast.unparse(each), known) for each in (call.args[0], *flags))
    if not isinstance(source, str):
        raise ValueError(f"{where}: what expression is this?")
    return re.compile(source, *more)


def _bind(node: ast.expr, scope: ast.AST, known: _Namespace) -> None:
    """Computes the names of an expression that its function assigns."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    own = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    wanted = {each.id for each in names} - own
    for each in ast.walk(scope) if isinstance(scope, ast.FunctionDef) else ():
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            name = each.targets[0].id
            if name in wanted and name not in known:
                _bind(each.value, scope, known)
                known[name] = eval(ast.unparse(each.value), known)


ALPHABET = sorted({*map(chr, range(9, 14)), *map(chr, range(32, 127)), *"\xa0é€°÷\xd7\u2018\u2212"})
LETTER = (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY)
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
CLASSES = {
    **{op.CATEGORY_DIGIT: r"\d", op.CATEGORY_SPACE: r"\s", op.CATEGORY_WORD: r"\w"},
    **{op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_NOT_WORD: r"\W"},
}


def _letter(kind: Any, value: Any, flags: int) -> re.Pattern[str]:
    """Returns what matches the same one letter as a part of a parsed expression."""
    flags &= re.I | re.S | re.A
    source = ""
    for name, of in value if kind is op.IN else [(kind, value)]:
        if name is op.ANY:
            return re.compile(".", flags)
        if name in (op.NEGATE, op.NOT_LITERAL):
            source += "^"
        if name in (op.LITERAL, op.NOT_LITERAL):
            source += re.escape(chr(of))
        elif name is op.RANGE:
            source += f"{re.escape(chr(of[0]))}-{re.escape(chr(of[1]))}"
        elif name is op.CATEGORY:
            source += CLASSES[of]
    return re.compile(f"[{source}]", flags)


class _Shape:
    """What an expression is made of: for each part a text that matches it."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.flags = pattern.flags
        self.groups: dict[int, str] = {}
        self.prefixes: list[str] = [""]
        """Texts that lead to a repetition."""
        self.bodies: list[str] = []
        """Texts that are repeated."""
        self.sets: list[frozenset[str]] = []
        self.whole = self.text(_parser.parse(pattern.pattern, pattern.flags), "")

    def letters(self) -> list[str]:
        """Returns one letter for every set of letters that the expression tells apart."""
        kinds: dict[tuple[bool, ...], str] = {}
        for each in ALPHABET:
            kinds.setdefault(tuple(each in one for one in self.sets), each)
        return list(kinds.values())

    def text(self, parsed: Any, before: str) -> str:
        made = ""
        for kind, value in parsed:
            made += self.part(kind, value, before + made)
        return made

    def part(self, kind: Any, value: Any, before: str) -> str:
        if kind in LETTER:
            one = _letter(kind, value, self.flags)
            self.sets.append(frozenset(filter(one.match, ALPHABET)))
            return min(self.sets[-1], default=chr(value) if isinstance(value, int) else "?")
        if kind is op.SUBPATTERN:
            self.groups[value[0]] = made = self.text(value[3], before)
            return made
        if kind is op.BRANCH:
            either = [self.text(each, before) for each in value[1]]
            self.bodies += either
            return either[0]
        if kind in REPEATS:
            least, most, body = value
            one_more = self.text(body, before)
            if most > 3:
                self.prefixes.append(before)
                self.bodies.append(one_more)
            return one_more * least
        if kind in (op.ASSERT, op.ASSERT_NOT):
            self.text(value[1], before)
            return ""
        if kind is op.GROUPREF_EXISTS:
            return "".join(self.text(each, before) for each in value[1:] if each)
        if kind is op.GROUPREF:
            return self.groups.get(value, "")
        return self.text(value, before) if kind is op.ATOMIC_GROUP else ""


def attacks(pattern: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """Returns what makes texts hard: a beginning, what is repeated after it, an end."""
    shape = _Shape(pattern)
    letters = shape.letters()
    prefixes = list(dict.fromkeys(shape.prefixes))
    bodies = list(dict.fromkeys(filter(None, shape.bodies)))
    anywhere = [*letters, *bodies, *(body + each for body in bodies for each in letters)]
    begun = [prefix + each for prefix in (*prefixes, shape.whole) for each in ("", *letters)]
    tried = [*product(prefixes, dict.fromkeys(anywhere)), *product([""], filter(None, begun))]
    wrong = min(set(letters) - {"\n"}, key=lambda each: (each.isalnum(), each))
    return [(*each, end) for each in dict.fromkeys(tried) for end in ("", wrong)]
