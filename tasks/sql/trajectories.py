"""The database task as actions, for ReAct, Reflexion, iToT and FGDIP (prompts: ours)."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from thoughtgraph.acting import Hints, Move, Toolbox, scored
from thoughtgraph.prompts import blocks, fill
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks import judgements
from thoughtgraph.tasks.sql.asking import Asking
from thoughtgraph.tasks.sql.chains import query_in
from thoughtgraph.tasks.trajectory import STOP, action_text, read_move, trajectory
from thoughtgraph.tools.costs import read_costs, with_costs
from thoughtgraph.tools.sql.queries import plain_name
from thoughtgraph.tools.sql.sql_tools import sql_tools
from thoughtgraph.tree import Path


class Acting(Asking):
    """The part of the task that acts; a trajectory ends with the query as its answer."""

    def tools(self, problem: str, options: Options, extra: Sequence[Any]) -> Toolbox:
        """Opens the database; returns its tools and those of the user."""
        self.open(problem, options)
        own = sql_tools(self._database(problem, options))
        priced = with_costs(own, extra, read_costs(options["tool_costs"]))
        # Imports LangGraph, which takes seconds: imported late, as lists of methods need no tools.
        toolbox: Any = import_module("thoughtgraph.tools.toolbox")
        tool_set: Toolbox = toolbox.ToolSet(priced, deadline=options["tool_deadline"])
        return tool_set

    def move(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Question[Sequence[Move]]:
        """Returns the question for the next step; the prompt ends at its thought or action."""
        step = len(path) + 1
        ending = f"Thought {step}:"
        if hints.thought:
            ending = f"Thought {step}: {hints.thought}\nAction {step}:"
        prompt = self._filled("act", problem, path, tools=hints.tools, lessons=_hint_blocks(hints))
        move = replace(
            prompt, user=f"{prompt.user}\n{ending}", stop=("\n" if hints.thought else STOP,)
        )
        return Question(move, each(lambda text: read_move(text, hints.thought)))

    def estimate_actions(self, problem: str, path: Path, style: str) -> Question[Verdict]:
        """Returns the question for a label under `fgdip`, else for a score after reasons."""
        if style == "fgdip":
            return Question(self._filled("label", problem, path), judgements.label)
        return Question(self._filled("estimate", problem, path), scored(judgements.score))

    def reflect(self, problem: str, path: Path, options: Options, hints: Hints) -> Question[str]:
        """Returns the question for a lesson: what went wrong and what to do next time."""
        prompt = self._filled("reflect", problem, path, lessons=_hint_blocks(hints))
        return Question(prompt, lambda samples: judgements.lesson(samples[0]))

    def extract(self, problem: str, options: Options) -> Question[Sequence[Move]]:
        """Returns the question for the first tables; without any, the step lists all tables."""
        names = {
            plain_name(table.name): table.name for table in self._database(problem, options).tables
        }

        def read(samples: Sequence[str]) -> Sequence[Move]:
            tables = [
                names[plain_name(name)]
                for name in judgements.entities(samples[0])
                if plain_name(name) in names
            ]
            if not tables:
                return [
                    Move("I need to see which tables there are.", "list_tables[]", malformed=True)
                ]
            return [
                Move(f"I need to see {n}.", f"describe_table[{n}]") for n in dict.fromkeys(tables)
            ]

        return Question(Prompt(fill("sql/extract", **self._prompt_values(problem, options))), read)

    def verify(self, problem: str, answer: str, options: Options) -> Question[Verdict]:
        """Returns the question whether a query gives the answer."""
        prompt = fill("sql/verify", **self._prompt_values(problem, options), query=answer)
        return Question(Prompt(prompt), judgements.judgement)

    def conclude(self, problem: str, path: Path, options: Options) -> Question[str | None]:
        """Returns the question for the query, from the trajectory so far."""
        prompt = self._filled("conclude", problem, path)
        return Question(prompt, lambda samples: query_in(samples[0]))

    def _filled(self, name: str, problem: str, path: Path, **values: str) -> Prompt:
        question = self.question_of(problem)
        so_far = "\n".join(filter(None, [f"Question: {question}", trajectory(path)]))
        return Prompt(fill(f"sql/{name}", trajectory=so_far, **values))


def _hint_blocks(hints: Hints) -> str:
    """Returns the prompt's blocks for a method's hints: lessons, rejected answers, siblings."""
    rejections = (f"{each['answer']} ({each['reason']})" for each in hints.rejected)
    steps = (f"{action_text(each)} {each.get('observation') or ''}" for each in hints.siblings)
    lessons = (f"- {each}" for each in hints.reflections)
    return blocks("sql", reflections=lessons, rejected=rejections, siblings=steps)
