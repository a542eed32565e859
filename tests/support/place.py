"""One server for all tests: its users, the models behind it, and who must hear nothing."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from support.drawing import PAGES, scribble, steps, walk
from support.fake_server import FakeServer, Fault, Seen
from support.players import add_up, play
from support.serving import ROOT, Answer, Server, ask, copied, serving

ALICE, BOB, CAROL = "alice-key-0123456789", "bob-key-0123456789", "carol-key-0123456789"
DOTTED, UNDERSCORED = "al.ice-key-0123456789", "al_ice-key-0123456789"
USERS = {"alice": ALICE, "bob": BOB, "carol": CAROL, "mallory": "short"}
USERS |= {"al.ice": DOTTED, "al_ice": UNDERSCORED}
API_KEY, OPENAI_KEY = "tg-key-0123456789abcdef", "sk-openai-0123456789abcdef"
CANARY = "canary-7f3a in a file of the operator's"
SAID = "internal: token-of-the-endpoint-55aa"
"""What an endpoint says when it refuses."""
PUZZLE = "2 4 7 11"
"""2 + 4 + 7 + 11 = 24."""
PROSE = "It rained. The kettle hummed. Nobody came. She slept."


def small(seen: Seen) -> str:
    """Adds up; of anything else it says what a tool or a reader may take."""
    try:
        return add_up(seen)
    except ValueError:
        return "Answer: 2 + 4 + 7 + 11 = 24\nThought 1: x\nAction 1: Finish[24]"


def prose(seen: Seen) -> str:
    """Writes, and is never content."""
    return f"Passage:\n{PROSE}\nNot good enough."


REPLIES = {
    **{"small": small, "play": play, "walk": walk, "steps": steps},
    **{"plans": scribble, "prose": prose, "held": prose},
}
"""Who answers, by the name of a model; the first is the one that a run has by default."""
MODELS = (*REPLIES, "refusing", "broken", "keyless")


class Listener:
    """Takes connections and keeps what they say: no client may make the server open one."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(1)
                self.heard.append(connection.recv(65536))


class Place(NamedTuple):
    kind: str
    server: Server
    models: Mapping[str, FakeServer]
    evil: Listener
    secret: Path
    """A file that no client may read."""

    def ask(
        self, method: str, path: str, body: Any = None, *, key: str = CAROL, **headers: str
    ) -> Answer:
        return ask(self.server, method, path, body, key=key, **headers)


Start = Callable[[str], Place]
"""Starts the server of a kind, or gives the one that runs."""


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[Place]:
    """Starts a server with models, users and a corpus, in an empty folder.

    Its kind is `aegra`, `deployed` (`langgraph dev` as `deploy/` has it), `root` (as the checkout
    itself has it, which asks for no key), or `dev`: as deployed, with all that `root` serves.
    """
    config = copied(folder, "langgraph.json" if kind == "root" else "deploy/langgraph.json")
    if kind == "dev":
        own = json.loads((ROOT / "langgraph.json").read_text())
        changed = {**json.loads(config.read_text()), "http": own["http"], "webhooks": None}
        config.write_text(json.dumps({name: part for name, part in changed.items() if part}))
    corpus, secret = folder / "pages.json", folder / "secret.txt"
    corpus.write_text(json.dumps(PAGES))
    secret.write_text(CANARY)
    with ExitStack() as stack:
        models = {name: stack.enter_context(FakeServer(reply)) for name, reply in REPLIES.items()}
        models["refusing"] = stack.enter_context(FakeServer())
        body = json.dumps({"error": {"message": SAID}})
        models["refusing"].fault = lambda seen: Fault(403, body=body)
        known = {name: fake.specifier for name, fake in models.items()}
        known |= {"broken": known["small"].replace("/v1", "/v2"), "keyless": "anthropic:claude"}
        variables = {
            # The server's own limit must end no search.
            "LANGGRAPH_DEFAULT_RECURSION_LIMIT": "10",
            "THOUGHTGRAPH_CLIENT_KEYS": _pairs(USERS),
            "THOUGHTGRAPH_SERVED_MODELS": _pairs(known),
            "THOUGHTGRAPH_SERVED_CORPORA": f"few={corpus}",
            "THOUGHTGRAPH_SERVED_LIMITS": "depth=none,requests=300",
            "THOUGHTGRAPH_API_KEY": f"{models['small'].url}={API_KEY}",
            "THOUGHTGRAPH_CACHE": str(folder / "cache"),
            "OPENAI_API_KEY": OPENAI_KEY,
        }
        server = stack.enter_context(serving(kind, folder, config, **variables))
        yield Place(kind, server, models, Listener(), secret)


def _pairs(values: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())
