"""Every reported fault that stands in `../shared/cases` is mended: its script says so itself.

A script runs unmodified, in a process of its own. It leaves with 0 where what it saw is right.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
SCRIPTS = sorted(CASES.glob("*/run.py"))
READ_ERRORS = ("08_", "09_")
"""Cases that read `error` of a result: their endpoints fail for good."""
RUNNER = """
import functools, os, runpy, sys
import thoughtgraph as tg
import thoughtgraph.solving, thoughtgraph.llm.port, thoughtgraph.registry
tg.build("tot_bfs", task="game24")
reporting = sys.argv[1].split(",")
for script in sys.argv[2:]:
    name = script.split("/")[-2]
    if child := os.fork():
        print(name, os.waitpid(child, 0)[1], flush=True)
        continue
    os.mkdir(name)
    os.chdir(name)
    os.environ["THOUGHTGRAPH_DATA"] = os.environ["THOUGHTGRAPH_CACHE"] = os.getcwd()
    os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(1, 2)
    if name[:3] in reporting:
        tg.solve = functools.partial(tg.solve, on_error="report")
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
    break
"""
"""Imports everything once, and runs each script in a copy of the process."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Where each script said something, and how it ended."""
    folder = tmp_path_factory.mktemp("cases")
    own = {name: each for name, each in os.environ.items() if not name.startswith("THOUGHTGRAPH_")}
    told = [sys.executable, "-c", RUNNER, ",".join(READ_ERRORS), *map(str, SCRIPTS)]
    done = subprocess.run(
        told, cwd=folder, env=own, capture_output=True, text=True, timeout=600, check=True
    )
    return folder, dict(line.split() for line in done.stdout.splitlines())


@pytest.mark.ci
@pytest.mark.skipif(not SCRIPTS, reason=f"there are no cases in {CASES}")
@pytest.mark.parametrize("case", [script.parent.name for script in SCRIPTS])
def test_a_reported_fault_is_mended(case: str, ended: tuple[Path, dict[str, str]]) -> None:
    folder, statuses = ended
    assert statuses[case] == "0", (folder / case / "said").read_text()
