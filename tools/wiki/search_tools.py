"""Search, Lookup and Finish: ReAct's tools as functions of their argument and a frozen cursor.

The cursor is where a reader stands: on which page, after which result. It is plain JSON, belongs to
one thought (`tool_state`) and is never changed, only replaced, so that branches of a tree cannot
see each other's reading.

Two styles. `clean` (ours): a miss leaves no page behind, an observation is the lead of the page.
`react`: what the code of ReAct does (ysymyth/ReAct, `wikienv.py`): a miss keeps the page before it,
an observation is the first sentences of the whole page, full stops at the end of paragraphs are
doubled, keywords that differ in case start again.

The tools are LangChain tools, for any agent. There the cursor travels as the artifact of the last
tool message of the conversation, so an agent needs no state of its own for it.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Literal, NamedTuple

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, tool
from langgraph.prebuilt import InjectedState
from pydantic import TypeAdapter

from thoughtgraph.errors import InputError
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tools.wiki.pages import Backend, Page, PagesError, Similar, errors_as

Style = Literal["clean", "react"]

MOST_SENTENCES = 5
"""Sentences of a page that Search shows (ReAct's code)."""
SHORTEST_PARAGRAPH = 2
"""Words of the paragraphs that the `react` style leaves out (ReAct's code)."""
NO_MORE = "No more results."
NO_PAGE = "No page to look in: Search for one first."

_INVALID = "Invalid action: {}[] names nothing."


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a reader stands.

    Args:
        page: The open page.
        keyword: What was last looked up on it.
        next_index: How many of the keyword's results were shown.
    """

    page: Page | None = None
    keyword: str | None = None
    next_index: int = 0


_CURSOR = TypeAdapter(Cursor)
"""Reads a cursor from JSON values, those of a thought's `tool_state`, and writes it to such."""


class Observed(NamedTuple):
    """What one use of a tool gave."""

    observation: str
    cursor: Cursor
    failed: bool = False


async def search(
    backend: Backend, entity: str, cursor: Cursor, *, style: Style = "clean", name: str = ""
) -> Observed:
    """Opens the page of that title and shows its beginning.

    A miss fails and names similar titles. A request that failed says so and leaves the cursor.

    Args:
        backend: Where pages come from.
        entity: The title.
        cursor: Where the reader stands.
        style: See the module.
        name: What to call the backend where a request failed; see `errors_as`.
    """
    entity = one_line(entity)
    if not entity:
        return _invalid("Search", cursor)
    try:
        with errors_as(name):
            page = await backend.find(entity)
    except (PagesError, InputError) as error:
        return Observed(f"Search failed: {one_line(str(error))}.", cursor, failed=True)
    if isinstance(page, Similar):
        left = cursor if style == "react" else Cursor()
        return Observed(_miss(entity, page, style), left, failed=True)
    shown = _sentences(page, style, lead=style == "clean")[:MOST_SENTENCES]
    text = " ".join(shown) or f"{page.title} exists but has no text."
    return Observed(text, Cursor(page))


def lookup(keyword: str, cursor: Cursor, *, style: Style = "clean") -> Observed:
    """Shows the next sentence of the open page that contains a keyword, in whatever case.

    Args:
        keyword: The text to look for; another one than last time starts from the top.
        cursor: Where the reader stands.
        style: See the module.
    """
    keyword = one_line(keyword)
    if not keyword:
        return _invalid("Lookup", cursor)
    if cursor.page is None:
        return Observed(NO_MORE if style == "react" else NO_PAGE, cursor, failed=True)
    wanted = keyword.casefold()
    hits = [text for text in _sentences(cursor.page, style) if wanted in text.casefold()]
    at = cursor.next_index if _same(keyword, cursor.keyword, style) else 0
    if at >= len(hits):
        stay = Cursor(cursor.page, keyword, len(hits))
        return Observed(NO_MORE, stay, failed=True)
    return Observed(
        f"(Result {at + 1} / {len(hits)}) {hits[at]}", Cursor(cursor.page, keyword, at + 1)
    )


def search_tools(backend: Backend, *, style: Style = "clean", name: str = "") -> list[BaseTool]:
    """Returns Search, Lookup and Finish as LangChain tools.

    Agents may call them with `invoke` or `ainvoke`. Each answers with a `ToolMessage`: the content
    is the observation (Finish: the answer), the artifact a mapping with `failed` and, but for
    Finish, `tool_state`: the cursor after the call. The cursor before it is the argument `cursor`,
    which no model sees; without one it is the last artifact in the agent's messages.

    Args:
        backend: Where pages come from. Under `invoke` each search asks it in an event loop of its
            own.
        style: How observations read; see the module.
        name: See `search`.
    """

    async def search_tool(
        entity: str,
        cursor: Annotated[dict[str, Any] | None, InjectedToolArg] = None,
        messages: Annotated[Sequence[AnyMessage] | None, InjectedState("messages")] = None,
    ) -> tuple[str, dict[str, Any]]:
        """Opens the page with this title and shows its first sentences, or similar titles."""
        at = _cursor(cursor, messages)
        return _answer(await search(backend, entity, at, style=style, name=name))

    @tool("Lookup", response_format="content_and_artifact")
    def lookup_tool(
        keyword: str,
        cursor: Annotated[dict[str, Any] | None, InjectedToolArg] = None,
        messages: Annotated[Sequence[AnyMessage] | None, InjectedState("messages")] = None,
    ) -> tuple[str, dict[str, Any]]:
        """Shows the next sentence of the open page that contains this keyword."""
        at = _cursor(cursor, messages)
        return _answer(lookup(keyword, at, style=style))

    searching = StructuredTool.from_function(
        _blocking(search_tool),
        search_tool,
        name="Search",
        response_format="content_and_artifact",
    )
    return [searching, lookup_tool, finish_tool()]


def finish_tool() -> BaseTool:
    """Returns Finish, which answers with its argument and ends an agent."""

    @tool("Finish", response_format="content_and_artifact", return_direct=True)
    def finish(answer: str) -> tuple[str, dict[str, Any]]:
        """Ends with this answer."""
        plain = one_line(answer)
        if not plain:
            return _INVALID.format("Finish"), {"failed": True}
        return plain, {"failed": False}

    return finish


def _blocking(work: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Returns a function that waits for the coroutine, whether or not its thread runs a loop."""

    @wraps(work)
    def run(*args: Any, **named: Any) -> Any:
        # A notebook's thread runs a loop already, in which nothing can be waited for.
        with ThreadPoolExecutor(1) as thread:
            inside = copy_context()
            return thread.submit(inside.run, asyncio.run, work(*args, **named)).result()

    return run


def _cursor(state: Mapping[str, Any] | None, messages: Sequence[AnyMessage] | None) -> Cursor:
    artifacts = (m.artifact for m in reversed(messages or ()) if isinstance(m, ToolMessage))
    states = (a["tool_state"] for a in artifacts if isinstance(a, Mapping) and "tool_state" in a)
    return _CURSOR.validate_python(next(states, {}) if state is None else state)


def _answer(step: Observed) -> tuple[str, dict[str, Any]]:
    state = _CURSOR.dump_python(step.cursor, mode="json")
    return step.observation, {"tool_state": state, "failed": step.failed}


def _invalid(name: str, cursor: Cursor) -> Observed:
    return Observed(_INVALID.format(name), cursor, failed=True)


def _miss(entity: str, similar: Similar, style: Style) -> str:
    titles = list(similar.titles)
    if style == "clean":
        return f"Could not find {entity}. Similar: {json.dumps(titles, ensure_ascii=False)}."
    # The paper's code searches for the bracketed title of a page with several meanings, in vain.
    wanted = f"[{entity}]" if similar.ambiguous else entity
    return f"Could not find {wanted}. Similar: {titles!r}."


def _same(keyword: str, before: str | None, style: Style) -> bool:
    if before is None or style == "react":
        return keyword == before
    return keyword.casefold() == before.casefold()


def _sentences(page: Page, style: Style, *, lead: bool = False) -> list[str]:
    paragraphs = page.paragraphs[: page.lead] if lead and page.lead else page.paragraphs
    if style == "clean":
        return [sentence for sentences in paragraphs for sentence in sentences]
    return [
        f"{part.strip()}."
        for text in map(" ".join, paragraphs)
        if len(text.split(" ")) > SHORTEST_PARAGRAPH
        for part in text.split(". ")
        if part.strip()
    ]
