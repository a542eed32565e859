"""The wheel in a clean environment: what a user gets from `pip install`.

Needs uv and a package index, for the build backend and the requirements.
"""

import re
import shutil
import subprocess
import zipfile
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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds from a copy: a build leaves files in its tree, which the next one would ship."""
    source = tmp_path_factory.mktemp("source")
    for top in TOPS:
        shutil.copytree(ROOT / top, source / top, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run("uv", "build", "--wheel", "--out-dir", source / "dist", cwd=source)
    (built,) = (source / "dist").glob("*.whl")
    return built


def test_wheel_holds_every_file_of_the_packages_under_one_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"thoughtgraph"}
    for top in TOPS:
        inside = "thoughtgraph/" if top == "core" else f"thoughtgraph/{top}/"
        for file in (ROOT / top).rglob("*"):
            if file.is_file() and file.suffix != ".pyc":
                assert inside + file.relative_to(ROOT / top).as_posix() in names


def test_it_installs_with_its_command_its_prompts_and_its_types(
    wheel: Path, tmp_path: Path
) -> None:
    run("uv", "venv", "venv", cwd=tmp_path)
    programs = tmp_path / "venv" / "bin"
    run("uv", "pip", "install", "--python", programs / "python", wheel, cwd=tmp_path)
    assert "solve" in run(programs / "thoughtgraph", "--help", cwd=tmp_path)
    folder = run(programs / "python", "-c", BUILDS, cwd=tmp_path).strip()
    assert Path(folder, "py.typed").is_file()
