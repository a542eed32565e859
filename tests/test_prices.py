"""What a run costs: whose prices count, what an unknown price means for a limit on dollars."""

from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from support.scripted import ScriptedChat
from support.stepping import Stepping

import thoughtgraph as tg
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.prices import FREE, dollars, public_price

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
