"""The data sets' own formats, as they are published: read, or refused in one line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.foreign_files import PUBLISHED

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.data import generated, load, where
from thoughtgraph.bench.data_formats import Record


def loaded(folder: Path, task: str, content: Any, **more: Any) -> Sequence[Record]:
    """Reads a file of this text, or of these objects as lines of JSON."""
    file = folder / "data"
    if not isinstance(content, str):
        content = "".join(json.dumps(line) + "\n" for line in content)
    file.write_text(content, encoding="utf-8")
    return load(registry.task(task), file, **more)


@pytest.mark.parametrize("task", PUBLISHED)
def test_the_public_formats_are_read(task: str, tmp_path: Path) -> None:
    text, *expected = PUBLISHED[task]
    records = loaded(tmp_path, task, text)
    assert len(records) == 2
    assert [*records[0][:3]] == expected


BAD = [
    *[(task, text, "expected") for task in PUBLISHED for text in ("", "{}")],
    *(
        ("gsm8k", "not json", "expected"),
        ("gsm8k", '{"question": 1, "answer": "#### 2"}', "expected"),
    ),
    *(("game24", "Rank,Puzzles\n1,1 2 3\n", "expected"), ("game24", "\x00", "expected")),
    ("game24", "Rank,Puzzles\n1,1 1 4 6\n2,what\n", "entry 2 of"),
    ("creative_writing", "One sentence.\n", "expected"),
    ("aqua", '{"question": "q", "options": ["A)1"]}', "expected"),
    ("math", '{"problem": "p", "solution": "no box"}', "expected"),
    ("mmlu", "q,1,2,3,4,E\n", "expected"),
    ("strategyqa", '[{"question": "Is it?", "answer": "yes"}]', "expected"),
    ("hotpotqa", "[1]", "expected"),
    ("fever", '{"claim": "It is.", "label": "TRUE"}', "expected"),
    ("question", '{"question": "One?"}\n', "it has no 'problem'; expected lines of JSON"),
]


@pytest.mark.parametrize(("task", "text", "words"), BAD)
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


def test_any_task_takes_lines_with_problems_and_gold_answers(tmp_path: Path) -> None:
    lines = [{"problem": "One?"}, {"id": "b", "problem": "Two?", "gold": 2}]
    one, two = loaded(tmp_path, "question", lines)
    assert one[:3] == ("1", "One?", None) and two[:3] == ("b", "Two?", "2")
    [puzzle] = loaded(tmp_path, "game24", [{"problem": "1 1 4 6", "gold": None}])
    assert puzzle.problem == "1 1 4 6"


def test_paragraphs_are_part_of_a_problem_where_they_are_asked_for(tmp_path: Path) -> None:
    entry = {"question": "Who?", "answer": "Ada", "context": [["T", ["A b."]]], "level": "easy"}
    text = json.dumps([{**entry, "supporting_facts": [["T", 0]]}])
    (record,) = loaded(tmp_path, "hotpotqa", text, paragraphs=True)
    assert json.loads(record.problem) == {"question": "Who?", "context": [["T", ["A b."]]]}
    assert record.gold == "Ada"
    with pytest.raises(tg.InputError, match="no paragraphs"):
        loaded(tmp_path, "gsm8k", text, paragraphs=True)


@pytest.mark.parametrize(("written", "wanted"), [(5, "Level 5"), ("Level 5", "5")])
def test_a_level_of_math_is_found_however_it_is_written(
    tmp_path: Path, written: Any, wanted: str
) -> None:
    levels = [1, "Level 4", written, "Level ?", written]
    lines = [{"problem": f"{level}", "answer": "1", "level": level} for level in levels]
    records = loaded(tmp_path, "math", lines)
    assert [each.problem for each in where(records, {"level": wanted})] == [str(written)] * 2
    with pytest.raises(tg.InputError, match="no problem has level=7; known: level=1, ") as told:
        where(records, {"level": "7"})
    assert str(told.value).count("level=") == 5, "each is named once"


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


def test_questions_with_a_picture_are_left_out_and_the_others_keep_their_ids(
    tmp_path: Path,
) -> None:
    pictures = [None, "images/a.png", "", "images/b.png"]
    entries: list[dict[str, Any]] = [
        {"Question": f"q{at}?", "Answer": at, "Picture": picture}
        for at, picture in enumerate(pictures, 1)
    ]
    entries.append({"Question": "q5?", "Answer": 5, "id": "five.json"})
    records = loaded(tmp_path, "theoremqa", json.dumps(entries))
    kept = [("1", "q1?", "1"), ("3", "q3?", "3"), ("five.json", "q5?", "5")]
    assert [each[:3] for each in records] == kept
    with pytest.raises(tg.InputError, match=r'holds no problems; .* with a "Picture" are left out'):
        loaded(tmp_path, "theoremqa", json.dumps(entries[1:2]))


@pytest.mark.ci
def test_generated_problems_need_no_file() -> None:
    with pytest.raises(tg.InputError, match="--data"):
        generated(registry.task("gsm8k"))
    records = generated(registry.task("game24"))
    assert len(records) == 1362
    assert records[0][:3] == ("1", "1 1 1 8", None)
    records = generated(registry.task("ptr"), ["sum"], 3, 7)
    assert len(records) == 3
    assert all(record.facts["type"] == "sum" and record.gold for record in records)
    assert records == generated(registry.task("ptr"), ["sum"], 3, 7)
    with pytest.raises(tg.UnknownName, match="type of question"):
        generated(registry.task("ptr"), ["nothing"])
