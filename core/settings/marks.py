"""What a server's policy reads off a setting: who may choose it, and among what.

A setting that takes any text and has no mark fails the build of a served graph.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operators:
    """The operator's alone: clients do not have it. Its value is the policy's, else its default."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One of the operator's names for things of a kind."""

    kind: str
    """Which of the policy's offers: `models` or `corpora`; empty: `names` are all there is."""
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
