"""Game of 24 for FGDIP (section 5.4; the paper reports a run without details: steps are ours).

The first layer is equations on the four numbers. A step is one equation on the numbers that remain;
once one number remains, the only step is the answer. There are no tools.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from thoughtgraph.acting import Hints, Label, Move, labelled
from thoughtgraph.prompts import blocks, fill
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks import judgements
from thoughtgraph.tasks.game24 import line_grammar
from thoughtgraph.tasks.game24.lines import answer_in, remaining, step_in
from thoughtgraph.tree import Path, texts

LABELS: dict[str, Label] = {
    "sure": "sure",
    "likely": "maybe",
    "maybe": "maybe",
    "impossible": "impossible",
}
PROMISING: tuple[str, ...] = ("sure", "likely", "impossible")
"""Verdicts that the prompt allows on the remaining numbers."""


class FeedbackSteps(ABC):
    """FGDIP's steps of Game of 24, a mixin of the task."""

    @abstractmethod
    def next_steps(self, problem: str, path: Path, options: Options) -> Prompt:
        """Returns the task's prompt for next equations."""

    def move(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Question[Sequence[Move]]:
        """Asks for one next equation, or for the answer once one number is left.

        The equations determine the answer, so its prompt omits the hints that ask for another way.
        """
        left = remaining(problem, path)
        if len(left.split()) <= 1:
            return Question(_ask_answer(problem, path, options), each(_answer_move))
        steps = _equations(problem, path)
        so_far = "\n".join(["\n\nThe steps so far:", *steps]) if steps else ""
        lessons = _lessons(hints)
        text = fill("game24/step", problem=problem, steps=so_far, lessons=lessons, input=left)
        form = line_grammar.steps(len(left.split()), most=1) if options.get("grammar") else ""
        return Question(Prompt(text, grammar=form), each(_equation_move))

    def extract(self, problem: str, options: Options) -> Question[Sequence[Move]]:
        """Asks for equations; the first `n_generate` distinct ones become steps.

        A completion without equations becomes one malformed step, whose text is the problem.
        """

        def read(samples: Sequence[str]) -> Sequence[Move]:
            steps = [step_in(line) for line in samples[0].split("\n")]
            equations = dict.fromkeys(step for step in steps if step and "left: " in step)
            first = [Move(equation) for equation in equations][: options["n_generate"]]
            return first or [Move(problem, malformed=True)]

        return Question(self.next_steps(problem, (), options), read)

    def conclude(self, problem: str, path: Path, options: Options) -> Question[str | None]:
        """Asks for the answer that the steps so far compose."""
        return Question(_ask_answer(problem, path, options), lambda samples: answer_in(samples[0]))

    def verify(self, problem: str, answer: str, options: Options) -> Question[Verdict]:
        """Asks whether an expression uses each number once and equals 24."""
        return Question(
            Prompt(fill("game24/verify", input=problem, answer=answer)), judgements.judgement
        )


def label(problem: str, path: Path, options: Options) -> Question[Verdict]:
    """Asks whether the remaining numbers can reach 24."""
    form = line_grammar.verdict(*PROMISING) if options.get("grammar") else ""
    prompt = Prompt(fill("game24/value", input=remaining(problem, path)), grammar=form)
    return Question(prompt, lambda samples: labelled(LABELS.get(judgements.verdict(samples[0]))))


def _answer_move(text: str) -> Move:
    """Reads an answer as the only possible step."""
    answer = answer_in(text)
    if answer is None:
        return Move(text, malformed=True)
    return Move(f"Answer: {answer}", answer=answer, only=True)


def _equation_move(text: str) -> Move:
    """Reads the first equation as a step."""
    steps = (step_in(line) for line in text.split("\n"))
    equation = next((step for step in steps if step and "left: " in step), None)
    return Move(text if equation is None else equation, malformed=equation is None)


def _ask_answer(problem: str, path: Path, options: Options) -> Prompt:
    steps = "\n".join(_equations(problem, path))
    text = fill("game24/cot", input=problem)
    form = line_grammar.answer() if options.get("grammar") else ""
    return Prompt(f"{text}\nSteps:\n{steps}" if steps else text, grammar=form)


def _equations(problem: str, path: Path) -> list[str]:
    """Returns the equations of a path without the malformed first step that repeats the problem."""
    return [text for text in texts(path) if text != problem]


def _lessons(hints: Hints) -> str:
    wrong_answers = (f"{each['answer']} ({each['reason']})" for each in hints.rejected)
    siblings = (step["text"] for step in hints.siblings)
    return blocks("game24", rejected=wrong_answers, siblings=siblings)
