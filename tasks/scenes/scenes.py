"""Questions about scene graphs, answered by a plan of tool calls: the tasks `clevr` and `ptr`.

A problem is JSON: `{"question": …, "type": …, "scene": {"objects": …, "relationships": …}}`, or a
scene in the format of Tree-of-Mixed-Thought (appendix A.2) with its question in it. The type, one
of nine, chooses the tools that a prompt describes and the examples it shows; a problem without one
gets the type that its question looks like. The tools that a plan may use do not depend on it.
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
"""Letters of a question (ours)."""
MALFORMED = frozenset({"E_SYNTAX", "E_STMT", "E_LIMIT"})
"""Faults of output that is no step at all."""
ADAPTIVE = {"draw": "plans", "shots": 4, "temperature": 1.0, "max_completion_tokens": 400}
"""What `adaptive` is told: as Tree-of-Mixed-Thought."""
EXTENDED = frozenset(tools_of("extended")) - frozenset(tools_of("paper"))
"""Tools that the paper's list lacks."""

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
"""Which tools a prompt describes, by type, of those that a style has. The paper lists them for one
type only; the others are ours."""
_INSTEAD: Mapping[Style, Mapping[str, str]] = {"clevr": {"count_part": "count_object"}, "ptr": {}}
"""What does the work of a tool that a style lacks."""

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
    """A problem, read."""

    question: str
    type: str
    scene: Scene


class Example(NamedTuple):
    """A solved question, as prompts show it."""

    text: str
    """Question and steps, for a prompt of one text."""
    asked: str
    """The question's turn of a conversation."""
    steps: str


class Scenes:
    """A task about scenes of one style.

    Args:
        style: The data set that the scenes are like; also the task's id.
    """

    def __init__(self, style: Style) -> None:
        self.id = style
        self._style: Style = style

    def read(self, text: str) -> str:
        """Returns the problem as JSON: question, type and scene, nothing else."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._refusal(f"it is not JSON ({error})") from None
        if not isinstance(given, dict):
            raise self._refusal("it is no object")
        question, scene = given.get("question"), given.get("scene", given)
        if not isinstance(question, str) or not question.strip():
            raise self._refusal('it has no "question"')
        if len(question) > LONGEST_QUESTION:
            raise self._refusal(f"its question is longer than {LONGEST_QUESTION} letters")
        if not isinstance(scene, dict):
            raise self._refusal('its "scene" is no object')
        question = " ".join(question.split())
        kind = given.get("type") or question_type(question)
        if not isinstance(kind, str) or kind not in TOOLS:
            raise self._refusal(f"{kind!r} is none of the types {', '.join(TOOLS)}")
        kept = Scene.from_json(scene, self._style).to_json()
        return json.dumps({"question": question, "type": kind, "scene": kept}, ensure_ascii=False)

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns ours of `adaptive`; the paper's values are the methods' own defaults."""
        return ADAPTIVE if method == "adaptive" else {}

    def shots(self, problem: str, options: Options) -> int:
        """Returns the size of the library of the problem's type: 20, fewer with the paper's tools.

        Examples with tools that the prompt does not describe are left out.
        """
        return len(_library(self._style, _problem_of(problem).type, options["tools_profile"]))

    def plan(
        self, problem: str, path: Path, shots: Sequence[int], steps: int | None, options: Options
    ) -> Question[Sequence[Sequence[str]]]:
        """Returns the paper's prompt (A.4): instruction, tools, examples, question, first steps.

        A repetition of the path's own steps is skipped in what comes back.
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
        shown = [_example(self._style, parsed.type, profile, at) for at in shots]
        values = {
            "instruction": load("plans/instruction"),
            "tools": described(self._style, parsed.type, options),
        }
        stop = ("Question:", *([] if steps is None else [f"Step {len(done) + steps + 1}:"]))
        begun = {"question": parsed.question, "steps": numbered(done)}
        if options["layout"] == "turns":
            name = "plans/begun" if done else "plans/question"
            return Prompt(
                fill(name, **begun, next=str(len(done) + 1)),
                system=fill("plans/system", **values),
                stop=stop,
                examples=tuple((example.asked, example.steps) for example in shown),
            )
        examples = "".join(f"{example.text}\n\n" for example in shown)
        text = fill("plans/text", **values, **begun, examples=examples.strip())
        return Prompt(text + "\n" * bool(done), stop=stop)

    def _grammar(self, path: Path, steps: int | None, options: Options) -> str:
        first, profile = len(lines_of(path)) + 1, options["tools_profile"]
        end = max(first, min(options["max_steps"], MOST_STEPS))
        last = end if steps is None else min(end, first + steps - 1)
        return plan_grammar(self._style, _named(self._style, profile), first, last, end)

    def execute(self, problem: str, path: Path, steps: Sequence[str], options: Options) -> Ruling:
        """Runs steps on the scene: the paper's evaluator, or the grounded one."""
        parsed = _problem_of(problem)
        state = path[-1]["tool_state"] if path else None
        judged = judge(parsed.question, parsed.scene, state, steps, rules_of(options))
        if not judged.accepted:
            malformed = judged.code in MALFORMED
            text = "\n".join(clean(step) for step in steps)
            return Ruling(False, text, code=judged.code, reason=judged.reason, malformed=malformed)
        return Ruling(
            True, "\n".join(judged.lines), "\n".join(judged.values), judged.state, judged.answer
        )

    def picture(self, problem: str) -> str:
        """Returns the scene as an SVG image."""
        return svg(_problem_of(problem).scene)

    def _refusal(self, why: str) -> ProblemError:
        return ProblemError(
            f"this is no problem of task {self.id!r}: {why}; write "
            '{"question": …, "scene": {"objects": [...], "relationships": {...}}}'
        )


def _steps(path: Path, text: str, most: int | None) -> list[str]:
    """Reads at most so many steps after a path out of a completion; None: all there are."""
    done = [_compact(line) for line in lines_of(path)]
    found = steps_of(text, None if most is None else most + len(done))
    if [_compact(line) for line in found[: len(done)]] == done:
        found = found[len(done) :]
    return found[:most]


def rules_of(options: Options) -> Rules:
    """Returns the evaluator's rules among a run's settings."""
    return Rules(
        profile=options["evaluator"],
        empty=options["empty"],
        ambiguous=options["ambiguous"],
        tools=options["tools_profile"],
    )


def question_type(question: str) -> str:
    """Returns the type that a question looks like, by its words (ours)."""
    asked = question.lower()
    for kind, pattern in _LOOKS_LIKE:
        if re.search(pattern, asked):
            return kind
    return "long" if len(_RELATION.findall(asked)) > 1 else "short"


def described(style: Style, kind: str, options: Options) -> str:
    """Returns the descriptions of the tools for one type of question, a line each."""
    return _described(style, kind, options["tools_profile"])


@cache
def _described(style: Style, kind: str, profile: str) -> str:
    wanted = {_INSTEAD[style].get(name, name) for name in TOOLS[kind]} & _named(style, profile)
    lines = load(f"plans/tools_{style}").split("\n")
    return "\n".join(line for line in lines if line.partition("(")[0] in wanted)


@cache
def _named(style: Style, profile: str) -> frozenset[str]:
    """Returns the tools that the prompts of a style can describe."""
    left_out = EXTENDED if profile == "paper" else frozenset[str]()
    lines = load(f"plans/tools_{style}").split("\n")
    return frozenset(line.partition("(")[0] for line in lines) - left_out


def uses_paper_tools(plan: Sequence[str]) -> bool:
    """Returns whether a plan makes do with the tools of the paper's list."""
    return not any(parse(line).tool in EXTENDED for line in plan)


def numbered(plan: Sequence[str]) -> str:
    """Returns the lines of a plan as the paper numbers them."""
    return "\n".join(f"Step {at}:{line}" for at, line in enumerate(plan, 1))


def lines_of(path: Path) -> list[str]:
    """Returns the steps of a path's chunks."""
    return [line for thought in path for line in thought["text"].split("\n")]


@lru_cache(maxsize=256)
def _problem_of(problem: str) -> SceneProblem:
    given = json.loads(problem)
    return SceneProblem(given["question"], given["type"], Scene.from_json(given["scene"]))


@cache
def _library(style: Style, kind: str, profile: str) -> list[dict[str, Any]]:
    shots: list[dict[str, Any]] = prompts.data(f"plans/{style}_{kind}")
    return [shot for shot in shots if profile == "extended" or uses_paper_tools(shot["plan"])]


@cache
def _example(style: Style, kind: str, profile: str, at: int) -> Example:
    given = _library(style, kind, profile)[at]
    question, steps = given["question"], numbered(given["plan"])
    return Example(
        fill("plans/example", question=question, steps=steps),
        fill("plans/question", question=question),
        steps,
    )


@lru_cache(maxsize=1024)
def _compact(line: str) -> str:
    """Returns a step without number, spaces and differences of quotes."""
    return "".join(clean(line).split()).replace("'", '"')


def clevr() -> Scenes:
    """Makes the task `clevr`."""
    return Scenes("clevr")


def ptr() -> Scenes:
    """Makes the task `ptr`."""
    return Scenes("ptr")
