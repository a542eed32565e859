import json
import os
from pathlib import Path

import pytest

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.data import generated, load, where
from thoughtgraph.bench.data_formats import LOADERS

GOOD = {
    "game24": ("Rank,Puzzles,AMT (s)\n1,1 1 4 6,4.4\n2,1 1 11 11,4.41\n", "1", "1 1 4 6", None),
    "crosswords": (
        json.dumps([[[f"clue {at}" for at in range(10)], list("abcdefghijklmnopqrstuvwxy")]] * 2),
        "1",
        "\n".join(f"{'hv'[at // 5]}{at % 5 + 1}. clue {at}" for at in range(10)),
        "ABCDE FGHIJ KLMNO PQRST UVWXY",
    ),
    "creative_writing": (
        "A b. C d. E f. G h.\n\nI j. K l. M n. O p.\n",
        "1",
        "A b. C d. E f. G h.",
        None,
    ),
    "gsm8k": (
        '{"question": "How many?", "answer": "1+1=2\\n#### 1,002"}\n'
        '{"question": "And now?", "answer": "#### 3"}\n',
        "1",
        "How many?",
        "1,002",
    ),
    "svamp": (
        '[{"ID": "c1", "Body": "Ann had 3.", "Question": "How many?", "Answer": 51.0},'
        ' {"ID": "c2", "Body": "Bo had 3", "Question": "How many?", "Answer": 1.0}]',
        "c1",
        "Ann had 3. How many?",
        "51.0",
    ),
    "aqua": (
        '{"question": "1+1?", "options": ["A)1", "B)2"], "rationale": "", "correct": "B"}\n' * 2,
        "1",
        "1+1?\nAnswer choices:\nA) 1\nB) 2",
        "B",
    ),
    "math": (
        '{"problem": "Halve 1.", "answer": "\\\\frac12", "unique_id": "t/1"}\n'
        '{"problem": "Halve 2.", "solution": "It is $\\\\boxed{1}$."}\n',
        "t/1",
        "Halve 1.",
        r"\frac12",
    ),
    "theoremqa": (
        '[{"Question": "Which?", "Answer": [0, 5], "id": "a.json"},'
        ' {"Question": "Is it?", "Answer": true, "id": "b.json"}]',
        "a.json",
        "Which?",
        "[0, 5]",
    ),
    "mmlu": (
        'One?,1,2,3,4,A\n"Two, or more?",1,2,3,4,B\n',
        "data/1",
        "One?\nAnswer choices:\nA) 1\nB) 2\nC) 3\nD) 4",
        "A",
    ),
    "strategyqa": (
        '[{"qid": "x7", "question": "Is it?", "answer": true},'
        ' {"question": "Or not?", "answer": false}]',
        "x7",
        "Is it?",
        "yes",
    ),
    "hotpotqa": (
        '[{"_id": "5a8", "question": "Who?", "answer": "Ada", "context": [["T", ["A b."]]]},'
        ' {"question": "When?", "answer": "1815", "context": []}]',
        "5a8",
        "Who?",
        "Ada",
    ),
    "fever": (
        '{"id": 75397, "label": "SUPPORTS", "claim": "Ada lived.", "evidence": [[]]}\n'
        '{"id": 2, "label": "not enough info", "claim": "Ada had a bicycle."}\n',
        "75397",
        "Ada lived.",
        "SUPPORTS",
    ),
}
BAD = {
    "game24": ["", "Rank,Puzzles\n", "a,b\n1,2\n", "Rank,Puzzles\n1,1 2 3\n", "\x00"],
    "creative_writing": ["", "\n\n", "One sentence.\n"],
    "gsm8k": [
        "",
        "not json",
        "[]",
        '{"question": "How many?"}',
        '{"question": 1, "answer": "#### 2"}',
        '{"question": "How?", "answer": 2}',
    ],
    "svamp": ["", "{}", "[]", '[{"ID": "1", "Body": "b", "Question": "q"}]'],
    "aqua": ["", "[]", '{"question": "q", "options": ["A)1"]}', '{"question": "q"}'],
    "math": ["", "[]", '{"problem": "p"}', '{"problem": "p", "solution": "no box"}'],
    "theoremqa": ["", "{}", "[]", '[{"Question": "q"}]'],
    "mmlu": ["", "q,1,2,3,4\n", "q,1,2,3,4,E\n", "q\n", "\n"],
    "strategyqa": [
        "",
        "{}",
        "[]",
        "[1]",
        '[{"question": "Is it?", "answer": "yes"}]',
        '[{"answer": true}]',
    ],
    "hotpotqa": ["", "[]", "{}", "[1]", '{"question": "Who?"}', '[{"answer": "Ada"}]'],
    "fever": ["", "{}", '{"claim": "It is.", "label": "TRUE"}', '{"label": "SUPPORTS"}'],
}


def test_every_public_format_has_its_test() -> None:
    assert {*LOADERS} == {*GOOD, "clevr", "ptr"}, "questions about scenes: test_scene_data.py"


@pytest.mark.parametrize("task", GOOD)
def test_the_public_formats_are_read(task, tmp_path):
    text, key, problem, gold = GOOD[task]
    file = tmp_path / "data"
    file.write_text(text, encoding="utf-8")
    records = load(registry.task(task), file)
    assert len(records) == 2
    assert records[0][:3] == (key, problem, gold)


@pytest.mark.parametrize(("task", "text"), [(task, text) for task in BAD for text in BAD[task]])
def test_what_is_no_data_set_is_refused_in_one_line(task, text, tmp_path):
    file = tmp_path / "data"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(tg.InputError, match="expected") as caught:
        load(registry.task(task), file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_the_place_of_a_bad_entry_is_named(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("Rank,Puzzles\n1,1 1 4 6\n2,what\n")
    with pytest.raises(tg.InputError, match="entry 2 of"):
        load(registry.task("game24"), file)


def test_a_file_that_is_not_there_or_not_text_is_refused_in_one_line(tmp_path):
    with pytest.raises(tg.InputError, match="cannot read"):
        load(registry.task("gsm8k"), tmp_path / "none.jsonl")
    with pytest.raises(tg.InputError, match="holds no problems"):
        load(registry.task("gsm8k"), tmp_path)
    (tmp_path / "binary").write_bytes(b"\x1f\x8b\xff\x00")
    with pytest.raises(tg.InputError, match="entry 1 of"):
        load(registry.task("gsm8k"), tmp_path / "binary")


LINES = '{"problem": "One?"}\n{"id": "b", "problem": "Two?", "gold": 2}\n'


def test_any_task_takes_lines_with_problems_and_gold_answers(tmp_path):
    file = tmp_path / "data.jsonl"
    file.write_text(LINES)
    one, two = load(registry.task("question"), file)
    assert one[:3] == ("1", "One?", None) and two[:3] == ("b", "Two?", "2")
    file.write_text('{"problem": "1 1 4 6", "gold": null}\n')
    assert load(registry.task("game24"), file)[0].problem == "1 1 4 6"


def test_what_is_no_line_with_a_problem_is_refused(tmp_path):
    file = tmp_path / "data.jsonl"
    file.write_text('{"question": "One?"}\n')
    with pytest.raises(tg.InputError, match="it has no 'problem'; expected lines of JSON"):
        load(registry.task("question"), file)


@pytest.mark.ci
def test_generated_puzzles_need_no_file():
    with pytest.raises(tg.InputError, match="--data"):
        generated(registry.task("gsm8k"))
    records = generated(registry.task("game24"))
    assert len(records) == 1362
    assert records[0][:3] == ("1", "1 1 1 8", None)


def test_paragraphs_are_part_of_a_problem_where_they_are_asked_for(tmp_path):
    file = tmp_path / "data.json"
    entry = {"question": "Who?", "answer": "Ada", "context": [["T", ["A b."]]], "level": "easy"}
    file.write_text(json.dumps([{**entry, "supporting_facts": [["T", 0]]}]), encoding="utf-8")
    (record,) = load(registry.task("hotpotqa"), file, paragraphs=True)
    assert json.loads(record.problem) == {"question": "Who?", "context": [["T", ["A b."]]]}
    assert record.gold == "Ada"
    with pytest.raises(tg.InputError, match="no paragraphs"):
        load(registry.task("gsm8k"), file, paragraphs=True)


def test_what_a_data_set_says_of_a_problem_is_kept(tmp_path):
    file = tmp_path / "math.jsonl"
    lines = [{"problem": str(at), "answer": "1", "level": at} for at in (1, 5, 5)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    records = load(registry.task("math"), file)
    assert [record.problem for record in where(records, {"level": "5"})] == ["5", "5"]
    with pytest.raises(tg.InputError, match="no problem has level=7; known: level=1, level=5"):
        where(records, {"level": "7"})


@pytest.mark.parametrize("written", [5, "5", "Level 5"])
@pytest.mark.parametrize("wanted", ["5", "Level 5"])
def test_a_level_of_math_is_found_however_it_is_written(tmp_path, written, wanted):
    file = tmp_path / "math.jsonl"
    lines = [
        {"problem": str(at), "answer": "1", "level": at} for at in ("Level 4", written, "Level ?")
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    records = load(registry.task("math"), file)
    assert [record.problem for record in where(records, {"level": wanted})] == [str(written)]


def test_a_folder_of_files_is_one_data_set(tmp_path):
    for subject in ("algebra", "biology"):
        (tmp_path / f"{subject}.csv").write_text("q?,1,2,3,4,A\n")
    records = load(registry.task("mmlu"), tmp_path)
    assert [record.id for record in records] == ["algebra/1", "biology/1"]
    assert [record.facts["subject"] for record in records] == ["algebra", "biology"]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("college_physics_test", {"subject": "college_physics", "split": "test"}),
        ("college_physics_dev", {"subject": "college_physics", "split": "dev"}),
        ("college_physics_val", {"subject": "college_physics", "split": "val"}),
        ("college_physics", {"subject": "college_physics"}),
        ("test", {"subject": "test"}),
    ],
)
def test_the_split_in_a_file_s_name_is_no_part_of_the_subject(tmp_path, name, facts):
    (tmp_path / f"{name}.csv").write_text("q?,1,2,3,4,A\n")
    (record,) = load(registry.task("mmlu"), tmp_path)
    assert (record.id, record.facts) == (f"{name}/1", facts)


def test_a_subject_of_a_folder_is_chosen_by_its_name(tmp_path):
    for name in ("anatomy_dev", "anatomy_test", "anatomy_of_trees_test"):
        (tmp_path / f"{name}.csv").write_text("q?,1,2,3,4,A\n")
    records = load(registry.task("mmlu"), tmp_path)
    of_subject = where(records, {"subject": "anatomy"})
    assert [record.id for record in of_subject] == ["anatomy_dev/1", "anatomy_test/1"]
    (tested,) = where(of_subject, {"split": "test"})
    assert tested.id == "anatomy_test/1"


def test_questions_with_a_picture_are_left_out_and_the_others_keep_their_ids(tmp_path):
    pictures = [None, "images/a.png", "", "images/b.png"]
    entries = [
        {"Question": f"q{at}?", "Answer": at, "Picture": picture}
        for at, picture in enumerate(pictures, 1)
    ]
    entries.append({"Question": "q5?", "Answer": 5, "id": "five.json"})
    file = tmp_path / "theoremqa.json"
    file.write_text(json.dumps(entries))
    records = load(registry.task("theoremqa"), file)
    assert [(each.id, each.problem, each.gold) for each in records] == [
        ("1", "q1?", "1"),
        ("3", "q3?", "3"),
        ("five.json", "q5?", "5"),
    ]
    file.write_text(json.dumps(entries[1:2]))
    with pytest.raises(tg.InputError, match=r'holds no problems; .* with a "Picture" are left out'):
        load(registry.task("theoremqa"), file)


def test_of_the_first_half_of_theoremqa_23_questions_have_a_picture():
    file = Path(os.environ.get("THOUGHTGRAPH_TEST_SETS", "")) / "math/theoremqa_first_half.json"
    if not file.is_file():
        pytest.skip("THOUGHTGRAPH_TEST_SETS names no folder with this file")
    records = load(registry.task("theoremqa"), file)
    assert len(records) == 400 - 23
    ids = [entry["id"] for entry in json.loads(file.read_text(encoding="utf-8"))]
    kept = {record.id for record in records}
    assert "wenhuchen/rectangle3.json" in ids and "wenhuchen/rectangle3.json" not in kept
    assert [record.id for record in records] == [id_ for id_ in ids if id_ in kept]


def test_scene_questions_are_made_up_with_their_answers():
    records = generated(registry.task("ptr"), ["sum"], 3, 7)
    assert len(records) == 3 and all(record.facts["type"] == "sum" for record in records)
    assert all(record.gold and record.gold not in ("", None) for record in records)
    assert records == generated(registry.task("ptr"), ["sum"], 3, 7)
    with pytest.raises(tg.UnknownName, match="type of question"):
        generated(registry.task("ptr"), ["nothing"])
