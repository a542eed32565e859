"""Specifiers lead to the right server, with the right key and no other."""

import asyncio
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from langchain.chat_models.base import _get_chat_model_creator
from langchain_core.messages import HumanMessage
from pydantic import SecretStr
from support.fake_server import FakeServer, Fault
from support.scripted import ScriptedChat

from thoughtgraph.cli.catalog import models
from thoughtgraph.errors import InputError, ModelError, ThoughtgraphError
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.limiter import Rates
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.specifiers import default_specifier
from thoughtgraph.llm.weights import KNOWN

ASK = [HumanMessage("hello")]
SECRET = "sk-meant-for-openai-only"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("MODEL", "API_KEY", "CONCURRENCY", "RPM", "TPM"):
        monkeypatch.delenv(f"THOUGHTGRAPH_{name}", raising=False)


@pytest.mark.parametrize("own", [None, SECRET, "another"])
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


def test_the_default_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_specifier() == "local"
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert default_specifier().startswith("openai:gpt-")
    monkeypatch.setenv("THOUGHTGRAPH_MODEL", "http://h/v1#m")
    assert default_specifier() == "http://h/v1#m"


OWN = "tg-key-of-this-server"


@pytest.mark.parametrize("entry", [None, "", "{url}={key}"])
async def test_another_server_never_sees_the_openai_key(
    monkeypatch: pytest.MonkeyPatch, entry: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", SECRET)
    monkeypatch.setenv("OPENAI_ORG_ID", f"org-{SECRET}")
    monkeypatch.setenv("OPENAI_PROJECT_ID", f"proj-{SECRET}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {SECRET}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with FakeServer() as server:
        if entry is not None:
            monkeypatch.setenv("THOUGHTGRAPH_API_KEY", entry.format(url=server.url, key=OWN))
        await port_for(server.specifier).sample(ASK)
    (seen,) = server.seen
    assert SECRET not in str(seen)
    assert seen.headers["authorization"] == f"Bearer {OWN if entry else 'none'}"
    assert seen.body["model"] == "fake"


async def test_openai_is_asked_at_its_address_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        port_for("openai:gpt-4o-mini")
    with FakeServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        port = port_for("openai:gpt-4o-mini")
        assert (port.name, port.endpoint) == ("gpt-4o-mini", server.url)
        await port.sample(ASK)
    assert server.seen[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_the_openai_key_goes_to_the_documented_address_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LangChain alone would send it to `OPENAI_API_BASE`, which nobody was told of."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with FakeServer() as named, FakeServer() as other:
        monkeypatch.setenv("OPENAI_API_BASE", other.url)
        assert port_for("openai:gpt-4o-mini").endpoint == "https://api.openai.com/v1"
        monkeypatch.setenv("OPENAI_BASE_URL", named.url)
        await port_for("openai:gpt-4o-mini").sample(ASK)
    assert (len(named.seen), len(other.seen)) == (1, 0)


@pytest.mark.parametrize(
    "specifier", ["qwen", "openai:", "http://host/v1", "https://host/v1#", "ftp://h/v1#m", "x:y#z"]
)
def test_an_unknown_form_is_refused_with_the_known_ones(specifier: str) -> None:
    with pytest.raises(InputError, match="http://HOST:PORT/v1#NAME") as caught:
        port_for(specifier)
    assert specifier in str(caught.value)


PROVIDERS = {
    "anthropic": "langchain-anthropic",
    "google_genai": "langchain-google-genai",
    "ollama": "langchain-ollama",
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_missing_provider_is_answered_with_its_package(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = PROVIDERS[provider]
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    _get_chat_model_creator.cache_clear()
    with pytest.raises(InputError, match=f"{provider}:some-model.*`uv pip install {package}`"):
        port_for(f"{provider}:some-model")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-4o", "openai:gpt-4o"),
        ("o3-mini", "openai:o3-mini"),
        ("claude-3-opus", "anthropic:claude-3-opus"),
        ("gemini-2.0-flash", "google_genai:gemini-2.0-flash"),
    ],
)
def test_a_bare_name_of_a_known_model_is_answered_with_its_provider(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{meant}'"):
        port_for(name)


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


async def test_a_providers_model_takes_parameters_by_its_own_names(
    elsewhere: pytest.MonkeyPatch,
) -> None:
    elsewhere.setattr(Elsewhere, "lc_secrets", {})
    await port_for("groq:m").sample(ASK, parameters={"max_tokens": 7, "temperature": 0.5})
    assert LENGTHS == [(7, 0.5)]


def test_a_providers_missing_key_is_told_before_anything_is_sent(
    elsewhere: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match="'groq:m' needs a key: set SERVICE_API_KEY"):
        port_for("groq:m")


def test_what_is_no_model_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="a model is no function; give a LangChain chat model"):
        port_for(cast("Any", lambda: None))


@pytest.mark.parametrize(
    "address", ["http://me:pass-word@host/v1#m", "http://h/v1?key=pass-word#m"]
)
def test_a_key_in_the_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(InputError, match="THOUGHTGRAPH_API_KEY") as caught:
        port_for(address)
    assert "pass-word" not in str(caught.value)


ADDRESSES = [
    ("http://127.0.0.1:x/v1", "could not be cast to integer"),
    ("http://127.0.0.1:99999/v1", "out of range"),
    ("http://127.0.0.1:0/v1", "port 0"),
    ("http://", "no host"),
    ("http:///v1", "no host"),
    ("http://[::1/v1", "IPv6"),
    ("http://two words/v1", "space"),
    ("http://dots..many/v1", "label"),
]


@pytest.mark.parametrize(("address", "why"), ADDRESSES)
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


@pytest.mark.parametrize("name", ["nowhere.gguf", "text.gguf"])
def test_a_weights_file_that_is_none_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.gguf").write_text("no weights")
    with pytest.raises(ThoughtgraphError, match=name):
        port_for(f"local:{name}")


async def test_the_cap_of_an_endpoint_holds_for_all_its_ports() -> None:
    with FakeServer() as server:
        server.latency = 0.02
        rates = Rates(concurrency=2)
        ports: list[ChatPort] = [
            port_for(server.specifier, rates=rates),
            port_for(f"{server.url}/#other-name", rates=rates),
            port_for(server.chat(), rates=rates),
        ]
        await asyncio.gather(*(port.sample(ASK, scope=str(k)) for port in ports for k in range(4)))
    assert len(server.seen) == 12
    assert server.peak == 2


async def test_other_rates_at_the_same_endpoint_are_an_allowance_of_their_own() -> None:
    with FakeServer() as server:
        server.latency = 0.05
        narrow = port_for(server.specifier, rates=Rates(concurrency=1))
        wide = port_for(server.specifier, rates=Rates(concurrency=3))
        alone = [narrow.sample(ASK, scope=f"narrow {k}") for k in range(3)]
        await asyncio.gather(*alone)
        assert server.peak == 1, "the wide one does not widen it"
        both = [port.sample(ASK, scope=str(k)) for port in (narrow, wide) for k in range(6)]
        await asyncio.gather(*both)
        assert server.peak == 1 + 3, "nor does it narrow the wide one"


async def test_a_key_never_shows() -> None:
    key = "tg-0123456789-secret"
    with FakeServer() as server:
        server.fault = lambda seen: Fault(
            401, body=json.dumps({"error": {"message": f"bad {seen.headers['authorization']}"}})
        )
        port = port_for(server.chat(api_key=SecretStr(key)))
        with pytest.raises(ModelError, match="OPENAI_API_KEY") as caught:
            await port.sample(ASK)
    assert key not in str(caught.value) and key not in repr(caught.value)
    assert "***" in str(caught.value)
    assert server.url in str(caught.value) and "fake" in str(caught.value)


def test_a_port_or_model_is_taken_as_it_is() -> None:
    port = ChatPort(ScriptedChat(reply=lambda call: "x"))
    assert port_for(port) is port
    assert port_for(port.model).model is port.model


async def test_two_ports_of_one_loop_and_one_port_of_two_loops_are_served() -> None:
    with FakeServer() as server:
        port, other = port_for(server.specifier), port_for(server.specifier)
        await asyncio.gather(*(each.sample(ASK) for each in (port, other, port)))
        await asyncio.to_thread(lambda: asyncio.run(port.sample(ASK)))
        await port.sample(ASK)
    assert len(server.seen) >= 4


def test_weights_are_not_called_ready_where_nothing_can_run_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    models()
    told = " ".join(capsys.readouterr().out.split())
    assert told.count("not usable yet: needs the extra `local`") == len(KNOWN)
    assert "ready" not in told
