"""The tools of Tree-of-Mixed-Thought by name, for plans and as LangChain tools for any agent.

The profile "extended", the default, has the paper's 19 tools (appendix A.3) and three that its
questions need and its list lacks: `query_material`, `query_shape` and `minus`. `fewer_than` is the
paper's own second name of `few_than`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field, StrictInt, create_model

from thoughtgraph.tools.scenes import functions
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.values import Item, PlanError, Value, View, read, relations
from thoughtgraph.tools.scenes.vocabulary import Style

Profile = Literal["extended", "paper"]


@dataclass(frozen=True, slots=True)
class SceneTool:
    """One tool.

    Attributes:
        name: The tool's name in plans.
        arguments: The names of the arguments as the paper writes them.
        function: Computes the result; its docstring describes the tool to a model.
        style: The data set for whose scenes the tool is; None: both data sets.
        optional: How many of the last arguments may be missing.
        extended: Whether the paper's list lacks the tool.
        reads: The kinds as which `values.read` reads the arguments; empty: the arguments' names.
    """

    name: str
    arguments: tuple[str, ...]
    function: Callable[..., Value]
    style: Style | None = None
    optional: int = 0
    extended: bool = False
    reads: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """The call as prompts show it: `count_part(part, object)`."""
        return f"{self.name}({', '.join(self.arguments)})"

    def takes(self, count: int) -> bool:
        """Returns whether the tool can be called with this many arguments."""
        return len(self.arguments) - self.optional <= count <= len(self.arguments)

    def run(self, view: View, *items: Item) -> Value:
        """Returns the tool's result.

        Raises:
            PlanError: The tool cannot take the arguments, or the scene has no such object or part.
        """
        if self.style not in (None, view.scene.style):
            raise PlanError("E_SCHEMA", f"{self.name} is a tool of {self.style} scenes")
        kinds = self.reads or self.arguments
        return self.function(view, *(read(view, *each) for each in zip(kinds, items, strict=False)))


def _tool(function: Callable[..., Value], arguments: str, name: str = "", **more: Any) -> SceneTool:
    return SceneTool(name or function.__name__, tuple(arguments.split(", ")), function, **more)


_ALL = (
    _tool(functions.filter_object, "category, object_list"),
    _tool(functions.filter_object, "category, object_list", "filter_category"),
    _tool(functions.filter_part, "part_list, object_list"),
    _tool(functions.exclude_object, "object, object_list", reads=("object_list", "object_list")),
    _tool(functions.intersection, "object_list, object_list"),
    _tool(functions.query_relation, "relation, object"),
    _tool(functions.get_relation, "object, object"),
    _tool(functions.filter_relation, "relation, object, object_list"),
    _tool(functions.count_part, "part, object", style="ptr"),
    _tool(functions.count_object, "object_list"),
    _tool(functions.plus, "num1, num2", "sum"),
    _tool(functions.minus, "num1, num2", extended=True),
    _tool(functions.equal, "input1, input2"),
    _tool(functions.more_than, "num1, num2"),
    _tool(functions.few_than, "num1, num2"),
    _tool(functions.few_than, "num1, num2", "fewer_than"),
    _tool(functions.query_category, "object_or_part"),
    _tool(functions.query_shape, "object", style="clevr", extended=True),
    _tool(functions.query_color, "part, object", optional=1, reads=("either", "either")),
    _tool(functions.query_part, "color, object", style="ptr"),
    _tool(functions.query_size, "object", style="clevr"),
    _tool(functions.query_material, "object", style="clevr", extended=True),
    _tool(functions.exist, "object_list"),
)
TOOLS: Mapping[str, SceneTool] = {tool.name: tool for tool in _ALL}
"""Every tool by name; `fewer_than` and `few_than` count as one of the paper's 19."""


def tools_of(profile: Profile = "extended") -> dict[str, SceneTool]:
    """Returns the tools of a profile by name; "paper" has only the tools of the paper's list."""
    return {n: tool for n, tool in TOOLS.items() if profile == "extended" or not tool.extended}


def scene_tools(
    scene: Scene,
    profile: Profile = "extended",
    *,
    empty: Literal["strict", "lazy"] = "strict",
    ambiguous: Literal["error", "first"] = "error",
) -> list[BaseTool]:
    """Returns the tools on one scene as LangChain tools, for any agent.

    Tools take and return objects as lists of ids. An id is an object's place in the scene, counted
    from 0; "all_obj" stands for all objects. Relations are names or, from get_relation, lists of
    names. A call that fails, or whose arguments do not fit, returns the reason as text, so that the
    model can read it.

    Args:
        scene: The scene that the tools read.
        profile: "paper" for the paper's tools only.
        empty: Whether a filter that leaves no object is an error ("strict", ours) or not ("lazy").
        ambiguous: Several objects where one is meant: "error" (ours), or "first" takes the first.
    """
    view = View(scene, strict=empty == "strict", first=ambiguous == "first")
    return [_langchain(view, tool) for tool in tools_of(profile).values()]


_OBJECTS = (
    list[int] | Literal["all_obj"],
    Field(description='ids of objects; "all_obj" for all of the scene'),
)
_WORD = (str, Field(description="a word of the scene's vocabulary"))
_NUMBER = (StrictInt | str, Field(description="a number, from 0 on"))
_RELATION = (str | list[str], Field(description="left, right, front, behind, above or below"))
_COMPARED = StrictInt | str | list[int] | list[str]
"""Numbers are strict here as everywhere: a truth value is not a number."""
_FIELDS: Mapping[str, Any] = {
    **dict.fromkeys(("object", "object_list"), _OBJECTS),
    **dict.fromkeys(("category", "part", "color"), _WORD),
    **dict.fromkeys(("num1", "num2"), _NUMBER),
    "relation": _RELATION,
    "part_list": (list[str | int], Field(description="attributes, or number, color and part")),
    "object_or_part": (list[int] | str, Field(description="one object's id in a list, or a noun")),
    "input1": (
        _COMPARED,
        Field(description="a number, a word, one object's id in a list, or a list of relations"),
    ),
    "input2": (_COMPARED, Field(description="what the first is compared with")),
}


def _langchain(view: View, tool: SceneTool) -> BaseTool:
    kinds = _kinds(tool, view)
    fields: Any = {name: _FIELDS[kind] for name, kind in kinds.items()}
    schema: type[BaseModel] = create_model(tool.name, **fields)

    def call(**arguments: Any) -> Any:
        try:
            value = tool.run(view, *(_item(view, kinds[name], arguments[name]) for name in kinds))
        except PlanError as error:
            raise ToolException(f"{error.code}: {error}") from error
        return _to_json(value)

    return StructuredTool.from_function(
        call,
        name=tool.name,
        description=inspect.getdoc(tool.function),
        args_schema=schema,
        handle_tool_error=True,
        handle_validation_error=_misfit,
    )


def _misfit(error: Any) -> str:
    """Returns one line of a pydantic error: which argument does not fit, and why."""
    first = error.errors()[0]
    return f"E_TYPE: {first['loc'][0]}: {first['msg']}"


def _kinds(tool: SceneTool, view: View) -> dict[str, str]:
    """Returns the kinds of the tool's arguments, by names that are unique within the tool."""
    if tool.name == "query_color" and view.scene.style == "clevr":
        return {"object": "object"}
    repeated = [tool.arguments.count(kind) > 1 for kind in tool.arguments]
    return {
        f"{kind}{at}" if again else kind: kind
        for at, (kind, again) in enumerate(zip(tool.arguments, repeated, strict=True), 1)
    }


def _item(view: View, kind: str, argument: Any) -> Item:
    if argument == "all_obj":
        return view.everything
    if not isinstance(argument, list) or kind == "part_list":
        return argument  # type: ignore[no-any-return]  # the schema admits only values
    names = [name for name in argument if isinstance(name, str)]
    if kind == "relation" and not names:
        raise PlanError("E_TYPE", "no relation is given")
    if names:
        return frozenset().union(*(relations(view, name) for name in names))
    return _objects(view, argument)


def _objects(view: View, ids: list[int]) -> tuple[int, ...]:
    unknown = [each for each in ids if each not in view.everything]
    if unknown:
        raise PlanError("E_NAME", f"the scene has no object {unknown[0]}")
    return tuple(dict.fromkeys(ids))


def _to_json(value: Value) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value
