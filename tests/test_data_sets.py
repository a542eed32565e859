"""`thoughtgraph data`, and its table: what is said of each set is so, and the loaders read it."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.data_homes import CONTENT, Home, published
from support.foreign_files import DATA

from thoughtgraph import registry
from thoughtgraph.bench.data import found, load
from thoughtgraph.bench.data_formats import LOADERS
from thoughtgraph.bench.data_sets import DataSet, catalogue, data_set
from thoughtgraph.bench.papers.suites import names, suite
from thoughtgraph.cli import data_downloads as command
from thoughtgraph.cli.app import main

SETS = catalogue().sets
CLEVR = tuple(data_set("clevr").members)


def called(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["thoughtgraph", "data", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


def test_the_command_tells_source_licence_and_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    digest = hashlib.sha256(CONTENT).hexdigest()
    get = ["get", "gsm8k", "--out", str(tmp_path)]
    with Home(CONTENT) as home:
        monkeypatch.setattr(command, "data_set", lambda name: published(home.address))
        code, out, err = called(monkeypatch, capfd, *get)
    assert (code, err) == (0, "")
    assert f"fetching  gsm8k (MIT) from {home.address}: 2.46 MB of 2.46 MB\n" in out
    assert f"{tmp_path}/gsm8k.jsonl is there" in out and "licence   MIT, https://github" in out
    assert f"SHA-256   {digest}, as published\n" in out
    code, out, _ = called(monkeypatch, capfd, *get)
    assert code == 0 and "gsm8k.jsonl was there" in out and "fetching" not in out
    (tmp_path / "gsm8k.jsonl").unlink()
    code, out, err = called(monkeypatch, capfd, *get)
    assert (code, err.count("\n")) == (2, 1) and "cannot be reached" in err


@pytest.mark.parametrize("announced", [-1, None])
def test_a_checksum_that_nobody_published_is_not_said_to_be_right(
    announced: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Home(CONTENT, announced=announced) as home:
        unknown = published(home.address, size=None, sha256=None)
        monkeypatch.setattr(command, "data_set", lambda name: unknown)
        _, out, _ = called(monkeypatch, capfd, "get", "gsm8k", "--out", str(tmp_path))
    assert "(not known beforehand; this is what came)" in out and "as published" not in out
    assert out.startswith(f"fetching  gsm8k (MIT) from {home.address}")


def test_ctrl_c_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "fetch", stopped)
    code, out, err = called(monkeypatch, capfd, "get", "gsm8k", "svamp", "--out", str(tmp_path))
    assert (code, out) == (1, "")
    assert err == "error: stopped; nothing of gsm8k was kept\n"


def test_all_names_are_known_before_anything_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = called(monkeypatch, capfd, "get", "gsm8k", "math", "--out", str(tmp_path))
    assert (code, out) == (2, "") and "did you mean 'math-500'?" in err
    code, out, err = called(monkeypatch, capfd, "get", "http://127.0.0.1:9/x")
    assert code == 2 and "unknown data set" in err


def test_the_list_has_every_set_with_its_licence_and_home(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thoughtgraph.cli.catalog.PIPED_WIDTH", 240)
    code, out, _ = called(monkeypatch, capfd, "list")
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert code == 0
    for name, each in SETS.items():
        assert each.task in lines[name] and f"{each.entries:,}" in lines[name]
        assert each.licence in lines[name] and each.home in lines[name]
        assert ("SHA-256" in lines[name]) == (each.sha256 is not None)
    assert lines["clevr"].count("not known") == 2, "neither its size nor its checksum"
    assert all(each.name in out and each.why in out for each in catalogue().missing)


@pytest.mark.parametrize("each", SETS.values(), ids=SETS)
def test_an_address_is_of_a_commit_or_has_a_checksum(each: DataSet) -> None:
    host = each.address.split("/")[2]
    if host in ("raw.githubusercontent.com", "huggingface.co"):
        assert re.search(r"/[0-9a-f]{40}/", each.address), "a branch changes"
    assert each.address.startswith("https://") or each.sha256, "anybody could change it"
    assert (each.size is None) == (each.sha256 is None)
    assert each.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", each.sha256)
    assert each.size is None or each.size > 1_000, "a pointer of git-lfs is smaller"
    assert each.task in registry.TASKS and "/" not in each.file
    assert len(set(each.member_files.values())) == len(each.members)
    assert bool(each.members) == bool(each.archive)


def made_up(folder: Path, each: DataSet) -> None:
    """Writes small files of a data set's format under the names that a download gives them."""
    if not each.archive:
        (folder / each.file).write_text(DATA[each.task], encoding="utf-8")
        return
    (folder / each.file).mkdir()
    texts = CLEVR_TEXTS if each.name == "clevr" else dict.fromkeys(each.members, DATA[each.task])
    for member, name in each.member_files.items():
        (folder / each.file / name).write_text(texts[member], encoding="utf-8")


OBJECT = {"shape": "cube", "color": "red", "size": "small", "material": "metal"}
RELATIONS: Mapping[str, Any] = {name: [[]] for name in ("left", "right", "front", "behind")}
PROGRAM = [
    {"function": "scene", "inputs": [], "value_inputs": []},
    {"function": "count", "inputs": [0], "value_inputs": []},
]
ASKED = {"image_index": 0, "question": "How many things?", "answer": "1", "program": PROGRAM}
SCENE = {"image_index": 0, "objects": [OBJECT], "relationships": RELATIONS}
CLEVR_TEXTS = {
    CLEVR[0]: json.dumps({"info": {}, "questions": [ASKED]}),
    CLEVR[1]: json.dumps({"info": {}, "scenes": [SCENE]}),
}


@pytest.fixture
def all_sets(tmp_path: Path) -> Path:
    for each in SETS.values():
        made_up(tmp_path, each)
    return tmp_path


@pytest.mark.parametrize("each", SETS.values(), ids=SETS)
def test_what_is_downloaded_is_found_and_read(each: DataSet, all_sets: Path) -> None:
    path = found(all_sets, each.name)
    assert path.name == each.file
    with_questions = [name for name in each.member_files.values() if "scenes" not in name]
    assert len(load(registry.task(each.task), path)) == max(1, len(with_questions))


def test_every_set_that_a_suite_asks_for_can_be_had_or_is_said_not_to_be(all_sets: Path) -> None:
    asked = {(part.data, part.task) for name in names() for part in suite(name).parts}
    missing = {each.name for each in catalogue().missing}
    by_file = {each.file: each for each in SETS.values()}
    for name, task in asked:
        if name.partition(":")[0] not in ("", "made") and name not in missing - {"math"}:
            assert by_file[found(all_sets, name).name].task == task
    assert missing <= {name for name, _ in asked} | {*registry.TASKS}
    assert not missing & {*SETS}


def test_what_is_said_of_a_set_that_cannot_be_downloaded_is_so(all_sets: Path) -> None:
    said = {each.name: each.why for each in catalogue().missing}
    assert "500 of math-500" in said["math"] and data_set("math-500").entries == 500
    assert found(all_sets, "math").name == "math-500.jsonl"
    assert {"clevr", "ptr"} <= {*LOADERS} and "ptr" not in {each.task for each in SETS.values()}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("game24", "puzzles/game24.csv"),
        ("crosswords", "puzzles/crosswords_20.json"),
        ("creative_writing", "puzzles/creative_writing_100.txt"),
    ],
)
def test_the_published_file_has_the_pinned_checksum(name: str, place: str) -> None:
    file = Path(os.environ.get("THOUGHTGRAPH_TEST_SETS", "")) / place
    if not file.is_file():
        pytest.skip("THOUGHTGRAPH_TEST_SETS names no folder with this file")
    each, content = data_set(name), file.read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (each.size, each.sha256)
    assert len(load(registry.task(each.task), file)) == each.entries
