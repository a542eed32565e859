"""How much memory this process may still take: what the machine has and its container allows."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple


class _Files(NamedTuple):
    """Where one version of Linux control groups keeps its figures."""

    mount: str
    limit: str
    used: str
    droppable: str
    """Entry of `memory.stat`: file pages that are counted as used and given up when needed."""


_UNIFIED = _Files("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
_LEGACY = _Files(
    "sys/fs/cgroup/memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "total_inactive_file",
)


def free_memory(root: Path = Path("/")) -> int | None:
    """Returns the bytes that can be used without swapping and without being killed for it.

    Args:
        root: Where the system's files lie.

    Returns:
        The least of what the machine has and what each control group above this process leaves;
        None where the system says neither.
    """
    known = [_available(root), *(_left(files, at) for files, at in _groups(root))]
    return min((size for size in known if size is not None), default=None)


def _available(root: Path) -> int | None:
    sizes = _table(root / "proc/meminfo", ":")
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


def _groups(root: Path) -> Iterator[tuple[_Files, Path]]:
    """Yields this process's control groups up to the mount, which is all that a container sees."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        files = _LEGACY if controllers else _UNIFIED
        group = PurePosixPath(path.lstrip("/"))
        for at in (group, *group.parents):
            yield files, root / files.mount / at


def _left(files: _Files, at: Path) -> int | None:
    limit, used = _lines(at / files.limit), _lines(at / files.used)
    if not (limit and used and limit[0].isdecimal() and used[0].isdecimal()):
        return None  # no such group, or no limit ("max")
    droppable = int(_table(at / "memory.stat", " ").get(files.droppable, "0"))
    return max(0, int(limit[0]) - int(used[0]) + droppable)


def _table(path: Path, separator: str) -> dict[str, str]:
    pairs = (line.split(separator, 1) for line in _lines(path) if separator in line)
    return {name: value.strip() for name, value in pairs}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
