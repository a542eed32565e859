"""`thoughtgraph methods`, `tasks` and `models`: lists that import no method, task or model."""

import sys
from collections.abc import Iterable, Sequence
from typing import Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thoughtgraph import registry
from thoughtgraph.cli import text
from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.folders import cache_folder
from thoughtgraph.llm import local, weights
from thoughtgraph.llm.specifiers import default_specifier

PIPED_WIDTH = 160
"""Width in columns of a table that does not go to a terminal."""


def methods() -> None:
    """Prints a table with a row for each method."""
    rows = [(entry.id, entry.summary, entry.paper) for entry in registry.METHODS.values()]
    print_table(("method", "what it does", "paper"), rows)
    print("\n`thoughtgraph methods ID` shows a method's settings and the tasks it takes.")


def tasks() -> None:
    """Prints a table with a row for each task."""
    rows = [(entry.id, entry.summary, entry.example) for entry in registry.TASKS.values()]
    print_table(("task", "what it is", "example"), rows)


Whereabouts = Literal["cached", "packaged", "remote", "absent"]

FORMS = (
    ("local", "the embedded model: Qwen2.5-Coder-1.5B, run by llama.cpp in this process"),
    ("local:smollm2", "a tiny embedded model, for trying things out; too weak to solve much"),
    ("local:PATH.gguf", "any GGUF file"),
    ("openai:NAME", "OpenAI with OPENAI_API_KEY, or the server in OPENAI_BASE_URL"),
    (
        "http://HOST:PORT/v1#NAME",
        "any OpenAI-compatible server; its key: THOUGHTGRAPH_API_KEY=ADDRESS=KEY",
    ),
    (
        "PROVIDER:NAME",
        "anthropic, google_genai, mistralai, ollama, … by LangChain's package for it and the key "
        "it reads, such as langchain-anthropic and ANTHROPIC_API_KEY",
    ),
)
_PLACES: dict[Whereabouts, str] = {
    "cached": "in {folder}",
    "packaged": "installed",
    "remote": "not here; the first use downloads {size}",
    "absent": "not installed; `uv sync` in a checkout installs it",
}


def models() -> None:
    """Prints the forms of a specifier, the default and the weights."""
    print_table(("specifier", "model"), FORMS)
    print(
        f"\ndefault now: {default_specifier()}   ($THOUGHTGRAPH_MODEL, else openai:… when "
        "OPENAI_API_KEY is set, else local)\n"
    )
    rows = [(name, known.title, _place(known)) for name, known in weights.KNOWN.items()]
    print_table(("weights", "what they are", "where they are"), rows)


def _place(known: weights.Weights) -> str:
    """Returns where weights are, in words, and a remedy if llama.cpp is not installed."""
    place = _PLACES[whereabouts(known)]
    unusable = "" if local.installed() else f"; not usable yet: {local.REMEDY}"
    return place.format(folder=cache_folder(), size=text.size(known.size)) + unusable


def whereabouts(known: weights.Weights) -> Whereabouts:
    """Returns the place that weights would be loaded from now."""
    if (cache_folder() / known.file).is_file():
        return "cached"
    if weights.parts_of(known) is not None:
        return "packaged"
    return "absent" if known.url is None else "remote"


def confirm_download(name: str, console: Console) -> None:
    """Announces a download of weights; in a terminal, asks and raises if the user declines."""
    known = weights.KNOWN.get(name)
    if known is None or whereabouts(known) != "remote":
        return
    console.print(f"{known.title}, {text.size(known.size)}, is not here yet.", markup=False)
    console.print(f"It would be downloaded once from {known.url}", markup=False)
    if not (console.is_terminal and sys.stdin.isatty()):
        return
    if not typer.confirm("Download it?", default=True, err=console.stderr):
        raise ModelUnavailable(f"{known.title} was not downloaded; {weights.ALTERNATIVES}")


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table; its first column is never cut."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for at, title in enumerate(titles):
        table.add_column(title, no_wrap=at == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # brackets are not markup
    console.print(table)
