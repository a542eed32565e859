"""Search, Lookup and Finish: what they show, what each branch sees, and in another agent."""

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
from support.pools import POOLS

from thoughtgraph.tools.wiki.pages import Unreachable, page_of_text
from thoughtgraph.tools.wiki.search_tools import Cursor, Style, lookup, search, search_tools
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
REACT = [
    (
        "Search[alpha]",
        f"{BEGINS.strip()}. It has a numeric value.. {SECOND[15:]} Nobody knows why..",
    ),
    ("Lookup[alpha]", FIRST),
    ("Lookup[Alpha]", FIRST),
    ("Search[Gamma]", "Could not find Gamma. Similar: ['Alpha', 'Beta', 'Empty']."),
    ("Lookup[Alpha]", SECOND),
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
    ("react", PAGES, REACT),
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


@pytest.mark.parametrize("argument", ["", "  ", "\n", "\x00"])
async def test_an_empty_argument_is_invalid_and_changes_nothing(argument):
    before = Cursor(page_of_text(ALPHA, "Alpha"), "alpha", 1)
    for step in (await search(PAGES, argument, before), lookup(argument, before)):
        assert step.observation.startswith("Invalid action")
        assert (step.failed, step.cursor) == (True, before)


def test_running_out_of_results_may_be_no_failure():
    cursor = lookup("first", Cursor(page_of_text(ALPHA, "Alpha"))).cursor
    assert lookup("first", cursor).failed
    assert not lookup("first", cursor, lenient=True).failed
    assert lookup("nowhere", cursor, lenient=True).failed


# What each branch of a tree sees. The tools are used in random order all over the tree; every
# thought's observation must be the one that its own path gives alone.

STYLES: tuple[Style, ...] = "clean", "react"
ACTIONS = [
    *(("Search", argument) for argument in ("Alpha", "Beta", "Gamma", "Down", "Empty", "")),
    *(("Lookup", argument) for argument in ("alpha", "ALPHA", "letter", "It", "nowhere", "")),
]
IN_THE_TREE, ALONE = ({style: toolbox(PAGES, style=style) for style in STYLES} for _ in range(2))


class Seen(NamedTuple):
    parent: int
    action: tuple[str, str]
    observation: str
    state: Mapping[str, Any]


@pytest.mark.parametrize("seeds", POOLS)
async def test_branches_see_what_they_would_see_alone(seeds):
    for seed in seeds:
        draw = random.Random(seed)
        style = draw.choice(STYLES)
        thoughts = [Seen(-1, ("", ""), "", {})]
        for _ in range(draw.randint(2, 10)):
            # Some calls run at once, as the children of one or of several thoughts do.
            begun = [
                (draw.randrange(len(thoughts)), draw.choice(ACTIONS))
                for _ in range(draw.randint(1, 4))
            ]
            frozen = [json.dumps(thoughts[at].state, sort_keys=True) for at, _ in begun]
            calls = (IN_THE_TREE[style].call(*action, thoughts[at].state) for at, action in begun)
            results = await asyncio.gather(*calls)
            after = [json.dumps(thoughts[at].state, sort_keys=True) for at, _ in begun]
            assert after == frozen, "a parent's state was changed"
            for (at, action), result in zip(begun, results, strict=True):
                left = json.loads(json.dumps(result.state))
                thoughts.append(Seen(at, action, result.observation, left))
        for leaf in set(range(len(thoughts))) - {thought.parent for thought in thoughts}:
            alone: Any = None
            for thought in path_to(thoughts, leaf):
                result = await ALONE[style].call(*thought.action, alone)
                alone = result.state
                assert result.observation == thought.observation, (seed, thought.action)


def path_to(thoughts: Sequence[Seen], at: int) -> list[Seen]:
    path = []
    while at > 0:
        path.append(thoughts[at])
        at = thoughts[at].parent
    return path[::-1]


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


def test_a_program_without_a_loop_can_call_each_tool():
    search_it, look, finish = search_tools(PAGES)
    missed = search_it.invoke(calling("Search", entity="Gamma"))
    assert (missed.artifact["failed"], missed.text[:14]) == (True, "Could not find")
    assert search_it.invoke({"entity": "Down"}) == "Search failed: the wiki does not answer."
    assert look.invoke({"keyword": "x"}).startswith("No page to look in")
    assert finish.invoke({"answer": "x"}) == "x"
    shown = [list(tool.args) for tool in (search_it, look, finish) if tool.description]
    assert shown == [["entity"], ["keyword"], ["answer"]], "a model sees only the argument"
