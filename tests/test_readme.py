"""The documentation, executed: its Python runs, its commands and links exist.

The convention for README.md, ARCHITECTURE.md, CONTRIBUTING.md and the pages of docs/:

* ```` ```python ```` blocks run from top to bottom, in one namespace a document. README's are a
  plain script; elsewhere `await` may stand at the top level, as in a notebook. Each of their models
  is an endpoint on the loopback interface that plays Game of 24 by addition (`players.py`), under
  whatever name the text gives it: `openai:…`, or none. A comment `# → text` at the end of a line
  that is an expression states what the expression prints as, and is checked.
* ```` ```python no-run ```` blocks are only compiled.
* ```` ```sh ```` blocks (or bash, console): each `thoughtgraph …` names a command and options there
  are, methods and tasks of the registry; every `--group` and extra is in pyproject.toml.
* Relative links lead to files.
* A paragraph has at most 90 words: figures go into tables, and what is long is two thoughts.
"""

import ast
import asyncio
import inspect
import itertools
import re
import shlex
import tomllib
from collections.abc import Iterator
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
NAMES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTS = [ROOT / name for name in NAMES if (ROOT / name).exists()]
DOCUMENTS += sorted((ROOT / "docs").rglob("*.md"))
SHELLS = ("sh", "bash", "console", "shell")
NO_RUN = "no-run"
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
            module = ast.Module([statement], [])
            yield compile(module, name, "exec", flags), None


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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
async def test_python_of_the_documentation_runs(document: Path, anywhere: None) -> None:
    namespace: dict[str, Any] = {"__name__": "documentation"}
    for block in blocks(document):
        if block.language != "python":
            continue
        if NO_RUN in block.words:
            list(compiled(block))
        else:
            await execute(block, namespace)


def command_lines(document: Path) -> Iterator[list[str]]:
    for block in blocks(document):
        if block.language not in SHELLS:
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|\||;", line.removeprefix("$ ")):
                if words := shlex.split(part, comments=True):
                    yield words


def invocation(words: list[str]) -> list[str] | None:
    """What follows `thoughtgraph` in a command line, however it is started; None for others."""
    at = next((i for i, word in enumerate(words) if word == "thoughtgraph"), None)
    if at is None or (at and words[0] not in ("uv", "uvx", "pipx") and "=" not in words[0]):
        return None
    return words[at + 1 :]


def misnamed(words: list[str]) -> list[str]:
    """What a `thoughtgraph` command line names that does not exist."""
    group: Any = typer.main.get_command(app)
    command, rest = group, words
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        command, rest = command.commands.get(rest[0]), rest[1:]
    if command is None:
        return words[: len(words) - len(rest)]
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    known |= {option for p in command.params for option in getattr(p, "secondary_opts", [])}
    wrong = [w for w in words if w.startswith("-") and w.partition("=")[0] not in known]
    sets = [
        part.id
        for option, name in itertools.pairwise(words)
        if option == "--suite"
        for part in suite(name).parts
    ]
    for option, names in (("--method", registry.METHODS), ("--task", [*registry.TASKS, *sets])):
        given = [b for a, b in itertools.pairwise(words) if a == option]
        own = [value for value in given if ".py:" in value]  # a task in a file of the reader's
        wrong += [n for v in given if v not in own for n in v.split(",") if n not in names]
    return wrong


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_of_the_documentation_exist(document: Path) -> None:
    wrong = {
        " ".join(words): missing
        for words in command_lines(document)
        if (arguments := invocation(words)) is not None and (missing := misnamed(arguments))
    }
    assert not wrong


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_groups_and_extras_of_the_documentation_exist(document: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    for words in command_lines(document):
        for option, name in itertools.pairwise(words):
            assert option != "--group" or name in groups, words
            assert option != "--extra" or name in extras, words
        for found in re.findall(r"thoughtgraph\[([\w,]+)\]", " ".join(words)):
            assert set(found.split(",")) <= set(extras), words


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_to_files(document: Path) -> None:
    for target in _LINK.findall(document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def paragraphs(document: Path) -> Iterator[str]:
    """Paragraphs and items of lists; no headings, tables and code."""
    text = _FENCE.sub("", document.read_text(encoding="utf-8"))
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", text):
        lines = [line for line in part.splitlines() if not line.startswith(("|", "#"))]
        yield " ".join(lines)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paragraphs_are_short(document: Path) -> None:
    long = [(len(p.split()), p[:60]) for p in paragraphs(document) if len(p.split()) > LONGEST]
    assert not long


LONGEST = 90
"""Words of a paragraph."""

SAMPLE = """
```python
import thoughtgraph as tg
graph = tg.build("tot_bfs", task="game24", model="openai:gpt-4o-mini")
out = await graph.ainvoke({"problem": "2 4 7 11"}, context={"breadth": 1})
out["stop_reason"]  # → finished
```

```python
default = tg.build("io", task="game24")
(await default.ainvoke({"problem": "2 4 7 11"}))["answer"]  # → 2 + 4 + 7 + 11
```

```python no-run
await something_that_is_not_there()
```

```sh
uv run thoughtgraph solve "4 9 10 13" --task game24 --method tot_bfs
OPENAI_API_KEY=x thoughtgraph solv --frob | cat
thoughtgraph solve --metod tot_bfs --task game25
```
"""


async def test_the_convention_runs_blocks_in_order(tmp_path: Path, anywhere: None) -> None:
    document = tmp_path / "sample.md"
    document.write_text(SAMPLE)
    await test_python_of_the_documentation_runs(document, None)


async def test_the_convention_finds_a_wrong_statement(tmp_path: Path, anywhere: None) -> None:
    document = tmp_path / "sample.md"
    document.write_text(SAMPLE.replace("→ finished", "→ budget"))
    with pytest.raises(AssertionError, match="line 3"):
        await test_python_of_the_documentation_runs(document, None)


def test_the_convention_finds_wrong_commands(tmp_path: Path) -> None:
    document = tmp_path / "sample.md"
    document.write_text(SAMPLE)
    found = [misnamed(w) for words in command_lines(document) if (w := invocation(words))]
    assert found == [[], ["solv"], ["--metod", "game25"]]


def test_every_variable_that_is_read_is_documented() -> None:
    packages = ("core", "cli", "tools", "tasks", "nodes", "graphs", "bench")
    code = "".join(file.read_text() for name in packages for file in (ROOT / name).rglob("*.py"))
    read = set(re.findall(r"(?:THOUGHTGRAPH|OPENAI)_[A-Z_]+[A-Z]", code)) - FOREIGN
    told = "".join((ROOT / "docs" / name).read_text() for name in ("command.md", "serving.md"))
    assert read
    assert [name for name in sorted(read) if f"`{name}`" not in told] == []


FOREIGN = {"OPENAI_CUSTOM_HEADERS", "OPENAI_API_BASE"}
"""Named by the code to say that they are not read."""
