"""What is kept of a wiki's answers, for how long, and that many threads ask once."""

import sqlite3
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.clock import Clock

from thoughtgraph.errors import InputError
from thoughtgraph.tools.wiki.pages import Refused
from thoughtgraph.tools.wiki.recordings import WikiCache

RECORDINGS = "thoughtgraph.tools.wiki.recordings"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    clock.rule(monkeypatch, RECORDINGS)
    return clock


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "wiki.sqlite"


@pytest.mark.parametrize("fails", [False, True])
def test_equal_searches_at_the_same_time_ask_once(fails, kept, clock, monkeypatch):
    """The wiki answers when four others wait for its answer: each has looked at the clock."""
    cache, waiting, asked = WikiCache(kept, "fresh"), threading.Semaphore(0), list[Any]()
    monkeypatch.setattr(f"{RECORDINGS}.time.monotonic", lambda: waiting.release() or 0.0)

    def ask(parameters: Mapping[str, Any], until: float) -> dict[str, Any]:
        asked.append(parameters)
        assert all(waiting.acquire(timeout=60) for _ in range(4))
        if fails:
            raise Refused("no")
        return {"n": len(asked)}

    def answer(_: int) -> Any:
        try:
            return cache.answer("w", {"q": 1}, ask, 60.0)
        except Refused as refused:
            return str(refused)

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(answer, range(5)))
    assert answers == ["no" if fails else {"n": 1}] * 5
    assert len(asked) == 1


def test_answers_grow_old_and_recordings_do_not(kept, clock):
    short = WikiCache(kept, "keep", max_age=10.0)
    short.put("a", {"q": 1}, {"answer": 1})
    clock.now += 10.0
    assert short.get("a", {"q": 1}) == {"answer": 1}
    clock.now += 0.1
    assert short.get("a", {"q": 1}) is None
    recorder = WikiCache(kept, "record")
    assert recorder.get("a", {"q": 1}) is None, "it was not recorded"
    recorder.put("a", {"q": 1}, {"answer": 2})
    short.put("a", {"q": 1}, {"answer": 3})
    clock.now += 10.1
    for cache in (short, recorder, WikiCache(kept, "replay")):
        assert cache.get("a", {"q": 1}) == {"answer": 2}
    short.put("a", {"q": 2}, {"answer": 1})
    short.close()
    for seconds, rows in ((24 * 3600.0, 2), (0.1, 1)):  # a day later, and a moment after that
        clock.now += seconds
        WikiCache(kept, "keep")
        with sqlite3.connect(kept) as db:
            assert db.execute("SELECT count(*) FROM wiki_answers").fetchone() == (rows,)
        db.close()


def test_a_file_that_is_no_cache_is_refused_in_one_line(tmp_path):
    file = tmp_path / "cache"
    file.write_text("this is no database, whatever it is called" * 100)
    with pytest.raises(InputError, match="name another file") as caught:
        WikiCache(file)
    assert "\n" not in str(caught.value)
