"""Questions without examples: strategy, then answer (Tree of Thoughts, appendix B.1)."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from thoughtgraph.errors import ProblemError, SettingError
from thoughtgraph.prompts import fill
from thoughtgraph.task import Options, Prompt, Question, each
from thoughtgraph.tasks.answer_text import STATED, Reader, own_part, read_answer
from thoughtgraph.tasks.numbers import canonical
from thoughtgraph.tasks.sections import TOT_BFS, partial_output, section_question, vote_question
from thoughtgraph.tree import Path

LONGEST_QUESTION = 100_000
"""Characters of a question (ours)."""


def follow_up(turns: str, question: str) -> str:
    """Returns a question below the conversation so far."""
    return fill("conversation/follow_up", turns=turns, question=question)


class ZeroShot:
    """A question-answering task without examples; subclasses define the kind of answer."""

    id: str
    """The name by which users choose the task."""
    answers: str
    """Kind of answer, such as "a number"."""
    form: str = ""
    """How to give the answer, in published words; empty for ours."""
    _reader: Reader
    """Reads the canonical answer out of a completion."""
    _mention: re.Pattern[str] | None = None
    """Text after a mark that states no answer."""

    def read(self, text: str) -> str:
        """Returns the question without surrounding white space."""
        question = text.strip()
        if not question:
            raise ProblemError("the question is empty; write one such as 'What is 6 times 7?'")
        if len(question) > LONGEST_QUESTION:
            raise ProblemError(
                f"a question of {len(question)} characters is too long; write at most "
                f"{LONGEST_QUESTION}"
            )
        return question

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the paper's values for zero-shot questions."""
        return {**TOT_BFS, "temperature": 0.7} if method == "tot_bfs" else {}

    def question_of(self, problem: str) -> str:
        """Returns the question of a problem, which may contain more, such as pages."""
        return problem

    def closed_book(self, problem: str) -> str:
        """Returns the question for prompts without tools."""
        return self.question_of(problem)

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the question: `io` asks for the answer alone, `cot` for reasoning first."""
        return Question(
            self.ask_prompt(problem, style, options), each(partial(self.answer, problem))
        )

    def ask_prompt(self, problem: str, style: str, options: Options) -> Prompt:
        """Returns the prompt of `ask`, published or for chat models."""
        question = self.closed_book(problem)
        if options.get("wording") == "chat":
            return Prompt(fill(f"chat/{style}", question=question, answers=self.answers))
        steps = style == "cot" and options.get("zero_shot") == "steps"
        name = "steps" if steps else style
        return Prompt(fill(f"zero_shot/{name}", input=question, format=self._answer_form))

    @property
    def _answer_form(self) -> str:
        # Ours has no placeholder letter that a model could copy.
        return self.form or f'"the answer is" and then {self.answers}'

    def answer(self, problem: str, text: str) -> str | None:
        """Reads the last stated answer, else a value that the kind of answer allows."""
        own = own_part(text, self.question_of(problem))
        return read_answer(own, self._reader, self._mention)

    def same(self, problem: str, answer: str, options: Options) -> str:
        """Returns the canonical form that equal numbers, choices, lists and words share."""
        return canonical(answer)

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the answer on a path; None for a strategy alone."""
        text = partial_output(path)
        return self.answer(problem, text) if STATED.search(text) else None

    def sample(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Asks for a strategy, or for the answer after it.

        Every task uses the wording of appendix B.1 here, whatever its plain prompt, because the
        prompt of the votes has the same wording.

        Raises:
            SettingError: The settings ask for worked examples, which have no strategies.
        """
        if options.get("shots"):
            raise SettingError(
                "strategies are asked for without worked examples (Tree of Thoughts, appendix "
                "B.1); set shots=0"
            )
        instruction = fill(
            "zero_shot/cot", input=self.closed_book(problem), format=self._answer_form
        )
        return section_question(instruction, path, options, "Answer")

    def vote(
        self, problem: str, paths: Sequence[Path], options: Options
    ) -> Question[Sequence[int | None]]:
        """Asks for a vote among strategies or answers."""
        return vote_question(
            fill("zero_shot/io", input=self.closed_book(problem), format=self._answer_form), paths
        )
