"""One node run's access to the models: asks, counts, and turns failures into state."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.config import get_stream_writer

from thoughtgraph.errors import BudgetSpent, ModelError
from thoughtgraph.fan_out import NodeInput
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.port import ChatPort, Draw
from thoughtgraph.llm.prices import prices_of
from thoughtgraph.nodes.limits import limits_in
from thoughtgraph.nodes.node import reader, running_scratch
from thoughtgraph.parts import JUDGES, Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Prompt
from thoughtgraph.usage import Usage

RETRY = "retry"
"""The event that says, in LangGraph's `custom` stream, why a request is repeated."""
SAMPLE_BREAK = "\n-----\n"


class Asker:
    """Asks the models on behalf of one node run.

    Args:
        given: What the node was given: the state, or what was sent to it.
    """

    def __init__(self, parts: Parts, given: SearchState | NodeInput) -> None:
        self._parts = parts
        self._given = given
        self._needed = not given.get("ahead")
        step = _superstep()
        self._prices = dict(given["prices"])
        self.meter = Meter(
            limits_in(given),
            given.get("usage", Usage()),
            prices=self._prices,
            step=step,
            siblings=running_scratch().beside(step),
            needed=self._needed,
            tell=_tell,
        )
        self.error = ""

    async def samples(
        self, prompt: Prompt, *, role: str, n: int = 1, draw: Draw | None = None
    ) -> list[str] | None:
        """Returns n completions, or None when a limit or a failing endpoint forbids them.

        Args:
            prompt: What to ask.
            role: What for.
            n: How many samples.
            draw: Identifies a generation; None marks an evaluation.
        """
        settings = self._parts.settings.of(self._given["settings"])
        try:
            port: ChatPort = await self._parts.port_for(self._given["settings"], role)
            if port.name not in self._prices:  # the run is resumed with another model
                self._prices |= prices_of([port], settings.prices)
            return await port.sample(
                prompt.messages(),
                n=n,
                role=role,
                stop=prompt.stop,
                draw=draw,
                meter=self.meter,
                scope="shared" if settings.share_evaluations else self._given["run"],
                parameters=settings.parameters(judging=role in JUDGES),
                labels=labels(self._parts, self._given),
                grammar=prompt.grammar,
            )
        except BudgetSpent:
            return None
        except ModelError as error:
            self.error = str(error)
            return None

    def update(self, **more: Any) -> dict[str, Any]:
        """Returns the node's state update: what it spent, how it failed, and `more`.

        A failure ahead of need is not told: what is needed asks again.
        """
        error = self.error or self.meter.error
        failure = {"error": error, "stop_reason": "error"} if error and self._needed else {}
        return {"usage": self.meter.usage(), **failure, **more}


def labels(parts: Parts, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what traces say of a call: whose it is, and about which thoughts.

    Args:
        given: What the node was given: the state, or what was sent to it.
    """
    about = given.get("about") or [given.get("thought") or given.get("visiting")]
    thoughts = [key for key in about if key] or list(given.get("frontier") or [])
    depth = given["tree"][thoughts[0]]["depth"] if "tree" in given and thoughts else None
    found = {
        "method": parts.method.id,
        "task": given["settings"].get("task"),
        "run": given.get("run"),
        "thoughts": thoughts,
        "depth": len(given["path"]) if "path" in given else depth,
    }
    return {f"thoughtgraph_{name}": each for name, each in found.items() if each is not None}


@contextmanager
def traced_as(said: Mapping[str, Any]) -> Iterator[None]:
    """Gives what is called inside, such as a tool, the labels by which a trace knows it."""
    config = var_child_runnable_config.get() or {}
    metadata = {**config.get("metadata", {}), **said}
    token = var_child_runnable_config.set({**config, "metadata": metadata})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def join_samples(samples: Sequence[str]) -> str:
    """Returns several completions as one text for a reader."""
    return SAMPLE_BREAK.join(samples)


def _tell(cause: str) -> None:
    """Tells whoever follows LangGraph's `custom` stream why a request is repeated."""
    if reader() is not None:
        get_stream_writer()({"event": RETRY, "reason": cause})


def _superstep() -> int:
    config = var_child_runnable_config.get() or {}
    return int(config.get("metadata", {}).get("langgraph_step", 0))
