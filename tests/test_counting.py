"""What is kept, counted and paid: recorded answers, usage, prices."""

import sqlite3
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from support.clock import Clock
from support.scripted import ScriptedChat
from support.stepping import Stepping

import thoughtgraph as tg
from thoughtgraph.errors import BudgetSpent, InputError
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.prices import FREE, dollars, public_price
from thoughtgraph.llm.store import Answer, MemoryStore, SqliteStore, digest
from thoughtgraph.usage import Limits, Usage


def answer(*texts: str) -> Answer:
    return {"texts": list(texts), "prompt_tokens": 3, "completion_tokens": 5}


def test_the_first_answer_stays_and_comes_back_whole(tmp_path: Path) -> None:
    text = "\x00\x1b \ud800 日本\n'\""
    for cache in (MemoryStore(), SqliteStore(tmp_path / "a.sqlite")):
        assert cache.get("k") is None
        cache.put("k", answer(text, ""))
        cache.put("k", answer("second"))
        assert cache.get("k") == answer(text, "")


def test_a_file_outlives_its_process_and_is_shared(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "a.sqlite"
    one, other = SqliteStore(file), SqliteStore(str(file))
    one.put("k", answer("kept"))
    assert other.get("k") == answer("kept")
    one.close()
    other.put("l", answer("more"))
    other.close()
    assert SqliteStore(file).get("l") == answer("more")


def test_what_is_no_cache_is_refused_in_one_line(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("these are notes, and no database at all\n" * 100)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE answers (something TEXT)")
    db.close()
    for path in (text, tmp_path, text / "below"):
        with pytest.raises(InputError, match="name another file") as caught:
            SqliteStore(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="name another file"):
        SqliteStore(other).put("k", answer())
    assert "no database at all" in text.read_text(), "the user's file is left alone"


def test_equal_values_have_equal_keys() -> None:
    assert digest({"a": [1, "é"], "b": 1}) == digest({"b": 1, "a": [1, "é"]})
    assert digest({"a": 1}) != digest({"a": [1]}) != digest({"a": "1"})


def beside(count: int, limits: Any = None, **more: Any) -> list[Meter]:
    """The meters of nodes of one superstep."""
    shared = defaultdict[str, float](float)
    usage = more.pop("usage", Usage())
    return [Meter(limits or Limits(), usage, siblings=shared, **more) for _ in range(count)]


def test_requests_are_never_exceeded_by_nodes_side_by_side() -> None:
    meters = beside(5, Limits(requests=10), usage=Usage(requests=7))
    with ExitStack() as held:
        requests = [meter.request("generate", "m") for meter in meters]
        for request in requests[:2]:
            held.enter_context(request)
        with pytest.raises(RuntimeError), requests[2]:
            for meter in meters[3:]:
                with pytest.raises(BudgetSpent, match="requests"), meter.request("generate", "m"):
                    pass
            meters[0].check()  # what is reserved is granted
            raise RuntimeError  # the third one fails
        held.enter_context(requests[4])  # so another may go
    assert sum(meter.usage().get("requests", 0) for meter in meters) == 3
    with pytest.raises(BudgetSpent, match="requests"), requests[3]:
        pass


@pytest.mark.parametrize(
    ("limits", "numbers"),
    [
        (Limits(tokens=100), {"prompt_tokens": 60, "completion_tokens": 40}),
        (Limits(dollars=0.5), {"completion_tokens": 100_000}),
        (Limits(seconds=60), {}),
    ],
)
def test_what_one_node_spends_while_another_waits_stops_that(
    limits: Limits, numbers: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    clock.rule(monkeypatch, "thoughtgraph.llm.meter")
    usage = Usage(seconds=50.0)
    one, other = beside(2, limits, usage=usage, prices={"m": (1.0, 5.0)})
    with other.request("generate", "m"):
        clock.now += 9
        other.check()
        with one.request("generate", "m"):
            clock.now += 1
        one.count("generate", "m", **numbers)
        with pytest.raises(BudgetSpent, match=next(iter(limits))):
            other.check()


OPENAI = "https://api.openai.com/v1"
CLAUDE = "claude-sonnet-4-5"


class Hosted(ScriptedChat):
    """A scripted model that says who serves it."""

    served_by: str
    model: str

    def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
        return {"ls_provider": self.served_by, "ls_model_type": "chat"}


def ended(call: Any) -> str:
    return "Evaluation Score: 1. The final solution is 3"


def hosted() -> Hosted:
    return Hosted(reply=ended, served_by="anthropic", model=CLAUDE)


async def chain(model: Any, **context: Any) -> dict[str, Any]:
    graph = tg.build("chain", task=Stepping(), model=model)
    return await graph.ainvoke({"problem": "x"}, context=context)


def test_the_table_is_asked_by_address_else_by_provider() -> None:
    prompt, completion = public_price("gpt-4o-mini", OPENAI) or FREE
    assert 0 < prompt < completion
    assert public_price(CLAUDE, "", "anthropic")
    assert public_price("gemini-2.5-flash", "", "google_genai")
    assert public_price("no-such-model", OPENAI) is None
    assert public_price("gpt-4o-mini", "", "ollama") is None
    for address in ("http://localhost:8000/v1", "https://models.example.org/v1"):
        assert public_price("gpt-4o-mini", address, "openai") is None, "any server may say so"
    assert public_price("sonar", "https://api.perplexity.ai") is None, "its tokens are not all"


def test_openai_models_are_priced_by_where_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert port_for(ChatOpenAI(model="gpt-4o-mini")).price() == public_price("gpt-4o-mini", OPENAI)
    elsewhere = ChatOpenAI(model="gpt-4o-mini", base_url="http://127.0.0.1:9/v1")
    assert port_for(elsewhere).price() is None


async def test_models_of_other_providers_are_priced_by_their_name_or_as_the_caller_says() -> None:
    out = await chain(hosted(), limit_dollars=5.0)
    usage, (prompt, completion) = out["usage"], out["prices"][CLAUDE]
    cost = usage["prompt_tokens"] * prompt + usage["completion_tokens"] * completion
    assert usage["dollars"] == pytest.approx(cost / 1e6)
    assert out["settings"]["limit_dollars"] == 5.0
    out = await chain(hosted(), prices={CLAUDE: (1000.0, 0.0)})
    assert out["usage"]["dollars"] == pytest.approx(out["usage"]["prompt_tokens"] / 1e3)


async def test_without_a_price_the_default_limit_is_off_and_one_that_is_set_is_refused() -> None:
    model = ScriptedChat(reply=ended)
    with pytest.raises(tg.SettingError, match="price of 'scripted'") as refused:
        await chain(model, limit_dollars=10.0)
    assert "\n" not in str(refused.value) and '{"scripted": [0.15, 0.6]}' in str(refused.value)
    assert not model.seen, "before anything is spent"
    out = await chain(model)
    assert out["prices"] == {"scripted": None}
    assert (out["usage"]["dollars"], out["settings"]["limit_dollars"]) == (None, None)
    assert "no price of scripted" in dollars(None, out["prices"])
    assert (await chain(model, limit_dollars=None))["usage"]["requests"]


async def test_the_judges_price_is_its_own() -> None:
    model = ScriptedChat(reply=ended)
    judge = Hosted(reply=ended, served_by="x", model="judge")
    graph = tg.build("level_tot", task=Stepping(), model=model, evaluator_model=judge)
    prices = {"scripted": (1.0, 1.0), "judge": (100.0, 100.0)}
    out = await graph.ainvoke({"problem": "x"}, context={"prices": prices})
    tokens = {
        role: spent["prompt_tokens"] + spent["completion_tokens"]
        for role, spent in out["usage"]["roles"].items()
    }
    cost = tokens["generate"] + 100 * tokens["score"]
    assert out["usage"]["dollars"] == pytest.approx(cost / 1e6)
    with pytest.raises(tg.SettingError, match="'judge'"):
        context = {"prices": {"scripted": (1.0, 1.0)}, "limit_dollars": 1.0}
        await graph.ainvoke({"problem": "x"}, context=context)
