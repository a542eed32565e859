"""A small HTTP server before a wiki, or instead of one, whose faults can be switched."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

Reply = Callable[[Mapping[str, str]], Any]


@dataclass
class Fault:
    """What the proxy does instead of passing the wiki's answer on; `body` stands in its place.

    It may close the connection without a word (`drop`), or in the middle of the body (`truncate`),
    wait for some seconds before it answers (`stall`), or after each byte (`drip`).
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    drop: bool = False
    truncate: bool = False
    stall: float = 0.0
    drip: float = 0.0


OK = Fault()


class WikiProxy:
    """Serves in threads.

    Args:
        wiki: The address of a wiki's api.php, or a function from a query to its answer.
    """

    def __init__(self, wiki: str | Reply) -> None:
        self._wiki = wiki
        self.fault: Callable[[int], Fault] = lambda number: OK
        """The fault of a request, by its number since `seen` was cleared, counted from 0."""
        self.seen: list[dict[str, str]] = []
        self.agents: list[str] = []
        self.ended = threading.Event()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                proxy._serve(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # the client hung up

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/api.php"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def fail(self, fault: Fault, times: int = 1_000) -> None:
        """Forgets what was seen; the next requests meet a fault."""
        self.seen.clear()
        self.fault = lambda number: fault if number < times else OK

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query, True).items()}
        fault = self.fault(len(self.seen))
        self.seen.append(query)
        self.agents.append(request.headers.get("User-Agent", ""))
        self.ended.wait(fault.stall)
        if fault.drop:
            request.close_connection = True
            return
        body = self._answer(query, parts.query) if fault.body is None else fault.body
        request.send_response(fault.status)
        for name, value in {"Content-Length": str(len(body)), **fault.headers}.items():
            request.send_header(name, value)
        request.end_headers()
        if fault.truncate:
            body = body[: len(body) // 2]
            request.close_connection = True
        if not fault.drip:
            request.wfile.write(body)
        for byte in body if fault.drip else b"":
            request.wfile.write(bytes([byte]))
            if self.ended.wait(fault.drip):
                return

    def _answer(self, query: Mapping[str, str], raw: str) -> bytes:
        if not isinstance(self._wiki, str):
            return json.dumps(self._wiki(query)).encode()
        with urllib.request.urlopen(f"{self._wiki}?{raw}", timeout=30) as answer:
            body: bytes = answer.read()
            return body


FAULTS: Mapping[str, tuple[Fault, str]] = {
    "forbidden": (Fault(403, body=b"<html>blocked</html>"), "HTTP 403"),
    "busy": (Fault(429, {"Retry-After": "3600"}, b"slow down"), "asks to wait 3600 s"),
    "silent": (Fault(stall=30.0), "gives no answer"),
    "dripping": (Fault(drip=0.5), "too slow"),
    "truncated": (Fault(truncate=True), "cannot be reached"),
    "not JSON": (Fault(body=b"<html>Welcome to the hotel network</html>"), "no answer of a wiki"),
    "not a wiki": (Fault(body=b'{"hello": "world"}'), "no answer of a wiki"),
    "another form": (Fault(body=b'{"query": []}'), "another form"),
    "lagging": (Fault(body=b'{"error": {"code": "maxlag", "info": "7 s"}}'), "error maxlag"),
    "elsewhere": (Fault(404, body=b"not found"), "HTTP 404"),
    "bad compression": (Fault(200, {"Content-Encoding": "gzip"}, b"not gzip"), "cannot be reached"),
}
"""Faults that last, and what the model is told about each."""
SLOW = frozenset({"silent", "dripping"})
"""The faults that only a deadline ends; the others show long before a generous one."""
