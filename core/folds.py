"""How writes change the channels of a state, read off its annotations."""

from collections.abc import Callable, Sequence
from functools import partial
from inspect import isfunction
from typing import Any, get_origin, get_type_hints

from langgraph.channels import DeltaChannel

Fold = Callable[[Any, Any], Any]
"""Makes a channel's value of the old one, None before the first write, and of what is written."""


def folds(schema: type) -> dict[str, Fold]:
    """Returns how writes change the channels of a state that have a rule for it.

    The rules are those of the state's annotations, as LangGraph applies them. A channel that is not
    named takes the last write.

    Args:
        schema: A method's state, `SearchState` or a subclass.
    """
    rules: dict[str, Fold] = {}
    for name, hint in get_type_hints(schema, include_extras=True).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, DeltaChannel):
                rules[name] = partial(_batched, mark.reducer, mark.typ or dict)
            elif isfunction(mark):
                rules[name] = partial(
                    _one_by_one, mark, get_origin(hint.__origin__) or hint.__origin__
                )
    return rules


def _batched(reducer: Callable[[Any, Sequence[Any]], Any], empty: type, old: Any, new: Any) -> Any:
    return reducer(empty() if old is None else old, [new])


def _one_by_one(operator: Callable[[Any, Any], Any], empty: type, old: Any, new: Any) -> Any:
    return operator(empty() if old is None else old, new)
