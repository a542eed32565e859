"""Tools with their prices: how a model calls them, and how much a call costs."""

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
    """The facts about a call on which its cost may depend.

    Args:
        argument: The argument as the model wrote it.
        seconds: How long the call took.
        letters: The length of the tool's answer in characters, before it is cut.
        dollars: The charge that the tool reports (`"dollars"` in its artifact), else 0.
    """

    argument: str
    seconds: float
    letters: int
    dollars: float = 0.0


Cost = float | Callable[[Receipt], float]
"""A fixed cost per call, or a function of the call's receipt."""


def by_latency(per_second: float, base: float = 0.0) -> Cost:
    """Returns a cost that grows with the time a call takes."""
    return lambda receipt: base + per_second * receipt.seconds


def by_money(per_dollar: float = 1.0, base: float = 0.0) -> Cost:
    """Returns a cost that grows with the money a tool reports."""
    return lambda receipt: base + per_dollar * receipt.dollars


_PRICE = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?P<unit>/s|/\$)?")


def read_costs(text: str) -> dict[str, Cost]:
    """Reads the costs of tools as a setting writes them: `Search=1, Lookup=0.5+2/s, Paid=10/$`.

    `2/s` is 2 for each second that a call takes, `10/$` is 10 for each dollar that a tool reports.

    Raises:
        InputError: The text is not such a list.
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
        tool: The tool. Unless it has exactly one argument, a model calls it with a JSON object.
        cost: The cost of a call. If this function raises or returns anything but a number of at
            least 0, the call has failed and costs 1.
        failed: Returns whether an observation means that the tool failed at its work. A call has
            also failed if the tool or this predicate raises, or if the artifact has
            `"failed": True`.
    """

    tool: BaseTool
    cost: Cost = 1.0
    failed: Callable[[str], bool] = lambda observation: False

    def __post_init__(self) -> None:
        """Checks a fixed cost.

        Raises:
            InputError: The cost is no number of at least 0.
        """
        if not callable(self.cost):
            self._valid_cost(self.cost)

    def price(self, receipt: Receipt) -> float:
        """Returns the cost of a call, always a number: searches by cost rely on that.

        Raises:
            InputError: The cost is no number of at least 0.
        """
        return self._valid_cost(self.cost(receipt) if callable(self.cost) else self.cost)

    def _valid_cost(self, cost: float) -> float:
        if not (isinstance(cost, Real) and isfinite(cost) and cost >= 0):
            raise InputError(f"tool {self.name!r} costs {cost!r}; give a number of at least 0")
        return cost

    @property
    def name(self) -> str:
        """The name by which a model calls the tool."""
        return self.tool.name

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Names of the arguments that a model gives; cached, as a schema takes milliseconds."""
        return tuple(self.tool.args)

    @cached_property
    def takes_cursor(self) -> bool:
        """Whether the tool takes the tools' state, as an argument `cursor` that no model sees."""
        fields = getattr(self.tool.args_schema, "model_fields", {})
        return "cursor" in fields and "cursor" not in self.shown

    @property
    def form(self) -> str:
        """The call as prompts show it: `Search[entity]`, or `Route[{"start", "goal"}]`."""
        names = f"{{{', '.join(map(json.dumps, self.shown))}}}"
        return f"{self.name}[{self.shown[0] if len(self.shown) == 1 else names}]"

    def arguments(self, text: str, state: dict[str, Any]) -> dict[str, Any] | None:
        """Reads the tool's arguments out of a model's text; None if they cannot be read.

        Args:
            text: The text between the brackets.
            state: The tools' state.
        """
        if len(self.shown) == 1:
            arguments = {self.shown[0]: text} if one_line(text) else None
        else:
            arguments = _read_object(text, self.shown)
        return (
            {**arguments, "cursor": state}
            if self.takes_cursor and arguments is not None
            else arguments
        )


def _read_object(text: str, names: Sequence[str]) -> dict[str, Any] | None:
    """Reads a JSON object of arguments; None if the text is none or has unknown names."""
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) and arguments.keys() <= set(names) else None


def with_costs(own: Sequence[Priced], extra: object, costs: Mapping[str, Cost]) -> list[Priced]:
    """Returns the tools of a run, the task's and the user's, at the configured costs.

    Args:
        own: The task's tools.
        extra: The user's tools, a list of LangChain tools; one without a price costs 1 a call.
        costs: Costs by tool name; the other tools keep theirs.

    Raises:
        InputError: `extra` is no list of LangChain tools.
        UnknownName: A cost names a tool that does not exist.
    """
    tools = [*own, *_valid_tools(extra)]
    names = [each.name for each in tools]
    for name in costs:
        if name not in names:
            raise UnknownName("tool", name, names)
    return [replace(each, cost=costs.get(each.name, each.cost)) for each in tools]


def _valid_tools(extra: object) -> list[Priced]:
    # Not Iterable: a single tool is iterable as well, field by field.
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
