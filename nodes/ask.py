"""One node run's access to the models: asks, counts, and turns failures into state."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.errors import BudgetSpent, ModelError
from thoughtgraph.model import ChatPort, Draw
from thoughtgraph.parts import Parts
from thoughtgraph.settings import limits_of
from thoughtgraph.state import Job, SearchState
from thoughtgraph.task import Prompt
from thoughtgraph.tree import path_to
from thoughtgraph.usage import Meter, Usage, remaining_requests

LIMITED = ("requests", "prompt_tokens", "completion_tokens", "dollars", "seconds", "rounds")
"""The counters that limits speak of; the rest need not travel with a job."""
SAMPLE_BREAK = "\n-----\n"


def job(state: SearchState | Job, **more: Any) -> Job:
    """Returns the slice of the state that a fanned-out task needs.

    Args:
        state: The whole state.
        more: The fields that say what the task is about.
    """
    usage = cast("Usage", {k: v for k, v in state["usage"].items() if k in LIMITED})
    base = {name: cast("Job", state)[name] for name in ("problem", "settings", "run")}
    return cast("Job", {**base, "usage": usage, **more})


def grants(state: SearchState) -> int:
    """Returns how many requests may still be sent, for routers that fan out."""
    return remaining_requests(limits_of(state["settings"]), state["usage"])


class Asker:
    """Asks the models on behalf of one node run.

    Args:
        parts: The graph's objects.
        given: The state or job the node was given.
    """

    def __init__(self, parts: Parts, given: SearchState | Job) -> None:
        self._parts = parts
        self._given = given
        settings = given["settings"]
        step = _superstep()
        self.meter = Meter(
            limits_of(settings),
            given.get("usage", Usage()),
            prices=settings["prices"],
            step=step,
            siblings=parts.siblings(given["run"], step),
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
        settings = self._given["settings"]
        try:
            port: ChatPort = await self._parts.port_for(settings, role)
            return await port.sample(
                prompt.messages(),
                n=n,
                role=role,
                stop=prompt.stop,
                draw=draw,
                meter=self.meter,
                scope="shared" if settings["share_evaluations"] else self._given["run"],
                parameters={
                    "temperature": settings["temperature"],
                    "max_tokens": settings["max_completion_tokens"],
                },
            )
        except BudgetSpent:
            return None
        except ModelError as error:
            self.error = str(error)
            return None

    def update(self, **more: Any) -> dict[str, Any]:
        """Returns the node's state update: what it spent, how it failed, and `more`."""
        error = self.error or self.meter.error
        failure = {"error": error, "stop_reason": "error"} if error else {}
        return {"usage": self.meter.usage(), **failure, **more}


def joined(samples: Sequence[str]) -> str:
    """Returns several completions as one text for a reader."""
    return SAMPLE_BREAK.join(samples)


def expansion_job(state: SearchState, thought: str, expansion: int = 0) -> Job:
    """Returns the job of expanding one thought."""
    path = [slim(t) for t in path_to(state["tree"], thought)]
    return job(state, thought=thought, expansion=expansion, path=path)


def slim(thought: Mapping[str, Any]) -> Any:
    """Returns what tasks read of a thought: jobs leave raw texts and counters behind."""
    return {k: v for k, v in thought.items() if k not in ("raw", "value_raw", "usage", "verdicts")}


def _superstep() -> int:
    config = var_child_runnable_config.get() or {}
    return int(config.get("metadata", {}).get("langgraph_step", 0))
