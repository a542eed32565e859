"""The embedded model's weights, and the memory that they need."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.llm.local import free_memory
from thoughtgraph.llm.weights import Weights, obtain

MB = 1 << 20
MACHINE = {"proc/meminfo": "MemTotal: 9999999 kB\nMemAvailable: 4194304 kB\n"}
GROUPED = {**MACHINE, "proc/self/cgroup": "0::/work/box\n"}
GROUPS = "sys/fs/cgroup/"


def limited(group: str) -> dict[str, str]:
    return {
        f"{GROUPS}{group}/memory.max": f"{1000 * MB}\n",
        f"{GROUPS}{group}/memory.current": f"{700 * MB}\n",
        f"{GROUPS}{group}/memory.stat": f"anon 5\ninactive_file {100 * MB}\n",
    }


UNLIMITED = {f"{GROUPS}work/box/memory.max": "max\n", f"{GROUPS}work/box/memory.current": "1\n"}


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, None),
        (MACHINE, 4096 * MB),
        ({**GROUPED, **limited("work/box")}, 400 * MB),
        ({**GROUPED, **limited("work")}, 400 * MB),
        ({**GROUPED, **limited(".")}, 400 * MB),
        ({**GROUPED, **UNLIMITED}, 4096 * MB),
    ],
)
def test_a_container_allows_no_more_than_its_groups(
    tmp_path: Path, files: dict[str, str], free: int | None
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert free_memory(tmp_path) == free


CONTENT = bytes(range(256)) * 40
SLICES = (CONTENT[:4000], CONTENT[4000:8000], CONTENT[8000:])
FAKE = Weights(
    name="fake",
    model="Fake-1B",
    licence="Apache-2.0",
    file="fake.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    parts=tuple((f"fake_part{i}", f"data/part{i}.bin") for i in range(3)),
)


class Told:
    """Keeps what it was told; raises at a given call."""

    def __init__(self, stop_at: int = -1) -> None:
        self.calls: list[tuple[str, int, int]] = []
        self._stop_at = stop_at

    def __call__(self, what: str, done: int, total: int) -> None:
        self.calls.append((what, done, total))
        if len(self.calls) - 1 == self._stop_at:
            raise KeyboardInterrupt


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installed packages whose code must not run."""
    for i, content in enumerate(SLICES):
        file = slice_of(tmp_path / "site", i)
        file.parent.mkdir(parents=True)
        (file.parents[1] / "__init__.py").write_text("raise AssertionError('was imported')")
        file.write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "deep"


def slice_of(site: Path, i: int) -> Path:
    return site / f"fake_part{i}" / "data" / f"part{i}.bin"


def left(cache: Path) -> set[str]:
    return {file.name for file in cache.iterdir()} - {"fake.gguf.lock"}


@contextmanager
def refused(*words: str) -> Iterator[pytest.ExceptionInfo[ModelUnavailable]]:
    """Expects a failure of one line that holds some words."""
    with pytest.raises(ModelUnavailable) as caught:
        yield caught
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert "\n" not in text


@pytest.mark.parametrize("content", [b"\0" * 4000, b"", b"\0" * 9000])
def test_a_corrupted_slice_is_refused(site: Path, cache: Path, content: bytes) -> None:
    slice_of(site, 1).write_bytes(content)
    with refused("SHA-256", "Fake-1B", "installed packages", "uv sync --reinstall"):
        obtain(FAKE, cache)
    assert left(cache) == set()


@pytest.mark.parametrize("at", range(4))
def test_an_interrupted_assembly_leaves_nothing_and_a_killed_one_begins_anew(
    site: Path, cache: Path, at: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        obtain(FAKE, cache, progress=Told(stop_at=at))
    assert left(cache) == set()
    (cache / "fake.gguf.part").write_bytes(b"half")  # as one leaves it that was killed
    assert obtain(FAKE, cache).read_bytes() == CONTENT
    assert left(cache) == {"fake.gguf"}


def test_what_cannot_be_is_named_with_a_remedy(site: Path, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with refused("taken", "THOUGHTGRAPH_CACHE", "Not a directory"):
        obtain(FAKE, tmp_path / "taken" / "cache")
    slice_of(site, 2).unlink()
    with refused("--group qwen", "local:smollm2", "local:PATH.gguf", "http://"):
        obtain(FAKE, cache)
    assert not cache.exists(), "a missing slice is as good as none"
    slice_of(site, 2).write_bytes(SLICES[2])
    with refused(str(cache), "MB are free", "THOUGHTGRAPH_CACHE"):
        obtain(replace(FAKE, size=1 << 60), cache)


def test_nothing_is_downloaded_unasked(cache: Path) -> None:
    with publisher() as (url, ranges):
        remote = replace(FAKE, url=url)
        with refused("unasked", "thoughtgraph demo", "local:smollm2"):
            obtain(remote, cache)
        with pytest.raises(KeyboardInterrupt):
            obtain(remote, cache, progress=Told(stop_at=0))
    assert not ranges
    with refused("cannot be reached", "--group qwen", "openai:NAME"):
        obtain(remote, cache, progress=Told())  # its publisher is gone


@pytest.mark.parametrize(
    ("have", "server", "asked"),
    [
        (0, {"drop_after": 4500}, [None, "bytes=4500-", "bytes=9000-"]),
        (3000, {"honours_range": True}, ["bytes=3000-"]),
        (3000, {"honours_range": False}, ["bytes=3000-"]),
    ],
)
def test_a_download_that_broke_off_is_continued(
    cache: Path, have: int, server: Any, asked: list[str | None]
) -> None:
    cache.mkdir(parents=True)
    (cache / "fake.gguf.part").write_bytes(CONTENT[:have])
    told = Told()
    with publisher(**server) as (url, ranges):
        path = obtain(replace(FAKE, url=url), cache, progress=told)
        assert obtain(replace(FAKE, url=url), cache) == path
    assert path.read_bytes() == CONTENT
    assert ranges == asked
    assert told.calls[0] == (f"Fake-1B, Apache-2.0 from {url}", have, len(CONTENT))
    assert left(cache) == {"fake.gguf"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (CONTENT[::-1], ("SHA-256", "http://127.0.0.1")),
        (b"<html>sign in first</html>", ("something else",)),
        (CONTENT * 2, ("something else",)),
    ],
)
def test_a_wrong_download_is_refused_and_not_kept(
    cache: Path, content: bytes, words: tuple[str, ...]
) -> None:
    with publisher(content=content) as (url, _), refused(*words):
        obtain(replace(FAKE, url=url), cache, progress=Told())
    assert not (cache / "fake.gguf").exists()
    assert left(cache) == set() or len(content) != len(CONTENT)


@contextmanager
def publisher(
    *, content: bytes = CONTENT, drop_after: int | None = None, honours_range: bool = True
) -> Iterator[tuple[str, list[str | None]]]:
    """Serves a file on the loopback; yields its address and the ranges that were asked for."""
    ranges: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers["Range"]
            ranges.append(asked)
            start = int(asked[6:-1]) if asked and honours_range else 0
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][:drop_after])

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/fake.gguf", ranges
        finally:
            server.shutdown()
            thread.join()
