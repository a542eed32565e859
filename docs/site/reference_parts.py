"""Tables of what the code defines: fields of a thought, codes of refusals, public data sets."""

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
"""A limit of the tree by its name, which a page tells as a number."""


def fields() -> str:
    """Returns what the fields of a thought mean, as the code says it."""
    body = ast.parse(inspect.getsource(tree)).body
    thought = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == "Thought")
    rows = []
    for node, after in pairwise(thought.body):
        if isinstance(node, ast.AnnAssign):
            value = after.value if isinstance(after, ast.Expr) else None
            told = str(value.value) if isinstance(value, ast.Constant) else ""
            rows.append((code(ast.unparse(node.target)), _plain(told)))
    return table(("field", "meaning"), rows)


def _plain(told: str) -> str:
    told = _LIMIT.sub(lambda named: f"{getattr(tree, named[1]):,}", told)
    return " ".join(told.split())


def faults() -> str:
    """Returns what the codes mean with which plans are refused."""
    return table(("code", "what is wrong"), [(code(name), why) for name, why in FAULTS.items()])


def data_sets() -> str:
    """Returns what public data sets can be downloaded."""
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
