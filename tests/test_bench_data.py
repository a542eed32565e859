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

BAD = {
    "game24": ["", "Rank,Puzzles\n", "a,b\n1,2\n", "Rank,Puzzles\n1,1 2 3\n", "\x00"],
    "creative_writing": ["", "\n\n", "One sentence.\n"],
    "gsm8k": [
        *("", "not json", "[]", '{"question": "How many?"}', '{"question": "How?", "answer": 2}'),
        '{"question": 1, "answer": "#### 2"}',
    ],
    "svamp": ["", "{}", "[]", '[{"ID": "1", "Body": "b", "Question": "q"}]'],
    "aqua": ["", "[]", '{"question": "q", "options": ["A)1"]}', '{"question": "q"}'],
    "math": ["", "[]", '{"problem": "p"}', '{"problem": "p", "solution": "no box"}'],
    "theoremqa": ["", "{}", "[]", '[{"Question": "q"}]'],
    "mmlu": ["", "q,1,2,3,4\n", "q,1,2,3,4,E\n", "q\n", "\n"],
    "strategyqa": [
        *("", "{}", "[]", "[1]", '[{"answer": true}]'),
        '[{"question": "Is it?", "answer": "yes"}]',
    ],
    "hotpotqa": ["", "[]", "{}", "[1]", '{"question": "Who?"}', '[{"answer": "Ada"}]'],
    "fever": ["", "{}", '{"claim": "It is.", "label": "TRUE"}', '{"label": "SUPPORTS"}'],
}


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


@pytest.mark.parametrize(
    ("task", "text", "words"),
    [
        *[(task, text, "expected") for task in BAD for text in BAD[task]],
        ("game24", "Rank,Puzzles\n1,1 1 4 6\n2,what\n", "entry 2 of"),
        (
            *("question", '{"question": "One?"}\n'),
            "it has no 'problem'; expected lines of JSON",
        ),
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
