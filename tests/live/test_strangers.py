"""A stranger with nothing but the API: whatever he sends, no address that the operator did not name
receives a request, no file is read, and no key leaves but to its own address.

Every setting of every method is tried on a real `langgraph dev`, by every way a setting can take.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import Any

import pytest
from pydantic.fields import FieldInfo
from support.place import ALICE, API_KEY, BOB, CANARY, CAROL, OPENAI_KEY, PUZZLE, SAID, Place, Start
from support.serving import ROOT, Answer

from thoughtgraph import registry

pytestmark = pytest.mark.ci

ALWAYS = ("fgdip", "tot_bfs")
"""Outside the slow tests: the method with most settings that reach out, and a plain one."""
METHODS = [
    pytest.param(name, turn, 1 if name in ALWAYS else 3, marks=[pytest.mark.slow][name in ALWAYS :])
    for turn, name in enumerate(sorted(registry.METHODS))
]
"""Each with how many values each of its settings gets beside those that reach out, and with which
of them it begins: another one for every method."""
NAMES = ("model", "evaluator_model", "corpus", "contact", "database")
INTERNAL = ("thread_id", "checkpoint_map", "checkpoint_id")
INTERNAL += ("__pregel_checkpointer", "__pregel_runtime")
"""Names of LangGraph's own."""
KEYS = (ALICE, BOB, CAROL, API_KEY, OPENAI_KEY)
SECRETS = (*KEYS, CANARY, SAID)
FAILURES = ("root:x:", "Traceback", "has no attribute", "not callable", str(ROOT))
GAME = {"task": "game24", "limit_requests": 3}


@pytest.fixture(params=["dev", pytest.param("root", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, start: Start) -> Place:
    """With keys, and as the checkout's own configuration serves whoever reaches it."""
    return start(request.param)


def reaches(name: str) -> bool:
    """Returns whether a setting names a model, a file or an address, where that is allowed."""
    return name in NAMES or "examples" in name


def values_of(place: Place, name: str, field: FieldInfo | None) -> list[Any]:
    """Returns what a stranger puts into a setting: all of it where it could reach out."""
    port = place.evil.port
    address = f"http://127.0.0.1:{port}"
    hosts = [f"{address}/v1#m", f"{address}/api.php", f"http://me@127.0.0.1:{port}/"]
    hosts.append(f"postgresql://me@127.0.0.1:{port}/x")
    files = [str(place.secret), f"file://{place.secret}", "/proc/self/environ", "~/.ssh/id_rsa"]
    models = ["local", f"local:{place.secret}", "openai:gpt-4o", "anthropic:x", "ollama:x"]
    numbers: list[Any] = [10**18, -1, 1e308, 2**63, 2**63 - 1, 10**308, "9" * 4000]
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    texts = [hosts[0], files[0], "\u202e\u0000\ud7ff", "😀" * 1000, "x" * 99_999]
    objects = [{"__overwrite__": 1}, {"lc": 1, "type": "constructor"}, deep, None, [texts[0]]]
    if reaches(name):
        return [*hosts, *files, *models, deep]
    taken = str(field.annotation) if field else ""
    own = numbers if "int" in taken or "float" in taken else texts
    return [each for pair in zip_longest(own, objects, fillvalue=deep) for each in pair]


@pytest.fixture(autouse=True)
def nothing_leaves(place: Place) -> Iterator[None]:
    model = place.models["small"]
    before = len(model.seen)
    yield
    assert place.evil.heard == []
    for seen in model.seen[before:]:
        text = f"{seen.headers} {seen.body}"
        assert seen.headers["authorization"] == f"Bearer {API_KEY}"
        assert OPENAI_KEY not in text and CANARY not in text and API_KEY not in str(seen.body)
        assert "THOUGHTGRAPH_" not in text and "root:x:" not in text


def assert_nothing_told(place: Place, answer: Answer) -> None:
    for secret in (*SECRETS, *FAILURES, place.models["small"].url):
        assert secret not in answer.text, (secret, answer.text[:500])


def ask(place: Place, method: str, path: str, body: Any, **headers: str) -> Answer:
    answer = place.ask(method, path, body, **headers)
    assert_nothing_told(place, answer)
    return answer


def run(place: Place, method: str, **more: Any) -> Answer:
    body = {"assistant_id": method, "input": {"problem": PUZZLE}, "context": GAME, **more}
    return ask(place, "POST", "/runs/wait", body)


def task_of(method: str) -> str:
    return {"tomt": "clevr", "itot": "question"}.get(method.partition("_")[0], "game24")


@pytest.mark.parametrize(("method", "turn", "most"), METHODS)
def test_no_setting_reaches_out_by_any_way(place: Place, method: str, turn: int, most: int) -> None:
    if place.kind == "root" and method not in ALWAYS:
        pytest.skip("the same graphs; with keys every method is tried")
    fields = registry.settings(method).model_fields
    tries = []
    for name in (*fields, "unknown", "draft", *INTERNAL):
        values = values_of(place, name, fields.get(name))
        begin = 0 if reaches(name) else turn % len(values)
        chosen = [*values[begin:], *values[:begin]][: None if reaches(name) else most]
        tries += [(name, value) for value in chosen]

    def attempt(at: int) -> None:
        name, value = tries[at]
        limits = {"limit_requests": 3, "limit_seconds": 20, "limit_thoughts": 50}
        task = "sql" if name == "database" else task_of(method)
        context = {"task": task, **limits, name: value}
        given: Any = {"config": {"configurable": context}, "context": None}
        answer = run(place, method, **({"context": context} if at % 2 else given))
        assert answer.status in (200, 400, 422), answer

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(attempt, range(len(tries))))


def test_an_assistants_stored_context_obeys_too(place: Place) -> None:
    for name in NAMES[:3]:
        for value in values_of(place, name, None)[:8]:
            for kind in ("context", "config")[:: 1 if name == "model" else 2]:
                given = {"task": "hotpotqa", "limit_requests": 3, name: value}
                stored = given if kind == "context" else {"configurable": given}
                made = {"graph_id": "react", kind: stored}
                answer = ask(place, "POST", "/assistants", made)
                if answer.status == 200:
                    asked = {"input": {"problem": "Who?"}, "context": None}
                    run(place, answer.body["assistant_id"], **asked)


def test_an_input_or_a_message_opens_nothing(place: Place) -> None:
    address, file = f"http://127.0.0.1:{place.evil.port}/x.png", str(place.secret)
    part = {"type": "image_url", "image_url": {"url": address}}
    deep = "[" * 5000
    limits = {"limit_requests": 3}
    for content in (address, f"@{file}", deep, [part], [{"type": "text", "text": address}, part]):
        for method in ("io", "tomt_os"):
            message = {"role": "user", "content": content}
            run(place, method, input={"messages": [message]}, context=limits)
    for problem in (address, file, deep, 7, [deep], {"a": {"b": 1}}, "\u0000", "9" * 100_000):
        for task in ("game24", "clevr"):
            run(place, "io", input={"problem": problem}, context={"task": task, **limits})
    stored = {"problem": PUZZLE, "settings": {"model": address}, "thoughts": {}}
    run(place, "io", input=stored, context=limits)


def test_no_edit_of_a_thread_changes_what_it_runs_with(place: Place) -> None:
    """A client may spoil its own thread; no run of it goes past the policy."""
    there = f"http://127.0.0.1:{place.evil.port}/v1#m"
    refused: list[dict[str, Any]] = [
        {"spent": {"requests": -(10**9)}},
        {"thoughts": {"0": {"id": "1", "parent": "0"}}},
        {"thoughts": {"1": {"value": "x"}}},
    ]
    spoiling: list[dict[str, Any]] = [
        {"settings": {"model": there}},
        {"spent": {"__overwrite__": {"requests": -(10**9)}}},
        {"settings": {"__overwrite__": {"model": there}}},
        {"tree": {"1": {}}},
    ]
    begin = {"assistant_id": "tot_bfs", "input": {"problem": PUZZLE}, "context": GAME}
    for edit in (*refused, *spoiling):
        thread = place.ask("POST", "/threads", {}).body["thread_id"]
        place.ask("POST", f"/threads/{thread}/runs/wait", {**begin, "interrupt_after": ["start"]})
        sent = len(place.models["small"].seen)
        for as_node in (None, "start", "generate"):
            body = {"values": edit, "as_node": as_node}
            answer = ask(place, "POST", f"/threads/{thread}/state", body)
            assert answer.status >= 400 or edit in spoiling
        send = {"node": "generate", "input": {"thought": "0", "expansion": 0, **edit}}
        for command in (
            {"update": edit, "goto": "generate"},
            {"goto": send},
            {"goto": [send] * 50},
        ):
            body = {"assistant_id": "tot_bfs", "command": command}
            ask(place, "POST", f"/threads/{thread}/runs/wait", body)
        assert len(place.models["small"].seen) == sent, edit
        run(place, "tot_bfs", input={"problem": PUZZLE, **edit})
        steps = [{"updates": [{"values": edit, "as_node": "start"}]}]
        made = {"supersteps": steps, "metadata": {"graph_id": "tot_bfs"}, "graph_id": "tot_bfs"}
        ask(place, "POST", "/threads", made)


def test_an_endpoint_is_not_quoted_by_any_stream(place: Place) -> None:
    modes = ["values", "updates", "messages", "messages-tuple", "debug", "tasks", "events"]
    body = {
        "assistant_id": "io",
        "input": {"problem": PUZZLE},
        "context": {"task": "game24", "model": "refusing"},
        "stream_mode": [*modes, "checkpoints", "custom"],
    }
    answer = ask(place, "POST", "/runs/stream", body)
    assert "model 'refusing' failed: HTTP 403" in answer.text
    log = place.server.log.read_text()
    assert SAID in log, "the operator is told"
    assert not [key for key in KEYS if key in log]


def test_no_webhook_mcp_or_a2a_gets_further(place: Place) -> None:
    there = f"http://127.0.0.1:{place.evil.port}/v1#m"
    for hook in (there, "/threads", "http://localhost:1/", "http://[::1]:1/"):
        run(place, "io", webhook=hook)
    given = {"problem": PUZZLE, "context": {"model": there}, "config": {"model": there}}
    for name in ("io", "react"):
        call = {"name": name, "arguments": {**given, "model": there, "settings": {"model": there}}}
        body: Any = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        ask(place, "POST", "/mcp", body, Accept="application/json, text/event-stream")
    assistants = place.ask("POST", "/assistants/search", {"graph_id": "io"}).body
    parts = [{"kind": "text", "text": PUZZLE}, {"kind": "data", "data": given}]
    message = {"role": "user", "parts": parts, "messageId": "1", "metadata": given}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    ask(place, "POST", f"/a2a/{assistants[0]['assistant_id']}", body)
