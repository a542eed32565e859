"""Model specifiers as text: their forms, the default, the keys of servers, and early refusals.

LangChain takes seconds to import; a mistyped name is refused without it.

`$THOUGHTGRAPH_API_KEY` holds one key for each server, which is sent to that address only:

    THOUGHTGRAPH_API_KEY=https://models.example/v1=KEY
    THOUGHTGRAPH_API_KEY=https://models.example/v1=KEY,http://127.0.0.1:8000=OTHER

A key without an address belongs to the server that `$THOUGHTGRAPH_MODEL` names. Loopback addresses
are no exception: any program of any user may listen there.
"""

import logging
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
    **dict.fromkeys(("gpt-", "chatgpt-", "o1", "o3", "o4"), "openai"),
    **{"claude-": "anthropic", "gemini-": "google_genai", "mistral-": "mistralai"},
    **{"deepseek-": "deepseek", "grok-": "xai"},
}
"""Providers by the beginning of their models' names, for a hint if the provider is left out."""
WEIGHTS = ".gguf"
VARIABLE = "THOUGHTGRAPH_API_KEY"
_PORTS = {"http": 80, "https": 443}
_SCHEMES = tuple(f"{scheme}://" for scheme in _PORTS)

logger = logging.getLogger("thoughtgraph")


def default_specifier() -> str:
    """Returns the specifier that is used when none is named.

    `$THOUGHTGRAPH_MODEL`, else an OpenAI model when a key is set, else the embedded one.
    """
    openai = f"openai:{DEFAULT_OPENAI}" if os.environ.get("OPENAI_API_KEY") else "local"
    return os.environ.get("THOUGHTGRAPH_MODEL", "") or openai


def takes_grammar(specifier: str) -> bool:
    """Returns whether a specifier's server is known to constrain completions to a grammar."""
    return specifier.partition(":")[0] == "local"


def check_specifier(specifier: str) -> None:
    """Refuses a specifier that cannot work, as far as its text and the environment tell.

    Raises:
        InputError: Its form is unknown, its file is missing, its address is invalid or holds a key,
            or OpenAI's key is missing.
    """
    kind, _, rest = specifier.partition(":")
    address, _, name = specifier.partition("#")
    if kind == "local":
        if rest.endswith(WEIGHTS) and not Path(expanduser(rest)).is_file():
            raise InputError(f"there is no file {rest!r}; give the path of a GGUF file")
    elif kind in _PORTS and name:
        if "@" in address or "?" in address:
            # Results store specifiers. The error does not quote this one: it may hold a password.
            raise InputError(
                "put no key into the model's address, it would be kept with the results; "
                f"set {VARIABLE}=ADDRESS=KEY"
            )
        _check_address(address, "model")
    elif kind in _PORTS or not rest:
        owners = (owner for start, owner in FAMILIES.items() if specifier.lower().startswith(start))
        provider = next(owners, "")
        suggestion = f"{provider}:{specifier}" if provider and ":" not in specifier else ""
        hint = f"did you mean {suggestion!r}?" if suggestion else f"write {FORMS}"
        raise InputError(f"unknown model {specifier!r}; {hint}")
    elif kind == "openai":
        if not os.environ.get("OPENAI_API_KEY"):
            raise InputError(f"{specifier!r} needs a key: set OPENAI_API_KEY")
        if server := os.environ.get("OPENAI_BASE_URL"):
            _check_address(server, "OPENAI_BASE_URL")


def _check_address(address: str, where: str) -> None:
    """Refuses an invalid address; the error says where the address was set."""
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").encode("idna"), parts.port
        fault = "it has no host" if not host else "no server has port 0" if port == 0 else ""
    except ValueError as error:
        fault = str(error)
    if not fault and any(char.isspace() for char in address):
        fault = "it has a space"
    if fault:
        raise InputError(f"{where} {address!r} is no address ({fault}); write http://HOST:PORT/v1")


def key_for(address: str) -> str | None:
    """Returns the key that is configured for a server; None if there is none.

    If a key's address has no path, the key applies to the whole server, else to that path and all
    below it. If there are keys, but none for this server, a warning is logged.

    Raises:
        InputError: An address has no key, or a key has letters that no header can carry.
    """
    model, owners = os.environ.get("THOUGHTGRAPH_MODEL", ""), list[str]()
    for entry in os.environ.get(VARIABLE, "").split(","):
        owner, key = model.partition("#")[0] if model.startswith(_SCHEMES) else "", entry.strip()
        if key.startswith(_SCHEMES):
            owner, _, key = (part.strip() for part in key.partition("="))
            if not key:
                raise InputError(f"{VARIABLE} has no key for {owner!r}; write {owner}=KEY")
        if not (key.isascii() and key.isprintable()):
            raise InputError(f"{VARIABLE} has a key with letters outside ASCII; paste it anew")
        if key and _within(address, owner):
            return key
        owners += [owner or "no address"] if key else []
    if owners:
        logger.warning(
            "%s is asked without a key: %s is for %s; to send one there write %s=%s=KEY",
            *(address, VARIABLE, ", ".join(owners), VARIABLE, address),
        )
    return None


def _within(address: str, base: str) -> bool:
    """Returns whether an address equals another one, or lies below it on the same server."""
    try:
        target, own = urlsplit(address), urlsplit(base)
        servers = [(u.scheme, u.hostname, u.port or _PORTS.get(u.scheme)) for u in (target, own)]
    except ValueError:
        return False
    if not own.hostname or servers[0] != servers[1]:
        return False
    if ".." in target.path or "%" in target.path:  # it might leave the base's path
        return False
    return f"{target.path.rstrip('/')}/".startswith(f"{own.path.rstrip('/')}/")
