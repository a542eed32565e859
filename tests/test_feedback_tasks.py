"""FGDIP on real tasks: Game of 24 by hand, and questions with pages and what is no action."""

from typing import Any

from support.acting import visited
from support.pages_script import ScriptedPages
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.prompts import fill
from thoughtgraph.tools.wiki.sources import toolbox


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
