"""The live state of a running search: the graph's state so far, and the requests in flight.

Nothing here depends on a method. LangGraph streams the state after each superstep, and the graph
publishes its nodes' requests and changes of thoughts (`thoughtgraph.nodes.thought_events`).
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
"""The stream modes that a `LiveState` needs; `values` must hold all channels of the state."""
SILENT = frozenset({"evaluate", "extract_index", "verify"})
"""Nodes whose requests make no event; their results do."""


class Request(NamedTuple):
    """A request to a model or a call of a tool."""

    node: str
    thought: str
    """Id of the thought it is about."""
    role: str
    expansion: int | None


def channels(schema: type) -> list[str]:
    """Returns the channels of a method's state, for the `output_keys` of its stream."""
    return list(schema.__annotations__)


class LiveState:
    """The live state of one search.

    Args:
        state: The values of an interrupted search that is resumed; empty for a new one.
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.state: dict[str, Any] = dict(state or {})
        self.requests: list[Request] = []
        """Requests in flight."""
        self.sent = 0
        """Number of requests in the current superstep, including answered ones."""
        self.trouble = ""
        """Why requests are being retried, in one line; empty after any answer."""
        self.slots: Sequence[Slot] = ()
        """The embedded model's last report of its progress; empty for any other model."""
        self._pending: list[ThoughtEvent] = []

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
        """Ids of the thoughts that requests in flight are about."""
        return [request.thought for request in self.requests]

    @property
    def focus(self) -> list[str]:
        """Ids of the thoughts to show first: those with requests in flight, then the frontier."""
        frontier = self.state.get("frontier") or ()
        return [key for key in (*self.working, *frontier) if key in self.tree]

    def quote(self, key: str) -> str:
        """Returns a thought's id and label; of the root, the problem."""
        return quote(self.tree, key, self.state.get("problem", ""))

    def apply(self, mode: str, data: Any) -> list[Event]:
        """Applies one part of the stream, of a mode of `STREAM`; returns its events in order."""
        if mode == "values":
            return self._step(data)
        event = data.get("event") if isinstance(data, Mapping) else ""  # tools may send any data
        if event == RETRY:
            events = [] if self.trouble else [Event(RETRY, data["reason"])]  # one until an answer
            self.trouble = data["reason"]
            return events
        if event == "asked":
            return self._asked(_request(data))
        if event == "answered":
            self.trouble = ""
            self.requests.remove(_request(data))
        elif event and "node" in data:
            self._pending.append(data)
        return []

    def doing(self) -> str:
        """Returns the current activity in words; empty between requests."""
        if not self.tree:
            return "reading the problem"
        if not self.requests:
            return ""
        if self.trouble:
            return f"trying again: {self.trouble}"
        node, *about = self.requests[0].node, *dict.fromkeys(self.working)
        subject = self.quote(about[0]) if len(about) == 1 else text.count(len(about), "thought")
        done = self.sent - len(self.requests)
        progress = f" · {done} of {self.sent} done" if self.sent > 1 else ""
        return f"{node} {subject}{progress}"

    def _step(self, state: Mapping[str, Any]) -> list[Event]:
        """Takes the state after a superstep; returns its events, whose words need that state."""
        self.state, self.trouble = dict(state), ""
        events, self._pending = self._pending, []
        self.requests.clear()
        self.sent = 0
        return list(event_lines(events, self.tree, self.state.get("problem", "")))

    def _asked(self, request: Request) -> list[Event]:
        self.sent += 1
        self.requests.append(request)
        if request.node in SILENT:
            return []
        key, times = request.thought, f", try {request.expansion + 1}" if request.expansion else ""
        about = self.quote(key)
        if request.node == "call_tool":
            about = f"{key}: {text.short(text.action(self.tree.get(key, Thought())), 300)}"
        return [Event("asked", f"{request.node} {about}{times}")]


def _request(event: ThoughtEvent) -> Request:
    return Request(event["node"], event["id"], event["role"], event.get("expansion"))
