"""Completions that are held to the form their task reads: the grammars, and who is sent them."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from langchain_core.messages import HumanMessage
from support.fake_server import FakeServer
from support.gbnf import Gbnf
from support.players import play
from support.pools import POOLS
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.acting import Hints
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.context import resolve_settings
from thoughtgraph.llm.exchange import Request
from thoughtgraph.settings.acting import ReactSettings
from thoughtgraph.settings.mixed_thought import TomtTotSettings
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.task import Prompt, Question
from thoughtgraph.tasks.game24.game24 import Game24
from thoughtgraph.tasks.hotpotqa import HotpotQA
from thoughtgraph.tasks.scenes.plan_language import parse
from thoughtgraph.tasks.scenes.scenes import Scenes, numbered
from thoughtgraph.tools.scenes.vocabulary import Style
from thoughtgraph.tools.wiki.sources import toolbox

PLANS = resolve_settings(TomtTotSettings, {}, {"grammar": True})
EQUATIONS = resolve_settings(TotBfsSettings, {}, {"grammar": True, "layout": "turns"})
STEPS = resolve_settings(ReactSettings, {}, {"grammar": True})
STYLES: tuple[Style, ...] = get_args(Style)
KINDS: tuple[Type, ...] = get_args(Type)
PUZZLE = "4 9 10 13"
STEP = "4 + 9 = 13 (left: 10 13 13)"
TASK = Game24()
TOOLS = "Search[entity]: finds a page\nLookup[string]: finds a sentence\nFinish[answer]: ends"
HELD = [HumanMessage("Yes or no?")]
FORM = 'root ::= "yes" | "no"'

REPLY = play


def form(prompt: Prompt) -> Gbnf:
    return Gbnf(prompt.grammar)


def path(*lines: str) -> list[tg.Thought]:
    return [tg.Thought(text=line) for line in lines]


def asked(scenes: Scenes, problem: str, done: Sequence[str], steps: int | None) -> Question[Any]:
    return scenes.plan(scenes.read(problem), path(*done), (), steps, PLANS)


@pytest.mark.parametrize("pool", POOLS)
def test_every_plan_that_we_make_is_allowed_whole_and_in_chunks(pool: range) -> None:
    for seed in pool:
        draws = random.Random(seed)
        style, kind = draws.choice(STYLES), draws.choice(KINDS)
        made = generate(style, kind, 1, seed)[0]
        scenes, lines = Scenes(style), numbered(made.plan).split("\n")
        assert form(asked(scenes, made.problem(), (), None).prompt).accepts("\n".join(lines))
        at, size = draws.randrange(len(lines)), draws.randint(1, 4)
        for steps in (size, None):
            rest = lines[at:] if steps is None else lines[at : at + steps]
            chunk = asked(scenes, made.problem(), made.plan[:at], steps)
            assert form(chunk.prompt).accepts("\n".join(rest))


@pytest.mark.parametrize("pool", POOLS)
def test_every_plan_that_is_allowed_can_be_read(pool: range) -> None:
    for seed in pool:
        draws = random.Random(seed)
        style = draws.choice(STYLES)
        scenes, problem = Scenes(style), generate(style, "count", 1, 0)[0].problem()
        steps = draws.choice([None, 1, 2, 3])
        question = asked(scenes, problem, ["obj1 = exist(all_obj)"] * draws.randint(0, 3), steps)
        text = form(question.prompt).some(draws)
        (read,) = question.read([text])
        assert read == text.split("\n")
        targets = [parse(line).target for line in read]
        assert "ans" not in targets[:-1]
        assert targets[-1] == "ans" or len(read) == steps
        assert not scenes.execute(scenes.read(problem), (), read, PLANS).malformed


NO_PLANS = (
    *("Here is the plan:", "obj1 = filter_object(all_obj)", 'obj1 = find("chair",all_obj)'),
    *('obj1 = filter_object("sofa",all_obj)', 'obj1 = filter_object("red",all_obj)'),
    *('obj1 = count_part("leg","chair")', 'all_obj = filter_object("chair",all_obj)'),
    "Step 2:ans = count_object(all_obj)",
    "Step 1:ans = count_object(all_obj)\nStep 2:obj1 = exist(all_obj)",
)


def test_what_is_no_plan_of_this_scene_is_not_allowed() -> None:
    scenes, problem = Scenes("ptr"), generate("ptr", "sum", 1, 0)[0].problem()
    allowed = form(asked(scenes, problem, (), None).prompt)
    for line in NO_PLANS:
        written = line if line.startswith("Step") else f"Step 1:{line}\nStep 2:ans = exist(obj1)"
        assert not allowed.accepts(written)
    two = form(scenes.plan(scenes.read(problem), (), (), None, {**PLANS, "max_steps": 2}).prompt)
    for name, ends in (("ans", True), ("obj2", False)):
        plan = f"Step 1:obj1 = exist(all_obj)\nStep 2:{name} = exist(all_obj)"
        assert two.accepts(plan) is ends, "a plan ends by its answer at the longest"


@pytest.mark.parametrize("pool", POOLS)
def test_equations_answers_and_verdicts_that_are_allowed_are_read(pool: range) -> None:
    for seed in pool:
        draws = random.Random(seed)
        left = " ".join(["4", "9", "10", "13"][: draws.randint(2, 4)])
        question = TASK.propose(PUZZLE, path(f"8 / 2 = 4 (left: {left})"), EQUATIONS)
        text = form(question.prompt).some(draws)
        assert [each["text"] for each in question.read([text])] == text.split("\n")
        ending = TASK.propose(PUZZLE, path("2 * 12 = 24 (left: 24)"), EQUATIONS)
        answer = form(ending.prompt).some(draws)
        assert TASK.output(PUZZLE, path(*[each["text"] for each in ending.read([answer])]))
        verdict = TASK.value(PUZZLE, path(draws.choice([STEP, "Answer: 4 * 6 = 24"])), EQUATIONS)
        assert isinstance(verdict, Question)
        text = form(verdict.prompt).some(draws)
        assert verdict.read([text]).malformed == 0
        assert text.rpartition("\n")[2] in verdict.prompt.user


@pytest.mark.parametrize("pool", POOLS)
def test_steps_that_are_allowed_call_a_tool(pool: range, tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"title": "Milan", "text": "Milan is a city."}\n', encoding="utf-8")
    tools = toolbox(str(pages))
    for seed in pool:
        draws = random.Random(seed)
        hints = Hints(tools=tools.describe(), thought=draws.choice(["", "I look."]))
        question = HotpotQA().move("Where?", (), "react", STEPS, hints)
        move = question.read([form(question.prompt).some(draws)])[0]
        called = tools.parse(move.action)
        assert not move.malformed
        assert called is not None and called[0] in tools.names


@pytest.mark.parametrize("layout", ["text", "turns"])
def test_nothing_but_the_grammar_changes_what_is_asked(layout: str) -> None:
    problem = generate("ptr", "sum", 1, 0)[0].problem()
    scenes, hotpot = Scenes("ptr"), HotpotQA()
    for on in (EQUATIONS, PLANS, STEPS):
        held, off = {**on, "layout": layout}, {**on, "layout": layout, "grammar": False}
        both = [
            [
                TASK.propose(PUZZLE, (), options).prompt,
                TASK.propose(PUZZLE, path("2 * 12 = 24 (left: 24)"), options).prompt,
                TASK.move(PUZZLE, (), "fgdip", options, Hints()).prompt,
                TASK.estimate(PUZZLE, path(STEP), "fgdip", options).prompt,
                hotpot.move("Where?", (), "react", {**STEPS, **options}, Hints(tools=TOOLS)).prompt,
                scenes.plan(scenes.read(problem), (), (0,), 1, {**PLANS, **options}).prompt,
            ]
            for options in (held, off)
        ]
        for with_form, without in zip(*both, strict=True):
            assert with_form.grammar and not without.grammar
            assert replace(with_form, grammar="") == without


async def test_a_server_is_sent_it_where_the_setting_is_on_and_nowhere_else(
    server: FakeServer,
) -> None:
    bodies = []
    for on in (True, False):
        server.seen.clear()
        port = tg.ChatPort(server.chat(), takes_grammar=True)
        graph = tg.build("tot_bfs", task="game24", model=port)
        out = await graph.ainvoke({"problem": PUZZLE}, context={"grammar": on, "breadth": 1})
        assert out["answer"]
        bodies.append([seen.body for seen in server.seen])
    assert all(Gbnf(body["grammar"]).rules["root"] for body in bodies[0])
    assert not any("grammar" in body for body in bodies[1])
    plain = [{k: v for k, v in body.items() if k != "grammar"} for body in bodies[0]]
    assert sorted(map(str, plain)) == sorted(map(str, bodies[1]))


@pytest.mark.parametrize("judge", [False, True])
async def test_a_model_that_is_not_known_to_take_one_is_refused(judge: bool) -> None:
    model = ScriptedChat(reply={})
    taking = tg.ChatPort(ScriptedChat(reply={}), takes_grammar=True)
    first, second = (taking, model) if judge else (model, taking)
    graph = tg.build("tot_bfs", task="game24", model=first, evaluator_model=second)
    with pytest.raises(tg.SettingError, match="leave 'grammar' out, or choose local") as refused:
        await graph.ainvoke({"problem": PUZZLE}, context={"grammar": True})
    assert "\n" not in str(refused.value)
    assert not model.seen


async def test_an_answer_under_one_form_is_none_under_another(server: FakeServer) -> None:
    plain, held = (
        Request(HELD, 1, "generate", (), tg.Draw("p", "0"), {"seed": 1}, grammar=grammar)
        for grammar in ("", FORM)
    )
    assert plain.content().keys() == {"messages", "n", "stop", "parameters", "draw"}
    assert held.content() == {**plain.content(), "grammar": FORM}
    assert held.seed(0) == plain.seed(0) != plain.seed(1), "a grammar draws from the same seed"
    server.reply = lambda seen: "yes"
    port = tg.ChatPort(server.chat(), takes_grammar=True, replay="record")
    for grammar in ("", FORM, FORM, 'root ::= "maybe"'):
        await port.sample(HELD, grammar=grammar, draw=tg.Draw("p", "0"))
    assert len(server.seen) == 3
