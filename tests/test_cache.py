"""Recorded answers come back unchanged, and a cache that cannot be used says so."""

import sqlite3
from pathlib import Path

import pytest

from thoughtgraph.errors import InputError
from thoughtgraph.llm.store import Answer, MemoryStore, SqliteStore, digest


def answer(*texts: str) -> Answer:
    return {"texts": list(texts), "prompt_tokens": 3, "completion_tokens": 5}


def test_the_first_answer_stays_and_comes_back_whole(tmp_path: Path) -> None:
    text = "\x00\x1b \ud800 日本\n'\""
    for cache in (MemoryStore(), SqliteStore(tmp_path / "a.sqlite")):
        assert cache.get("k") is None
        cache.put("k", answer(text, ""))
        cache.put("k", answer("second"))
        assert cache.get("k") == answer(text, "")


def test_a_file_outlives_its_process_and_is_shared(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "a.sqlite"
    one, other = SqliteStore(file), SqliteStore(str(file))
    one.put("k", answer("kept"))
    assert other.get("k") == answer("kept")
    one.close()
    other.put("l", answer("more"))
    other.close()
    assert SqliteStore(file).get("l") == answer("more")


def test_what_is_no_cache_is_refused_in_one_line(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("these are notes, and no database at all\n" * 100)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE answers (something TEXT)")
    db.close()
    for path in (text, tmp_path, text / "below"):
        with pytest.raises(InputError, match="name another file") as caught:
            SqliteStore(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="name another file"):
        SqliteStore(other).put("k", answer())
    assert "no database at all" in text.read_text(), "the user's file is left alone"


def test_equal_values_have_equal_keys() -> None:
    assert digest({"a": [1, "é"], "b": 1}) == digest({"b": 1, "a": [1, "é"]})
    assert digest({"a": 1}) != digest({"a": [1]}) != digest({"a": "1"})
