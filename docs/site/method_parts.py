"""Parts of the pages of methods: boxes, tasks, settings with their sources."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.cli.describe import FITS, bounds, default, fit
from thoughtgraph.settings import CHOICES, Settings

ROOT = Path(__file__).resolve().parents[2]
NEEDS: Mapping[str, str] = {
    "Acts": "tools",
    "Answers": "a question",
    "Checks": "an exact check",
    "Concludes": "an answer on demand",
    "Estimates": "a judge of steps",
    "Extracts": "a request for first steps",
    "Inspects": "a judge of parts",
    "Judges": "a judge of answers, or an oracle",
    "Moves": "tools",
    "Plans": "steps that can be run",
    "Proposes": "proposals",
    "Refines": "a request to improve",
    "Reflects": "a request for lessons",
    "Reviews": "a review of steps",
    "Samples": "samples of steps",
    "Steps": "reasoning steps",
    "Values": "a judge of states",
    "Verifies": "a judge of answers",
    "Votes": "votes among states",
}
"""The capabilities of a task in the words of the tables, by protocol."""
METHOD_PAGES = ROOT / "docs" / "methods"
_LISTED = re.compile(r"<!-- made: settings ([\w ]+?) -->")
"""The mark that names the methods whose own settings a page lists."""
_RANGE = re.compile(r"(?:whole )?number( or none)? ((?:from )?\S*\d)")
"""The words for a number with bounds: a table shows only the bounds, and none for on or off."""
Row = tuple[str, ...]


def table(titles: Row, rows: Iterable[Row]) -> str:
    """Returns a Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


def code(words: str) -> str:
    """Returns words as Markdown code; empty without words."""
    return f"`{words}`" if words else ""


def graph_file(method: str) -> Path:
    """Returns the file of a method's graph."""
    return ROOT / "graphs" / f"{registry.METHODS[method].method.partition(':')[0]}.py"


def box(method: str) -> str:
    """Returns the paper's box: the docstring of the file with a method's graph."""
    docstring = ast.get_docstring(ast.parse(graph_file(method).read_text(encoding="utf-8")))
    return f"```text\n{docstring}\n```"


def facts(*methods: str) -> str:
    """Returns the paper and graph of methods, and a table of requests, needs and tasks."""
    alike: dict[Row, list[str]] = {}
    for name in methods:
        row = (registry.METHODS[name].requests, needs_of(name), "; ".join(_tasks(name)))
        alike.setdefault(row, []).append(name)
    rows = [(", ".join(map(code, names)), *row) for row, names in alike.items()]
    file = graph_file(methods[0]).relative_to(ROOT)
    return (
        f"{registry.METHODS[methods[0]].paper}. Graph: [{file}](../../{file}).\n\n"
        f"{table(('method', 'requests per problem', 'needs', 'tasks'), rows)}"
    )


def _tasks(method: str) -> Iterator[str]:
    for how in FITS:
        if names := [code(task) for task in registry.TASKS if fit(method, task) == how]:
            yield f"{', '.join(names)}{how and f' ({how})'}"


def needs_of(method: str) -> str:
    """Returns the capabilities that a method needs, by its settings for the first task it takes."""
    first = next(task for task in registry.TASKS if fit(method, task) is not None)
    settings = effective_settings(method, registry.task(first))
    needs = registry.settings(method).model_construct(**settings).needs()
    return ", ".join(dict.fromkeys(NEEDS[each.__name__] for each in needs))


def settings(*methods: str) -> str:
    """Returns a table of the settings that only these methods have, and names those they share."""
    own, shared = [], []
    for setting, owners in _settings().items():
        mine = [each for each in owners if each in methods]
        if mine and set(owners) <= set(methods):
            name = code(setting.name) + _owners(mine, methods)
            own.append((name, *setting.cells()))
        elif mine and code(setting.name) not in shared:
            shared.append(code(setting.name))
    also = f"{', '.join(shared)} and " if shared else ""
    return (
        f"{table(('setting', 'default', 'values', 'meaning and source'), own)}\n\n"
        f"Also {also}[those of every method](settings.md)."
    )


def common_settings() -> str:
    """Returns a table of the settings that methods of several pages share."""
    texts = [page.read_text(encoding="utf-8") for page in METHOD_PAGES.glob("*.md")]
    pages = [set(match[1].split()) for text in texts if (match := _LISTED.search(text))]
    rows = [
        (code(setting.name), *setting.cells(), _families(owners))
        for setting, owners in _settings().items()
        if not any(set(owners) <= page for page in pages)
    ]
    return table(("setting", "default", "values", "meaning and source", "methods"), rows)


def _families(methods: Sequence[str]) -> str:
    """Returns the names of methods; one name, such as `itot_*`, stands for a whole family."""
    names = list(methods)
    for family in ("itot_", "tomt_"):
        members = [each for each in registry.METHODS if each.startswith(family)]
        if set(members) <= set(methods):
            names = [each for each in names if each not in members[1:]]
            names[names.index(members[0])] = f"{family}*"
    return ", ".join(map(code, names))


class Setting(NamedTuple):
    """A setting as pages show it."""

    name: str
    default: str
    values: str
    meaning: str

    def cells(self) -> Row:
        """Returns the cells of its row except the name."""
        return code(self.default), code(self.values), self.meaning


def _setting(name: str, info: FieldInfo) -> Setting:
    values = _RANGE.sub(r"\2\1", bounds(info)).replace("true | false", "")
    return Setting(name, default(info, None), values, info.description or "")


@cache
def _settings() -> Mapping[Setting, Sequence[str]]:
    """Returns the settings that not every method has, with the methods that have them."""
    methods: dict[Setting, list[str]] = {}
    shared = {_setting(name, info) for name, info in Settings.model_fields.items()}
    for method in registry.METHODS:
        for name, info in registry.settings(method).model_fields.items():
            setting = _setting(name, info)
            if name not in CHOICES and setting not in shared:
                methods.setdefault(setting, []).append(method)
    return methods


def _owners(some: Sequence[str], methods: Sequence[str]) -> str:
    return "" if len(some) == len(methods) else f" ({', '.join(map(code, some))})"


def shared_settings() -> str:
    """Returns a table of the settings that every method has."""
    fields = [_setting(name, info) for name, info in Settings.model_fields.items()]
    rows = [(code(each.name), *each.cells()) for each in fields]
    return table(("setting", "default", "values", "meaning and source"), rows)
