"""What the two scripts of `.ci/` run, and what holds the tests together."""

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "tests").rglob("*.py"))
REGISTRIES = ("pypi.org", "pythonhosted.org", "npmjs.org", "npmjs.com", "deb.debian.org")


def functions(file: Path) -> list[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_each_test_belongs_to_ci_or_to_the_full_run() -> None:
    marks = {
        name: re.findall(r'^uv run pytest -m "?([\w ]+)', (ROOT / ".ci" / name).read_text(), re.M)
        for name in ("run", "full")
    }
    assert marks == {"run": ["not slow"], "full": ["slow"]}, "each leaves out what the other runs"
    for file in FILES:
        tests = [name for name in functions(file) if name.startswith("test_")]
        assert bool(tests) == file.name.startswith("test_"), f"pytest reads {file.name} otherwise"


def test_no_test_file_imports_another() -> None:
    for file in FILES:
        taken = re.findall(r"^(?:from|import) ([\w.]*test_\w+)", file.read_text(), re.M)
        assert not taken, f"{file.name}: what it shares belongs in tests/support"


def test_no_file_names_a_registry() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    files = [ROOT / name for name in listed.stdout.split() if name != "tests/test_ci.py"]
    for file in files:
        text = file.read_bytes() if file.is_file() else b""
        assert not [host for host in REGISTRIES if host.encode() in text], file
