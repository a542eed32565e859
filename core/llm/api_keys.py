"""Keys of OpenAI-compatible servers: each goes to the address it was configured for, and no other.

`$THOUGHTGRAPH_API_KEY` holds one key a server, each with its address:

    THOUGHTGRAPH_API_KEY=https://models.example/v1=KEY
    THOUGHTGRAPH_API_KEY=https://models.example/v1=KEY,http://127.0.0.1:8000=OTHER

A key without an address belongs to the server that `$THOUGHTGRAPH_MODEL` names. Loopback addresses
are addresses like any other: any program of any user may listen there.
"""

import logging
import os
from urllib.parse import SplitResult, urlsplit

from thoughtgraph.errors import InputError

VARIABLE = "THOUGHTGRAPH_API_KEY"
_PORTS = {"http": 80, "https": 443}
_SCHEMES = tuple(f"{scheme}://" for scheme in _PORTS)

logger = logging.getLogger("thoughtgraph")


def key_for(address: str) -> str | None:
    """Returns the key that was configured for a server; None where there is none.

    A key belongs to all of a server whose address was given without a path, else to that path and
    what lies below it. Where there are keys, but none for this server, one line says so.

    Args:
        address: The address of the server's API.

    Raises:
        InputError: The variable cannot be read, or holds a key that no header can.
    """
    keys = _keys()
    if key := next((key for own, key in keys if _within(address, own)), None):
        return key
    if keys:
        owners = ", ".join(own or "no address" for own, _ in keys)
        logger.warning(
            "%s is asked without a key: %s is for %s; to send one there write %s=%s=KEY",
            address,
            VARIABLE,
            owners,
            VARIABLE,
            address,
        )
    return None


def _keys() -> list[tuple[str, str]]:
    """Returns the address and the key of every entry; an address is empty if none is known."""
    keys = []
    for entry in os.environ.get(VARIABLE, "").split(","):
        address, key = _home(), entry.strip()
        if key.startswith(_SCHEMES):
            address, _, key = (part.strip() for part in key.partition("="))
            if not key:
                raise InputError(f"{VARIABLE} has no key for {address!r}; write {address}=KEY")
        if not (key.isascii() and key.isprintable()):
            raise InputError(f"{VARIABLE} holds what no header can; write ADDRESS=KEY in ASCII")
        if key:
            keys.append((address, key))
    return keys


def _home() -> str:
    """Returns the address of the default model, where it has one."""
    named = os.environ.get("THOUGHTGRAPH_MODEL", "")
    return named.partition("#")[0] if named.startswith(_SCHEMES) else ""


def _within(address: str, owner: str) -> bool:
    """Returns whether an address is the owner's, or lies below it on the same server."""
    try:
        asked, own = urlsplit(address), urlsplit(owner)
        same = bool(own.hostname) and _server(asked) == _server(own)
    except ValueError:
        return False
    if not same or ".." in asked.path or "%" in asked.path:  # it might leave the owner's path
        return False
    return f"{asked.path.rstrip('/')}/".startswith(f"{own.path.rstrip('/')}/")


def _server(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
