"""The regular expressions of the source, and texts that are hard for them.

They are read from the syntax tree of every module, so that a new one is tried without being listed.
What is computed at run time (`re.escape(marker)`) is computed with a word in place of each name
that only a call knows.
"""

import ast
import builtins
import importlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
ROOMS = ("core", "prompts", "tools", "tasks", "nodes", "graphs", "bench", "cli")
MODULE_CALLS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
SIZES = (*range(8, 32, 4), *(2**power for power in range(5, 15)))
"""Lengths of text: by small steps first, for what doubles with a letter; then doubled."""
READABLE = 0.002
"""Seconds below which a time says nothing."""
STEEP = 3.0
"""By how much the time of twice the text may be larger: a square has 4."""


class Expression(NamedTuple):
    """One expression of the source."""

    where: str
    pattern: re.Pattern[str]
    anchored: frozenset[str]
    """The ways in which it is tried at one place only: `match`, `fullmatch`; empty if anywhere."""


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
    used = {module: _uses(tree) for module, tree in trees.items()}
    imported = {module: set(_imports(tree)) for module, tree in trees.items()}
    found = []
    for module, tree in trees.items():
        for call, names, scope in _calls(tree):
            values = vars(importlib.import_module(module))
            pattern = _pattern(call, dict(values), scope, f"{module}:{call.lineno}")
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            ways = {method} - {"compile"}
            for name in names:
                others = [each for each in trees if (module, name) in imported[each]]
                ways |= {way for each in (module, *others) for way in used[each].get(name, ())}
            anchored = frozenset(ways) if ways <= {"match", "fullmatch"} else frozenset[str]()
            found.append(Expression(f"{module}:{call.lineno}", pattern, anchored))
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, list[str], ast.FunctionDef | None]]:
    """Yields the calls that take an expression, the names they are bound to, their function."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
            continue
        if node.func.attr not in ("compile", *MODULE_CALLS):
            continue
        parent = parents[node]
        targets: list[ast.expr] = []
        if isinstance(parent, ast.Assign) and node.func.attr == "compile":
            targets = parent.targets
        names = [_name(target) for target in targets]
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.FunctionDef):
            at = parents.get(at)
        yield node, names, at


def _imports(tree: ast.Module) -> Iterator[tuple[str | None, str]]:
    """Yields each module and name of it that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, each.name) for each in node.names)


def _uses(tree: ast.Module) -> dict[str, set[str]]:
    """Returns how a module uses each name; one that is handed on may be used in any way."""
    uses: dict[str, set[str]] = {}
    direct = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in MODULE_CALLS:
            either = node.value
            two = (either.body, either.orelse) if isinstance(either, ast.IfExp) else (either,)
            for each in two:
                uses.setdefault(_name(each), set()).add(node.attr)
                direct.add(each)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and node not in direct:
            handed = {"handed on"} if isinstance(node.ctx, ast.Load) else set[str]()
            uses.setdefault(_name(node), set()).update(handed)
    return uses


def _name(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


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
    call: ast.Call, values: dict[str, Any], scope: ast.FunctionDef | None, where: str
) -> re.Pattern[str]:
    known = _Namespace(values)
    _bind(call.args[0], scope, known)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    flags = call.args[1:2] if method == "compile" else []
    flags += [each.value for each in call.keywords if each.arg == "flags"]
    if method in ("search", "match", "fullmatch"):
        flags += call.args[2:3]
    parts = [eval(ast.unparse(each), known) for each in (call.args[0], *flags)]
    if isinstance(parts[0], _Anything) or not isinstance(parts[0], str):
        raise ValueError(f"{where}: what expression is this?")
    return re.compile(parts[0], parts[1] if flags else 0)


def _bind(node: ast.expr, scope: ast.FunctionDef | None, known: _Namespace) -> None:
    """Computes the names of an expression that its function assigns."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    own = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    wanted = {each.id for each in names} - own
    for each in ast.walk(scope) if scope else ():
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            name = each.targets[0].id
            if name in wanted and name not in known:
                _bind(each.value, scope, known)
                known[name] = eval(ast.unparse(each.value), known)


ALPHABET = sorted({*map(chr, range(9, 14)), *map(chr, range(32, 127)), *"\xa0é€°÷\xd7\u2018\u2212"})


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
        for letter in ALPHABET:
            kinds.setdefault(tuple(letter in each for each in self.sets), letter)
        return list(kinds.values())

    def text(self, parsed: Any, before: str) -> str:
        made = ""
        for kind, value in parsed:
            made += self.part(kind, value, before + made)
        return made

    def part(self, kind: Any, value: Any, before: str) -> str:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            return self.letter(kind, value)
        if kind is op.SUBPATTERN:
            made = self.text(value[3], before)
            self.groups[value[0]] = made
            return made
        if kind is op.ATOMIC_GROUP:
            return self.text(value, before)
        if kind is op.BRANCH:
            made = [self.text(each, before) for each in value[1]]
            self.bodies += made
            return made[0]
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, body = value
            one = self.text(body, before)
            if most > 3:
                self.prefixes.append(before)
                self.bodies.append(one)
            return one * least
        if kind in (op.ASSERT, op.ASSERT_NOT):
            self.text(value[1], before)
            return ""
        if kind is op.GROUPREF_EXISTS:
            return "".join(self.text(each, before) for each in value[1:] if each)
        if kind is op.GROUPREF:
            return self.groups.get(value, "")
        if kind is op.AT:
            return ""
        raise ValueError(f"{kind} is not known here")

    def letter(self, kind: Any, value: Any) -> str:
        one = re.compile(_letter_source(kind, value), self.flags & (re.I | re.S | re.A))
        letters = frozenset(letter for letter in ALPHABET if one.fullmatch(letter))
        self.sets.append(letters)
        return min(letters, default=chr(value) if isinstance(value, int) else "?")


def _letter_source(kind: Any, value: Any) -> str:
    if kind is op.ANY:
        return "."
    if kind is op.LITERAL:
        return re.escape(chr(value))
    if kind is op.NOT_LITERAL:
        return f"[^{re.escape(chr(value))}]"
    classes = {
        op.CATEGORY_DIGIT: r"\d",
        op.CATEGORY_NOT_DIGIT: r"\D",
        op.CATEGORY_SPACE: r"\s",
        op.CATEGORY_NOT_SPACE: r"\S",
        op.CATEGORY_WORD: r"\w",
        op.CATEGORY_NOT_WORD: r"\W",
    }
    source = ""
    for name, of in value:
        if name is op.NEGATE:
            source += "^"
        elif name is op.LITERAL:
            source += re.escape(chr(of))
        elif name is op.RANGE:
            source += f"{re.escape(chr(of[0]))}-{re.escape(chr(of[1]))}"
        else:
            source += classes[of]
    return f"[{source}]"


def attacks(pattern: re.Pattern[str], *, pairs: bool = False) -> list[tuple[str, str, str]]:
    """Returns what makes texts hard: a beginning, what is repeated after it, an end.

    Args:
        pattern: The expression.
        pairs: Whether every pair of its letters is repeated, too.
    """
    shape = _Shape(pattern)
    letters = shape.letters()
    prefixes = list(dict.fromkeys(shape.prefixes))
    bodies = list(dict.fromkeys(filter(None, shape.bodies)))
    anywhere = [*letters, *bodies, *(body + letter for body in bodies for letter in letters)]
    begun = [prefix + letter for prefix in (*prefixes, shape.whole) for letter in ("", *letters)]
    tried = [*product(prefixes, dict.fromkeys(anywhere)), *product([""], filter(None, begun))]
    if pairs:
        tried += product(prefixes, map("".join, product(letters, repeat=2)))
        tried += product(prefixes, filter(None, begun))
    wrong = min(set(letters) - {"\n"}, key=lambda each: (each.isalnum(), each))
    return [(*each, end) for each in dict.fromkeys(tried) for end in ("", wrong)]


def work(expression: Expression) -> Callable[[str], object]:
    """Returns the dearest way in which the source uses an expression."""
    pattern, ways = expression.pattern, expression.anchored
    if not ways:
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return partial(_each, [getattr(pattern, way) for way in ways])


def _each(calls: list[Callable[[str], object]], text: str) -> None:
    for call in calls:
        call(text)


def steep(
    call: Callable[[str], object],
    text_of: Callable[[int], str],
    sizes: Sequence[int] = SIZES,
    readable: float = READABLE,
) -> str:
    """Returns how the effort grows where it grows faster than the text; empty if it does not.

    Only ratios count: each time is the best of several wherever it looks too long. One step that
    looks steep may be another program's doing, or the end of what an expression looks ahead; what
    is a square is so in the next step, too.
    """
    times: dict[int, float] = {}
    for half, size, double in zip(sizes, sizes[1:], [*sizes[2:], 2 * sizes[-1]], strict=False):
        if _steeper(call, text_of, half, size, times, readable):
            told = f"{half}: {times[half]:.4f} s, {size}: {times[size]:.4f} s"
            if _steeper(call, text_of, size, double, times, readable):
                return f"{told}, {double}: {times[double]:.4f} s"
    return ""


def _steeper(
    call: Callable[[str], object],
    text_of: Callable[[int], str],
    half: int,
    size: int,
    times: dict[int, float],
    readable: float,
) -> bool:
    """Returns whether the longer text takes too much longer, however often both are tried."""
    for at in (half, size):
        if at not in times:
            times[at] = _seconds(call, text_of(at))
    for _ in range(4):
        if times[size] < readable or times[size] <= STEEP * times[half]:
            return False
        for at in (half, size):
            times[at] = min(times[at], _seconds(call, text_of(at)))
    return times[size] > STEEP * times[half]


def repeated(attack: tuple[str, str, str], size: int) -> str:
    """Returns a text of about that size."""
    begin, pump, end = attack
    return begin + pump * (size // len(pump)) + end


def _seconds(call: Callable[[str], object], text: str) -> float:
    begin = time.thread_time()
    call(text)
    return time.thread_time() - begin
