"""Input that was made to do harm, foreign texts, and any text at all."""

import json
import math
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.hostile import BEGINNINGS, PUMPS, readers, survived
from support.letters import HOSTILE
from support.parsers import Parser, parsers
from support.patterns import Expression, attacks, expressions
from support.pools import few
from support.searches import CASES, built

from thoughtgraph import registry
from thoughtgraph.context import resolve_settings
from thoughtgraph.errors import ThoughtgraphError
from thoughtgraph.policy import LONGEST_TEXT, Policy

LONG = 30_000
"""Letters of a text that an expression is tried on."""
SLOW = 2.0
"""Seconds of the processor that no expression takes for one."""
FOREVER = 60.0
"""Seconds for a reader's text of 200,000 letters: the bound of what comes back at all."""
EXPRESSIONS = expressions()
MOST = [6, pytest.param(30, marks=pytest.mark.ci), pytest.param(300, marks=pytest.mark.slow)]


class Endless(Exception):
    """A text took longer than anything linear can take."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends its body, with an error, after so many seconds of the processor."""

    def stop(*given: object) -> None:
        raise Endless

    usual = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, usual)


def endless(one: Expression, most: int, slow: float = SLOW) -> tuple[str, str, str] | None:
    """Returns a text that takes an expression too long, if there is one."""
    for begin, pump, end in attacks(one.pattern, most):
        text = begin + pump * (LONG // len(pump)) + end
        try:
            with within(slow):
                one.pattern.match(text) if one.anchored else one.pattern.sub("", text)
        except Endless:
            return begin, pump, end
    return None


def test_an_expression_that_is_not_linear_is_found() -> None:
    assert len(EXPRESSIONS) > 120
    for pattern in (r"\s*(?:[,;]|,?\s+(?:and|or)\s)\s*", r"(?:a+)+b", r"(?<!\w)[a-z][\w-]*(?=\[)"):
        assert endless(Expression(re.compile(pattern), anchored=False), 60, slow=0.2)


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("one", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_an_expression_is_linear(one: Expression, most: int) -> None:
    assert not endless(one, most)


@pytest.mark.parametrize(
    ("begin", "every"),
    [
        *(pytest.param("", every, marks=mark) for every, mark in ((111, ()), (30, pytest.mark.ci))),
        *(pytest.param(begin, 50, marks=pytest.mark.slow) for begin in BEGINNINGS),
    ],
)
@pytest.mark.parametrize("task", [*registry.TASKS, ""])
def test_a_long_foreign_text_comes_back(task: str, begin: str, every: int) -> None:
    for at, (name, reader) in enumerate(readers(task)):
        for pump in PUMPS[(at + len(begin)) % every :: every]:
            text = begin + pump * (200_000 // len(pump))
            try:
                with within(FOREVER):
                    survived(reader)(text)
            except Endless:
                pytest.fail(f"{name} on {begin!r} and {pump!r}")


EVERYTHING = {
    **HOSTILE,
    "number": "9" * 50_000,
    "steps": "Step 1:" * 50_000,
    "json": json.dumps({"steps": [{"left": [10, 13, 13], "equation": "4 + 9 = 13"}]}, indent=1),
    "a huge power": "Answer: 9 ** 9 ** 9 ** 9 = 24",
    "a division by zero": "4 / 0 = 0 (left: 0 10 13)\nAnswer: 4 / 0",
    "brackets": "(" * 500_000 + ")" * 500_000,
}
LARGEST = 1_000_000
"""Bytes that the tree of a small search may take whatever was said."""


@pytest.mark.parametrize("name", few(EVERYTHING, 4))
@pytest.mark.parametrize("method", CASES)
async def test_no_text_of_a_model_raises(method: str, name: str) -> None:
    case = CASES[method]._replace(reply=lambda call: EVERYTHING[name])
    graph, _ = built(case, method, checkpointer=None)
    context: Any = {**case.context, "limit_requests": 40}
    out = await graph.ainvoke({"problem": case.problem}, context=context)
    assert out["stop_reason"] not in ("error", "refused", "") and out["error"] == "", "P3"
    assert len(json.dumps(out)) < LARGEST
    if name == "empty":
        assert out["usage"]["parse_errors"] and out["answer"] is None


PARSERS = parsers()
HANGING = 60.0
"""Seconds of the processor for one text of at most some ten thousand letters."""
EDGES = (None, True, -1, 0, 10**40, 1e308, math.nan, -math.inf, "", "\x00", "x", "9" * 5_000)
LEAVES = st.sampled_from(EDGES) | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
CONTROLS = ("\x1b[2J", "\x1b]0;x\x07", "\u202e", "\x9b31m", "\ud800", "\ufeff", "\r\n", "\x85")


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """A value, one of whose parts is another one, is missing or is there twice."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 3)) == 0:
        return draw(JSON)
    part = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if draw(st.integers(0, 4)) == 0:
        del copy[part]
    else:
        copy[part] = draw(changed(value[part]))
    return copy


@st.composite
def hostile(draw: st.DrawFn, seeds: Any) -> bytes:
    """A text that is nearly one of the seeds, or nothing like it."""
    seed = draw(st.sampled_from(seeds))
    content = seed if isinstance(seed, bytes) else seed.encode()
    kind = draw(st.sampled_from(["value", "value", "cut", "insert", "repeat", "noise", "deep"]))
    if kind == "value" and isinstance(seed, str) and seed[:1] in "{[":
        line = seed.partition("\n")[0]
        value = json.loads(line if line.endswith(("}", "]")) else seed)
        return json.dumps(draw(changed(value))).encode("utf-8", "replace")
    if kind == "noise":
        return draw(st.binary(max_size=200) | st.text(max_size=200).map(_bytes))
    if kind == "deep":
        begin, end = draw(st.sampled_from(["[]", "()", '{"a":}', "{}"])).partition(":")[::2]
        return (begin[:1] * draw(st.sampled_from([50, 2_000, 100_000])) + end).encode()
    at = draw(st.integers(0, len(content)))
    piece = draw(st.sampled_from([*PUMPS, *CONTROLS]) | st.text(max_size=5))
    times = draw(st.sampled_from([1, 1, 2, 50, 2_000]))
    if kind == "insert":
        return content[:at] + _bytes(piece) * times + content[at:]
    if kind == "repeat":
        return content * draw(st.integers(2, 5)) + _bytes(piece)
    return content[:at] + content[at + draw(st.integers(0, 9)) :]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def withstand(parser: Parser, content: bytes) -> None:
    """Reads a text; what it raises must be one line of ours, and come in time."""
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            parser.read(content, Path(folder))
        except ThoughtgraphError as error:
            assert "\n" not in str(error), str(error)[:3_000]
    assert time.process_time() - began < HANGING, content[:1_000]


def tried(values: st.SearchStrategy[Any], check: Callable[[Any], None], most: int) -> None:
    """Checks many values: few are the same ones each time, many are not."""
    few = most < 20
    settings(
        max_examples=most,
        derandomize=few,
        database=None,
        deadline=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )(given(values)(check))()


@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("parser", PARSERS, ids=[each.name for each in PARSERS])
def test_hostile_text_is_read_or_refused(parser: Parser, many: bool) -> None:
    of_model = parser.name.partition(".")[0] in registry.TASKS
    most = (75 if of_model else 200) if many else 2 if of_model else 6
    tried(hostile(list(parser.seeds)), lambda content: withstand(parser, content), most)


POLICY = Policy(
    models={"small": "local", "big": "http://127.0.0.1:1/v1#m"},
    corpora={"pages": "/srv/pages.jsonl"},
    ceilings={"limit_requests": 9},
)
REACHING = st.sampled_from(
    [
        *("local", "local:/etc/passwd", "http://10.0.0.1/v1#m", "openai:x", "SMALL"),
        *("/etc/passwd", "@/etc/passwd", "file:///etc/passwd", "~/.ssh/id_rsa", "../x"),
        *("wikipedia", "community", "record", "replay", {"__overwrite__": 9}, {"small": [0, 0]}),
    ]
)


def assert_allowed(found: dict[str, Any]) -> None:
    """Checks that nothing is chosen that the operator did not name."""
    assert found["model"] in POLICY.models
    assert found["evaluator_model"] in ("", *POLICY.models)
    assert found.get("corpus", "") in ("", *POLICY.corpora)
    assert 0 <= found["limit_requests"] <= 9
    for name, value in found.items():
        if name.endswith("examples"):
            assert value in ("", "own", "none")
        assert not isinstance(value, str) or len(value) <= LONGEST_TEXT
    assert not found["share_evaluations"] and not found.get("contact") and not found["prices"]
    assert found.get("recording", "keep") == "keep"


@pytest.mark.parametrize("most", [10, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", registry.METHODS)
def test_no_context_of_a_client_leaves_what_the_operator_named(method: str, most: int) -> None:
    base = POLICY.restrict(registry.settings(method))
    known = registry.settings(method).model_fields
    names = st.sampled_from([*known, "unknown"]) | st.text(max_size=9)
    values = REACHING | JSON | st.sampled_from(["small", "pages", "own", 3])

    def stays_inside(context: dict[str, Any]) -> None:
        try:
            found = resolve_settings(base, {}, context)
        except ThoughtgraphError as error:
            assert "\n" not in str(error) and len(str(error)) < 3_000
        else:
            assert_allowed(found)

    tried(st.dictionaries(names, values, max_size=4), stays_inside, most)
