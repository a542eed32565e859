"""How much memory there is, by the files of machines and containers."""

from pathlib import Path

import pytest

from thoughtgraph.llm.free_memory import free_memory

MB = 1 << 20
MACHINE = {"proc/meminfo": "MemTotal: 9999999 kB\nMemAvailable: 4194304 kB\n"}
UNIFIED = {**MACHINE, "proc/self/cgroup": "0::/work/box\n"}
LEGACY = {**MACHINE, "proc/self/cgroup": "5:devices:/\n4:cpu,memory:/work/box\n"}
GROUPS = "sys/fs/cgroup/"


def limited(group: str) -> dict[str, str]:
    return {
        f"{GROUPS}{group}/memory.max": f"{1000 * MB}\n",
        f"{GROUPS}{group}/memory.current": f"{700 * MB}\n",
        f"{GROUPS}{group}/memory.stat": f"anon 5\ninactive_file {100 * MB}\n",
    }


OLDER = {
    f"{GROUPS}memory/work/memory.limit_in_bytes": f"{1000 * MB}\n",
    f"{GROUPS}memory/work/memory.usage_in_bytes": f"{1200 * MB}\n",
}
UNLIMITED = {f"{GROUPS}work/box/memory.max": "max\n", f"{GROUPS}work/box/memory.current": "1\n"}


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, None),
        (MACHINE, 4096 * MB),
        ({**UNIFIED, **limited("work/box")}, 400 * MB),
        ({**UNIFIED, **limited("work")}, 400 * MB),
        ({**UNIFIED, **limited(".")}, 400 * MB),
        ({**UNIFIED, **UNLIMITED}, 4096 * MB),
        ({**LEGACY, **OLDER}, 0),
    ],
)
def test_a_container_allows_no_more_than_its_groups(
    tmp_path: Path, files: dict[str, str], free: int | None
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert free_memory(tmp_path) == free
