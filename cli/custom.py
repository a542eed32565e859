"""Tasks by name: those of the registry, and the user's own, as `FILE.py:NAME`.

The file is run, so only the user's own command line names one: neither a result nor a client of a
server can.
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
    """Returns a task's name as it is kept with a run: with the whole path of a file."""
    file, of_file, object_name = _parts(name)
    if not of_file:
        return name
    return f"{Path(expanduser(file)).resolve()}:{object_name}"


@cache
def task_of(name: str) -> Task:
    """Returns a task of the registry, or makes the one that a file defines.

    Args:
        name: An id, or `FILE.py:NAME`, where NAME is a class or function that makes the task when
            it is called without arguments, or the task itself.

    Raises:
        UnknownName: There is no task of that id.
        InputError: The file cannot be run, or what it defines is no task.
    """
    file, of_file, object_name = _parts(name)
    if not of_file:
        return registry.task(name)
    module = _run(Path(expanduser(file)))
    made = vars(module).get(object_name)
    if made is None:
        own = [key for key, each in vars(module).items() if _made_here(each, module)]
        there = f"it defines {', '.join(own)}" if own else "it defines nothing that makes a task"
        raise InputError(f"write --task {file}:NAME with the name of the task in it; {there}")
    if isinstance(made, type) or (callable(made) and not isinstance(made, Task)):
        with _Running(file):
            made = made()
    return check_task(made)


def _parts(name: str) -> tuple[str, bool, str]:
    """Returns a name as file, whether it names one, and what is meant in it."""
    file, _, object_name = name.rpartition(":")
    if file.endswith(SUFFIX):
        return file, True, object_name
    return name, name.endswith(SUFFIX), ""


def _made_here(each: object, module: ModuleType) -> bool:
    return isinstance(each, type) and each.__module__ == module.__name__


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give --task FILE.py:NAME")
    # A name of its own: nothing that is installed is hidden by it.
    spec = spec_from_file_location(f"thoughtgraph_task_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{str(path)!r} cannot be run as Python")
    module = sys.modules[spec.name] = module_from_spec(spec)
    with _Running(str(path)):
        spec.loader.exec_module(module)
    return module


class _Running(AbstractContextManager[None]):
    """Tells of a mistake in the user's file as such, and where it is."""

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
