"""Two users with two keys on one server: what is one's does not exist for the other."""

from typing import Any, NamedTuple

import pytest
from support.place import ALICE, BOB, DOTTED, UNDERSCORED, Place, Start

pytestmark = pytest.mark.ci

INPUT = {"input": {"problem": "2 4 7 11"}, "context": {"task": "game24"}}
ANSWER = "2 + 4 + 7 + 11"
NOTE = "/store/items?namespace=notes&key=k"
ABSENT = [("aegra", "/threads/{thread}/copy")]
"""What a server does not have, for anybody."""


class Things(NamedTuple):
    """What Alice has on a server."""

    thread: str
    run: str
    assistant: str
    cron: str
    checkpoint: str


@pytest.fixture(
    scope="module",
    params=["dev", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("deployed", "aegra"))],
)
def place(request: pytest.FixtureRequest, start: Start) -> Place:
    return start(str(request.param))


@pytest.fixture(scope="module")
def things(place: Place) -> Things:
    def make(path: str, body: Any) -> Any:
        answer = place.ask("POST", path, body, key=ALICE)
        assert answer.status in (200, 201), answer
        return answer.body

    thread = make("/threads", {"metadata": {"of": "alice"}})["thread_id"]
    out = make(f"/threads/{thread}/runs/wait", {"assistant_id": "tot_bfs", **INPUT})
    assert out["answer"] == ANSWER, out
    (run,) = place.ask("GET", f"/threads/{thread}/runs", key=ALICE).body
    made = {"graph_id": "io", "name": "mine", "context": {"task": "game24"}}
    assistant = make("/assistants", made)["assistant_id"]
    cron = {"assistant_id": "io", "schedule": "0 0 1 1 *", **INPUT}
    make(f"/threads/{thread}/runs/crons", cron)
    (cron_id,) = (each["cron_id"] for each in make("/runs/crons/search", {}))
    item = {"namespace": ["notes"], "key": "k", "value": {"text": "secret of alice"}}
    assert place.ask("PUT", "/store/items", item, key=ALICE).status in (200, 204)
    state = place.ask("GET", f"/threads/{thread}/state", key=ALICE).body
    checkpoint = state["checkpoint"]["checkpoint_id"]
    return Things(thread, run["run_id"], assistant, cron_id, checkpoint)


PATHS = """
/threads/{thread} GET PATCH DELETE
/threads/{thread}/state GET POST
/threads/{thread}/state/{checkpoint} GET
/threads/{thread}/state/checkpoint POST
/threads/{thread}/history GET POST
/threads/{thread}/copy POST
/threads/{thread}/runs POST
/threads/{thread}/runs/stream POST
/threads/{thread}/runs/wait POST
/threads/{thread}/runs/crons POST
/threads/{thread}/runs/{run} GET DELETE
/threads/{thread}/runs/{run}/join GET
/threads/{thread}/runs/{run}/stream GET
/threads/{thread}/runs/{run}/cancel POST
/threads/{thread}/commands POST
/threads/{thread}/stream/events POST
/assistants/{assistant} GET PATCH DELETE
/assistants/{assistant}/schemas GET
/assistants/{assistant}/graph GET
/assistants/{assistant}/versions POST
/assistants/{assistant}/latest POST
/runs/crons/{cron} PATCH DELETE
"""
REQUESTS = [
    (method, path)
    for path, *methods in (line.split() for line in PATHS.strip().splitlines())
    for method in methods
]


def body_of(things: Things, path: str) -> Any:
    if path.endswith(("/runs", "/runs/stream", "/runs/wait")):
        return {"assistant_id": "tot_bfs", **INPUT}
    known: dict[str, Any] = {
        "state": {"values": {"problem": "1 1 1 1"}},
        "checkpoint": {"checkpoint": {"checkpoint_id": things.checkpoint}},
        "crons": {"assistant_id": "io", "schedule": "0 0 1 1 *", **INPUT},
        things.cron: {"schedule": "0 0 2 2 *"},
        "latest": {"version": 1},
        "commands": {"id": 1, "method": "run.start", "params": {"assistant_id": "io", **INPUT}},
        "events": {"channels": ["values"]},
    }
    return known.get(path.rpartition("/")[2], {})


def test_what_is_alices_does_not_exist_for_bob(place: Place, things: Things) -> None:
    for method, path in REQUESTS:
        where = path.format(**things._asdict())
        body = None if method == "GET" else body_of(things, where)
        answer = place.ask(method, where, body, key=BOB)
        assert ANSWER[:5] not in answer.text, where
        # A stream has begun before it finds nothing; what it then says is nothing, or an error.
        empty = answer.status == 200 and (not answer.body or answer.body.get("type") == "error")
        assert answer.status in (404, 409) or empty, (method, path, answer)
        for key in ("", "short", "alice", ALICE.upper()):
            status = place.ask(method, where, body, key=key).status
            assert status == 401 or (place.kind, path) in ABSENT, where
    # Studio has a way of its own into LangGraph's server.
    for scheme in ("langsmith", "noop"):
        headers = {"x-auth-scheme": scheme, "x-user-id": "alice"}
        assert place.ask("GET", f"/threads/{things.thread}", key="", **headers).status == 401


def test_an_assistant_whose_runs_would_all_be_refused_is_not_made(place: Place) -> None:
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("tot_bfs", {"breadth": "many"}, "breadth"),
        ("tot_bfs", {"widthh": 3}, "widthh"),
        ("tot_bfs", {"model": "http://127.0.0.1:1/v1#m"}, "small"),
        ("tot_bfs", {"share_evaluations": True}, "operator"),
        ("tomt_os", {"task": "game24"}, "plan"),
    ]
    for graph, context, why in bad:
        made = {"graph_id": graph, "name": "bad", "context": context}
        answer = place.ask("POST", "/assistants", made, key=BOB)
        assert answer.status == 422 and why in answer.text, answer
        assert "Traceback" not in answer.text


def test_nothing_of_alices_is_listed_for_bob(place: Place, things: Things) -> None:
    def ask(path: str, body: Any) -> Any:
        return place.ask("POST", path, body, key=BOB).body

    ask("/threads", {"metadata": {"of": "bob"}})
    listed = [{"limit": 100}, {"metadata": {"of": "alice"}}, {"metadata": {"owner": "alice"}}]
    for search in (*listed, {"ids": [things.thread]}):
        owners = {each["metadata"].get("of") for each in ask("/threads/search", search)}
        assert owners <= {"bob"} and (owners or search != listed[0])
    assistants = ask("/assistants/search", {"limit": 100})
    assert things.assistant not in str(assistants)
    assert {each["metadata"]["created_by"] for each in assistants} == {"system"}
    assert things.cron not in str(ask("/runs/crons/search", {}))
    for prefix in ([], ["alice"], ["notes"]):
        assert "secret" not in str(ask("/store/items/search", {"namespace_prefix": prefix}))
    for name in ("notes", "alice.notes", "users.alice.notes", "alice", "..alice.notes"):
        path = f"/store/items?namespace={name}&key=k"
        assert "secret" not in place.ask("GET", path, key=BOB).text
        place.ask("DELETE", "/store/items", {"namespace": name.split("."), "key": "k"}, key=BOB)
    spaces = ask("/store/namespaces", {})["namespaces"]
    assert {name for name in map(tuple, spaces) if "bob" not in name[:2]} == set()


def test_bob_reaches_nothing_of_alices_from_a_run_of_his_own(place: Place, things: Things) -> None:
    """A thread may be named in `configurable`, in a checkpoint, or as the source of a copy."""
    thread = place.ask("POST", "/threads", {}, key=BOB).body["thread_id"]
    there = {"thread_id": things.thread, "checkpoint_id": things.checkpoint}
    there["checkpoint_ns"] = ""
    bodies: list[dict[str, Any]] = [
        {"config": {"configurable": there}},
        {"checkpoint": there},
        {"checkpoint_id": things.checkpoint},
        {"config": {"configurable": {**there, "langgraph_auth_user_id": "alice"}}},
        {"config": {"configurable": {"langgraph_auth_user": {"identity": "alice"}, **there}}},
    ]
    past = f"/threads/{things.thread}/history"
    before = place.ask("POST", past, {"limit": 100}, key=ALICE).body
    for more in bodies:
        for path in (f"/threads/{thread}/runs/wait", "/runs/wait"):
            for given in ({"input": None}, {"input": {"problem": "1 1 1 1"}}):
                body = {"assistant_id": "tot_bfs", "context": {"task": "game24"}, **given, **more}
                assert ANSWER not in place.ask("POST", path, body, key=BOB).text, body
    for path in (f"/threads/{thread}/state", f"/threads/{thread}/history"):
        assert ANSWER not in place.ask("GET", path, key=BOB).text
    for body in ({"checkpoint": there}, {"values": None, "checkpoint": there}):
        for path in (f"/threads/{thread}/state/checkpoint", f"/threads/{thread}/state"):
            assert ANSWER not in place.ask("POST", path, body, key=BOB).text
    after = place.ask("POST", past, {"limit": 100}, key=ALICE).body
    assert [each["checkpoint"] for each in after] == [each["checkpoint"] for each in before]


def test_bob_makes_nothing_in_alices_name(place: Place, things: Things) -> None:
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
    answer = place.ask("POST", f"/threads/{things.thread}/runs/wait", run, key=ALICE)
    assert answer.status == 404 or "not found" in answer.text.lower(), answer


def test_no_feedback_is_sent_to_langsmith(place: Place) -> None:
    run = {"assistant_id": "io", **INPUT, "feedback_keys": ["a"]}
    answer = place.ask("POST", "/runs/wait", run, key=BOB)
    assert "LangSmith" not in answer.text
    assert place.kind == "aegra" or answer.status == 422


def test_users_whose_names_are_alike_share_no_items(place: Place) -> None:
    item = {"namespace": ["notes"], "key": "k", "value": {"text": "secret of al.ice"}}
    kept = place.ask("PUT", "/store/items", item, key=DOTTED).status
    if place.kind == "aegra":
        assert kept == 500, "it has no items for names with dots"
    else:
        assert kept == 204 and "secret of al.ice" in place.ask("GET", NOTE, key=DOTTED).text
    assert "secret" not in place.ask("GET", NOTE, key=UNDERSCORED).text


def test_alice_still_has_all_of_it(place: Place, things: Things) -> None:
    state = place.ask("GET", f"/threads/{things.thread}/state", key=ALICE).body
    assert state["values"]["answer"] == ANSWER
    assert place.ask("GET", f"/assistants/{things.assistant}", key=ALICE).status == 200
    assert things.cron in place.ask("POST", "/runs/crons/search", {}, key=ALICE).text
    assert "secret of alice" in place.ask("GET", NOTE, key=ALICE).text
    run = {"assistant_id": things.assistant, **INPUT}
    answer = place.ask("POST", f"/threads/{things.thread}/runs/wait", run, key=ALICE)
    assert answer.status == 200, answer


@pytest.mark.slow
def test_what_deploy_configures_speaks_neither_mcp_nor_a2a(start: Start) -> None:
    place = start("deployed")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    assert place.ask("POST", "/mcp", body).status == 404
    assistants = place.ask("POST", "/assistants/search", {"graph_id": "io"}).body
    assert place.ask("POST", f"/a2a/{assistants[0]['assistant_id']}", body).status == 404
