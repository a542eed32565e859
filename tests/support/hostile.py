"""What reads foreign text, and texts that are hard to read: long, nested, huge numbers."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from thoughtgraph import registry
from thoughtgraph.acting import Hints
from thoughtgraph.context import resolve_settings
from thoughtgraph.errors import ThoughtgraphError
from thoughtgraph.task import Opens, Question, maybe_await
from thoughtgraph.tasks.numbers import canonical, numbers_in, tidy
from thoughtgraph.tasks.rollback_prompts import bad_steps, score_of, unlabelled
from thoughtgraph.tasks.scenes.plan_language import clean, parse, steps_of
from thoughtgraph.tools.arithmetic import evaluate, integers
from thoughtgraph.tools.costs import read_costs
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tools.wiki.pages import page_of_text, title_key
from thoughtgraph.tree import Thought

Reader = Callable[[str], object]

FOREIGN = ("text", "samples", "answer", "output", "entity", "steps")
"""Parameters of tasks that hold what a model or a page said."""
READ = (*FOREIGN, "path", "options")
"""Parameters of what reads such texts itself, or says how they are read."""

PUMPS: tuple[str, ...] = (
    "(", "[", "{", "((", "[[", '{"a":', "a(", "not ", "- ", "-", "~", "lambda:", "a[", "f(1,", "9",
    "0", "9,", "1,111", "1.", ".9", "9/", "1e", "1e9", "9**", "9^", "1_", "\\frac{1}{", "1 ", " ",
    "\n", "\t", " \n", "\r", "\xa0", "\u200b", "a ", "a\n", "` ", "\x00", "x", "x.", "x. ", "'",
    '"', "`", "```\n", "*", "**", "$", "$x", "\\(", "\\", "=", "= ", "== a ==\n", "Answer:",
    "Answer: ", "Answer:\n", "the answer is ", "the answer is 9 ", "\\boxed{", "\\sqrt",
    "The final solution is ", "The final choice is ", "The final solution is 9\n", "and ", ", and ",
    "Passage:\n", "* ", "best choice is 1 ", "perfectly coherent ", "not coherent. ", "sure\n",
    "Thought 1: ", "Action 1: ", "Action 1: Search[", "Search[x] ", "Search[", "Finish[",
    "Observation 1: ", "Step 1: ", "step 1", "obj1 = ", 'obj1 = filter_object("table",',
    "obj1 = f(obj1)\n", "Question:\n", "Score: ", "Score: 9 ", "Reply: ", "Judgment: ",
    "Judgment: yes ", "Bad step indices: ", "1-9 ", "4 + 9 = 13 (left: ", "4/", "4 + ", "(left: ",
    "h1. apple (high)\n", "h1. ", "apple ", "(A) ", "A ", "é", "\u202e", "\ud83d", "a, ", '"a", ',
    "&amp;", "x = ", "may refer to ", "evaluation score: ",
)  # fmt: skip
"""Pieces that are repeated."""
BEGINNINGS = ("", "The final solution is ", "Answer: ", "obj1 = ", "[")


def texts(long: int) -> dict[str, str]:
    """Returns whole texts that no reader may stumble over, the longest of so many letters."""
    return {
        **{"empty": "", "blank": " \n\t\n ", "spaces": " " * long, "lines": "\n" * long},
        **{"letters": "a" * long, "digits": "7" * long, "brackets": "(" * (long // 10)},
        "markers": "the answer is " * (long // 14),
        "headers": "Answer:\nPassage:\n" * (long // 17),
        "choices": "best choice is " * (long // 15) + "9" * 1_000,
        "words": "h1. apple (certain) " * (long // 20),
        "equations": "1+1=2(left:" * (long // 11),
        "boxes": "\\boxed{" * (long // 10),
        "binary": "".join(map(chr, range(256))) * 100,
        "lone surrogates": "\ud800\udfff the answer is \ud800",
        "json": '{"answer": {"value": 42}, "reasoning": ["a", null]}',
        "another language": "答えは四十二です。最も有望な選択肢は一番です。",
        "code": "Answer: __import__('os').system('true')",
        "template": "{input} {format} {s} {0} %s \\n",
    }


def readers(task_name: str | None = None) -> Iterator[tuple[str, Reader]]:
    """Yields everything that reads foreign text: of every task, and what tasks and nodes share.

    Args:
        task_name: The task whose readers are wanted, "" for what is shared; None for all.
    """
    for name in [task_name] if task_name else registry.TASKS if task_name is None else []:
        task, entry = registry.task(name), registry.TASKS[name]
        yield f"{name}.read", task.read
        problem = task.read(entry.example)
        if isinstance(task, Opens):
            task.open(problem, {"database": "", "sample_values": 0})
        for method, call in inspect.getmembers(task, callable):
            if method.startswith("_") or method == "read":
                continue
            parameters = list(inspect.signature(call).parameters)
            if "extra" not in parameters and any(each in READ for each in parameters):
                yield f"{name}.{method}", _reader(call, parameters, name, problem)
    if task_name:
        return
    shared: tuple[Reader, ...] = (
        *(canonical, numbers_in, tidy, evaluate, integers),
        *(clean, parse, steps_of, one_line, title_key),
        *(score_of, unlabelled, read_costs),
    )
    for each in shared:
        yield getattr(each, "__name__", ""), each
    yield "bad_steps", lambda text: bad_steps(f"Bad step indices: {text}", 9)
    yield "page_of_text", lambda text: page_of_text(text, "Title")


def _reader(call: Callable[..., object], names: list[str], task: str, problem: str) -> Reader:
    base = registry.settings("tomt_os" if task in ("clevr", "ptr") else "react")
    options = {
        "n_generate": 3,
        "protocol": "single_call",
        **resolve_settings(base, {}, {"task": task}),
    }
    # A question asked directly has no style of acting.
    style = "cot" if getattr(call, "__name__", "").startswith("ask") else "react"
    known: dict[str, Any] = {
        **{"problem": problem, "options": options, "hints": Hints(), "choices": 5, "count": 9},
        **{"most": None, "shots": [], "style": style, "lessons": [], "gold": "[]"},
    }

    def read(text: str) -> object:
        thought = Thought(id="1", text=text, observation=text, tool_state={}, status="open")
        thought["action"] = {"name": "Search", "argument": text}
        thought["analysis"] = text
        if task == "crosswords":
            thought["text"] = "h1. agend"  # a thought of this task is what it read as a word
        given: dict[str, Any] = {
            **dict.fromkeys(FOREIGN, text),
            **{"samples": [text], "path": [thought], "paths": [[thought]]},
            "steps": text.split("\n") if "shots" not in names else 1,
        }
        asked = call(**{name: given.get(name, known.get(name)) for name in names})
        if inspect.isawaitable(asked):
            asked = asyncio.run(maybe_await(asked))
        return [each.read([text]) for each in _questions(asked)] or asked

    return read


def _questions(asked: object) -> list[Question[object]]:
    found = asked if isinstance(asked, list) else [asked]
    return [each for each in found if isinstance(each, Question)]


def survived(reader: Reader) -> Reader:
    """Returns a reader whose refusals are no failures: what foreign text may raise."""

    def read(text: str) -> object:
        try:
            return reader(text)
        except ThoughtgraphError:
            return None

    return read
