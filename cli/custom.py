"""Looks tasks up by name: in the registry, or in a file of the user's own, as `FILE.py:NAME`.

Loading a task runs its file, so only the user's own command line may name one. A result or a client
of a server cannot.
"""

import sys
from contextlib import AbstractContextManager
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from os.path import expanduser
from pathlib import Path
from types import ModuleType, TracebackType

from thoughtgraph import registry
from thoughtgraph.admission import check_task
from thoughtgraph.errors import InputError
from thoughtgraph.task import Task

SUFFIX = ".py"


def full_name(name: str) -> str:
    """Returns the name that a run stores for a task, with the absolute path of a file."""
    file, is_file, object_name = _parts(name)
    if not is_file:
        return name
    return f"{Path(expanduser(file)).resolve()}:{object_name}"


@cache
def task_of(name: str) -> Task:
    """Returns a task of the registry, or the task that a file defines.

    Args:
        name: An id, or `FILE.py:NAME`. NAME is the task itself, or a class or function that makes
            it when called without arguments.

    Raises:
        UnknownName: There is no task of that id.
        InputError: The file cannot be run, or NAME is not a task.
    """
    file, is_file, object_name = _parts(name)
    if not is_file:
        return registry.task(name)
    module = _run(Path(expanduser(file)))
    candidate = vars(module).get(object_name)
    if candidate is None:
        names = [key for key, each in vars(module).items() if _defined_here(each, module)]
        hint = f"it defines {', '.join(names)}" if names else "it defines nothing that makes a task"
        raise InputError(f"write --task {file}:NAME with the name of the task in it; {hint}")
    if isinstance(candidate, type) or (callable(candidate) and not isinstance(candidate, Task)):
        with _Running(file):
            candidate = candidate()
    return check_task(candidate)


def _parts(name: str) -> tuple[str, bool, str]:
    """Splits a name into file or id, whether it is a file, and the name of the object in it."""
    file, _, object_name = name.rpartition(":")
    if file.endswith(SUFFIX):
        return file, True, object_name
    return name, name.endswith(SUFFIX), ""


def _defined_here(each: object, module: ModuleType) -> bool:
    return isinstance(each, type) and each.__module__ == module.__name__


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give --task FILE.py:NAME")
    # A prefix, so that the module hides no installed one.
    spec = spec_from_file_location(f"thoughtgraph_task_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{str(path)!r} cannot be run as Python")
    module = sys.modules[spec.name] = module_from_spec(spec)
    with _Running(str(path)):
        spec.loader.exec_module(module)
    return module


class _Running(AbstractContextManager[None]):
    """Turns an exception of the user's file into an `InputError` with the file and the line."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, Exception):
            return
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        line = getattr(error, "lineno", None) or (trace.tb_lineno if trace else 0)
        raise InputError(
            f"{self._file!r} fails at line {line} ({type(error).__name__}: {error}); mend it, or "
            "see the traceback with --debug"
        ) from error
