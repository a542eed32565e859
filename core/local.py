"""The embedded model server: llama.cpp inside this process, an endpoint on the loopback."""

import threading
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from thoughtgraph.errors import ModelUnavailable

SLOTS = 4
"""Completions decoded together (ours, measured): more only share two cores more thinly."""
CONTEXT = 8192
"""Tokens of context shared by the slots (ours): few-shot prompts, their samples and room to
spare."""
MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running server.

    Args:
        base_url: The address of its OpenAI-compatible API.
        model: The name to ask for.
        concurrency: How many requests it is worth having in flight.
        server: The native server; it stops when this object goes.
    """

    base_url: str
    model: str
    concurrency: int = SLOTS
    server: Any = field(default=None, repr=False, compare=False)


_starting = threading.Lock()


def serve(path: Path) -> Endpoint:
    """Returns the server of a GGUF file, starting it when this process has none yet.

    All graphs of a process share one server a file. It listens on a free port of 127.0.0.1 and ends
    with the process.

    Args:
        path: The weights.

    Raises:
        ModelUnavailable: The extra `local` is not installed, the file is no GGUF file, or there is
            not enough memory for it.
    """
    with _starting:
        return _serve(path.resolve())


@cache
def _serve(path: Path) -> Endpoint:
    if find_spec("xllamacpp") is None:
        raise ModelUnavailable(
            "the embedded model needs the extra `local`: `uv sync --extra local` or "
            "`pip install 'thoughtgraph[local]'`; or choose another model with --model"
        )
    _check(path)
    native = import_module("xllamacpp")
    server = native.Server(_parameters(native, path))
    return Endpoint(f"{server.listening_address}/v1", path.stem, server=server)


def _check(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ModelUnavailable(
                f"{str(path)!r} is no GGUF file; give one that llama.cpp can load"
            )
    free, needed = _free_memory(), path.stat().st_size
    if free is not None and free < needed:
        raise ModelUnavailable(
            f"{path.name} needs {needed >> 20} MB of memory and {free >> 20} MB are free; close "
            "something or choose a smaller model such as local:smollm2"
        )


def _free_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in lines)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


def _parameters(native: Any, path: Path) -> Any:
    parameters = native.CommonParams()
    parameters.model.path = str(path)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = SLOTS
    parameters.n_ctx = CONTEXT
    # One cache for all slots: the samples of one prompt share its tokens.
    parameters.kv_unified = True
    parameters.warmup = False
    parameters.verbosity = -1
    return parameters
