"""The last lines of `solve`: the answer, whether it checks, why the search ended, what it cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from thoughtgraph.cli import steps, text
from thoughtgraph.cli.plan import Plan
from thoughtgraph.llm.prices import dollars
from thoughtgraph.outcome import INTERRUPTED, REJECTED, rightness, verdict
from thoughtgraph.settings import LIMIT_PREFIX
from thoughtgraph.tree import Thought
from thoughtgraph.usage import Usage

LABEL = 10
_RIGHT = {True: "green", False: "red", None: ""}


class Fact(NamedTuple):
    """One labelled line."""

    label: str
    words: str
    style: str = ""
    """How a terminal shows it: by what it says, never by how a model worded it."""


@dataclass(frozen=True)
class Outcome:
    """What there is to tell about a search that has ended."""

    plan: Plan
    result: Mapping[str, Any]
    written: Sequence[str]
    """Files that were written."""
    run: str


def show(console: Console, outcome: Outcome) -> None:
    """Prints the outcome, one labelled line a fact."""
    for fact in facts(outcome):
        label = (f"{fact.label + ':':<{LABEL}}", "dim")
        console.print(Text.assemble(label, (fact.words, fact.style)), soft_wrap=True)


def facts(outcome: Outcome) -> Iterator[Fact]:
    """Yields what there is to tell."""
    result = outcome.result
    if plan := steps.plan_lines(result["tree"]):
        yield Fact("plan", _indented("\n".join(plan)))
    if way := steps.action_lines(result["tree"]):
        yield Fact("steps", _indented("\n".join(way)))
    yield from _answer(outcome)
    yield from _search(outcome)
    if outcome.written:
        yield Fact("written", ", ".join(outcome.written))
    if result["stop_reason"] in (INTERRUPTED, "error"):
        yield Fact("resume", resume_hint(outcome.run))
    elif limit := limit_of(result):
        yield Fact("resume", resume_hint(outcome.run, limit))


def _answer(outcome: Outcome) -> Iterator[Fact]:
    """Yields the answer and whether it is right, as far as anybody can tell."""
    answer = outcome.result["answer"]
    if answer is None:
        yield Fact("answer", "none", "red")
    else:
        yield Fact("answer", _indented(text.lines(answer)), "bold")
    if (right := outcome.result.get("right")) is not None:
        yield Fact("right", rightness(right, outcome.plan.gold), _RIGHT[right])
    elif answer is not None:
        yield Fact("verified", verdict(outcome.result), _RIGHT[outcome.result.get("verified")])
    end = steps.chosen(outcome.result["tree"]) or Thought()
    if (note := end.get("note", "")).startswith(REJECTED):
        why = text.short(note.removeprefix(REJECTED), steps.LONGEST)
        yield Fact("judged", f"no, the search itself rejected this answer: {why}", "red")
    if outcome.result["settings"]["oracle"]:
        yield Fact("oracle", "yes, the search was told whether an answer is right")


def _search(outcome: Outcome) -> Iterator[Fact]:
    """Yields how the search went."""
    result = outcome.result
    if tried := steps.tries(result["tree"]):
        yield Fact("tried", tried)
    yield Fact("ended", _ending(result), "red" if result["stop_reason"] == "error" else "")
    yield Fact("cost", cost(result))
    if malformed := result["usage"].get("parse_errors"):
        by_role = ", ".join(f"{number} in {role}" for role, number in malformed.items())
        yield Fact("misread", f"model outputs that could not be read: {by_role}")


def resume_hint(run: str, limit: str = "") -> str:
    """Returns the command that goes on with a stopped run.

    Args:
        run: The run's id.
        limit: The limit that must be raised first; empty: none.
    """
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


def _ending(result: Mapping[str, Any]) -> str:
    name = str(result.get("limit") or "")
    if not name or limit_of(result):  # `resume` tells how a limit is raised
        return str(result["outcome"])
    return f"{result['outcome']}; raise it with --set {name}=…"


def _indented(answer: str) -> str:
    return answer.replace("\n", "\n" + " " * LABEL)
