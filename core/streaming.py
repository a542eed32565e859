"""What the stream mode `values` carries: the whole state at each superstep, but the tree once.

A state is streamed whole at every superstep, and its tree is nearly all of it: two thousand
thoughts of a depth-first search came to 2.7 GB. So the tree comes with the last state alone, unless
the setting `tree` says otherwise.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple

from thoughtgraph.settings.base import TREE

HEAVY = ("tree", "problem")
"""Keys that a state on the way leaves out."""
VALUES = "values"


class Chunk(NamedTuple):
    """A part of a stream, whatever the form in which LangGraph gives it."""

    mode: str
    nested: bool
    """Whether it is of a graph inside this one."""
    data: Any
    formed: Callable[[Any], Any]
    """Puts other data in its place."""


def without_tree(
    stream: AsyncIterator[Any], options: Mapping[str, Any], tree: str | None
) -> AsyncIterator[Any]:
    """Returns a stream whose states on the way hold neither tree nor problem.

    Args:
        stream: What LangGraph streams.
        options: How it was asked for: `stream_mode`, `subgraphs`, `version`.
        tree: The setting; with `end` the last state, which is given again when the stream ends, has
            its tree. None: as each state's own settings say.
    """
    modes = options.get("stream_mode") or VALUES
    streams_values = VALUES in ([modes] if isinstance(modes, str) else modes)
    return stream if tree == "all" or not streams_values else _leaner(stream, options, tree)


async def _leaner(
    stream: AsyncIterator[Any], options: Mapping[str, Any], tree: str | None
) -> AsyncIterator[Any]:
    last: Any = None
    wanted = tree or TREE
    async for part in stream:
        chunk = _read(part, options)
        heavy = chunk.mode == VALUES and not chunk.nested and isinstance(chunk.data, Mapping)
        if not heavy or "tree" not in chunk.data:
            yield part
            continue
        wanted = tree or chunk.data.get("settings", {}).get("tree", TREE)
        if wanted == "all":
            yield part
            continue
        last = part
        yield chunk.formed(_without(chunk.data, *HEAVY))
    if last is not None:
        chunk = _read(last, options)
        yield last if wanted == "end" else chunk.formed(_without(chunk.data, "tree"))


def _without(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: each for key, each in data.items() if key not in names}


def _read(part: Any, options: Mapping[str, Any]) -> Chunk:
    modes = options.get("stream_mode") or VALUES
    if options.get("version") == "v2":
        # The last part, which comes again whole, tells of an interrupt once.
        quiet = {"interrupts": ()} if "interrupts" in part else {}
        nested, data = bool(part["ns"]), part["data"]
        return Chunk(part["type"], nested, data, lambda d: {**part, **quiet, "data": d})
    listed, nested = not isinstance(modes, str), bool(options.get("subgraphs"))
    if listed and nested:
        return Chunk(part[1], bool(part[0]), part[2], lambda d: (part[0], part[1], d))
    if listed:
        return Chunk(part[0], False, part[1], lambda d: (part[0], d))
    if nested:
        return Chunk(modes, bool(part[0]), part[1], lambda d: (part[0], d))
    return Chunk(modes, False, part, lambda d: d)
