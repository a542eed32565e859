"""Evaluates and compares formulas by math-verify, in a process of its own.

math-verify's own timeouts need the main thread, so they are off. A limit on processor time replaces
them: a score must not depend on how busy the machine is. Past the limit, two formulas count as
different and a formula has no value. No text of a model can hang or end the caller.
"""

import json
import subprocess
import sys
from functools import lru_cache
from importlib.util import find_spec
from math import isfinite

from thoughtgraph.errors import InputError

SECONDS = 20
"""Limit on the processor time of a process (ours)."""
PATIENCE = 300.0
"""Seconds after which even a process without processor time is killed (ours)."""
LONGEST_FORMULA = 300
"""Most characters of a formula that a process reads (ours)."""

BROKEN = 3
"""Exit status of the process if math-verify cannot be imported."""

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
"""The beginning of each script: reads the formulas from standard input."""
COMPARE = READ + "sys.exit(0 if verify(sides[1], sides[0], timeout_seconds=None) else 1)"
EVALUATE = READ + "print(float(sides[0][0]))"


@lru_cache(maxsize=10_000)
def same_formula(answer: str, gold: str) -> bool:
    """Returns whether two formulas are mathematically the same.

    Raises:
        InputError: math-verify is missing or damaged.
    """
    process = _run(COMPARE, answer, gold)
    return process is not None and process.returncode == 0


@lru_cache(maxsize=10_000)
def value(formula: str) -> float | None:
    r"""Returns the value of a formula such as `\frac{\sqrt{2}}{3}`; None if it is no finite number.

    Raises:
        InputError: math-verify is missing or damaged.
    """
    process = _run(EVALUATE, formula)
    if process is None or process.returncode != 0:
        return None
    return result if isfinite(result := float(process.stdout)) else None


def _run(script: str, *formulas: str) -> "subprocess.CompletedProcess[bytes] | None":
    """Returns the finished process; None if a formula was too long or the process never ended."""
    if find_spec("math_verify") is None:
        raise InputError("formulas are scored by math-verify; install thoughtgraph[math]")
    if max(map(len, formulas)) > LONGEST_FORMULA:
        return None
    try:
        process = subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(formulas).encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if process.returncode == BROKEN:
        raise InputError("math-verify cannot be imported; install thoughtgraph[math] anew")
    return process
