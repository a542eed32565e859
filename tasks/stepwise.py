"""Questions answered step by step, the solution after a marker (Thought Rollback, section 5)."""

import re
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

from thoughtgraph.prompts import fill, worked_examples
from thoughtgraph.task import Options, Prompt
from thoughtgraph.tasks.answer_text import marks, own_part, read_stated
from thoughtgraph.tasks.choices import letter
from thoughtgraph.tasks.formula_answers import formula, theorem_answer
from thoughtgraph.tasks.number_answers import marked_number
from thoughtgraph.tasks.rollback_prompts import Reasoning
from thoughtgraph.tasks.zero_shot import ZeroShot
from thoughtgraph.tree import Path

REASONING = "\nAnswer: Let's think step by step."
"""Separates question and steps in a worked example."""

_PENDING = re.compile(
    r"\A[\s*_:]*+(?:(?:still|yet|as\s+yet|currently|now)\s+){0,3}"
    r"(?:un(?:known|clear|certain|determined)"
    r"|not|to\s+be|pending|missing|what"
    r"|(?:obtained|found|reached|calculated|computed)\s+(?:by|when|once|after|if|from|in)(?!.*=))\b",
    re.IGNORECASE,
)
"""Text after a marker that states no answer (ours): "is not 5", "is found by …"."""


class Stepwise(ZeroShot, Reasoning):
    """A question-answering task that can also be reasoned about one step at a time."""

    marker: str = "The final solution is"
    """The sentence before a solution."""
    strategy: bool = False
    """Whether, by default, questions without examples use the prompts of Tree of Thoughts (appendix
    B.1: chain of thought makes a strategy first) instead of Thought Rollback's."""
    _mention = _PENDING

    @cached_property
    def _mark(self) -> re.Pattern[str]:
        """The pattern of the marker."""
        sentence = re.escape(self.marker).replace(r"\ ", r"\s+")
        return marks(rf"\b{sentence}\b")

    def ask_prompt(self, problem: str, style: str, options: Options) -> Prompt:
        """Returns the plain prompt, with worked examples if the settings ask for them.

        Examples for `io` (few-shot) hold question and solution, examples for `cot` the steps, too.
        """
        examples = worked_examples(partial(self._examples, style), options)
        strategy = self.strategy and options.get("zero_shot") != "steps"
        if not examples and (strategy or options.get("wording") == "chat"):
            return super().ask_prompt(problem, style, options)
        question = fill(f"stepwise/{style}", question=problem)
        return Prompt("\n\n".join([self.task_statement(options), *examples, question]))

    def answer(self, problem: str, text: str) -> str | None:
        """Reads the answer after the marker, else an answer stated in other words."""
        own = own_part(text, problem)
        return self._solution(own) if self._mark.search(own) else super().answer(problem, own)

    def task_statement(self, options: Options) -> str:
        """Returns the instruction, with the topic and the marker of a solution."""
        return fill("rollback/head", topic=self.topic, marker=self.marker)

    def _examples(self, style: str, count: int) -> Sequence[str]:
        """Returns at most `count` worked examples; the style `io` omits the reasoning."""
        examples = self.demonstrations(count)
        return examples if style != "io" else [self._without_steps(example) for example in examples]

    def _without_steps(self, example: str) -> str:
        """Returns an example's question and solution."""
        question, solution = example.partition(REASONING)[0], example.rpartition(self.marker)[2]
        return f"{question}\nAnswer: {self.marker}{solution}"

    def read_step(self, problem: str, path: Path, text: str) -> dict[str, Any]:
        """Returns the text as a step; a solution, a value after the marker, ends the path.

        A text that only mentions the marker, or whose value cannot be read, does not end the path.
        """
        if (answer := self._solution(text)) is None:
            return {"text": text}
        return {"text": text, "status": "terminal", "answer": answer}

    def _solution(self, text: str) -> str | None:
        """Reads the solution after the last marker that a value follows; None without one."""
        return read_stated(text, self._mark, self._reader, self._mention) or None


class _WordProblems(Stepwise):
    answers = "a number"
    form = '"the answer is n" where n is a number'
    examples = "stepwise/numbers"
    numeric = True
    _reader = staticmethod(marked_number)


class Gsm8k(_WordProblems):
    """The task `gsm8k`: grade-school word problems (Cobbe et al. 2021)."""

    id = "gsm8k"
    topic = "GSM8K: grade-school math word problems"
    strategy = True


class Svamp(_WordProblems):
    """The task `svamp`: short word problems with a twist (Patel et al. 2021)."""

    id = "svamp"
    topic = "SVAMP: elementary math word problems"


class Math(Stepwise):
    """The task `math`: competition problems with LaTeX answers (Hendrycks et al. 2021)."""

    id = "math"
    topic = "MATH: competition mathematics"
    answers = "the answer alone, in LaTeX"
    examples = "stepwise/formulas"
    _reader = staticmethod(formula)


class TheoremQA(Stepwise):
    """The task `theoremqa`: university questions that need a theorem (Chen et al. 2023)."""

    id = "theoremqa"
    topic = "TheoremQA: theorem-driven questions"
    answers = "a number, a list of numbers, True, False or the choice alone"
    examples = "stepwise/formulas"
    _reader = staticmethod(theorem_answer)


class _MultipleChoice(Stepwise):
    answers = "the letter of the right choice"
    marker = "The final choice is"


class Aqua(_MultipleChoice):
    """The task `aqua`: algebra word problems with five choices, AQuA-RAT (Ling et al. 2017)."""

    id = "aqua"
    topic = "AQuA: algebra word problems with choices"
    examples = "stepwise/five_choices"
    _reader = staticmethod(partial(letter, "ABCDE"))


class Mmlu(_MultipleChoice):
    """The task `mmlu`: four choices, 57 subjects, a data file each (Hendrycks et al. 2021)."""

    id = "mmlu"
    topic = "MMLU: exam questions with choices"
    examples = "stepwise/four_choices"
    _reader = staticmethod(partial(letter, "ABCD"))
