"""Model specifiers as text: which there are, the default, and what is refused before any import.

LangChain takes seconds to import; a mistyped name is told without it.
"""

import os
from os.path import expanduser
from pathlib import Path
from urllib.parse import urlsplit

from thoughtgraph.errors import InputError

DEFAULT_OPENAI = "gpt-4o-mini"
"""The OpenAI model used when only a key is set (ours: cheap, and supports n)."""
FORMS = (
    "local, local:smollm2, local:PATH.gguf, openai:NAME, http://HOST:PORT/v1#NAME or "
    "PROVIDER:NAME, such as anthropic:NAME"
)
FAMILIES = {
    "gpt-": "openai",
    "chatgpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude-": "anthropic",
    "gemini-": "google_genai",
    "mistral-": "mistralai",
    "deepseek-": "deepseek",
    "grok-": "xai",
}
"""Whose models have a name that begins so, for a hint to those who leave the provider out."""
_SERVERS = ("http", "https")
WEIGHTS = ".gguf"


def default_specifier() -> str:
    """Returns the model used when none is named.

    `$THOUGHTGRAPH_MODEL`, else an OpenAI model when a key is set, else the embedded one.
    """
    named = os.environ.get("THOUGHTGRAPH_MODEL", "")
    if named:
        return named
    return f"openai:{DEFAULT_OPENAI}" if os.environ.get("OPENAI_API_KEY") else "local"


def takes_grammar(specifier: str) -> bool:
    """Returns whether the server behind a specifier is known to hold completions to a grammar.

    Args:
        specifier: The specifier; empty for a chat model, of whose server nothing is known.
    """
    return specifier.partition(":")[0] == "local"


def check_specifier(specifier: str) -> None:
    """Refuses what no model can be opened by, as far as the text and the environment tell.

    Args:
        specifier: The specifier; not empty.

    Raises:
        InputError: It has no known form, its file is not there, its address is none, or OpenAI's
            key is missing.
    """
    kind, _, rest = specifier.partition(":")
    if kind == "local":
        _check_file(rest)
    elif kind == "openai" and rest:
        _check_openai(specifier)
    elif kind in _SERVERS:
        _check_server(specifier)
    elif not rest:
        raise _unknown(specifier)


def _check_file(name: str) -> None:
    if name.endswith(WEIGHTS) and not Path(expanduser(name)).is_file():
        raise InputError(f"there is no file {name!r}; give the path of a GGUF file")


def _check_openai(specifier: str) -> None:
    if not os.environ.get("OPENAI_API_KEY"):
        raise InputError(f"{specifier!r} needs a key: set OPENAI_API_KEY")
    if server := os.environ.get("OPENAI_BASE_URL"):
        _check_address(server, "OPENAI_BASE_URL")


def _check_server(specifier: str) -> None:
    address, _, name = specifier.partition("#")
    if not name:
        raise _unknown(specifier)
    if "@" in address or "?" in address:
        # Not shown again: specifiers are kept with results, and this one may hold a password.
        raise InputError(
            "put no key into the model's address, it would be kept with the results; "
            "set THOUGHTGRAPH_API_KEY=ADDRESS=KEY"
        )
    _check_address(address, "model")


def _unknown(specifier: str) -> InputError:
    families = (whose for start, whose in FAMILIES.items() if specifier.lower().startswith(start))
    provider = next(families, "")
    meant = f"{provider}:{specifier}" if provider and ":" not in specifier else ""
    hint = f"did you mean {meant!r}?" if meant else f"write {FORMS}"
    return InputError(f"unknown model {specifier!r}; {hint}")


def _check_address(address: str, where: str) -> None:
    """Refuses what no server can be reached at, before half a minute goes into trying.

    Args:
        address: The address.
        where: What it was given as; named in the error.
    """
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").encode("idna"), parts.port
        wrong = "it has no host" if not host else "no server has port 0" if port == 0 else ""
    except ValueError as error:
        wrong = str(error)
    if not wrong and any(char.isspace() for char in address):
        wrong = "it has a space"
    if wrong:
        raise InputError(f"{where} {address!r} is no address ({wrong}); write http://HOST:PORT/v1")
