"""Brings a public data set from its home into a folder: whole and checked, or not at all."""

import hashlib
import os
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import requests
from requests import exceptions
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from thoughtgraph.bench.data_archives import CHUNK, LARGEST, unpack
from thoughtgraph.bench.data_sets import DataSet
from thoughtgraph.errors import DataUnavailable, InputError

SILENCE_SECONDS = 60.0
"""How long a home may say nothing before it counts as out of reach (ours)."""
MOST_REDIRECTS = 5
"""How often a home may point to another address (ours)."""
Progress = Callable[[int, int | None], None]
"""Told how many bytes have come, and of how many where that is known."""
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.InvalidSchema, "it points to an address of another kind, which is not followed"),
    (exceptions.TooManyRedirects, f"it points on to other addresses, more than {MOST_REDIRECTS}"),
    (exceptions.SSLError, "its certificate is not accepted"),
    (exceptions.ProxyError, "the proxy does not let it through"),
    (exceptions.Timeout, f"it says nothing for {SILENCE_SECONDS:.0f} seconds"),
    (exceptions.ChunkedEncodingError, "the connection broke"),
    (exceptions.ConnectionError, "it cannot be reached; check the network"),
    (ValueError, "it points to what is no address"),
)


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
            if wanted.archive is None:
                whole.rename(made)
            else:
                made.mkdir()
                unpack(whole, wanted.archive, wanted.member_files, made)
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
    if wanted.archive is not None:
        lacking = [name for name in wanted.member_files.values() if not (target / name).is_file()]
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


def _download(wanted: DataSet, file: Path, progress: Progress) -> str:
    """Writes what lies at the address into a file and returns its SHA-256.

    Raises:
        DataUnavailable: It did not come, or is not what was published.
        OSError: The file cannot be written.
    """
    digest = hashlib.sha256()
    most, size = LARGEST if wanted.size is None else wanted.size, 0
    with file.open("wb") as out, closing(_chunks(wanted, progress)) as chunks:
        for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise DataUnavailable(f"it sends more than {most:,} bytes")
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    if wanted.size not in (None, size):
        raise DataUnavailable(f"it sent {size:,} bytes, where {wanted.size:,} are published")
    if wanted.sha256 not in (None, digest.hexdigest()):
        raise DataUnavailable(
            f"it sent another file than was published: its SHA-256 is {digest.hexdigest()}"
        )
    return digest.hexdigest()


def _chunks(wanted: DataSet, progress: Progress) -> Generator[bytes, None, None]:
    """Yields what a home sends.

    Raises:
        DataUnavailable: It does not send it.
    """
    try:
        with _session(wanted.address) as session, _asked(session, wanted.address) as reply:
            if reply.status_code != requests.codes.ok:
                raise DataUnavailable(f"it answers with status {reply.status_code}")
            total, done = wanted.size or _announced(reply), 0
            progress(done, total)
            for chunk in reply.iter_content(CHUNK):
                yield chunk
                done += len(chunk)
                progress(done, total)
    except (requests.RequestException, HTTPError, ValueError) as error:
        raise DataUnavailable(_why(error)) from error


def _session(address: str) -> requests.Session:
    """Returns a session that reaches an address and what it may point to.

    An address of https may point to https alone: whatever has no adapter is not followed.
    """
    session = requests.Session()
    session.max_redirects = MOST_REDIRECTS
    session.adapters.clear()
    session.mount("https://", HTTPAdapter())
    if address.startswith("http://"):
        session.mount("http://", HTTPAdapter())
    return session


def _asked(session: requests.Session, address: str) -> requests.Response:
    # Sizes and checksums are those of the file, not of a packed form of it.
    packing = {"Accept-Encoding": "identity"}
    return session.get(address, headers=packing, stream=True, timeout=SILENCE_SECONDS)


def _announced(reply: requests.Response) -> int | None:
    length = reply.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() and length.isascii() else None


def _why(error: Exception) -> str:
    known = (why for kind, why in _REASONS if isinstance(error, kind))
    return next(known, f"it cannot be read ({type(error).__name__})")
