"""What reads texts that others wrote, in one table: files, settings, addresses, answers."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from support.data_homes import packed_as
from support.foreign_files import (
    ANSWER,
    DATA,
    MEMBERS,
    PLAN,
    RESULT,
    Read,
    archive,
    corpus,
    dataset,
    environment,
    examples,
    judged_runs,
    of_text,
    paid,
    result,
    results,
    run,
    scenes,
    setting,
    setting_in_file,
    wiki,
)
from support.hostile import readers

from thoughtgraph import registry
from thoughtgraph.bench.result_files import packed
from thoughtgraph.cli import run_config, text
from thoughtgraph.cli.bench_problems import parse_range, parse_shard
from thoughtgraph.llm.api_keys import key_for
from thoughtgraph.llm.limiter import rates_from_environment
from thoughtgraph.llm.specifiers import check_specifier
from thoughtgraph.policy import Policy


class Parser(NamedTuple):
    """One thing that reads foreign text."""

    name: str
    seeds: Sequence[str | bytes]
    """Texts that it accepts."""
    read: Read


def parsers() -> list[Parser]:
    """Returns the table."""
    row = {**RESULT, "tree": packed(RESULT["tree"])}
    judged = {"key": "k", "judge": "j", "scores": [0.5], "unread": 0}
    return [
        *(Parser(f"data {task}", [DATA[task]], dataset(task)) for task in DATA),
        Parser("data own", [OWN], dataset("question")),
        Parser("board", [DATA["crosswords"]], dataset("crosswords")),
        Parser("scenes", [QUESTIONS], scenes("q.json")),
        Parser("scenes packed", [gzip.compress(QUESTIONS.encode())], scenes("q.json.gz")),
        Parser("tar", [packed_as("tar", MEMBERS)], archive("tar")),
        Parser("zip", [packed_as("zip", MEMBERS)], archive("zip")),
        Parser("corpus", [PAGES, DATA["hotpotqa"]], corpus),
        Parser("result", [json.dumps(RESULT), json.dumps(row)], result),
        Parser("results", [json.dumps(row)], results),
        Parser("judgements", [json.dumps(judged)], judged_runs),
        Parser("paid answers", [json.dumps(ANSWER)], paid),
        Parser("wiki answers", [QUERY], wiki),
        Parser("runs", [json.dumps(PLAN)], run),
        Parser("headline", ['{"question": "Who?"}'], of_text(text.headline)),
        Parser("--set", ["breadth=3", PRICES], of_text(setting)),
        Parser("--set @", ["x"], setting_in_file),
        *(Parser(name, seeds, of_text(read)) for name, (seeds, read) in OPTIONS.items()),
        Parser("examples", ["x"], examples),
        *(
            Parser(f"${name}", [seed], environment(name, read))
            for name, (seed, read) in VARIABLES.items()
        ),
        *(Parser(name, [*_example(name), "Answer: 4"], of_text(read)) for name, read in readers()),
    ]


def _example(name: str) -> list[str]:
    task, dot, _ = name.partition(".")
    return [registry.TASKS[task].example] if dot else ["obj1 = f(x)"]


OWN = '{"problem": "2+2?", "gold": "4", "id": 1}\n'
QUERY = json.dumps({"query": {"pages": [{"title": "A"}]}})
PAGES = '{"title": "A", "sentences": ["B."], "url": "u", "redirects": ["C"]}\n'
PRICES = 'prices={"m": [1, 2]}'
_SCENE = json.loads(registry.TASKS["clevr"].example)["scene"]
QUESTIONS = json.dumps({"questions": [{"scene": _SCENE, "question": "How?", "answer": 1}]})
OPTIONS: Mapping[str, tuple[list[str], Callable[[str], object]]] = {
    "--sweep": (["breadth=1,2"], lambda given: run_config.values_to_try([given])),
    "--limit": (["seconds=3", "requests=none"], lambda given: run_config.limit_settings([given])),
    "--problems": (["1:3", "2"], lambda given: parse_range(given, 9)),
    "--shard": (["1/3"], parse_shard),
    "--model": (["local", "http://h:1/v1#m", "anthropic:x"], check_specifier),
}
VARIABLES: Mapping[str, tuple[str, Callable[[], object]]] = {
    "THOUGHTGRAPH_API_KEY": ("http://h/v1=K,http://o:80=O", lambda: key_for("http://h/v1")),
    "THOUGHTGRAPH_RPM": ("64", rates_from_environment),
    "THOUGHTGRAPH_SERVED_MODELS": ("a=local", Policy.from_environment),
    "THOUGHTGRAPH_SERVED_CORPORA": ("none", Policy.from_environment),
    "THOUGHTGRAPH_SERVED_LIMITS": ("seconds=3", Policy.from_environment),
    "THOUGHTGRAPH_SERVED_PRICES": ("default=1/2", Policy.from_environment),
}
