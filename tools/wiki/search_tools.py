"""Search, Lookup and Finish: ReAct's tools as functions of their argument and a frozen cursor.

The cursor is the position of a reader: the open page, and the last result on it. It is plain JSON,
belongs to one thought (`tool_state`) and is never changed, only replaced, so that branches of a
tree cannot see each other's reading.

There are two styles. `clean` (ours): a miss closes the open page, and Search shows sentences of the
lead. `react` does the same as the code of ReAct (ysymyth/ReAct, `wikienv.py`): a miss keeps the
page open, Search shows the first sentences of the whole page, full stops at the end of paragraphs
are doubled, and a keyword in another case starts again.

The tools are LangChain tools, for any agent. An agent needs no state for the cursor: it travels as
the artifact of the last tool message in the conversation.
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
"""Words up to which the `react` style leaves out a paragraph (ReAct's code)."""
NO_MORE = "No more results."
NO_PAGE = "No page to look in: Search for one first."

_INVALID = "Invalid action: {}[] names nothing."


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position of a reader.

    Args:
        page: The open page.
        keyword: The text that was last looked up on the page.
        next_index: How many of the keyword's results were shown.
    """

    page: Page | None = None
    keyword: str | None = None
    next_index: int = 0


_CURSOR = TypeAdapter(Cursor)
"""Converts a cursor from and to JSON values, as in a thought's `tool_state`."""


class Observed(NamedTuple):
    """The result of one tool call."""

    observation: str
    cursor: Cursor
    failed: bool = False


async def search(
    backend: Backend, entity: str, cursor: Cursor, *, style: Style = "clean", name: str = ""
) -> Observed:
    """Opens the page with that title and shows its beginning.

    A miss fails and names similar titles. A failed request says so and does not move the cursor.

    Args:
        backend: Serves the pages.
        entity: The title.
        cursor: The position of the reader.
        style: See the module.
        name: The name of the backend in the error of a failed request; see `errors_as`.
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
        new_cursor = cursor if style == "react" else Cursor()
        return Observed(_miss(entity, page, style), new_cursor, failed=True)
    beginning = _sentences(page, style, lead=style == "clean")[:MOST_SENTENCES]
    text = " ".join(beginning) or f"{page.title} exists but has no text."
    return Observed(text, Cursor(page))


def lookup(keyword: str, cursor: Cursor, *, style: Style = "clean") -> Observed:
    """Shows the next sentence of the open page that contains a keyword, in whatever case.

    Args:
        keyword: The text to look for; a new keyword starts from the top of the page.
        cursor: The position of the reader.
        style: See the module.
    """
    keyword = one_line(keyword)
    if not keyword:
        return _invalid("Lookup", cursor)
    if cursor.page is None:
        return Observed(NO_MORE if style == "react" else NO_PAGE, cursor, failed=True)
    folded = keyword.casefold()
    hits = [text for text in _sentences(cursor.page, style) if folded in text.casefold()]
    at = cursor.next_index if _same(keyword, cursor.keyword, style) else 0
    if at >= len(hits):
        end = Cursor(cursor.page, keyword, len(hits))
        return Observed(NO_MORE, end, failed=True)
    return Observed(
        f"(Result {at + 1} / {len(hits)}) {hits[at]}", Cursor(cursor.page, keyword, at + 1)
    )


def search_tools(backend: Backend, *, style: Style = "clean", name: str = "") -> list[BaseTool]:
    """Returns Search, Lookup and Finish as LangChain tools.

    Agents may call them with `invoke` or `ainvoke`. Each answers with a `ToolMessage`. Its content
    is the observation (Finish: the answer). Its artifact is a mapping with `failed` and, except for
    Finish, `tool_state`: the cursor after the call. The cursor before the call is the argument
    `cursor`, which no model sees; by default it is the last one in the agent's messages.

    Args:
        backend: Serves the pages. Under `invoke`, each search runs in its own event loop.
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
    """Makes a coroutine function blocking; it may be called where an event loop runs."""

    @wraps(work)
    def run(*args: Any, **named: Any) -> Any:
        # asyncio.run needs a thread without a loop; a notebook's thread has one.
        with ThreadPoolExecutor(1) as thread:
            context = copy_context()
            return thread.submit(context.run, asyncio.run, work(*args, **named)).result()

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
    # For a title with several meanings, ReAct's code searches again with brackets, in vain.
    title = f"[{entity}]" if similar.ambiguous else entity
    return f"Could not find {title}. Similar: {titles!r}."


def _same(keyword: str, last: str | None, style: Style) -> bool:
    if last is None or style == "react":
        return keyword == last
    return keyword.casefold() == last.casefold()


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
