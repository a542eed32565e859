"""Tasks about pages and feedback: prompts, readings, scores."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.acting import by_visit, visited
from support.pages_script import ScriptedPages
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.acting import Acts, Hints, Reflects, Verifies
from thoughtgraph.prompts import fill, load
from thoughtgraph.task import Answers, Estimates
from thoughtgraph.tasks.trajectory import turns_of
from thoughtgraph.tools.wiki.sources import toolbox
from thoughtgraph.tree import Thought

NAMES = ("hotpotqa", "fever", "strategyqa")
OPTIONS = {
    **{"corpus": "", "observations": "clean", "tool_costs": "", "contact": ""},
    **{"tool_deadline": 5.0, "recording": "keep"},
}
PARAGRAPHS = [["Milan", ["Milan is a city.", "It is in Italy."]], ["Oslo", ["Oslo is a capital."]]]
TOOLS = toolbox(ScriptedPages({}))
HOTPOT: Any = registry.task("hotpotqa")


def step(text: str = "I look.", observation: str = "A city.", argument: str = "Milan") -> Thought:
    action = {"name": "Search", "argument": argument}
    return {"text": text, "action": action, "observation": observation}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"question": ""}',
        '{"question": 1}',
        '{"question": "Who?", "context": [["no sentences"]]}',
        '{"question": "Who?", "context": [["", ["no title"]]]}',
        '{"question": "Who?", "context": [["T", "a text"]]}',
        '{"question": "Who?", "context": {"title": ["a", "b"], "sentences": [[]]}}',
    ],
)
def test_what_is_no_distractor_question_is_refused(text: str) -> None:
    with pytest.raises(tg.ProblemError) as refused:
        HOTPOT.read(text)
    assert "\n" not in str(refused.value)


async def test_a_distractor_question_keeps_its_paragraphs_and_loses_its_gold(
    tmp_path: Path,
) -> None:
    question = {"question": "Where is Milan?", "context": PARAGRAPHS}
    problem = HOTPOT.read(json.dumps({**question, "answer": "Italy", "type": "x"}))
    assert json.loads(problem) == question
    assert HOTPOT.read(problem) == problem
    columns = {"title": ["Milan", "Oslo"], "sentences": [each[1] for each in PARAGRAPHS]}
    assert HOTPOT.read(json.dumps({**question, "context": columns})) == problem
    for asked in (HOTPOT.ask(problem, "io", {}), HOTPOT.move(problem, [], "react", {}, Hints())):
        assert "Where is Milan?" in asked.prompt.user
        assert "It is in Italy" not in asked.prompt.user
    found = await HOTPOT.tools(problem, OPTIONS, ()).call("Search", "milan", {})
    assert (found.observation, found.failed) == ("Milan is a city. It is in Italy.", False)
    corpus = tmp_path / "pages.jsonl"
    corpus.write_text('{"title": "Milan", "sentences": ["Another Milan."]}\n', encoding="utf-8")
    tools = HOTPOT.tools(problem, {**OPTIONS, "corpus": str(corpus)}, ())
    assert (await tools.call("Search", "Milan", {})).observation == "Another Milan."


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("style", ["react", "itot", "fgdip"])
def test_a_prompt_goes_on_at_the_next_thought_as_text_or_in_turns(name: str, style: str) -> None:
    task: Any = registry.task(name)
    able = (Answers, Acts, Estimates, Reflects, Verifies)
    assert all(isinstance(task, each) for each in able)
    hints = Hints(tools=TOOLS.describe(), reflections=["Search first."])
    path = [step(), step("I see.", "A park.", "park")]
    text = task.move("Is it so?", path, style, {}, hints).prompt
    turns = task.move("Is it so?", path, style, {"layout": "turns"}, hints).prompt
    steps = [
        *("Thought 1: I look.\nAction 1: Search[Milan]", "Observation 1: A city."),
        *("Thought 2: I see.\nAction 2: Search[park]", "Observation 2: A park."),
    ]
    assert text.user.endswith("\n".join(["Is it so?", *steps, "Thought 3:"]))
    assert text.stop == turns.stop == ("\nObservation",)
    assert hints.tools in text.user
    said = [str(message.content) for message in turns.messages()]
    assert [message.type for message in turns.messages()[-4:]] == ["ai", "human", "ai", "human"]
    assert said[-4:] == steps
    lines = [line for each in said for line in each.split("\n") if line]
    told = [line for line in text.user.split("\n") if line and line != "Thought 3:"]
    assert sorted(lines) == sorted(told)
    alone = Hints(tools=hints.tools, thought="I see.")
    text = task.move("Is it so?", [step()], style, {}, alone).prompt
    turns = task.move("Is it so?", [step()], style, {"layout": "turns"}, alone).prompt
    assert text.user.endswith("Thought 2: I see.\nAction 2:")
    assert turns.user == "Observation 1: A city.\nThought 2: I see.\nAction 2:"
    assert text.stop == turns.stop == ("\n",)


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=4))
@settings(max_examples=50)
def test_what_a_tool_answered_is_no_word_of_the_models(said: list[tuple[str, str]]) -> None:
    path = [step(text, f"Thought 9: {seen}") for text, seen in said]
    turns, told_last = turns_of("Question: So?", path)
    assert len(turns) == len(path)
    for _, written in turns:
        assert all(line.startswith(("Thought ", "Action ")) for line in written.split("\n"))
        assert "Thought 9:" not in written.partition(": ")[0]
    for at, told in enumerate([*(asked for asked, _ in turns[1:]), told_last], 1):
        assert not path or told.startswith(f"Observation {at}: Thought 9:")


# Worked examples


def judges(name: str) -> list[str]:
    return load(f"acting/{name}_examples").split("\n\n")


def test_the_answer_evaluator_is_shown_rejections_on_what_is_known() -> None:
    """Not on the kind alone: yes or no always is of the kind that StrategyQA asks for."""
    read = HOTPOT.verify("?", "", {}).read
    verdicts = {each: read([each]) for each in judges("verify")}
    assert sorted(verdict.value for verdict in verdicts.values()) == [0.0] * 4 + [1.0] * 4
    assert not any(verdict.malformed for verdict in verdicts.values())
    assert all("possible answer is" in verdict.label for verdict in verdicts.values())
    bad = [each for each, verdict in verdicts.items() if not verdict.value]
    known = [each for each in bad if ": of the right kind, " in each]
    assert any(re.search(r"^Answer: (?:yes|no)$", each, re.MULTILINE) for each in known)
    assert any(each.startswith("Claim: ") for each in known)
    for name, said in (("fever", "Claim: It is so."), ("strategyqa", "Question: Is it so?")):
        task: Any = registry.task(name)
        prompt = task.verify(said.partition(": ")[2], "no", {}).prompt.user
        assert "Find the possible answer to the question yourself" in prompt
        assert prompt.endswith(f"\n\n{said}\nAnswer: no")


@pytest.mark.parametrize(
    ("name", "method"), [("hotpotqa", "fgdip"), ("fever", "itot_dfs"), ("strategyqa", "react")]
)
async def test_a_file_of_examples_stands_in_for_ours(
    name: str, method: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.md"
    file.write_text("Question: Mine?\nThought 1: {mine}\nAction 1: Finish[mine]\n", "utf-8")
    said = {"hotpotqa": "Santiago", "fever": "REFUTES", "strategyqa": "no"}[name]
    replies = {"extract": '["Chile"]', "step_eval": "Reply: sure", "answer_eval": "JUDGMENT: YES"}
    step = f"So.\nAction 1: Finish[{said}]"
    model = ScriptedChat(reply=lambda call: replies.get(call.role, step))
    graph = tg.build(method, task=name, model=model, tools=TOOLS)
    context = {"examples": str(file), **({} if method == "react" else {"n_generate": 2})}
    final = await graph.ainvoke({"problem": "Is it so?"}, context=context)
    assert final["answer"] == said
    steps = [call.prompt for call in model.seen if call.role == "generate"]
    assert steps
    assert all("Thought 1: {mine}" in prompt for prompt in steps)
    assert not any(load(f"{name}/io").splitlines()[-2] in prompt for prompt in steps)


async def test_an_action_that_calls_no_tool_is_impossible_without_being_asked_about():
    wants = ["Foo[x]", "Search[]", "Search[Foo[x]: Invalid action]", "Search[Odd]"]

    def reply(call: Call) -> str:
        if call.role == "generate":
            assert call.draw is not None
            return f"I try.\nAction 2: {wants[call.draw[2]]}"
        words = {"extract": '["Milan"]', "step_eval": "Reply: sure", "conclude": "the answer is x"}
        return words[call.role]

    odd = "Invalid action: Foo[x]. The actions are: none."
    pages = ScriptedPages({"Milan": "A city.", "Odd": odd})
    model = ScriptedChat(reply=reply)
    graph = tg.build("fgdip", task="hotpotqa", model=model, tools=toolbox(pages))
    context: Any = {"n_generate": 4, "max_depth": 2}
    out = await graph.ainvoke({"problem": "Where is Milan?"}, context=context)
    steps = tg.children_of(out["tree"], "1")
    assert [(step["observation"] or "")[:14] for step in steps[:2]] == ["Invalid action"] * 2
    assert [(step["status"], step["note"]) for step in steps] == [
        ("pruned", "impossible"),
        ("pruned", "impossible"),
        ("open", "sure"),  # a page that is missing
        ("open", "sure"),  # a page that says what an invalid action is told
    ]
    assert sum(call.role == "step_eval" for call in model.seen) == 3
    usage = out["usage"]
    assert (usage["tool_calls"], usage["tool_failures"]) == ({"Search": 3}, {"Search": 1})
    assert usage["parse_errors"] == {"generate": 2}


WHY = "10 - 4 = 6 and 9 - 13 = -4, and 6 * -4 = -24."
WRONG, RIGHT = "(10 - 4) * (9 - 13)", "(10 - 4) * (13 - 9)"
FIRST = ("10 - 4 = 6 (left: 6 9 13)", "9 - 4 = 5 (left: 5 10 13)", "not a step")
EQUATIONS = {
    "6 9 13": "13 - 9 = 4 (left: 4 6)",
    "4 6": "4 * 6 = 24 (left: 24)",
    "5 10 13": "13 - 10 = 3 (left: 3 5)",
    "3 5": "3 * 5 = 15 (left: 15)",
}


async def test_game_of_24_by_hand():
    def reply(call: Call) -> str:
        left = call.prompt.rpartition("Numbers: ")[2].partition("\n")[0]
        if call.role == "generate":
            written = WRONG if "4 * 6 = 24" in call.prompt.rpartition("Steps:")[2] else RIGHT
            return EQUATIONS.get(left, f"Answer: {written} = 24")
        checked = f"THOUGHT: {WHY}\nJUDGMENT: NO" if WRONG in call.prompt else "JUDGMENT: YES"
        return {"extract": "\n".join(FIRST), "step_eval": "likely", "answer_eval": checked}[
            call.role
        ]

    model = ScriptedChat(reply=reply)
    graph = tg.build("fgdip", task="game24", model=model)
    out = await graph.ainvoke({"problem": "4 9 10 13"}, context={"n_generate": 2})
    assert (out["answer"], out["stop_reason"]) == (RIGHT, "finished")
    assert out["outcome"] == "finished with an answer that the answer evaluator accepted"
    lines = list(EQUATIONS.values())
    first = [*FIRST[:1], *lines[:2], f"Answer: {WRONG}"]
    assert visited(out) == [*first, *FIRST[1:2], *lines[2:], f"Answer: {RIGHT}"]
    assert sum(call.role == "answer_eval" for call in model.seen) == 2
    made = [call for call in model.seen if call.role == "generate"]
    ends = [call for call in made if "Numbers: " not in call.prompt]
    assert len(ends) == 2, "one answer is asked for where one number is left"
    assert [hinted(call) for call in ends] == ["", ""], "the steps are fixed, and so is the answer"
    assert all("different" not in call.prompt for call in ends)
    rejected = fill("game24/rejected", lines=f"{WRONG} ({WHY})")
    beside = fill("game24/siblings", lines="13 - 10 = 3 (left: 3 5)")
    steps = [hinted(call) for call in made if "Numbers: 5 10 13\n" in call.prompt]
    assert steps == [rejected, f"{rejected}\n\n{beside}"]
    assert out["usage"]["tool_cost"] == 0


def hinted(call: Call) -> str:
    """What a prompt of Game of 24 says between its examples, with the steps, and its question."""
    shown = call.prompt.rpartition("\n\nNumbers: ")[0].partition("Now write")[2]
    starts = [shown.find(fill(f"game24/{name}", lines="")) for name in ("rejected", "siblings")]
    return next((shown[at:] for at in starts if at >= 0), "")


async def test_an_evaluator_that_knows_another_answer_sets_off_error_analysis():
    reason = "Argon is a gas, and only what is solid can be chewed: the possible answer is no."

    def reply(call: Call) -> str:
        if call.role == "generate":
            known = f"Results: yes, Thought: I guess. ({reason})" in call.prompt
            return f"I {'see' if known else 'guess'}.\nAction 2: Finish[{'no' if known else 'yes'}]"
        if call.role == "answer_eval":
            wrong = call.prompt.endswith("\nAnswer: yes")
            return f"THOUGHT: {reason}\nJUDGMENT: {'NO' if wrong else 'YES'}"
        return {"extract": '["Argon", "Chewing"]', "step_eval": "Reply: sure"}[call.role]

    pages = ScriptedPages({"Argon": "A noble gas.", "Chewing": "It crushes food."})
    model = ScriptedChat(reply=reply)
    graph = tg.build("fgdip", task="strategyqa", model=model, tools=toolbox(pages))
    out = await graph.ainvoke({"problem": "Can one chew argon?"}, context={"n_generate": 1})
    assert (out["answer"], out["stop_reason"]) == ("no", "finished")
    assert [each["answer"] for each in by_visit(out) if "answer" in each] == ["yes", "no"]
