"""Everything that reads what others wrote, in one table: files, settings, addresses, answers.

Each entry says which calls of the source it stands for. Calls that decode something are found in
the syntax trees of all modules, so a new one must be listed here, or be named in `NOT_FOREIGN`.
"""

import ast
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from support.patterns import modules

from thoughtgraph import registry
from thoughtgraph.bench.result_files import packed
from thoughtgraph.cli import run_config, text
from thoughtgraph.cli.bench_problems import parse_range, parse_shard
from thoughtgraph.llm.api_keys import key_for
from thoughtgraph.llm.limiter import rates_from_environment
from thoughtgraph.llm.specifiers import check_specifier
from thoughtgraph.policy import Policy

DECODERS = {
    "json": ("load", "loads"),
    "csv": ("reader", "DictReader"),
    "tomllib": ("load", "loads"),
    "zlib": ("decompress",),
    "gzip": ("decompress",),
    "base64": ("b85decode", "b64decode"),
    "ast": ("parse", "literal_eval"),
    "pickle": ("load", "loads"),
    "tarfile": ("open",),
    "zipfile": ("ZipFile",),
}
NOT_FOREIGN = {
    "bench.demonstration": "what the project's own demonstration was recorded with",
    "bench.formulas": "runs in a process of its own, fed by `math`'s reader",
    "bench.questions.packaged_questions": "problems that were made a line before",
    "bench.speed": "figures that the measurement wrote itself",
    "cli.demo": "a packaged file",
    "bench.data_sets": "a packaged file",
    "bench.papers.suites": "packaged files",
    "prompts": "packaged files; a user's examples are `examples`",
    "checkpoints": "LangGraph's savers; tests/test_faulty_files.py damages them",
    "llm.response_bodies": "the body that was sent; tests/test_model.py has the answers",
    "llm.token_stream": "the request that we sent ourselves",
    "llm.weights": "a note that is compared with facts, whatever it says",
    "tools.wiki.corpus": "an index that is made from a corpus; tests/test_corpus.py damages it",
    "tools.wiki.transport": "tests/test_wikipedia.py has hostile answers",
    "tools.toolbox": "tests/test_toolbox.py has hostile arguments",
}
"""Modules that decode nothing foreign, and why; or the tests that have it."""


class Parser(NamedTuple):
    """One thing that reads foreign text."""

    name: str
    sites: Sequence[str]
    """The functions of the source that decode it: module and name."""
    seeds: Sequence[str | bytes]
    """Texts that it accepts."""
    read: Read


def decoding() -> Iterator[str]:
    """Yields the functions of the source that decode something, as `module.name`."""
    for module, tree in modules():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and _decodes(call.func):
                        yield f"{module.removeprefix('thoughtgraph.')}.{function.name}"


def _decodes(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.attr in DECODERS.get(called.value.id, ())
    )


def parsers() -> list[Parser]:
    """Returns the table."""
    row = {**RESULT, "tree": packed(RESULT["tree"])}
    judged = {"key": "k", "judge": "j", "scores": [0.5], "unread": 0}
    lines = ["bench.result_files.read_lines"]
    decoders = [f"bench.data_formats.{name}" for name in LOADERS]
    return [
        *(Parser(f"data {task}", decoders, [DATA[task]], dataset(task)) for task in DATA),
        Parser("data own", ["bench.data._loader"], [OWN], dataset("question")),
        Parser(
            "board", ["bench.crossword_scores.load"], [DATA["crosswords"]], dataset("crosswords")
        ),
        Parser("scenes", [SCENES], [QUESTIONS], scenes("q.json")),
        Parser("scenes packed", [SCENES], [gzip.compress(QUESTIONS.encode())], scenes("q.json.gz")),
        Parser("tar", ["bench.data_archives._of_tar"], [packed_as("tar", MEMBERS)], archive("tar")),
        Parser("zip", ["bench.data_archives._of_zip"], [packed_as("zip", MEMBERS)], archive("zip")),
        Parser("corpus", [f"{CORPUS}._records"], [PAGES, DATA["hotpotqa"]], corpus),
        Parser("result", RESULTS, [json.dumps(RESULT), json.dumps(row)], result),
        Parser("results", lines, [json.dumps(row)], results),
        Parser("judgements", lines, [json.dumps(judged)], judged_runs),
        Parser("paid answers", [f"{ANSWERS}.read_answer"], [json.dumps(ANSWER)], paid),
        Parser("wiki answers", ["tools.wiki.recordings._read"], [QUERY], wiki),
        Parser("runs", ["cli.run_config.read_plan"], [json.dumps(PLAN)], run),
        Parser("headline", ["cli.text.headline"], ['{"question": "Who?"}'], of_text(text.headline)),
        Parser("--set", ["context._from_json"], ["breadth=3", PRICES], of_text(setting)),
        Parser("--set @", [], ["x"], setting_in_file),
        *(Parser(name, [], seeds, of_text(read)) for name, (seeds, read) in OPTIONS.items()),
        Parser("examples", [], ["x"], examples),
        *(
            Parser(f"${name}", [], [seed], environment(name, read))
            for name, (seed, read) in VARIABLES.items()
        ),
        *(
            Parser(name, TASK_SITES, [*_example(name), "Answer: 4"], of_text(read))
            for name, read in readers()
        ),
    ]


def _example(name: str) -> list[str]:
    task, dot, _ = name.partition(".")
    return [registry.TASKS[task].example] if dot else ["obj1 = f(x)"]


SCENES, CORPUS, ANSWERS = "bench.scene_data._json", "tools.wiki.corpus_files", "llm.answer_cache"
RESULTS = ("cli.view._items", "bench.result_files.unpacked")
BOARD = DATA["crosswords"]
OWN = '{"problem": "2+2?", "gold": "4", "id": 1}\n'
QUERY = json.dumps({"query": {"pages": [{"title": "A"}]}})
PAGES = '{"title": "A", "sentences": ["B."], "url": "u", "redirects": ["C"]}\n'
PRICES = 'prices={"m": [1, 2]}'
_SCENE = json.loads(registry.TASKS["clevr"].example)["scene"]
QUESTIONS = json.dumps({"questions": [{"scene": _SCENE, "question": "How?", "answer": 1}]})
LOADERS = ("_game24", "_svamp", "_strategyqa", "_theoremqa", "_mmlu", "_objects", "_json_lines")
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
TASK_SITES = (
    "tasks.crosswords._listed",
    "tasks.hotpotqa.pages",
    "tasks.hotpotqa.question_of",
    "tasks.hotpotqa.read",
    "tasks.judgements._listed",
    "tasks.scenes.plan_language._assignment",
    "tasks.scenes.scenes._problem_of",
    "tasks.scenes.scenes.read",
    "tools.arithmetic._parse",
)
"""What `readers` of `support.hostile` try: every public method of a task, and what tasks share."""
