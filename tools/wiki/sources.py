"""Builds the tools of a run over a source of pages, by the source's name."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from os import environ
from os.path import expanduser
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from thoughtgraph.acting import Toolbox
from thoughtgraph.errors import InputError
from thoughtgraph.folders import cache_folder
from thoughtgraph.settings.acting import Recording
from thoughtgraph.tools.costs import Cost, Priced, with_costs
from thoughtgraph.tools.deadline import DEADLINE
from thoughtgraph.tools.toolbox import ToolSet
from thoughtgraph.tools.wiki.pages import Backend, Checkable, PagesError, errors_as
from thoughtgraph.tools.wiki.search_tools import Style, finish_tool, search_tools

COSTS: Mapping[str, Cost] = {"Finish": 0.0}
"""Cost of a call unless the caller sets another; a tool not listed costs 1 (ours)."""
COMMUNITY = "community"
MOST_WIKIS = 64
"""Sources that are kept open (ours); a wiki counts once for each deadline in use."""
MARGIN = 0.9
"""Share of a tool's deadline for its backend (ours), whose error explains more than a timeout."""


def toolbox(
    source: str | Backend = "wikipedia",
    *,
    name: str = "",
    style: Style = "clean",
    costs: Mapping[str, Cost] | None = None,
    contact: str = "",
    extra: Sequence[Priced | BaseTool] = (),
    deadline: float = DEADLINE,
    recording: Recording = "keep",
) -> Toolbox:
    """Returns Search, Lookup and Finish over a source of pages, and the user's own tools.

    Args:
        source: `wikipedia` (English), `wikipedia:de`, the API address of any MediaWiki, a file of
            pages (see `thoughtgraph.tools.wiki.corpus`), or a backend of the caller's own. With
            `community` or `community:de`, Search is LangChain community's Wikipedia tool, and there
            is no Lookup.
        name: The source's name among a server's clients. If set, errors say only this name and
            the kind of failure; the details are logged.
        style: How observations read: `clean`, or `react` for the paper's code.
        costs: Costs by tool name; the other tools cost 1, Finish 0.
        contact: An address at which a wiki's operator can reach the operator of this program; sent
            to live wikis. Empty: `$THOUGHTGRAPH_CONTACT`.
        extra: The user's own LangChain tools; one without a price costs 1 a call.
        deadline: Seconds a call may take.
        recording: How long a live wiki's answers are kept in the user's cache folder.

    Raises:
        InputError: The source is none of these, a corpus cannot be read, a tool is no LangChain
            tool, or a price is no number of at least 0.
        UnknownName: A cost names a tool that does not exist.
    """
    if isinstance(source, str):
        with errors_as(name):
            backend = open_backend(source, contact, MARGIN * deadline, recording)
    else:
        backend = source
    if isinstance(source, str) and source.partition(":")[0] == COMMUNITY:
        community: Any = import_module("thoughtgraph.tools.wiki.community")
        search = Priced(community.community_tool(backend, name), failed=community.found_nothing)
        own = [search, Priced(finish_tool())]
    else:
        own = [Priced(tool) for tool in search_tools(backend, style=style, name=name)]
    priced = with_costs(own, extra, {**COSTS, **(costs or {})})
    return ToolSet(priced, deadline=deadline, check=partial(_problem_of, backend, name))


def open_backend(
    source: str,
    contact: str = "",
    deadline: float = MARGIN * DEADLINE,
    recording: Recording = "keep",
) -> Backend:
    """Returns the backend that serves the pages of a source.

    Equal arguments give the same object: all runs of a process share one index, and one rate of
    requests.

    Args:
        source: See `toolbox`.
        contact: See `toolbox`.
        deadline: Seconds for finding a page in a live wiki.
        recording: See `toolbox`.

    Raises:
        InputError: The source is unknown or cannot be used.
    """
    kind, _, language = source.partition(":")
    if kind in ("", "wikipedia", COMMUNITY):
        address = f"https://{_language(language or 'en')}.wikipedia.org/w/api.php"
    elif kind in ("http", "https"):
        address = source
    else:
        return _corpus(source)
    contact = contact or environ.get("THOUGHTGRAPH_CONTACT", "")
    return _live(address, cache_folder(), contact, deadline, recording)


@lru_cache(maxsize=MOST_WIKIS)
def _live(
    address: str, folder: Path, contact: str, deadline: float, recording: Recording
) -> Backend:
    module: Any = import_module("thoughtgraph.tools.wiki.wikipedia")
    file = folder / "wikipedia.sqlite"
    backend: Backend = module.Wikipedia(
        address, file, contact=contact, deadline=deadline, recording=recording
    )
    return backend


def _corpus(source: str) -> Backend:
    file = Path(expanduser(source))
    try:
        status = file.stat()
    except OSError as error:
        raise InputError(
            f"cannot use {source!r} as a source of pages ({error.strerror}); give wikipedia, "
            "wikipedia:LANGUAGE, https://HOST/PATH/api.php, community or a file of pages"
        ) from error
    return _indexed(file.resolve(), cache_folder() / "corpora", status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=MOST_WIKIS)
def _indexed(file: Path, folder: Path, modified: int, size: int) -> Backend:
    module: Any = import_module("thoughtgraph.tools.wiki.corpus")
    backend: Backend = module.Corpus.open(file, folder)
    return backend


def _language(code: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{1,30}", code):
        raise InputError(f"{code!r} is no language of Wikipedia; give a code such as 'de'")
    return code


async def _problem_of(backend: Backend, name: str) -> str:
    try:
        if isinstance(backend, Checkable):
            with errors_as(name):
                await backend.check()
    except PagesError as error:
        return f"{error}; a file of pages can be searched instead"
    return ""
