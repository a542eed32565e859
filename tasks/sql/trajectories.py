"""The database task as actions: what ReAct, Reflexion, iToT and FGDIP ask (prompts: ours)."""

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
        """Opens the database's tools, and those of the user."""
        self.open(problem, options)
        own = sql_tools(self._database(problem, options))
        priced = with_costs(own, extra, read_costs(options["tool_costs"]))
        # It knows LangGraph, which takes seconds to import: lists of methods need none.
        toolbox: Any = import_module("thoughtgraph.tools.toolbox")
        opened: Toolbox = toolbox.ToolSet(priced, deadline=options["tool_deadline"])
        return opened

    def move(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Question[Sequence[Move]]:
        """Asks the model to continue the trajectory at the next thought."""
        step = len(path) + 1
        begun = f"Thought {step}:"
        if hints.thought:
            begun = f"Thought {step}: {hints.thought}\nAction {step}:"
        prompt = self._judging("act", problem, path, tools=hints.tools, lessons=_lessons(hints))
        move = replace(
            prompt, user=f"{prompt.user}\n{begun}", stop=("\n" if hints.thought else STOP,)
        )
        return Question(move, each(lambda text: read_move(text, hints.thought)))

    def estimate_actions(self, problem: str, path: Path, style: str) -> Question[Verdict]:
        """Returns what to ask: sure, maybe or impossible for FGDIP, else a score after reasons."""
        if style == "fgdip":
            return Question(self._judging("label", problem, path), judgements.label)
        return Question(self._judging("estimate", problem, path), scored(judgements.score))

    def reflect(self, problem: str, path: Path, options: Options, hints: Hints) -> Question[str]:
        """Returns what to ask: what went wrong, and what to do next time."""
        prompt = self._judging("reflect", problem, path, lessons=_lessons(hints))
        return Question(prompt, lambda samples: judgements.lesson(samples[0]))

    def extract(self, problem: str, options: Options) -> Question[Sequence[Move]]:
        """Returns what to ask for the tables to begin with; without any all are listed."""
        known = {
            plain_name(table.name): table.name for table in self._database(problem, options).tables
        }

        def read(samples: Sequence[str]) -> Sequence[Move]:
            turns = [
                known[plain_name(name)]
                for name in judgements.entities(samples[0])
                if plain_name(name) in known
            ]
            if not turns:
                return [
                    Move("I need to see which tables there are.", "list_tables[]", malformed=True)
                ]
            return [
                Move(f"I need to see {n}.", f"describe_table[{n}]") for n in dict.fromkeys(turns)
            ]

        return Question(Prompt(fill("sql/extract", **self._shown(problem, options))), read)

    def verify(self, problem: str, answer: str, options: Options) -> Question[Verdict]:
        """Returns what to ask whether a query answers the question."""
        prompt = fill("sql/verify", **self._shown(problem, options), query=answer)
        return Question(Prompt(prompt), judgements.judgement)

    def conclude(self, problem: str, path: Path, options: Options) -> Question[str | None]:
        """Returns what to ask for the query from what is known so far."""
        prompt = self._judging("conclude", problem, path)
        return Question(prompt, lambda samples: query_in(samples[0]))

    def _judging(self, name: str, problem: str, path: Path, **values: str) -> Prompt:
        question = self.question_of(problem)
        so_far = "\n".join(filter(None, [f"Question: {question}", trajectory(path)]))
        return Prompt(fill(f"sql/{name}", trajectory=so_far, **values))


def _lessons(hints: Hints) -> str:
    """Returns what a method adds: earlier lessons, wrong answers, steps that were taken already."""
    wrong = (f"{each['answer']} ({each['reason']})" for each in hints.rejected)
    taken = (f"{action_text(each)} {each.get('observation') or ''}" for each in hints.siblings)
    learnt = (f"- {each}" for each in hints.reflections)
    return blocks("sql", reflections=learnt, rejected=wrong, siblings=taken)
