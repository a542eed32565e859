"""A small OpenAI-compatible server for real runs, with a player of the Game of 24 behind it."""

import json
import re
import threading
from collections.abc import Callable
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import permutations
from typing import Any

from thoughtgraph.tasks.game24 import solvable


class FakeOpenAI:
    """Serves chat completions on the loopback interface; use it as a context manager.

    Args:
        reply: From the prompt to the completion; all samples of a request are equal.
        hold_after: Requests answered before all further ones wait; they are dropped on `release`.
        refuse_after: Requests answered before all further ones are refused with HTTP 401.
    """

    def __init__(
        self,
        reply: Callable[[str], str],
        *,
        hold_after: int | None = None,
        refuse_after: int | None = None,
    ) -> None:
        self.reply = reply
        self.hold_after = hold_after
        self.refuse_after = refuse_after
        self.answered: list[str] = []
        self.waiting = 0
        self.held = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    def __enter__(self) -> "FakeOpenAI":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()

    @property
    def specifier(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1#fake"

    def release(self) -> None:
        """Lets every later request through and drops those that wait."""
        with self.held:
            self.hold_after = None
            self.held.notify_all()

    def wait_for_held(self, seconds: float = 60.0) -> None:
        """Waits until all that may be answered is answered and something waits."""
        with self.held:
            reached = self.held.wait_for(lambda: self.waiting, seconds)
        assert reached, f"nothing waits after {len(self.answered)} answers"

    def _admit(self, prompt: str) -> str:
        """Returns `answer`, `refuse` or `drop`."""
        with self.held:
            if self.refuse_after is not None and len(self.answered) >= self.refuse_after:
                return "refuse"
            if self.hold_after is not None and len(self.answered) >= self.hold_after:
                self.waiting += 1
                self.held.notify_all()
                self.held.wait_for(lambda: self.hold_after is None)
                return "drop"
            self.answered.append(prompt)
            return "answer"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = "\n".join(message["content"] for message in body["messages"])
                verdict = fake._admit(prompt)
                if verdict == "drop":
                    self.close_connection = True
                elif verdict == "refuse":
                    self._send(401, {"error": {"message": "bad key"}})
                else:
                    self._send(200, completion(fake.reply(prompt), body.get("n") or 1))

            def _send(self, status: int, content: Any) -> None:
                data = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def completion(text: str, n: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "usage": {"prompt_tokens": 10, "completion_tokens": 5 * n, "total_tokens": 10 + 5 * n},
        "choices": [{"index": i, "finish_reason": "stop", "message": message} for i in range(n)],
    }


def play(prompt: str) -> str:
    """Plays the Game of 24: proposes whole-numbered equations, judges exactly, answers."""
    numbers = re.findall(r"^Input:\s*([\d ]+)$", prompt, re.M)
    if "Evaluate if given numbers" in prompt:
        last = prompt.strip().splitlines()[-1].split()
        return "sure" if solvable(tuple(map(Fraction, last))) else "impossible"
    if "give a judgement" in prompt:
        return "sure"
    if "to obtain 24" in prompt:
        return f"Answer: {expression([(Fraction(n), n) for n in numbers[-1].split()])} = 24"
    return "\n".join(equations(numbers[-1].split()))


def equations(numbers: list[str]) -> list[str]:
    """Returns six equations, those that can still reach 24 first."""
    found: dict[str, bool] = {}
    for i, j in permutations(range(len(numbers)), 2):
        a, b = int(numbers[i]), int(numbers[j])
        rest = [n for k, n in enumerate(numbers) if k not in (i, j)]
        for sign, result in (("+", a + b), ("-", a - b), ("*", a * b)):
            if result >= 0 and (sign == "-" or i < j):
                left = [*rest, str(result)]
                good = solvable(tuple(map(Fraction, left)))
                found[f"{a} {sign} {b} = {result} (left: {' '.join(left)})"] = good
    return sorted(found, key=lambda line: not found[line])[:6]


def expression(terms: list[tuple[Fraction, str]]) -> str | None:
    if len(terms) == 1:
        return terms[0][1] if terms[0][0] == 24 else None
    for i, j in permutations(range(len(terms)), 2):
        (a, left), (b, right) = terms[i], terms[j]
        rest = [term for k, term in enumerate(terms) if k not in (i, j)]
        for sign, result in (("+", a + b), ("-", a - b), ("*", a * b)):
            if found := expression([*rest, (result, f"({left} {sign} {right})")]):
                return found
    return None
