"""Authentication and ownership for `langgraph dev`, LangGraph's server and aegra.

Each user has a key, sent as `Authorization: Bearer KEY` or `x-api-key: KEY`:

    cd deploy && THOUGHTGRAPH_CLIENT_KEYS=alice=KEY,bob=OTHER uv run langgraph dev

Without one of these keys every request is answered with 401. Threads, runs, histories, assistants,
crons and stored items belong to the user who made them; for all others they do not exist (404). The
assistants that the server makes of the graphs belong to nobody and can be read by all.

This is a tested example, not a user database: replace `_keys` with your own.
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
"""Metadata key for the owner of a resource; only this file writes it."""
MAKER = "created_by"
"""Metadata key that marks the server's own assistants."""
SHORTEST = 16
"""Characters that a key must have (ours): a shorter one can be guessed."""

auth = Auth()
logger = logging.getLogger("thoughtgraph")


def _keys() -> dict[str, str]:
    """Returns the key of every user, read at every request so that a key can be withdrawn."""
    entries = [entry for entry in os.environ.get(KEYS, "").split(",") if entry.strip()]
    pairs = (entry.partition("=") for entry in entries)
    users = [(name.strip(), key.strip()) for name, _, key in pairs]
    valid = [(name, key) for name, key in users if name and len(key) >= SHORTEST]
    _warn_of_invalid(len(valid), len(entries))
    return dict(valid)


@cache
def _warn_of_invalid(valid: int, total: int) -> None:
    """Logs once that some entries of `KEYS` are invalid; a request with such a key gets 401.

    The warning quotes no entry: in an entry without a name, the name's place holds the key.

    Args:
        valid: Number of valid entries.
        total: Number of all entries.
    """
    if valid < total or not total:
        warning = "%d of %d entries of %s are valid; write NAME=KEY, the key of %d letters or more"
        logger.warning(warning, valid, total, KEYS, SHORTEST)


@auth.authenticate
async def authenticate(headers: Mapping[Any, Any]) -> Auth.types.MinimalUserDict:
    """Returns the user whose key a request carries.

    Args:
        headers: Its headers; the names and values are bytes or texts.

    Raises:
        HTTPException: It carries no user's key (401).
    """
    fields = {_text(name).lower(): _text(value) for name, value in headers.items()}
    scheme, _, bearer = fields.get("authorization", "").partition(" ")
    key = bearer.strip() if scheme.lower() == "bearer" else fields.get("x-api-key", "")
    # All keys are compared, each in constant time, so the duration reveals nothing about a key.
    keys = _keys().items()
    users = [name for name, own in keys if compare_digest(own.encode(), key.encode())]
    if not users:
        raise Auth.exceptions.HTTPException(status_code=401, detail="a key is needed")
    return {"identity": users[0], "is_authenticated": True}


@auth.on
async def nothing_else(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Refuses every action without a handler below, such as one that a later server adds."""
    return False


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    """Marks threads and runs with the user who made them, and hides those of others.

    Raises:
        HTTPException: A run has feedback keys: the server would call LangSmith (422).
    """
    if ctx.action == "create_run" and (value.get("kwargs") or {}).get("feedback_keys"):
        raise Auth.exceptions.HTTPException(status_code=422, detail="no feedback is taken here")
    return _owned(ctx, value)


@auth.on.crons
async def own_crons(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    """Marks crons with the user who made them, and hides those of others."""
    return _owned(ctx, value)


@auth.on.assistants
async def own_or_served(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    """Shows users their own assistants and the server's; they can change only their own.

    Raises:
        HTTPException: An assistant has settings that no run accepts (422).
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
    """Puts the items of users under their names; aegra does so by itself."""
    if "namespace" in value:
        # A namespace must have no dots; with escapes, no two users share one.
        own = ctx.user.identity.replace("%", "%25").replace(".", "%2E")
        value["namespace"] = (own, *(value["namespace"] or ()))


def _owned(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:
    owner = {OWNER: ctx.user.identity}
    if ctx.action in ("create", "update", "create_run") and isinstance(value, dict):
        # Replaces the client's values, so that nobody names another user or the server as owner.
        sent = value.get("metadata")
        metadata = sent if isinstance(sent, dict) else {}
        metadata.pop(MAKER, None)
        metadata.update(owner)
        value["metadata"] = metadata
    return owner


def _text(part: Any) -> str:
    return part.decode("latin-1") if isinstance(part, bytes) else str(part)
