import pytest

import thoughtgraph as tg
from thoughtgraph.bench.data import LOADERS, generated_game24, load

GOOD = {
    "game24": ("Rank,Puzzles,AMT (s)\n1,1 1 4 6,4.4\n2,1 1 11 11,4.41\n", "1", "1 1 4 6", None),
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
    "strategyqa": (
        '[{"qid": "x7", "question": "Is it?", "answer": true},'
        ' {"question": "Or not?", "answer": false}]',
        "x7",
        "Is it?",
        "yes",
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
    "strategyqa": [
        "",
        "{}",
        "[]",
        "[1]",
        '[{"question": "Is it?", "answer": "yes"}]',
        '[{"answer": true}]',
    ],
}


@pytest.mark.parametrize("task", LOADERS)
def test_the_public_formats_are_read(task, tmp_path):
    text, key, problem, gold = GOOD[task]
    file = tmp_path / "data"
    file.write_text(text, encoding="utf-8")
    records = load(task, file)
    assert len(records) == 2
    assert records[0] == (key, problem, gold)


@pytest.mark.parametrize(("task", "text"), [(task, text) for task in BAD for text in BAD[task]])
def test_what_is_no_data_set_is_refused_in_one_line(task, text, tmp_path):
    file = tmp_path / "data"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(tg.InputError, match="expected") as caught:
        load(task, file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_the_place_of_a_bad_entry_is_named(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("Rank,Puzzles\n1,1 1 4 6\n2,what\n")
    with pytest.raises(tg.InputError, match="entry 2 of"):
        load("game24", file)


def test_a_file_that_is_not_there_or_not_text_is_refused_in_one_line(tmp_path):
    with pytest.raises(tg.InputError, match="cannot read"):
        load("gsm8k", tmp_path / "none.jsonl")
    with pytest.raises(tg.InputError, match="cannot read"):
        load("gsm8k", tmp_path)
    (tmp_path / "binary").write_bytes(b"\x1f\x8b\xff\x00")
    with pytest.raises(tg.InputError, match="entry 1 of"):
        load("gsm8k", tmp_path / "binary")


def test_a_task_without_a_format_is_refused():
    with pytest.raises(tg.UnknownName, match="question"):
        load("question", "x")


def test_generated_puzzles_need_no_file():
    records = generated_game24()
    assert len(records) == 1362
    assert records[0] == ("1", "1 1 1 8", None)
