"""Tools with their prices: how a model calls them, and what calls cost."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from numbers import Real
from typing import Any

from langchain_core.tools import BaseTool

from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.tools.one_line import one_line


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a cost may depend on.

    Args:
        argument: What the tool was given.
        seconds: How long it took.
        letters: The length of what it answered.
        dollars: What it said it charged (`"dollars"` in a LangChain tool's artifact), else 0.
    """

    argument: str
    seconds: float
    letters: int
    dollars: float = 0.0


Cost = float | Callable[[Receipt], float]
"""A price a call, or a function of what the call took."""


def by_latency(per_second: float, base: float = 0.0) -> Cost:
    """Returns a cost that grows with the time a call takes."""
    return lambda receipt: base + per_second * receipt.seconds


def by_money(per_dollar: float = 1.0, base: float = 0.0) -> Cost:
    """Returns a cost that grows with the money a tool reports."""
    return lambda receipt: base + per_dollar * receipt.dollars


_PRICE = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?P<unit>/s|/\$)?")


def read_costs(text: str) -> dict[str, Cost]:
    """Reads what tools cost, as a setting writes it: `Search=1, Lookup=0.5+2/s, Paid=10/$`.

    `2/s` is 2 for each second that a call takes, `10/$` is 10 for each dollar that a tool reports.

    Raises:
        InputError: The text is no such list.
    """
    costs: dict[str, Cost] = {}
    for part in filter(str.strip, text.split(",")):
        name, _, price = part.partition("=")
        terms = [_PRICE.fullmatch(term.strip()) for term in price.split("+")]
        if not name.strip() or None in terms:
            raise InputError(
                f"{part.strip()!r} is no price of a tool; write Search=1, Lookup=0.5+2/s, Paid=10/$"
            )
        rates = {"": 0.0, "/s": 0.0, "/$": 0.0}
        for term in filter(None, terms):
            rates[term["unit"] or ""] += float(term["number"])
        costs[name.strip()] = _sum(rates)
    return costs


def _sum(rates: dict[str, float]) -> Cost:
    base, per_second, per_dollar = rates.values()
    if not per_second and not per_dollar:
        return base
    return lambda receipt: base + per_second * receipt.seconds + per_dollar * receipt.dollars


@dataclass(frozen=True)
class Priced:
    """A LangChain tool with its price and its failure predicate.

    Args:
        tool: The tool. One with several arguments is called with a JSON object.
        cost: What a call costs. A call whose cost raises, or is no number of at least 0, has failed
            and costs 1.
        failed: Whether an observation means that the tool could not do what it was asked; what
            raises, this predicate included, or says `"failed": True` in its artifact, has failed
            anyhow.
    """

    tool: BaseTool
    cost: Cost = 1.0
    failed: Callable[[str], bool] = lambda observation: False

    def __post_init__(self) -> None:
        """Checks the price.

        Raises:
            InputError: It is no number of at least 0.
        """
        if not callable(self.cost):
            self._checked(self.cost)

    def price(self, receipt: Receipt) -> float:
        """Returns what a call costs; searches by cost rely on its being a number.

        Raises:
            InputError: It is no number of at least 0.
        """
        return self._checked(self.cost(receipt) if callable(self.cost) else self.cost)

    def _checked(self, cost: float) -> float:
        if not (isinstance(cost, Real) and isfinite(cost) and cost >= 0):
            raise InputError(f"tool {self.name!r} costs {cost!r}; give a number of at least 0")
        return cost

    @property
    def name(self) -> str:
        """The name by which a model calls it."""
        return self.tool.name

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Its arguments, as far as a model gives them; kept, as schemas take milliseconds."""
        return tuple(self.tool.args)

    @cached_property
    def takes_cursor(self) -> bool:
        """Whether it is given the tools' state as an argument that no model sees."""
        every = getattr(self.tool.args_schema, "model_fields", {})
        return "cursor" in every and "cursor" not in self.shown

    @property
    def form(self) -> str:
        """How a model calls it: `Search[entity]`, or `Route[{"start", "goal"}]`."""
        several = f"{{{', '.join(map(json.dumps, self.shown))}}}"
        return f"{self.name}[{self.shown[0] if len(self.shown) == 1 else several}]"

    def arguments(self, text: str, state: dict[str, Any]) -> dict[str, Any] | None:
        """Returns the tool's arguments, out of what a model wrote; None if it does not give them.

        Args:
            text: What stands between the brackets.
            state: The tools' state.
        """
        if len(self.shown) == 1:
            arguments = {self.shown[0]: text} if one_line(text) else None
        else:
            arguments = _object(text, self.shown)
        return (
            {**arguments, "cursor": state}
            if self.takes_cursor and arguments is not None
            else arguments
        )


def _object(text: str, names: Sequence[str]) -> dict[str, Any] | None:
    """Reads the arguments of a tool that has not exactly one."""
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) and arguments.keys() <= set(names) else None


def with_costs(own: Sequence[Priced], extra: object, costs: Mapping[str, Cost]) -> list[Priced]:
    """Returns the tools of a run, its own and the user's, at the prices that are asked for.

    Args:
        own: Those that the task brings.
        extra: The user's, a list of LangChain tools; one without a price costs 1 a call.
        costs: What tools cost, by name; the others keep their price.

    Raises:
        InputError: The user's are no list of LangChain tools.
        UnknownName: A price is given for a tool that there is not.
    """
    tools = [*own, *_checked_tools(extra)]
    names = [each.name for each in tools]
    for name in costs:
        if name not in names:
            raise UnknownName("tool", name, names)
    return [replace(each, cost=costs.get(each.name, each.cost)) for each in tools]


def _checked_tools(extra: object) -> list[Priced]:
    # A single tool is iterable too, field by field.
    if isinstance(extra, str) or not isinstance(extra, Sequence):
        kind = type(extra).__name__
        raise InputError(f"a {kind} is no list of tools; give tools=[…], each a LangChain tool")
    for each in extra:
        if not isinstance(each, BaseTool | Priced):
            raise InputError(
                f"{each!r} is no LangChain tool; make it one with langchain_core.tools.tool, and "
                "wrap it in Priced to say what it costs"
            )
    return [Priced(each) if isinstance(each, BaseTool) else each for each in extra]
