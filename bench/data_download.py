"""Brings a public data set from its home into a folder: whole and checked, or not at all."""

import hashlib
import os
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple, cast

import requests
from requests import exceptions
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from thoughtgraph.bench.data_sets import DataSet, Download
from thoughtgraph.bench.questions.sql_questions import rebuild
from thoughtgraph.errors import DataUnavailable, InputError

SILENCE_SECONDS = 60.0
"""How long a home may say nothing before it counts as out of reach (ours)."""
MOST_REDIRECTS = 5
"""How often a home may point to another address (ours)."""
CHUNK = 1 << 20
"""Bytes that are written at a time (ours)."""
LARGEST = 1 << 30
"""Bytes that are unpacked at most, and downloaded where the size is not known beforehand (ours)."""
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
    *(EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError),
)
"""What the two libraries raise of a damaged archive, or of one that is encrypted."""


class Fetched(NamedTuple):
    """A data set that is there."""

    path: Path
    sha256: str | None
    """Of what was downloaded; None for an unpacked archive that was there."""
    was_there: bool


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
        with TemporaryDirectory(prefix=f".{wanted.name}-", dir=folder) as work:
            whole, made = Path(work) / "whole", Path(work) / wanted.file
            digest = _download(wanted, whole, progress)
            if wanted.archive is not None:
                unpack(wanted, whole, made)
            elif wanted.scripts:
                made.mkdir()
                for script in wanted.scripts:
                    _download(script, made / script.file, progress)
                rebuild(made, [script.file for script in wanted.scripts], whole)
            else:
                whole.rename(made)
            made.rename(target)
    except DataUnavailable as error:
        raise DataUnavailable(f"{wanted.name} from {wanted.address}: {error}") from error
    except OSError as error:
        raise InputError(
            f"cannot keep {wanted.name} in {str(folder)!r} ({error.strerror or error}); "
            "make room, or name another folder with --out"
        ) from error
    return Fetched(target, digest, was_there=False)


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
    with target.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if wanted.sha256 not in (None, digest):
        raise InputError(f"{other}its SHA-256 is {digest}{remedy}")
    return Fetched(target, digest, was_there=True)


def _download(wanted: Download, file: Path, progress: Progress) -> str:
    """Writes what lies at the address into a file and returns its SHA-256.

    Raises:
        DataUnavailable: It did not come, or is not what was published.
        OSError: The file cannot be written.
    """
    digest = hashlib.sha256()
    most, size = wanted.size or LARGEST, 0
    with _reply(wanted.address) as reply, file.open("wb") as out:
        total = wanted.size or int(reply.headers.get("Content-Length", 0)) or None
        progress(0, total)
        for chunk in reply.iter_content(CHUNK):
            size += len(chunk)
            if size > most:
                raise DataUnavailable(f"it sends more than {most:,} bytes")
            digest.update(chunk)
            out.write(chunk)
            progress(size, total)
        out.flush()
        os.fsync(out.fileno())
    if wanted.sha256 not in (None, digest.hexdigest()):
        raise DataUnavailable(
            f"it sent another file than was published: its SHA-256 is {digest.hexdigest()}"
        )
    return digest.hexdigest()


@contextmanager
def _reply(address: str) -> Iterator[requests.Response]:
    """Opens what lies at an address.

    An address of https may point to https alone: whatever has no adapter is not followed.

    Raises:
        DataUnavailable: It is out of reach, or breaks off.
    """
    session = requests.Session()
    session.max_redirects = MOST_REDIRECTS
    session.adapters.clear()
    for scheme in ("https://", "http://") if address.startswith("http://") else ("https://",):
        session.mount(scheme, HTTPAdapter())
    # Sizes and checksums are those of the file, not of a packed form of it.
    session.headers["Accept-Encoding"] = "identity"
    try:
        with session, session.get(address, stream=True, timeout=SILENCE_SECONDS) as reply:
            if reply.status_code != requests.codes.ok:
                raise DataUnavailable(f"it answers with status {reply.status_code}")
            yield reply
    except (requests.RequestException, HTTPError, ValueError) as error:
        known = (why for kind, why in _REASONS if isinstance(error, kind))
        why = next(known, f"it cannot be read ({type(error).__name__})")
        raise DataUnavailable(why) from error


def unpack(wanted: DataSet, archive: Path, made: Path) -> None:
    """Writes the members of an archive that are wanted, and nothing else, into a new folder.

    Each is looked up by its whole name, which is never a path here.

    Raises:
        DataUnavailable: The archive is damaged, or lacks one of them.
        OSError: A file cannot be written.
    """
    made.mkdir()
    try:
        packed = zipfile.ZipFile if wanted.archive == "zip" else tarfile.TarFile
        with packed(archive) as opened:
            left = LARGEST
            for member, name in wanted.member_files.items():
                left -= _size(opened, member)
                if left < 0:
                    raise DataUnavailable(f"the archive holds more than {LARGEST:,} bytes")
                with _content(opened, member) as content, (made / name).open("wb") as out:
                    shutil.copyfileobj(content, out, CHUNK)
    except DataUnavailable:
        raise
    except _DAMAGED as error:
        raise DataUnavailable(f"the archive cannot be read ({type(error).__name__})") from error


def _size(archive: zipfile.ZipFile | tarfile.TarFile, member: str) -> int:
    """Returns how long a file of an archive is; one that is not there is refused."""
    if isinstance(archive, zipfile.ZipFile):
        known = {each.filename: each.file_size for each in archive.infolist()}
    else:
        known = {each.name: each.size for each in archive if each.isreg()}
    if member not in known:
        raise DataUnavailable(f"the archive has no {member!r}")
    return known[member]


def _content(archive: zipfile.ZipFile | tarfile.TarFile, member: str) -> IO[bytes]:
    if isinstance(archive, zipfile.ZipFile):
        try:
            return archive.open(member)
        except OSError as error:  # it names a place before its beginning
            raise DataUnavailable(f"the archive cannot be read ({type(error).__name__})") from error
    return cast("IO[bytes]", archive.extractfile(member))
