"""Parses plans of tool calls safely: text from a model is never evaluated.

A step is one assignment of one tool call, `obj1 = filter_object("table",all_obj)`. `steps_of` finds
the lines of a completion that are meant as steps, and `parse` parses one. Limits protect Python's
`ast`, which parses the text; only a closed list of syntax forms is accepted.
"""

import ast
import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from thoughtgraph.tools.scenes.scene_tools import TOOLS
from thoughtgraph.tools.scenes.values import LARGEST, PlanError
from thoughtgraph.tools.scenes.vocabulary import LONGEST_WORD

ALL = "all_obj"
"""The name of all objects of the scene: predefined, read-only."""
ANSWER = "ans"
"""The name whose assignment ends a plan."""

SOURCE = "<plan>"
"""File name for Python's parser, which looks for such a file to quote a faulty line."""

LONGEST_LINE = 400
"""Maximum characters of a line."""
DEEPEST = 4
"""Maximum nesting depth of brackets."""
LONGEST_LIST = 8
"""Maximum items of a list."""


@dataclass(frozen=True, slots=True)
class Name:
    """An argument that is the name of an earlier value."""

    name: str


Constant = str | int
Argument = Constant | Name | tuple[Constant | Name, ...]


class Step(NamedTuple):
    """One step: `target = tool(arguments)`."""

    target: str
    tool: str
    arguments: tuple[Argument, ...]


_FOLDED = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **{"\uff08": "(", "\uff09": ")", "\uff0c": ",", "\uff1d": "=", "\uff1a": ":"},
        **{"\u00a0": " ", "\t": " ", "\u2022": "-", "\u2013": "-", "\u2014": "-"},
    }
)
_LINES = re.compile(r"\r\n|\r|\n")
_STEP_MARK = re.compile(r"(?i)(?<!^)\bstep ?\d{1,4} ?[:.)]")
_BEGIN = r"(?i)[ `>]*+(?:(?:[-*+]|#{2,6}) ++)?+[ `*]*+"
_LABEL = r"(?:step ?#?\d{1,4}[ *]*+(?:[:.)]|- |$)|\(?\d{1,4} ?\\?[.:)](?!\d))?+"
_PREFIX = re.compile(rf"{_BEGIN}{_LABEL}[ `*]*+")
_STEP_LIKE = re.compile(
    rf"{_BEGIN}(?:step ?#?\d|(?:\(?\d{{1,4}} ?\\?[.:)][ `*]*+)?+[a-z_][a-z_0-9]*+ ?=(?!=))"
)
_TARGET = re.compile(r"[a-z][a-z_]{0,15}\d{0,3}")
_ESCAPE = re.compile(r"\\(?![\\'\"abfnrtvxuUN0])")
_GLUED = re.compile(r"(?<![\w.])(?>[\w.]*?\b\d)[\w.]*?(?:and|else|for|if|in|is|or|not)\b")


def steps_of(text: str, limit: int | None = None) -> list[str]:
    r"""Returns the lines of a completion that look like steps, in order.

    Code fences and the text before the first step, or between a fence and the next step, are
    dropped. A line that starts with "Question:" ends the plan. Several steps on one line are split
    at "Step 2:". The lines are returned as they are: `parse` cleans them.

    Args:
        text: The completion.
        limit: Maximum number of steps; None for all.

    >>> steps_of('Sure!\nStep 1:obj1 = f(1) Step 2:ans = g(obj1)\nQuestion: what?')
    ['Step 1:obj1 = f(1)', 'Step 2:ans = g(obj1)']
    """
    steps: list[str] = []
    begun = False
    for line in _LINES.split(text):
        stripped = line.strip()
        if stripped.startswith("Question:"):
            break
        begun = begun and not stripped.startswith("```")
        for piece in _pieces(stripped):
            if clean(piece) and (begun or _STEP_LIKE.match(piece.translate(_FOLDED))):
                begun = True
                steps.append(piece)
        if limit is not None and len(steps) >= limit:
            break
    return steps[:limit]


def clean(line: str) -> str:
    """Strips a line's number and Markdown, and makes its quotes ASCII; a comment becomes empty."""
    if len(line) > LONGEST_LINE:
        return line
    plain = line.translate(_FOLDED).replace("\\_", "_")
    match = _PREFIX.match(plain)
    body = plain[match.end() :] if match else plain
    body = body.rstrip(" `;*.")
    return "" if body.startswith(("#", "```")) else body


def parse(line: str) -> Step:
    """Parses one step.

    Args:
        line: The line, with or without "Step 3:" and other decoration.

    Raises:
        PlanError: The line is no step. The code says why: E_LIMIT too long, too deep or too
            large, E_SYNTAX not readable, E_STMT not one assignment of one call of plain arguments,
            E_FUNC no such tool, E_ARITY wrong number of arguments or keywords, E_NAME a target that
            may not be assigned, E_TYPE a constant that is neither text nor whole number.
    """
    call, target = _call(_assignment(line))
    if not isinstance(call.func, ast.Name) or call.func.id not in TOOLS:
        name = call.func.id if isinstance(call.func, ast.Name) else "what is called"
        raise PlanError("E_FUNC", f"{name} is no tool")
    if not _TARGET.fullmatch(target) or target in TOOLS or target == ALL:
        raise PlanError("E_NAME", f"{target[:20]} cannot be assigned")
    tool = TOOLS[call.func.id]
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    if call.keywords or starred or not tool.takes(len(call.args)):
        raise PlanError("E_ARITY", f"the tool is called {tool.signature}")
    return Step(target, tool.name, tuple(_argument(each) for each in call.args))


def _pieces(line: str) -> list[str]:
    if len(line) > LONGEST_LINE * 100:
        return [line]
    cuts = [0, *(match.start() for match in _STEP_MARK.finditer(line)), len(line)]
    pieces = [line[a:b].strip() for a, b in pairwise(cuts)]
    return [piece for piece in pieces if piece.strip("-*+ ")]


def _assignment(line: str) -> ast.stmt:
    if len(line) > LONGEST_LINE:
        raise PlanError("E_LIMIT", f"a line of {len(line)} letters is too long")
    body = clean(line)
    if not body.isascii() or not body.isprintable():
        raise PlanError("E_SYNTAX", "the line has letters that no step has")
    if _depth(body) > DEEPEST:
        raise PlanError("E_LIMIT", "the brackets are nested too deep")
    if _ESCAPE.search(body) or _GLUED.search(body):
        raise PlanError("E_SYNTAX", "the line is no step")  # Python only warns of these
    try:
        statements = ast.parse(body, SOURCE).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise PlanError("E_SYNTAX", "the line is no step") from None
    if not statements:
        raise PlanError("E_SYNTAX", "the line is empty")
    if len(statements) > 1:
        raise PlanError("E_STMT", "a line holds one step")
    return statements[0]


def _call(statement: ast.stmt) -> tuple[ast.Call, str]:
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and isinstance(statement.value, ast.Call)
    ):
        return statement.value, statement.targets[0].id
    raise PlanError("E_STMT", "a step assigns one tool call to one name")


def _argument(node: ast.expr) -> Argument:
    if isinstance(node, ast.List):
        if len(node.elts) > LONGEST_LIST:
            raise PlanError("E_LIMIT", f"a list of {len(node.elts)} items is too long")
        return tuple(_atom(each) for each in node.elts)
    return _atom(node)


def _atom(node: ast.expr) -> Constant | Name:
    if isinstance(node, ast.Name):
        return Name(node.id)
    if not isinstance(node, ast.Constant):
        raise PlanError("E_STMT", "an argument is a name, a text, a number or a list of them")
    value = node.value
    if type(value) is str and node.kind is None:
        if len(value) > LONGEST_WORD:
            raise PlanError("E_LIMIT", f"a text of {len(value)} letters is too long")
        return value
    if type(value) is int:
        if value > LARGEST:
            raise PlanError("E_LIMIT", "a number is out of bounds")
        return value
    raise PlanError("E_TYPE", "a constant is a text or a whole number")


def _depth(body: str) -> int:
    nested = accumulate((letter in "([{") - (letter in ")]}") for letter in body)
    return max(nested, default=0)
