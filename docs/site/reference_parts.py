"""The reference: fields of a thought, codes of refusals, public names with their docstrings."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import thoughtgraph
from thoughtgraph import acting, planning, reasoning, task, tree
from thoughtgraph.tools.scenes.values import FAULTS

PAGES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "calling": {
        "Searching": [
            f"thoughtgraph.{name}"
            for name in ("build", "solve", "node", "runnable", "subagent", "tool")
        ],
        "Results": [
            f"thoughtgraph.{name}"
            for name in ("Result", "save", "html", "Thought", "children_of", "path_to")
        ],
        "Limits and servers": [f"thoughtgraph.{name}" for name in ("Limits", "Usage", "Policy")],
    },
    "models": {
        "Models": [f"thoughtgraph.{name}" for name in ("ChatPort", "Draw", "Rates", "Retry")],
        "A scripted model, for tests": [
            "thoughtgraph.ScriptedChat",
            "thoughtgraph.llm.scripted.Call",
            "thoughtgraph.llm.scripted.UnexpectedCall",
        ],
        "Settings": ["thoughtgraph.settings.Settings"],
        "Checkpoints": ["thoughtgraph.checkpoints.CompressingSerializer"],
        "Tools": ["thoughtgraph.tools.costs.Priced"],
    },
}
"""The pages of the reference by their headings; errors and tasks are found."""
TASKS = (task, reasoning, acting, planning)
"""What a task of one's own may be able to do."""


_LIMIT = re.compile(r"`([A-Z]+_LIMIT)`")
"""A limit of the tree by its name, which a page tells as a number."""


def fields() -> str:
    """Returns what the fields of a thought mean, as the code says it."""
    source = ast.parse(inspect.getsource(tree))
    kinds = [node for node in source.body if isinstance(node, ast.ClassDef)]
    kinds.sort(key=lambda kind: kind.name != "Thought")
    return "\n\n".join(_fields(kind) for kind in kinds)


def _fields(kind: ast.ClassDef) -> str:
    lines = [f"## `{kind.name}`", "", _plain(ast.get_docstring(kind) or ""), ""]
    lines += ["| field | type | meaning |", "|---|---|---|"]
    for node, after in pairwise([*kind.body, ast.Pass()]):
        if isinstance(node, ast.AnnAssign):
            value = after.value if isinstance(after, ast.Expr) else None
            told = str(value.value) if isinstance(value, ast.Constant) else ""
            typed = ast.unparse(node.annotation).replace("|", "or").strip("'\"")
            lines.append(f"| `{ast.unparse(node.target)}` | `{typed}` | {_plain(told)} |")
    return "\n".join(lines)


def _plain(told: str) -> str:
    told = _LIMIT.sub(lambda named: f"{getattr(tree, named[1]):,}", told)
    return " ".join(told.split()).replace("|", "\\|")


def faults() -> str:
    """Returns what the codes mean with which plans are refused."""
    rows = [f"| `{code}` | {meaning} |" for code, meaning in FAULTS.items()]
    return "\n".join(["| code | what is wrong |", "|---|---|", *rows])


def groups(page: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the headings of a page of the reference, each with the paths of what is under it.

    Args:
        page: `calling`, `models` or `tasks`.
    """
    if page == "tasks":
        for module in TASKS:
            yield (module.__doc__ or "").split("\n")[0].rstrip("."), list(_classes(module))
        return
    for title, paths in PAGES[page].items():
        yield title, list(paths)
    if page == "calling":
        errors = [name for name in thoughtgraph.__all__ if _is_error(getattr(thoughtgraph, name))]
        yield "Errors", [f"thoughtgraph.{name}" for name in errors]


def _is_error(found: Any) -> bool:
    return inspect.isclass(found) and issubclass(found, Exception)


def _classes(module: Any) -> Iterator[str]:
    for name, found in vars(module).items():
        if inspect.isclass(found) and found.__module__ == module.__name__ and name[0] != "_":
            yield f"{module.__name__}.{name}"


def named(path: str) -> Any:
    """Returns what a path of the reference names."""
    module, _, name = path.rpartition(".")
    return getattr(__import__(module, fromlist=["_"]), name)


def names(page: str) -> str:
    """Returns the reference for GitHub: each name with the first line of what is said of it."""
    parts = []
    for title, paths in groups(page):
        rows = [f"| `{path}` | {_first(path)} |" for path in paths]
        parts.append("\n".join([f"## {title}", "", "| name | what it is |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _first(path: str) -> str:
    return _plain((inspect.getdoc(named(path)) or "").split("\n\n")[0])


def docstrings(page: str) -> str:
    """Returns the reference for the site: the docstrings, read by Sphinx."""
    parts = []
    for title, paths in groups(page):
        parts += [f"## {title}", "", "```{eval-rst}", *map(_directive, paths), "```", ""]
    return "\n".join(parts)


def _directive(path: str) -> str:
    if inspect.isclass(named(path)):
        return f".. autoclass:: {path}\n   :members:\n   :undoc-members:\n"
    return f".. autofunction:: {path}\n"
