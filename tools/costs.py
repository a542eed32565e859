"""What calls of tools cost."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from numbers import Real

from langchain_core.tools import BaseTool

from thoughtgraph.errors import InputError


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


@dataclass(frozen=True, slots=True)
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
            checked_cost(self.tool.name, self.cost)


def checked_cost(name: str, cost: float) -> float:
    """Returns what a tool costs; searches by cost rely on it.

    Raises:
        InputError: It is no number of at least 0.
    """
    if not (isinstance(cost, Real) and isfinite(cost) and cost >= 0):
        raise InputError(f"tool {name!r} costs {cost!r}; give a number of at least 0")
    return cost
