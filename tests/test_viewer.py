"""The page that shows a search: its prompts, its data, what it may do."""

import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from support.scripted import Call, Reply, ScriptedChat
from support.stepping import mistaken
from support.stored import bushy, small, stored

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.cli.viewer.page import page
from thoughtgraph.cli.viewer.prompts import Renderer
from thoughtgraph.tree import grow

HOSTILE = "</script><img src=x onerror=\"window.hacked=1\"><!--<script>\u2028&amp; \ud800 'x'"


class Document(HTMLParser):
    """Every element of a page with its attributes, and the text of its data block."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.data: Any = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        block = ("script", {"id": "data", "type": "application/json"})
        if self.elements[-1:] == [block]:
            self.data = self.data or json.loads(data)


def shown(*results: dict[str, Any], number: int = 0) -> dict[str, Any]:
    """What the page of some results holds of one of them."""
    return Document(page(results)).data["runs"][number]


async def solved(
    reply: Reply, task: str, problem: str, method: str = "tot_bfs", **context: Any
) -> tuple[dict[str, Any], ScriptedChat]:
    model = ScriptedChat(reply=reply)
    graph = tg.build(method, task=task, model=model)
    out = await graph.ainvoke({"problem": problem}, context=context)
    kept = {name: out[name] for name in ("answer", "settings", "tree", "usage", "stop_reason")}
    return {"method": method, "task": task, "problem": problem, **kept}, model


def sent_to(model: ScriptedChat, *roles: str, system: bool = True) -> set[str]:
    """The prompts that a model was sent, as a page shows those with a system message of a line."""
    prompts = [call.prompt for call in model.seen if call.role in roles]
    if not system:
        return set(prompts)
    return {"System:\n{}\n\nUser:\n{}".format(*prompt.split("\n", 1)) for prompt in prompts}


def asked(result: dict[str, Any], role: str) -> set[str]:
    keys = result["tree"]
    return {text for key in keys for name, text in Renderer(result).prompts(key) if name == role}


def guess(call: Call) -> list[str]:
    """Words for the clues, and a verdict of each."""
    words = "h1. strip (certain)\nh2. thine (high)\nv1. strap (high)\nh3. rents (low)"
    return ["maybe" if call.role == "value" else words] * call.n


def revise(call: Call) -> list[str]:
    return ["It is not perfectly coherent." if call.role == "judge" else f"It was {call.draw}"]


def elect(call: Call) -> list[str]:
    draft = "Plan:\nA plan.\nPassage:\nIt rained."
    return ["The best choice is 2" if call.role == "vote" else f"{draft} {call.draw}"] * call.n


def grade(call: Call) -> list[str]:
    return [f"Evaluation Score: 0.{at}" for at in range(1, call.n + 1)]


CLUES = (
    '["Long narrow piece", "Yours, of old", "Apartment payments", "Valuable thing", "Equals", '
    '"Leather band", "Not those but", "Wash off the soap", "Bury", "Bugs, to a gardener"]'
)
SENTENCES = "It rained. The cat slept. Nobody called. She kept the key."
DRAFT = {"refinements": 2, "draft": "A passage of my own. It rained."}
TWO, ONE = ({"protocol": each, "limit_requests": 8} for each in ("two_call", "single_call"))
PLAIN = [
    ("tot_dfs", "crosswords", CLUES, guess, {"steps": 3, "max_records": 8}, "value"),
    ("refine", "creative_writing", SENTENCES, revise, {**DRAFT, "draft": ""}, "judge"),
    ("refine", "creative_writing", SENTENCES, revise, DRAFT, "judge"),
    ("tot_bfs", "creative_writing", SENTENCES, elect, {"n_generate": 3}, "vote generate"),
]
WITH_SYSTEM = [
    ("rollback", "gsm8k", "4 + 9?", mistaken, TWO, "analyse extract_index"),
    ("rollback", "gsm8k", "4 + 9?", mistaken, ONE, "analyse"),
    ("level_tot", "gsm8k", "4 + 9?", grade, {"steps": 2}, "score"),
]


@pytest.mark.parametrize("case", [*PLAIN, *WITH_SYSTEM], ids=lambda case: f"{case[0]}-{case[5]}")
async def test_prompts_of_judging_roles_are_rendered_again(case):
    """A draft of one's own has no prompt; one call of an analysis reads no index apart."""
    method, task, problem, reply, context, roles = case
    problem = registry.task(task).read(problem)
    result, model = await solved(reply, task, problem, method, **context)
    for role in roles.split():
        sent = sent_to(model, role, system=case in WITH_SYSTEM)
        assert asked(result, role) == sent != set()
    assert bool(asked(result, "extract_index")) == ("extract_index" in roles)
    if method == "refine":
        others = {call.role for call in model.seen} - {"judge"}
        assert asked(result, "generate") == sent_to(model, *others, system=False)
    if method == "tot_dfs":
        assert len(asked(result, "value")) > 3
        assert asked(result, "generate") <= sent_to(model, "generate", system=False)
    # The tree keeps the ballots at one candidate; the page shows them at each.
    judged = [each for each in shown(result)["thoughts"] if "value" in each]
    assert method != "tot_bfs" or all("value_raw" in each for each in judged)


@pytest.mark.parametrize("parallel", [True, False])
async def test_prompts_with_experiences_are_rendered_again(parallel):
    settings = {"parallel": parallel, "shots": 1}
    result, model = await solved(mistaken, "gsm8k", "4 + 9?", "rollback", **settings)
    sent = sent_to(model, "generate")
    assert asked(result, "generate") == sent
    warned = [text for text in sent if "Experience with Analysis" in text]
    assert len(warned) > 1
    continued = Renderer(result).expansion("0")
    assert [prompt.text in warned for prompt in continued] == [False], "the first was not warned"
    told = [
        {t["id"]: t["experiences"] for t in thoughts if "experiences" in t}
        for thoughts in (shown(result)["thoughts"], result["tree"].values())
    ]
    assert told[0] == told[1]


def test_page_refers_to_nothing_outside_and_allows_no_foreign_script():
    elements = Document(page([stored(small())])).elements
    for tag, attributes in elements:
        for name in ("src", "href", "action", "style"):
            assert (attributes.get(name) or "data:,").startswith("data:"), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    policy = next(a["content"] for _, a in elements if a.get("http-equiv"))
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy


def test_hostile_text_stays_data_in_any_encoding():
    result = stored(small(text=HOSTILE, raw=HOSTILE, note=HOSTILE), problem=HOSTILE)
    document = Document(page([result]))
    (run,) = document.data["runs"]
    assert run["thoughts"][1]["text"] == run["problem"] == HOSTILE
    assert not [tag for tag, _ in document.elements if tag == "img"]
    text = page([stored(small(text="24 ≠ \ud800 \U0001d518"), problem="\ud800 ≠")])
    assert "≠" not in re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.S)
    text.encode("utf-8")


def test_numbers_that_json_lacks_are_texts():
    odd = {"cost": math.inf, "priority": -math.inf, "value": math.nan}
    thought = shown(stored(small(**odd)))["thoughts"][1]
    assert (thought["cost"], thought["priority"], thought["value"]) == ("inf", "-inf", "nan")


def test_path_to_the_answer_ends_at_the_best_output():
    answer = "(10 - 4) * (13 - 9)"
    tree = small()
    for status, value in (("pruned", 60.0), ("terminal", 61.0), ("terminal", 61.0)):
        output = {"text": f"Answer: {answer} = 24", "status": status, "value": value}
        tree |= grow(tree, "1", [output])
    assert shown(stored(tree, answer=answer))["chosen"] == "5"
    assert shown(stored(tree))["chosen"] is None


def test_results_of_unknown_tasks_and_methods_are_shown_without_prompts():
    result = stored(small(), task="of_somebody_else", method="unheard_of", settings={})
    assert Renderer(result).prompts("1") == []
    assert len(shown(result)["thoughts"]) == 4
    assert "may not choose code to run" in shown(result)["promptless"]
    assert shown(stored(small()))["promptless"] is None


def test_two_thousand_thoughts_make_a_small_page():
    result = stored(bushy(2000))
    prompts = sum(len(text) for key in result["tree"] for _, text in Renderer(result).prompts(key))
    assert prompts > 1_500_000
    assert len(page([result])) < 1_500_000
