"""From what was asked on the command line to what will be run, checked before anything is spent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os.path import expanduser
from pathlib import Path
from typing import Any

from thoughtgraph import registry
from thoughtgraph.admission import admit, default_method
from thoughtgraph.cli import demo
from thoughtgraph.context import effective
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.settings import CHOICES, LIMIT_PREFIX, Settings

DEFAULT_TASK = "question"


@dataclass(frozen=True)
class Wish:
    """What was asked for: the options of `solve` as they were written."""

    problem: str | None = None
    task: str | None = None
    method: str | None = None
    model: str = ""
    evaluator_model: str = ""
    oracle: bool = False
    settings: Sequence[str] = ()
    limits: Sequence[str] = ()
    resume: str | None = None


@dataclass(frozen=True)
class Plan:
    """What will be run; all of it plain values, so that a stopped run can be found again."""

    method: str
    task: str
    problem: str
    model: str
    """Model specifier; empty: the default."""
    evaluator_model: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    """The settings that were given; all others have their defaults."""
    oracle: bool = False
    """Whether the task's exact check tells the method if an answer is right."""
    gold: str | None = None
    """The right answer, where the command made the problem itself; the search never sees it."""

    def effective(self) -> dict[str, Any]:
        """Returns the values of all settings."""
        module = registry.method_module(self.method)
        task = registry.task(self.task)
        return effective(module.SETTINGS, task.published(self.method), self.settings)


def planned(wish: Wish) -> Plan:
    """Returns the plan for a new run.

    Raises:
        InputError: Something that was asked for is not there or cannot be used.
        CapabilityError: The method needs something that the task cannot do.
    """
    demonstrated = wish.problem is None and wish.task is None
    name = wish.task or (demo.TASK if demonstrated else DEFAULT_TASK)
    task = registry.task(name)
    given = {**_settings(wish.settings), **_limits(wish.limits)}
    method = wish.method
    if demonstrated:
        method = method or demo.METHOD
        given = {**(demo.SETTINGS if method == demo.METHOD else {}), **given}
    method = method or default_method(task)
    module = registry.method_module(method)
    settings = effective(module.SETTINGS, task.published(method), given)
    admit(method, task, module.needs, settings, oracle=wish.oracle)
    made = demo.generated(settings["seed"]) if demonstrated else None
    return Plan(
        method=method,
        task=name,
        problem=task.read(made.problem if made else _problem(wish, name)),
        model=wish.model,
        evaluator_model=wish.evaluator_model,
        settings=given,
        oracle=wish.oracle,
        gold=made.gold if made else None,
    )


def _problem(wish: Wish, task: str) -> str:
    if wish.problem is not None:
        return _content(wish.problem)
    example = registry.TASKS[task].example
    raise InputError(f"no problem given for task {task!r}; write one such as {example!r}")


def _settings(pairs: Sequence[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for pair in pairs:
        name, value = _split(pair, "--set")
        if name in CHOICES:
            option = name.replace("_", "-")
            raise InputError(f"{name!r} is no setting here; use --{option} {value}")
        chosen[name] = _value(value)
    return chosen


def _limits(pairs: Sequence[str]) -> dict[str, Any]:
    size = len(LIMIT_PREFIX)
    known = [name[size:] for name in Settings.model_fields if name.startswith(LIMIT_PREFIX)]
    chosen: dict[str, Any] = {}
    for pair in pairs:
        name, value = _split(pair, "--limit")
        if name not in known:
            raise UnknownName("limit", name, known)
        chosen[LIMIT_PREFIX + name] = None if value == "none" else _value(value)
    return chosen


def _split(pair: str, option: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals or not name:
        raise InputError(f"{option} {pair!r} is not NAME=VALUE; write {option} name=value")
    return name.strip().replace("-", "_"), value


def _value(written: str) -> Any:
    """Returns a value written as JSON, or the text itself when it is no JSON."""
    content = _content(written)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


def _content(written: str) -> str:
    """Returns a text, or the content of the file it names with `@`."""
    if not written.startswith("@"):
        return written
    path = Path(expanduser(written[1:]))
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r} ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is no text file; it must be UTF-8") from None


def unexpected(wish: Wish) -> list[str]:
    """Returns the options that a resumed run does not take: it keeps its own."""
    taken: Mapping[str, Any] = {
        "PROBLEM": wish.problem,
        "--task": wish.task,
        "--method": wish.method,
        "--set": wish.settings,
        "--limit": wish.limits,
        "--oracle": wish.oracle,
    }
    return [name for name, value in taken.items() if value]
