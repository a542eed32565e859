"""Searches worked by hand: small problems, and what a scripted model says in each.

A file of `searches/` holds one: method, task, problem, settings, and the script, a list of rules;
`settings_of` are those of another method that the script serves.
A request is answered by the first rule of its role whose `after` stands near the end of its prompt.
The search that follows is a real one; pages show its tree.
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
"""Characters at the end of a prompt in which `after` must stand: examples before them repeat it."""
WIDTH = 120
"""Columns of a tree in text."""
PROBLEM = "problem: "


@dataclass(frozen=True)
class Search:
    """A search that ended."""

    result: Mapping[str, Any]
    """What the graph returned."""
    calls: Sequence[Call]
    source: Mapping[str, Any]
    """What its file says."""


@cache
def search(name: str, method: str = "") -> Search:
    """Runs the search of a file, once a process.

    Args:
        name: The file.
        method: Another method that its script serves too; empty: the file's own.
    """
    known, model = _given(name), ScriptedChat(reply=script(name))
    return Search(run(name, method or known["method"], model), model.seen, known)


def script(name: str) -> Reply:
    """Returns what the model of a file says."""
    rules = _given(name)["says"]
    return lambda call: _replies(rules, call)


def run(name: str, method: str, model: ScriptedChat) -> Mapping[str, Any]:
    """Returns what a method finds on the problem of a file.

    Args:
        name: The file.
        method: The method, with the settings that the file has for it.
        model: The model to ask.
    """
    known = _given(name)
    own = known.get("settings_of", {}).get(method, {})
    settings = {**known.get("settings", {}), **own, "seed": 0}
    # A corpus is named as it is seen from the checkout, so that no page shows a folder of ours.
    with chdir(ROOT_FOLDER):
        return tg.solve(
            known["problem"],
            task=known["task"],
            method=method,
            model=model,
            oracle=_oracle(known.get("oracle")),
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
            said = rule["text"]
            return list(said[: call.n]) if isinstance(said, list) else [said] * call.n
    raise UnexpectedCall(f"no rule for {call.role}, whose prompt ends {call.prompt[-TAIL:]!r}")


def _fits(rule: Mapping[str, Any], call: Call) -> bool:
    """Says whether a rule is about a call: its end, what it warns of, whose draw it is."""
    drawn = {"thought": "", "expansion": 0} if call.draw is None else call.draw._asdict()
    return (
        call.prompt.rstrip().endswith(rule.get("ends", ""))
        and rule.get("after", "") in call.prompt[-TAIL:]
        and rule.get("warned", "") in call.prompt
        and all(rule.get(name, drawn[name]) == drawn[name] for name in ("thought", "expansion"))
    )


def names() -> list[str]:
    """Returns the names of all searches."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def methods_of(name: str) -> list[str]:
    """Returns the methods that the script of a file serves, its own first."""
    known = _given(name)
    return [known["method"], *known.get("also", [])]


def _given(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def outline(name: str) -> str:
    """Returns a search as text: the problem, a line a thought, then answer, end and requests."""
    done = search(name)
    headline = f"{PROBLEM}{text.headline(done.result['problem'])}"
    problem = textwrap.wrap(headline, WIDTH, subsequent_indent=" " * len(PROBLEM))
    lines = [_cut(line) for line in _branches(done.result["tree"])]
    return "\n".join(["```text", *problem, "", *lines, "", *_ending(done), "```"])


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def framed(name: str) -> str:
    """Returns the same for the site: with the page of the tree below, to click through."""
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
            yield f"{row.guides}{row.key} {_status_and_value(tree[row.key])}"


def _status_and_value(thought: Thought) -> str:
    facts = [
        *([text.action(thought)] if thought.get("action") else []),
        *([f"value {text.value(thought['value'])}"] if "value" in thought else []),
        *([f"g {text.value(thought['cost'])}"] if "cost" in thought else []),
        *([f"f {text.value(thought['priority'])}"] if "priority" in thought else []),
        *([f"back to {thought['rollback']['to']}"] if "rollback" in thought else []),
        *(["pruned"] if thought["status"] == "pruned" else []),
        *([text.line(thought["note"])] if thought.get("note") else []),
    ]
    said = text.short(text.thought_text(thought), WIDTH // 2)
    return f"{said}  [{'; '.join(facts)}]" if facts else said


def _ending(done: Search) -> Iterator[str]:
    roles = Counter(call.role for call in done.calls)
    counted = ", ".join(f"{role} {times}" for role, times in roles.items())
    yield f"answer: {done.result['answer']}"
    yield f"ended: {done.result['outcome']}"
    yield f"requests: {done.result['usage']['requests']} ({counted})"
