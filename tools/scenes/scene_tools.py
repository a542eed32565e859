"""The tools of Tree-of-Mixed-Thought by name, for plans and as LangChain tools for any agent.

The paper's 19 tools (appendix A.3) and three that its questions need and its list lacks
(`query_material`, `query_shape`, `minus`): the profile "extended", on by default. `fewer_than` is
the paper's own second name of `few_than`.
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
        name: Its name in plans.
        arguments: The names of its arguments as the paper writes them.
        function: What computes it; its docstring says what the tool does.
        style: The data set whose scenes it is for; both when None.
        optional: How many of its arguments, from the last, may be missing.
        extended: Whether the paper's list lacks it.
        reads: What its arguments are read as, where that is not what the paper calls them.
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
        """Whether it can be called with so many arguments."""
        return len(self.arguments) - self.optional <= count <= len(self.arguments)

    def run(self, view: View, *items: Item) -> Value:
        """Returns what the tool computes.

        Raises:
            PlanError: It cannot take the arguments, or the scene has nothing of the kind.
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
"""Every tool by name; `fewer_than` and `few_than` are one of the paper's 19."""


def tools_of(profile: Profile = "extended") -> dict[str, SceneTool]:
    """Returns the tools of a profile by name: "paper" lacks the three that the paper lacks."""
    return {n: tool for n, tool in TOOLS.items() if profile == "extended" or not tool.extended}


def scene_tools(
    scene: Scene,
    profile: Profile = "extended",
    *,
    empty: Literal["strict", "lazy"] = "strict",
    ambiguous: Literal["error", "first"] = "error",
) -> list[BaseTool]:
    """Returns the tools on one scene as LangChain tools, for any agent.

    Objects are given and returned as lists of ids, an object's place in the scene counted from 0;
    "all_obj" stands for all of them. Relations are names or, from get_relation, lists of names. A
    call that fails, or whose arguments do not fit, returns its reason as text, so that the model
    can read it.

    Args:
        scene: The scene that the tools look at.
        profile: "paper" for the paper's tools only.
        empty: Whether a filter that leaves nothing is an error ("strict", ours) or not ("lazy").
        ambiguous: Whether several objects where one is meant are an error (ours), or the first
            is taken.
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
"""Strict as numbers are everywhere: a truth value is none."""
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
            value = tool.run(view, *(_given(view, kinds[name], arguments[name]) for name in kinds))
        except PlanError as error:
            raise ToolException(f"{error.code}: {error}") from error
        return _plain(value)

    return StructuredTool.from_function(
        call,
        name=tool.name,
        description=inspect.getdoc(tool.function),
        args_schema=schema,
        handle_tool_error=True,
        handle_validation_error=_unfit,
    )


def _unfit(error: Any) -> str:
    """Returns in one line which argument does not fit, and why, out of a pydantic error."""
    first = error.errors()[0]
    return f"E_TYPE: {first['loc'][0]}: {first['msg']}"


def _kinds(tool: SceneTool, view: View) -> dict[str, str]:
    """Returns the tool's arguments, each under a name of its own, and what each of them is."""
    if tool.name == "query_color" and view.scene.style == "clevr":
        return {"object": "object"}
    several = [tool.arguments.count(kind) > 1 for kind in tool.arguments]
    return {
        f"{kind}{at}" if many else kind: kind
        for at, (kind, many) in enumerate(zip(tool.arguments, several, strict=True), 1)
    }


def _given(view: View, kind: str, argument: Any) -> Item:
    if argument == "all_obj":
        return view.everything
    if not isinstance(argument, list) or kind == "part_list":
        return argument  # type: ignore[no-any-return]  # the schema let only values pass
    names = [name for name in argument if isinstance(name, str)]
    if kind == "relation" and not names:
        raise PlanError("E_TYPE", "no relation is given")
    if names:
        return frozenset().union(*(relations(view, name) for name in names))
    return _known(view, argument)


def _known(view: View, ids: list[int]) -> tuple[int, ...]:
    unknown = [each for each in ids if each not in view.everything]
    if unknown:
        raise PlanError("E_NAME", f"the scene has no object {unknown[0]}")
    return tuple(dict.fromkeys(ids))


def _plain(value: Value) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value
