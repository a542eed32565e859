"""Public data sets are downloaded whole and checked, or not at all; archives add no paths."""

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from support.data_homes import CLEVR, CONTENT, Home, packed_as, published

from thoughtgraph.bench import data_download
from thoughtgraph.bench.data import set_file
from thoughtgraph.bench.data_download import Fetched, fetch
from thoughtgraph.bench.data_sets import DataSet, data_set
from thoughtgraph.errors import DataUnavailable, InputError


def brought(wanted: DataSet, folder: Path) -> Fetched:
    return fetch(wanted, folder, lambda done, total: None)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def refused(wanted: DataSet, folder: Path) -> str:
    """Why a data set is refused, in one line; nothing of it stays."""
    before = left(folder)
    with pytest.raises((DataUnavailable, InputError)) as caught:
        brought(wanted, folder)
    assert left(folder) == before
    assert "\n" not in str(caught.value) and wanted.name in str(caught.value)
    return str(caught.value)


def test_a_data_set_comes_whole_once_under_the_name_that_bench_looks_for(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with Home(CONTENT) as home:
        got = fetch(published(home.address), tmp_path / "a/b", lambda *news: told.append(news))
        assert not got.was_there and len(home.asked) == 1
        assert brought(published(home.address), tmp_path / "a/b").was_there
        assert len(home.asked) == 1
    assert got.path == set_file(tmp_path / "a/b", "gsm8k")
    assert got.path.read_bytes() == CONTENT
    assert got.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert left(tmp_path / "a/b") == ["gsm8k.jsonl"]
    assert told[0] == (0, len(CONTENT)) and told[-1] == (len(CONTENT), len(CONTENT))


def test_another_file_of_the_name_is_refused_and_stays(tmp_path: Path) -> None:
    file, wanted = tmp_path / "gsm8k.jsonl", published("http://127.0.0.1:9/")
    file.write_bytes(b"mine")
    assert "move it away" in refused(wanted, tmp_path)
    assert file.read_bytes() == b"mine"
    file.unlink()
    file.mkdir()
    assert "it is no file" in refused(wanted, tmp_path)


FAULTS = {
    "status 404": Home(b"no such page", status=404),
    "another file than was published": Home(CONTENT[::-1]),
    f"more than {len(CONTENT):,} bytes": Home(CONTENT * 2),
    "the connection broke": Home(CONTENT[:-9], announced=len(CONTENT)),
    "not followed": Home(b"", status=302, location="file:///etc/hostname"),
    "cannot be read": Home(b"", status=302, location="{home}"),
}


@pytest.mark.parametrize("words", FAULTS)
def test_what_goes_wrong_is_one_line_and_leaves_nothing(words: str, tmp_path: Path) -> None:
    with FAULTS[words] as home:
        assert words in refused(published(home.address), tmp_path)


def test_a_home_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object, timeout: Any, **__: object) -> None:
        assert timeout == data_download.SILENCE_SECONDS
        raise requests.ReadTimeout

    monkeypatch.setattr(HTTPAdapter, "send", silent)
    assert "says nothing for 60 s" in refused(published("https://home.example/x"), tmp_path)


@pytest.mark.parametrize("target", ["http://home.example/x", "file:///etc/hostname", "ftp://h/x"])
def test_an_address_of_https_may_point_to_https_alone(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    def redirected(_: HTTPAdapter, request: requests.PreparedRequest, **__: Any) -> Any:
        asked.append(request.url)
        reply = requests.Response()
        reply.status_code, reply.request, reply.url = 302, request, str(request.url)
        reply.headers["Location"] = target if len(asked) == 2 else "https://other.example/x"
        return reply

    monkeypatch.setattr(HTTPAdapter, "send", redirected)
    assert "not followed" in refused(published("https://home.example/x"), tmp_path)
    assert asked == ["https://home.example/x", "https://other.example/x"]


def test_an_interrupted_download_and_a_full_disk_leave_nothing(tmp_path: Path) -> None:
    def stop(done: int, total: int | None) -> None:
        if done:
            assert left(tmp_path), "something is under way"
            assert all(path.name.startswith(".") for path in tmp_path.iterdir())
            raise KeyboardInterrupt

    def full(done: int, total: int | None) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Home(CONTENT) as home:
        with pytest.raises(KeyboardInterrupt):
            fetch(published(home.address), tmp_path, stop)
        assert not left(tmp_path)
        with pytest.raises(InputError, match="No space left on device"):
            fetch(published(home.address), tmp_path, full)
        assert not left(tmp_path)
    (tmp_path / "file").touch()
    assert "--out" in refused(published(home.address), tmp_path / "file")


ARCHIVE = {
    **{CLEVR[0]: b"questions", CLEVR[1]: b"scenes", "CLEVR_v1.0/README.txt": b"more"},
    **{"../../outside": b"x", "/tmp/outside.txt": b"x"},
}


def archived(address: str, kind: str) -> DataSet:
    home = {"address": address, "archive": kind, "size": None, "sha256": None}
    return data_set("clevr").model_copy(update=home)


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_of_an_archive_the_named_members_are_taken_and_no_path(kind: Any, tmp_path: Path) -> None:
    content = packed_as(kind, ARCHIVE, links=[("CLEVR_v1.0/link", "/etc")])
    with Home(content) as home:
        wanted = archived(home.address, kind)
        got = brought(wanted, tmp_path / "in")
        again = brought(wanted, tmp_path / "in")
    assert got.sha256 == hashlib.sha256(content).hexdigest()
    files = ["CLEVR_val_questions.json", "CLEVR_val_scenes.json"]
    assert left(tmp_path) == [*files, "clevr", "in"]
    assert (got.path / files[0]).read_bytes() == b"questions"
    assert again == Fetched(got.path, None, was_there=True) and len(home.asked) == 1
    (got.path / files[1]).unlink()
    assert f"it has no '{files[1]}'" in refused(wanted, tmp_path / "in")


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_an_archive_that_lacks_a_member_or_is_too_large_or_none_leaves_nothing(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def why(content: bytes, **more: Any) -> str:
        with Home(content, **more) as home:
            return refused(archived(home.address, kind), tmp_path)

    assert f"no '{CLEVR[1]}'" in why(packed_as(kind, {CLEVR[0]: b"q"}))
    assert "cannot be unpacked" in why(b"<html>sign in first</html>" * 50)
    monkeypatch.setattr(data_download, "LARGEST", 1 << 10)
    monkeypatch.setattr(data_download, "CHUNK", 1 << 10)
    assert "more than 1,024 bytes" in why(b"x" * 2_049, announced=None)
