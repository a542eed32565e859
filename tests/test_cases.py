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
RUNNER = """
import functools, runpy, sys
import thoughtgraph as tg
if sys.argv[1].split("/")[-2][:3] in ("08_", "09_"):  # they read the error of a result
    tg.solve = functools.partial(tg.solve, on_error="report")
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.ci
@pytest.mark.skipif(not SCRIPTS, reason=f"there are no cases in {CASES}")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_a_reported_fault_is_mended(script: Path, tmp_path: Path) -> None:
    own = {name: each for name, each in os.environ.items() if not name.startswith("THOUGHTGRAPH_")}
    own |= {"THOUGHTGRAPH_DATA": str(tmp_path), "THOUGHTGRAPH_CACHE": str(tmp_path)}
    told = [sys.executable, "-c", RUNNER, str(script)]
    done = subprocess.run(told, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
