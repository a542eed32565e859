"""A port of a fake server, and what servers send instead of an answer."""

from typing import Any

from langchain_core.messages import HumanMessage
from support.fake_server import FakeServer, Fault, Seen

from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.retry import Retry
from thoughtgraph.usage import Limits, Usage

ASK = [HumanMessage("which way")]
ONCE = Retry(give_up_after=0.0)
QUICK = Retry(give_up_after=60.0, first_wait=0.001, longest_wait=0.01)


def numbered(seen: Seen) -> list[str]:
    return [f"text {k}" for k in range(seen.n)]


def port(server: FakeServer, **settings: Any) -> ChatPort:
    return ChatPort(server.chat(), **{"retry": QUICK, **settings})


def meter(**limits: float) -> Meter:
    return Meter(Limits(**limits), Usage())  # type: ignore[typeddict-item]


PAGE = {"Content-Type": "text/html"}
FAULTS: dict[str, tuple[Fault, str]] = {
    "refuses the key": (Fault(401), "OPENAI_API_KEY"),
    "has no such model": (Fault(404), "/v1"),
    "keeps failing": (Fault(500), "server keeps failing"),
    "limits": (Fault(429), "THOUGHTGRAPH_RPM"),
    "asks to wait too long": (Fault(429, headers={"Retry-After": "60"}), "THOUGHTGRAPH_RPM"),
    "drops connections": (Fault(drop=True), "server running"),
    "cuts answers off": (Fault(truncate=True), "fake at http"),
    "answers with a page": (Fault(body="<html>busy</html>", headers=PAGE), "chat endpoint"),
    "never answers": (Fault(hang=True), "too slow"),
}
"""How an endpoint fails, and a word of the remedy."""


def completion(content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"choices": [{"message": message}], **more}
