"""What a reader can know of a running search: its state so far, and the requests on their way.

Nothing here knows a method. LangGraph gives the state after each superstep, and the graph publishes
what its nodes ask and what they do to thoughts (`thoughtgraph.nodes.thought_events`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from langgraph.types import StreamMode

from thoughtgraph.cli import text
from thoughtgraph.cli.screen.events import Event, ThoughtEvent, event_lines, quote
from thoughtgraph.cli.screen.progress import Slot
from thoughtgraph.nodes.step import RETRY
from thoughtgraph.tree import Thought, Tree
from thoughtgraph.usage import Usage

STREAM: tuple[StreamMode, ...] = ("custom", "values")
"""The stream modes that a `LiveState` takes; of `values`, with all channels of the state."""
SILENT = frozenset({"evaluate", "extract_index", "verify"})
"""Nodes whose requests are not told; what comes of them is."""


class Request(NamedTuple):
    """A request to a model or a call of a tool."""

    node: str
    thought: str
    """Id of the thought it is about."""
    role: str
    expansion: int | None


def channels(schema: type) -> list[str]:
    """Returns the channels of a method's state, as `output_keys` of its stream."""
    return list(schema.__annotations__)


class LiveState:
    """The picture of one search.

    Args:
        state: The values of an interrupted search that goes on; empty for a new one.
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.state: dict[str, Any] = dict(state or {})
        self.requests: list[Request] = []
        """Those on their way."""
        self.sent = 0
        """Requests of the current superstep, those that are answered included."""
        self.trouble = ""
        """Why requests are being repeated, in one line; empty once something was answered."""
        self.slots: Sequence[Slot] = ()
        """What the embedded model is working on, as it told last; empty for any other model."""
        self._untold: list[ThoughtEvent] = []

    @property
    def tree(self) -> Tree:
        """The search tree so far."""
        return cast("Tree", self.state.get("thoughts", {}))

    @property
    def usage(self) -> Usage:
        """What has been spent so far."""
        return cast("Usage", self.state.get("spent", {}))

    @property
    def working(self) -> list[str]:
        """Ids of the thoughts that requests on their way are about."""
        return [request.thought for request in self.requests]

    @property
    def focus(self) -> list[str]:
        """Ids of the thoughts that matter now: those at work, then those that are next."""
        next_ones = self.state.get("frontier") or ()
        return [key for key in (*self.working, *next_ones) if key in self.tree]

    def quote(self, key: str) -> str:
        """Returns a thought's id and label; of the root, the problem."""
        return quote(self.tree, key, self.state.get("problem", ""))

    def apply(self, mode: str, data: Any) -> list[Event]:
        """Takes one part of the stream, of a mode of `STREAM`; returns what happened, in order."""
        if mode == "values":
            return self._step(data)
        event = data.get("event") if isinstance(data, Mapping) else ""  # a tool may send its own
        if event == RETRY:
            told = [] if self.trouble else [Event(RETRY, data["reason"])]  # once, until an answer
            self.trouble = data["reason"]
            return told
        if event == "asked":
            return self._asked(_request(data))
        if event == "answered":
            self.trouble = ""
            self.requests.remove(_request(data))
        elif event and "node" in data:
            self._untold.append(data)
        return []

    def doing(self) -> str:
        """Returns what is going on now, in words."""
        if not self.tree:
            return "reading the problem"
        if not self.requests:
            return ""
        if self.trouble:
            return f"trying again: {self.trouble}"
        node, *about = self.requests[0].node, *dict.fromkeys(self.working)
        what = self.quote(about[0]) if len(about) == 1 else text.count(len(about), "thought")
        done = self.sent - len(self.requests)
        counted = f" · {done} of {self.sent} done" if self.sent > 1 else ""
        return f"{node} {what}{counted}"

    def _step(self, state: Mapping[str, Any]) -> list[Event]:
        """Takes the state after a superstep, with which its events can be told."""
        self.state, self.trouble = dict(state), ""
        events, self._untold = self._untold, []
        self.requests.clear()
        self.sent = 0
        return list(event_lines(events, self.tree, self.state.get("problem", "")))

    def _asked(self, request: Request) -> list[Event]:
        self.sent += 1
        self.requests.append(request)
        if request.node in SILENT:
            return []
        key, again = request.thought, f", try {request.expansion + 1}" if request.expansion else ""
        about = self.quote(key)
        if request.node == "call_tool":
            about = f"{key}: {text.short(text.action(self.tree.get(key, Thought())), 300)}"
        return [Event("asked", f"{request.node} {about}{again}")]


def _request(event: ThoughtEvent) -> Request:
    return Request(event["node"], event["id"], event["role"], event.get("expansion"))
