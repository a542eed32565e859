"""Recorded GPT-4 runs of the official code, and searches of our graphs that must repeat them.

`THOUGHTGRAPH_REPLAY_LOGS` names the folder. What the model must have answered is inferred from what
was recorded.
"""

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Call, Reply, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.graphs.tot_bfs import selection
from thoughtgraph.nodes.verdicts import state_key_of
from thoughtgraph.task import Prompt, Question
from thoughtgraph.tasks.game24.game24 import Game24

FOLDER = os.environ.get("THOUGHTGRAPH_REPLAY_LOGS")
recorded = pytest.mark.skipif(
    not FOLDER, reason="THOUGHTGRAPH_REPLAY_LOGS names no folder of recorded runs"
)


def logs(pattern: str) -> list[Path]:
    """The files of recorded runs whose names are like that."""
    return sorted(Path(FOLDER).resolve().glob(pattern)) if FOLDER else []


def load(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def entries(pattern: str) -> list[Any]:
    """The recorded runs of all files whose names are like that."""
    found = [entry for path in logs(pattern) for entry in load(path)]
    return found or pytest.skip(f"no {pattern} in $THOUGHTGRAPH_REPLAY_LOGS")


def held(figures: Mapping[range, Any], known: Mapping[int, Any]) -> dict[range, Any]:
    """The figures of what is recorded here; there must be some."""
    found = {each: figures[each] for each in figures if known.keys() >= {*each}}
    assert found
    return found


def thoughts(lines: str | Sequence[str]) -> list[Any]:
    """A path whose thoughts are the lines of a recorded partial output."""
    split = lines.split("\n")[:-1] if isinstance(lines, str) else lines
    return [{"text": line} for line in split]


def told(prompt: Prompt) -> str:
    """A prompt as the scripted model sees it."""
    return "\n".join(str(message.content) for message in prompt.messages())


def segments(parents: Sequence[str], children: Sequence[str]) -> list[list[str]]:
    """Gives recorded candidates back to their parents, as the lines each parent's answer had.

    Every answer had at least one line; of several equal parents the last takes what is left, since
    nothing tells whose a line was.
    """
    left = list(children)
    split: list[list[str]] = []
    for at, parent in enumerate(parents):
        again = parent in parents[at + 1 :]
        own = takewhile(lambda child, parent=parent: _continues(child, parent), left)
        size = 1 if again else len([*own])
        split.append([child[len(parent) :].rstrip("\n") for child in left[:size]])
        left = left[size:]
    assert not left, "every recorded candidate belongs to a recorded parent"
    return split


def _continues(candidate: str, parent: str) -> bool:
    """Whether a candidate is a parent and one line more."""
    return candidate.startswith(parent) and candidate.removeprefix(parent).count("\n") == 1


def votes(value: float) -> list[str]:
    """The three verdicts whose sum was recorded: 20 a sure, 1 a likely, 0.001 an impossible."""
    thousandths = round(value * 1000)
    sure, rest = divmod(thousandths, 20_000)
    likely, impossible = divmod(rest, 1000)
    words = ["sure"] * sure + ["likely"] * likely + ["impossible"] * impossible
    assert len(words) <= 3, f"{value} is no sum of three verdicts"
    return words + ["?"] * (3 - len(words))


def judged_before(entry: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The verdicts that the recorded run had from earlier puzzles and shows it had, by state key.

    Four equations without an answer are worth 0, except where the numbers they leave had been
    judged before: the official code looks those up first, and keeps verdicts between puzzles.
    """
    task, problem = Game24(), entry["steps"][0]["x"]
    kept: dict[str, dict[str, Any]] = {}
    asked: set[str] = set()
    for step in entry["steps"]:
        for text, value in zip(step["new_ys"], step["values"], strict=True):
            question = task.value(problem, thoughts(text), {})
            if isinstance(question, Question):
                asked.add(state_key_of(question.prompt))
            elif (
                value and question.instead and (key := state_key_of(question.instead)) not in asked
            ):
                kept[key] = {"value": value, "label": ", ".join(votes(value))}
    return kept


def game24_reply(entry: Mapping[str, Any]) -> Reply:
    """Answers as the recorded run did: generations by thought, evaluations by prompt."""
    task, problem = Game24(), entry["steps"][0]["x"]
    generations: dict[str, str] = {}
    verdicts: dict[str, list[str]] = {}
    parents, created = ["0"], 0
    for step in entry["steps"]:
        for key, lines in zip(parents, segments(step["ys"], step["new_ys"]), strict=True):
            generations[key] = "\n".join(lines)
        seen: set[str] = set()
        for text, value in zip(step["new_ys"], step["values"], strict=True):
            question = task.value(problem, thoughts(text), {})
            if text not in seen and isinstance(question, Question):
                assert verdicts.setdefault(told(question.prompt), votes(value)) == votes(value)
            seen.add(text)
        best = sorted(range(len(step["values"])), key=lambda at: -step["values"][at])
        parents = [str(created + at + 1) for at in best[: len(step["select_new_ys"])]]
        created += len(step["new_ys"])

    def reply(call: Call) -> Sequence[str] | str:
        return generations[call.draw[1]] if call.draw else verdicts[call.prompt]

    return reply


async def replay_puzzle(entry: Any) -> Any:
    """A recorded search of Game of 24, replayed: each step must be the recorded one."""
    steps = entry["steps"]
    model = ScriptedChat(reply=game24_reply(entry))
    graph = tg.build("tot_bfs", task="game24", model=model, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": str(entry["idx"])}}
    breadth = max(len(step["select_new_ys"]) for step in steps)
    context = {"repo_compat": True, "n_evaluate": 3, "breadth": breadth, "steps": len(steps)}
    start = {"problem": steps[0]["x"]}
    await graph.ainvoke(
        start, config, context=context, interrupt_after=["start"], durability="exit"
    )
    earlier = {"thoughts": {"0": {"verdicts": judged_before(entry)}}}
    await graph.aupdate_state(config, earlier, as_node="start")
    selected = []
    modes: Any = {"stream_mode": ["updates", "values"], "output_keys": [*graph.builder.channels]}
    ran: Any = {}
    async for mode, chunk in graph.astream(
        None, config, context=context, durability="exit", **modes
    ):
        if mode == "values" and "select" in ran:
            selected.append(selection(cast("Any", chunk)))
        ran = chunk if mode == "updates" else {}
    out = (await graph.aget_state(config)).values
    tree = out["tree"]
    for depth, (step, kept) in enumerate(zip(steps, selected, strict=True), start=1):
        level = [thought for thought in tree.values() if thought["depth"] == depth]
        assert [text_of(tree, t["id"]) for t in level] == step["new_ys"]
        assert [t["value"] for t in level] == pytest.approx(step["values"])
        assert [text_of(tree, key) for key in kept] == step["select_new_ys"]
    assert [text_of(tree, key) for key in selected[-1]] == entry["ys"]
    return out


def text_of(tree: tg.Tree, key: str) -> str:
    return "".join(thought["text"] + "\n" for thought in tg.path_to(tree, key))
