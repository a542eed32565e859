"""Searches worked by hand: small problems, each with the script of a model's answers.

A file of `searches/` holds one search: method, task, problem, settings and the script, a list of
rules. `settings_of` holds the settings of other methods that the script serves. The first rule that
fits a request answers it (`_fits`), mostly by the text near the end of the prompt, `after`.
The search itself is real; pages show its tree.
"""

import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import thoughtgraph as tg
from thoughtgraph.cli import text
from thoughtgraph.cli.screen.layout import rows
from thoughtgraph.llm.scripted import Call, Reply, ScriptedChat, UnexpectedCall
from thoughtgraph.tree import ROOT, Thought, Tree

ROOT_FOLDER = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent / "searches"
TAIL = 300
"""Characters at the end of a prompt that must hold `after`: earlier examples may repeat it."""
WIDTH = 120
"""Columns of a tree that is shown as text."""
PROBLEM = "problem: "


@dataclass(frozen=True)
class Search:
    """A finished search."""

    result: Mapping[str, Any]
    """What the graph returned."""
    calls: Sequence[Call]
    source: Mapping[str, Any]
    """The content of its file."""


@cache
def search(name: str, method: str = "") -> Search:
    """Runs the search of a file, once a process.

    Args:
        name: The name of the file.
        method: Another method that the script serves; empty: the file's own.
    """
    source, model = _source(name), ScriptedChat(reply=script(name))
    return Search(run(name, method or source["method"], model), model.seen, source)


def script(name: str) -> Reply:
    """Returns the reply function for the model of a file."""
    rules = _source(name)["says"]
    return lambda call: _replies(rules, call)


def run(name: str, method: str, model: ScriptedChat) -> Mapping[str, Any]:
    """Returns the result of a method on the problem of a file.

    Args:
        name: The name of the file.
        method: The method, for which the file may have its own settings.
        model: The model to ask.
    """
    source = _source(name)
    own = source.get("settings_of", {}).get(method, {})
    settings = {**source.get("settings", {}), **own, "seed": 0}
    # A corpus's path is relative to the checkout, so that pages show no folder of this machine.
    with chdir(ROOT_FOLDER):
        return tg.solve(
            source["problem"],
            task=source["task"],
            method=method,
            model=model,
            oracle=_oracle(source.get("oracle")),
            **settings,
        )


def _oracle(right: str | bool | None) -> Any:
    """Returns the oracle of a search: none, the task's own check, or one that knows the answer."""

    async def knows(answer: str) -> bool:
        return answer == right

    return knows if isinstance(right, str) else bool(right)


def _replies(rules: Sequence[Mapping[str, Any]], call: Call) -> list[str]:
    for rule in rules:
        if rule["role"] == call.role and _fits(rule, call):
            reply = rule["text"]
            return list(reply[: call.n]) if isinstance(reply, list) else [reply] * call.n
    raise UnexpectedCall(f"no rule for {call.role}, whose prompt ends {call.prompt[-TAIL:]!r}")


def _fits(rule: Mapping[str, Any], call: Call) -> bool:
    """Returns whether a rule fits a call: the text of its prompt, and its draw."""
    draw = {"thought": "", "expansion": 0} if call.draw is None else call.draw._asdict()
    return (
        call.prompt.rstrip().endswith(rule.get("ends", ""))
        and rule.get("after", "") in call.prompt[-TAIL:]
        and rule.get("warned", "") in call.prompt
        and all(rule.get(name, draw[name]) == draw[name] for name in ("thought", "expansion"))
    )


def names() -> list[str]:
    """Returns the names of all searches."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def methods_of(name: str) -> list[str]:
    """Returns the methods that the script of a file serves, its own first."""
    source = _source(name)
    return [source["method"], *source.get("also", [])]


def _source(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def outline(name: str) -> str:
    """Returns a search as text: the problem, a line per thought, then answer, end and requests."""
    finished = search(name)
    headline = f"{PROBLEM}{text.headline(finished.result['problem'])}"
    problem = textwrap.wrap(headline, WIDTH, subsequent_indent=" " * len(PROBLEM))
    lines = [_cut(line) for line in _branches(finished.result["tree"])]
    return "\n".join(["```text", *problem, "", *lines, "", *_ending(finished), "```"])


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def framed(name: str) -> str:
    """Returns the outline for the site, with the interactive page of the tree below."""
    question = text.headline(search(name).result["problem"])
    return f"""{outline(name)}

```{{raw}} html
<iframe class="tree" src="../../trees/{name}.html" title="The search tree of: {escape(question)}"
 loading="lazy"></iframe>
<p><a href="../../trees/{name}.html">The tree as a page of its own</a></p>
```"""


def tree_page(name: str) -> str:
    """Returns the page of a search's tree, as `thoughtgraph view` makes it."""
    return str(tg.html(search(name).result))


def _branches(tree: Tree) -> Iterator[str]:
    for row in rows(tree, (), len(tree)):
        if row.key is not None and row.key != ROOT:
            yield f"{row.guides}{row.key} {_words(tree[row.key])}"


def _words(thought: Thought) -> str:
    facts = [
        *([text.action(thought)] if thought.get("action") else []),
        *([f"value {text.value(thought['value'])}"] if "value" in thought else []),
        *([f"g {text.value(thought['cost'])}"] if "cost" in thought else []),
        *([f"f {text.value(thought['priority'])}"] if "priority" in thought else []),
        *([f"back to {thought['rollback']['to']}"] if "rollback" in thought else []),
        *(["pruned"] if thought["status"] == "pruned" else []),
        *([text.line(thought["note"])] if thought.get("note") else []),
    ]
    words = text.short(text.thought_text(thought), WIDTH // 2)
    return f"{words}  [{'; '.join(facts)}]" if facts else words


def _ending(finished: Search) -> Iterator[str]:
    roles = Counter(call.role for call in finished.calls)
    counted = ", ".join(f"{role} {times}" for role, times in roles.items())
    yield f"answer: {finished.result['answer']}"
    yield f"ended: {finished.result['outcome']}"
    yield f"requests: {finished.result['usage']['requests']} ({counted})"
