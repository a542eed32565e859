"""What is taken out of a downloaded archive: the members that the table names, and nothing else.

A member is looked up by its whole name. No name of the archive is ever a path, so that none can
lead out of the folder; links, folders and what is not named are passed over.
"""

import struct
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Literal

from thoughtgraph.errors import DataUnavailable

CHUNK = 1 << 20
"""Bytes copied at a time."""
LARGEST = 1 << 30
"""Bytes that are unpacked at most, and downloaded where the size is not known beforehand (ours)."""
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error),
    *(EOFError, ValueError, OverflowError, OSError, RuntimeError),
)
"""What the two libraries raise of a damaged archive, or of one that is encrypted."""
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
Kind = Literal["tar", "zip"]
Chunks = Generator[tuple[str, bytes], None, None]
Members = Iterator[tuple[str, IO[bytes]]]


def unpack(archive: Path, kind: Kind, names: Mapping[str, str], folder: Path) -> None:
    """Writes some members of an archive into an empty folder.

    Args:
        archive: The file.
        kind: What it is.
        names: The members, and what each is to be called.
        folder: Where to.

    Raises:
        DataUnavailable: The archive is damaged, too large, or lacks one of them.
        OSError: A file cannot be written.
    """
    size = 0
    with closing(_chunks(archive, kind, names)) as chunks:
        for member, chunk in chunks:
            size += len(chunk)
            if size > LARGEST:
                raise DataUnavailable(f"the archive holds more than {LARGEST:,} bytes")
            # A member that is there twice is begun anew.
            with (folder / names[member]).open("ab" if chunk else "wb") as out:
                out.write(chunk)
    lacking = [member for member, name in names.items() if not (folder / name).exists()]
    if lacking:
        raise DataUnavailable(f"the archive has no {lacking[0]!r}")


def _chunks(archive: Path, kind: Kind, names: Collection[str]) -> Chunks:
    """Yields the content of members by pieces, the first of which is empty."""
    try:
        for member, content in (_of_tar if kind == "tar" else _of_zip)(archive, names):
            yield member, b""
            while chunk := content.read(CHUNK):
                yield member, chunk
    except _DAMAGED as error:
        raise DataUnavailable(f"the archive cannot be read ({type(error).__name__})") from error


def _of_tar(archive: Path, names: Collection[str]) -> Members:
    with tarfile.open(archive, "r:") as opened:
        for member in opened:
            wanted = member.name in names and member.isreg()
            content = opened.extractfile(member) if wanted else None
            if content is not None:
                yield member.name, content


def _of_zip(archive: Path, names: Collection[str]) -> Members:
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            if member.filename in names and member.compress_type in _PACKINGS:
                with opened.open(member) as content:
                    yield member.filename, content
