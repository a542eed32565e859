"""Tables of definitions in the code: fields of a thought, codes of refusals, public data sets."""

import ast
import inspect
import re
from itertools import pairwise

from method_parts import code, table

from thoughtgraph import tree
from thoughtgraph.bench.data_sets import catalogue
from thoughtgraph.cli import text
from thoughtgraph.tools.scenes.values import FAULTS

_LIMIT = re.compile(r"`([A-Z]+_LIMIT)`")
"""The name of a limit in `tree`, which a page replaces by its number."""


def fields() -> str:
    """Returns a table of the fields of a thought, with their docstrings."""
    body = ast.parse(inspect.getsource(tree)).body
    thought = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == "Thought")
    rows = []
    for node, after in pairwise(thought.body):
        if isinstance(node, ast.AnnAssign):
            value = after.value if isinstance(after, ast.Expr) else None
            docstring = str(value.value) if isinstance(value, ast.Constant) else ""
            rows.append((code(ast.unparse(node.target)), _plain(docstring)))
    return table(("field", "meaning"), rows)


def _plain(docstring: str) -> str:
    docstring = _LIMIT.sub(lambda match: f"{getattr(tree, match[1]):,}", docstring)
    return " ".join(docstring.split())


def faults() -> str:
    """Returns a table of the codes for refused plans and their meanings."""
    return table(("code", "what is wrong"), [(code(name), why) for name, why in FAULTS.items()])


def data_sets() -> str:
    """Returns a table of the public data sets that can be downloaded."""
    rows = [
        (
            code(each.name),
            each.title,
            f"{each.entries:,}",
            "not known beforehand" if each.size is None else text.size(each.size),
            each.licence,
            f"[{each.home.partition('://')[2]}]({each.home})",
        )
        for each in catalogue().sets.values()
    ]
    return table(("name", "what it is", "problems", "download", "licence", "home"), rows)
