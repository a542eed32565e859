"""Whether a method can search a task, asked before anything is spent.

It needs neither LangGraph nor a model, which take seconds to import: the command asks it first.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from inspect import getdoc, iscoroutinefunction, signature
from itertools import product
from typing import Any, Literal, get_args, get_origin

from thoughtgraph import registry
from thoughtgraph.context import resolve_settings
from thoughtgraph.errors import CapabilityError, InputError, SettingError
from thoughtgraph.settings.marks import Exact, Needs
from thoughtgraph.task import Checks, Task

Oracle = Callable[[str], Awaitable[bool]]
"""Says whether an answer is right. A result that used one is labelled oracle."""


def default_method(task: Task) -> str:
    """Returns the method by which a task is searched when none is named."""
    entry = registry.TASKS.get(task.id)
    if entry is not None and entry.method:
        return entry.method
    able = _methods_for(task, registry.DEFAULT_METHODS)
    return next(able, registry.DEFAULT_METHODS[0])


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
        SettingError: More worked examples are wanted than the task has: a result would be of fewer
            shots.
    """
    exact = oracle is True and registry.METHODS[method].asks_oracle
    missing = missing_capabilities(method, task, settings, oracle=bool(oracle), exact=exact)
    if missing:
        remedy = _remedy(method, task, settings, told=bool(oracle), served=served)
        raise capability_error(method, task, missing, remedy)
    if oracle:
        _admit_oracle(method, oracle, settings)
    demonstrations: Any = getattr(task, "demonstrations", None)
    wanted = getattr(registry.settings(method).of(settings), "own_shots", 0)
    if demonstrations and wanted and (own := len(demonstrations(wanted))) < wanted:
        other = ", or examples to a text file of yours" * (not served)
        raise SettingError(
            f"{task.id!r} has {own} worked examples of its own; set shots to {own} at most{other}"
        )


def missing_capabilities(
    method: str,
    task: Task,
    settings: Mapping[str, Any],
    *,
    oracle: bool = False,
    exact: bool = False,
) -> list[type]:
    """Returns the protocols that a task lacks for a method with these settings.

    Args:
        method: Id of the method.
        task: The task.
        settings: The effective settings.
        oracle: Whether the method is told if an answer is right.
        exact: Whether the task's exact check is to tell it.
    """
    capabilities = registry.settings(method).of(settings).needs(oracle=oracle)
    return [each for each in [*capabilities, *[Checks] * exact] if not isinstance(task, each)]


def _remedy(
    method: str, task: Task, settings: Mapping[str, Any], *, told: bool, served: bool
) -> str:
    """Returns what can be done about a task that a method cannot search; empty: choose others."""
    if served:
        # A client tells nobody what is right; the task itself might.
        for name in registry.settings(method).marked(Exact):
            if not missing_capabilities(method, task, {**settings, name: not settings[name]}):
                own = "by which the task itself says whether an answer is right"
                return f"leave {name} out" if settings[name] else f"set {name}, {own}"
        return _other_methods(task)
    if told or missing_capabilities(method, task, settings, oracle=True):
        return ""
    own = "--oracle (Python: oracle=True), by its exact check, or " * isinstance(task, Checks)
    return f"else tell it whether an answer is right: {own}oracle=an async (answer) -> bool"


def capability_error(
    method: str, task: Task, missing: Sequence[type], remedy: str = ""
) -> CapabilityError:
    """Returns the error that says what a task lacks for a method, and what to do about it.

    For a task of ours, which the caller only chose, it names other methods; for the caller's own,
    what to write. A `remedy` stands in place of either.
    """
    if task.id in registry.TASKS and registry.task(task.id) is task:  # chosen, not written
        # The first sentence of a protocol's documentation says what it is for.
        firsts = [" ".join((getdoc(each) or "").split()).partition(". ")[0] for each in missing]
        wanted = " and that ".join(first[:1].lower() + first[1:].rstrip(".") for first in firsts)
        remedy = remedy or f"`thoughtgraph methods --task {task.id}` lists the methods that can"
        return CapabilityError(method, task.id, f"it needs a task that {wanted}", remedy)
    names = ", ".join(f"{each.__module__}.{each.__name__}" for each in missing)
    reason = f"the task needs {', '.join(_signatures_missing(task, missing))} ({names})"
    ways = filter(None, [_settings_that_fit(method, task), _other_methods(task)])
    remedy = remedy or "; ".join(f"or {way}" for way in ways) or "write them"
    return CapabilityError(method, task.id, reason, remedy)


def _signatures_missing(task: object, missing: Sequence[type]) -> list[str]:
    """Returns what a task would have to have, as one would write it: `read(text)`."""
    wanted: dict[str, str] = {}
    for kind in (kind for protocol in missing for kind in reversed(protocol.__mro__)):
        members = vars(kind) if getattr(kind, "_is_protocol", False) else {}
        for name, member in members.items():
            if callable(member) and not name.startswith("_"):
                wanted[name] = f"{name}({', '.join(list(signature(member).parameters)[1:])})"
            elif isinstance(member, property):
                wanted[name] = name
    return [form for name, form in wanted.items() if not hasattr(task, name)]


def _settings_that_fit(method: str, task: Task) -> str:
    """Returns the settings by which a method takes a task after all; empty without any."""
    for choice in filter(None, _choices(method)):
        if not missing_capabilities(method, task, effective_settings(method, task, choice)):
            words = ", ".join(f"{name}={value}" for name, value in choice.items())
            return f"set {words} (published() may return them)"
    return ""


def _other_methods(task: Task) -> str:
    """Returns which methods take a task as it is."""
    taken = ", ".join(_methods_for(task, registry.METHODS))
    return f"choose one of {taken}, which take it as it is" if taken else ""


def _methods_for(task: Task, methods: Iterable[str]) -> Iterator[str]:
    """Yields the methods that take a task as it is."""
    for name in methods:
        with suppress(SettingError):  # what it publishes is meant for other methods
            if not missing_capabilities(name, task, effective_settings(name, task)):
                yield name


@cache
def tasks_of(method: str) -> Sequence[Task]:
    """Returns the tasks that a method can search with some settings, told or not what is right."""
    choices = list(_choices(method))
    return [
        task
        for task in map(registry.task, registry.TASKS)
        if not all(missing_capabilities(method, task, each, oracle=True) for each in choices)
    ]


def _choices(method: str) -> Iterator[dict[str, Any]]:
    """Yields every choice of the settings that choose which capabilities a method needs."""
    known = registry.settings(method)
    kinds = {name: known.model_fields[name].annotation for name in known.marked(Needs)}
    fields = {name: get_args(kind) for name, kind in kinds.items() if get_origin(kind) is Literal}
    for chosen in product(*fields.values()):
        yield dict(zip(fields, chosen, strict=True))


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


def effective_settings(
    method: str, task: Task, chosen: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Returns the effective settings of a method on a task; what it publishes are the defaults.

    Raises:
        UnknownName: One is no setting of the method.
        SettingError: One is outside its bounds.
    """
    return resolve_settings(registry.settings(method), task.published(method), chosen)


def _admit_oracle(method: str, oracle: Oracle | bool, settings: Mapping[str, Any]) -> None:
    """Refuses what would be ignored, or would fail when a search that was paid for first asks."""
    told = [name for name, entry in registry.METHODS.items() if entry.asks_oracle]
    if method not in told:
        raise InputError(
            f"method {method!r} never asks whether an answer is right; leave the oracle out, or "
            f"choose one of {', '.join(told)}"
        )
    if oracle is True:
        return
    if any(settings.get(name) for name in registry.settings(method).marked(Exact)):
        raise InputError("an oracle and exact_check both say what is right; give one of them")
    try:
        signature(oracle).bind("")  # type: ignore[arg-type]
        asks = iscoroutinefunction(oracle) or iscoroutinefunction(type(oracle).__call__)
    except (TypeError, ValueError):
        asks = False
    if not asks:
        raise InputError(
            f"{oracle!r} is no oracle; give an async function of one argument, the answer, that "
            "returns True or False"
        )
