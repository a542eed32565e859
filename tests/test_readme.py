"""The documentation, executed: its Python runs, its commands, settings and links exist.

The convention for README.md and the pages beside it and in docs/:

* ```` ```python ```` blocks run from top to bottom, in one namespace a document. README's are a
  plain script; elsewhere `await` may stand at the top level, as in a notebook. Each of their models
  is an endpoint on the loopback interface that plays Game of 24 by addition (`players.py`), under
  whatever name the text gives it: `openai:…`, or none. A comment `# → text` at the end of a line
  that is an expression states what the expression prints as, and is checked.
* ```` ```python no-run ```` blocks are only compiled.
* ```` ```sh ```` blocks (or bash, console): each `thoughtgraph …` runs, in a folder that has the
  files which the page speaks of; what another test runs is in `ELSEWHERE`. Their requests to a
  server are sent in `tests/live/test_served.py`.
* Relative links lead to files.
"""

import ast
import asyncio
import inspect
import json
import os
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.foreign_files import DATA
from support.players import add_up

from thoughtgraph.bench import data_download
from thoughtgraph.bench.data_sets import DataSet, Download

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


def as_run(words: list[str]) -> list[str]:
    """A command as it is run here: on two problems, by the model there is, without a network."""
    kept = [*words]
    for option in ("--model", "--judge"):
        if option in kept:
            at = kept.index(option)
            del kept[at : at + 2]
    for option, value in (("--problems", "1:2"), ("--sample", "2")):
        if option in kept:
            kept[kept.index(option) + 1] = value
    if "hotpotqa" in kept and "corpus=pages.jsonl" not in kept:
        kept += ["--set", "corpus=pages.jsonl"]
    runs = Path(os.environ["THOUGHTGRAPH_DATA"]) / "runs"
    return [next(runs.iterdir()).name if word == "RUN" else word for word in kept]


def calls(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(statement))


def defined_in(document: Path) -> str:
    """What the Python of a page imports and defines."""
    code = "\n".join(each.text for each in blocks(document) if each.language == "python")
    tree = compile(code, "page", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    kept: list[ast.stmt] = [
        each for each in tree.body if isinstance(each, kinds) or not calls(each)
    ]
    return ast.unparse(ast.Module(kept, []))


@pytest.fixture
def files(tmp_path: Path, anywhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the pages speak of, and homes of data sets that answer from memory."""

    def download(wanted: Download, file: Path, _: object) -> Path:
        assert isinstance(wanted, DataSet)
        file.write_text(DATA[wanted.task], encoding="utf-8")
        return file

    monkeypatch.setattr(data_download, "_download", download)
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    own = defined_in(ROOT / "docs" / "tasks.md")
    for name in ("haiku.py", "order.py"):
        (tmp_path / name).write_text(own, encoding="utf-8")
    lines = [{"problem": f"{number} pizzas", "gold": "{}"} for number in (1, 2)]
    (tmp_path / "orders.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "pages.jsonl").write_text('{"title": "Fidelio", "text": "An opera."}\n')
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as shop:
        shop.execute("CREATE TABLE customer (name TEXT)")
        shop.commit()
    (tmp_path / "sets").mkdir()
    (tmp_path / "runs").mkdir()
    known = ROOT / "bench" / "results" / "comparison" / "results.jsonl"
    (tmp_path / "runs" / "results-known.jsonl").symlink_to(known)
    puzzles = "".join(f"{rank},1 1 4 6,4.4\n" for rank in range(1, 1_001))
    sets = {
        "game24.csv": f"Rank,Puzzles,AMT (s)\n{puzzles}",
        "crosswords.json": DATA["crosswords"],
        "creative_writing.txt": DATA["creative_writing"],
    }
    for name, text in sets.items():
        (tmp_path / "sets" / name).write_text(text, encoding="utf-8")


ELSEWHERE = {
    "demo": "tests/test_demo.py runs it with its model",
    "--server": "tests/live/test_served.py runs it on a server",
    "comparison": "tests/test_suites.py runs it on the sets themselves",
    "grammar=true": "tests/live/test_local.py asks a model that takes one",
}
"""What a command line has that is run by another test."""


@pytest.mark.ci
@pytest.mark.parametrize(
    "document",
    [page for page in DOCUMENTS if any(invocations(page))],
    ids=lambda path: path.name,
)
def test_commands_of_the_documentation_run(document: Path, files: None, command: Command) -> None:
    stopped = command("solve", "4 9 10 13", "--task", "game24", "--limit", "requests=1")
    assert "--resume" in stopped[1]
    for words in invocations(document):
        if not ELSEWHERE.keys() & {*words}:
            code, _, err = command(*as_run(words))
            assert code in (0, 1), (words, err)


def test_relative_links_lead_to_files_and_each_page_is_listed_on_the_first() -> None:
    links = [
        (document, (document.parent / target).resolve())
        for document in DOCUMENTS
        for target in _LINK.findall(document.read_text(encoding="utf-8"))
    ]
    assert [(document.name, target) for document, target in links if not target.exists()] == []
    index = ROOT / "docs" / "index.md"
    assert {*DOCUMENTS} - {target for document, target in links if document == index} == {index}
