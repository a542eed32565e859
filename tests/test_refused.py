"""Which parameter a server refuses, and that calls go on without it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from support.asking import numbered, port
from support.fake_server import OK, FakeServer, Fault, Seen

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.exchange import Request
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.sending import Prepared, prepared, refused_parameter

ASK: list[BaseMessage] = [SystemMessage("Be brief."), HumanMessage("which way")]
SENT = {"stop", "temperature", "top_p", "n", "seed", "system"}
SETTINGS = {"temperature": 0.7, "top_p": 0.7, "max_tokens": 50}


class Refusal(Exception):
    """An error of an SDK: the status, and the body as it was sent."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(body if isinstance(body, str) else f"Error code: {status} - {body}")
        self.status_code = status


def forms() -> dict[str, list[Any]]:
    """What servers and gateways say, by the parameter that they mean, bodies of JSON parsed."""
    text = (Path(__file__).parent / "support" / "refusals.txt").read_text(encoding="utf-8")
    parts = [part.split("\n") for part in text.removeprefix("# ").strip().split("\n# ")]
    return {
        name: [json.loads(line) if line.startswith("{") else line for line in lines]
        for name, *lines in parts
    }


FORMS = forms()


@pytest.mark.parametrize("name", FORMS)
def test_the_refused_parameter_is_the_one_that_was_sent(name: str) -> None:
    sent = SENT | {name if name == "max_completion_tokens" else "max_tokens"}
    wanted = "" if name == "none" else name
    for form in FORMS[name]:
        read = {refused_parameter(Refusal(status, form), sent) for status in (400, 422, 500, 501)}
        assert read == {wanted}, form
        assert refused_parameter(Refusal(400, form), SENT - {name}) != name
        assert refused_parameter(Refusal(400, form), set()) == ""
        assert refused_parameter(Refusal(404, form), SENT | {"max_tokens"}) == ""


# On the wire.

REPLY = numbered


def sends(name: str, seen: Seen) -> bool:
    if name == "system":
        return any(message["role"] == "system" for message in seen.body["messages"])
    return seen.n > 1 if name == "n" else name in seen.body


def refuses(*names: str) -> Callable[[Seen], Fault]:
    """Refuses each of some parameters, one an answer, as OpenAI words it."""

    def fault(seen: Seen) -> Fault:
        for name in names:
            if sends(name, seen):
                role = "role " * (name == "system")
                return Fault(400, body=f'{{"error": {{"message": "Unsupported {role}{name!r}"}}}}')
        return OK

    return fault


async def ask(asked: ChatPort, **more: Any) -> list[str]:
    return await asked.sample(ASK, stop=["END"], parameters=SETTINGS, **more)


@pytest.mark.parametrize("name", ["stop", "temperature", "top_p", "max_tokens", "system"])
async def test_what_is_refused_is_left_out_from_then_on_and_said_once(
    server: FakeServer, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    server.fault = refuses(name)
    asked = port(server)
    assert await ask(asked) == ["text 0"]
    assert await ask(asked, role="again") == ["text 0"]
    assert await ask(asked, n=2) == ["text 0", "text 1"]
    assert [sends(name, seen) for seen in server.seen] == [True, False, False, False]
    assert [name in record.getMessage() for record in caplog.records] == [True]
    others = {"stop", "temperature", "top_p", "max_tokens", "system"} - {name}
    assert all(sends(each, seen) for each in others for seen in server.seen), "and nothing else"


async def test_several_parameters_are_left_out_one_by_one(server: FakeServer) -> None:
    """Also where the model has them itself, which stays as it is."""
    server.fault = refuses("top_p", "stop", "system", "temperature", "seed")
    model = server.chat(temperature=0.3, stop=["END"], seed=5)
    assert await ask(ChatPort(model)) == ["text 0"]
    assert len(server.seen) == 6
    (message,) = server.seen[-1].body["messages"]
    assert message == {"role": "user", "content": "Be brief.\n\nwhich way"}
    assert (model.temperature, model.stop, model.seed) == (0.3, ["END"], 5)


async def test_the_bound_goes_by_its_other_name_and_then_not_at_all(server: FakeServer) -> None:
    server.fault = refuses("max_tokens")
    model = server.chat(max_tokens=70)
    await ask(ChatPort(model))
    assert server.seen[-1].body["max_completion_tokens"] == 50
    server.fault = refuses("max_tokens", "max_completion_tokens")
    await ask(ChatPort(model))
    assert not {"max_tokens", "max_completion_tokens"} & server.seen[-1].body.keys()


@pytest.mark.parametrize("message", ["Invalid temperature", "no luck"])
async def test_a_guess_that_does_not_help_is_forgotten(server: FakeServer, message: str) -> None:
    server.fault = lambda seen: Fault(400, body=json.dumps({"error": {"message": message}}))
    asked = port(server)
    with pytest.raises(ModelError, match="HTTP 400"):
        await ask(asked, n=5)
    assert len(server.seen) == 2 + ("temperature" in message), "it ends, with the same error"
    server.fault = lambda seen: OK
    await ask(asked, n=5)
    assert sends("temperature", server.seen[-1]) and server.seen[-1].n == 5


def outgoing(model: Any, messages: list[BaseMessage], refused: set[str], **more: Any) -> Prepared:
    return prepared(model, Request(messages, 1, "generate", (), None, more), 0, 1, refused)


OPENAIS, OTHERS = "max_completion_tokens", "max_tokens"
BOUNDS = {
    "https://api.openai.com/v1": OPENAIS,
    "https://mine.openai.azure.com/openai/v1": OPENAIS,
    "https://openai.com.example/v1": OTHERS,
    "http://localhost:11434/v1": OTHERS,
}


def test_each_server_is_told_the_bound_by_the_name_it_knows() -> None:
    for address, name in BOUNDS.items():
        model = ChatOpenAI(model="m", base_url=address, api_key=SecretStr("none"))
        call = outgoing(model, ASK, set(), max_tokens=9)
        payload = cast("ChatOpenAI", call.model)._get_request_payload(
            call.messages, **call.arguments
        )
        body = {**payload, **payload.pop("extra_body", {})}
        assert {each: body[each] for each in body if "tokens" in each} == {name: 9}, address


def test_a_system_text_goes_before_the_first_user_text() -> None:
    model = ChatOpenAI(model="m", api_key=SecretStr("none"))
    alone = outgoing(model, ASK[:1], {"system"})
    assert [(each.type, each.text) for each in alone.messages] == [("human", "Be brief.")]
    messages = [SystemMessage("a"), SystemMessage("b"), *ASK[1:], AIMessage("c"), *ASK[1:]]
    call = outgoing(model, messages, {"system"})
    assert [each.text for each in call.messages] == ["a\n\nb\n\nwhich way", "c", "which way"]


@pytest.mark.parametrize(
    ("stops", "text", "read"),
    [
        (["\nObservation"], "\nObservation: y", ""),
        (["\n"], "\n\nyes\nno", "\n\nyes"),
        (["END", "STOP"], "a STOP b END", "a "),
        (["END"], "ended", "ended"),
    ],
)
async def test_a_server_that_ignores_stop_texts_changes_nothing(
    server: FakeServer, stops: list[str], text: str, read: str
) -> None:
    server.reply = lambda seen: text
    assert await port(server).sample(ASK, stop=stops) == [read]
