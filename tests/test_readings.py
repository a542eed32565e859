"""What is read out of texts: problems, steps, answers, verdicts, votes and scores.

The readings are data, `support/readings/*.txt`. A section `[task reader …]` names one of `READERS`;
a line holds what is read, ` ← `, and the texts in which it is read, with ` ¦ ` between them. `∅` is
nothing, and `〃` the same as on the line before. In a text `⏎` ends a line, `⟨⟩` is empty,
`⟨a0⟩` is a character by its code, `⟨9*300⟩` is a piece repeated, and ` ≟ ` stands between an answer
and what it is compared with.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench import judging, metrics
from thoughtgraph.task import Verdict
from thoughtgraph.tasks.game24.lines import step_in
from thoughtgraph.tasks.game24.rollback_steps import composed
from thoughtgraph.tasks.numbers import canonical, number, numbers_in
from thoughtgraph.tasks.sections import choice, split
from thoughtgraph.tasks.trajectory import read_move

PUZZLE = "4 9 10 13"
CLUES = "\n".join(f"{way}{at}. clue" for way in "hv" for at in range(1, 6))
PROBLEMS = {"game24": PUZZLE, "crosswords": CLUES}
BOARD = ["ADAPT", "WORRY", "ANGER", "ROUSE", "DRESS"]
ROWS = [" ".join(word) for word in BOARD]


def problem(task: Any, text: str) -> str | None:
    try:
        return task.read(text)
    except tg.ProblemError as refused:
        told = str(refused)
        assert re.search("write four whole numbers .* such as '4 9 10 13'", told), told
        assert "\n" not in told and len(told) < 300
        return None


def asked(task: Any, text: str) -> str | None:
    [answer] = task.ask(PROBLEMS.get(task.id, "Q?"), "io", {}).read([text])
    return answer


def row(task: Any, text: str) -> str | None:
    board = (asked(task, "\n".join([ROWS[0], text, *ROWS[2:]])) or "").split()
    assert [board[0], *board[2:]] == [BOARD[0], *BOARD[2:]]
    return board[1]


def proposal(task: Any, text: str) -> str | None:
    drafts = task.propose(PROBLEMS[task.id], [], {}).read([text])
    if task.id == "crosswords":
        assert task.propose(CLUES, [], {"repo_compat": True}).read([text]) == []
    told = " ".join(f"{draft['text']} {draft.get('score', '')}".strip() for draft in drafts)
    return told or None


def ending(task: Any, text: str) -> str | None:
    """The answer of a step that ends its path, which is that of a whole completion, too."""
    step = task.read_step("?", (), text)
    answer = step.get("answer")
    ended = {} if answer is None else {"status": "terminal", "answer": answer}
    assert step == {"text": text, **ended}
    assert asked(task, text) == answer
    return answer


def solves(task: Any, text: str) -> bool:
    return task.check(PUZZLE, asked(task, text) or "")


def move(task: Any, text: str) -> str | None:
    read = read_move(text)
    assert read.malformed is (read.action == "")
    return None if read.malformed else f"{read.text} → {read.action}"


def entities(task: Any, text: str) -> str | None:
    moves = task.extract("Q?", {}).read([text])
    found = [each.action.removeprefix("Search[").removesuffix("]") for each in moves]
    if moves[0].malformed:
        assert found == ["Q?"], "without an entity the question is searched"
        return None
    assert not any(each.malformed for each in moves)
    return " / ".join(found)


def score(task: Any, text: str) -> float | None:
    verdict = task.estimate("?", [], "itot", {}).read([text])
    assert verdict == Verdict(verdict.value, malformed=verdict.malformed)
    assert not verdict.malformed or verdict.value == 1.0
    return None if verdict.malformed else verdict.value


def decided(verdict: Verdict) -> bool | None:
    assert verdict.value in ((0.0,) if verdict.malformed else (0.0, 1.0))
    return None if verdict.malformed else bool(verdict.value)


def judgement(task: Any, text: str) -> bool | None:
    verdict = task.verify("?", "", {}).read([text])
    assert verdict.label == (text if verdict.malformed else "a year.")
    return decided(verdict)


def label(task: Any, text: str) -> str | None:
    verdict = task.estimate("?", [], "fgdip", {}).read([text])
    assert verdict.label == "maybe" or not verdict.malformed
    return None if verdict.malformed else verdict.label


def vote(task: Any, text: str, choices: str) -> int | None:
    number = choice(text, int(choices))
    return None if number is None else number + 1


def form(task: Any, text: str) -> str:
    found = canonical(text)
    assert canonical(found) == found
    return found


def compared(metric: Callable[[str, str], object]) -> Callable[[Any, str], object]:
    return lambda task, text: metric(*text.split(" ≟ "))


def scored(task: Any, text: str, *formulas: str) -> float:
    answer, gold = text.split(" ≟ ")
    [one] = metrics.scores(task.id, "?", [answer], gold)
    return one


READERS: dict[str, Callable[..., object]] = {
    "answer": lambda task, text: task.answer("q", text),
    "asked": asked,
    "board": asked,
    "canonical": form,
    "check": lambda task, text, *puzzle: task.check(" ".join(puzzle), text),
    "choice": vote,
    "coherency": lambda task, text: judging.read_score(text),
    "coherent": lambda task, text: decided(task.judge("", "", {}).read([text])),
    "composed": lambda task, text: composed(PUZZLE, text.split("\n")),
    "ending": ending,
    "entities": entities,
    "exact": compared(metrics.exact_match),
    "f1": compared(metrics.f1),
    "judgement": judgement,
    "label": label,
    "move": move,
    "numbers": lambda task, text: " / ".join(each or "∅" for each in numbers_in(text)),
    "passage": lambda task, text: " → ".join(filter(None, split(text, "Passage"))),
    "problem": problem,
    "proposal": proposal,
    "row": row,
    "same": compared(lambda text, other: canonical(text) == canonical(other)),
    "score": score,
    "scores": scored,
    "solved": compared(metrics.solved),
    "solves": solves,
    "step": lambda task, text: step_in(text),
    "verdict": lambda task, text: (
        task.value(PUZZLE, [{"text": "(left: 1)"}], {}).read([text]).label
    ),
}


def sections() -> dict[str, list[tuple[str, str]]]:
    """Returns the sections of all files: what is read, and the text, of each of their lines."""
    found: dict[str, list[tuple[str, str]]] = {}
    rows: list[tuple[str, str]] = []
    for file in sorted((Path(__file__).parent / "support" / "readings").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            if line.startswith("[") and line.endswith("]") and " ← " not in line:
                rows = found[line[1:-1]] = []
                continue
            read, _, texts = line.partition(" ← ")
            read = rows[-1][0] if read == "〃" else plain(read)
            rows += [(read, plain(text)) for text in texts.split(" ¦ ")]
    return found


def plain(written: str) -> str:
    repeated = re.sub(r"⟨([^⟨⟩]+)\*(\d+)⟩", lambda it: it[1] * int(it[2]), written)
    coded = re.sub(r"⟨([0-9a-f]*)⟩", lambda it: chr(int(it[1], 16)) if it[1] else "", repeated)
    return coded.replace("⏎", "\n")


def shown(read: object) -> str:
    if isinstance(read, bool):
        return "yes" if read else "no"
    return "∅" if read is None else f"{read:g}" if isinstance(read, float) else str(read)


SECTIONS = sections()


def marked(section: str) -> Any:
    """Formulas are compared in a process each, which takes seconds to start."""
    return pytest.param(section, marks=pytest.mark.ci if section.endswith("formulas") else ())


@pytest.mark.parametrize("section", [marked(section) for section in SECTIONS])
def test_readings(section: str) -> None:
    name, reader, *more = section.split()
    task = registry.task(name)
    read = [(shown(READERS[reader](task, text, *more)), text) for _, text in SECTIONS[section]]
    assert read == SECTIONS[section]


DECORATIONS = (
    *("{}", "**{}**", "${}$", "{}.", "**{}.**", "_{}_"),
    *(r"\boxed{{{}}}", r"$\boxed{{{}}}$."),
)
GOES_ON = ("", "\n\nThis is so, as 3 + 4 = 7 and no A is.", "\n\nExplanation: 3 and 4, yes, (A).")
ANSWERS = {
    **{"gsm8k": "540", "svamp": "0.5", "math": "12", "mmlu": "B", "hotpotqa": "Germany"},
    **{"strategyqa": "no", "fever": "REFUTES"},
}


@pytest.mark.parametrize("said", ["The answer is {}", "Answer: {}", "**Final Answer:** {}"])
def test_neither_decoration_nor_explanation_changes_what_is_read(said: str) -> None:
    for name, answer in ANSWERS.items():
        task = registry.task(name)
        for decoration in DECORATIONS:
            for after in GOES_ON:
                written = said.format(decoration.format(answer)) + after
                assert task.answer("Why?", written) == answer, written  # type: ignore[attr-defined]


def test_equal_numbers_are_equal_however_written() -> None:
    for numerator in range(-30, 31):
        for denominator in (1, 2, 4, 5, 8, 10, 16, 25, 3, 7):
            value = numerator / denominator
            written = canonical(f"{numerator}/{denominator}")
            assert number(written) == number(f"{numerator}/{denominator}")
            if denominator not in (3, 7):
                assert written == canonical(repr(value)) == canonical(f"${value:,.6f}")
