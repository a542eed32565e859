"""What the nodes of one running graph share beside its state: it lives and dies with the run.

It hangs on a channel of its own. LangGraph makes a run's channels when the run begins or goes on
and holds them nowhere else, so whatever a run ends by (an answer, an error, a cancellation, a
stream that nobody reads to its end) takes them along.
"""

from collections.abc import Sequence
from typing import Any, Self

from langgraph.channels.base import BaseChannel

SCRATCH = "scratch"
"""The channel's name; `thoughtgraph.building` keeps it out of streams and states."""


class Scratch:
    """What one run keeps while it runs: nothing of it is state, all of it can be made again."""

    def __init__(self) -> None:
        self.tools: Any = None
        """The run's open tools; None until they are opened."""


class ScratchChannel(BaseChannel[Scratch, Any, Any]):
    """A channel that holds one `Scratch` a run; nothing is written to it and none of it is kept."""

    __slots__ = ("_scratch",)

    def __init__(self, typ: Any = Scratch, key: str = "", scratch: Scratch | None = None) -> None:
        super().__init__(typ, key)
        self._scratch = scratch or Scratch()

    def __eq__(self, other: object) -> bool:
        """Two of them are declared alike: that is what LangGraph asks when schemas meet."""
        return isinstance(other, ScratchChannel)

    __hash__ = None  # type: ignore[assignment]

    @property
    def ValueType(self) -> type[Scratch]:
        """The type of what is read."""
        return Scratch

    @property
    def UpdateType(self) -> type[Scratch]:
        """The type of what would be written."""
        return Scratch

    def copy(self) -> Self:
        """Returns the channel for a reader of the same run."""
        return self.__class__(self.typ, self.key, self._scratch)

    def checkpoint(self) -> None:
        """Gives nothing to a checkpoint."""

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Returns the channel of a run that begins or goes on."""
        return self.__class__(self.typ, self.key)

    def get(self) -> Scratch:
        """Returns the run's scratch."""
        return self._scratch

    def is_available(self) -> bool:
        """Says that there is always something to read."""
        return True

    def update(self, values: Sequence[Any]) -> bool:
        """Takes no writes."""
        return False
