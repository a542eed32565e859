"""A stranger with nothing but the API: whatever he sends, no address that the operator did not name
receives a request, no file is read, and no key leaves but to its own address.

Every setting of every method is tried on a real `langgraph dev`, by every way a setting can take.
"""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic.fields import FieldInfo
from support.fake_server import FakeServer, Fault, Seen
from support.serving import Answer, Server, ask, copied, missing, serving

from thoughtgraph import registry

if reason := missing("dev"):
    pytest.skip(reason, allow_module_level=True)

pytestmark = pytest.mark.ci

KEY, OPENAI_KEY = "tg-key-0123456789abcdef", "sk-openai-0123456789abcdef"
CANARY = "canary-7f3a in a file of the operator's"
SAID = "internal: token-of-the-endpoint-55aa"
ALWAYS = ("fgdip", "tot_bfs")
"""The methods of the ordinary suite: the one with most settings that reach out, and a plain one."""
METHODS = [
    pytest.param(name, turn, 1 if name in ALWAYS else 3, marks=[pytest.mark.slow][name in ALWAYS :])
    for turn, name in enumerate(sorted(registry.METHODS))
]
"""Each with how many values each of its settings gets beside those that reach out, and with which
of them it begins: another one for every method."""
PROBLEM = "2 4 7 11"


class Listener:
    """Takes connections and counts them: no client may make the server open one."""

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

    def close(self) -> None:
        self._socket.close()


class Scene(NamedTuple):
    server: Server
    model: FakeServer
    evil: Listener
    file: Path

    def values(self, name: str, field: FieldInfo | None) -> list[Any]:
        """What a stranger puts into a setting: all of it where it could reach out."""
        address = f"http://127.0.0.1:{self.evil.port}"
        hosts = [f"{address}/v1#m", f"{address}/api.php", f"http://me@127.0.0.1:{self.evil.port}/"]
        files = [str(self.file), f"file://{self.file}", "/proc/self/environ", "~/.ssh/id_rsa"]
        models = ["local", f"local:{self.file}", "openai:gpt-4o", "anthropic:x", "ollama:x"]
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


NAMES = ("model", "evaluator_model", "corpus", "contact")


def reaches(name: str) -> bool:
    """Returns whether a setting names a model, a file or an address, where that is allowed."""
    return name in NAMES or "examples" in name


def reply(seen: Seen) -> str:
    return "Answer: 2 + 4 + 7 + 11 = 24\nThought 1: x\nAction 1: Finish[24]"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("strangers")
    config, evil = copied(folder, "langgraph.json"), Listener()
    file = folder / "secret.txt"
    file.write_text(CANARY)
    pages = folder / "pages.jsonl"
    pages.write_text('{"title": "Milan", "text": "A city."}\n')
    with FakeServer(reply) as model, FakeServer() as broken:
        broken.fault = lambda seen: Fault(403, body=json.dumps({"error": {"message": SAID}}))
        variables = {
            "THOUGHTGRAPH_SERVED_MODELS": f"small={model.specifier},broken={broken.specifier}",
            "THOUGHTGRAPH_SERVED_CORPORA": f"pages={pages}",
            "THOUGHTGRAPH_SERVED_LIMITS": "requests=3,seconds=20,thoughts=50",
            "THOUGHTGRAPH_API_KEY": f"{model.url}={KEY}",
            "THOUGHTGRAPH_CACHE": str(folder / "cache"),
            "OPENAI_API_KEY": OPENAI_KEY,
        }
        with serving("dev", folder, config, **variables) as server:
            yield Scene(server, model, evil, file)
    evil.close()


@pytest.fixture(autouse=True)
def nothing_leaves(scene: Scene) -> Iterator[None]:
    yield
    assert scene.evil.heard == []
    for seen in scene.model.seen:
        sent = f"{seen.headers} {seen.body}"
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        assert OPENAI_KEY not in sent and CANARY not in sent and KEY not in str(seen.body)
        assert "THOUGHTGRAPH_" not in sent and "root:x:" not in sent


def assert_nothing_told(scene: Scene, answer: Answer) -> None:
    for secret in (KEY, OPENAI_KEY, CANARY, SAID, scene.model.url, "root:x:", "Traceback"):
        assert secret not in answer.text, (secret, answer.text[:500])


def run(scene: Scene, method: str, **more: Any) -> Answer:
    body = {"assistant_id": method, "input": {"problem": PROBLEM}, **more}
    answer = ask(scene.server, "POST", "/runs/wait", body)
    assert_nothing_told(scene, answer)
    return answer


def task_of(method: str) -> str:
    return {"tomt": "clevr", "itot": "question"}.get(method.partition("_")[0], "game24")


@pytest.mark.parametrize(("method", "turn", "most"), METHODS)
def test_no_setting_reaches_out_by_any_way(scene: Scene, method: str, turn: int, most: int) -> None:
    task, fields = task_of(method), registry.settings(method).model_fields
    tries = []
    for name in (*fields, "unknown"):
        values = scene.values(name, fields.get(name))
        begin = 0 if reaches(name) else turn % len(values)
        chosen = [*values[begin:], *values[:begin]][: None if reaches(name) else most]
        tries += [(name, value) for value in chosen]
    assert {name for name, _ in tries} >= set(fields)

    def attempt(at: int) -> None:
        name, value = tries[at]
        given = {"task": task, name: value}
        ways: list[dict[str, Any]] = [{"context": given}, {"config": {"configurable": given}}]
        run(scene, method, **ways[at % 2])

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(attempt, range(len(tries))))


def test_a_refused_choice_names_the_allowed_ones(scene: Scene) -> None:
    answer = run(scene, "io", context={"task": "game24", "model": "http://127.0.0.1:1/v1#m"})
    assert "'small' or 'broken'" in answer.text


def test_an_assistants_stored_context_obeys_too(scene: Scene) -> None:
    for name in NAMES[:3]:
        for value in scene.values(name, None)[:8]:
            for kind in ("context", "config")[:: 1 if name == "model" else 2]:
                given = {"task": "hotpotqa", name: value}
                stored = given if kind == "context" else {"configurable": given}
                made = {"graph_id": "react", kind: stored}
                answer = ask(scene.server, "POST", "/assistants", made)
                if answer.status == 200:
                    run(scene, answer.body["assistant_id"], input={"problem": "Who?"})


def test_an_input_or_a_message_opens_nothing(scene: Scene) -> None:
    address, file = f"http://127.0.0.1:{scene.evil.port}/x.png", str(scene.file)
    part = {"type": "image_url", "image_url": {"url": address}}
    deep = "[" * 5000
    for content in (address, f"@{file}", deep, [part], [{"type": "text", "text": address}, part]):
        for method in ("io", "tomt_os"):
            message = {"role": "user", "content": content}
            run(scene, method, input={"messages": [message]})
    for problem in (address, file, deep, 7, [deep], {"a": {"b": 1}}, "\u0000", "9" * 100_000):
        for task in ("game24", "clevr"):
            run(scene, "io", input={"problem": problem}, context={"task": task})
    run(scene, "io", input={"problem": PROBLEM, "settings": {"model": address}, "tree": {}})


def test_no_edit_of_a_thread_changes_what_it_runs_with(scene: Scene) -> None:
    server, there = scene.server, f"http://127.0.0.1:{scene.evil.port}/v1#m"
    edits: list[dict[str, Any]] = [
        {"settings": {"model": there}},
        {"usage": {"__overwrite__": {"requests": -(10**9)}}},
        {"usage": {"requests": -(10**9)}, "settings": {"__overwrite__": {"model": there}}},
        {"tree": {"0": {"id": "0", "parent": "0"}}, "frontier": ["0"]},
    ]
    thread = ask(server, "POST", "/threads", {}).body["thread_id"]
    context = {"task": "game24"}
    begin = {"assistant_id": "tot_bfs", "input": {"problem": PROBLEM}, "context": context}
    ask(server, "POST", f"/threads/{thread}/runs/wait", {**begin, "interrupt_after": ["start"]})
    before = ask(server, "GET", f"/threads/{thread}/state").body["values"]
    assert before["settings"]["model"] == "small"
    for edit in edits:
        for as_node in (None, "start", "generate", "__start__"):
            body = {"values": edit, "as_node": as_node}
            answer = ask(server, "POST", f"/threads/{thread}/state", body)
            assert answer.status >= 400
            assert_nothing_told(scene, answer)
        send = {"node": "generate", "input": {"thought": "0", "expansion": 0, **edit}}
        for command in ({"update": edit}, {"goto": send}, {"goto": [send] * 50}):
            body = {"assistant_id": "tot_bfs", "command": command}
            answer = ask(server, "POST", f"/threads/{thread}/runs/wait", body)
            assert "cannot change the state" in answer.text, answer
            assert_nothing_told(scene, answer)
        steps = [{"updates": [{"values": edit, "as_node": "start"}]}]
        made = {"supersteps": steps, "metadata": {"graph_id": "tot_bfs"}, "graph_id": "tot_bfs"}
        assert ask(server, "POST", "/threads", made).status >= 400
        run(scene, "tot_bfs", context=context, input={"problem": PROBLEM, **edit})
    after = ask(server, "GET", f"/threads/{thread}/state").body["values"]
    assert after["settings"] == before["settings"]


def test_an_endpoint_is_not_quoted_by_any_stream(scene: Scene) -> None:
    modes = ["values", "updates", "messages", "messages-tuple", "debug", "tasks", "events"]
    body = {
        "assistant_id": "io",
        "input": {"problem": PROBLEM},
        "context": {"task": "game24", "model": "broken"},
        "stream_mode": [*modes, "checkpoints", "custom"],
    }
    answer = ask(scene.server, "POST", "/runs/stream", body)
    assert "model 'broken' failed: HTTP 403" in answer.text
    assert_nothing_told(scene, answer)
    log = scene.server.log.read_text()
    assert SAID in log, "the operator is told"
    assert KEY not in log and OPENAI_KEY not in log


def test_no_webhook_is_called(scene: Scene) -> None:
    address = f"http://127.0.0.1:{scene.evil.port}/hook"
    for hook in (address, "/threads", "http://localhost:1/", "http://[::1]:1/"):
        run(scene, "io", context={"task": "game24"}, webhook=hook)


def test_mcp_and_a2a_obey_too(scene: Scene) -> None:
    there = f"http://127.0.0.1:{scene.evil.port}/v1#m"
    given = {"problem": PROBLEM, "context": {"model": there}, "config": {"model": there}}
    for name in ("io", "react"):
        call = {"name": name, "arguments": {**given, "model": there, "settings": {"model": there}}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accept = {"Accept": "application/json, text/event-stream"}
        assert_nothing_told(scene, ask(scene.server, "POST", "/mcp", body, **accept))
    assistants = ask(scene.server, "POST", "/assistants/search", {"graph_id": "io"}).body
    parts = [{"kind": "text", "text": PROBLEM}, {"kind": "data", "data": given}]
    message = {"role": "user", "parts": parts, "messageId": "1", "metadata": given}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    path = f"/a2a/{assistants[0]['assistant_id']}"
    assert_nothing_told(scene, ask(scene.server, "POST", path, body))
