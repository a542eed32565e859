"""An OpenAI-compatible endpoint on the loopback interface that answers by a rule."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations


@contextmanager
def endpoint(reply: Callable[[str], str]) -> Iterator[str]:
    """Serves chat completions; yields the model specifier by which the graphs reach it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            there = self.path == "/v1/chat/completions"
            text = reply("\n".join(message["content"] for message in asked["messages"]))
            body = json.dumps(_completion(text, asked.get("n", 1)) if there else {}).encode()
            self.send_response(200 if there else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1#fake"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _completion(text: str, n: int) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "fake",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": i, "finish_reason": "stop", "message": message} for i in range(n)],
        "usage": {"prompt_tokens": 10, "completion_tokens": n, "total_tokens": 10 + n},
    }


def add_up(prompt: str) -> str:
    """Plays Game of 24 by addition alone, which solves the puzzles whose numbers add up to 24."""
    if "judgement" in prompt or "Evaluate if given numbers" in prompt:
        return "sure"
    puzzle = prompt.rpartition("Input:")[2].strip().split("\n")[0].split()
    if not prompt.rstrip().endswith("Possible next steps:"):
        return f"Answer: {' + '.join(puzzle)} = 24"
    lines = []
    for i, j in combinations(range(len(puzzle)), 2):
        a, b = int(puzzle[i]), int(puzzle[j])
        rest = [n for k, n in enumerate(puzzle) if k not in (i, j)]
        lines.append(f"{a} + {b} = {a + b} (left: {' '.join([*rest, str(a + b)])})")
    return "\n".join(lines)
