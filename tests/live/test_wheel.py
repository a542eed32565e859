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

if shutil.which("uv") is None:
    pytest.skip("uv is not installed", allow_module_level=True)

pytestmark = pytest.mark.ci


def uv(*arguments: str | Path, cwd: Path) -> None:
    done = subprocess.run(
        ["uv", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds from a copy: a build leaves files in its tree, which the next one would ship."""
    source = tmp_path_factory.mktemp("source")
    for top in TOPS:
        shutil.copytree(ROOT / top, source / top, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    uv("build", "--wheel", "--out-dir", source / "dist", cwd=source)
    (built,) = (source / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    uv("venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    uv("pip", "install", "--python", python, wheel, cwd=folder)
    return folder


def run(installed: Path, program: str, *arguments: str) -> str:
    done = subprocess.run(
        [installed / "venv" / "bin" / program, *arguments],
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_holds_every_file_of_the_packages_under_one_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"thoughtgraph"}
    shipped = {name for name in names if name.startswith("thoughtgraph/")}
    for top in TOPS:
        inside = "thoughtgraph/" if top == "core" else f"thoughtgraph/{top}/"
        for file in (ROOT / top).rglob("*"):
            if file.is_file() and file.suffix != ".pyc":
                assert inside + file.relative_to(ROOT / top).as_posix() in shipped


def test_command_starts(installed: Path) -> None:
    assert "solve" in run(installed, "thoughtgraph", "--help")


def test_graphs_build_and_prompts_load(installed: Path) -> None:
    program = """
import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.prompts import load
for method in registry.METHODS:
    tg.build(method)
for task in registry.TASKS:
    registry.task(task)
print(len(load("game24/propose")))
"""
    assert int(run(installed, "python", "-c", program)) > 100


def test_types_are_visible_to_a_users_checker(installed: Path) -> None:
    program = "import thoughtgraph; print(*thoughtgraph.__path__)"
    folder = Path(run(installed, "python", "-c", program).strip())
    assert (folder / "py.typed").is_file()
