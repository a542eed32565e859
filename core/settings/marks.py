"""Marks on the fields of settings. Core reads them, as it names no setting of a method.

The policy of a server acts on `Operators`, `Offer`, `Ceiling`, `FreeText` and `Served`. A setting
that takes any text and has no mark fails the build of a served graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Operators:
    """Clients cannot set it: its value is the one in the operator's policy, else its default."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Clients choose among the operator's names for things of one kind."""

    kind: str
    """The policy's field of names: `models`, `corpora` or `databases`; empty: only `names`."""
    description: str
    names: tuple[str, ...] = ()
    """Further choices; an empty one, which comes first, leaves the choice to the run."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A number that clients may lower, but never raise above the operator's."""

    most: float | None = None
    """The ceiling if the operator names none; None: the setting's default."""


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text is safe: it is looked up or shown to a model, and opens no file or address."""


@dataclass(frozen=True, slots=True)
class Served:
    """The default of a setting on a server."""

    default: object


@dataclass(frozen=True, slots=True)
class Needs:
    """The capability that a task must have, by the setting's value."""

    protocols: Mapping[Any, type]
    untold: bool = False
    """Whether the task needs it only if nothing tells the method whether an answer is right."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The method's own bound: a search stops when it reaches this number of rounds or depth."""

    what: Literal["rounds", "depth"]


@dataclass(frozen=True, slots=True)
class StandsFor:
    """A switch that sets other settings to the values of the official code."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ForTools:
    """The setting matters to tools only."""


@dataclass(frozen=True, slots=True)
class ForDatabases:
    """The setting matters to tasks that ask a database only."""


@dataclass(frozen=True, slots=True)
class Exact:
    """A switch: whether the task's own exact check tells the method if an answer is right."""


@dataclass(frozen=True, slots=True)
class Constrains:
    """A switch: whether a grammar constrains completions, which few models support."""
