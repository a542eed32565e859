"""Public data sets: what there is, and how their files are read."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.data_homes import CLEVR, CONTENT, Home, published
from support.fake_server import FakeServer
from support.foreign_files import DATA, PUBLISHED

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench import data_download
from thoughtgraph.bench.data import generated, load, set_file, where
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.bench.data_sets import DataSet, catalogue
from thoughtgraph.cli import data_downloads

SETS = catalogue().sets
READ = {name: each for name, each in SETS.items() if not each.recorded}
GET = ("data", "get", "gsm8k", "--out", ".")


def test_the_command_tells_source_licence_and_checksum(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Home(CONTENT) as home:
        monkeypatch.setattr(data_downloads, "data_set", lambda name: published(home.address))
        code, out, err = command(*GET)
    assert (code, err) == (0, "")
    assert f"fetching  gsm8k (MIT) from {home.address}: 2.46 MB of 2.46 MB\n" in out
    assert "gsm8k.jsonl is there" in out and "licence   MIT, https://github" in out
    assert f"SHA-256   {hashlib.sha256(CONTENT).hexdigest()}, as published\n" in out
    code, out, _ = command(*GET)
    assert code == 0 and "gsm8k.jsonl was there" in out and "fetching" not in out
    Path("gsm8k.jsonl").unlink()
    code, out, err = command(*GET)
    assert (code, err.count("\n")) == (2, 1) and "cannot be reached" in err


@pytest.mark.parametrize("announced", [-1, None])
def test_a_checksum_that_nobody_published_is_not_said_to_be_right(
    announced: int | None, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Home(CONTENT, announced=announced) as home:
        unknown = published(home.address, size=None, sha256=None)
        monkeypatch.setattr(data_downloads, "data_set", lambda name: unknown)
        _, out, _ = command(*GET)
    assert "(not known beforehand; this is what came)" in out and "as published" not in out
    assert out.startswith(f"fetching  gsm8k (MIT) from {home.address}")


def test_ctrl_c_and_names_that_are_not_known_are_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(data_downloads, "fetch", stopped)
    code, out, err = command("data", "get", "gsm8k", "svamp", "--out", ".")
    assert (code, out) == (1, "")
    assert err == "error: stopped; nothing of gsm8k was kept\n"
    code, out, err = command("data", "get", "gsm8k", "math", "--out", ".")
    assert (code, out) == (2, "") and "did you mean 'math-500'?" in err, "before any is fetched"
    code, out, err = command("data", "get", "http://127.0.0.1:9/x")
    assert code == 2 and "unknown data set" in err


OBJECT = {"shape": "cube", "color": "red", "size": "small", "material": "metal"}
SCENE = {"image_index": 0, "objects": [OBJECT], "relationships": {"left": [[]]}}
ASKED = {"image_index": 0, "question": "How many things?", "answer": "1"}
CLEVR_TEXTS = {
    CLEVR[0]: json.dumps({"info": {}, "questions": [ASKED, ASKED]}),
    CLEVR[1]: json.dumps({"info": {}, "scenes": [SCENE]}),
}


def test_what_is_downloaded_is_found_and_read(tmp_path: Path) -> None:
    """Small files of each set's format, under the names that a download gives them."""
    for each in READ.values():
        place = tmp_path / each.file
        files = dict.fromkeys(each.contents, DATA.get(each.task, ""))
        if each.name == "clevr":
            files = {each.member_files[member]: text for member, text in CLEVR_TEXTS.items()}
        for name, text in files.items():
            place.mkdir(exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        if not files:
            place.write_text(DATA[each.task], encoding="utf-8")
        assert set_file(tmp_path, each.name) == place
        read = [name for name in files if "scenes" not in name]
        assert len(load(registry.task(each.task), place)) == 2 * max(1, len(read)), each.name


@pytest.mark.parametrize("each", SETS.values(), ids=SETS)
def test_an_address_is_fixed(each: DataSet) -> None:
    host = each.address.split("/")[2]
    if host in ("raw.githubusercontent.com", "huggingface.co"):
        assert re.search(r"/[0-9a-f]{40}/", each.address), "a branch changes"
    assert each.address.startswith("https://") or each.sha256, "anybody could change it"
    assert (each.size is None) == (each.sha256 is None)
    assert len(set(each.member_files.values())) == len(each.members)
    assert bool(each.members) == bool(each.archive)
    assert each.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", each.sha256)
    assert each.size is None or each.size > 1_000, "a pointer of git-lfs is smaller"
    assert each.task in registry.TASKS and "/" not in each.file


def test_the_list_has_every_set_with_its_licence_and_home(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thoughtgraph.cli.catalog.PIPED_WIDTH", 240)
    code, out, _ = command("data")
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert code == 0
    for name, each in SETS.items():
        assert each.task in lines[name] and f"{each.entries:,}" in lines[name]
        assert each.licence in lines[name] and each.home in lines[name]
        assert ("SHA-256" in lines[name]) == (each.sha256 is not None)
    assert lines["clevr"].count("not known") == 2, "neither its size nor its checksum"
    assert all(each.name in out and each.why in out for each in catalogue().missing)


BAD = {
    "game24": ["", "Rank,Puzzles\n", "a,b\n1,2\n", "Rank,Puzzles\n1,1 2 3\n", "\x00"],
    "creative_writing": ["", "\n\n", "One sentence.\n"],
    "gsm8k": ["", "not json", "[]", '{"question": "?", "answer": 2}', '{"answer": "#### 2"}'],
    "svamp": ["", "{}", "[]", '[{"ID": "1", "Body": "b", "Question": "q"}]'],
    "aqua": ["", "[]", '{"question": "q", "options": ["A)1"]}', '{"question": "q"}'],
    "math": ["", "[]", '{"problem": "p"}', '{"problem": "p", "solution": "no box"}'],
    "theoremqa": ["", "{}", "[]", '[{"Question": "q"}]'],
    "mmlu": ["", "q,1,2,3,4\n", "q,1,2,3,4,E\n", "q\n", "\n"],
    "strategyqa": ["", "{}", "[]", '[{"answer": true}]', '[{"question": "?", "answer": "yes"}]'],
    "hotpotqa": ["", "[]", "{}", "[1]", '{"question": "Who?"}', '[{"answer": "Ada"}]'],
    "fever": ["", "{}", '{"claim": "It is.", "label": "TRUE"}', '{"label": "SUPPORTS"}'],
}


def loaded(folder: Path, task: str, content: str, **more: Any) -> Sequence[Record]:
    file = folder / "data"
    file.write_text(content, encoding="utf-8")
    return load(registry.task(task), file, **more)


@pytest.mark.parametrize("task", PUBLISHED)
def test_the_public_formats_are_read(task: str, tmp_path: Path) -> None:
    text, *expected = PUBLISHED[task]
    records = loaded(tmp_path, task, text)
    assert len(records) == 2
    assert [*records[0][:3]] == expected


@pytest.mark.parametrize(
    ("task", "text", "words"),
    [
        *[(task, text, "expected") for task in BAD for text in BAD[task]],
        ("game24", "Rank,Puzzles\n1,1 1 4 6\n2,what\n", "entry 2 of"),
        ("question", '{"question": "One?"}\n', "it has no 'problem'; expected lines of JSON"),
    ],
)
def test_what_is_no_data_set_is_refused_in_one_line(
    task: str, text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(tg.InputError, match=words) as caught:
        loaded(tmp_path, task, text)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "data") in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(tg.InputError, match="cannot read"):
        load(registry.task("gsm8k"), tmp_path / "none.jsonl")
    with pytest.raises(tg.InputError, match="holds no problems"):
        load(registry.task("gsm8k"), tmp_path)
    (tmp_path / "binary").write_bytes(b"\x1f\x8b\xff\x00")
    with pytest.raises(tg.InputError, match="entry 1 of"):
        load(registry.task("gsm8k"), tmp_path / "binary")


def test_paragraphs_are_part_of_a_problem_where_they_are_asked_for(tmp_path: Path) -> None:
    entry = {"question": "Who?", "answer": "Ada", "context": [["T", ["A b."]]], "level": "easy"}
    text = json.dumps([{**entry, "supporting_facts": [["T", 0]]}])
    (record,) = loaded(tmp_path, "hotpotqa", text, paragraphs=True)
    assert json.loads(record.problem) == {"question": "Who?", "context": [["T", ["A b."]]]}
    assert record.gold == "Ada"
    with pytest.raises(tg.InputError, match="no paragraphs"):
        loaded(tmp_path, "gsm8k", text, paragraphs=True)


def test_a_folder_of_files_is_one_data_set_of_subjects_and_splits(tmp_path: Path) -> None:
    facts = {
        "anatomy_dev": {"subject": "anatomy", "split": "dev"},
        "anatomy_of_trees_test": {"subject": "anatomy_of_trees", "split": "test"},
        "anatomy_test": {"subject": "anatomy", "split": "test"},
        "anatomy_val": {"subject": "anatomy", "split": "val"},
        "college_physics": {"subject": "college_physics"},
        "test": {"subject": "test"},
    }
    for name in facts:
        (tmp_path / f"{name}.csv").write_text("q?,1,2,3,4,A\n")
    records = load(registry.task("mmlu"), tmp_path)
    assert [(each.id, each.facts) for each in records] == [
        (f"{name}/1", each) for name, each in facts.items()
    ]
    of_subject = where(records, {"subject": "anatomy"})
    assert [each.id for each in of_subject] == ["anatomy_dev/1", "anatomy_test/1", "anatomy_val/1"]
    assert [each.id for each in where(of_subject, {"split": "test"})] == ["anatomy_test/1"]


def test_scene_questions_are_made_up_with_their_answers() -> None:
    records = generated(registry.task("ptr"), ["sum"], 3, 7)
    assert len(records) == 3 and all(record.facts["type"] == "sum" for record in records)
    assert all(record.gold for record in records)
    assert records == generated(registry.task("ptr"), ["sum"], 3, 7)
    with pytest.raises(tg.UnknownName, match="type of question"):
        generated(registry.task("ptr"), ["nothing"])


def test_bench_downloads_a_set_when_it_is_first_used(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path("home").absolute()

    def bring(wanted: DataSet, file: Path, _: object) -> Path:
        home.touch(exist_ok=False)
        file.write_text(DATA[wanted.task], encoding="utf-8")
        return file

    monkeypatch.setattr(data_download, "_download", bring)
    words = ["bench", "--task", "gsm8k", "--data", "gsm8k", "--method", "io"]
    with FakeServer(lambda seen: "Answer: 3") as server:
        for first in (True, False):
            code, out, _ = command(*words, "--model", server.specifier)
            assert code == 0 and ("is there" in out) == first
    assert set_file("sets", "gsm8k").is_file()
