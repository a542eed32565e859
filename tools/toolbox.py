"""LangChain tools as the toolbox of a run: named, priced, bounded in time, and never raising."""

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from thoughtgraph.acting import ToolResult
from thoughtgraph.errors import InputError
from thoughtgraph.llm.completions import encodable
from thoughtgraph.tools.costs import Priced, Receipt, checked_cost
from thoughtgraph.tools.deadline import DEADLINE, result_of, within_deadline
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tree import cut

LONGEST = 4_000
"""Letters of an observation that are kept (ours); the cut is marked."""
QUOTES = ('""', "“”")
"""What models put around an argument."""
UNPRICED = 1.0
"""What a call costs whose cost function gives no price (ours): as much as a tool without one."""

_FAILED: Mapping[str, Any] = {"failed": True}
_ANY = re.compile(r"(?<![\w-])(?>[\w-]*?(?<!\w)(?=[A-Za-z]))(?P<name>[\w-]++)(?=\[)")


@dataclass(frozen=True, slots=True)
class _Ready:
    """A tool with what calling it needs to know, worked out once: schemas take milliseconds."""

    priced: Priced
    shown: tuple[str, ...]
    """Its arguments, as far as a model gives them."""
    takes_cursor: bool

    @classmethod
    def of(cls, priced: Priced) -> "_Ready":
        shown = tuple(priced.tool.args)
        every = getattr(priced.tool.args_schema, "model_fields", {})
        return cls(priced, shown, takes_cursor="cursor" in every and "cursor" not in shown)

    @property
    def name(self) -> str:
        return self.priced.tool.name

    @property
    def form(self) -> str:
        """How a model calls it: `Search[entity]`, or `Route[{"start", "goal"}]`."""
        several = f"{{{', '.join(map(json.dumps, self.shown))}}}"
        return f"{self.name}[{self.shown[0] if len(self.shown) == 1 else several}]"

    @property
    def purpose(self) -> str:
        return one_line(self.priced.tool.description)

    def arguments(self, text: str, state: dict[str, Any]) -> dict[str, Any] | None:
        """Returns the tool's arguments; None if the text does not give them."""
        given = {self.shown[0]: text} if len(self.shown) == 1 else _object(text, self.shown)
        if given is None or (len(self.shown) == 1 and not one_line(text)):
            return None
        return {**given, "cursor": state} if self.takes_cursor else given

    def failed(self, observation: str) -> bool:
        return bool(self.priced.failed(observation))

    def cost(self, receipt: Receipt) -> float:
        price = self.priced.cost
        return checked_cost(self.name, price(receipt) if callable(price) else price)


def _object(text: str, names: Sequence[str]) -> dict[str, Any] | None:
    """Reads the arguments of a tool that has not exactly one."""
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) and given.keys() <= set(names) else None


class ToolSet:
    """A `thoughtgraph.acting.Toolbox` of LangChain tools.

    What a tool with `return_direct` answers is the final answer. A tool with an injected argument
    `cursor` is given the tools' state. An artifact that is a mapping may say `failed` and
    `dollars` (see `ToolResult`, `Receipt`) and, where the tool has a cursor, `tool_state`.

    Args:
        tools: The tools with their prices.
        deadline: Seconds a call may take; a tool that takes longer has failed.
        check: Says why the tools cannot work; see `Toolbox.check`.

    Raises:
        InputError: There is no tool, or two have the same name.
    """

    def __init__(
        self,
        tools: Sequence[Priced],
        *,
        deadline: float = DEADLINE,
        check: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self._tools = {each.tool.name.casefold(): _Ready.of(each) for each in tools}
        self._deadline = deadline
        self._check = check
        if not tools:
            raise InputError("no tools were given; a method that acts needs at least one")
        for at, each in enumerate(tools):
            name = each.tool.name
            if name.casefold() in (other.tool.name.casefold() for other in tools[:at]):
                raise InputError(f"two tools have the same name {name!r}; rename one")
        known = "|".join(re.escape(name) for name in self.names)
        self._known = re.compile(rf"(?<!\w)(?P<name>{known})[ \t]*(?=\[)", re.IGNORECASE)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a model calls the tools."""
        return tuple(ready.name for ready in self._tools.values())

    @property
    def dearest(self) -> float:
        """The price of the dearest call; one that is worked out from a call counts as unpriced."""
        prices = [ready.priced.cost for ready in self._tools.values()]
        return max(UNPRICED if callable(price) else price for price in prices)

    def describe(self) -> str:
        """Returns one line a tool, for the prompt."""
        return "\n".join(f"{ready.form}: {ready.purpose}" for ready in self._tools.values())

    def parse(self, text: str) -> tuple[str, str] | None:
        """Reads the first call of a known tool out of a model's text, else the first of any.

        Quotation marks around the whole argument are dropped (ours): no page has them in its title.
        """
        partner = _partners(text)
        for pattern in (self._known, _ANY):
            for found in pattern.finditer(text):
                if (start := found.end()) in partner:
                    ready = self._tools.get(found["name"].casefold())
                    name = found["name"] if ready is None else ready.name
                    return name, _unquoted(text[start + 1 : partner[start]].strip())
        return None

    async def call(self, name: str, argument: str, state: Mapping[str, Any] | None) -> ToolResult:
        """Calls a tool; a tool that fails gives a failed result and never raises."""
        before = dict(state or {})
        ready = self._tools.get(name.casefold())
        given = None if ready is None else ready.arguments(argument, before)
        if ready is None or given is None:
            forms = ", ".join(ready.form for ready in self._tools.values())
            text = one_line(f"Invalid action: {name}[{argument}]. The actions are: {forms}")
            return ToolResult(cut(text, LONGEST), before, failed=True, cost=0.0, invalid=True)
        began = time.monotonic()
        answered = await within_deadline(partial(_invoke, ready.priced.tool, given), self._deadline)
        seconds = time.monotonic() - began
        text, artifact = _read(answered, name, self._deadline)
        receipt = Receipt(argument, seconds, len(text), _dollars(artifact))
        verdict = bool(artifact.get("failed")) or await result_of(ready.failed, text)
        cost = await result_of(ready.cost, receipt)
        for function, gave in (("predicate", verdict), ("cost", cost)):
            if isinstance(gave, BaseException):
                why = f"{type(gave).__name__}: {gave}"
                text, artifact = one_line(f"{name} failed: its {function} raised {why}"), _FAILED
        failed = bool(artifact.get("failed") or verdict)
        moved = artifact.get("tool_state") if ready.takes_cursor else None
        return ToolResult(
            observation=cut(encodable(text), LONGEST),
            state=before if moved is None else moved,
            failed=failed,
            cost=UNPRICED if isinstance(cost, BaseException) else cost,
            answer=text if ready.priced.tool.return_direct and not failed else None,
        )

    async def check(self) -> str:
        """Returns one line that says why the tools cannot work; empty if they can."""
        return "" if self._check is None else await self._check()


async def _invoke(tool: BaseTool, given: dict[str, Any]) -> Any:
    """Calls a tool as an agent would, so that callbacks and traces see it."""
    call = {"type": "tool_call", "id": "0", "name": tool.name, "args": given}
    return await tool.ainvoke(call)


def _read(answered: Any, name: str, deadline: float) -> tuple[str, Mapping[str, Any]]:
    """Returns the observation and the artifact of what a tool answered."""
    if answered is None:
        return f"{name} failed: no answer within {deadline:g} s.", _FAILED
    if isinstance(answered, BaseException):
        why = one_line(str(answered)) or type(answered).__name__
        return f"{name} failed: {why}", _FAILED
    if not isinstance(answered, ToolMessage):
        return one_line(str(answered)), {}
    artifact = answered.artifact if isinstance(answered.artifact, Mapping) else {}
    failed = artifact.get("failed") or answered.status == "error"
    return one_line(answered.text), {**artifact, "failed": failed}


def _dollars(artifact: Mapping[str, Any]) -> float:
    charged = artifact.get("dollars")
    return float(charged) if isinstance(charged, int | float) and 0 <= charged < inf else 0.0


def _unquoted(argument: str) -> str:
    inner = argument[1:-1]
    quoted = len(argument) > 1 and argument[0] + argument[-1] in QUOTES
    return inner.strip() if quoted and not set(inner) & set("".join(QUOTES)) else argument


def _partners(text: str) -> dict[int, int]:
    """Returns where each opening bracket that is closed on its line is closed."""
    partners: dict[int, int] = {}
    unclosed: list[int] = []
    for at, letter in enumerate(text):
        if letter == "[":
            unclosed.append(at)
        elif letter == "]" and unclosed:
            partners[unclosed.pop()] = at
        elif letter == "\n":
            unclosed.clear()
    return partners
