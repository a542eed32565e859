"""How much memory there is, by the files of machines and containers."""

from pathlib import Path

import pytest

from thoughtgraph.llm.free_memory import free_memory

MB = 1 << 20
MACHINE = {"proc/meminfo": "MemTotal: 9999999 kB\nMemAvailable: 4194304 kB\n"}
UNIFIED = {**MACHINE, "proc/self/cgroup": "0::/work/box\n"}
LEGACY = {**MACHINE, "proc/self/cgroup": "5:devices:/\n4:cpu,memory:/work/box\n"}


def laid_out(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def test_a_machine_without_containers_has_what_it_says(tmp_path: Path) -> None:
    assert free_memory(laid_out(tmp_path, MACHINE)) == 4096 * MB


def test_another_system_says_nothing(tmp_path: Path) -> None:
    assert free_memory(tmp_path) is None


@pytest.mark.parametrize("group", ["work/box", "work", "."])
def test_a_container_allows_no_more_than_its_groups(tmp_path: Path, group: str) -> None:
    own = {
        f"sys/fs/cgroup/{group}/memory.max": f"{1000 * MB}\n",
        f"sys/fs/cgroup/{group}/memory.current": f"{700 * MB}\n",
        f"sys/fs/cgroup/{group}/memory.stat": f"anon 5\ninactive_file {100 * MB}\n",
    }
    assert free_memory(laid_out(tmp_path, {**UNIFIED, **own})) == 400 * MB


def test_the_older_kind_of_groups_counts_as_well(tmp_path: Path) -> None:
    own = {
        "sys/fs/cgroup/memory/work/memory.limit_in_bytes": f"{1000 * MB}\n",
        "sys/fs/cgroup/memory/work/memory.usage_in_bytes": f"{1200 * MB}\n",
    }
    assert free_memory(laid_out(tmp_path, {**LEGACY, **own})) == 0


def test_a_group_without_a_limit_leaves_the_machine(tmp_path: Path) -> None:
    own = {
        "sys/fs/cgroup/work/box/memory.max": "max\n",
        "sys/fs/cgroup/work/box/memory.current": "1\n",
    }
    assert free_memory(laid_out(tmp_path, {**UNIFIED, **own})) == 4096 * MB
