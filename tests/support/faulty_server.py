"""A fake server in a process of its own, which fails at random and knows whose request is whose.

Each problem that is asked about bears a mark. The server answers with the mark of the prompt, so
that what one run knows of another shows.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Self

from support.fake_server import OK, FakeServer, Fault, Seen

MARK = re.compile(r"\bq[a-j]{6}q\b")
GARBAGE = (
    *(b"", b"{", b"null", b"<html>Bad gateway</html>", b"\xff\xfe\x00", b"[" * 10_000),
    *(b'{"choices": []}', b'{"choices": [{"message": {"content": 7}}]}'),
    b'{"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": {"a": NaN}}',
)
GARBAGE_TEXTS = ("7", "x")
"""What a client may read in garbage: two of the bodies are completions after all."""


def marked(number: int) -> str:
    """Returns the mark of a run: letters alone, as some tasks take words only."""
    return "q" + "".join("abcdefghij"[int(digit)] for digit in f"{number:06}") + "q"


class Faults:
    """10 % status 500, 5 % time-outs, 5 % garbage bodies, 2 % dropped connections.

    Args:
        seed: What they depend on, with the number of the request.
        timeout: Seconds after which those who ask give up.
    """

    def __init__(self, seed: int, timeout: float) -> None:
        self.seed = seed
        self.timeout = timeout
        self.made: Counter[str] = Counter()

    def __call__(self, seen: Seen) -> Fault:
        draws = random.Random(f"{self.seed} {seen.number}")
        kinds = {
            "status": Fault(500),
            "timeout": Fault(delay=2 * self.timeout, drop=True),
            "garbage": Fault(body=draws.choice(GARBAGE)),
            "drop": Fault(drop=True),
            "none": OK,
        }
        (kind,) = draws.choices(list(kinds), [10, 5, 5, 2, 78])
        self.made[kind] += 1
        return kinds[kind]


class Replies:
    """Answers with the mark of the prompt; a prompt with two marks, or none, is cross-talk."""

    def __init__(self) -> None:
        self.crossed: list[str] = []

    def __call__(self, seen: Seen) -> str:
        marks = set(MARK.findall(seen.prompt))
        if len(marks) != 1:
            self.crossed.append(seen.prompt[-500:])
            return "cross-talk"
        return self._text(seen.prompt, marks.pop())

    def _text(self, prompt: str, mark: str) -> str:
        draws = random.Random(f"{prompt} {time.monotonic()}")
        if spelling := re.search(rf"{mark}\|(\S*)$", prompt):
            return f"{mark[len(spelling[1]) :][:1]}\n-"
        if re.search(r"^(value|label|verify)\|", prompt, re.M):
            return draws.choice([f"Score: {draws.randint(1, 9)}", "sure", "maybe", f"NO {mark}"])
        end = draws.random() < 0.15
        step = f"Finish[{mark}]" if end else f"Go[{mark} {draws.randrange(99)}]"
        return f"so {mark}>{step}" if "|" in prompt else f"{mark} Answer: {mark}"


def main(seed: str, timeout: str) -> None:
    """Serves until a line is sent; says then what it has seen."""
    faults, replies = Faults(int(seed), float(timeout)), Replies()
    with FakeServer(replies, faults) as server:
        server.latency = 0.05
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.readline()
        crossed = replies.crossed[:3]
        told = {"requests": len(server.seen), "crossed": crossed, "faults": faults.made}
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()
        sys.stdin.readline()


class FaultyServer:
    """The server's process.

    Args:
        seed: Of its faults.
        timeout: Seconds after which those who ask give up.
    """

    def __init__(self, seed: int, timeout: float) -> None:
        command = [sys.executable, __file__, str(seed), str(timeout)]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)
        assert self._process.stdin and self._process.stdout
        self._told, self._asked = self._process.stdout, self._process.stdin
        self.url = self._told.readline().strip()

    def seen(self) -> dict[str, Any]:
        """What has reached it so far."""
        print(file=self._asked, flush=True)
        return dict(json.loads(self._told.readline()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._process.communicate(timeout=60)


if __name__ == "__main__":
    main(*sys.argv[1:])
