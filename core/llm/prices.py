"""Prices of models: the caller's own first, then those of a public table that is kept up to date.

The table is the package `genai-prices`, which contains its data: nothing is fetched. It is imported
only when a price is looked up, as the import takes half a second.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from thoughtgraph.errors import SettingError

Price = tuple[float, float]
"""US dollars for a million prompt tokens and for a million completion tokens."""
Prices = dict[str, list[float] | None]
"""The price of each model of a run, by the model's name; None where it is unknown."""

FREE: Price = (0.0, 0.0)
MILLION = 1_000_000
PROBE = 1_000
"""Tokens of the request whose price is looked up (ours): long requests may cost more a token."""


def public_price(model: str, endpoint: str, provider: str = "") -> Price | None:
    """Returns the public price of a model, without discounts for cached prompts.

    Returns None if the table has no price, or if a request costs more than its tokens.

    Args:
        model: The model's name at the provider.
        endpoint: The model's endpoint. An address decides, as a server may use any model name.
        provider: LangChain's name of the provider, for an endpoint that is no address.
    """
    address = endpoint if "://" in endpoint else ""
    if not (address or provider) or address.startswith("http://"):
        return None  # a server of one's own
    where = {"provider_api_url": address} if address else {"provider_id": provider}
    table: Any = import_module("genai_prices")
    usage = table.Usage(input_tokens=PROBE, output_tokens=PROBE)
    try:
        cost = table.calc_price(usage, model, **where)
    except LookupError:
        return None
    if cost.total_price != cost.input_price + cost.output_price:
        return None
    factor = MILLION // PROBE
    return float(cost.input_price * factor), float(cost.output_price * factor)


class PricedModel(Protocol):
    """A model with a name and, perhaps, a known price."""

    name: str

    def price(self) -> Price | None:
        """Returns the model's price; None if unknown."""
        ...


def prices_of(models: Iterable[PricedModel], own: Mapping[str, Sequence[float]]) -> Prices:
    """Returns the prices by which a run's dollars are counted.

    Args:
        models: The run's models.
        own: The caller's prices, by model name; they take precedence.
    """
    prices: Prices = {}
    for model in models:
        price = own[model.name] if model.name in own else model.price()
        pair = None if price is None else list(price)
        # Two servers may use one name for different models: then the price is unknown.
        prices[model.name] = pair if prices.get(model.name, pair) == pair else None
    return prices


def unpriced(prices: Mapping[str, object]) -> list[str]:
    """Returns the names of the models without a known price."""
    return [name for name, price in prices.items() if price is None]


def check_limit(prices: Prices) -> None:
    """Refuses a limit on dollars that cannot be enforced.

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
    """Returns the command-line option that sets the price of a model."""
    return f"--set 'prices={{\"{name}\": [0.15, 0.6]}}'"


def dollars(spent: float | None, prices: Mapping[str, object]) -> str:
    """Returns the cost of a run as text; `spent` is None if the dollars are unknown."""
    if spent is None:
        names = ", ".join(unpriced(prices)) or "the model"
        return f"dollars unknown (no price of {names} is known)"
    return f"${spent:.4f}" if spent else "$0"
