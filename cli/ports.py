"""Opens the models of a search, and asks before it downloads one."""

from importlib import import_module

from rich.console import Console

from thoughtgraph.cli.screen.fetch_bar import FetchBar
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.port import ChatPort


def open_port(specifier: str, console: Console) -> ChatPort:
    """Returns the port of a model specifier; the console announces and shows a download."""
    kind, _, name = specifier.partition(":")
    if kind == "local":
        import_module("thoughtgraph.cli.catalog").confirm_download(name or "local", console)
    with FetchBar(console, "loading the model") as bar:
        return port_for(specifier, progress=bar)
