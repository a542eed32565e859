import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from support.pages_script import ScriptedPages

from thoughtgraph.acting import Toolbox
from thoughtgraph.tools.wiki.pages import PagesError, Unreachable, page_of_text
from thoughtgraph.tools.wiki.search_tools import (
    MOST_SENTENCES,
    Cursor,
    Observed,
    Style,
    lookup,
    search,
    search_tools,
)
from thoughtgraph.tools.wiki.sources import toolbox

ALPHA = (
    "Alpha is the first letter. It comes before beta.\nIt has a numeric value.\n"
    "== History ==\nThe alphabet begins with alpha. Nobody knows why.\n"
)
BETA = "Beta is the second letter. Alpha comes before it. One. Two. Three. Four."
PAGES = ScriptedPages(
    {"Alpha": ALPHA, "Beta": BETA, "Empty": ""},
    faults={"Down": Unreachable("the wiki does not answer")},
)


async def walk(
    *actions: tuple[str, str], style: Any = "clean", at: Cursor | None = None
) -> Observed:
    """Uses the tools one after the other."""
    step = Observed("", at or Cursor())
    for name, argument in actions:
        if name == "Search":
            step = await search(PAGES, argument, step.cursor, style=style)
        else:
            step = lookup(argument, step.cursor, style=style)
    return step


async def test_search_shows_the_lead_of_the_page():
    step = await walk(("Search", "alpha"))
    assert step.observation == (
        "Alpha is the first letter. It comes before beta. It has a numeric value."
    )
    assert not step.failed


async def test_search_in_react_style_shows_the_first_sentences_with_doubled_full_stops():
    step = await walk(("Search", "alpha"), style="react")
    assert step.observation == (
        "Alpha is the first letter. It comes before beta.. It has a numeric value.. "
        "The alphabet begins with alpha. Nobody knows why.."
    )


async def test_a_search_shows_no_more_than_five_sentences():
    step = await walk(("Search", "Beta"))
    assert step.observation.count(".") == MOST_SENTENCES


async def test_lookup_walks_through_the_sentences_with_the_keyword():
    found = ("Search", "Alpha"), ("Lookup", "alpha")
    assert (await walk(*found)).observation == "(Result 1 / 2) Alpha is the first letter."
    second = await walk(*found, ("Lookup", "ALPHA"))
    assert second.observation == "(Result 2 / 2) The alphabet begins with alpha."
    assert not second.failed
    third = await walk(*found, ("Lookup", "alpha"), ("Lookup", "alpha"))
    assert third == Observed("No more results.", second.cursor.__class__(*_parts(third)), True)
    again = lookup("alpha", third.cursor)
    assert again.observation == "No more results."


def _parts(step: Observed) -> tuple[Any, ...]:
    return step.cursor.page, step.cursor.keyword, step.cursor.next_index


async def test_in_react_style_a_keyword_in_other_case_starts_again():
    step = await walk(("Search", "Alpha"), ("Lookup", "alpha"), ("Lookup", "Alpha"), style="react")
    assert step.observation.startswith("(Result 1 / 2)")


async def test_another_keyword_and_another_page_start_again():
    step = await walk(
        ("Search", "Alpha"), ("Lookup", "alpha"), ("Lookup", "first"), ("Lookup", "alpha")
    )
    assert step.observation.startswith("(Result 1 / 2)")
    step = await walk(
        ("Search", "Alpha"), ("Lookup", "alpha"), ("Search", "Beta"), ("Lookup", "alpha")
    )
    assert step.observation == "(Result 1 / 1) Alpha comes before it."


async def test_a_miss_leaves_no_page_behind():
    step = await walk(("Search", "Alpha"), ("Search", "Gamma"))
    assert step.observation == 'Could not find Gamma. Similar: ["Alpha", "Beta", "Empty"].'
    assert step.failed
    assert step.cursor == Cursor()
    looked = lookup("alpha", step.cursor)
    assert (looked.failed, looked.observation[:19]) == (True, "No page to look in:")


async def test_a_miss_in_react_style_keeps_the_page():
    step = await walk(("Search", "Alpha"), ("Search", "Gamma"), style="react")
    assert step.observation == "Could not find Gamma. Similar: ['Alpha', 'Beta', 'Empty']."
    assert step.cursor.page is not None
    nothing = lookup("alpha", Cursor(), style="react")
    assert (nothing.observation, nothing.failed) == ("No more results.", True)


async def test_a_fault_is_told_and_leaves_the_cursor():
    before = (await walk(("Search", "Alpha"), ("Lookup", "alpha"))).cursor
    step = await walk(("Search", "Down"), at=before)
    assert step == Observed("Search failed: the wiki does not answer.", before, True)


async def test_a_page_without_text_says_so():
    step = await walk(("Search", "Empty"))
    assert step == Observed(
        "Empty exists but has no text.", Cursor(page_of_text("", "Empty")), False
    )


@pytest.mark.parametrize("name", ["Search", "Lookup"])
@pytest.mark.parametrize("argument", ["", "  ", "\n", "\x00"])
async def test_an_empty_argument_is_invalid_and_changes_nothing(name, argument):
    before = (await walk(("Search", "Alpha"))).cursor
    step = await walk((name, argument), at=before)
    assert step.observation.startswith("Invalid action")
    assert (step.failed, step.cursor) == (True, before)


async def test_running_out_of_results_may_be_no_failure():
    cursor = (await walk(("Search", "Alpha"), ("Lookup", "first"))).cursor
    assert lookup("first", cursor).failed
    assert not lookup("first", cursor, lenient=True).failed
    assert lookup("nowhere", cursor, lenient=True).failed


async def test_a_cursor_survives_json():
    for actions in ((), (("Search", "Alpha"),), (("Search", "Alpha"), ("Lookup", "alpha"))):
        cursor = (await walk(*actions)).cursor
        assert Cursor.from_json(json.loads(json.dumps(cursor.to_json()))) == cursor
    assert Cursor.from_json(None) == Cursor.from_json({}) == Cursor()


# What ReAct's own code said of these pages on a MediaWiki of ours; it is recorded, not run.

REACT_PAGES = ScriptedPages(
    {
        "Alpha": "Alpha is the first letter. It comes before beta. It is old\n"
        "The U.S. Navy uses it. Alpha also means one.\nShort one.\n== History ==\n"
        "The alphabet begins with alpha. Nobody knows why. Scholars of Alpha disagree.",
        "Beta": "Beta is the second letter. Alpha comes before it. It has a value. It is Greek. "
        "It is used. It is known. The end.",
    },
    several=["Mercury"],
)
TRANSCRIPTS = [
    [
        (
            "Search[Alpha]",
            "Alpha is the first letter. It comes before beta. It is old. The U.S. Navy uses it.",
        ),
        ("Lookup[alpha]", "(Result 1 / 4) Alpha is the first letter."),
        ("Lookup[alpha]", "(Result 2 / 4) Alpha also means one.."),
        ("Lookup[alpha]", "(Result 3 / 4) The alphabet begins with alpha."),
        ("Lookup[Alpha]", "(Result 1 / 4) Alpha is the first letter."),
        ("Lookup[navy]", "(Result 1 / 1) Navy uses it."),
        ("Lookup[alpha]", "(Result 1 / 4) Alpha is the first letter."),
    ],
    [
        ("Lookup[x]", "No more results."),
        (
            "Search[Beta]",
            "Beta is the second letter. Alpha comes before it. It has a value. It is Greek. "
            "It is used.",
        ),
        ("Lookup[greek]", "(Result 1 / 1) It is Greek."),
    ],
    [
        (
            "Search[Alpha]",
            "Alpha is the first letter. It comes before beta. It is old. The U.S. Navy uses it.",
        ),
        ("Lookup[scholars]", "(Result 1 / 1) Scholars of Alpha disagree.."),
        ("Search[Mercury]", "Could not find [Mercury]. Similar: ['Alpha', 'Beta']."),
        ("Lookup[scholars]", "No more results."),
        ("Lookup[nobody]", "(Result 1 / 1) Nobody knows why."),
        ("Search[Beta]", None),
        ("Lookup[nobody]", "No more results."),
    ],
]


@pytest.mark.parametrize("transcript", TRANSCRIPTS)
async def test_the_react_style_says_what_the_papers_code_says(transcript):
    tools = toolbox(REACT_PAGES, style="react")
    state: Any = None
    for action, observed in transcript:
        name, _, argument = action.removesuffix("]").partition("[")
        result = await tools.call(name, argument, state)
        state = result.state
        assert observed is None or result.observation == observed, action


# What each branch of a tree sees. The tools are used in random order all over the tree; every
# thought's observation must be the one that its own path gives alone.

STYLES: tuple[Style, ...] = "clean", "react"
ACTIONS = [
    *(("Search", argument) for argument in ("Alpha", "Beta", "Gamma", "Down", "Empty", "")),
    *(("Lookup", argument) for argument in ("alpha", "ALPHA", "letter", "It", "nowhere", "")),
]


IN_THE_TREE: dict[str, Toolbox] = {style: toolbox(PAGES, style=style) for style in STYLES}
ALONE: dict[str, Toolbox] = {style: toolbox(PAGES, style=style) for style in STYLES}


class Seen(NamedTuple):
    parent: int
    action: tuple[str, str]
    observation: str
    state: Mapping[str, Any]


async def interleaved(seed: int) -> None:
    draw = random.Random(seed)
    style = draw.choice(STYLES)
    thoughts = [Seen(-1, ("", ""), "", {})]
    for _ in range(draw.randint(2, 10)):
        # Some calls run at once, as the children of one or of several thoughts do.
        begun = [
            (draw.randrange(len(thoughts)), draw.choice(ACTIONS)) for _ in range(draw.randint(1, 4))
        ]
        frozen = [json.dumps(thoughts[at].state, sort_keys=True) for at, _ in begun]
        calls = (IN_THE_TREE[style].call(*action, thoughts[at].state) for at, action in begun)
        results = await asyncio.gather(*calls)
        after = [json.dumps(thoughts[at].state, sort_keys=True) for at, _ in begun]
        assert after == frozen, "a parent's state was changed"
        for (at, action), result in zip(begun, results, strict=True):
            # Checkpoints hold JSON: nothing else may reach the next call.
            left = json.loads(json.dumps(result.state))
            thoughts.append(Seen(at, action, result.observation, left))
    parents = {thought.parent for thought in thoughts}
    for leaf in set(range(len(thoughts))) - parents:
        path = path_to(thoughts, leaf)
        alone: Any = None
        for thought in path:
            result = await ALONE[style].call(*thought.action, alone)
            alone = result.state
            assert result.observation == thought.observation, [each.action for each in path]


def path_to(thoughts: Sequence[Seen], at: int) -> list[Seen]:
    path = []
    while at > 0:
        path.append(thoughts[at])
        at = thoughts[at].parent
    return path[::-1]


@pytest.mark.parametrize("block", range(4))
async def test_branches_see_what_they_would_see_alone(block):
    for seed in range(25 * block, 25 * (block + 1)):
        await interleaved(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
async def test_branches_see_what_they_would_see_alone_1000(block):
    for seed in range(1_000 + 100 * block, 1_000 + 100 * (block + 1)):
        await interleaved(seed)


# As LangChain tools, in somebody else's agent.


def answering_agent(tools: list[Any]) -> Any:
    """An agent that looks twice for a word and answers."""
    calls = iter(
        [
            ("Search", {"entity": "Alpha"}),
            ("Lookup", {"keyword": "alpha"}),
            ("Lookup", {"keyword": "alpha"}),
            ("Finish", {"answer": "the first letter"}),
        ]
    )

    def agent(state: MessagesState) -> dict[str, Any]:
        name, args = next(calls)
        call = {"name": name, "args": args, "id": name, "type": "tool_call"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def done(state: MessagesState) -> str:
        return "__end__" if state["messages"][-1].name == "Finish" else "agent"

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode(tools))
    builder.add_edge(START, "agent")
    builder.add_edge("agent", "tools")
    builder.add_conditional_edges("tools", done, ["agent", "__end__"])
    return builder.compile()


@pytest.mark.parametrize("waiting", [True, False], ids=["invoke", "ainvoke"])
async def test_any_agent_can_use_the_tools_without_a_state_of_its_own(waiting):
    agent, asked = answering_agent(search_tools(PAGES)), {"messages": [HumanMessage("Alpha?")]}
    # Here `invoke` is called where a loop runs, as in a notebook.
    out = agent.invoke(asked) if waiting else await agent.ainvoke(asked)
    told = [message for message in out["messages"] if isinstance(message, ToolMessage)]
    assert [message.text.split(" ")[0] for message in told] == [
        "Alpha",
        "(Result",
        "(Result",
        "the",
    ]
    assert told[2].text.startswith("(Result 2 / 2)")
    assert (told[3].text, told[3].artifact) == ("the first letter", {"failed": False})


def test_a_program_without_a_loop_can_call_each_tool():
    search_it, look, finish = search_tools(PAGES)
    call: Any = {"name": "Search", "args": {"entity": "Gamma"}, "id": "1", "type": "tool_call"}
    missed = search_it.invoke(call)
    assert (missed.artifact["failed"], missed.text[:14]) == (True, "Could not find")
    assert search_it.invoke({"entity": "Down"}) == "Search failed: the wiki does not answer."
    assert look.invoke({"keyword": "x"}).startswith("No page to look in")
    assert finish.invoke({"answer": "x"}) == "x"


async def test_two_calls_in_one_message_stand_where_the_message_stands():
    tools = ToolNode(search_tools(PAGES))
    builder = StateGraph(MessagesState).add_node("tools", tools).add_edge(START, "tools")
    calls = [
        {"name": "Search", "args": {"entity": title}, "id": title, "type": "tool_call"}
        for title in ("Alpha", "Beta")
    ]
    asked: Any = {"messages": [AIMessage("", tool_calls=calls)]}
    out = await builder.compile().ainvoke(asked)
    assert [message.text[:5] for message in out["messages"][1:]] == ["Alpha", "Beta "]


def test_a_model_is_shown_only_the_argument():
    for tool, argument in zip(search_tools(PAGES), ("entity", "keyword", "answer"), strict=True):
        assert list(tool.args) == [argument]
        assert tool.description


async def test_a_fault_raised_for_a_reason_of_the_program_is_not_hidden():
    class Broken:
        async def find(self, entity: str) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await search(Broken(), "x", Cursor())
    assert not issubclass(ZeroDivisionError, PagesError)
