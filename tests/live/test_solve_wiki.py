"""`thoughtgraph solve --task hotpotqa` over a real MediaWiki, recorded and replayed."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.fake_server import FakeServer
from support.mediawiki import mediawiki, missing
from support.reader import PAGES, QUESTION, read, told
from support.wiki_proxy import Fault, WikiProxy

from thoughtgraph.cli.app import main

if missing():
    pytest.skip(missing(), allow_module_level=True)

pytestmark = pytest.mark.ci

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mediawiki(tmp_path_factory.mktemp("mediawiki"), PAGES) as started:
        yield started


@pytest.fixture
def solve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    for name in ("THOUGHTGRAPH_DATA", "THOUGHTGRAPH_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def call(*options: str) -> tuple[int, str, str]:
        monkeypatch.setattr(
            sys, "argv", ["thoughtgraph", "solve", QUESTION, "--task", "hotpotqa", *options]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def test_a_wiki_is_searched_and_its_recording_needs_none(address, solve):
    with FakeServer(read) as model, WikiProxy(address) as proxy:
        given = ["--model", model.specifier, "--set", f"corpus={proxy.url}"]
        code, out, err = solve(*given, "--set", "recording=record", "--set", "contact=me@x.org")
        assert (code, err) == (0, "")
        assert "answer:   Germany" in out
        seen = told(model.answered[-1])
        assert seen[-1] == "(Result 1 / 1) Bonn in Germany is where he was born."
        assert all("(me@x.org)" in agent for agent in proxy.agents)
        proxy.fail(Fault(drop=True))
        code, out, err = solve(*given, "--set", "recording=replay")
        assert (code, err) == (0, "")
        assert "answer:   Germany" in out
        assert told(model.answered[-1]) == seen
        assert proxy.seen == []


def test_a_wiki_that_fails_in_the_middle_is_told_to_the_model(address, solve):
    with FakeServer(read) as model, WikiProxy(address) as proxy:
        # The first request asks whether the wiki is there, the next two open the first page.
        proxy.fault = lambda number: Fault(403) if number > 2 else Fault()
        code, _, err = solve("--model", model.specifier, "--set", f"corpus={proxy.url}")
    assert (code, err) == (0, "")
    first, second, third = told(model.answered[-1])
    assert first == "Fidelio is the only opera of Ludwig van Beethoven."
    assert second.startswith("Search failed: ")
    assert "HTTP 403" in second
    assert third == "No more results."


def test_a_wiki_without_plain_text_is_told_before_the_model_is_asked(address, solve):
    with FakeServer(read) as model:
        options = ["--model", model.specifier, "--set", f"corpus={address}?without=TextExtracts"]
        code, _, err = solve(*options)
    assert code == 2
    assert "lacks the extension TextExtracts" in err
    assert err.count("\n") == 1
    assert model.answered == []
