"""How close Thought Rollback's parallel growth comes to the time its dependent requests need.

    uv run python -m thoughtgraph.bench.rollback_latency [--latency 0.2] [--seeds 5]

A scripted chat model answers after a fixed latency. The critical path is the longest chain of
requests whose prompt contains an earlier answer, read off the model's own log; a search cannot be
faster. Under `two_call` a rollback's branch also waits for the reading of its analysis, which its
prompt does not show: the second ratio counts that too. Strictly sequential growth is timed beside.
"""

import argparse
import asyncio
import random
import statistics
import time
from typing import Any, NamedTuple

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

import thoughtgraph as tg

QUESTION = "How many apples are left?"


class Exchange(NamedTuple):
    """One request of the log."""

    began: float
    ended: float
    prompt: str
    answer: str
    role: str = "generate"


class Walker(BaseChatModel):
    """Answers by role and prompt alone, after a latency; every answer is a new text."""

    seed: int
    latency: float
    log: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "walker"

    def _generate(self, *given: Any, **more: Any) -> ChatResult:
        raise NotImplementedError("asked asynchronously only")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **more: Any,
    ) -> ChatResult:
        began = time.perf_counter()
        role = ((run_manager.metadata if run_manager else None) or {})["thoughtgraph_role"]
        prompt = "\n".join(str(message.content) for message in messages)
        await asyncio.sleep(self.latency)
        answer = self._answer(role, prompt)
        self.log.append(Exchange(began, time.perf_counter(), prompt, answer, role))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])

    def _answer(self, role: str, prompt: str) -> str:
        draws = random.Random(f"{self.seed} {role} {prompt}")
        name = f"text {draws.randrange(10**12)}"
        if role == "extract_index" or "Bad step index" in prompt:
            return f"{name}. Bad step index: {'1, 2' if draws.random() < 0.2 else 'None'}"
        ends = role == "generate" and draws.random() < 0.15
        return f"{name}. The final solution is {draws.randrange(3)}" if ends else name


def critical_path(log: list[Exchange], *, decisions: bool = False) -> int:
    """Returns the length of the longest chain of requests that each contain an earlier answer.

    Args:
        log: The model's log.
        decisions: Whether a request that contains an analysis also waits for the reading of that
            analysis. Under `two_call` it does: whether and where to go back is known only then.
    """
    ordered = sorted(log, key=lambda exchange: exchange.ended)
    analyses = [exchange.answer for exchange in ordered if exchange.role == "analyse"]
    longest: list[int] = []
    for at, exchange in enumerate(ordered):
        before = (
            longest[j]
            for j in range(at)
            if ordered[j].ended <= exchange.began
            and (
                ordered[j].answer in exchange.prompt
                or (decisions and _read(ordered[j], exchange, analyses))
            )
        )
        longest.append(1 + max(before, default=0))
    return max(longest, default=0)


def _read(reading: Exchange, later: Exchange, analyses: list[str]) -> bool:
    """Returns whether a request shows an analysis that an earlier one read the indexes of."""
    if reading.role != "extract_index" or later.role != "generate":
        return False
    return any(text in reading.prompt and text in later.prompt for text in analyses)


async def measured(
    seed: int, latency: float, *, parallel: bool, protocol: str = "two_call"
) -> tuple[float, list[Exchange]]:
    """Returns a search's seconds and its model's log."""
    model = Walker(seed=seed, latency=latency)
    graph = tg.build("rollback", task="gsm8k", model=model)
    context = {"parallel": parallel, "protocol": protocol}
    began = time.perf_counter()
    await graph.ainvoke({"problem": QUESTION}, context=context)
    return time.perf_counter() - began, model.log


async def main(latency: float, seeds: int) -> None:
    """Measures and prints."""
    await measured(0, 0.0, parallel=True)  # warms imports up
    for protocol in ("two_call", "single_call"):
        print(
            f"{protocol}\nseed  parallel s  requests  path s  times  with decisions  sequential s"
        )
        ratios: list[tuple[float, float]] = []
        for seed in range(seeds):
            spent, log = await measured(seed, latency, parallel=True, protocol=protocol)
            alone, _ = await measured(seed, latency, parallel=False, protocol=protocol)
            path = critical_path(log) * latency
            ratios.append((spent / path, spent / (critical_path(log, decisions=True) * latency)))
            print(
                f"{seed:4}  {spent:10.2f}  {len(log):8}  {path:6.2f}  {ratios[-1][0]:5.3f}  "
                f"{ratios[-1][1]:14.3f}  {alone:12.2f}"
            )
        medians = [statistics.median(column) for column in zip(*ratios, strict=True)]
        print(f"median {medians[0]:.3f} times the critical path, {medians[1]:.3f} with decisions\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer takes")
    parser.add_argument("--seeds", type=int, default=5, help="how many searches")
    given = parser.parse_args()
    asyncio.run(main(given.latency, given.seeds))
