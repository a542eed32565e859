"""Whether a method can search a task, asked before anything is spent.

It needs neither LangGraph nor a model, which take seconds to import: the command asks it first.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from inspect import getdoc, iscoroutinefunction, signature
from itertools import product
from typing import Any, get_args

from thoughtgraph import registry
from thoughtgraph.context import effective
from thoughtgraph.errors import CapabilityError, InputError, SettingError
from thoughtgraph.task import Checks, Task, extras, lacking, members

Oracle = Callable[[str], Awaitable[bool]]
"""Says whether an answer is right. A result that used one is labelled oracle."""

CHOOSING = ("generate", "evaluate", "draw")
"""Settings that choose which capabilities a method needs."""
DEFAULT_METHODS = ("tot_bfs", "tomt_os", "io")
"""Of these the first that a task can be searched by, unless its entry names another (ours)."""


def default_method(task: Task) -> str:
    """Returns the method by which a task is searched when none is named."""
    entry = registry.TASKS.get(task.id)
    if entry is not None and entry.method:
        return entry.method
    for method in DEFAULT_METHODS:
        if not missing_capabilities(method, task, effective_settings(method, task)):
            return method
    return DEFAULT_METHODS[0]


def admit(
    method: str,
    task: Task,
    settings: Mapping[str, Any],
    *,
    oracle: Oracle | bool = False,
    served: bool = False,
) -> None:
    """Checks that a method can search a task with these settings.

    Args:
        method: Id of the method.
        task: The task.
        settings: The effective settings.
        oracle: What tells the method whether an answer is right; True: the task's exact check.
        served: Whether a client of a server asks, who has neither the command nor an oracle.

    Raises:
        CapabilityError: It cannot; the message says whether it could if the method were told.
        InputError: The method asks no oracle, or what is given is none.
        SettingError: More worked examples are wanted than the task has.
    """
    exact = oracle is True and registry.method(method).asks_oracle
    missing = missing_capabilities(method, task, settings, oracle=bool(oracle), exact=exact)
    if not missing:
        if oracle:
            _admit_oracle(method, oracle, exact=bool(settings.get("exact_check")))
        _admit_examples(task, settings, files=not served)
        return
    if served:
        raise capability_error(method, task, missing, _instead(method, task, settings))
    if oracle or missing_capabilities(method, task, settings, oracle=True):
        raise capability_error(method, task, missing)
    own = "--oracle (Python: oracle=True), by its exact check, or " * isinstance(task, Checks)
    remedy = f"else tell it whether an answer is right: {own}oracle=an async (answer) -> bool"
    raise capability_error(method, task, missing, remedy)


def capability_error(
    method: str, task: Task, missing: Sequence[type], remedy: str = ""
) -> CapabilityError:
    """Returns the error that says what a task would have to do for a method.

    Whoever wrote the task is told what to write, whoever chose it what to choose instead.

    Args:
        method: Id of the method.
        task: The task.
        missing: The capability protocols that the task lacks.
        remedy: What else the caller can do; empty: choose another method.
    """
    if task.id in registry.TASKS and registry.task(task.id) is task:
        wanted = " and that ".join(dict.fromkeys(_purpose(protocol) for protocol in missing))
        reason = f"it needs one that {wanted}"
        remedy = remedy or f"`thoughtgraph methods --task {task.id}` lists those that can"
        return CapabilityError(method, task.id, reason, remedy)
    names = ", ".join(f"{each.__module__}.{each.__name__}" for each in missing)
    reason = f"the task needs {', '.join(_signatures_missing(task, missing))} ({names})"
    ways = [_settings_that_fit(method, task), _other_methods(task)]
    remedy = remedy or "".join(f"; or {way}" for way in ways if way)[2:] or "write them"
    return CapabilityError(method, task.id, reason, remedy)


def _instead(method: str, task: Task, settings: Mapping[str, Any]) -> str:
    """Returns what a client can do, who tells nobody whether an answer is right."""
    exact = settings.get("exact_check")
    other = {**settings, "exact_check": not exact}
    if exact is None or missing_capabilities(method, task, other):
        return _other_methods(task)
    own = "set exact_check, by which the task itself says whether an answer is right"
    return "leave exact_check out" if exact else own


@cache
def tasks_of(method: str) -> Sequence[Task]:
    """Returns the tasks that a method can search with some settings, told or not what is right."""
    tasks = [registry.task(name) for name in registry.TASKS]
    return [task for task in tasks if any(_fits(method, task, each) for each in _choices(method))]


def _choices(method: str) -> Iterator[dict[str, Any]]:
    """Yields every choice of the settings that choose which capabilities a method needs."""
    known = registry.settings(method)
    fields = [name for name in CHOOSING if name in known.model_fields]
    values = [get_args(known.model_fields[name].annotation) for name in fields]
    for chosen in product(*values):
        yield dict(zip(fields, chosen, strict=True))


def _fits(method: str, task: Task, given: Mapping[str, Any]) -> bool:
    return not missing_capabilities(method, task, given, oracle=True)


def check_task(task: object) -> Task:
    """Returns a task that was given in Python or by a file.

    Raises:
        InputError: It is none; the message says what it lacks.
    """
    if isinstance(task, type):
        raise InputError(f"a task is an object, not a class; give {task.__name__}()")
    if not isinstance(task, Task):
        wanted = ", ".join(_signatures_missing(task, [Task]))
        raise InputError(
            f"{type(task).__name__} is no task, it needs {wanted} (thoughtgraph.task.Task); "
            "docs/tasks.md shows a whole one"
        )
    return task


def _purpose(protocol: type) -> str:
    """Returns what a protocol is for, by the first sentence of its documentation."""
    first = " ".join((getdoc(protocol) or "").split()).partition(". ")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _signatures_missing(task: object, missing: Sequence[type]) -> list[str]:
    """Returns what a task would have to have, as one would write it."""
    wanted = {name: form for protocol in missing for name, form in members(protocol).items()}
    return [form for name, form in wanted.items() if not hasattr(task, name)]


def _settings_that_fit(method: str, task: Task) -> str:
    """Returns the settings by which a method takes a task after all; empty without any."""
    for given in _choices(method):
        if given and not missing_capabilities(
            method, task, effective_settings(method, task, given)
        ):
            words = ", ".join(f"{name}={value}" for name, value in given.items())
            return f"set {words} (published() may return them)"
    return ""


def _other_methods(task: Task) -> str:
    """Returns which methods take a task as it is."""
    taken = []
    for name in registry.METHODS:
        with suppress(SettingError):  # what it publishes is meant for other methods
            if not missing_capabilities(name, task, effective_settings(name, task)):
                taken.append(name)
    return f"choose one of {', '.join(taken)}, which take it as it is" if taken else ""


def effective_settings(
    method: str, task: Task, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Returns the effective settings of a method on a task.

    Args:
        method: Id of the method.
        task: The task, whose published values are the defaults.
        given: The settings that are given; None: none are.

    Raises:
        UnknownName: One is no setting of the method.
        SettingError: One is outside its bounds.
    """
    return effective(registry.settings(method), task.published(method), given)


def missing_capabilities(
    method: str,
    task: Task,
    settings: Mapping[str, Any],
    *,
    oracle: bool = False,
    exact: bool = False,
) -> list[type]:
    """Returns the protocols that a task lacks for a method.

    Args:
        method: Id of the method.
        task: The task.
        settings: The effective settings.
        oracle: Whether the method is told if an answer is right.
        exact: Whether the task's exact check is to tell it.
    """
    needed = registry.settings(method).model_construct(**settings).needs(oracle=oracle)
    return lacking(task, [*needed, *([Checks] if exact else [])])


def _admit_oracle(method: str, oracle: object, *, exact: bool) -> None:
    """Refuses what would be ignored, or would fail when a search that was paid for first asks."""
    if not registry.method(method).asks_oracle:
        told = ", ".join(name for name, entry in registry.METHODS.items() if entry.asks_oracle)
        raise InputError(
            f"method {method!r} never asks whether an answer is right; leave the oracle out, or "
            f"choose one of {told}"
        )
    if oracle is not True and exact:
        raise InputError("an oracle and exact_check both say what is right; give one of them")
    if oracle is not True and not _asks_async(oracle):
        raise InputError(
            f"{oracle!r} is no oracle; give an async function of one argument, the answer, that "
            "returns True or False"
        )


def _asks_async(oracle: Any) -> bool:
    """Returns whether something can be awaited once it is called with one argument."""
    try:
        signature(oracle).bind("")
    except (TypeError, ValueError):
        return False
    return iscoroutinefunction(oracle) or iscoroutinefunction(type(oracle).__call__)


def _admit_examples(task: Task, settings: Mapping[str, Any], *, files: bool) -> None:
    """Refuses to show more worked examples than a task has: a result would be of fewer shots.

    Args:
        task: The task.
        settings: The effective settings.
        files: Whether worked examples may come from a file.

    Raises:
        SettingError: The task has not so many.
    """
    demonstrations, wanted = extras(task).demonstrations, settings.get("shots", 0)
    if settings.get("examples") not in ("", "own") or demonstrations is None:
        return
    if (own := len(demonstrations(wanted))) < wanted:
        other = ", or examples to a text file of yours" * files
        raise SettingError(
            f"{task.id!r} has {own} worked examples of its own; set shots to {own} at most{other}"
        )
