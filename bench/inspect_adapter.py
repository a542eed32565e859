"""Methods and scorers as solvers and scorers of inspect_ai (the extra `inspect`).

    from inspect_ai import Task, eval
    from thoughtgraph.bench.inspect_adapter import official, problems, search

    solver = search("tot_bfs", "game24", breadth=3)
    eval(Task(problems("game24", "24.csv"), solver=solver, scorer=official("game24")), model=…)

The model is inspect's, so inspect's logs, cache, retries and limits see every request. The search
has its own limits, too. The command line knows both as `thoughtgraph/search` and `…/official`.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from thoughtgraph import registry, results
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench import metrics
from thoughtgraph.bench.data import load
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.building import build
from thoughtgraph.errors import InputError
from thoughtgraph.llm.scripted import AsyncChat

RESULT = "thoughtgraph"
"""The key under which a sample's store holds the whole result, for `thoughtgraph view`."""


class InspectChat(AsyncChat):
    """LangChain chat model that sends requests to the model that inspect evaluates.

    Args:
        n: Samples per request; a provider that returns only one is asked again.
        temperature: The sampling temperature; None: the evaluation's.
        top_p: The nucleus of the sampling; None: the evaluation's.
        max_tokens: Most tokens of a completion; None: the evaluation's.
        seed: The seed of the sampling; None: the evaluation's.
    """

    n: int = 1
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    @property
    def _llm_type(self) -> str:
        return "inspect"

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        sampling = {name: kwargs.get(name, getattr(self, name)) for name in _SAMPLING}
        config = GenerateConfig(num_choices=kwargs.get("n", self.n), stop_seqs=stop, **sampling)
        output = await get_model().generate(_turns(messages), config=config)
        replies = [AIMessage(choice.message.text) for choice in output.choices]
        if replies and (usage := output.usage):
            replies[0].usage_metadata = UsageMetadata(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                total_tokens=usage.total_tokens,
            )
        return ChatResult(generations=[ChatGeneration(message=message) for message in replies])


_SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
_TURNS = {
    SystemMessage: ChatMessageSystem,
    HumanMessage: ChatMessageUser,
    AIMessage: ChatMessageAssistant,
}


def _turns(messages: Sequence[BaseMessage]) -> list[ChatMessage]:
    return [_TURNS[type(message)](content=message.text) for message in messages]


@solver
def search(method: str, task: str, **settings: Any) -> Solver:
    """Returns a solver that runs a method.

    Args:
        method: The method's id, such as `tot_bfs`.
        task: The id of the task that reads a sample's input.
        settings: The method's settings, limits included.

    Raises:
        ThoughtgraphError: An argument is unusable; see `thoughtgraph.build`.
    """
    effective_settings(method, registry.task(task), settings)
    graph = build(method, task=task, model=InspectChat())

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        # A failing model raises: a failed sample must not count as a wrong answer.
        result = await graph.ainvoke({"problem": state.input_text}, context=settings)
        state.output.completion = result["answer"] or ""
        state.store.set(RESULT, results.stored(result))
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def official(task: str) -> Scorer:
    """Returns the official scorer of a task; the target of a sample is its gold answer.

    Args:
        task: The task's id.

    Raises:
        InputError: The task needs a judge, or a sample lacks the gold answer that scoring needs.
    """
    task_object = registry.task(task)

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion or None
        arguments = (task_object, state.input_text, [answer], target.text or None)
        scores = await asyncio.to_thread(metrics.scores_of, *arguments)
        if not scores:
            raise InputError(f"nobody can score an answer to {task!r} without a gold answer")
        return Score(value=scores[0], answer=answer)

    return score


def problems(task: str, path: str | Path) -> MemoryDataset:
    """Reads a data set in its public format, as `thoughtgraph bench --data` does.

    Args:
        task: The task's id.
        path: The file, or a folder that holds only such files.

    Raises:
        InputError: The file cannot be read, or an entry is not a problem of the task.
    """
    return MemoryDataset([_sample(each) for each in load(registry.task(task), path)], name=task)


def _sample(record: Record) -> Sample:
    facts = dict(record.facts)
    return Sample(input=record.problem, target=record.gold or "", id=record.id, metadata=facts)
