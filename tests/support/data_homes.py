"""A home of data sets on the loopback interface, and archives as homes have them."""

import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from thoughtgraph.bench.data_sets import DataSet, data_set

CLEVR = tuple(data_set("clevr").members)
CONTENT = b'{"question": "2+2?", "answer": "#### 4"}\n' * 60_000


@dataclass
class Home:
    """Serves one file at any path.

    Args:
        content: The file.
        status: The status of every answer.
        location: Where every answer points to; empty: nowhere. `{home}` is this server.
        announced: The length that is told, which may be a lie; None: none is told.
    """

    content: bytes
    status: int = 200
    location: str = ""
    announced: int | None = -1
    asked: list[str] = field(default_factory=list)
    """The paths that were asked for."""

    def __enter__(self) -> Self:
        home = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                home.asked.append(self.path)
                self.send_response(home.status)
                for name, value in home.headers().items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(home.content)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/file"

    def headers(self) -> Mapping[str, str]:
        length = len(self.content) if self.announced == -1 else self.announced
        headers = {} if length is None else {"Content-Length": str(length)}
        location = self.location.replace("{home}", self.address)
        return {**headers, "Location": location} if location else headers


def packed_as(
    kind: Literal["tar", "zip"],
    members: Mapping[str, bytes],
    links: Sequence[tuple[str, str]] = (),
) -> bytes:
    """Returns an archive of files by name, and in a tar of links by where they lead."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as packed:
            for name, content in members.items():
                # A fixed date: the same archive each time.
                packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, target in links:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def published(address: str, content: bytes = CONTENT, **changed: Any) -> DataSet:
    """A data set that lies at an address, with the size and the checksum of what it should be."""
    facts = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return data_set("gsm8k").model_copy(update={"address": address, **facts, **changed})
