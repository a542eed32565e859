"""A key is sent to the address it was configured for, and nowhere else."""

import logging

import pytest
from support.asking import ASK
from support.fake_server import FakeServer, Fault

from thoughtgraph.errors import InputError, ModelError
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.specifiers import key_for

KEY = "tg-key-0123456789"


def keys(monkeypatch: pytest.MonkeyPatch, text: str, model: str = "") -> None:
    monkeypatch.setenv("THOUGHTGRAPH_API_KEY", text)
    monkeypatch.setenv("THOUGHTGRAPH_MODEL", model)


GOES = [
    ("https://h/v1/", "https://h/v1/team"),
    ("https://H:443/v1", "https://h/v1"),
    ("http://h", "http://h:80/v1"),
    ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
]
STAYS = [
    ("https://h/v1", "http://h/v1"),  # readable on the way
    ("https://h/v1", "https://h:444/v1"),
    ("https://h/v1", "https://h.evil/v1"),
    ("https://h/v1", "https://evil/h/v1"),
    ("https://h/v1", "https://h/v1x"),
    ("https://h/v1", "https://h/v1/../v2"),
    ("https://h/v1", "https://h/v1/%2e%2e/v2"),
    ("https://h/v1", "https://h\\.evil/v1"),
    ("http://127.0.0.1:8000", "http://127.0.0.1:8001"),
    ("http://[broken", "http://h/v1"),
    ("http://", "http://"),
]


@pytest.mark.parametrize(("owner", "asked"), GOES)
def test_a_key_goes_to_its_address(monkeypatch: pytest.MonkeyPatch, owner: str, asked: str) -> None:
    keys(monkeypatch, f"https://other/v1=no, {owner}={KEY}==")
    assert key_for(asked) == f"{KEY}=="


@pytest.mark.parametrize(("owner", "asked"), STAYS)
def test_a_key_goes_nowhere_else_and_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, owner: str, asked: str
) -> None:
    keys(monkeypatch, f"{owner}={KEY}")
    with caplog.at_level(logging.WARNING, "thoughtgraph"):
        assert key_for(asked) is None
    (record,) = caplog.records
    line = record.getMessage()
    assert f"{asked} is asked without a key" in line and owner in line and KEY not in line
    assert f"write THOUGHTGRAPH_API_KEY={asked}=KEY" in line and "\n" not in line


def test_a_bare_key_belongs_to_the_default_model(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    keys(monkeypatch, "")
    assert key_for("http://h/v1") is None
    keys(monkeypatch, KEY, "http://h/v1#m")
    assert key_for("http://h/v1") == KEY
    assert not caplog.records
    assert key_for("http://other/v1") is None
    keys(monkeypatch, KEY, "openai:gpt-4o-mini")
    assert key_for("http://h/v1") is None
    assert "is for no address" in caplog.text and KEY not in caplog.text


@pytest.mark.parametrize("text", ["http://h/v1=", "http://h=a\nb", "http://h=🔑"])
def test_a_variable_that_cannot_be_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    keys(monkeypatch, text)
    with pytest.raises(InputError, match="THOUGHTGRAPH_API_KEY"):
        key_for("http://h/v1")


async def test_no_endpoint_sends_us_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it chose which address of ours is asked, and its answer would be the model's."""
    with FakeServer() as owner, FakeServer() as other:
        keys(monkeypatch, f"{owner.url}={KEY}")
        where = {"Location": f"{other.url}/chat/completions"}
        redirects = (301, 302, 303, 307, 308)
        owner.fault = lambda seen: Fault(redirects[seen.number], headers=where)
        for _ in redirects:
            with pytest.raises(ModelError, match="name its address") as caught:
                await port_for(owner.specifier).sample(ASK)
            assert other.url in str(caught.value) and KEY not in str(caught.value)
    assert len(owner.seen) == len(redirects) and not other.seen
