"""Two users with two keys on one server: what is one's does not exist for the other."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.fake_server import FakeServer
from support.players import add_up
from support.serving import ROOT, Answer, Server, ask, copied, missing, serving

from thoughtgraph import registry

pytestmark = pytest.mark.ci

ALICE, BOB = "alice-key-0123456789", "bob-key-0123456789"
DOTTED, UNDERSCORED = "al.ice-key-0123456789", "al_ice-key-0123456789"
INPUT = {"input": {"problem": "2 4 7 11"}, "context": {"task": "game24"}}
ABSENT = [("aegra", "/threads/{thread}/copy")]
"""What a server does not have, for anybody."""
IN_OTHER_WORDS = {
    ("dev", "/threads/{thread}/copy"): (409, '{"detail":"Conflict"}'),
    ("dev", "/threads/{thread}/stream/events"): (200, None),
    ("dev", "/threads/{thread}/runs/{run}/stream"): (200, None),
    ("dev", "/threads/{thread}/commands"): (
        200,
        '{"type":"error","id":1,"error":"unknown_error",'
        '"message":"404: Thread or assistant not found."}',
    ),
}
"""Where a server says in a stream, or by another status, that there is no such thing."""


class Place(NamedTuple):
    """What Alice has on a server."""

    kind: str
    server: Server
    thread: str
    run: str
    assistant: str
    cron: str
    checkpoint: str

    def ask(self, method: str, path: str, body: Any = None, *, key: str) -> Answer:
        return ask(self.server, method, path, body, key=key)


@pytest.fixture(scope="module", params=["dev", "aegra"])
def place(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if reason := missing(request.param):
        pytest.skip(reason)
    folder: Path = tmp_path_factory.mktemp(request.param)
    with FakeServer(add_up) as model:
        variables = {
            "THOUGHTGRAPH_CLIENT_KEYS": f"alice={ALICE},bob={BOB},mallory=short,"
            f"al.ice={DOTTED},al_ice={UNDERSCORED}",
            "THOUGHTGRAPH_SERVED_CORPORA": "none",
            "THOUGHTGRAPH_SERVED_MODELS": f"small={model.specifier}",
        }
        config = copied(folder, "deploy/langgraph.json")
        with serving(request.param, folder, config, **variables) as server:
            yield _furnished(request.param, server)


def _furnished(kind: str, server: Server) -> Place:
    def make(path: str, body: Any) -> Any:
        answer = ask(server, "POST", path, body, key=ALICE)
        assert answer.status in (200, 201), answer
        return answer.body

    thread = make("/threads", {"metadata": {"of": "alice"}})["thread_id"]
    wait = make(f"/threads/{thread}/runs/wait", {"assistant_id": "tot_bfs", **INPUT})
    assert wait["answer"] == "2 + 4 + 7 + 11", wait
    runs = ask(server, "GET", f"/threads/{thread}/runs", key=ALICE).body
    made = {"graph_id": "io", "name": "mine", "context": {"task": "game24"}}
    assistant = make("/assistants", made)["assistant_id"]
    cron = {"assistant_id": "io", "schedule": "0 0 1 1 *", **INPUT}
    make(f"/threads/{thread}/runs/crons", cron)
    (cron_id,) = (each["cron_id"] for each in make("/runs/crons/search", {}))
    item = {"namespace": ["notes"], "key": "k", "value": {"text": "secret of alice"}}
    assert ask(server, "PUT", "/store/items", item, key=ALICE).status in (200, 204)
    state = ask(server, "GET", f"/threads/{thread}/state", key=ALICE).body
    checkpoint = state["checkpoint"]["checkpoint_id"]
    return Place(kind, server, thread, runs[0]["run_id"], assistant, cron_id, checkpoint)


PATHS = [
    ("GET", "/threads/{thread}"),
    ("GET", "/threads/{thread}/state"),
    ("GET", "/threads/{thread}/state/{checkpoint}"),
    ("GET", "/threads/{thread}/runs/{run}"),
    ("GET", "/threads/{thread}/runs/{run}/join"),
    ("GET", "/threads/{thread}/runs/{run}/stream"),
    ("GET", "/threads/{thread}/history"),
    ("POST", "/threads/{thread}/history"),
    ("POST", "/threads/{thread}/state"),
    ("POST", "/threads/{thread}/state/checkpoint"),
    ("POST", "/threads/{thread}/copy"),
    ("POST", "/threads/{thread}/runs"),
    ("POST", "/threads/{thread}/runs/stream"),
    ("POST", "/threads/{thread}/runs/wait"),
    ("POST", "/threads/{thread}/runs/crons"),
    ("POST", "/threads/{thread}/runs/{run}/cancel"),
    ("POST", "/threads/{thread}/commands"),
    ("POST", "/threads/{thread}/stream/events"),
    ("PATCH", "/threads/{thread}"),
    ("DELETE", "/threads/{thread}/runs/{run}"),
    ("DELETE", "/threads/{thread}"),
    ("GET", "/assistants/{assistant}"),
    ("GET", "/assistants/{assistant}/schemas"),
    ("GET", "/assistants/{assistant}/graph"),
    ("POST", "/assistants/{assistant}/versions"),
    ("POST", "/assistants/{assistant}/latest"),
    ("PATCH", "/assistants/{assistant}"),
    ("DELETE", "/assistants/{assistant}"),
    ("PATCH", "/runs/crons/{cron}"),
    ("DELETE", "/runs/crons/{cron}"),
]


def body_of(place: Place, path: str) -> Any:
    if path.endswith(("/runs", "/runs/stream", "/runs/wait")):
        return {"assistant_id": "tot_bfs", **INPUT}
    known: dict[str, Any] = {
        "/state": {"values": {"problem": "1 1 1 1"}},
        "/checkpoint": {"checkpoint": {"checkpoint_id": place.checkpoint}},
        "/crons": {"assistant_id": "io", "schedule": "0 0 1 1 *", **INPUT},
        f"/{place.cron}": {"schedule": "0 0 2 2 *"},
        "/latest": {"version": 1},
        "/commands": {"id": 1, "method": "run.start", "params": {"assistant_id": "io", **INPUT}},
        "/events": {"channels": ["values"]},
    }
    return known.get("/" + path.rpartition("/")[2], {})


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_what_is_alices_does_not_exist_for_bob(place: Place, method: str, path: str) -> None:
    where = path.format(**place._asdict())
    body = None if method == "GET" else body_of(place, where)
    answer = place.ask(method, where, body, key=BOB)
    assert "2 + 4" not in answer.text
    told = IN_OTHER_WORDS.get((place.kind, path))
    assert answer.status == 404 or (answer.status, answer.body and answer.text) == told, answer
    for key in ("", "short", "alice", ALICE.upper()):
        status = place.ask(method, where, body, key=key).status
        assert status == 401 or (place.kind, path) in ABSENT


@pytest.mark.parametrize(
    ("graph", "context", "why"),
    [
        ("tot_bfs", {"breadth": "many"}, "breadth"),
        ("tot_bfs", {"widthh": 3}, "widthh"),
        ("tot_bfs", {"model": "http://127.0.0.1:1/v1#m"}, "small"),
        ("tot_bfs", {"share_evaluations": True}, "operator"),
        ("tomt_os", {"task": "game24"}, "plan"),
    ],
)
def test_an_assistant_whose_runs_would_all_be_refused_is_not_made(
    place: Place, graph: str, context: dict[str, Any], why: str
) -> None:
    made = {"graph_id": graph, "name": "bad", "context": context}
    answer = place.ask("POST", "/assistants", made, key=BOB)
    assert answer.status == 422 and why in answer.text, answer
    assert "Traceback" not in answer.text


def test_nothing_of_alices_is_listed_for_bob(place: Place) -> None:
    place.ask("POST", "/threads", {"metadata": {"of": "bob"}}, key=BOB)
    threads = place.ask("POST", "/threads/search", {"limit": 100}, key=BOB).body
    assert [thread["metadata"].get("of") for thread in threads] == ["bob"]
    searches = [
        {},
        {"metadata": {"of": "alice"}},
        {"metadata": {"owner": "alice"}},
        {"ids": [place.thread]},
    ]
    for search in searches[1:]:
        found = place.ask("POST", "/threads/search", search, key=BOB).body
        assert found == [] or [each["metadata"]["of"] for each in found] == ["bob"]
    assistants = place.ask("POST", "/assistants/search", {"limit": 100}, key=BOB).body
    assert place.assistant not in str(assistants)
    assert {each["metadata"]["created_by"] for each in assistants} == {"system"}
    assert place.cron not in place.ask("POST", "/runs/crons/search", {}, key=BOB).text
    for search in (
        {"namespace_prefix": []},
        {"namespace_prefix": ["alice"]},
        {"namespace_prefix": ["notes"]},
    ):
        assert "secret" not in place.ask("POST", "/store/items/search", search, key=BOB).text
    for name in ("notes", "alice.notes", "users.alice.notes", "alice", "..alice.notes"):
        path = f"/store/items?namespace={name}&key=k"
        assert "secret" not in place.ask("GET", path, key=BOB).text
        place.ask("DELETE", "/store/items", {"namespace": name.split("."), "key": "k"}, key=BOB)
    listed = place.ask("POST", "/store/namespaces", {}, key=BOB).body["namespaces"]
    assert {name for name in map(tuple, listed) if "bob" not in name[:2]} == set()


def test_bob_reaches_nothing_of_alices_from_a_run_of_his_own(place: Place) -> None:
    """A thread may be named in `configurable`, in a checkpoint, or as the source of a copy."""
    thread = place.ask("POST", "/threads", {}, key=BOB).body["thread_id"]
    there = {"thread_id": place.thread, "checkpoint_id": place.checkpoint, "checkpoint_ns": ""}
    bodies: list[dict[str, Any]] = [
        {"config": {"configurable": there}},
        {"checkpoint": there},
        {"checkpoint_id": place.checkpoint},
        {"config": {"configurable": {**there, "langgraph_auth_user_id": "alice"}}},
        {"config": {"configurable": {"langgraph_auth_user": {"identity": "alice"}, **there}}},
    ]
    before = place.ask("POST", f"/threads/{place.thread}/history", {"limit": 100}, key=ALICE).body
    for more in bodies:
        for path in (f"/threads/{thread}/runs/wait", "/runs/wait"):
            for given in ({"input": None}, {"input": {"problem": "1 1 1 1"}}):
                body = {"assistant_id": "tot_bfs", "context": {"task": "game24"}, **given, **more}
                answer = place.ask("POST", path, body, key=BOB)
                assert "2 + 4 + 7 + 11" not in answer.text, (body, answer)
    for path in (f"/threads/{thread}/state", f"/threads/{thread}/history"):
        assert "2 + 4 + 7 + 11" not in place.ask("GET", path, key=BOB).text
    for body in ({"checkpoint": there}, {"values": None, "checkpoint": there}):
        for path in (f"/threads/{thread}/state/checkpoint", f"/threads/{thread}/state"):
            assert "2 + 4 + 7 + 11" not in place.ask("POST", path, body, key=BOB).text
    after = place.ask("POST", f"/threads/{place.thread}/history", {"limit": 100}, key=ALICE).body
    assert [each["checkpoint"] for each in after] == [each["checkpoint"] for each in before]


def test_bob_makes_nothing_in_alices_name(place: Place) -> None:
    named = {"owner": "alice", "created_by": "system", "user_id": "alice"}
    place.ask("POST", "/threads", {"metadata": {**named, "by": "bob"}}, key=BOB)
    mine = place.ask("POST", "/threads", {"metadata": {"of": "bob"}}, key=BOB).body["thread_id"]
    place.ask("PATCH", f"/threads/{mine}", {"metadata": {**named, "by": "bob"}}, key=BOB)
    made = {"graph_id": "io", "name": "by bob", "metadata": named}
    assistant = place.ask("POST", "/assistants", made, key=BOB).body["assistant_id"]
    place.ask("PATCH", f"/assistants/{assistant}", {"metadata": named}, key=BOB)
    assert "bob" not in place.ask("POST", "/threads/search", {"limit": 100}, key=ALICE).text
    assert "by bob" not in place.ask("POST", "/assistants/search", {"limit": 100}, key=ALICE).text
    run = {"assistant_id": assistant, **INPUT}
    answer = place.ask("POST", f"/threads/{place.thread}/runs/wait", run, key=ALICE)
    assert answer.status == 404 or "not found" in answer.text.lower(), answer


def test_no_header_and_no_run_gets_round_the_keys(place: Place) -> None:
    """Studio has a way of its own into LangGraph's server, and feedback calls LangSmith."""
    for scheme in ("langsmith", "noop"):
        headers = {"x-auth-scheme": scheme, "x-user-id": "alice"}
        assert ask(place.server, "GET", f"/threads/{place.thread}", **headers).status == 401
    run = {"assistant_id": "io", **INPUT, "feedback_keys": ["a"]}
    answer = place.ask("POST", "/runs/wait", run, key=BOB)
    assert "LangSmith" not in answer.text
    assert place.kind == "aegra" or answer.status == 422


def test_users_whose_names_are_alike_share_no_items(place: Place) -> None:
    item = {"namespace": ["notes"], "key": "k", "value": {"text": "secret of al.ice"}}
    kept = place.ask("PUT", "/store/items", item, key=DOTTED).status
    path = "/store/items?namespace=notes&key=k"
    if place.kind == "aegra":
        assert kept == 500, "it has no items for names with dots"
    else:
        assert kept == 204 and "secret of al.ice" in place.ask("GET", path, key=DOTTED).text
    assert "secret" not in place.ask("GET", path, key=UNDERSCORED).text


VALUES: list[Any] = [
    "http://127.0.0.1:9/v1#m",
    "/proc/self/environ",
    "local:/etc/passwd",
    "\u202e\u0000",
    "w" * 200_000,
    10**18,
    [[[[[[]]]]]],
    {"__overwrite__": 1},
]


def test_no_value_of_bobs_gets_further_with_a_key_than_without(place: Place) -> None:
    """Every setting, and names of LangGraph's own, in a context and in `configurable`."""
    names = [*registry.settings("fgdip").model_fields, "draft", "thread_id"]
    names += ["checkpoint_map", "checkpoint_id", "__pregel_checkpointer", "__pregel_runtime"]

    def attempt(at: int) -> Answer:
        name, value = names[at % len(names)], VALUES[at // len(names)]
        given = {"task": "game24", "limit_requests": 2, name: value}
        way = {"context": given} if at % 2 else {"config": {"configurable": given}}
        method = "refine" if name == "draft" else "fgdip"
        body = {"assistant_id": method, "input": INPUT["input"], **way}
        return place.ask("POST", "/runs/wait", body, key=BOB)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(attempt, range(0, len(names) * len(VALUES), 3)))
    for answer in answers:
        assert answer.status in (200, 400, 422), answer
        for told in ("root:x:", "Traceback", "has no attribute", "not callable", str(ROOT), ALICE):
            assert told not in answer.text, answer.text[:500]


def test_alice_still_has_all_of_it(place: Place) -> None:
    state = place.ask("GET", f"/threads/{place.thread}/state", key=ALICE).body
    assert state["values"]["answer"] == "2 + 4 + 7 + 11"
    assert place.ask("GET", f"/assistants/{place.assistant}", key=ALICE).status == 200
    assert place.cron in place.ask("POST", "/runs/crons/search", {}, key=ALICE).text
    path = "/store/items?namespace=notes&key=k"
    assert "secret of alice" in place.ask("GET", path, key=ALICE).text
    run = {"assistant_id": place.assistant, **INPUT}
    answer = place.ask("POST", f"/threads/{place.thread}/runs/wait", run, key=ALICE)
    assert answer.status == 200, answer
