"""What the clients of a server may choose; nothing else reaches a model, a file or a limit."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send
from pydantic import create_model
from support.fake_server import FakeServer, Fault
from support.players import add_up
from support.searches import THREAD

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.context import resolve_settings
from thoughtgraph.llm.retry import Retry
from thoughtgraph.nodes.families.informed import propagated
from thoughtgraph.nodes.families.rollback_paths import experiences
from thoughtgraph.policy import LONGEST_TEXT, Policy, operators
from thoughtgraph.settings import Settings
from thoughtgraph.settings.acting import ItotDStarLiteSettings
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.tree import root

PUZZLE = "2 4 7 11"
RAISE = {"on_error": "raise"}
"""Else a refusal is a result: `test_served.py`."""
REPLY = add_up


def served(method: str, server: FakeServer, **more: Any) -> Any:
    policy = Policy(models={"small": server.specifier, "big": server.specifier}, **more)
    kept: Any = {"checkpointer": InMemorySaver(), "retry": Retry(give_up_after=0)}
    return tg.build(method, task="game24", policy=policy, **kept)


HOSTILE: dict[str, list[Any]] = {
    "model": ["http://127.0.0.1:9/v1#m", "local", "openai:gpt-4o", "local:/etc/passwd", "SMALL"],
    "evaluator_model": ["http://127.0.0.1:9/v1#m", "local"],
    "database": ["/etc/passwd", "postgresql://root@127.0.0.1/test", "file:x?mode=rw", "SHOP"],
    "corpus": ["/etc/passwd", "http://127.0.0.1:9/api.php", "community", "../x", "wikipedia:de"],
    "examples": ["/proc/self/environ", "~/.ssh/id_rsa", "file:///etc/passwd", "OWN"],
    "recording": ["record", "fresh", "replay"],
    "contact": ["me (x)", "a@b.example"],
    "share_evaluations": [True],
    "prices": [{"small": [0, 0]}],
}
NAMED = {"model": "big", "corpus": "handbook", "database": "shop", "examples": "own"}
"""What a refusal names: one of the choices that there are."""
NO_NUMBERS = [10**18, float("inf"), -1, "many", [[[]]], {"__overwrite__": 9}]


@pytest.mark.parametrize("method", registry.METHODS)
def test_clients_choose_names_and_lower_limits(method: str) -> None:
    base = registry.settings(method)
    policy = Policy(
        models={"small": "local", "big": "local"},
        corpora={"handbook": "/srv/x"},
        databases={"shop": "/srv/shop.db"},
        ceilings={"limit_tokens": 10, "limit_dollars": None},
    )
    settings = policy.restrict(base)
    for name, field in base.model_fields.items():
        kind = "examples" if name.endswith("examples") else name
        for value in HOSTILE.get(kind, []):
            with pytest.raises(tg.SettingError) as caught:
                resolve_settings(settings, {}, {name: value})
            line = str(caught.value)
            assert name in line and NAMED.get(kind, "") in line and "\n" not in line
        if not name.startswith("limit_"):
            continue
        usual = field.get_default(call_default_factory=True)
        most = {"limit_tokens": 10, "limit_dollars": None}.get(name, usual)
        assert resolve_settings(settings, {}, {name: None})[name] == most
        assert resolve_settings(settings, {}, {name: 1})[name] == 1
        if most is not None:
            assert resolve_settings(settings, {}, None)[name] == most
            for value in (most + 1, *NO_NUMBERS):
                with pytest.raises(tg.SettingError, match=name):
                    resolve_settings(settings, {}, {name: value})


def test_a_form_shows_names_and_no_setting_that_is_the_operators() -> None:
    policy = Policy(models={"small": "local", "big": "http://h/v1#q"}, corpora={"handbook": "/x"})
    schema: Any = tg.build("fgdip", policy=policy).get_context_jsonschema()
    form = schema["properties"]
    assert form["model"]["enum"] == ["small", "big"]
    assert form["model"]["default"] == "small"
    assert form["evaluator_model"]["enum"] == ["", "small", "big"]
    assert {"", "handbook"} == set(form["corpus"]["enum"])
    assert not set(operators(registry.settings("fgdip"))) & set(form)
    assert form["limit_requests"]["anyOf"][0]["maximum"] == form["limit_requests"]["default"]
    assert "/x" not in str(form) and "http" not in str(form["model"])
    for policy in (Policy(), Policy(models={"small": "local"}, corpora={})):
        schema = tg.build("fgdip", policy=policy).get_context_jsonschema()
        assert schema["properties"]["model"]["enum"] == [*policy.models]


async def test_a_client_may_ask_for_the_check_that_needs_no_gold_answer() -> None:
    attempts = iter(["4 + 2 + 7 = 24", "2 + 4 + 7 + 11 = 24"])
    with FakeServer(lambda seen: f"Answer: {next(attempts)}") as server:
        graph = tg.build("refine", policy=Policy(models={"small": server.specifier}))
        told = await graph.ainvoke({"problem": PUZZLE}, context={"task": "game24"})
        assert "'game24'" in told["error"] and "; set exact_check, by which" in told["error"]
        context = {"task": "creative_writing", "exact_check": True}
        told = await graph.ainvoke({"problem": "One. Two. Three. Four."}, context=context)
        assert told["error"].endswith("; leave exact_check out") and not server.seen
        context = {"task": "game24", "exact_check": True}
        out = await graph.ainvoke({"problem": PUZZLE}, context=context)
    assert (out["answer"], out["stop_reason"]) == ("2 + 4 + 7 + 11", "verified")
    assert out["oracle"] is True
    assert [thought.get("note") for thought in out["tree"].values()][1:] == [
        "the exact check says wrong",
        "the exact check says right",
    ]
    assert out["outcome"] == "finished with an answer that the exact check found right"


@pytest.mark.parametrize("annotation", [str, str | None, list[str], dict[str, int], Any, Path])
def test_a_new_setting_of_any_text_is_refused_until_a_policy_knows_it(annotation: Any) -> None:
    more = create_model("More", __base__=Settings, file=(annotation, ""))
    with pytest.raises(TypeError, match="'file' takes any text"):
        Policy().restrict(more)


VARIABLES = {
    "MODELS": "small=openai:gpt-4o-mini, big=http://vllm:8000/v1#q=4",
    "CORPORA": "handbook=/srv/handbook.jsonl,de=wikipedia:de",
    "DATABASES": "shop=/srv/shop.db,crm=postgresql://reader@db/crm",
    "LIMITS": "requests=5,dollars=0.5,seconds=none,max_completion_tokens=200",
    "PRICES": "small=0.15/0.6",
}
UNREADABLE = {
    "MODELS": ["gpt-4o", "a=local,a=local", "a b=local", "="],
    "CORPORA": ["/etc/passwd"],
    "LIMITS": ["request=5", "requests=many", "requests=nan"],
    "PRICES": ["default=1", "other=1/2"],
}


def test_the_operator_says_it_in_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in VARIABLES.items():
        monkeypatch.setenv(f"THOUGHTGRAPH_SERVED_{name}", text)
    policy = Policy.from_environment()
    assert policy.models == {"small": "openai:gpt-4o-mini", "big": "http://vllm:8000/v1#q=4"}
    assert policy.corpora == {"handbook": "/srv/handbook.jsonl", "de": "wikipedia:de"}
    assert policy.databases == {"shop": "/srv/shop.db", "crm": "postgresql://reader@db/crm"}
    assert policy.prices == {"small": (0.15, 0.6)}
    chosen = policy.restrict(registry.settings("io")).model_validate({})
    assert (chosen.model, chosen.limit_requests, chosen.limit_dollars) == ("small", 5, 0.5)
    assert chosen.max_completion_tokens == 200
    monkeypatch.setenv("THOUGHTGRAPH_SERVED_CORPORA", "none")
    assert Policy.from_environment().corpora == {}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_variable_that_cannot_be_read_gets_one_line(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in UNREADABLE[name]:
        monkeypatch.setenv(f"THOUGHTGRAPH_SERVED_{name}", text)
        with pytest.raises(tg.InputError) as caught:
            Policy.from_environment()
        assert "\n" not in str(caught.value)


async def test_a_published_value_above_the_ceiling_is_lowered(server: FakeServer) -> None:
    graph = served("tot_bfs", server, ceilings={"max_completion_tokens": 7})
    out = await graph.ainvoke({"problem": PUZZLE}, THREAD)
    assert out["stop_reason"] == "finished"
    assert {seen.body["max_tokens"] for seen in server.seen} == {7}


SAID = "internal host db-7 said: sk-secret-123456"


async def test_an_endpoint_is_quoted_to_the_log_alone(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = Fault(403, body=json.dumps({"error": {"message": SAID}}))
    server.fault = lambda seen: refusal
    out = await served("io", server).ainvoke({"problem": PUZZLE}, THREAD)
    assert out["error"] == "model 'small' failed: HTTP 403"
    assert out["settings"]["model"] == "small"
    said = {"messages": [{"role": "user", "content": PUZZLE}]}
    chat = await served("io", server).ainvoke(said, THREAD)
    assert chat["messages"][-1].text == "The model failed: model 'small' failed: HTTP 403"
    assert server.url not in str(out) and "db-7" not in str(out)
    assert server.url in caplog.text and "db-7" in caplog.text


async def test_what_cannot_be_had_is_explained_to_the_log_alone(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    graph = tg.build("io", policy=Policy(models={"small": "local:/srv/secret/weights.gguf"}))
    with caplog.at_level(logging.ERROR), pytest.raises(tg.ModelUnavailable) as caught:
        await graph.ainvoke({"problem": "2 4 7 11"}, context={"task": "game24", **RAISE})
    assert str(caught.value) == "model 'small' cannot be used; the server's log says why"
    assert "/srv/secret/weights.gguf" in caplog.text
    sources = {"handbook": "/srv/secret/pages.jsonl", "wiki": "http://127.0.0.1:9/api.php"}
    policy = Policy(models={"small": server.specifier}, corpora=sources)
    graph = tg.build("react", task="hotpotqa", policy=policy)
    for name, source in sources.items():
        with pytest.raises((tg.InputError, tg.ToolsUnavailable)) as refused:
            context = {"corpus": name, "tool_deadline": 0.5, **RAISE}
            await graph.ainvoke({"problem": "Who?"}, context=context)
        assert f"'{name}'" in str(refused.value)
        assert source not in str(refused.value) and source in caplog.text


CLUES = json.dumps(["w" * LONGEST_TEXT] * 10)
PAGES = json.dumps({"question": "Who?", "context": [["Big", ["A sentence."] * 10_000]]})


@pytest.mark.parametrize(
    ("method", "problem", "context", "free"),
    [
        ("io", CLUES, {"task": "crosswords"}, True),
        ("react", PAGES, {"task": "hotpotqa"}, True),
        ("tomt_tot", f"{' ' * LONGEST_TEXT}{{}}", {"task": "clevr"}, False),
        ("refine", PUZZLE, {"draft": "w" * (LONGEST_TEXT + 1)}, False),
        ("react", "Who?", {"task": "hotpotqa", "tool_costs": "Search=1," * LONGEST_TEXT}, False),
    ],
)
async def test_no_text_is_longer_than_a_server_takes(
    method: str, problem: str, context: dict[str, Any], free: bool, server: FakeServer
) -> None:
    """A page of the problem's own goes into every thought, a draft into every prompt."""
    graph = tg.build(method, policy=Policy(models={"small": server.specifier}))
    with pytest.raises(tg.InputError) as caught:
        await graph.ainvoke({"problem": problem}, context={**context, **RAISE})
    assert str(LONGEST_TEXT) in str(caught.value) and len(str(caught.value)) < 300
    assert not server.seen
    if free:
        assert registry.task(context["task"]).read(problem), "in one's own process it is free"


EDITS: list[dict[str, Any]] = [
    {"spent": {"requests": -(10**9)}},
    {"spent": "none"},
    {"thoughts": {"0": {"id": "1", "parent": "0"}}},
    {"thoughts": {"1": {"verdicts": {"x": {"value": 9.0, "label": ""}}}}},
    {"messages": 7},
]
"""What no client may write: it is refused before it is kept."""
PAST_REDUCERS: list[dict[str, Any]] = [
    {"spent": {"__overwrite__": {"requests": -(10**9)}}},
    {"settings": {"model": "http://127.0.0.1:9/v1#m"}},
    {"settings": {"__overwrite__": {"model": "http://127.0.0.1:9/v1#m"}}},
    {"tree": {"1": {"status": "pruned"}}},
]
"""What a client may write, but no search goes on with."""


async def test_an_edit_that_no_client_may_make_is_refused(server: FakeServer) -> None:
    graph = served("tot_bfs", server)
    await graph.ainvoke({"problem": PUZZLE}, THREAD, interrupt_after=["generate"])
    before, sent = (await graph.aget_state(THREAD)).values, len(server.seen)
    for edit in EDITS:
        with pytest.raises(tg.InputError) as refused:
            await graph.aupdate_state(THREAD, edit)
        assert "\n" not in str(refused.value)
    assert (await graph.aget_state(THREAD)).values == before
    assert len(server.seen) == sent
    assert (await graph.ainvoke(None, THREAD))["stop_reason"] == "finished"


@pytest.mark.parametrize("edit", PAST_REDUCERS)
async def test_no_search_goes_on_past_its_policy(server: FakeServer, edit: dict[str, Any]) -> None:
    """LangGraph lets whoever writes `__overwrite__` pass the reducers, and send work to a node."""
    graph = served("tot_bfs", server)
    await graph.ainvoke({"problem": PUZZLE}, THREAD, interrupt_after=["select"])
    state, sent = (await graph.aget_state(THREAD)).values, len(server.seen)
    written = {k: v.get("__overwrite__", v) for k, v in edit.items()}
    forged = Send("generate", {**state, **written})
    for given in (Command(update=edit, goto="generate"), Command(goto=forged)):
        with pytest.raises(tg.ThoughtgraphError) as refused:
            await graph.ainvoke(given, THREAD)
        assert "\n" not in str(refused.value)
    assert len(server.seen) == sent
    out = await graph.ainvoke({"problem": PUZZLE}, THREAD)
    assert out["stop_reason"] == "finished" and out["settings"]["model"] == "small"


async def test_no_prompt_is_longer_than_a_server_sends(server: FakeServer) -> None:
    graph = served("io", server)
    await graph.ainvoke({"problem": PUZZLE}, THREAD, interrupt_after=["start"])
    await graph.aupdate_state(THREAD, {"problem": "1 " * 300_000})
    with pytest.raises(tg.InputError, match=r"a prompt of 600\d{3} characters is too long"):
        await graph.ainvoke(None, THREAD)
    assert not server.seen


async def test_parents_in_a_circle_hang_nothing(server: FakeServer) -> None:
    graph = served("tot_bfs", server)
    await graph.ainvoke({"problem": PUZZLE}, THREAD, interrupt_after=["select"])
    tree = (await graph.aget_state(THREAD)).values["thoughts"]
    first = next(key for key, thought in tree.items() if thought["depth"] == 1)
    ring = {**tree, first: {**tree[first], "parent": first}}
    with pytest.raises(tg.InputError, match="go round in a circle"):
        await graph.ainvoke(Command(update={"thoughts": {"__overwrite__": ring}}), THREAD)


@pytest.mark.parametrize(
    "write",
    [
        ["x"],
        [{"1": {"status": "bogus"}}],
        [{"1": {"parent": "1"}}],
        [{"1": {"text": 5}}],
        [{"1": {"usage": 3}}],
        [{"99": {"text": "x"}}],
        [{"1": 3}],
    ],
)
async def test_what_looks_like_a_nodes_write_is_checked_too(server: FakeServer, write: Any) -> None:
    graph = served("tot_bfs", server)
    await graph.ainvoke({"problem": PUZZLE}, THREAD, interrupt_after=["select"])
    before = (await graph.aget_state(THREAD)).values["thoughts"]
    with pytest.raises(tg.InputError) as refused:
        await graph.aupdate_state(THREAD, {"thoughts": write}, as_node="select")
    assert "\n" not in str(refused.value)
    assert (await graph.aget_state(THREAD)).values["thoughts"] == before


def test_ancestors_and_rollbacks_in_a_circle_hang_nothing() -> None:
    ring: Any = {
        "0": root(),
        "1": {"id": "1", "parent": "2", "depth": 1, "cost": 1.5, "caused_by": "2"},
        "2": {"id": "2", "parent": "1", "depth": 2, "cost": 2.0, "caused_by": "1", "failed": True},
    }
    ring["2"]["rollback"] = {"to": "3", "step": 1}
    told: Any = {"thoughts": ring}
    told["settings"] = ItotDStarLiteSettings.model_validate(
        {"sibling_base": "snapshot"}
    ).model_dump()
    with pytest.raises(tg.InputError, match="round in a circle"):
        propagated(told, {"2": 0.5})
    with pytest.raises(tg.InputError, match="round in a circle"):
        experiences(ring, RollbackSettings.model_validate({}), "1", "2")


CHANGES: list[dict[Any, Any]] = [
    {"model": "http://127.0.0.1:9/v1#m"},
    {"model": "gone"},
    {"limit_requests": None},
    {"limit_requests": 10**6},
    {"examples": "/etc/passwd"},
    {"more": 1},
    {1: 1},
]


async def test_settings_that_other_programs_wrote_are_not_used(server: FakeServer) -> None:
    """A thread may be older than the policy, or shared with a graph that is not ours."""
    saver = InMemorySaver()
    shared: Any = {"task": "game24", "checkpointer": saver}
    free = tg.build("tot_bfs", model=server.specifier, **shared)
    graph = tg.build("tot_bfs", policy=Policy(models={"small": server.specifier}), **shared)
    for change in CHANGES:
        await graph.ainvoke({"problem": PUZZLE}, THREAD, interrupt_after=["generate"])
        settings = (await graph.aget_state(THREAD)).values["settings"]
        changed = {"settings": {**settings, **change}}
        await free.aupdate_state(THREAD, changed, as_node="generate")
        sent = len(server.seen)
        with pytest.raises(tg.SettingError, match="thread"):
            await graph.ainvoke(None, THREAD)
        assert len(server.seen) == sent
        out = await graph.ainvoke({"problem": PUZZLE}, THREAD)
        assert out["stop_reason"] == "finished", "a new problem writes new settings"
