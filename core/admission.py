"""Checks, before anything is spent, that a method can search a task.

The checks import neither LangGraph nor a model, which take seconds: the command runs them first.
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
"""Returns whether an answer is right. The result of a search that has one is labelled oracle."""


def default_method(task: Task) -> str:
    """Returns the method that searches a task when the caller names none."""
    entry = registry.TASKS.get(task.id)
    if entry is not None and entry.method:
        return entry.method
    methods = _methods_for(task, registry.DEFAULT_METHODS)
    return next(methods, registry.DEFAULT_METHODS[0])


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
        oracle: Tells the method whether an answer is right; True: the task's exact check does.
        served: Whether the caller is a client of a server, without the command or an oracle.

    Raises:
        CapabilityError: The task lacks capabilities; the message says whether an oracle would help.
        InputError: The method asks no oracle, or this one is unusable or stands beside exact_check.
        SettingError: The settings request more worked examples than the task has: the result would
            be one of fewer shots.
    """
    exact = oracle is True and registry.METHODS[method].asks_oracle
    missing = missing_capabilities(method, task, settings, oracle=bool(oracle), exact=exact)
    if missing:
        remedy = _remedy(method, task, settings, has_oracle=bool(oracle), served=served)
        raise capability_error(method, task, missing, remedy)
    if oracle:
        _admit_oracle(method, oracle, settings)
    demonstrations: Any = getattr(task, "demonstrations", None)
    shots = getattr(registry.settings(method).of(settings), "own_shots", 0)
    if demonstrations and shots and (own := len(demonstrations(shots))) < shots:
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
        oracle: Whether something tells the method if an answer is right.
        exact: Whether that is the task's exact check.
    """
    capabilities = registry.settings(method).of(settings).needs(oracle=oracle)
    return [each for each in [*capabilities, *[Checks] * exact] if not isinstance(task, each)]


def _remedy(
    method: str, task: Task, settings: Mapping[str, Any], *, has_oracle: bool, served: bool
) -> str:
    """Returns the remedy for missing capabilities; empty leaves it to `capability_error`."""
    if served:
        # Clients cannot pass an oracle, but the task itself may have an exact check.
        for name in registry.settings(method).marked(Exact):
            if not missing_capabilities(method, task, {**settings, name: not settings[name]}):
                phrase = "by which the task itself says whether an answer is right"
                return f"leave {name} out" if settings[name] else f"set {name}, {phrase}"
        return _other_methods(task)
    if has_oracle or missing_capabilities(method, task, settings, oracle=True):
        return ""
    phrase = "--oracle (Python: oracle=True), by its exact check, or " * isinstance(task, Checks)
    return f"else tell it whether an answer is right: {phrase}oracle=an async (answer) -> bool"


def capability_error(
    method: str, task: Task, missing: Sequence[type], remedy: str = ""
) -> CapabilityError:
    """Returns the error for a task that lacks capabilities of a method, with a remedy.

    For a task of ours, which the caller only chose, the remedy is another method. For the caller's
    own task, it is other settings, another method or the members to add. `remedy` replaces either.
    """
    if task.id in registry.TASKS and registry.task(task.id) is task:  # not the caller's own
        # The first sentence of a protocol's docstring says what the task must be able to do.
        sentences = [" ".join((getdoc(each) or "").split()).partition(". ")[0] for each in missing]
        needs = " and that ".join(text[:1].lower() + text[1:].rstrip(".") for text in sentences)
        remedy = remedy or f"`thoughtgraph methods --task {task.id}` lists the methods that can"
        return CapabilityError(method, task.id, f"it needs a task that {needs}", remedy)
    names = ", ".join(f"{each.__module__}.{each.__name__}" for each in missing)
    reason = f"the task needs {', '.join(_signatures_missing(task, missing))} ({names})"
    ways = filter(None, [_settings_that_fit(method, task), _other_methods(task)])
    remedy = remedy or "; ".join(f"or {way}" for way in ways) or "write them"
    return CapabilityError(method, task.id, reason, remedy)


def _signatures_missing(task: object, missing: Sequence[type]) -> list[str]:
    """Returns the members that a task lacks, in the form of code: `read(text)`."""
    forms: dict[str, str] = {}
    for base in (base for protocol in missing for base in reversed(protocol.__mro__)):
        members = vars(base) if getattr(base, "_is_protocol", False) else {}
        for name, member in members.items():
            if callable(member) and not name.startswith("_"):
                forms[name] = f"{name}({', '.join(list(signature(member).parameters)[1:])})"
            elif isinstance(member, property):
                forms[name] = name
    return [form for name, form in forms.items() if not hasattr(task, name)]


def _settings_that_fit(method: str, task: Task) -> str:
    """Returns a remedy: settings with which a method takes a task; empty if there are none."""
    for choice in filter(None, _choices(method)):
        if not missing_capabilities(method, task, effective_settings(method, task, choice)):
            values = ", ".join(f"{name}={value}" for name, value in choice.items())
            return f"set {values} (published() may return them)"
    return ""


def _other_methods(task: Task) -> str:
    """Returns a remedy: the methods that take a task as it is; empty if there are none."""
    names = ", ".join(_methods_for(task, registry.METHODS))
    return f"choose one of {names}, which take it as it is" if names else ""


def _methods_for(task: Task, methods: Iterable[str]) -> Iterator[str]:
    """Yields the methods that can search a task with the settings that it publishes for them."""
    for name in methods:
        with suppress(SettingError):  # a task may publish settings that a method lacks
            if not missing_capabilities(name, task, effective_settings(name, task)):
                yield name


@cache
def tasks_of(method: str) -> Sequence[Task]:
    """Returns the tasks that a method can search with some settings, with or without an oracle."""
    choices = list(_choices(method))
    return [
        task
        for task in map(registry.task, registry.TASKS)
        if not all(missing_capabilities(method, task, each, oracle=True) for each in choices)
    ]


def _choices(method: str) -> Iterator[dict[str, Any]]:
    """Yields every combination of the literal settings that decide which capabilities it needs."""
    settings = registry.settings(method)
    types = {name: settings.model_fields[name].annotation for name in settings.marked(Needs)}
    options = {name: get_args(kind) for name, kind in types.items() if get_origin(kind) is Literal}
    for values in product(*options.values()):
        yield dict(zip(options, values, strict=True))


def check_task(task: object) -> Task:
    """Returns the object unchanged if it is a task; it comes from Python code or from a file.

    Raises:
        InputError: It is not a task; the message names the missing members.
    """
    if isinstance(task, type):
        raise InputError(f"a task is an object, not a class; give {task.__name__}()")
    if not isinstance(task, Task):
        members = ", ".join(_signatures_missing(task, [Task]))
        raise InputError(
            f"{type(task).__name__} is no task, it needs {members} (thoughtgraph.task.Task); "
            "docs/tasks.md shows a whole one"
        )
    return task


def effective_settings(
    method: str, task: Task, chosen: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Returns the effective settings of a method on a task; published values are the defaults.

    Raises:
        UnknownName: A name is not a setting of the method.
        SettingError: A value is outside its bounds, or the task publishes an unknown setting.
    """
    return resolve_settings(registry.settings(method), task.published(method), chosen)


def _admit_oracle(method: str, oracle: Oracle | bool, settings: Mapping[str, Any]) -> None:
    """Refuses an oracle that the method would ignore, or that would fail after paid requests."""
    methods = [name for name, entry in registry.METHODS.items() if entry.asks_oracle]
    if method not in methods:
        raise InputError(
            f"method {method!r} never asks whether an answer is right; leave the oracle out, or "
            f"choose one of {', '.join(methods)}"
        )
    if oracle is True:
        return
    if any(settings.get(name) for name in registry.settings(method).marked(Exact)):
        raise InputError("an oracle and exact_check both say what is right; give one of them")
    try:
        signature(oracle).bind("")  # type: ignore[arg-type]
        is_async = iscoroutinefunction(oracle) or iscoroutinefunction(type(oracle).__call__)
    except (TypeError, ValueError):
        is_async = False
    if not is_async:
        raise InputError(
            f"{oracle!r} is no oracle; give an async function of one argument, the answer, that "
            "returns True or False"
        )
