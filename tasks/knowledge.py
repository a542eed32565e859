"""Question answering over wiki pages, the base of HotpotQA, FEVER and StrategyQA.

Methods without tools use zero-shot prompts, or prompts with worked examples (the papers' base
rows). Methods with tools continue a trajectory (`tasks/trajectory.py`) and call Search, Lookup and
Finish. The prompts are ours, modelled on the papers': ReAct and Reflexion, Informed Tree of Thought
(appendix B), FGDIP (appendix E).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from thoughtgraph.acting import Hints, Move, Toolbox, scored
from thoughtgraph.errors import InputError
from thoughtgraph.prompts import NONE, OWN, blocks, fill, load, worked_examples
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks import judgements
from thoughtgraph.tasks.answer_text import normalize_answer
from thoughtgraph.tasks.trajectory import (
    STOP,
    action_text,
    read_move,
    step_grammar,
    trajectory,
    turns_of,
    written_turns,
)
from thoughtgraph.tasks.zero_shot import ZeroShot
from thoughtgraph.tools.costs import read_costs
from thoughtgraph.tools.wiki.pages import Backend
from thoughtgraph.tree import Path

BREAK = "\n\n"
"""Separates worked examples in a file."""
ITOT_EXAMPLES = 2
"""Worked examples in iToT's prompts (appendix B)."""

SCORED = scored(judgements.score)


class Knowledge(ZeroShot):
    """A task whose problems are answered with Search, Lookup and Finish.

    The prompt folder named after its `id` holds its worked examples.
    """

    finish: str
    """Form of an answer, the argument of Finish, as prompts describe it."""
    prefix: str = "Question"
    """Label before the problem in prompts."""

    def ask_prompt(self, problem: str, style: str, options: Options) -> Prompt:
        """Returns the plain prompt, with worked examples if the settings ask for them.

        One line first describes the form of an answer (ours: the papers' prompts lack it).
        """
        # Questions about pages have no worked examples unless the settings ask for some.
        default = OWN if options.get("shots") else NONE
        if not (examples := worked_examples(partial(self._shots, style), options, default=default)):
            return super().ask_prompt(problem, style, options)
        cue = "Answer:" if style == "io" else "Thought:"
        form = fill(f"few_shot/{style}", label=self.prefix.lower(), finish=self.finish)
        parts = [form, *examples, f"{self._question(problem)}\n{cue}"]
        return Prompt(BREAK.join(parts), stop=(f"\n{self.prefix}:",))

    def demonstrations(self, count: int) -> Sequence[str]:
        """Returns at most `count` of the task's own worked examples."""
        return self._shots("cot", count)[:count]

    # Acts

    def tools(self, problem: str, options: Options, extra: Sequence[Any]) -> Toolbox:
        """Opens Search, Lookup and Finish over pages of the setting, the problem or the default."""
        worked_examples(lambda _: (), options)  # raises early if the file is unreadable
        corpus: str = options["corpus"]
        pages = None if corpus else self.pages(problem)
        default = options.get("corpus_else", "wikipedia")
        if pages is None and not (corpus or default):
            raise InputError("there are no pages to search here; choose a task without tools")
        # Imported late: the module imports LangGraph, which takes seconds.
        sources: Any = import_module("thoughtgraph.tools.wiki.sources")
        opened: Toolbox = sources.toolbox(
            (corpus or default) if pages is None else pages,
            name=options.get("corpus_name", ""),
            style=options["observations"],
            costs=read_costs(options["tool_costs"]),
            contact=options["contact"],
            extra=extra,
            deadline=options["tool_deadline"],
            recording=options["recording"],
        )
        return opened

    def pages(self, problem: str) -> Backend | None:
        """Returns the pages that a problem contains; None if it contains none."""
        return None

    def move(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Question[Sequence[Move]]:
        """Asks for the next step of the trajectory; the prompt has the layout of the settings."""
        turns = options.get("layout") == "turns"
        prompt = (self._as_turns if turns else self._as_text)(problem, path, style, options, hints)
        if options.get("grammar"):
            thought, step = not hints.thought, len(path) + 1
            form = step_grammar(hints.tools, step, thought=thought, label=turns)
            prompt = replace(prompt, grammar=form)
        return Question(prompt, each(lambda text: read_move(text, hints.thought)))

    def _as_text(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Prompt:
        """Returns the published layout: one text that the model continues."""
        examples = BREAK.join(self._examples(style, options))
        text = self._instruction(style, hints, examples)
        cue = _unfinished_step(path, hints) or f"Thought {len(path) + 1}:"
        return Prompt("\n".join([text, "", self._so_far(problem, path), cue]), stop=_stop(hints))

    def _as_turns(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Prompt:
        """Returns a conversation in which observations are the user's messages."""
        text = BREAK.join(self._examples(style, options))
        example_turns = written_turns(text)
        turns, message = turns_of(self._question(problem), path)
        return Prompt(
            f"{message}\n{_unfinished_step(path, hints)}".strip(),
            # A user's file without steps has no turns: the instruction includes it unchanged.
            system=self._instruction(style, hints, "" if example_turns else text).strip(),
            stop=_stop(hints),
            examples=(*example_turns, *turns),
        )

    def _examples(self, style: str, options: Options) -> Sequence[str]:
        count = ITOT_EXAMPLES if style == "itot" else 0
        return worked_examples(lambda _: self._shots("react", count), options)

    def _instruction(self, style: str, hints: Hints, examples: str) -> str:
        return fill(
            "acting/itot" if style == "itot" else "acting/react",
            tools=hints.tools,
            finish=self.finish,
            examples=examples,
            lessons=_lessons(hints),
        )

    # Estimates, Reflects, Extracts, Verifies, Concludes

    def estimate(self, problem: str, path: Path, style: str, options: Options) -> Question[Verdict]:
        """Asks for a label, sure, maybe or impossible (FGDIP), else for reasons and a score."""
        fgdip = style == "fgdip"
        role, read = "label" if fgdip else "estimate", judgements.label if fgdip else SCORED
        return Question(_judge(role, trajectory=self._so_far(problem, path)), read)

    def reflect(self, problem: str, path: Path, options: Options, hints: Hints) -> Question[str]:
        """Asks what went wrong and what to do next time."""
        so_far = self._so_far(problem, path)
        prompt = Prompt(fill("acting/reflect", lessons=_lessons(hints), trajectory=so_far))
        return Question(prompt, lambda samples: judgements.lesson(samples[0]))

    def extract(self, problem: str, options: Options) -> Question[Sequence[Move]]:
        """Asks for the entities to search first; without any, the question itself is searched."""

        def read(samples: Sequence[str]) -> Sequence[Move]:
            entities = judgements.entities(samples[0])
            # The question replaces an entity that equals the whole problem.
            queries = [self.question_of(problem) if name == problem else name for name in entities]
            if not queries:
                return [_search(self.question_of(problem), malformed=True)]
            return [_search(words) for words in queries]

        return Question(_judge("extract", question=self._question(problem)), read)

    def verify(self, problem: str, answer: str, options: Options) -> Question[Verdict]:
        """Asks whether an answer is on topic and equals the one that the model itself finds."""
        question = self._question(problem)
        prompt = _judge("verify", question=question, answer=answer, finish=self.finish)
        return Question(prompt, judgements.judgement)

    def conclude(self, problem: str, path: Path, options: Options) -> Question[str | None]:
        """Asks for an answer from the trajectory, read like an answer to the plain prompt."""
        so_far = self._so_far(problem, path)
        prompt = Prompt(fill("acting/conclude", trajectory=so_far, form=self._answer_form))
        return Question(prompt, lambda samples: self.answer(problem, samples[0]))

    def same(self, problem: str, answer: str, options: Options) -> str:
        """Returns an answer in the form that HotpotQA's scorer compares."""
        return normalize_answer(answer) or answer

    def _question(self, problem: str) -> str:
        return f"{self.prefix}: {self.question_of(problem)}"

    def _so_far(self, problem: str, path: Path) -> str:
        steps = trajectory(path)
        return f"{self._question(problem)}\n{steps}" if steps else self._question(problem)

    def _shots(self, style: str, count: int) -> Sequence[str]:
        """Returns the task's first `count` worked examples of a style; 0 means all."""
        return load(f"{self.id}/{style}").split(BREAK)[: count or None]


def _unfinished_step(path: Path, hints: Hints) -> str:
    """Returns the start of a step that has its thought and lacks its action, else ""."""
    step = len(path) + 1
    return f"Thought {step}: {hints.thought}\nAction {step}:" if hints.thought else ""


def _stop(hints: Hints) -> tuple[str, ...]:
    """Returns the stop text: the end of the step, or of the line if only the action is open."""
    return ("\n" if hints.thought else STOP,)


def _search(query: str, *, malformed: bool = False) -> Move:
    # An unclosed bracket would make the action unreadable.
    argument = query.replace("[", "(").replace("]", ")")
    return Move(f"I need to search {query}.", f"Search[{argument}]", malformed=malformed)


def _judge(role: str, **values: str) -> Prompt:
    """Returns the prompt of a role, with our worked examples."""
    examples = f"{load(f'acting/{role}_examples')}{BREAK}"
    return Prompt(fill(f"acting/{role}", examples=examples, **values))


def _lessons(hints: Hints) -> str:
    """Renders a method's hints: lessons, rejected answers and sibling steps."""
    lessons = (f"- {each}" for each in hints.reflections)
    wrong_answers = (
        f"Results: {each['answer']}, Thought: {each['thought']} ({each['reason']})"
        for each in hints.rejected
    )
    siblings = (
        f"Thought: {each['text']} Action: {action_text(each)} "
        f"Observation: {each.get('observation') or ''}"
        for each in hints.siblings
    )
    return blocks("acting", reflections=lessons, rejected=wrong_answers, siblings=siblings)
