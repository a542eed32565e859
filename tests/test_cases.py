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
REPORTING = """\
import functools, runpy, sys, thoughtgraph as tg
tg.solve = functools.partial(tg.solve, on_error="report")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script that reads `error` of a result, which it is given where a model fails for good."""
READ_ERRORS = ("08_", "09_")
"""Cases whose endpoints fail for good."""
LONGEST = 120
"""Seconds that a case may take on a busy machine; most take a few."""


@pytest.mark.ci
@pytest.mark.skipif(not SCRIPTS, reason=f"there are no cases in {CASES}")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_a_reported_fault_is_mended(script: Path, tmp_path: Path) -> None:
    reports = script.parent.name.startswith(READ_ERRORS)
    runner = ["-c", REPORTING] if reports else []
    own = {name: each for name, each in os.environ.items() if not name.startswith("THOUGHTGRAPH_")}
    own["THOUGHTGRAPH_DATA"] = own["THOUGHTGRAPH_CACHE"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, *runner, str(script)],
        cwd=tmp_path,
        env=own,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stdout + done.stderr
