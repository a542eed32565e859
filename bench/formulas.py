"""What formulas come to and whether two are the same, by math-verify in a process of its own.

Its own timeouts need the main thread, so they are off; instead the process is given a limit of
processor time, after which two formulas count as different: a score must not hang on how busy the
machine is, and one has no value. Nothing a model wrote can hang or end the caller.
"""

import json
import subprocess
import sys
from functools import lru_cache
from importlib.util import find_spec
from math import isfinite

from thoughtgraph.errors import InputError

SECONDS = 20
"""Processor time that a comparison may take (ours)."""
PATIENCE = 300.0
"""Seconds after which even a process that gets no processor time is given up (ours)."""
LONGEST_FORMULA = 300
"""Characters of a formula that is compared (ours)."""

BROKEN = 3
"""How the process ends where math-verify cannot be imported."""

READ = f"""
import json, sys
try:
    from resource import RLIMIT_CPU, setrlimit
    setrlimit(RLIMIT_CPU, ({SECONDS}, {SECONDS}))
except ImportError:
    pass  # Windows
try:
    from math_verify import parse, verify
except ImportError:
    sys.exit({BROKEN})
sides = [parse(f"${{text}}$", parsing_timeout=None) for text in json.load(sys.stdin)]
"""
"""The beginning of the process: reads formulas."""
COMPARE = READ + "sys.exit(0 if verify(sides[1], sides[0], timeout_seconds=None) else 1)"
EVALUATE = READ + "print(float(sides[0][0]))"


@lru_cache(maxsize=10_000)
def same_formula(answer: str, gold: str) -> bool:
    """Returns whether two formulas are mathematically the same.

    Raises:
        InputError: math-verify is not installed, or not whole.
    """
    done = _run(COMPARE, answer, gold)
    return done is not None and done.returncode == 0


@lru_cache(maxsize=10_000)
def value(formula: str) -> float | None:
    r"""Returns what a formula such as `\frac{\sqrt{2}}{3}` comes to, or None if that is no number.

    Raises:
        InputError: math-verify is not installed, or not whole.
    """
    done = _run(EVALUATE, formula)
    if done is None or done.returncode != 0:
        return None
    return result if isfinite(result := float(done.stdout)) else None


def _run(script: str, *formulas: str) -> "subprocess.CompletedProcess[bytes] | None":
    """Returns the process once it has ended; None if it was not worth a try, or came to no end."""
    if find_spec("math_verify") is None:
        raise InputError("formulas are scored by math-verify; install thoughtgraph[math]")
    if max(map(len, formulas)) > LONGEST_FORMULA:
        return None
    try:
        done = subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(formulas).encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == BROKEN:
        raise InputError("math-verify cannot be imported; install thoughtgraph[math] anew")
    return done
