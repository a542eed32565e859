"""Game of 24 for FGDIP (section 5.4; the paper says no more than that it was run: steps are ours).

The first layer is equations on the four numbers, a step is one equation on the numbers that remain,
and once one number remains, the one step left is to write the answer. There are no tools.
"""

from abc import ABC, abstractmethod

from thoughtgraph.acting import Hints, Label, Move
from thoughtgraph.prompts import fill
from thoughtgraph.task import Options, Prompt
from thoughtgraph.tasks import judgements
from thoughtgraph.tasks.game24.lines import answer_in, remaining, step_in
from thoughtgraph.tasks.words import last_word
from thoughtgraph.tree import Path, texts

LABELS: dict[str, Label] = {
    "sure": "sure",
    "likely": "maybe",
    "maybe": "maybe",
    "impossible": "impossible",
}


class FeedbackSteps(ABC):
    """FGDIP's steps of Game of 24; a part of its task."""

    @abstractmethod
    def propose(self, problem: str, path: Path, options: Options) -> Prompt:
        """Returns the prompt for next equations, which is the task's."""

    def extract(self, problem: str, options: Options) -> Prompt:
        """Returns the prompt for first equations."""
        return self.propose(problem, (), options)

    def extracted(self, problem: str, text: str, options: Options) -> list[str]:
        """Reads the first n distinct equations."""
        steps = [step_in(line) for line in text.split("\n")]
        equations = dict.fromkeys(step for step in steps if step and "left: " in step)
        return list(equations)[: options["n_generate"]]

    def opening(self, problem: str, entity: str) -> Move:
        """Returns the equation as the first step; the problem itself is none."""
        return Move(entity, malformed=entity == problem)

    def move(self, problem: str, path: Path, style: str, options: Options, hints: Hints) -> Prompt:
        """Returns the prompt for one next equation, or for the answer once one number is left.

        The answer follows from the equations, so its prompt asks for no other way.
        """
        if _reduced(problem, path):
            return _answer(problem, path)
        steps = _equations(problem, path)
        taken = "\n".join(["\n\nThe steps so far:", *steps]) if steps else ""
        return Prompt(
            fill(
                "game24/step",
                problem=problem,
                steps=taken,
                lessons=_lessons(hints),
                input=remaining(problem, path),
            )
        )

    def moved(self, problem: str, path: Path, text: str, hints: Hints) -> Move:
        """Reads the first step; once one number is left it is the answer, beside which is none."""
        if _reduced(problem, path):
            answer = answer_in(text)
            if answer is None:
                return Move(text, malformed=True)
            return Move(f"Answer: {answer}", answer=answer, only=True)
        steps = (step_in(line) for line in text.split("\n"))
        found = next((step for step in steps if step and "left: " in step), None)
        return Move(text if found is None else found, malformed=found is None)

    def label(self, problem: str, path: Path, options: Options) -> Prompt:
        """Returns the prompt that asks whether the numbers left can reach 24."""
        return Prompt(fill("game24/value", input=remaining(problem, path)))

    def labelled(self, text: str) -> Label | None:
        """Reads the last word."""
        return LABELS.get(last_word(text))

    def verify(self, problem: str, answer: str, options: Options) -> Prompt:
        """Returns the prompt that asks whether an expression uses each number once for 24."""
        return Prompt(fill("game24/verify", input=problem, answer=answer))

    def verified(self, text: str) -> tuple[bool | None, str]:
        """Reads the last `JUDGMENT:` and its reason."""
        return judgements.judgement(text)

    def conclude(self, problem: str, path: Path, options: Options) -> Prompt:
        """Returns the prompt that asks for the answer that the equations make."""
        return _answer(problem, path)

    def concluded(self, problem: str, text: str) -> str | None:
        """Reads the expression."""
        return answer_in(text)

    def normal(self, answer: str) -> str:
        """Returns an expression without its spaces."""
        return "".join(answer.split())


def _reduced(problem: str, path: Path) -> bool:
    return len(remaining(problem, path).split()) <= 1


def _answer(problem: str, path: Path) -> Prompt:
    steps = "\n".join(_equations(problem, path))
    asked = fill("game24/cot", input=problem)
    return Prompt(f"{asked}\nSteps:\n{steps}" if steps else asked)


def _equations(problem: str, path: Path) -> list[str]:
    """Returns a path's steps; the problem, where the search had to begin at it, is none."""
    return [text for text in texts(path) if text != problem]


def _lessons(hints: Hints) -> str:
    wrong = "\n".join(f"{each['answer']} ({each['reason']})" for each in hints.rejected)
    taken = "\n".join(step["text"] for step in hints.siblings)
    blocks = (("rejected", wrong), ("siblings", taken))
    return "".join(f"\n\n{fill(f'game24/{name}', lines=lines)}" for name, lines in blocks if lines)
