"""Scores that a model gives: the coherence of creative writing, a step after the runs.

A passage is scored several times and the mean counts (Tree of Thoughts, section 4.2). What was
judged is kept beside the results, a line a run, so that a step that was ended goes on.
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
"""The file of a result folder that holds what a judge thought of its runs."""
TASKS = ("creative_writing",)
"""Tasks whose answers are judged, not checked."""
BEST = 10
"""The best coherence score; the worst is 1 (Tree of Thoughts, section 4.2)."""
_SCORE = re.compile(after("coheren(?:ce|cy) score", points(BEST)), re.IGNORECASE)
Judgements = Mapping[str, Sequence[float]]
"""The mean coherence of each output of a run, between 0 and 1, by the run's key."""


def judgements(folder: Path, judge: str) -> Judgements:
    """Returns what a judge thought of the runs of a folder.

    Args:
        folder: The folder.
        judge: The judge's specifier; judges are never mixed.
    """
    known = read_lines(folder / JUDGED) if (folder / JUDGED).exists() else []
    return {row["key"]: row["scores"] for row in known if _is_judged(row, judge)}


def _is_judged(row: Row, judge: str) -> bool:
    # What is damaged is judged again, as what was torn is.
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
    """Judges the outputs of runs that were not judged yet, and keeps each as it comes.

    Args:
        rows: The runs.
        folder: Their folder.
        judge: The judge's specifier.
        port: The judge; its own cap bounds what is asked at once.
        samples: How many scores of a passage are averaged.
        tell: Is told how many runs are judged.

    Raises:
        ThoughtgraphError: The judge cannot be asked, or what it said not be kept.
    """
    known = judgements(folder, judge)
    wanted = [row for row in rows if row["task"] in TASKS and row["key"] not in known]
    done = len(known)

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
        for row in wanted:
            begin(one(row))


def with_judgements(rows: Iterable[Row], known: Judgements) -> Iterator[Row]:
    """Yields runs with the scores that a judge gave; the score is that of the answer."""
    for row in rows:
        scores = known.get(row.get("key", ""))
        if scores is None or row.get("score") is not None:
            yield row
            continue
        outputs = list(outputs_of(row))
        at = outputs.index(row["answer"]) if row["answer"] in outputs else 0
        yield {**row, "scores": scores, "score": scores[at] if scores else 0.0}


async def coherence(judge: ChatPort, passage: str, *, samples: int = 5) -> list[int]:
    """Returns the coherence scores of a passage that can be read (Tree of Thoughts, section 4.2).

    Args:
        judge: The judging model; the paper's was GPT-4.
        passage: The passage. An empty one is not judged.
        samples: How many scores are asked for (paper: 5).
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
    """Returns the last coherence score in a judge's text; None for none or one out of range."""
    scores = _SCORE.findall(plain(text))
    value = float(scores[-1]) if scores else 0.0
    return int(value) if value in range(1, BEST + 1) else None
