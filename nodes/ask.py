"""What a node asks, and what it is answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from thoughtgraph.task import Question

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """One question: about which thought, what for, and how often."""

    question: Question[T]
    about: str
    """Id of the thought that is expanded or judged; of several, of the first."""
    role: str = "generate"
    n: int = 1
    """How many completions are wanted, where the question does not say it."""
    most: int | None = None
    """How many are asked for at most, where a limit leaves room for no more."""
    expansion: int | None = None
    """How often the thought was expanded before; None: a judgement, which equal questions share."""

    @property
    def wanted(self) -> int:
        """How many completions the question is worth."""
        return self.question.n or self.n

    @property
    def sent(self) -> int:
        """How many completions are asked for."""
        return self.wanted if self.most is None else min(self.wanted, self.most)

    @property
    def name(self) -> str:
        """What tells it from all others of its superstep."""
        return f"{self.role} {self.about} {self.expansion} {self.sent}"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a question was answered."""

    ask: Ask[T]
    texts: Sequence[str]
    reading: T
    """What the question reads in them."""
    usage: dict[str, dict[str, float]]
    """What it cost, by role."""
