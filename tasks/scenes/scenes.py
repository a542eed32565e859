"""Questions about scene graphs, answered by a plan of tool calls: the tasks `clevr` and `ptr`.

A problem is JSON: `{"question": …, "type": …, "scene": {"objects": …, "relationships": …}}`, or a
scene in the format of Tree-of-Mixed-Thought (appendix A.2) that contains its question. The type,
one of nine, chooses the tools that a prompt describes and the examples that it shows. Without one,
it is guessed from the question. The tools that a plan may use do not depend on the type.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

from thoughtgraph import prompts
from thoughtgraph.errors import ProblemError
from thoughtgraph.planning import Ruling
from thoughtgraph.prompts import fill, load
from thoughtgraph.task import Options, Prompt, Question, each
from thoughtgraph.tasks.scenes.picture import svg
from thoughtgraph.tasks.scenes.plan_evaluator import MOST_STEPS, Rules, judge
from thoughtgraph.tasks.scenes.plan_grammar import plan_grammar
from thoughtgraph.tasks.scenes.plan_language import clean, parse, steps_of
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.scene_tools import tools_of
from thoughtgraph.tools.scenes.vocabulary import Style
from thoughtgraph.tree import Path

LONGEST_QUESTION = 1_000
"""Maximum characters of a question (ours)."""
ADAPTIVE = {"draw": "plans", "shots": 4, "temperature": 1.0, "max_completion_tokens": 400}
"""Settings for `adaptive`: those of Tree-of-Mixed-Thought."""
EXTENDED = frozenset(tools_of("extended")) - frozenset(tools_of("paper"))
"""Tools that are not in the paper's list."""

_FILTERS = ("filter_object", "filter_part")
_ASKED = ("query_category", "query_color", "query_size", "query_material")
_RELATED = (*_FILTERS, "query_relation", "count_object", "exist", *_ASKED)
_SAME = (*_FILTERS, "filter_category", "exclude_object", "count_part", *_ASKED)
TOOLS: Mapping[str, Sequence[str]] = {
    "short": (*_RELATED, "count_part", "query_part"),
    "long": (*_RELATED, "count_part", "query_part"),
    "logic": (*_RELATED, "intersection", "count_part", "query_part"),
    "sum": (*_FILTERS, "count_part", "sum"),
    "compare": (*_FILTERS, "count_part", "equal", "more_than", "few_than", "minus", *_ASKED),
    "query_part": (*_SAME, "query_part"),
    "exist": (*_SAME, "exist"),
    "count": (*_SAME, "count_object"),
    "analogy": (*_FILTERS, "get_relation", "filter_relation", "count_object", "exist", *_ASKED),
}
"""The tools that a prompt describes, by type of question, as far as the style has them. The paper
lists them for one type only; the others are ours."""
_INSTEAD: Mapping[Style, Mapping[str, str]] = {"clevr": {"count_part": "count_object"}, "ptr": {}}
"""Replacements for tools that a style lacks."""

_LOOKS_LIKE = (
    ("analogy", r"by analogy"),
    ("sum", r"\bsum of\b"),
    ("logic", r"\bboth\b"),
    ("compare", r"\b(more|fewer|less|greater|equal(ly)?)\b"),
    ("count", r"^(how many|what (is the )?number).*\bsame\b"),
    ("query_part", r"^(what|which).*\bsame\b"),
    ("exist", r"^(is|are) there.*\bsame\b"),
    ("compare", r"\bsame\b"),
)
_RELATION = re.compile(r"\b(left|right|front|behind)\b")


class SceneProblem(NamedTuple):
    """A parsed problem."""

    question: str
    type: str
    scene: Scene


class Scenes:
    """A task on scenes of one style.

    Args:
        style: The data set whose vocabulary the scenes use; also the task's id.
    """

    def __init__(self, style: Style) -> None:
        self.id = style
        self._style: Style = style

    def read(self, text: str) -> str:
        """Returns the problem as JSON with question, type and scene only."""
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._refusal(f"it is not JSON ({error})") from None
        if not isinstance(record, dict):
            raise self._refusal("it is JSON, but not an object in braces")
        question, scene = record.get("question"), record.get("scene", record)
        if not isinstance(question, str) or not question.strip():
            raise self._refusal('it has no "question"')
        if len(question) > LONGEST_QUESTION:
            raise self._refusal(f"its question is longer than {LONGEST_QUESTION} letters")
        if not isinstance(scene, dict):
            raise self._refusal('its "scene" is not a JSON object')
        question = " ".join(question.split())
        kind = record.get("type") or question_type(question)
        if not isinstance(kind, str) or kind not in TOOLS:
            raise self._refusal(f"{kind!r} is none of the types {', '.join(TOOLS)}")
        stored = Scene.from_json(scene, self._style).to_json()
        return json.dumps({"question": question, "type": kind, "scene": stored}, ensure_ascii=False)

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns our settings for `adaptive`; other methods have the paper's as their defaults."""
        return ADAPTIVE if method == "adaptive" else {}

    def shots(self, problem: str, options: Options) -> int:
        """Returns the number of worked examples: 20, fewer with the paper's tools.

        The paper's tools leave out the examples that need others.
        """
        return len(_library(self._style, _problem_of(problem).type, options["tools_profile"]))

    def plan(
        self, problem: str, path: Path, shots: Sequence[int], steps: int | None, options: Options
    ) -> Question[Sequence[Sequence[str]]]:
        """Returns the question for the next steps, in the paper's prompt (A.4).

        It holds instruction, tools, examples, question and the steps so far. If a completion
        repeats these steps, the reader skips them.
        """
        prompt = self._prompt(problem, path, shots, steps, options)
        if options.get("grammar"):
            prompt = replace(prompt, grammar=self._grammar(path, steps, options))
        return Question(prompt, each(lambda text: _steps(path, text, steps)))

    def _prompt(
        self, problem: str, path: Path, shots: Sequence[int], steps: int | None, options: Options
    ) -> Prompt:
        parsed, done = _problem_of(problem), lines_of(path)
        profile = options["tools_profile"]
        library = _library(self._style, parsed.type, profile)
        pairs = [(library[at]["question"], numbered(library[at]["plan"])) for at in shots]
        values = {
            "instruction": load("plans/instruction"),
            "tools": tool_descriptions(self._style, parsed.type, profile),
        }
        stop = ("Question:", *([] if steps is None else [f"Step {len(done) + steps + 1}:"]))
        progress = {"question": parsed.question, "steps": numbered(done)}
        if options["layout"] == "turns":
            name = "plans/begun" if done else "plans/question"
            return Prompt(
                fill(name, **progress, next=str(len(done) + 1)),
                system=fill("plans/system", **values),
                stop=stop,
                examples=tuple((fill("plans/question", question=q), plan) for q, plan in pairs),
            )
        examples = "\n\n".join(fill("plans/example", question=q, steps=plan) for q, plan in pairs)
        text = fill("plans/text", **values, **progress, examples=examples.strip())
        return Prompt(text + "\n" * bool(done), stop=stop)

    def _grammar(self, path: Path, steps: int | None, options: Options) -> str:
        first, profile = len(lines_of(path)) + 1, options["tools_profile"]
        end = max(first, min(options["max_steps"], MOST_STEPS))
        last = end if steps is None else min(end, first + steps - 1)
        return plan_grammar(self._style, _tool_names(self._style, profile), first, last, end)

    def execute(self, problem: str, path: Path, steps: Sequence[str], options: Options) -> Ruling:
        """Executes steps on the scene, after those of the path."""
        parsed = _problem_of(problem)
        state = path[-1]["tool_state"] if path else None
        rules = Rules(
            empty=options["empty"],
            ambiguous=options["ambiguous"],
            tools=options["tools_profile"],
        )
        return judge(parsed.scene, state, steps, rules)

    def picture(self, problem: str) -> str:
        """Returns the scene as an SVG image."""
        return svg(_problem_of(problem).scene)

    def _refusal(self, why: str) -> ProblemError:
        return ProblemError(
            f"this is no problem of task {self.id!r}: {why}; write "
            '{"question": …, "scene": {"objects": [...], "relationships": {...}}}'
        )


def _steps(path: Path, text: str, most: int | None) -> list[str]:
    """Returns at most `most` steps that a completion adds to a path; None: all."""
    done = [_compact(line) for line in lines_of(path)]
    lines = steps_of(text, None if most is None else most + len(done))
    if [_compact(line) for line in lines[: len(done)]] == done:
        lines = lines[len(done) :]
    return lines[:most]


def question_type(question: str) -> str:
    """Guesses the type of a question by its words (ours)."""
    text = question.lower()
    for kind, pattern in _LOOKS_LIKE:
        if re.search(pattern, text):
            return kind
    return "long" if len(_RELATION.findall(text)) > 1 else "short"


@cache
def tool_descriptions(style: Style, kind: str, profile: str) -> str:
    """Returns a profile's tools for a type of question, one per line."""
    names = {_INSTEAD[style].get(name, name) for name in TOOLS[kind]} & _tool_names(style, profile)
    lines = load(f"plans/tools_{style}").split("\n")
    return "\n".join(line for line in lines if line.partition("(")[0] in names)


@cache
def _tool_names(style: Style, profile: str) -> frozenset[str]:
    """Returns the names of the tools that a profile has in a style."""
    left_out = EXTENDED if profile == "paper" else frozenset[str]()
    lines = load(f"plans/tools_{style}").split("\n")
    return frozenset(line.partition("(")[0] for line in lines) - left_out


def uses_paper_tools(plan: Sequence[str]) -> bool:
    """Returns whether a plan uses only the paper's tools."""
    return not any(parse(line).tool in EXTENDED for line in plan)


def numbered(plan: Sequence[str]) -> str:
    """Numbers the lines of a plan as the paper does."""
    return "\n".join(f"Step {at}:{line}" for at, line in enumerate(plan, 1))


def lines_of(path: Path) -> list[str]:
    """Returns the steps in the chunks of a path."""
    return [line for thought in path for line in thought["text"].split("\n")]


@lru_cache(maxsize=256)
def _problem_of(problem: str) -> SceneProblem:
    record = json.loads(problem)
    return SceneProblem(record["question"], record["type"], Scene.from_json(record["scene"]))


@cache
def _library(style: Style, kind: str, profile: str) -> list[dict[str, Any]]:
    shots: list[dict[str, Any]] = prompts.data(f"plans/{style}_{kind}")
    return [shot for shot in shots if profile == "extended" or uses_paper_tools(shot["plan"])]


@lru_cache(maxsize=1024)
def _compact(line: str) -> str:
    """Normalizes a step: no number, no spaces, double quotes."""
    return "".join(clean(line).split()).replace("'", '"')


def clevr() -> Scenes:
    """Returns the task `clevr`."""
    return Scenes("clevr")


def ptr() -> Scenes:
    """Returns the task `ptr`."""
    return Scenes("ptr")
