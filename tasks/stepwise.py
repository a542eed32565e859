"""Questions answered step by step, the solution after a marker (Thought Rollback, section 5)."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from thoughtgraph.prompts import fill, worked
from thoughtgraph.task import Options, Prompt
from thoughtgraph.tasks.answer_text import Reader, marks, own_part, read_stated
from thoughtgraph.tasks.rollback_prompts import Reasoning
from thoughtgraph.tasks.zero_shot import ZeroShot
from thoughtgraph.tree import Path

SOLUTION = "The final solution is"
CHOICE = "The final choice is"
REASONING = "\nAnswer: Let's think step by step."
"""What stands between the question of a worked example and its steps."""

_PENDING = re.compile(
    r"\A[\s*_:]*+(?:(?:still|yet|as\s+yet|currently|now)\s+){0,3}"
    r"(?:un(?:known|clear|certain|determined)"
    r"|not|to\s+be|pending|missing|what"
    r"|(?:obtained|found|reached|calculated|computed)\s+(?:by|when|once|after|if|from|in)(?!.*=))\b",
    re.IGNORECASE,
)
"""What follows a mark that states no answer (ours): "is not 5", "is unknown", "is found by …"."""


class Stepwise(ZeroShot, Reasoning):
    """A question-answering task that can also be reasoned about one step at a time.

    Args:
        name: The task's id.
        topic: What the questions are about, as prompts name it.
        answers: What an answer is, such as "a number".
        reader: Reads the canonical answer out of a completion.
        examples: The prompt file that holds its worked examples.
        form: How the answer is to be given, in the published words; else in ours.
        marker: The sentence after which a solution is placed.
        numeric: Whether every answer is a number; see `Reasoning.numeric`.
        strategy: Whether questions without examples are asked as in Tree of Thoughts (appendix
            B.1: chain of thought makes a strategy first) unless the settings say otherwise;
            else as in Thought Rollback.
    """

    _mention = _PENDING

    def __init__(
        self,
        name: str,
        *,
        topic: str,
        answers: str,
        reader: Reader,
        examples: str,
        form: str = "",
        marker: str = SOLUTION,
        numeric: bool = False,
        strategy: bool = False,
    ) -> None:
        super().__init__(name, answers=answers, reader=reader, form=form)
        self.topic, self.numeric = topic, numeric
        self.examples = examples
        self._marker = marker
        self._strategy = strategy
        sentence = re.escape(marker).replace(r"\ ", r"\s+")
        self._mark = marks(rf"\b{sentence}\b")

    def ask_prompt(self, problem: str, style: str, options: Options) -> Prompt:
        """Returns the plain prompt: with worked examples where the settings name some.

        Those of `io` (few-shot) are questions and solutions, those of `cot` have their steps.
        """
        if shown := worked(partial(self._shown, style), options):
            return self._in_steps(problem, style, options, shown)
        return super().ask_prompt(problem, style, options)

    def _published_prompt(self, question: str, style: str, options: Options) -> Prompt:
        """A task that may ask for a strategy does, unless `zero_shot` is `steps`."""
        steps = options.get("zero_shot") == "steps"
        if self._strategy and not steps:
            return super()._published_prompt(question, style, options)
        return self._in_steps(question, style, options)

    def _in_steps(
        self, question: str, style: str, options: Options, shown: Sequence[str] = ()
    ) -> Prompt:
        asked = fill(f"stepwise/{style}", question=question)
        return Prompt("\n\n".join([self.task_statement(options), *shown, asked]))

    def answer(self, problem: str, text: str) -> str | None:
        """Reads what follows the marker, else what is stated in other words."""
        if self._mark.search(own := own_part(text, problem)):
            return self._solution(own)
        return super().answer(problem, own)

    def task_statement(self, options: Options) -> str:
        """Returns what the task is and how a solution is marked."""
        return fill("rollback/head", topic=self.topic, marker=self._marker)

    def _shown(self, style: str, count: int) -> Sequence[str]:
        """Returns own worked examples as a style shows them: `io` without their reasoning."""
        own = self.demonstrations(count)
        return own if style != "io" else [self._without_steps(example) for example in own]

    def _without_steps(self, example: str) -> str:
        """Returns an example's question and its solution, as input-output prompting shows them."""
        question, solution = example.partition(REASONING)[0], example.rpartition(self._marker)[2]
        return f"{question}\nAnswer: {self._marker}{solution}"

    def read_step(self, problem: str, path: Path, text: str) -> dict[str, Any]:
        """Takes the text as it is; a step with the marker and a value after it ends its path.

        One that only mentions the marker ends none, nor one whose value cannot be read.
        """
        if (answer := self._solution(text)) is None:
            return {"text": text}
        return {"text": text, "status": "terminal", "answer": answer}

    def _solution(self, text: str) -> str | None:
        """Reads what follows the last marker after which there is a value."""
        return read_stated(text, self._mark, self._reader, _PENDING) or None
