"""The wheel in a clean environment: what a user gets from `pip install`.

Needs uv and a package index, for the build backend and the requirements.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = ("bench", "cli", "core", "graphs", "nodes", "prompts", "tasks", "tools")
UNREACHABLE = re.compile(r"dns|connect|network|timed out|unreachable|offline", re.I)
BUILDS = """
import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.prompts import load
for method in registry.METHODS:
    tg.build(method)
for task in registry.TASKS:
    registry.task(task)
assert len(load("game24/propose")) > 100
print(*tg.__path__)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed"),
]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode and command[0] == "uv" and UNREACHABLE.search(done.stderr):
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_installs_with_its_command_its_prompts_and_its_types(tmp_path: Path) -> None:
    """Built from a copy: a build leaves files in its tree, which the next one would ship."""
    for top in TOPS:
        shutil.copytree(ROOT / top, tmp_path / top, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    run("uv", "build", "--wheel", "--out-dir", "dist", cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    away = tmp_path / "away"
    away.mkdir()
    run("uv", "venv", "venv", cwd=away)
    programs = away / "venv" / "bin"
    run("uv", "pip", "install", "--python", programs / "python", wheel, cwd=away)
    assert "solve" in run(programs / "thoughtgraph", "--help", cwd=away)
    folder = run(programs / "python", "-c", BUILDS, cwd=away).strip()
    assert Path(folder, "py.typed").is_file()
