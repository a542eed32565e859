"""What models cost: the caller's own prices first, then a public table that is kept up to date.

The table is `genai-prices`, which holds its data itself: nothing is fetched. It is imported when a
price is looked up, as that takes half a second.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from thoughtgraph.errors import SettingError

Price = tuple[float, float]
"""US dollars a million prompt tokens and a million completion tokens."""
Prices = dict[str, list[float] | None]
"""The price of each model of a run, by the model's name; None where nobody knows it."""

FREE: Price = (0.0, 0.0)
MILLION = 1_000_000
PROBE = 1_000
"""Tokens of the request whose price is looked up (ours): some models get dearer with length."""


def public_price(model: str, endpoint: str, provider: str = "") -> Price | None:
    """Returns the public price of a model, without discounts for prompts that are cached.

    It is None where the table has none, or where a request costs more than its tokens.

    Args:
        model: Its name at the provider.
        endpoint: Where it is asked. An address decides, as any server may call a model by any name.
        provider: Who serves it, as LangChain calls them, where the endpoint is no address.
    """
    address = endpoint if "://" in endpoint else ""
    if not (address or provider) or address.startswith("http://"):
        return None  # a server of one's own
    where = {"provider_api_url": address} if address else {"provider_id": provider}
    table: Any = import_module("genai_prices")
    size = table.Usage(input_tokens=PROBE, output_tokens=PROBE)
    try:
        cost = table.calc_price(size, model, **where)
    except LookupError:
        return None
    if cost.total_price != cost.input_price + cost.output_price:
        return None
    each = MILLION // PROBE
    return float(cost.input_price * each), float(cost.output_price * each)


class PricedModel(Protocol):
    """A model with a name and, perhaps, a known price."""

    name: str

    def price(self) -> Price | None:
        """Returns its price; None where nobody knows."""
        ...


def prices_of(models: Iterable[PricedModel], own: Mapping[str, Sequence[float]]) -> Prices:
    """Returns the prices by which a run's dollars are counted.

    Args:
        models: The run's models.
        own: The caller's prices, by model name; they count before all others.
    """
    prices: Prices = {}
    for model in models:
        price = own[model.name] if model.name in own else model.price()
        pair = None if price is None else list(price)
        # Two servers may call different models by one name: then nobody knows.
        prices[model.name] = pair if prices.get(model.name, pair) == pair else None
    return prices


def unpriced(prices: Mapping[str, object]) -> list[str]:
    """Returns the models whose price nobody knows."""
    return [name for name, price in prices.items() if price is None]


def check_limit(prices: Prices) -> None:
    """Refuses a limit on dollars that could not be kept.

    Raises:
        SettingError: A price is unknown.
    """
    if names := unpriced(prices):
        raise SettingError(
            f"a limit on dollars needs the price of {' and '.join(map(repr, names))}, which is not "
            "known; give it, in dollars a million prompt and completion tokens, by the setting "
            f"prices, such as {remedy(names[0])}"
        )


def remedy(name: str) -> str:
    """Returns the form in which the price of a model is given."""
    return f"--set 'prices={{\"{name}\": [0.15, 0.6]}}'"


def dollars(spent: float | None, prices: Mapping[str, object]) -> str:
    """Returns what a run cost, in words; its dollars are None where they are not known."""
    if spent is None:
        names = ", ".join(unpriced(prices)) or "the model"
        return f"dollars unknown (no price of {names} is known)"
    return f"${spent:.4f}" if spent else "$0"
