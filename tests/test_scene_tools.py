"""The scene tools: what each computes, what it refuses, and as LangChain tools."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from support.rooms import ROOM, SOLIDS

from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.scene_tools import TOOLS, scene_tools, tools_of
from thoughtgraph.tools.scenes.values import PlanError, View

ALL = (0, 1, 2, 3)


def use(name: str, *arguments: Any, scene: Scene = ROOM, **policy: bool) -> Any:
    return TOOLS[name].run(View(scene, **policy), *arguments)


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("filter_object", "tables", ALL), (1, 2)),
        (("filter_object", "Thing", (3, 1)), (3, 1)),
        (("filter_category", "Table", ALL), (1, 2)),
        (("filter_part", ["six", "red", "drawers"], ALL), (1,)),
        (("filter_part", [6, "leg"], ALL), (1,)),
        (("filter_part", ["leg", "red"], ALL), (0, 1)),
        (("filter_part", ["4", "leg", "red", "top"], ALL), (2,)),
        (("filter_part", ["leg", "top", "cyan"], ALL), ()),
        (("filter_part", ["table", "red"], ALL), (1, 2)),
        (("filter_part", ["blue"], ALL), (0,)),
        (("filter_part", "leg bar", ALL), (2,)),
        (("filter_part", ["a", "brown", "sleep area"], ALL), (3,)),
        (("exclude_object", (1,), (2, 1, 0)), (2, 0)),
        (("exclude_object", (1,), (1,)), ()),
        (("intersection", (2, 1, 0), (0, 2)), (2, 0)),
        (("query_relation", "to the right of", (1,)), (2, 3)),
        (("query_relation", "left", (0,)), ()),
        (("get_relation", (0,), (2,)), frozenset({"right"})),
        (("filter_relation", frozenset({"right"}), (1,), (0, 2, 1)), (2,)),
        (("filter_relation", "left of", (3,), (1, 3)), (1,)),
        (("count_part", "legs", (1,)), 6),
        (("count_part", "wheel", (1,)), 0),
        (("count_object", ALL), 4),
        (("exist", ()), False),
        (("sum", 2, "three"), 5),
        (("minus", 5, 3), 2),
        (("more_than", 2, 1), True),
        (("few_than", 2, 1), False),
        (("fewer_than", 1, 2), True),
        (("equal", 3, 3), True),
        (("equal", "Grey", "gray"), True),
        (("equal", (0,), (1,)), False),
        (("equal", frozenset({"left"}), frozenset({"left"})), True),
        (("query_category", (0,)), "Chair"),
        (("query_category", "Legs"), "leg"),
        (("query_color", "top", (1,)), "green"),
        (("query_color", (1,), "top"), "green"),
        (("query_part", "green", (1,)), "top"),
    ],
)
def test_values_in_a_room(call: tuple[Any, ...], value: Any) -> None:
    assert use(*call, strict=False) == value


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("filter_object", "ball", ALL), (1,)),
        (("filter_part", ["big", "matte"], ALL), (0, 2, 3)),
        (("filter_part", ["brown", "cylinder"], ALL), (3,)),
        (("query_color", (1,)), "brown"),
        (("query_size", (1,)), "small"),
        (("query_material", (0,)), "rubber"),
        (("query_shape", (0,)), "cube"),
        (("query_category", (3,)), "cylinder"),
    ],
)
def test_values_among_solids(call: tuple[Any, ...], value: Any) -> None:
    assert use(*call, scene=SOLIDS) == value


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("filter_object", "sofa", ALL), "E_VOCAB"),
        (("filter_object", "leg", ALL), "E_VOCAB"),
        (("filter_object", "cube", ALL), "E_SCHEMA"),
        (("filter_object", "cart", ALL), "E_EMPTY"),
        (("filter_object", ALL, "table"), "E_TYPE"),
        (("filter_object", "x" * 65, ALL), "E_LIMIT"),
        (("filter_part", [], ALL), "E_TYPE"),
        (("filter_part", ["support"], ALL), "E_VOCAB"),
        (("filter_part", ["red", "blue", "leg"], ALL), "E_TYPE"),
        (("filter_part", ["leg", 2, 3], ALL), "E_TYPE"),
        (("filter_part", ["leg", "red", "top", "blue", "green"], ALL), "E_TYPE"),
        (("filter_part", ["metal"], ALL), "E_SCHEMA"),
        (("filter_part", ["nine", "leg"], ALL), "E_EMPTY"),
        (("exclude_object", (), ALL), "E_EMPTY"),
        (("query_relation", "near", (0,)), "E_VOCAB"),
        (("query_relation", "above", (0,)), "E_SCHEMA"),
        (("query_relation", "left", (0, 1)), "E_AMBIG"),
        (("query_relation", "left", ()), "E_EMPTY"),
        (("get_relation", (0,), (0,)), "E_TYPE"),
        (("count_part", "tail", (0,)), "E_VOCAB"),
        (("count_part", "red", (0,)), "E_VOCAB"),
        (("count_object", "table"), "E_TYPE"),
        (("sum", True, 1), "E_TYPE"),
        (("sum", ALL, 1), "E_TYPE"),
        (("sum", 1001, 1), "E_LIMIT"),
        (("minus", 1, 2), "E_TYPE"),
        (("equal", 1, "one"), "E_TYPE"),
        (("equal", True, True), "E_TYPE"),
        (("equal", (0, 1), (0,)), "E_AMBIG"),
        (("query_category", "red"), "E_VOCAB"),
        (("query_color", "seat", (1,)), "E_PART"),
        (("query_color", "leg bar", (2,)), "E_PART"),
        (("query_color", (1,)), "E_ARITY"),
        (("query_part", "blue", (0,)), "E_AMBIG"),
        (("query_part", "cyan", (0,)), "E_PART"),
        (("query_size", (0,)), "E_SCHEMA"),
        (("query_shape", (0,)), "E_SCHEMA"),
    ],
)
def test_what_is_refused_in_a_room(call: tuple[Any, ...], code: str) -> None:
    with pytest.raises(PlanError) as error:
        use(*call)
    assert error.value.code == code
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("filter_part", ["two"], ALL), "E_SCHEMA"),
        (("filter_part", ["leg"], ALL), "E_SCHEMA"),
        (("count_part", "leg", (0,)), "E_SCHEMA"),
        (("query_part", "gray", (0,)), "E_SCHEMA"),
        (("query_color", "gray", (0,)), "E_ARITY"),
        (("get_relation", (0,), (0,)), "E_TYPE"),
    ],
)
def test_what_is_refused_among_solids(call: tuple[Any, ...], code: str) -> None:
    with pytest.raises(PlanError) as error:
        use(*call, scene=SOLIDS)
    assert error.value.code == code


def test_no_relation_is_no_value() -> None:
    alone = Scene.from_json({**ROOM.to_json(), "relationships": {"left": [[], [], [], []]}})
    with pytest.raises(PlanError) as error:
        use("get_relation", (0,), (1,), scene=alone)
    assert error.value.code == "E_EMPTY"


def test_policies() -> None:
    assert use("filter_object", "cart", ALL, strict=False) == ()
    assert use("count_part", "leg", (1, 0), first=True) == 6
    with pytest.raises(PlanError):
        use("query_part", "blue", (0,), first=True)


def test_profiles() -> None:
    assert set(tools_of()) - set(tools_of("paper")) == {"minus", "query_shape", "query_material"}
    assert len(set(tools_of("paper")) - {"fewer_than"}) == 19


async def test_an_agent_can_use_the_tools() -> None:
    tools = {tool.name: tool for tool in scene_tools(ROOM)}
    assert tools["filter_object"].invoke({"category": "table", "object_list": "all_obj"}) == [1, 2]
    found = await tools["filter_part"].ainvoke({"part_list": [6, "leg"], "object_list": [1, 2]})
    assert found == [1]
    relation = tools["get_relation"].invoke({"object1": [0], "object2": [1]})
    assert relation == ["right"]
    given = {"relation": relation, "object": [2], "object_list": "all_obj"}
    assert tools["filter_relation"].invoke(given) == [3]
    assert tools["equal"].invoke({"input1": "red", "input2": "red"}) is True
    assert tools["equal"].invoke({"input1": [0], "input2": [1]}) is False


async def test_an_agents_tool_node_runs_them() -> None:
    calls = [
        {"name": name, "args": given, "id": name, "type": "tool_call"}
        for name, given in (
            ("filter_object", {"category": "table", "object_list": "all_obj"}),
            ("count_part", {"part": "leg", "object": [0, 1]}),
        )
    ]
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(scene_tools(ROOM)))
    builder.add_edge(START, "tools")
    asked: Any = {"messages": [AIMessage("", tool_calls=calls)]}
    out = await builder.compile().ainvoke(asked)
    found, failed = out["messages"][1:]
    assert json.loads(found.text) == [1, 2]
    assert (failed.status, failed.text.partition(":")[0]) == ("error", "E_AMBIG")
    for tool in scene_tools(ROOM):
        assert convert_to_openai_tool(tool)["function"]["parameters"]["required"]


def test_an_agent_reads_why_a_call_failed() -> None:
    tools = {tool.name: tool for tool in scene_tools(ROOM)}
    told = tools["count_part"].invoke({"part": "leg", "object": [0, 1]})
    assert told.startswith("E_AMBIG")
    assert "9" in tools["count_object"].invoke({"object_list": [9]})
    raising = tools["count_object"].model_copy(update={"handle_tool_error": False})
    with pytest.raises(ToolException):
        raising.invoke({"object_list": [9]})


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("query_relation", {"relation": [], "object": [0]}, "E_TYPE: no relation is given"),
        (
            "filter_relation",
            {"relation": [], "object": [0], "object_list": "all_obj"},
            "E_TYPE: no relation is given",
        ),
        ("sum", {"num1": True, "num2": 2}, "E_TYPE: num1"),
        ("sum", {"num1": -1, "num2": 2}, "E_LIMIT"),
        ("equal", {"input1": True, "input2": 1}, "E_TYPE: input1"),
        ("equal", {"input1": ["red"], "input2": ["red"]}, "E_VOCAB"),
        ("count_part", {"part": "leg", "object": "the table"}, "E_TYPE: object"),
        ("count_part", {"part": "leg"}, "E_TYPE: object"),
    ],
)
def test_an_agent_reads_why_arguments_do_not_fit(
    name: str, given: dict[str, Any], told: str
) -> None:
    tools = {tool.name: tool for tool in scene_tools(ROOM)}
    reason = tools[name].invoke(given)
    assert reason.startswith(told)
    assert "\n" not in reason


def test_numbers_and_relations_are_taken_as_tools_return_them() -> None:
    tools = {tool.name: tool for tool in scene_tools(ROOM)}
    assert tools["sum"].invoke({"num1": "two", "num2": 3}) == 5
    between = [
        tools["get_relation"].invoke({"object1": [one], "object2": [other]})
        for one, other in ((0, 1), (1, 2), (2, 0))
    ]
    assert tools["equal"].invoke({"input1": between[0], "input2": between[1]}) is True
    assert tools["equal"].invoke({"input1": between[0], "input2": between[2]}) is False


def test_tools_are_described_for_a_model() -> None:
    for scene in (ROOM, SOLIDS):
        for tool in scene_tools(scene, "paper"):
            assert len(tool.description) > 40
            assert all("description" in each for each in tool.args.values())
    solid = {tool.name: tool for tool in scene_tools(SOLIDS)}["query_color"]
    assert solid.invoke({"object": [1]}) == "brown"
