"""The documentation, executed: its Python runs, its commands, settings and links exist.

The convention for README.md and the pages beside it and in docs/:

* ```` ```python ```` blocks run from top to bottom, in one namespace a document. README's are a
  plain script; elsewhere `await` may stand at the top level, as in a notebook. Each of their models
  is an endpoint on the loopback interface that plays Game of 24 by addition (`players.py`), under
  whatever name the text gives it: `openai:…`, or none. A comment `# → text` at the end of a line
  that is an expression states what the expression prints as, and is checked.
* ```` ```python no-run ```` blocks are only compiled.
* ```` ```sh ```` blocks (or bash, console): each `thoughtgraph …` names a command and options there
  are, methods, tasks and settings of the registry.
* Relative links lead to files.
"""

import ast
import asyncio
import inspect
import itertools
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main
from support.fake_server import FakeServer
from support.players import add_up

from thoughtgraph import registry
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.cli.app import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*sorted(ROOT.glob("[A-Z]*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SHELLS = ("sh", "bash", "console", "shell")
SCRIPT = "README.md"
"""The document whose blocks run as they stand, in a thread without an event loop."""

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
_STATES = re.compile(r"#\s*→\s*(.+?)\s*$")


class Block(NamedTuple):
    document: Path
    line: int
    """Number of the block's first line, so that failures point at the document."""
    language: str
    words: list[str]
    text: str


def blocks(document: Path) -> Iterator[Block]:
    source = document.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(source):
        language, *words = fence[1].split() or [""]
        line = source.count("\n", 0, fence.start()) + 2
        yield Block(document, line, language, words, fence[2])


def compiled(block: Block) -> Iterator[tuple[Any, str | None]]:
    """The statements of a block; the code of an expression comes with what it should print as."""
    tree = ast.parse("\n" * (block.line - 1) + block.text, str(block.document))
    lines = block.text.splitlines()
    flags = 0 if block.document.name == SCRIPT else ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for statement in tree.body:
        stated = _STATES.search(lines[(statement.end_lineno or 0) - block.line])
        name = str(block.document)
        if stated and isinstance(statement, ast.Expr):
            expression = ast.Expression(statement.value)
            yield compile(expression, name, "eval", flags), stated[1]
        else:
            yield compile(ast.Module([statement], []), name, "exec", flags), None


async def execute(block: Block, namespace: dict[str, Any]) -> None:
    for code, stated in compiled(block):
        if block.document.name == SCRIPT:
            result = await asyncio.to_thread(eval, code, namespace)
        else:
            result = eval(code, namespace)
        if inspect.iscoroutine(result):
            result = await result
        if stated is not None:
            assert str(result) == stated, f"{block.document.name}, block at line {block.line}"


@pytest.fixture
def anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, and an endpoint that answers for every model."""
    monkeypatch.chdir(tmp_path)
    with FakeServer(add_up) as server:
        monkeypatch.setenv("THOUGHTGRAPH_MODEL", server.specifier)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path / "cache"))
        yield


@pytest.mark.parametrize(
    "document",
    [page for page in DOCUMENTS if any(each.language == "python" for each in blocks(page))],
    ids=lambda path: path.name,
)
async def test_python_of_the_documentation_runs(document: Path, anywhere: None) -> None:
    namespace: dict[str, Any] = {"__name__": "documentation"}
    for block in blocks(document):
        if block.language == "python" and "no-run" in block.words:
            list(compiled(block))
        elif block.language == "python":
            await execute(block, namespace)


def invocations(document: Path) -> Iterator[list[str]]:
    """Yields what follows `thoughtgraph` in a command line, however it is started."""
    for block in blocks(document):
        lines = block.text.replace("\\\n", " ") if block.language in SHELLS else ""
        for part in re.split(r"&&|\||;|\n", lines):
            words = shlex.split(part.removeprefix("$ "), comments=True)
            at = words.index("thoughtgraph") if "thoughtgraph" in words else -1
            if at == 0 or (at > 0 and (words[0] in ("uv", "uvx", "pipx") or "=" in words[0])):
                yield words[at + 1 :]


def values(words: Sequence[str], option: str) -> list[str]:
    return [value for before, value in itertools.pairwise(words) if before == option]


def misnamed(words: list[str]) -> list[str]:
    """What a `thoughtgraph` command line names that does not exist."""
    group: Any = typer.main.get_command(app)
    command, rest = group, words
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        command, rest = command.commands.get(rest[0]), rest[1:]
    if command is None:
        return words[: len(words) - len(rest)]
    known = {"--help"}
    for parameter in command.params:
        known |= {*parameter.opts, *getattr(parameter, "secondary_opts", [])}
    wrong = [w for w in words if w.startswith("-") and w.partition("=")[0] not in known]
    sets = [part.id for name in values(words, "--suite") for part in suite(name).parts]
    for option, names in (("--method", registry.METHODS), ("--task", [*registry.TASKS, *sets])):
        given = [value for value in values(words, option) if ".py:" not in value]
        wrong += [name for value in given for name in value.split(",") if name not in names]
    settings = {name for each in registry.METHODS for name in registry.settings(each).model_fields}
    named = [value.partition("=")[0] for value in values(words, "--set")]
    named += [f"limit_{value.partition('=')[0]}" for value in values(words, "--limit")]
    return wrong + [name for name in named if name not in settings]


def test_what_command_lines_name_exists() -> None:
    found = [(doc.name, misnamed(words)) for doc in DOCUMENTS for words in invocations(doc)]
    assert len(found) > 25
    assert [each for each in found if each[1]] == []


def test_relative_links_lead_to_files_and_each_page_is_listed_on_the_first() -> None:
    links = [
        (document, (document.parent / target).resolve())
        for document in DOCUMENTS
        for target in _LINK.findall(document.read_text(encoding="utf-8"))
    ]
    assert [(document.name, target) for document, target in links if not target.exists()] == []
    index = ROOT / "docs" / "index.md"
    assert {*DOCUMENTS} - {target for document, target in links if document == index} == {index}
