"""The scene tools: what each computes, what it refuses, and as LangChain tools."""

from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from support.rooms import ROOM, SOLIDS

from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.scene_tools import TOOLS, scene_tools
from thoughtgraph.tools.scenes.values import PlanError, View

ALL = (0, 1, 2, 3)


IN_THE_ROOM: Mapping[str, list[tuple[Any, ...]]] = {
    "filter_object": [("tables", ALL, (1, 2)), ("Thing", (3, 1), (3, 1))],
    "filter_category": [("Table", ALL, (1, 2))],
    "filter_part": [
        *((["six", "red", "drawers"], ALL, (1,)), ([6, "leg"], ALL, (1,))),
        *((["leg", "red"], ALL, (0, 1)), (["4", "leg", "red", "top"], ALL, (2,))),
        *((["leg", "top", "cyan"], ALL, ()), (["table", "red"], ALL, (1, 2))),
        *((["blue"], ALL, (0,)), ("leg bar", ALL, (2,)), (["a", "brown", "sleep area"], ALL, (3,))),
    ],
    "exclude_object": [((1,), (2, 1, 0), (2, 0)), ((1,), (1,), ())],
    "intersection": [((2, 1, 0), (0, 2), (2, 0))],
    "query_relation": [("to the right of", (1,), (2, 3)), ("left", (0,), ())],
    "get_relation": [((0,), (2,), frozenset({"right"}))],
    "filter_relation": [
        *((frozenset({"right"}), (1,), (0, 2, 1), (2,)), ("left of", (3,), (1, 3), (1,))),
    ],
    "count_part": [("legs", (1,), 6), ("wheel", (1,), 0)],
    "count_object": [(ALL, 4)],
    "exist": [((), False)],
    "sum": [(2, "three", 5)],
    "minus": [(5, 3, 2)],
    "more_than": [(2, 1, True)],
    "few_than": [(2, 1, False)],
    "fewer_than": [(1, 2, True)],
    "equal": [
        *((3, 3, True), ("Grey", "gray", True), ((0,), (1,), False)),
        (frozenset({"left"}), frozenset({"left"}), True),
    ],
    "query_category": [((0,), "Chair"), ("Legs", "leg")],
    "query_color": [("top", (1,), "green"), ((1,), "top", "green")],
    "query_part": [("green", (1,), "top")],
}
"""What a tool takes, and last what it gives."""

AMONG_SOLIDS: Mapping[str, list[tuple[Any, ...]]] = {
    "filter_object": [("ball", ALL, (1,))],
    "filter_part": [(["big", "matte"], ALL, (0, 2, 3)), (["brown", "cylinder"], ALL, (3,))],
    "query_color": [((1,), "brown")],
    "query_size": [((1,), "small")],
    "query_material": [((0,), "rubber")],
    "query_shape": [((0,), "cube")],
    "query_category": [((3,), "cylinder")],
}


@pytest.mark.parametrize(
    ("scene", "tool", "row"),
    [
        (scene, tool, row)
        for scene, tools in ((ROOM, IN_THE_ROOM), (SOLIDS, AMONG_SOLIDS))
        for tool, rows in tools.items()
        for row in rows
    ],
)
def test_what_a_tool_computes(scene: Scene, tool: str, row: tuple[Any, ...]) -> None:
    view = View(scene, strict=scene is SOLIDS)
    assert TOOLS[tool].run(view, *row[:-1]) == row[-1]


REFUSED_IN_THE_ROOM: Mapping[str, list[tuple[Any, ...]]] = {
    "E_VOCAB": [
        *(("filter_object", "sofa", ALL), ("filter_object", "leg", ALL)),
        *(("filter_part", ["support"], ALL), ("query_relation", "near", (0,))),
        *(("count_part", "tail", (0,)), ("count_part", "red", (0,)), ("query_category", "red")),
    ],
    "E_SCHEMA": [
        *(("filter_object", "cube", ALL), ("filter_part", ["metal"], ALL)),
        *(("query_relation", "above", (0,)), ("query_size", (0,)), ("query_shape", (0,))),
    ],
    "E_EMPTY": [
        *(("filter_object", "cart", ALL), ("filter_part", ["nine", "leg"], ALL)),
        *(("exclude_object", (), ALL), ("query_relation", "left", ())),
    ],
    "E_TYPE": [
        *(("filter_object", ALL, "table"), ("filter_part", [], ALL)),
        *(("filter_part", ["red", "blue", "leg"], ALL), ("filter_part", ["leg", 2, 3], ALL)),
        ("filter_part", ["leg", "red", "top", "blue", "green"], ALL),
        *(("get_relation", (0,), (0,)), ("count_object", "table"), ("sum", True, 1)),
        *(("sum", ALL, 1), ("minus", 1, 2), ("equal", 1, "one"), ("equal", True, True)),
    ],
    "E_LIMIT": [("filter_object", "x" * 65, ALL), ("sum", 1001, 1)],
    "E_AMBIG": [
        *(("query_relation", "left", (0, 1)), ("equal", (0, 1), (0,))),
        ("query_part", "blue", (0,)),
    ],
    "E_PART": [
        *(("query_color", "seat", (1,)), ("query_color", "leg bar", (2,))),
        ("query_part", "cyan", (0,)),
    ],
    "E_ARITY": [("query_color", (1,))],
}
REFUSED_AMONG_SOLIDS: Mapping[str, list[tuple[Any, ...]]] = {
    "E_SCHEMA": [
        *(("filter_part", ["two"], ALL), ("filter_part", ["leg"], ALL)),
        *(("count_part", "leg", (0,)), ("query_part", "gray", (0,))),
    ],
    "E_ARITY": [("query_color", "gray", (0,))],
    "E_TYPE": [("get_relation", (0,), (0,))],
}


@pytest.mark.parametrize(
    ("scene", "call", "code"),
    [
        (scene, call, code)
        for scene, refused in ((ROOM, REFUSED_IN_THE_ROOM), (SOLIDS, REFUSED_AMONG_SOLIDS))
        for code, calls in refused.items()
        for call in calls
    ],
)
def test_what_a_tool_refuses(scene: Scene, call: tuple[Any, ...], code: str) -> None:
    name, *arguments = call
    with pytest.raises(PlanError) as error:
        TOOLS[name].run(View(scene), *arguments)
    assert error.value.code == code
    assert "\n" not in str(error.value)


@pytest.fixture
def tools() -> Mapping[str, BaseTool]:
    return {tool.name: tool for tool in scene_tools(ROOM)}


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("query_relation", {"relation": [], "object": [0]}, "E_TYPE: no relation is given"),
        ("sum", {"num1": True, "num2": 2}, "E_TYPE: num1"),
        ("sum", {"num1": -1, "num2": 2}, "E_LIMIT"),
        ("equal", {"input1": True, "input2": 1}, "E_TYPE: input1"),
        ("equal", {"input1": ["red"], "input2": ["red"]}, "E_VOCAB"),
        ("count_part", {"part": "leg", "object": "the table"}, "E_TYPE: object"),
        ("count_part", {"part": "leg"}, "E_TYPE: object"),
        ("count_part", {"part": "leg", "object": [0, 1]}, "E_AMBIG"),
        ("count_object", {"object_list": [9]}, ""),
    ],
)
def test_an_agent_reads_why_a_call_failed(
    tools: Mapping[str, BaseTool], name: str, arguments: dict[str, Any], told: str
) -> None:
    reason = tools[name].invoke(arguments)
    assert reason.startswith(told)
    assert "\n" not in reason
    assert told or "9" in reason


async def test_what_tools_return_is_taken_by_others(tools: Mapping[str, BaseTool]) -> None:
    def called(name: str, *arguments: Any) -> Any:
        return tools[name].invoke(dict(zip(tools[name].args, arguments, strict=True)))

    assert called("filter_object", "table", "all_obj") == [1, 2]
    parts = {"part_list": [6, "leg"], "object_list": [1, 2]}
    assert await tools["filter_part"].ainvoke(parts) == [1]
    between = [called("get_relation", [one], [other]) for one, other in ((0, 1), (1, 2), (2, 0))]
    assert between[0] == ["right"]
    assert called("filter_relation", between[0], [2], "all_obj") == [3]
    assert called("equal", between[0], between[1]) is True
    assert called("equal", between[0], between[2]) is False
    assert called("equal", "red", "red") is True
    assert called("equal", [0], [1]) is False
    assert called("sum", "two", 3) == 5


def test_tools_are_described_for_a_model() -> None:
    for tool in (*scene_tools(ROOM), *scene_tools(SOLIDS, "paper")):
        assert convert_to_openai_tool(tool)["function"]["parameters"]["required"]
    solid = {tool.name: tool for tool in scene_tools(SOLIDS, "paper")}["query_color"]
    assert solid.invoke({"object": [1]}) == "brown"
