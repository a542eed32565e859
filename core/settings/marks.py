"""What a setting's field says of it besides type and bounds, read by core, which names no setting.

The policy of a server acts on `Operators`, `Offer`, `Ceiling`, `FreeText` and `Served`: a setting
that takes any text and has no mark fails the build of a served graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Operators:
    """The operator's alone: clients do not have it. Its value is the policy's, else its default."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One of the operator's names for things of a kind."""

    kind: str
    """Which of the policy's offers: `models`, `corpora` or `databases`; empty: `names` are all."""
    description: str
    names: tuple[str, ...] = ()
    """What can be chosen besides; a first empty one leaves the choice to the run."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A number that clients may lower, never lift above the operator's."""

    most: float | None = None
    """The ceiling where the operator names none; None: the setting's default."""


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text: it is looked up or shown to a model, and opens nothing."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a setting is on a server where nobody says otherwise."""

    default: object


@dataclass(frozen=True, slots=True)
class Needs:
    """Which capability a task must have, by the setting's value."""

    protocols: Mapping[Any, type]
    untold: bool = False
    """Only where nobody tells the method whether an answer is right."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The method's own bound: searches that reach it stop for it."""

    what: Literal["rounds", "depth"]


@dataclass(frozen=True, slots=True)
class StandsFor:
    """A switch for values of other settings, those of the official code."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ForTools:
    """Only tools depend on it."""


@dataclass(frozen=True, slots=True)
class ForDatabases:
    """Only tasks that ask a database depend on it."""


@dataclass(frozen=True, slots=True)
class Exact:
    """Whether the task's own exact check tells the method what is right."""


@dataclass(frozen=True, slots=True)
class Constrains:
    """Whether completions are held to a grammar, which few models take."""
