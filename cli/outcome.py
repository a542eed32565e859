"""The last lines of `solve`: the answer, whether it checks, why the search ended, what it cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from thoughtgraph import registry
from thoughtgraph.cli import steps, text
from thoughtgraph.cli.plan import Plan
from thoughtgraph.cli.results import INTERRUPTED
from thoughtgraph.settings import limits_of
from thoughtgraph.task import Checks
from thoughtgraph.usage import Usage, spent

REASONS = {
    "solved": "the method ran to its end and has an answer",
    "early_stop": "an output passed the task's exact check",
    "exhausted": "the whole search space was searched",
    "round_limit": "the limit on rounds was reached",
    "step_limit": "the limit on depth was reached",
    "budget": "a limit was reached",
    "dead_end": "no thought was left to go on from",
    "error": "the model stopped answering",
    INTERRUPTED: "stopped by Ctrl-C; what was answered is kept",
}
LABEL = 10
_STYLES = {"answer": "bold", "verified": "green", "right": "green"}


@dataclass(frozen=True)
class Outcome:
    """What there is to tell about a search that has ended."""

    plan: Plan
    result: Mapping[str, Any]
    error: str
    """What failed, in one line; empty when nothing did."""
    written: Sequence[str]
    """Files that were written."""
    run: str


def show(console: Console, outcome: Outcome) -> None:
    """Prints the outcome, one labelled line a fact."""
    for label, words in facts(outcome):
        style = "red" if words.startswith("no") else _STYLES.get(label, "")
        drawn = Text.assemble((f"{label + ':':<{LABEL}}", "dim"), (words, style))
        console.print(drawn, soft_wrap=True)


def facts(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yields what there is to tell: a label and its words."""
    result = outcome.result
    answer = result["answer"]
    if plan := steps.plan_lines(result["tree"]):
        yield "plan", _indented("\n".join(plan))
    if way := steps.action_lines(result["tree"], answer):
        yield "steps", _indented("\n".join(way))
    yield "answer", "none" if answer is None else _indented(text.lines(answer))
    if (gold := outcome.plan.gold) is not None:
        yield "right", "yes, it is the gold answer" if answer == gold else f"no, it is {gold!r}"
    elif answer is not None:
        yield "verified", verdict(outcome.plan.task, result["problem"], answer)
    if tried := steps.tries(result["tree"]):
        yield "tried", tried
    yield "stopped", _reason(result, outcome.error)
    yield "cost", cost(result["usage"])
    if malformed := result["usage"].get("parse_errors"):
        by_role = ", ".join(f"{number} in {role}" for role, number in malformed.items())
        yield "malformed", f"model outputs that could not be read: {by_role}"
    if outcome.written:
        yield "written", ", ".join(outcome.written)
    if result["stop_reason"] == INTERRUPTED:
        yield "resume", resume_hint(outcome.run)


def resume_hint(run: str) -> str:
    """Returns the command that goes on with a stopped run."""
    return f"thoughtgraph solve --resume {run}"


def verdict(task: str, problem: str, answer: str) -> str:
    """Says whether an answer is right, where the task can tell without a gold answer."""
    checks = registry.task(task)
    if not isinstance(checks, Checks):
        return f"unknown: {task} has no exact check"
    right = checks.check(problem, answer)
    return f"yes, by the exact check of {task}" if right else f"no, by the exact check of {task}"


def cost(usage: Usage) -> str:
    """Returns what a search spent, in words."""
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
    if usage.get("dollars"):
        parts.append(f"${usage['dollars']:.4f}")
    if usage.get("cached"):
        parts.append(f"{text.count(usage['cached'], 'answer')} reused")
    return ", ".join(parts)


def _reason(result: Mapping[str, Any], error: str) -> str:
    reason = result["stop_reason"]
    words = REASONS.get(reason, "")
    if reason == "budget" and (name := spent(limits_of(result["settings"]), result["usage"])):
        words = f"the limit on {name} was reached; raise it with --limit {name}=…"
    if reason == "error" and error:
        words = text.line(error)
    return f"{reason}: {words}" if words else reason or "unknown"


def _indented(answer: str) -> str:
    return answer.replace("\n", "\n" + " " * LABEL)
