"""The first and last lines that `solve` prints: the question, then the result and its cost."""

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
    """Prints the demonstration's question, or writes a problem's picture and prints its place."""
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
    """Returns an event that dollars are not counted, if the price of a model is unknown."""
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
    """Style in a terminal; it depends on the kind of fact, never on the words of a model."""


@dataclass(frozen=True)
class Summary:
    """The data for the last lines about a search that has ended."""

    config: RunConfig
    result: Mapping[str, Any]
    written: Sequence[str]
    """Files that were written."""
    run: str


def show(console: Console, summary: Summary) -> None:
    """Prints the outcome of a search, with a labelled line for each fact."""
    show_facts(console, _facts(summary))


def show_facts(console: Console, facts: Iterable[Fact]) -> None:
    """Prints facts; further lines of a fact are indented below its first."""
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
    """Yields the answer, the result of running it, and every verdict on it."""
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
    """Says whether the demonstration's answer is right."""
    if right:
        return "yes, the rows of the known answer, which the search never saw"
    return f"no; the right rows are those of {gold}"


def _search(result: Mapping[str, Any]) -> Iterator[Fact]:
    """Yields the attempts, the end and the cost of a search, and unreadable outputs."""
    if attempts := tries(result["tree"]):
        yield Fact("tried", attempts)
    end, setting = str(result["outcome"]), str(result.get("limit") or "")
    if setting and not limit_of(result):  # `resume` says how to raise others
        end += f"; raise it with --set {setting}=…"
    yield Fact("ended", end, "red" if result["stop_reason"] == "error" else "")
    yield Fact("cost", cost(result))
    if malformed := result["usage"].get("parse_errors"):
        by_role = ", ".join(f"{number} in {role}" for role, number in malformed.items())
        yield Fact("misread", f"model outputs that could not be read: {by_role}")


def resume_hint(run: str, limit: str = "") -> str:
    """Returns the command that resumes a run, with the limit to raise if one ended it."""
    return f"thoughtgraph solve --resume {run}" + (f" --limit {limit}=…" if limit else "")


def limit_of(state: Mapping[str, Any]) -> str:
    """Returns the limit that ended a search, such as `requests`; empty if none did."""
    name = str(state.get("limit") or "")
    return name.removeprefix(LIMIT_PREFIX) if name.startswith(LIMIT_PREFIX) else ""


def cost(result: Mapping[str, Any]) -> str:
    """Returns the cost of a search in words: requests, tokens, time, tools and dollars."""
    usage: Usage = result["usage"]
    tokens = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    parts = [
        text.count(usage.get("requests", 0), "request"),
        text.count(usage.get("samples", 0), "sample"),
        f"{sum(tokens):,} tokens ({tokens[0]:,} prompt, {tokens[1]:,} completion)",
        text.seconds(usage.get("seconds", 0.0)),
    ]
    if calls := sum(usage.get("tool_calls", {}).values()):
        parts.append(text.tools(calls, sum(usage.get("tool_failures", {}).values())))
    if tool_cost := usage.get("tool_cost", 0.0):
        path = text.value(usage.get("tool_cost_path", 0.0))
        parts.append(f"tool cost {text.value(tool_cost)} paid, {path} on the path")
    parts.append(dollars(usage.get("dollars"), result.get("prices", {})))
    if usage.get("cached"):
        parts.append(f"{text.count(usage['cached'], 'answer')} reused")
    if rest := result.get("unused"):
        tokens = rest["prompt_tokens"] + rest["completion_tokens"]
        parts.append(
            f"besides {text.count(rest['answers'], 'answer')} ({tokens:,} tokens) paid for under a "
            "lower limit and not used here"
        )
    return ", ".join(parts)


LONGEST_LINE = 200
"""Characters of a text that a line shows."""


def plan_lines(tree: Tree) -> list[str]:
    """Returns the lines of the accepted plan, each step with its result; empty without a plan."""
    ends = [key for key, thought in tree.items() if _is_accepted_plan(thought)]
    return [line for key in ends[:1] for thought in path_to(tree, key) for line in _steps(thought)]


def action_lines(tree: Tree) -> list[str]:
    """Returns the path to the answer: each thought with its tool call and its observation.

    The list is empty in a search that calls no tools.
    """
    end = chosen_thought({"tree": tree})
    thoughts = path_to(tree, end["id"]) if end else ()
    acts = any(thought.get("action") for thought in thoughts)
    return [_action_line(thought) for thought in thoughts if acts]


def tries(tree: Tree) -> str:
    """Counts the calls that wrote steps, and refusals by reason; empty without such calls."""
    calls = [t for t in tree.values() if "steps" in t.get("created_by", {})]
    if not calls:
        return ""
    refused = Counter(
        t.get("note", "").partition(":")[0] for t in calls if t.get("status") == "pruned"
    )
    reasons = ", ".join(f"{code} {number}" for code, number in sorted(refused.items()))
    summary = f"{text.count(len(calls), 'call')} for steps, {refused.total()} refused"
    return f"{summary} ({reasons})" if reasons else summary


def _is_accepted_plan(thought: Thought) -> bool:
    is_end = thought.get("status") == "terminal" and "tool_state" in thought
    return is_end and not thought.get("action")


def _action_line(thought: Thought) -> str:
    if "action" not in thought:  # an answer that was forced without a call
        return text.short(thought["text"], LONGEST_LINE)
    call = text.action(thought) or "(no action)"
    observation = text.short(thought.get("observation") or "", LONGEST_LINE)
    return f"{text.short(thought.get('text', ''), LONGEST_LINE)} {call}  → {observation}"


def _steps(thought: Thought) -> Iterator[str]:
    steps = thought.get("text", "").split("\n")
    obs = (thought.get("observation") or "").split("\n")
    for at, step in enumerate(steps):
        value = f"  → {text.short(obs[at], LONGEST_LINE)}" if at < len(obs) and obs[at] else ""
        yield text.short(step, LONGEST_LINE) + value
