"""Downloads a public data set into a folder: complete and verified, or not at all."""

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
"""Seconds of silence after which a server counts as unreachable (ours)."""
CHUNK = 1 << 20
"""Bytes of one write (ours)."""
LARGEST = 1 << 30
"""Most bytes of a download whose size is not known beforehand (ours)."""
Progress = Callable[[int, int | None], None]
"""Receives the number of bytes downloaded so far, and their total if it is known."""
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
"""Exceptions of unpacking: the archive is damaged or encrypted, or the disk is full."""


class Fetched(NamedTuple):
    """A data set in its folder."""

    path: Path
    sha256: str | None
    """Checksum of the download; None for a folder that existed before."""
    was_there: bool


class _Bar:
    """A bar for pooch that reports to a `Progress` and stops a download beyond its size."""

    def __init__(self, progress: Progress, size: int | None) -> None:
        self._progress, self._size = progress, size
        self.total, self._done = 0, 0
        """pooch sets `total` to the size that the server states; 0: the server states none."""

    def update(self, count: int) -> None:
        """Adds the bytes of a chunk; pooch counts the last chunk as a full one."""
        self._done += count
        limit = self._size or LARGEST
        if self._done >= limit + CHUNK:
            raise DataUnavailable(f"it sends more than {limit:,} bytes")
        total = self._size or self.total or None
        self._progress(min(self._done, total or self._done), total)

    def reset(self) -> None:
        """Resets the count; pooch calls it at the end, before it reports the total."""
        self._done = 0

    def close(self) -> None:
        """Does nothing: the display belongs to the caller."""


def fetch(wanted: DataSet, folder: Path, progress: Progress) -> Fetched:
    """Returns a data set in a folder; downloads it if the folder lacks it.

    A download stays in a temporary folder, whose name begins with a dot, until it is complete and
    verified. The temporary folder is removed however the download ends.

    Args:
        wanted: The data set.
        folder: The folder of data sets; created when needed.
        progress: Called as bytes arrive.

    Raises:
        InputError: Something else has the data set's name, or the folder cannot be written.
        DataUnavailable: The download failed, or differs from what was published.
    """
    target = folder / wanted.file
    try:
        if target.exists() or target.is_symlink():
            return _existing(wanted, target)
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{wanted.name}-", dir=folder) as work, _quiet_pooch():
            file, result = _download(wanted, Path(work) / "whole", progress), Path(work) / "made"
            digest = wanted.sha256 or pooch.file_hash(str(file))
            _build(wanted, file, result, progress)
            result.rename(target)
    except DataUnavailable as error:
        raise DataUnavailable(f"{wanted.name} from {wanted.address}: {error}") from error
    except OSError as error:
        raise InputError(
            f"cannot keep {wanted.name} in {str(folder)!r} ({error.strerror or error}); "
            "make room, or name another folder with --out"
        ) from error
    return Fetched(target, digest, was_there=False)


@contextmanager
def _quiet_pooch() -> Iterator[None]:
    """Silences pooch's logger, whose own handler would print into the progress display."""
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


def _existing(wanted: DataSet, target: Path) -> Fetched:
    """Returns the data set that exists at a path, once checked.

    Raises:
        InputError: The path is not that data set.
    """
    refusal = f"{str(target)!r} is not {wanted.name} as it is published: "
    remedy = "; move it away, or name another folder with --out"
    if wanted.contents:
        missing = [name for name in wanted.contents if not (target / name).is_file()]
        if missing:
            raise InputError(f"{refusal}it has no {missing[0]!r}{remedy}")
        return Fetched(target, None, was_there=True)
    if not target.is_file():
        raise InputError(f"{refusal}it is no file{remedy}")
    digest = pooch.file_hash(str(target))
    if wanted.sha256 not in (None, digest):
        raise InputError(f"{refusal}its SHA-256 is {digest}{remedy}")
    return Fetched(target, digest, was_there=True)


def _download(wanted: Download, file: Path, progress: Progress) -> Path:
    """Downloads an address into a file and returns the file.

    Raises:
        DataUnavailable: The download failed, or differs from what was published.
        OSError: The file cannot be written.
    """
    no_downgrade = {"response": partial(_refuse_downgrade, wanted.address)}
    progress(0, wanted.size)
    bar: Any = _Bar(progress, wanted.size)
    fetcher: Any = pooch.HTTPDownloader(bar, CHUNK, timeout=SILENCE_SECONDS, hooks=no_downgrade)
    try:
        pooch.retrieve(wanted.address, wanted.sha256, file.name, file.parent, downloader=fetcher)
    except exceptions.HTTPError as error:
        status = error.response.status_code
        raise DataUnavailable(f"it answers with HTTP status {status}; try again later") from error
    except requests.RequestException as error:
        reasons = (why for kind, why in _REASONS if isinstance(error, kind))
        why = next(reasons, f"it cannot be read ({type(error).__name__})")
        raise DataUnavailable(why) from error
    except ValueError as error:
        raise DataUnavailable("it sent another file than was published") from error
    return file


def _refuse_downgrade(address: str, reply: requests.Response, **_: Any) -> None:
    """Refuses a redirect from an https address to any other scheme."""
    target = urljoin(reply.url, reply.headers.get("Location", ""))
    if address.startswith("https:") and not target.startswith("https:"):
        raise exceptions.InvalidSchema(target)


def _build(wanted: DataSet, download: Path, destination: Path, progress: Progress) -> None:
    """Builds a data set from its download.

    Raises:
        DataUnavailable: An archive is damaged or lacks a file, or a script is not available.
    """
    if wanted.archive is not None:
        unpack(wanted, download, destination)
    elif wanted.scripts:
        destination.mkdir()
        for script in wanted.scripts:
            _download(script, destination / script.file, progress)
        rebuild(destination, [script.file for script in wanted.scripts], download)
    else:
        download.rename(destination)


def unpack(wanted: DataSet, archive: Path, destination: Path) -> None:
    """Extracts the members of a data set from an archive into a new, flat folder.

    Raises:
        DataUnavailable: The archive is damaged, or lacks a member.
    """
    destination.mkdir()
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
        content.rename(destination / name)
