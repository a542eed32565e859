"""The embedded model server: llama.cpp inside this process, with an endpoint on the loopback."""

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
"""Completions decoded at once (ours): llama.cpp refuses a larger `n`, and a slot costs nothing. On
two processors 32 samples of a prompt reach 44 tokens a second, 16 reach 41, 8 reach 26, one 13."""
CONTEXT = 20_480
"""Tokens the slots share (ours): a prompt of 2,500 with sixteen samples of 1,000 each fits."""
REMEDY = 'needs the extra `local`: `uv sync --extra local` or `pip install "thoughtgraph[local]"`'
"""The end of the error for a missing llama.cpp."""
SPINS = "1000"
"""Turns of a loop for which a decoding thread waits for the others before it sleeps (ours). The
runtime's default of 300,000 suits threads with processors of their own: next to one busy program
decoding was 2 to 5 times slower with it. On an idle machine our value costs a sixth."""
BATCH = 60
"""Tokens of a prompt that are read in one batch (ours): one second on two slow processors. From 64
on, llama.cpp computes the attention of every token to the tokens of all slots, even those of other
prompts. That takes half of all time when a dozen prompts of 700 tokens are in flight."""
MAGIC = b"GGUF"
MARGIN = 1.25
"""Required memory, as a multiple of the file (ours): the weights and data computed from them."""
BASE_BYTES = 640 << 20
"""Required memory on top (ours): the context of a model of 1.5 billion weights, and buffers."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running server."""

    base_url: str
    """The address of its OpenAI-compatible API."""
    model: str
    """The model's name in requests."""
    key: str
    """The key that each request must carry: pages in a browser and other users of the machine must
    not be able to use or watch the server."""
    prompts: PromptCache | None
    """The cache of its prompts; None where the system cannot save any."""


_starting = threading.Lock()


def serve(name: str, progress: weights.Progress | None = None) -> Endpoint:
    """Returns the server of some weights, and starts it if this process has none yet.

    All graphs of a process share one server for each file. It listens on a free port of 127.0.0.1
    and ends with the process.

    Args:
        name: The name of the weights in a specifier, or the path of a GGUF file.
        progress: Called while weights are assembled or downloaded.

    Raises:
        ModelUnavailable: The weights are not available, the extra `local` is not installed, the
            file is not one that llama.cpp can load, or there is not enough memory for it.
        UnknownName: There are no weights of that name.
    """
    own_file = Path(expanduser(name)) if name.endswith(WEIGHTS) else None
    path = own_file or weights.find(name, progress=progress)
    with _starting:
        return _serve(path.resolve())


@cache
def _serve(path: Path) -> Endpoint:
    # The library reads this variable once, when it is loaded; there is no other way to set it.
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
    # Never collected, on purpose: the destructor waits for completions in flight, so a process that
    # has to end during one would hang. The system frees the memory.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))
    prompts = PromptCache(SLOTS) if prompt_cache.supported() else None
    return Endpoint(f"{server.listening_address}/v1", path.stem, key, prompts)


def running() -> bool:
    """Returns whether this process serves a model.

    While Python shuts down and an answer is still being decoded, a fault in llama.cpp's threads may
    kill the process. Only the exit code is lost by then; a caller that needs it ends the process
    with `os._exit`.
    """
    return _serve.cache_info().currsize > 0


def installed() -> bool:
    """Returns whether llama.cpp, which runs the weights, is installed."""
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
    # Otherwise every answer would carry the file's path as the model's name.
    parameters.model_alias = {path.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = SLOTS
    parameters.n_ctx = CONTEXT
    # One cache for all slots: the samples of one prompt share its tokens.
    parameters.kv_unified = True
    # The slots keep their prefixes anyway; a second copy could grow by gigabytes.
    parameters.cache_ram_mib = 0
    parameters.cache_idle_slots = False
    parameters.cors_origins = "null"
    parameters.ui = False
    # The endpoint of slots shows the progress of each answer: only counts, no prompt or text.
    parameters.endpoint_slots = True
    if prompt_cache.supported():
        # Slots are saved to in-memory files of this process (`prompt_cache`), which end with it.
        parameters.slot_save_path = "/proc/self/fd/"
    # Progress is known between batches: a prompt in a single batch would show none.
    parameters.n_batch = parameters.n_ubatch = BATCH
    # The first prompt warms the model up as well, without an extra wait.
    parameters.warmup = False
    parameters.verbosity = -1
    return parameters


def free_memory(root: Path = Path("/")) -> int | None:
    """Returns the bytes of memory that this process can use without swapping or being killed.

    Args:
        root: The folder that holds the system's files.

    Returns:
        The smallest of the machine's available memory and the memory that each control group above
        this process leaves; None where the system reports neither.
    """
    available = _first_match(root / "proc/meminfo", r"^MemAvailable:\s*(\d+)")
    amounts = [1024 * int(available)] if available else []
    group = PurePosixPath(_first_match(root / "proc/self/cgroup", "^0::/(.*)"))
    # Up to the mount point: a container sees no more.
    for at in (root / "sys/fs/cgroup" / each for each in (group, *group.parents)):
        limit, used = (_first_match(at / f"memory.{name}", r"(\d+)") for name in ("max", "current"))
        if limit and used:  # the group exists and has a limit
            reclaimable = int(_first_match(at / "memory.stat", r"^inactive_file (\d+)") or 0)
            amounts.append(max(0, int(limit) - int(used) + reclaimable))
    return min(amounts, default=None)


def _first_match(file: Path, pattern: str) -> str:
    """Returns the first match in a system file; empty if the file or the match is missing."""
    try:
        match = re.search(pattern, file.read_text(), re.MULTILINE)
    except OSError:
        return ""
    return match[1] if match else ""
