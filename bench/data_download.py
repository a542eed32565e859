"""Brings a public data set from its home into a folder: whole and checked, or not at all."""

import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urljoin

import pooch
import requests
from requests import exceptions

from thoughtgraph.bench.data_sets import DataSet, Download
from thoughtgraph.bench.questions.sql_questions import rebuild
from thoughtgraph.errors import DataUnavailable, InputError

SILENCE_SECONDS = 60.0
"""How long a home may say nothing before it counts as out of reach (ours)."""
CHUNK = 1 << 20
"""Bytes that are written at a time (ours)."""
LARGEST = 1 << 30
"""Bytes that are downloaded at most where the size is not known beforehand (ours)."""
Progress = Callable[[int, int | None], None]
"""Told how many bytes have come, and of how many where that is known."""
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.InvalidSchema, "it points to an address of another kind, which is not followed"),
    (exceptions.SSLError, "its certificate is not accepted"),
    (exceptions.Timeout, f"it says nothing for {SILENCE_SECONDS:.0f} seconds"),
    (exceptions.ChunkedEncodingError, "the connection broke"),
    (exceptions.ConnectionError, "it cannot be reached; check the network"),
)
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error),
    *(EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError, OSError),
)
"""What is raised of an archive that is damaged or encrypted, and of a full disk."""


class Fetched(NamedTuple):
    """A data set that is there."""

    path: Path
    sha256: str | None
    """Of what was downloaded; None for an unpacked archive that was there."""
    was_there: bool


class _Bar:
    """Passes on to `Progress` what pooch tells a bar, and stops what does not end."""

    def __init__(self, progress: Progress, size: int | None) -> None:
        self._progress, self._size = progress, size
        self.total, self._done = 0, 0
        """`total` is what the home says, which pooch writes here; 0: it does not say."""

    def update(self, more: int) -> None:
        """Counts bytes that came; a last chunk counts as a whole one."""
        self._done += more
        most = self._size or LARGEST
        if self._done >= most + CHUNK:
            raise DataUnavailable(f"it sends more than {most:,} bytes")
        total = self._size or self.total or None
        self._progress(min(self._done, total or self._done), total)

    def reset(self) -> None:
        """Begins to count anew, as pooch does once all is there."""
        self._done = 0

    def close(self) -> None:
        """Has nothing to close: the display belongs to the caller."""


def fetch(wanted: DataSet, folder: Path, progress: Progress) -> Fetched:
    """Returns a data set of a folder; downloads it where it is not there.

    What is under way lies in a folder of its own, whose name begins with a dot, until it is whole
    and checked; it is removed however the download ends.

    Args:
        wanted: The data set.
        folder: Where it is kept; created when needed.
        progress: Told about the download.

    Raises:
        InputError: Something else of that name is there.
        DataUnavailable: It could not be downloaded, or is not what was published.
    """
    target = folder / wanted.file
    try:
        if target.exists() or target.is_symlink():
            return _there(wanted, target)
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{wanted.name}-", dir=folder) as work, _silent():
            whole, made = _download(wanted, Path(work) / "whole", progress), Path(work) / "made"
            digest = wanted.sha256 or pooch.file_hash(str(whole))
            _make(wanted, whole, made, progress)
            made.rename(target)
    except DataUnavailable as error:
        raise DataUnavailable(f"{wanted.name} from {wanted.address}: {error}") from error
    except OSError as error:
        raise InputError(
            f"cannot keep {wanted.name} in {str(folder)!r} ({error.strerror or error}); "
            "make room, or name another folder with --out"
        ) from error
    return Fetched(target, digest, was_there=False)


@contextmanager
def _silent() -> Iterator[None]:
    """Keeps what pooch logs, by a handler of its own, out of the progress that is shown."""
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


def _there(wanted: DataSet, target: Path) -> Fetched:
    """Checks what has the name of a data set already.

    Raises:
        InputError: It is something else.
    """
    other = f"{str(target)!r} is not {wanted.name} as it is published: "
    remedy = "; move it away, or name another folder with --out"
    if wanted.contents:
        lacking = [name for name in wanted.contents if not (target / name).is_file()]
        if lacking:
            raise InputError(f"{other}it has no {lacking[0]!r}{remedy}")
        return Fetched(target, None, was_there=True)
    if not target.is_file():
        raise InputError(f"{other}it is no file{remedy}")
    digest = pooch.file_hash(str(target))
    if wanted.sha256 not in (None, digest):
        raise InputError(f"{other}its SHA-256 is {digest}{remedy}")
    return Fetched(target, digest, was_there=True)


def _download(wanted: Download, file: Path, progress: Progress) -> Path:
    """Writes what lies at the address into a file, and returns it.

    Raises:
        DataUnavailable: It did not come, or is not what was published.
        OSError: The file cannot be written.
    """
    refused = {"response": partial(_only_safer, wanted.address)}
    progress(0, wanted.size)
    bar: Any = _Bar(progress, wanted.size)
    bring: Any = pooch.HTTPDownloader(bar, CHUNK, timeout=SILENCE_SECONDS, hooks=refused)
    try:
        pooch.retrieve(wanted.address, wanted.sha256, file.name, file.parent, downloader=bring)
    except exceptions.HTTPError as error:
        raise DataUnavailable(f"it answers with status {error.response.status_code}") from error
    except requests.RequestException as error:
        known = (why for kind, why in _REASONS if isinstance(error, kind))
        why = next(known, f"it cannot be read ({type(error).__name__})")
        raise DataUnavailable(why) from error
    except ValueError as error:
        raise DataUnavailable("it sent another file than was published") from error
    return file


def _only_safer(address: str, reply: requests.Response, **_: Any) -> None:
    """Refuses that an address of https points to one that is not."""
    target = urljoin(reply.url, reply.headers.get("Location", ""))
    if address.startswith("https:") and not target.startswith("https:"):
        raise exceptions.InvalidSchema(target)


def _make(wanted: DataSet, whole: Path, made: Path, progress: Progress) -> None:
    """Makes a data set of what was downloaded.

    Raises:
        DataUnavailable: An archive is damaged, or lacks a file.
    """
    if wanted.archive is not None:
        unpack(wanted, whole, made)
    elif wanted.scripts:
        made.mkdir()
        for script in wanted.scripts:
            _download(script, made / script.file, progress)
        rebuild(made, [script.file for script in wanted.scripts], whole)
    else:
        whole.rename(made)


def unpack(wanted: DataSet, archive: Path, made: Path) -> None:
    """Takes the members that are wanted out of an archive, into a new folder without folders.

    Raises:
        DataUnavailable: The archive is damaged, or lacks one of them.
    """
    made.mkdir()
    kind = pooch.Unzip if wanted.archive == "zip" else pooch.Untar
    try:
        kind(members=list(wanted.members), extract_dir="unpacked")(str(archive), "download", None)
    except _DAMAGED as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise DataUnavailable(f"the archive cannot be unpacked ({why})") from error
    for member, name in wanted.member_files.items():
        content = archive.parent / "unpacked" / member
        if not content.is_file() or content.is_symlink():
            raise DataUnavailable(f"the archive has no {member!r}")
        content.rename(made / name)
