"""Game of 24: four numbers, the four operations, each number once (Tree of Thoughts, section 4.1).

A thought is one equation with the numbers that remain, `4 + 9 = 13 (left: 10 13 13)`; the fourth
step writes the answer as one expression. Verdicts are sure, likely (maybe) and impossible, worth
20, 1 and 0.001 each, summed over the samples.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from thoughtgraph.errors import ProblemError
from thoughtgraph.prompts import fill
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks import judgements
from thoughtgraph.tasks.game24 import line_grammar, rollback_steps
from thoughtgraph.tasks.game24.fgdip_steps import PROMISING, FeedbackSteps, label
from thoughtgraph.tasks.game24.lines import (
    ANSWER,
    EQUATION,
    answer_in,
    exact_step,
    listed_numbers,
    remaining,
    step_in,
)
from thoughtgraph.tasks.game24.rollback_steps import StructuredSteps
from thoughtgraph.tools.arithmetic import ExpressionError, evaluate, integers
from thoughtgraph.tree import Path, texts

TARGET = 24
STEPS = 4
"""Three equations and the answer (official code)."""
VALUES = {"sure": 20.0, "likely": 1.0, "maybe": 1.0, "impossible": 0.001}
"""Value of one sample's verdict (official code); the paper's text says "maybe" for "likely"."""
CORRECT: tuple[str, ...] = ("sure", "impossible")
"""Verdicts that the prompt allows on an answer."""

PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "cot_sc": {"n_generate": 100, "temperature": 0.7},
    "refine": {"refinements": 10, "temperature": 0.7},
    "tot_bfs": {
        "steps": STEPS,
        "generate": "propose",
        "evaluate": "value",
        "n_evaluate": 3,
        "select": "greedy",
        "breadth": 5,
        "shots": 1,
        "temperature": 0.7,
    },
    # The paper searches this task breadth first; depth, threshold and cap are ours.
    "tot_dfs": {
        "steps": STEPS,
        "threshold": 0.5,
        "max_per_state": 8,
        "generate": "propose",
        "proposal_samples": 1,
        "evaluate": "value",
        "n_evaluate": 3,
        "shots": 1,
        "temperature": 0.7,
    },
    **rollback_steps.PUBLISHED,
}
_OPERATOR = re.compile(r"(?<=[\d)])([-+*/])")


class Game24(StructuredSteps, FeedbackSteps):
    """The task `game24`; a problem is four integers, such as `4 9 10 13`."""

    id = "game24"

    def read(self, text: str) -> str:
        """Returns the four numbers, which may be listed in a sentence."""
        numbers = text.replace(",", " ").split()
        if len(numbers) != 4 or not all(map(str.isdecimal, numbers)):
            numbers = listed_numbers(text)
        if len(numbers) != 4 or any(len(n) > 4 or int(n) > 1000 for n in numbers):
            raise ProblemError(
                f"{text.strip()[:60]!r} is no Game-of-24 puzzle; write four whole numbers from 0 "
                "to 1000 such as '4 9 10 13'"
            )
        return " ".join(str(int(n)) for n in numbers)

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the paper's values for this task."""
        return PUBLISHED.get(method, {"temperature": 0.7})

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the 5-shot prompt."""
        return Question(Prompt(fill(f"game24/{style}", input=problem)), _answers)

    def refine(self, problem: str, path: Path, options: Options) -> Question[Sequence[str | None]]:
        """Asks for a better output than all so far."""
        tries = "\n".join(text.strip() for text in texts(path))
        prompt = Prompt(fill("game24/refine", input=problem, outputs=tries))
        return Question(prompt, each(answer_in))

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the expression that the last thought of a path states as answer, else None."""
        last = path[-1]["text"] if path else ""
        return answer_in(last) if ANSWER.search(judgements.plain(last)) else None

    def propose(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Asks for next equations, or for the answer once only 24 is left.

        Each line becomes a thought; with `strict_parse`, only equations and answers do.
        """
        return Question(
            self.next_steps(problem, path, options),
            lambda samples: self._proposals(problem, path, samples, options),
        )

    def next_steps(self, problem: str, path: Path, options: Options) -> Prompt:
        """Returns the prompt for the steps after a path."""
        left = remaining(problem, path)
        shots = options.get("shots", 1)
        if left == str(TARGET) and path:
            steps = "\n".join(texts(path))
            text = fill("game24/cot", input=problem) + f"\nSteps:\n{steps}\n"
            return _laid_out(text, "Answer: ", line_grammar.answer, options)
        name = "propose_3" if shots >= 3 else "propose"
        text = fill(f"game24/{name}", input=left) + "\n"
        form = partial(line_grammar.steps, len(left.split()))
        return _laid_out(text, "Possible next steps:\n", form, options)

    def _proposals(
        self, problem: str, path: Path, samples: Sequence[str], options: Options
    ) -> list[dict[str, Any]]:
        lines = [line for text in samples for line in text.split("\n")]
        strict, exact = options.get("strict_parse", True), options.get("exact_steps")
        if not strict:
            return [{"text": line} for line in lines]
        drafts: list[dict[str, Any]] = []
        for line in lines:
            thought = step_in(line)
            if thought is not None and exact:
                thought = self._corrected(problem, path, thought)
            if thought is not None:
                drafts.append({"text": thought, "raw": line})
        return drafts

    def _corrected(self, problem: str, path: Path, thought: str) -> str | None:
        """Corrects the arithmetic of an equation; None for an impossible step or a wrong answer."""
        equation = EQUATION.match(thought)
        if equation is not None:
            return exact_step(remaining(problem, path).split(), equation)
        return thought if self.check(problem, answer_in(thought) or "") else None

    def value(self, problem: str, path: Path, options: Options) -> Question[Verdict] | Verdict:
        """Returns the judgement prompt for the remaining numbers, or for the answer.

        The values of the samples' verdicts add up; a sample without a verdict adds nothing and
        counts as malformed.
        """
        last = path[-1]["text"] if path else ""
        if path and "left: " not in last:
            answer = last.lower().replace("answer: ", "")
            text, words = fill("game24/value_last", input=problem, answer=answer) + "\n", CORRECT
        else:
            text, words = fill("game24/value", input=remaining(problem, path)), PROMISING
        form = line_grammar.verdict(*words) if options.get("grammar") else ""
        prompt = Prompt(text, grammar=form)
        lines = "\n".join(texts(path)).strip().split("\n")
        if len(lines) == STEPS and not any("answer" in line.lower() for line in lines):
            return Verdict(0.0, "four equations and no answer", instead=prompt)
        return Question(prompt, _summed)

    def estimate(self, problem: str, path: Path, style: str, options: Options) -> Question[Verdict]:
        """Asks for FGDIP's verdict on the numbers left, else for a score of the steps."""
        if style == "fgdip":
            return label(problem, path, options)
        return super().estimate(problem, path, style, options)

    def same(self, problem: str, answer: str, options: Options) -> str:
        """Returns an expression with one space around each operator."""
        return _OPERATOR.sub(r" \1 ", "".join(answer.split()))

    def check(self, problem: str, answer: str) -> bool:
        """Returns whether an expression uses each number once and equals 24 exactly."""
        expression = answer.partition("=")[0]
        try:
            used = Counter(integers(expression))
            return used == Counter(map(int, problem.split())) and evaluate(expression) == TARGET
        except ExpressionError:
            return False


def _answers(samples: Sequence[str]) -> Sequence[str | None]:
    """Returns the answers; if any can be evaluated, the others become None and get no votes."""
    answers = each(answer_in)(samples)
    valued = [answer if _has_value(answer) else None for answer in answers]
    return valued if any(valued) else answers


def _has_value(answer: str | None) -> bool:
    try:
        evaluate(answer or "")
    except ExpressionError:
        return False
    return True


def _summed(samples: Sequence[str]) -> Verdict:
    words = judgements.verdicts(samples, VALUES)
    total = sum(VALUES.get(word, 0.0) for word in words)
    return Verdict(total, ", ".join(words), words.count("?"))


def _laid_out(text: str, cue: str, form: Callable[[], str], options: Options) -> Prompt:
    """Returns a few-shot prompt in the layout of the settings, with a grammar if they ask."""
    prompt = _as_turns(text, cue) if options.get("layout") == "turns" else Prompt(text)
    return replace(prompt, grammar=form()) if options.get("grammar") else prompt


def _as_turns(text: str, cue: str) -> Prompt:
    """Splits a few-shot prompt into turns, which weak chat models imitate better.

    Args:
        text: An instruction, perhaps empty, and blocks that begin with `Input: `.
        cue: Where a block's question ends and its answer begins.
    """
    instruction, *blocks = text.split("Input: ")
    turns: list[tuple[str, str]] = []
    for block in blocks[:-1]:
        question, _, reply = block.partition(cue)
        # A cue on a line of its own ends the question; any other cue starts the reply.
        question_end, reply_start = (cue, "") if cue.endswith("\n") else ("", cue)
        turns.append((f"Input: {question}{question_end}".rstrip(), f"{reply_start}{reply}".strip()))
    message = f"Input: {blocks[-1]}".rstrip()
    return Prompt(message, system=instruction.strip() or None, examples=tuple(turns))
