"""Search, Lookup and Finish, and how long tools live."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from support.pages_script import ScriptedPages

from thoughtgraph.tools.wiki.pages import Unreachable, page_of_text
from thoughtgraph.tools.wiki.search_tools import Cursor, lookup, search, search_tools
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
BEGINS = "Alpha is the first letter. It comes before beta. "
NONE = "No more results."
FIRST = "(Result 1 / 2) Alpha is the first letter."
SECOND = "(Result 2 / 2) The alphabet begins with alpha."
CLEAN = [
    ("Search[alpha]", f"{BEGINS}It has a numeric value."),
    ("Lookup[alpha]", FIRST),
    ("Lookup[ALPHA]", SECOND),
    ("Lookup[alpha]", NONE),
    ("Lookup[alpha]", NONE),
    ("Lookup[first]", "(Result 1 / 1) Alpha is the first letter."),
    ("Lookup[alpha]", FIRST),
    ("Search[Down]", "Search failed: the wiki does not answer."),
    ("Lookup[alpha]", SECOND),
    ("Search[Beta]", "Beta is the second letter. Alpha comes before it. One. Two. Three."),
    ("Lookup[alpha]", "(Result 1 / 1) Alpha comes before it."),
    ("Search[Gamma]", 'Could not find Gamma. Similar: ["Alpha", "Beta", "Empty"].'),
    ("Lookup[alpha]", "No page to look in: Search for one first."),
    ("Search[Empty]", "Empty exists but has no text."),
    ("Lookup[alpha]", NONE),
]
FOUR = "(Result 1 / 4) Alpha is the first letter."
ALPHA_OPENED = ("Search[Alpha]", f"{BEGINS}It is old. The U.S. Navy uses it.")
BETA_OPENED = (
    "Search[Beta]",
    "Beta is the second letter. Alpha comes before it. It has a value. It is Greek. It is used.",
)
RECORDED = [
    [
        ALPHA_OPENED,
        ("Lookup[alpha]", FOUR),
        ("Lookup[alpha]", "(Result 2 / 4) Alpha also means one.."),
        ("Lookup[alpha]", "(Result 3 / 4) The alphabet begins with alpha."),
        ("Lookup[Alpha]", FOUR),
        ("Lookup[navy]", "(Result 1 / 1) Navy uses it."),
        ("Lookup[alpha]", FOUR),
    ],
    [("Lookup[x]", NONE), BETA_OPENED, ("Lookup[greek]", "(Result 1 / 1) It is Greek.")],
    [
        ALPHA_OPENED,
        ("Lookup[scholars]", "(Result 1 / 1) Scholars of Alpha disagree.."),
        ("Search[Mercury]", "Could not find [Mercury]. Similar: ['Alpha', 'Beta']."),
        ("Lookup[scholars]", NONE),
        ("Lookup[nobody]", "(Result 1 / 1) Nobody knows why."),
        BETA_OPENED,
        ("Lookup[nobody]", NONE),
    ],
]
"""What ReAct's own code said of these pages on a MediaWiki of ours; it is recorded, not run."""
TRANSCRIPTS = [
    ("clean", PAGES, CLEAN),
    *(("react", REACT_PAGES, each) for each in RECORDED),
]
FAILED = ("No more", "No page", "Could not", "Search failed")


@pytest.mark.parametrize(("style", "pages", "transcript"), TRANSCRIPTS)
async def test_what_the_tools_say_one_after_the_other(style, pages, transcript):
    tools = toolbox(pages, style=style)
    state: Any = None
    for action, observed in transcript:
        name, _, argument = action.removesuffix("]").partition("[")
        result = await tools.call(name, argument, state)
        state = json.loads(json.dumps(result.state))  # a checkpoint holds JSON
        assert result.observation == observed, action
        assert result.failed == observed.startswith(FAILED), action


@pytest.mark.parametrize("argument", ["", "  ", "\x00"])
async def test_an_empty_argument_is_invalid_and_changes_nothing(argument):
    before = Cursor(page_of_text(ALPHA, "Alpha"), "alpha", 1)
    for step in (await search(PAGES, argument, before), lookup(argument, before)):
        assert step.observation.startswith("Invalid action")
        assert (step.failed, step.cursor) == (True, before)


async def test_branches_see_what_they_would_see_alone():
    tools = toolbox(PAGES)
    parent = (await tools.call("Search", "Alpha", None)).state
    frozen = json.dumps(parent)
    looks = (tools.call("Lookup", word, parent) for word in ("alpha", "alpha", "first"))
    one, other, first = await asyncio.gather(*looks)
    assert (one.observation, other.observation) == (FIRST, FIRST)
    assert first.observation == "(Result 1 / 1) Alpha is the first letter."
    assert json.dumps(parent) == frozen, "a parent's state was changed"
    moved = await tools.call("Search", "Beta", one.state)
    assert (await tools.call("Lookup", "alpha", other.state)).observation == SECOND
    assert (await tools.call("Lookup", "alpha", moved.state)).observation == CLEAN[10][1]


# As LangChain tools, in somebody else's agent.


def calling(name: str, **arguments: str) -> Any:
    return {"name": name, "args": arguments, "id": str(arguments), "type": "tool_call"}


@pytest.mark.parametrize("waiting", [True, False], ids=["invoke", "ainvoke"])
async def test_any_agent_can_use_the_tools_without_a_state_of_its_own(waiting):
    """An agent looks twice for a word and answers."""
    look = calling("Lookup", keyword="alpha")
    end = calling("Finish", answer="the first letter")
    calls = iter([calling("Search", entity="Alpha"), look, look, end])

    def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("", tool_calls=[next(calls)])]}

    def done(state: MessagesState) -> str:
        return "__end__" if state["messages"][-1].name == "Finish" else "agent"

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode(search_tools(PAGES)))
    builder.add_edge(START, "agent")
    builder.add_edge("agent", "tools")
    builder.add_conditional_edges("tools", done, ["agent", "__end__"])
    graph, asked = builder.compile(), MessagesState(messages=[HumanMessage("Alpha?")])
    # Here `invoke` is called where a loop runs, as in a notebook.
    out = graph.invoke(asked) if waiting else await graph.ainvoke(asked)
    told = [message for message in out["messages"] if isinstance(message, ToolMessage)]
    assert [message.text for message in told] == [CLEAN[0][1], FIRST, SECOND, "the first letter"]
    assert told[3].artifact == {"failed": False}
    shown = [list(tool.args) for tool in search_tools(PAGES) if tool.description]
    assert shown == [["entity"], ["keyword"], ["answer"]], "a model sees only the argument"


async def test_two_calls_in_one_message_stand_where_the_message_stands():
    tools = ToolNode(search_tools(PAGES))
    builder = StateGraph(MessagesState).add_node("tools", tools).add_edge(START, "tools")
    calls = [calling("Search", entity=title) for title in ("Alpha", "Beta")]
    asked: Any = {"messages": [AIMessage("", tool_calls=calls)]}
    out = await builder.compile().ainvoke(asked)
    assert [message.text[:5] for message in out["messages"][1:]] == ["Alpha", "Beta "]
