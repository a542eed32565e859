"""The embedded model server: llama.cpp inside this process, an endpoint on the loopback."""

import ctypes
import os
import re
import threading
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from os.path import expanduser
from pathlib import Path, PurePosixPath
from secrets import token_urlsafe
from typing import Any

from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.llm import prompt_cache, weights
from thoughtgraph.llm.prompt_cache import PromptCache
from thoughtgraph.llm.specifiers import WEIGHTS

SLOTS = 32
"""Completions decoded together (ours): llama.cpp refuses an `n` above it; a slot costs nothing. On
two processors 32 samples of one prompt come at 44 tokens a second, 16 at 41, 8 at 26, one at 13."""
CONTEXT = 20_480
"""Tokens the slots share (ours): a prompt of 2,500 with sixteen samples of 1,000 each fits."""
REMEDY = 'needs the extra `local`: `uv sync --extra local` or `pip install "thoughtgraph[local]"`'
"""What whoever lacks llama.cpp is told."""
SPINS = "1000"
"""How long a decoding thread waits for the others before it sleeps, in turns of a loop (ours). The
runtime's own 300,000 are for threads that own their processors: beside one busy program they made
decoding 2 to 5 times slower than this, which costs a sixth on an idle machine."""
BATCH = 60
"""Tokens of a prompt that are read at once (ours): one second of two slow processors. From 64 on,
llama.cpp works out the attention of every token to all slots' tokens, those of other prompts as
well: half of all time where a dozen prompts of 700 tokens are in flight."""
MAGIC = b"GGUF"
MARGIN = 1.25
"""Memory needed, as a multiple of the file (ours): the weights and what is computed from them."""
BASE_BYTES = 640 << 20
"""Memory needed beside that (ours): the context of a model of 1.5 billion weights, and buffers."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running server."""

    base_url: str
    """The address of its OpenAI-compatible API."""
    model: str
    """The name to ask for."""
    key: str
    """What it asks of whoever calls it: pages in a browser and other users of the machine must be
    able neither to use it nor to look on."""
    prompts: PromptCache | None
    """What it has read; None where nothing can be saved."""


_starting = threading.Lock()


def serve(name: str, progress: weights.Progress | None = None) -> Endpoint:
    """Returns the server of some weights, starting it when this process has none yet.

    All graphs of a process share one server a file. It listens on a free port of 127.0.0.1 and ends
    with the process.

    Args:
        name: Their name in a specifier, or the path of a GGUF file.
        progress: Told about weights that are assembled or downloaded.

    Raises:
        ModelUnavailable: The weights cannot be had here, the extra `local` is not installed, the
            file is not one that llama.cpp can load, or there is not enough memory for it.
        UnknownName: There are no weights of that name.
    """
    own = Path(expanduser(name)) if name.endswith(WEIGHTS) else None
    path = own or weights.find(name, progress=progress)
    with _starting:
        return _serve(path.resolve())


@cache
def _serve(path: Path) -> Endpoint:
    # Read once, when the library is loaded, and nowhere else to be set.
    os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    try:
        native: Any = import_module("xllamacpp")
    except ImportError as error:
        raise ModelUnavailable(
            f"the embedded model {REMEDY}; or choose another model with --model"
        ) from error
    _check(path)
    try:
        server = native.Server(_parameters(native, path, key := token_urlsafe()))
    except RuntimeError as error:
        raise ModelUnavailable(
            f"llama.cpp cannot load {str(path)!r}: damaged, or of a kind it does not know"
        ) from error
    # Never collected, on purpose: its destructor waits for the completions in flight, so a process
    # that is asked to end in the middle of one would hang. The system frees it all.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))
    prompts = PromptCache(SLOTS) if prompt_cache.supported() else None
    return Endpoint(f"{server.listening_address}/v1", path.stem, key, prompts)


def running() -> bool:
    """Returns whether this process serves a model.

    Such a process may be killed by a fault of llama.cpp's threads while Python shuts down, when an
    answer is still being decoded. Nothing is lost by then but the exit code: whoever cares for it
    ends the process by `os._exit`.
    """
    return _serve.cache_info().currsize > 0


def installed() -> bool:
    """Returns whether llama.cpp, which runs the weights, is there."""
    return find_spec("xllamacpp") is not None


def _check(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
        size = path.stat().st_size
    except OSError as error:
        raise ModelUnavailable(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    if magic != MAGIC:
        raise ModelUnavailable(f"{str(path)!r} is no GGUF file; give one that llama.cpp can load")
    free, required = free_memory(), int(MARGIN * size) + BASE_BYTES
    if free is not None and free < required:
        raise ModelUnavailable(
            f"{path.name} needs {required >> 20} MB of memory and {free >> 20} MB are free; close "
            "something or choose a smaller model such as local:smollm2"
        )


def _parameters(native: Any, path: Path, key: str) -> Any:
    parameters = native.CommonParams()
    parameters.api_keys = [key]
    parameters.model.path = str(path)
    # Else every answer would carry the file's path as the model's name.
    parameters.model_alias = {path.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = SLOTS
    parameters.n_ctx = CONTEXT
    # One cache for all slots: the samples of one prompt share its tokens.
    parameters.kv_unified = True
    # Prefixes stay in the slots themselves; a second copy could grow by gigabytes.
    parameters.cache_ram_mib = 0
    parameters.cache_idle_slots = False
    parameters.cors_origins = "null"
    parameters.ui = False
    # How far it is with each answer: counts alone, no prompt and no text.
    parameters.endpoint_slots = True
    if prompt_cache.supported():
        # Open files of this process, which are memory (`prompt_cache`) and end with it.
        parameters.slot_save_path = "/proc/self/fd/"
    # Between two batches it says how far it has read: a prompt in one batch would be one leap.
    parameters.n_batch = parameters.n_ubatch = BATCH
    # The first prompt warms it up as well, and nobody waits for it in vain.
    parameters.warmup = False
    parameters.verbosity = -1
    return parameters


def free_memory(root: Path = Path("/")) -> int | None:
    """Returns the bytes that can be used without swapping and without being killed for it.

    Args:
        root: Where the system's files lie.

    Returns:
        The least of what the machine has and what each control group above this process leaves;
        None where the system says neither.
    """
    machine = _said(root / "proc/meminfo", r"^MemAvailable:\s*(\d+)")
    known = [1024 * int(machine)] if machine else []
    group = PurePosixPath(_said(root / "proc/self/cgroup", "^0::/(.*)"))
    # Up to the mount, which is all that a container sees.
    for at in (root / "sys/fs/cgroup" / each for each in (group, *group.parents)):
        most, used = (_said(at / f"memory.{name}", r"(\d+)") for name in ("max", "current"))
        if most and used:  # there is a group, and a limit
            given_up = int(_said(at / "memory.stat", r"^inactive_file (\d+)") or 0)
            known.append(max(0, int(most) - int(used) + given_up))
    return min(known, default=None)


def _said(file: Path, pattern: str) -> str:
    """Returns what a file of the system says; empty where it is not there or says nothing."""
    try:
        match = re.search(pattern, file.read_text(), re.MULTILINE)
    except OSError:
        return ""
    return match[1] if match else ""
