"""Tree-of-Mixed-Thought's methods compared on generated questions, resumable, as a table.

    python -m thoughtgraph.bench.papers.mixed_thought_runs --types sum,exist --out runs.jsonl
    python -m thoughtgraph.bench.papers.mixed_thought_runs --table --out runs.jsonl

Each run becomes one line of JSON as it finishes; started again with the same options, the command
goes on with the runs that are missing. Gold answers are compared here, after the search.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import thoughtgraph as tg
from thoughtgraph.bench.papers.mixed_metrics import Score, counts, saving, score
from thoughtgraph.bench.questions.packaged_questions import SEED as LIBRARY_SEED
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.context import assignments
from thoughtgraph.tasks.scenes.scenes import uses_paper_tools
from thoughtgraph.tools.scenes.vocabulary import Style

METHODS = ("tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block")
ONE_STOP = "tomt_one_stop"
EXECUTED = "-"
"""Profile of the one-stop baseline: its plan is executed, no evaluator stands between."""
KEY = ("model", "method", "style", "type", "profile", "seed", "settings", "question")
"""What makes a run the same run."""
OWN = {"start_depth": "tomt_os", "block_size": "tomt_block"}
"""Settings that one method alone has."""
TRUNCATED = (10, 20, 30)
"""Calls at which the paper's appendix B reports accuracy."""


class Run(NamedTuple):
    """One search to make."""

    method: str
    type: Type
    profile: str
    question: SceneQuestion


async def record(arguments: argparse.Namespace) -> None:
    """Makes the runs that are not in the file yet."""
    settings = {"max_calls": arguments.calls, **assignments(arguments.set)}
    done = {key_of(row) for row in read(arguments.out)}
    graphs: dict[str, Any] = {}
    for run in runs(arguments, settings):
        given = given_to(run, settings)
        head = {
            "model": arguments.model,
            "method": run.method,
            "style": arguments.style,
            "type": run.type,
            "profile": run.profile,
            "seed": arguments.seed,
            "settings": given,
            "question": run.question.id,
        }
        if key_of(head) in done:
            continue
        if run.method not in graphs:
            graphs[run.method] = tg.build(run.method, task=arguments.style, model=arguments.model)
        row = {**head, **await searched(graphs[run.method], run.question, given)}
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(line_of(row), flush=True)


async def searched(
    graph: Any, question: SceneQuestion, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns what one search gave, with the gold answer beside it.

    Raises:
        RuntimeError: The model stopped answering; the run is to be made again.
    """
    began = time.perf_counter()
    out = await graph.ainvoke({"problem": question.problem()}, context=settings)
    seconds = time.perf_counter() - began
    if out["stop_reason"] == "error":
        raise RuntimeError(out["error"])
    usage = out["usage"]
    refused = [t["note"].partition(":")[0] for t in out["tree"].values() if t["status"] == "pruned"]
    return {
        "answer": out["answer"],
        "gold": question.answer,
        "hop": len(question.plan),
        "stop_reason": out["stop_reason"],
        **counts(out["tree"], usage["requests"])._asdict(),
        "faults": {code: refused.count(code) for code in sorted(set(refused))},
        "requests": usage["requests"],
        "prompt_tokens": usage["prompt_tokens"],
        "completion_tokens": usage["completion_tokens"],
        "seconds": round(seconds, 3),
    }


def runs(arguments: argparse.Namespace, settings: Mapping[str, Any]) -> Iterator[Run]:
    """Yields the runs question by question, so that a part of them compares all methods fairly.

    With the paper's tools, questions whose gold plan needs another one are left out.
    """
    for kind in arguments.types:
        questions = generate(arguments.style, kind, arguments.questions, arguments.seed)
        for question in questions:
            if settings.get("tools_profile") == "paper" and not uses_paper_tools(question.plan):
                continue  # no plan that the evaluator accepts answers it
            for method in arguments.methods:
                for profile in (EXECUTED,) if method == ONE_STOP else arguments.profiles:
                    yield Run(method, kind, profile, question)


def given_to(run: Run, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of one run, without those that only other methods of the family have."""
    if run.method == ONE_STOP:
        return {k: v for k, v in settings.items() if k not in ("max_calls", *OWN)}
    own = {**settings, "evaluator": run.profile}
    return {k: v for k, v in own.items() if OWN.get(k, run.method) == run.method}


def read(file: Path) -> list[dict[str, Any]]:
    """Returns the recorded runs; a line that was cut off while it was written is left out."""
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.endswith("}")]


def key_of(row: Mapping[str, Any]) -> str:
    """Returns what a run is known by."""
    return json.dumps([row[name] for name in KEY], sort_keys=True)


def line_of(row: Mapping[str, Any]) -> str:
    """Returns a finished run as one line."""
    right = "right" if row["answer"] == row["gold"] else "wrong"
    return (
        f"{row['method']} {row['type']} {row['profile']} {row['question']}: {row['answer']} "
        f"({right}), {row['calls']} calls, {row['seconds']:.1f} s"
    )


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the scores as a Markdown table, a line for each type, profile and method."""

    def group(row: Mapping[str, Any]) -> tuple[str, ...]:
        return row["style"], row["type"], row["profile"], row["method"]

    scored = {key: list(some) for key, some in groupby(sorted(rows, key=_order), key=group)}
    head = (
        "| style | type | evaluator | method | n | correct (95 %) | inconsistent | NoBack | "
        "calls | calls, all | ahead | RSSI | seconds | correct at 10/20/30 |\n"
        "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    lines = [head]
    for (style, kind, profile, method), some in scored.items():
        steps = scored.get((style, kind, profile, "tomt_tot"), [])
        lines.append(f"| {style} | {kind} | {profile} | `{method}` | {_cells(some, steps)} |")
    return "\n".join(lines)


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    kinds, profiles = get_args(Type), (EXECUTED, "paper", "grounded")
    at = kinds.index(row["type"]), profiles.index(row["profile"]), METHODS.index(row["method"])
    return row["style"], *at


def _cells(rows: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]) -> str:
    of: Score = score(rows)
    rssi = saving(score(steps), of) if steps else None
    cut_short = "/".join(f"{score(rows, calls).correct:.0%}" for calls in TRUNCATED)
    return " | ".join(
        [
            str(of.questions),
            f"{of.correct:.0%} ({of.interval.low:.0%}-{of.interval.high:.0%})",
            f"{of.inconsistent:.0%}",
            f"{of.no_back:.0%}",
            f"{of.calls:.2f}",
            f"{of.calls_all:.2f}",
            f"{of.ahead:.2f}",
            "" if rssi is None else f"{rssi:.2f}",
            f"{of.seconds:.1f}",
            cut_short,
        ]
    )


def _listed(known: Sequence[str]) -> Any:
    """Returns the reader of an option that takes several of a few words."""

    def read_option(text: str) -> list[str]:
        words = [word for word in text.split(",") if word]
        if strange := [word for word in words if word not in known]:
            raise argparse.ArgumentTypeError(f"{strange[0]!r} is none of {', '.join(known)}")
        return words

    return read_option


def parser() -> argparse.ArgumentParser:
    """Returns the options."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    kinds = cast("Sequence[str]", get_args(Type))
    options.add_argument("--model", default="local")
    options.add_argument("--style", choices=get_args(Style), default="ptr")
    options.add_argument("--types", type=_listed(kinds), default=list(kinds))
    options.add_argument("--methods", type=_listed(METHODS), default=list(METHODS))
    options.add_argument("--profiles", type=_listed(("paper", "grounded")), default=["grounded"])
    options.add_argument("--questions", type=int, default=10, help="questions a type")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--calls", type=int, default=30, help="T; the paper's is 30")
    options.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--table", action="store_true", help="print the table and run nothing")
    return options


def main() -> None:
    """Runs, or prints the table of what was run."""
    options = parser()
    arguments = options.parse_args()
    if arguments.seed == LIBRARY_SEED:
        options.error("that seed made the examples of the prompts; take another one")
    if arguments.table:
        print(table(read(arguments.out)))
    else:
        asyncio.run(record(arguments))


if __name__ == "__main__":
    main()
