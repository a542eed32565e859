"""The first and the last lines of `solve`: the question, and what came of it at what cost."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from thoughtgraph import results
from thoughtgraph.cli import text
from thoughtgraph.cli.custom import task_of
from thoughtgraph.cli.demo import tables
from thoughtgraph.cli.run_config import RunConfig
from thoughtgraph.cli.screen.events import Event
from thoughtgraph.errors import InputError
from thoughtgraph.llm.prices import Prices, dollars, remedy, unpriced
from thoughtgraph.outcome import INTERRUPTED, REJECTED, chosen_thought, verdict
from thoughtgraph.settings import LIMIT_PREFIX
from thoughtgraph.task import extras
from thoughtgraph.tree import Thought, Tree, path_to
from thoughtgraph.usage import Usage


def introduce(console: Console, config: RunConfig, folder: Path, run: str) -> None:
    """Prints the question of the demonstration, or of a problem whose picture it writes."""
    if config.gold is not None:
        show_facts(console, [Fact("question", config.problem), Fact("tables", "\n".join(tables()))])
    picture = extras(task_of(config.task)).picture
    if picture is None:
        return
    file = folder / f"{run}.svg"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        results.write(str(file), picture(config.problem))
    except OSError as error:
        raise InputError(
            f"cannot write {str(file)!r} ({error.strerror}); set THOUGHTGRAPH_DATA to a folder "
            "that can be written"
        ) from error
    console.print(f"question: {text.line(text.headline(config.problem))}", markup=False)
    console.print(f"picture:  {file}", markup=False)


def uncounted(prices: Prices) -> list[Event]:
    """Returns the news that the limit on dollars is off, where the price of a model is unknown."""
    if not (names := unpriced(prices)):
        return []
    why = (
        f"no price of {', '.join(names)} is known; give it, in dollars a million prompt and "
        f"completion tokens, with {remedy(names[0])}"
    )
    return [Event("dollars", f"neither counted nor limited, as {why}")]


LABEL = 10
_RIGHT = {True: "green", False: "red", None: ""}


class Fact(NamedTuple):
    """One labelled line."""

    label: str
    words: str
    style: str = ""
    """How a terminal shows it: by what it says, never by how a model worded it."""


@dataclass(frozen=True)
class Summary:
    """What there is to tell about a search that has ended."""

    config: RunConfig
    result: Mapping[str, Any]
    written: Sequence[str]
    """Files that were written."""
    run: str


def show(console: Console, summary: Summary) -> None:
    """Prints the outcome, one labelled line a fact."""
    show_facts(console, _facts(summary))


def show_facts(console: Console, facts: Iterable[Fact]) -> None:
    """Prints facts, the lines of each below one another."""
    for label, words, style in facts:
        head = (f"{label + ':':<{LABEL}}", "dim")
        indented = words.replace("\n", "\n" + " " * LABEL)
        console.print(Text.assemble(head, (indented, style)), soft_wrap=True)


def _facts(summary: Summary) -> Iterator[Fact]:
    result, tree = summary.result, summary.result["tree"]
    for label, lines in (("plan", plan_lines(tree)), ("steps", action_lines(tree))):
        if lines:
            yield Fact(label, "\n".join(lines))
    yield from _answer(summary)
    yield from _search(result)
    if summary.written:
        yield Fact("written", ", ".join(summary.written))
    stopped = result["stop_reason"] in (INTERRUPTED, "error")
    limit = "" if stopped else limit_of(result)
    if limit or stopped:
        yield Fact("resume", resume_hint(summary.run, limit))


def _answer(summary: Summary) -> Iterator[Fact]:
    """Yields the answer and whether it is right, as far as anybody can tell."""
    answer = summary.result["answer"]
    if answer is None:
        yield Fact("answer", "none", "red")
    else:
        yield Fact("answer", text.lines(answer), "bold")
    end = chosen_thought(summary.result)
    if returned := end.get("returned"):
        yield Fact("returns", text.lines(returned))
    if (right := summary.result.get("right")) is not None:
        yield Fact("right", _rightness(right, summary.config.gold), _RIGHT[right])
    elif answer is not None:
        yield Fact("verified", verdict(summary.result), _RIGHT[summary.result.get("verified")])
    if (note := end.get("note", "")).startswith(REJECTED):
        why = text.short(note.removeprefix(REJECTED), LONGEST_LINE)
        yield Fact("judged", f"no, the search itself rejected this answer: {why}", "red")
    if summary.result["settings"]["oracle"]:
        yield Fact("oracle", "yes, the search was told whether an answer is right")


def _rightness(right: bool, gold: str | None) -> str:
    """Returns whether the demonstration's answer is right."""
    if right:
        return "yes, the rows of the known answer, which the search never saw"
    return f"no; the right rows are those of {gold}"


def _search(result: Mapping[str, Any]) -> Iterator[Fact]:
    """Yields how the search went."""
    if tried := tries(result["tree"]):
        yield Fact("tried", tried)
    ended, bound = str(result["outcome"]), str(result.get("limit") or "")
    if bound and not limit_of(result):  # `resume` tells how a limit is raised
        ended += f"; raise it with --set {bound}=…"
    yield Fact("ended", ended, "red" if result["stop_reason"] == "error" else "")
    yield Fact("cost", cost(result))
    if malformed := result["usage"].get("parse_errors"):
        by_role = ", ".join(f"{number} in {role}" for role, number in malformed.items())
        yield Fact("misread", f"model outputs that could not be read: {by_role}")


def resume_hint(run: str, limit: str = "") -> str:
    """Returns the command that goes on with a stopped run, and raises the limit that ended it."""
    return f"thoughtgraph solve --resume {run}" + (f" --limit {limit}=…" if limit else "")


def limit_of(state: Mapping[str, Any]) -> str:
    """Returns the limit that ended a search, such as `requests`; empty if none did."""
    name = str(state.get("limit") or "")
    return name.removeprefix(LIMIT_PREFIX) if name.startswith(LIMIT_PREFIX) else ""


def cost(result: Mapping[str, Any]) -> str:
    """Returns what a search spent, in words."""
    usage: Usage = result["usage"]
    tokens = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    parts = [
        text.count(usage.get("requests", 0), "request"),
        text.count(usage.get("samples", 0), "sample"),
        f"{sum(tokens):,} tokens ({tokens[0]:,} prompt, {tokens[1]:,} completion)",
        text.seconds(usage.get("seconds", 0.0)),
    ]
    if called := sum(usage.get("tool_calls", {}).values()):
        parts.append(text.tools(called, sum(usage.get("tool_failures", {}).values())))
    if paid := usage.get("tool_cost", 0.0):
        path = text.value(usage.get("tool_cost_path", 0.0))
        parts.append(f"tool cost {text.value(paid)} paid, {path} on the path")
    parts.append(dollars(usage.get("dollars"), result.get("prices", {})))
    if usage.get("cached"):
        parts.append(f"{text.count(usage['cached'], 'answer')} reused")
    if left := result.get("unused"):
        tokens = left["prompt_tokens"] + left["completion_tokens"]
        parts.append(
            f"besides {text.count(left['answers'], 'answer')} ({tokens:,} tokens) paid for under a "
            "lower limit and not used here"
        )
    return ", ".join(parts)


LONGEST_LINE = 200
"""Characters of a line that are shown."""


def plan_lines(tree: Tree) -> list[str]:
    """Returns the accepted plan, each step with what it returned; none if no plan was accepted."""
    ends = [key for key, thought in tree.items() if _ends(thought)]
    return [line for key in ends[:1] for thought in path_to(tree, key) for line in _lines(thought)]


def action_lines(tree: Tree) -> list[str]:
    """Returns the way to the answer: each thought, its call of a tool, and what was observed.

    There is none in a search that calls no tools.
    """
    end = chosen_thought({"tree": tree})
    way = path_to(tree, end["id"]) if end else ()
    acted = any(thought.get("action") for thought in way)
    return [_action_line(thought) for thought in way if acted]


def tries(tree: Tree) -> str:
    """Returns how many calls wrote steps and why some were refused; empty for another search."""
    calls = [t for t in tree.values() if "steps" in t.get("created_by", {})]
    if not calls:
        return ""
    refused = Counter(
        t.get("note", "").partition(":")[0] for t in calls if t.get("status") == "pruned"
    )
    reasons = ", ".join(f"{code} {number}" for code, number in sorted(refused.items()))
    told = f"{text.count(len(calls), 'call')} for steps, {refused.total()} refused"
    return f"{told} ({reasons})" if reasons else told


def _ends(thought: Thought) -> bool:
    ended = thought.get("status") == "terminal" and "tool_state" in thought
    return ended and not thought.get("action")


def _action_line(thought: Thought) -> str:
    if "action" not in thought:  # an answer that was forced without a call
        return text.short(thought["text"], LONGEST_LINE)
    did = text.action(thought) or "(no action)"
    seen = text.short(thought.get("observation") or "", LONGEST_LINE)
    return f"{text.short(thought.get('text', ''), LONGEST_LINE)} {did}  → {seen}"


def _lines(thought: Thought) -> Iterator[str]:
    steps = thought.get("text", "").split("\n")
    seen = (thought.get("observation") or "").split("\n")
    for at, step in enumerate(steps):
        value = f"  → {text.short(seen[at], LONGEST_LINE)}" if at < len(seen) and seen[at] else ""
        yield text.short(step, LONGEST_LINE) + value
