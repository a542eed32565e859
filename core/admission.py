"""Whether a method can search a task, asked before anything is spent.

It needs neither LangGraph nor a model, which take seconds to import: the command asks it first.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import iscoroutinefunction, signature
from typing import Any

from thoughtgraph import registry
from thoughtgraph.context import effective
from thoughtgraph.errors import CapabilityError, InputError, SettingError
from thoughtgraph.task import Checks, Shows, Task, lacking

Oracle = Callable[[str], Awaitable[bool]]
"""Says whether an answer is right. A result that used one is labelled oracle."""
Needs = Callable[[Mapping[str, Any]], Sequence[type]]

DEFAULT_METHODS = ("tot_bfs", "tomt_os", "io")
"""Of these the first that a task can be searched by, unless its entry names another (ours)."""


def default_method(task: Task) -> str:
    """Returns the method by which a task is searched when none is named."""
    entry = registry.TASKS.get(task.id)
    if entry is not None and entry.method:
        return entry.method
    for method in DEFAULT_METHODS:
        module = registry.method_module(method)
        settings = effective(module.SETTINGS, task.published(method), None)
        if not lacks(task, module.needs, settings, told=False):
            return method
    return DEFAULT_METHODS[0]


def admit(
    method: str,
    task: Task,
    needs: Needs,
    settings: Mapping[str, Any],
    *,
    oracle: Oracle | bool = False,
) -> None:
    """Checks that a task can do what a method needs.

    Args:
        method: Id of the method.
        task: The task.
        needs: From effective settings to the capability protocols.
        settings: The effective settings.
        oracle: What tells the method whether an answer is right; True: the task's exact check.

    Raises:
        CapabilityError: It cannot; the message says whether it could if the method were told.
        InputError: The method asks no oracle, or what is given is none.
    """
    exact = oracle is True and registry.method(method).told
    missing = lacks(task, needs, settings, told=bool(oracle), exact=exact)
    if not missing:
        if oracle:
            _admit_oracle(method, oracle)
        return
    if oracle or lacks(task, needs, settings, told=True):
        raise CapabilityError(method, task.id, missing)
    own = "--oracle (Python: oracle=True), by its exact check, or " * isinstance(task, Checks)
    remedy = f"else tell it whether an answer is right: {own}oracle=an async (answer) -> bool"
    raise CapabilityError(method, task.id, missing, remedy)


def lacks(
    task: Task, needs: Needs, settings: Mapping[str, Any], *, told: bool, exact: bool = False
) -> list[str]:
    """Returns what a task lacks for a method.

    Args:
        task: The task.
        needs: From effective settings to the capability protocols.
        settings: The effective settings.
        told: Whether the method is told if an answer is right.
        exact: Whether the task's exact check is to tell it.
    """
    return lacking(task, [*needs({**settings, "oracle": told}), *([Checks] if exact else [])])


def _admit_oracle(method: str, oracle: object) -> None:
    """Refuses what would be ignored, or would fail when a search that was paid for first asks."""
    if not registry.method(method).told:
        told = ", ".join(name for name, entry in registry.METHODS.items() if entry.told)
        raise InputError(
            f"method {method!r} never asks whether an answer is right; leave the oracle out, or "
            f"choose one of {told}"
        )
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


def check_examples(task: Task, settings: Mapping[str, Any]) -> None:
    """Refuses to show more worked examples than a task has: a result would be of fewer shots."""
    if settings.get("examples") not in ("", "own") or not isinstance(task, Shows):
        return
    wanted = settings.get("shots", 0)
    if (own := len(task.demonstrations(wanted))) < wanted:
        raise SettingError(
            f"{task.id!r} has {own} worked examples of its own; set shots to {own} at most, or "
            "examples to a text file of yours"
        )
