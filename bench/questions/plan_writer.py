"""A scripted chat model that plans: it writes the gold plan of the question that it is asked."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from thoughtgraph.bench.questions.scene_questions import SceneQuestion
from thoughtgraph.tasks.scenes.task import numbered

FAULT = "Step 1:obj1 = filter_objects(table)"


class PlanWriter(BaseChatModel):
    """Writes the plan that belongs to the question in the prompt, or a fault."""

    plans: Mapping[str, str]
    """By question."""
    fails: Callable[[Any], bool]
    """Whether a call writes a fault; it is told the call's draw: thought and sibling."""
    latency: float = 0.0
    """Seconds that an answer takes."""

    @property
    def _llm_type(self) -> str:
        return "plan writer"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError("the graphs are async")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        if self.latency:
            await asyncio.sleep(self.latency)
        draw = ((run_manager.metadata if run_manager else None) or {}).get("thoughtgraph_draw")
        asked = str(messages[-1].content).rpartition("Question: ")[2].partition("\n")[0]
        text = FAULT if self.fails(draw) else self.plans[asked]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def plans_of(questions: Sequence[SceneQuestion]) -> dict[str, str]:
    """Returns the gold plans by question, as a model writes them."""
    return {question.question: numbered(question.plan) for question in questions}
