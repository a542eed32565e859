"""Who may use the server, and what belongs to whom: for `langgraph dev`, LangGraph's server, aegra.

Each user has a key, sent as `Authorization: Bearer KEY` or `x-api-key: KEY`:

    cd deploy && THOUGHTGRAPH_CLIENT_KEYS=alice=KEY,bob=OTHER uv run langgraph dev

Without one of these keys every request is answered with 401. Threads, runs, histories, assistants,
crons and stored items belong to the user who made them; for all others they do not exist (404). The
assistants that the server makes of the graphs belong to nobody and can be read by all.

It is an example that is tested, not a user database: `_keys` is what to replace by your own.
"""

import logging
import os
from collections.abc import Mapping
from functools import cache
from hmac import compare_digest
from typing import Any

from langgraph_sdk import Auth

from thoughtgraph.building import check_served_context
from thoughtgraph.errors import ThoughtgraphError

KEYS = "THOUGHTGRAPH_CLIENT_KEYS"
OWNER = "owner"
"""Metadata by which a thing is known as a user's; nobody but this file writes it."""
MAKER = "created_by"
"""Metadata by which the server's own assistants are known."""
SHORTEST = 16
"""Letters a key must have (ours): a shorter one can be guessed."""

auth = Auth()
logger = logging.getLogger("thoughtgraph")


def _keys() -> dict[str, str]:
    """Returns the key of every user; read anew each time, so that one can be withdrawn."""
    given = [entry for entry in os.environ.get(KEYS, "").split(",") if entry.strip()]
    entries = (entry.partition("=") for entry in given)
    found = [(name.strip(), key.strip()) for name, _, key in entries]
    kept = [(name, key) for name, key in found if name and len(key) >= SHORTEST]
    _tell_left_out(len(kept), len(given))
    return dict(kept)


@cache
def _tell_left_out(kept: int, given: int) -> None:
    """Logs, once, that entries of `KEYS` are no user's key: who sends one of them gets 401.

    It names none, as a key without a name stands in the name's place.

    Args:
        kept: How many are keys.
        given: How many there are.
    """
    if kept < given or not given:
        told = "%d of %d entries of %s are keys; one is NAME=KEY, the key of %d letters or more"
        logger.warning(told, kept, given, KEYS, SHORTEST)


@auth.authenticate
async def authenticate(headers: Mapping[Any, Any]) -> Auth.types.MinimalUserDict:
    """Returns the user whose key a request carries.

    Args:
        headers: Its headers; the names and values are bytes or texts.

    Raises:
        HTTPException: It carries none (401).
    """
    sent = {_text(name).lower(): _text(value) for name, value in headers.items()}
    scheme, _, bearer = sent.get("authorization", "").partition(" ")
    key = bearer.strip() if scheme.lower() == "bearer" else sent.get("x-api-key", "")
    # All are compared, each in constant time: how long it takes tells nothing of any of them.
    known = _keys().items()
    users = [name for name, own in known if compare_digest(own.encode(), key.encode())]
    if not users:
        raise Auth.exceptions.HTTPException(status_code=401, detail="a key is needed")
    return {"identity": users[0], "is_authenticated": True}


@auth.on
async def nothing_else(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Refuses whatever the handlers below do not know, such as what a later server adds."""
    return False


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    """Marks a user's threads and runs as his, and shows him no others.

    Raises:
        HTTPException: A run would have the server call LangSmith (422).
    """
    if ctx.action == "create_run" and (value.get("kwargs") or {}).get("feedback_keys"):
        raise Auth.exceptions.HTTPException(status_code=422, detail="no feedback is taken here")
    return _owned(ctx, value)


@auth.on.crons
async def own_crons(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    """Marks a user's crons as his, and shows him no others."""
    return _owned(ctx, value)


@auth.on.assistants
async def own_or_served(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    """Shows a user his own assistants and the server's; only his own can be changed.

    Raises:
        HTTPException: An assistant would have settings that none of its runs could take (422).
    """
    mine = _owned(ctx, value)
    if ctx.action in ("create", "update") and isinstance(value, dict):
        try:
            check_served_context(str(value.get("graph_id")), value.get("context") or {})
        except ThoughtgraphError as refused:
            raise Auth.exceptions.HTTPException(status_code=422, detail=str(refused)) from None
    if ctx.action in ("read", "search"):
        return {"$or": [mine, {MAKER: "system"}]}
    return mine


@auth.on.store
async def own_items(ctx: Auth.types.AuthContext, value: Any) -> None:
    """Keeps a user's items under his name; aegra does so by itself."""
    if "namespace" in value:
        # A namespace takes no dots, and no two users may come to the same one.
        own = ctx.user.identity.replace("%", "%25").replace(".", "%2E")
        value["namespace"] = (own, *(value["namespace"] or ()))


def _owned(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    mine = {OWNER: ctx.user.identity}
    if ctx.action in ("create", "update", "create_run") and isinstance(value, dict):
        # Over what the client sent: nobody makes a thing another's, or the server's.
        given = value.get("metadata")
        metadata = given if isinstance(given, dict) else {}
        metadata.pop(MAKER, None)
        metadata.update(mine)
        value["metadata"] = metadata
    return mine


def _text(part: Any) -> str:
    return part.decode("latin-1") if isinstance(part, bytes) else str(part)
