"""The methods and scorers for those who evaluate with inspect_ai (the extra `inspect`).

    from inspect_ai import Task, eval
    from thoughtgraph.bench.inspect_adapter import official, problems, search

    solver = search("tot_bfs", "game24", breadth=3)
    eval(Task(problems("game24", "24.csv"), solver=solver, scorer=official("game24")), model=…)

The model is inspect's, so its logs, cache, retries and limits see every request; the search has its
own limits besides. On the command line they are `thoughtgraph/search` and `thoughtgraph/official`.
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
"""Where in a sample's store the whole result is, as `thoughtgraph view` reads it."""


class InspectChat(AsyncChat):
    """The model that inspect evaluates, as a chat model of LangChain.

    Args:
        n: How many samples a request asks for; providers that return one are asked again.
        temperature: The sampling temperature; None: the evaluation's.
        top_p: The nucleus; None: the evaluation's.
        max_tokens: The longest completion; None: the evaluation's.
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
        made = [AIMessage(choice.message.text) for choice in output.choices]
        if made and (used := output.usage):
            made[0].usage_metadata = UsageMetadata(
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                total_tokens=used.total_tokens,
            )
        return ChatResult(generations=[ChatGeneration(message=message) for message in made])


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
    """Makes a solver of a method.

    Args:
        method: The method's id, such as `tot_bfs`.
        task: The task's id: it reads the input of a sample.
        settings: The method's settings, limits included.

    Raises:
        ThoughtgraphError: Something that was given cannot be used, as `thoughtgraph.build` says.
    """
    effective_settings(method, registry.task(task), settings)
    graph = build(method, task=task, model=InspectChat())

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        # A model that fails raises: a sample that failed is no wrong answer.
        out = await graph.ainvoke({"problem": state.input_text}, context=settings)
        state.output.completion = out["answer"] or ""
        state.store.set(RESULT, results.stored(out))
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def official(task: str) -> Scorer:
    """Makes a scorer of a task's official one; the target of a sample is its gold answer.

    Args:
        task: The task's id.

    Raises:
        InputError: The task has no scorer that needs no judge, or a sample has no gold answer.
    """
    known = registry.task(task)

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion or None
        arguments = (known, state.input_text, [answer], target.text or None)
        scores = await asyncio.to_thread(metrics.scores_of, *arguments)
        if not scores:
            raise InputError(f"nobody can score an answer to {task!r} without a gold answer")
        return Score(value=scores[0], answer=answer)

    return score


def problems(task: str, path: str | Path) -> MemoryDataset:
    """Reads a data set in its public format, as `thoughtgraph bench --data` does.

    Args:
        task: The task's id.
        path: The file, or a folder of nothing else.

    Raises:
        InputError: It cannot be read.
    """
    return MemoryDataset([_sample(each) for each in load(registry.task(task), path)], name=task)


def _sample(record: Record) -> Sample:
    facts = dict(record.facts)
    return Sample(input=record.problem, target=record.gold or "", id=record.id, metadata=facts)
