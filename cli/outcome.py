"""The last lines of `solve`: the answer, whether it checks, why the search ended, what it cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from thoughtgraph import registry
from thoughtgraph.cli import steps, text
from thoughtgraph.cli.plan import Plan
from thoughtgraph.nodes.act import REJECTED
from thoughtgraph.prices import dollars
from thoughtgraph.results import INTERRUPTED
from thoughtgraph.settings import limits_of
from thoughtgraph.task import Checks
from thoughtgraph.tree import Thought
from thoughtgraph.usage import Usage, spent

REASONS = {
    "solved": "the method ran to its end and has an answer",
    "early_stop": "an output passed the task's exact check",
    "exhausted": "nothing was left to search",
    "round_limit": "the limit on rounds was reached",
    "step_limit": "the limit on steps was reached",
    "budget": "a limit was reached",
    "dead_end": "no thought was left to go on from",
    "error": "the model stopped answering",
    INTERRUPTED: "stopped by Ctrl-C; what was answered is kept",
}
SETTLED = "no further solution could change the answer"
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


def _answer(outcome: Outcome) -> Iterator[Fact]:
    """Yields the answer and whether it is right, as far as anybody can tell."""
    answer, gold = outcome.result["answer"], outcome.plan.gold
    if answer is None:
        yield Fact("answer", "none", "red")
    else:
        yield Fact("answer", _indented(text.lines(answer)), "bold")
    if gold is not None:
        right = answer == gold
        yield Fact(
            "right", "yes, it is the gold answer" if right else f"no, it is {gold!r}", _RIGHT[right]
        )
    elif answer is not None:
        task = outcome.plan.task
        checked = verified(task, outcome.result["problem"], answer)
        yield Fact("verified", verdict(task, checked), _RIGHT[checked])
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
    yield Fact("stopped", _reason(result), "red" if result["stop_reason"] == "error" else "")
    yield Fact("cost", cost(result))
    if malformed := result["usage"].get("parse_errors"):
        by_role = ", ".join(f"{number} in {role}" for role, number in malformed.items())
        yield Fact("misread", f"model outputs that could not be read: {by_role}")


def resume_hint(run: str) -> str:
    """Returns the command that goes on with a stopped run."""
    return f"thoughtgraph solve --resume {run}"


def verified(task: str, problem: str, answer: str) -> bool | None:
    """Returns whether an answer is right, where the task can tell without a gold answer."""
    checks = registry.task(task)
    return checks.check(problem, answer) if isinstance(checks, Checks) else None


def verdict(task: str, right: bool | None) -> str:
    """Says what `verified` found."""
    if right is None:
        return f"unknown: {task} has no exact check"
    return f"{'yes' if right else 'no'}, by the exact check of {task}"


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
    return ", ".join(parts)


def _reason(result: Mapping[str, Any]) -> str:
    reason = result["stop_reason"]
    words = REASONS.get(reason, "")
    if reason == "budget" and (name := spent(limits_of(result["settings"]), result["usage"])):
        words = f"the limit on {name} was reached; raise it with --limit {name}=…"
    if reason == "early_stop" and (wanted := result["settings"].get("solutions")):
        ends = sum(thought["status"] == "terminal" for thought in result["tree"].values())
        words = SETTLED if ends < wanted else f"{text.count(ends, 'solution')}, as many as wanted"
    return f"{reason}: {words}" if words else reason or "unknown"


def _indented(answer: str) -> str:
    return answer.replace("\n", "\n" + " " * LABEL)
