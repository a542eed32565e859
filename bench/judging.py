"""Lets a model judge the coherence of creative writing, in a step after the runs.

The judge scores a passage several times and the mean counts (Tree of Thoughts, section 4.2). A file
in the result folder keeps the scores, one line per run, so that an interrupted step can resume.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from thoughtgraph.bench.report_lines import outputs_of
from thoughtgraph.bench.result_files import Row, append_line, end_line, read_lines
from thoughtgraph.bench.runner import together
from thoughtgraph.bench.statistics import mean
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.prompts import fill
from thoughtgraph.task import Prompt
from thoughtgraph.tasks.judgements import after, plain, points

JUDGED = "judged.jsonl"
"""The file in a result folder that holds the judges' scores of its runs."""
TASKS = ("creative_writing",)
"""Tasks whose answers are judged, not checked."""
BEST = 10
"""The best coherence score; the worst is 1 (Tree of Thoughts, section 4.2)."""
_SCORE = re.compile(after("coheren(?:ce|cy) score", points(BEST)), re.IGNORECASE)
Judgements = Mapping[str, Sequence[float]]
"""The mean coherence of each output of a run, between 0 and 1, by the run's key."""


def judgements(folder: Path, judge: str) -> Judgements:
    """Returns a judge's scores of the runs in a folder.

    Args:
        folder: The folder.
        judge: The judge's specifier; scores of other judges are left out.
    """
    lines = read_lines(folder / JUDGED) if (folder / JUDGED).exists() else []
    return {row["key"]: row["scores"] for row in lines if _is_judged(row, judge)}


def _is_judged(row: Row, judge: str) -> bool:
    # A run whose line is damaged is judged again, like one whose line is torn.
    scores = row.get("scores")
    numbers = isinstance(scores, list) and all(isinstance(score, float) for score in scores)
    return numbers and row.get("judge") == judge


async def judge_runs(
    rows: Iterable[Row],
    folder: Path,
    judge: str,
    port: ChatPort,
    *,
    samples: int,
    tell: Callable[[int], None],
) -> None:
    """Judges the outputs of runs without a judgement, and stores the scores of each at once.

    Args:
        rows: The runs.
        folder: Their folder.
        judge: The judge's specifier.
        port: The judge; its own cap limits concurrent requests.
        samples: Number of scores per passage, of which the mean counts.
        tell: Called after each run with the number of judged runs.

    Raises:
        ThoughtgraphError: A request to the judge failed, or its scores cannot be written.
    """
    stored = judgements(folder, judge)
    missing = [row for row in rows if row["task"] in TASKS and row["key"] not in stored]
    done = len(stored)

    async def one(row: Row) -> None:
        nonlocal done
        passages = [passage or "" for passage in outputs_of(row)]
        scores = await asyncio.gather(*(coherence(port, p, samples=samples) for p in passages))
        line = {
            "key": row["key"],
            "judge": judge,
            "scores": [mean(each) / BEST for each in scores],
        }
        append_line(folder / JUDGED, line)
        done += 1
        tell(done)

    end_line(folder / JUDGED)
    async with together() as begin:
        for row in missing:
            begin(one(row))


def with_judgements(rows: Iterable[Row], known: Judgements) -> Iterator[Row]:
    """Yields runs; one without a `score` gets a judge's `scores`, and its answer's as `score`."""
    for row in rows:
        scores = known.get(row.get("key", ""))
        if scores is None or row.get("score") is not None:
            yield row
            continue
        outputs = list(outputs_of(row))
        at = outputs.index(row["answer"]) if row["answer"] in outputs else 0
        yield {**row, "scores": scores, "score": scores[at] if scores else 0.0}


async def coherence(judge: ChatPort, passage: str, *, samples: int = 5) -> list[int]:
    """Returns the readable coherence scores of a passage (Tree of Thoughts, section 4.2).

    Args:
        judge: The judging model; the paper's was GPT-4.
        passage: The passage; an empty one gets no scores and no request.
        samples: Number of scores to request (paper: 5).
    """
    if not passage.strip():
        return []
    texts = await judge.sample(
        Prompt(fill("creative_writing/score", passage=passage)).messages(),
        n=samples,
        role="score",
        scope="shared",
        parameters={"temperature": 1.0, "max_tokens": 1000},
    )
    return [score for text in texts if (score := read_score(text)) is not None]


def read_score(text: str) -> int | None:
    """Returns the last coherence score in a judge's text; None if it is missing or out of range."""
    scores = _SCORE.findall(plain(text))
    value = float(scores[-1]) if scores else 0.0
    return int(value) if value in range(1, BEST + 1) else None
