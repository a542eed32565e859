"""LangChain tools as the toolbox of a run: named, priced, bounded in time, and never raising."""

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from thoughtgraph.acting import ToolResult
from thoughtgraph.errors import InputError
from thoughtgraph.llm.completions import encodable
from thoughtgraph.tools.costs import Priced, Receipt
from thoughtgraph.tools.deadline import DEADLINE, result_of, within_deadline
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tree import cut

LONGEST_RESULT = 4_000
"""Characters of an observation (ours); a longer one is cut, and the cut is marked."""
QUOTES = ('""', "“”")
"""Quotation marks that models put around an argument."""
UNPRICED = 1.0
"""Cost of a call whose cost function fails (ours), the same as for a tool without a price."""

_FAILED: Mapping[str, Any] = {"failed": True}
_ANY_CALL = re.compile(r"(?<![\w-])(?>[\w-]*?(?<!\w)(?=[A-Za-z]))(?P<name>[\w-]++)(?=\[)")


class ToolSet:
    """A `thoughtgraph.acting.Toolbox` of LangChain tools.

    The answer of a tool with `return_direct` is the final answer. A tool with an injected argument
    `cursor` receives the tools' state. An artifact that is a mapping may have the keys `failed` and
    `dollars` (see `ToolResult`, `Receipt`) and, if the tool has a cursor, `tool_state`.

    Args:
        tools: The tools with their prices.
        deadline: Seconds a call may take; a longer one has failed.
        check: Returns why the tools cannot work; see `Toolbox.check`.

    Raises:
        InputError: There is no tool, or two have the same name, in whatever case.
    """

    def __init__(
        self,
        tools: Sequence[Priced],
        *,
        deadline: float = DEADLINE,
        check: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self._tools = {each.name.casefold(): each for each in tools}
        self._deadline = deadline
        self._check = check
        if not tools:
            raise InputError("no tools were given; a method that acts needs at least one")
        for each in tools:
            if self._tools[each.name.casefold()] is not each:
                raise InputError(f"two tools have the same name {each.name!r}; rename one")
        alternatives = "|".join(re.escape(name) for name in self.names)
        self._known = re.compile(rf"(?<!\w)(?P<name>{alternatives})[ \t]*(?=\[)", re.IGNORECASE)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a model calls the tools."""
        return tuple(each.name for each in self._tools.values())

    @property
    def max_call_cost(self) -> float:
        """The highest cost of a call; a cost that depends on the call counts as `UNPRICED`."""
        costs = [each.cost for each in self._tools.values()]
        return max(UNPRICED if callable(cost) else cost for cost in costs)

    def describe(self) -> str:
        """Returns one line per tool, for the prompt."""
        tools = self._tools.values()
        return "\n".join(f"{each.form}: {one_line(each.tool.description)}" for each in tools)

    def parse(self, text: str) -> tuple[str, str] | None:
        """Reads the first call of a known tool out of a model's text, else of any tool.

        Quotation marks around the whole argument are dropped (ours): no page title has them.
        """
        closing = _closing_brackets(text)
        for pattern in (self._known, _ANY_CALL):
            for match in pattern.finditer(text):
                if (start := match.end()) in closing:
                    tool = self._tools.get(match["name"].casefold())
                    name = match["name"] if tool is None else tool.name
                    return name, _unquoted(text[start + 1 : closing[start]].strip())
        return None

    async def call(self, name: str, argument: str, state: Mapping[str, Any] | None) -> ToolResult:
        """Calls a tool; a failure is a failed result, and only LangGraph's own exceptions pass."""
        old_state = dict(state or {})
        priced = self._tools.get(name.casefold())
        arguments = None if priced is None else priced.arguments(argument, old_state)
        if priced is None or arguments is None:
            forms = ", ".join(each.form for each in self._tools.values())
            text = one_line(f"Invalid action: {name}[{argument}]. The actions are: {forms}")
            return ToolResult(
                cut(text, LONGEST_RESULT), old_state, failed=True, cost=0.0, invalid=True
            )
        began = time.monotonic()
        reply = await within_deadline(partial(_invoke, priced.tool, arguments), self._deadline)
        seconds = time.monotonic() - began
        text, artifact = _read(reply, name, self._deadline)
        receipt = Receipt(argument, seconds, len(text), _dollars(artifact))
        verdict = artifact.get("failed") or await result_of(priced.failed, text)
        cost = await result_of(priced.price, receipt)
        for function, value in (("predicate", verdict), ("cost", cost)):
            if isinstance(value, BaseException):
                why = f"{type(value).__name__}: {value}"
                text, artifact = one_line(f"{name} failed: its {function} raised {why}"), _FAILED
        failed = bool(artifact.get("failed") or verdict)
        new_state = artifact.get("tool_state") if priced.takes_cursor else None
        return ToolResult(
            observation=cut(encodable(text), LONGEST_RESULT),
            state=old_state if new_state is None else new_state,
            failed=failed,
            cost=UNPRICED if isinstance(cost, BaseException) else cost,
            answer=text if priced.tool.return_direct and not failed else None,
        )

    async def check(self) -> str:
        """Returns one line that says why the tools cannot work; empty if they can."""
        return "" if self._check is None else await self._check()


async def _invoke(tool: BaseTool, arguments: dict[str, Any]) -> Any:
    """Calls a tool as an agent does, so that callbacks and traces see the call."""
    call = {"type": "tool_call", "id": "0", "name": tool.name, "args": arguments}
    return await tool.ainvoke(call)


def _read(reply: Any, name: str, deadline: float) -> tuple[str, Mapping[str, Any]]:
    """Returns the observation and the artifact in a tool's reply, exception or missing reply."""
    if reply is None:
        return f"{name} failed: no answer within {deadline:g} s.", _FAILED
    if isinstance(reply, BaseException):
        why = one_line(str(reply)) or type(reply).__name__
        return f"{name} failed: {why}", _FAILED
    if not isinstance(reply, ToolMessage):
        return one_line(str(reply)), {}
    artifact = reply.artifact if isinstance(reply.artifact, Mapping) else {}
    failed = artifact.get("failed") or reply.status == "error"
    return one_line(reply.text), {**artifact, "failed": failed}


def _dollars(artifact: Mapping[str, Any]) -> float:
    charged = artifact.get("dollars")
    return float(charged) if isinstance(charged, int | float) and 0 <= charged < inf else 0.0


def _unquoted(argument: str) -> str:
    inner = argument[1:-1]
    quoted = len(argument) > 1 and argument[0] + argument[-1] in QUOTES
    return inner.strip() if quoted and not set(inner) & set("".join(QUOTES)) else argument


def _closing_brackets(text: str) -> dict[int, int]:
    """Returns the index of the closing bracket for each opening one closed on its line."""
    closing: dict[int, int] = {}
    unclosed: list[int] = []
    for index, letter in enumerate(text):
        if letter == "[":
            unclosed.append(index)
        elif letter == "]" and unclosed:
            closing[unclosed.pop()] = index
        elif letter == "\n":
            unclosed.clear()
    return closing
