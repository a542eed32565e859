"""Recorded runs as the rows of a benchmark."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.bench.runner import Batch, Setup, Trial, run, trials
from thoughtgraph.cli.bench import score

MODEL = "gpt-4"


def keep(
    folder: Path,
    task: str,
    method: str,
    outs: Sequence[Mapping[str, Any]],
    *,
    given: Mapping[str, Any] | None = None,
    gold: Mapping[str, str] | None = None,
) -> None:
    """Writes what graphs returned, a problem each, as `bench` does: as runs of GPT-4.

    Args:
        folder: The result folder.
        task: The task; its problems are the set of the same name.
        method: The method.
        outs: What its graph returned.
        given: The settings that a suite's line gives.
        gold: The right answers by problem.
    """
    settings = effective_settings(method, registry.task(task), given) | {"task": task}
    setup = Setup(task, method, MODEL, data=task, given=given or {}, effective=settings)
    problems = [str(out["problem"]) for out in outs]
    records = [Record(str(at), each, (gold or {}).get(each)) for at, each in enumerate(problems)]
    of = dict(zip(problems, outs, strict=True))

    async def search(trial: Trial) -> Mapping[str, Any]:
        return {**of[trial.record.problem], "settings": settings}

    wanted, results = trials([Batch([setup], records, [0])]), ResultFolder(folder)
    results.open()
    try:
        asyncio.run(run(wanted, results, search, score, concurrency=1, tell=lambda *_: None))
    finally:
        results.close()


def sampled(
    task: str, method: str, texts: Mapping[str, Sequence[str]]
) -> dict[str, Mapping[str, Any]]:
    """What a method of samples returns by problem when these are what the model says."""
    said: Sequence[str] = ()
    graph = tg.build(method, task=task, model=ScriptedChat(reply=lambda call: said))

    async def searches() -> dict[str, Mapping[str, Any]]:
        nonlocal said
        outs = {}
        for problem, said in texts.items():
            context = {"n_generate": len(said)}
            outs[problem] = await graph.ainvoke({"problem": problem}, context=context)
        return outs

    return asyncio.run(searches())


def spending(out: Mapping[str, Any], prompt: int, completion: int) -> dict[str, Any]:
    """A result that took so many tokens."""
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {**out, "usage": {**out["usage"], **tokens}}
