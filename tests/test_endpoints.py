"""Specifiers lead to the right server, with the right key and no other."""

import asyncio
import sys
import types
from collections.abc import Iterator
from typing import Any, cast

import pytest
from langchain.chat_models.base import _get_chat_model_creator
from pydantic import SecretStr
from support.asking import ASK
from support.fake_server import FakeServer, Fault
from support.scripted import ScriptedChat

from thoughtgraph.errors import InputError
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.limiter import Rates
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.specifiers import default_specifier

SECRET = "sk-meant-for-openai-only"
OWN = "tg-key-of-this-server"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("MODEL", "API_KEY", "CONCURRENCY", "RPM", "TPM"):
        monkeypatch.delenv(f"THOUGHTGRAPH_{name}", raising=False)


def test_the_default_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_specifier() == "local"
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert default_specifier().startswith("openai:gpt-")
    monkeypatch.setenv("THOUGHTGRAPH_MODEL", "http://h/v1#m")
    assert default_specifier() == "http://h/v1#m"


@pytest.mark.parametrize("own", [None, SECRET])
def test_openais_key_is_not_lent_to_another_provider(
    monkeypatch: pytest.MonkeyPatch, own: str | None
) -> None:
    """LangChain's model of Azure takes OpenAI's key where it finds none of its own."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    monkeypatch.delenv("AZURE_OPENAI_API_KEY", raising=False)
    if own is None:
        with pytest.raises(InputError, match="set AZURE_OPENAI_API_KEY"):
            port_for("azure_openai:m")
    else:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", own)
        assert port_for("azure_openai:m")


@pytest.mark.parametrize("entry", ["", "{url}={key}"])
async def test_another_server_never_sees_the_openai_key(
    monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", SECRET)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {SECRET}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with FakeServer() as server:
        monkeypatch.setenv("THOUGHTGRAPH_API_KEY", entry.format(url=server.url, key=OWN))
        await port_for(server.specifier).sample(ASK)
    (seen,) = server.seen
    assert SECRET not in str(seen)
    assert seen.headers["authorization"] == f"Bearer {OWN if entry else 'none'}"
    assert seen.body["model"] == "fake"


async def test_openai_is_asked_at_the_documented_address_with_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LangChain alone would send it to `OPENAI_API_BASE`, which nobody was told of."""
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        port_for("openai:gpt-4o-mini")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with FakeServer() as named, FakeServer() as other:
        monkeypatch.setenv("OPENAI_API_BASE", other.url)
        assert port_for("openai:gpt-4o-mini").endpoint == "https://api.openai.com/v1"
        monkeypatch.setenv("OPENAI_BASE_URL", named.url)
        port = port_for("openai:gpt-4o-mini")
        assert (port.name, port.endpoint) == ("gpt-4o-mini", named.url)
        await port.sample(ASK)
    assert not other.seen
    (seen,) = named.seen
    assert seen.headers["authorization"] == f"Bearer {SECRET}"


MEANT = {
    **dict.fromkeys(("qwen", "openai:", "https://h/v1#", "x:y#z"), "http://HOST:PORT/v1#NAME"),
    "gpt-4o": "did you mean 'openai:gpt-4o'",
    "claude-3-opus": "did you mean 'anthropic:claude-3-opus'",
}


@pytest.mark.parametrize("specifier", MEANT)
def test_an_unknown_form_is_refused_with_what_was_meant(specifier: str) -> None:
    with pytest.raises(InputError, match=MEANT[specifier]) as caught:
        port_for(specifier)
    assert specifier in str(caught.value)


def test_a_missing_provider_is_answered_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_google_genai", None)
    _get_chat_model_creator.cache_clear()
    with pytest.raises(InputError, match="`uv pip install langchain-google-genai`") as caught:
        port_for("google_genai:some-model")
    assert "google_genai:some-model" in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://me:pass-word@host/v1#m", "http://h/v1?key=pass-word#m"]
)
def test_a_key_in_the_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(InputError, match="THOUGHTGRAPH_API_KEY") as caught:
        port_for(address)
    assert "pass-word" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:x/v1", "could not be cast to integer"),
        ("http://127.0.0.1:0/v1", "port 0"),
        ("http://", "no host"),
        ("http://[::1/v1", "IPv6"),
        ("http://dots..many/v1", "label"),
    ],
)
def test_an_address_no_server_can_have_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, address: str, why: str
) -> None:
    with pytest.raises(InputError, match=why) as caught:
        port_for(f"{address}#m")
    assert repr(address) in str(caught.value)
    assert "http://HOST:PORT/v1" in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(InputError, match=f"OPENAI_BASE_URL.*{why}"):
        port_for("openai:gpt-4o-mini")


def test_a_port_or_model_is_taken_as_it_is_and_nothing_else() -> None:
    port = ChatPort(ScriptedChat(reply=lambda call: "x"))
    assert port_for(port) is port
    assert port_for(port.model).model is port.model
    with pytest.raises(InputError, match="a model is no function; give a LangChain chat model"):
        port_for(cast("Any", lambda: None))


class Elsewhere(ScriptedChat):
    """A provider's model that reads the longest completion off itself, as Ollama's does."""

    num_predict: int | None = None
    service_api_key: SecretStr = SecretStr("")

    @property
    def lc_secrets(self) -> dict[str, str]:
        return {"service_api_key": "SERVICE_API_KEY"}

    async def _agenerate(self, *given: Any, **more: Any) -> Any:
        assert not {"max_tokens", "temperature", "num_predict"} & set(more)
        LENGTHS.append((self.num_predict, self.temperature))
        return await super()._agenerate(*given, **more)


del Elsewhere.model_fields["max_tokens"]
LENGTHS: list[tuple[int | None, float | None]] = []


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    package = types.ModuleType("langchain_groq")
    vars(package)["ChatGroq"] = lambda **given: Elsewhere(reply=lambda _: "hi", **given)
    monkeypatch.setitem(sys.modules, "langchain_groq", package)
    _get_chat_model_creator.cache_clear()
    yield monkeypatch
    _get_chat_model_creator.cache_clear()


async def test_a_providers_model_takes_its_own_names_and_needs_its_key_before_anything_is_sent(
    elsewhere: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match="'groq:m' needs a key: set SERVICE_API_KEY"):
        port_for("groq:m")
    elsewhere.setattr(Elsewhere, "lc_secrets", {})
    await port_for("groq:m").sample(ASK, parameters={"max_tokens": 7, "temperature": 0.5})
    assert LENGTHS == [(7, 0.5)]


async def peak_of(server: FakeServer, *ports: ChatPort) -> int:
    """Returns how many requests a server is asked at once, at most, by some ports together."""
    server.peak, server.fault = 0, lambda seen: Fault(hold=True)
    asking = [
        asyncio.create_task(port.sample(ASK, scope=str(k), n=1)) for port in ports for k in range(6)
    ]
    await asyncio.to_thread(server.wait_for_held)
    server.latency = 0.02
    server.release()
    await asyncio.gather(*asking)
    return server.peak


async def test_the_cap_of_an_endpoint_holds_for_all_its_ports_of_the_same_rates() -> None:
    with FakeServer() as server:
        alike = [
            port_for(server.specifier, rates=Rates(concurrency=2)),
            port_for(f"{server.url}/#other-name", rates=Rates(concurrency=2)),
            port_for(server.chat(), rates=Rates(concurrency=2)),
        ]
        assert await peak_of(server, *alike) == 2
        assert len(server.seen) == 18
        wide = port_for(server.specifier, rates=Rates(concurrency=3))
        narrow = port_for(server.specifier, rates=Rates(concurrency=1))
        assert await peak_of(server, narrow) == 1, "the wide one does not widen it"
        assert await peak_of(server, narrow, wide) == 1 + 3, "nor does it narrow the wide one"
