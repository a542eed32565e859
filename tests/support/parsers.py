"""What reads what others wrote, in one table: files, settings, addresses, answers."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from support import foreign_files as reading
from support.data_homes import packed_as
from support.hostile import readers

from thoughtgraph import registry
from thoughtgraph.bench.result_files import packed
from thoughtgraph.cli import run_config, text
from thoughtgraph.cli.bench_problems import parse_range, parse_shard
from thoughtgraph.llm.limiter import rates_from_environment
from thoughtgraph.llm.specifiers import check_specifier, key_for
from thoughtgraph.policy import Policy


class Parser(NamedTuple):
    """One thing that reads foreign text."""

    name: str
    seeds: Sequence[str | bytes]
    """Texts that it accepts."""
    read: reading.Read


def parsers() -> list[Parser]:
    """Returns the table."""
    data, answer = reading.DATA, json.dumps(reading.ANSWER)
    row = {**reading.RESULT, "tree": packed(reading.RESULT["tree"])}
    judged = {"key": "k", "judge": "j", "scores": [0.5], "unread": 0}
    return [
        *(Parser(f"data {task}", [data[task]], reading.dataset(task)) for task in data),
        Parser("data own", [OWN], reading.dataset("question")),
        Parser("scenes", [QUESTIONS], reading.scenes("q.json")),
        Parser("packed", [gzip.compress(QUESTIONS.encode())], reading.scenes("q.json.gz")),
        Parser("tar", [packed_as("tar", reading.MEMBERS)], reading.archive("tar")),
        Parser("zip", [packed_as("zip", reading.MEMBERS)], reading.archive("zip")),
        Parser("corpus", [PAGES, data["hotpotqa"]], reading.corpus),
        Parser("result", [json.dumps(reading.RESULT), json.dumps(row)], reading.result),
        Parser("results", [json.dumps(row)], reading.results),
        Parser("judgements", [json.dumps(judged)], reading.judged_runs),
        Parser("paid answers", [answer], reading.paid),
        Parser("wiki answers", [QUERY], reading.wiki),
        Parser("runs", [json.dumps(reading.PLAN)], reading.run),
        Parser("headline", ['{"question": "Who?"}'], reading.of_text(text.headline)),
        Parser("--set", ["breadth=3", PRICES], reading.of_text(reading.setting)),
        Parser("--set @", ["x"], reading.setting_in_file),
        *(Parser(name, seeds, reading.of_text(read)) for name, (seeds, read) in OPTIONS.items()),
        Parser("examples", ["x"], reading.examples),
        *(
            Parser(f"${name}", [seed], reading.environment(name, read))
            for name, (seed, read) in VARIABLES.items()
        ),
        *(
            Parser(name, [*_example(name), "Answer: 4"], reading.of_text(read))
            for name, read in readers()
        ),
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
