import itertools
from fractions import Fraction
from typing import Any

import pytest
from support.scripted import rng

import thoughtgraph as tg
from thoughtgraph.tasks.game24.game24 import Game24, puzzles, solvable
from thoughtgraph.tasks.game24.lines import step_in
from thoughtgraph.tasks.game24.rollback_steps import composed
from thoughtgraph.tree import Thought

TASK: Any = Game24()
PUZZLE = "4 9 10 13"
STEP = "4 + 9 = 13 (left: 10 13 13)"
HOSTILE = {
    "empty": "",
    "spaces": " " * 1_000_000,
    "a million digits": "1" * 1_000_000,
    "brackets": "(" * 100_000,
    "equations": "1+1=2(left:" * 90_000,
    "answers": "answer: " * 120_000,
    "binary": "".join(map(chr, range(256))) * 100,
    "surrogate": "\ud800",
    "json": '{"answer": "24"}',
    "another language": "答えは (10 - 4) \u00d7 (13 - 9)",
    "code": "Answer: __import__('os').getpid()",
}


def path(*lines) -> list[Thought]:
    return [{"text": line} for line in lines]


@pytest.mark.parametrize(("text", "problem"), [(" 4  9,10 13\n", PUZZLE), ("1 1 1 1", "1 1 1 1")])
def test_reading_a_puzzle(text, problem):
    assert TASK.read(text) == problem


@pytest.mark.parametrize(
    "text", ["", "1 2 3", "1 2 3 4 5", "1 2 3 x", "1 2 3 -4", "1 2 3 " + "9" * 9999]
)
def test_what_is_no_puzzle_is_refused_in_one_line(text):
    with pytest.raises(tg.ProblemError, match="four whole numbers") as caught:
        TASK.read(text)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


IN_WORDS = [
    "Please reach 24 with the numbers 4, 9, 10 and 13",
    "Please reach 24 with the numbers 4, 9, 10 and 13.",
    "How do I make 24 of 4, 9, 10 and 13?",
    "Use 4,9,10,13 to get 24!",
    "Combine 4 9 10 13 into 24, each number exactly once, with + - * /",
    "24 game: 4, 9, 10, 13",
    "Solve this game24 puzzle: 4 9 10 13",
    "Game of 24 with [4, 9, 10, 13]",
    "the numbers are 4, 9, 10 and 13",
    "**4**, **9**, **10** and **13** must give **24**",
    "Reach $24$ with $4$, $9$, $10$ and $13$.",
    r"Reach \(24\) with \(4, 9, 10, 13\).",
    "* 4\n* 9\n* 10\n* 13\nMake 24 of them.",
    "4 9 10 13 = 24",
    "4 9 10 13 -> 24",
    "[4, 9, 10, 13]",
    "4; 9; 10; 13",
    '{"numbers": [4, 9, 10, 13], "target": 24}',
    "用4、9、10、13算24点",
    "\uff14、\uff19、\uff11\uff10、\uff11\uff13で24を作ってください",
    "Erreiche 24 mit 4, 9, 10 und 13",
    "Сделай 24 из 4, 9, 10 и 13",
    "اصنع 24 من 4، 9، 10، 13",
    "Input: 4 9 10 13\n",
    "4,9,10,13!",
    "A 24-game of 4, 9, 10 and 13, please",
    "Zahlen fürs 24er-Spiel: 4 9 10 13",
]
AIMED = {
    "Reach 24 with 24, 1, 1 and 1": "24 1 1 1",
    "With 1, 1, 1 and 24 reach 24": "1 1 1 24",
    "Make 24 from 24, 24, 1, 1": "24 24 1 1",
    "Make 24 of 1000, 0, 24 and 1": "1000 0 24 1",
    "8, 3, 1, 24;": "8 3 1 24",
}
NOT_FOUND = [
    "Please reach 24 with the numbers 4, 9 and 10",
    "Make 24 with 4, 9 and 10",
    "Reach 24 with 4, 9, 10, 13 and 7",
    "Make 25 from 4 9 10 13",
    "Reach 24 with 4.5, 9, 10 and 13",
    "Aus 4,5 und 9 und 10 und 13 mach 24",
    "Mach 24 aus 4,5 und 9,10",
    "Reach 24 with -4, 9, 10 and 13",
    "Reach 24 with 4, 9 and 1,200",
    "Reach 24 with 4, 9 and 1 200",
    "Reach 24 with 4, 9 and 1'200",
    "Reach 24 with 1/2, 9, 10",
    "Reach 24 with ½, 4, 9, 10, 13",
    "Give me the 2nd of 4, 9 and 10",
    "Reach 24 with x4, 9, 10 and 13",
    "The 124th puzzle: 4 9 10",
    "Is 4 + 9 + 10 + 13 equal to 24?",
    "numbers from 1-13: 4 9 10",
    "#901: 4 9 10",
    "at 10:13 use 4 and 9",
    "Reach 24 with 4, 9, 10 and 1001",
    "Reach 24 with 4, 9, 10 and 007",
    "four, nine, ten and thirteen",
    "4 9 10 13 24",
    "4 9 10 -13",
    "Reach 24",
    "24",
    "",
    "4, 9, 10 and 13 " + "please " * 1_000,
]


@pytest.mark.parametrize("text", IN_WORDS)
def test_the_numbers_are_found_in_a_sentence(text: str) -> None:
    assert TASK.read(text) == "4 9 10 13"


@pytest.mark.parametrize("text", AIMED)
def test_the_target_is_none_of_the_numbers_unless_it_is_there_twice(text: str) -> None:
    assert TASK.read(text) == AIMED[text]


@pytest.mark.parametrize("text", NOT_FOUND)
def test_no_number_is_made_up_or_read_in_part(text: str) -> None:
    with pytest.raises(
        tg.ProblemError, match=r"write four whole numbers .* such as '4 9 10 13'"
    ) as no:
        TASK.read(text)
    assert "\n" not in str(no.value)


@pytest.mark.parametrize(
    ("line", "thought"),
    [
        (STEP, STEP),
        ("3) 10 - 4 = 6 (Left: 6  9 13) a good start", "10 - 4 = 6 (left: 6 9 13)"),
        ("- 4 \u00d7 9 = 36 (left: 10 13 36)", "4 * 9 = 36 (left: 10 13 36)"),
        ("Answer: (10 - 4) * (13 - 9) = 24", "Answer: (10 - 4) * (13 - 9) = 24"),
        ("Possible next steps:", None),
        ("4 + 9 = 13", None),
    ],
)
def test_a_line_of_a_proposal(line, thought):
    found = TASK.propose(PUZZLE, [], {}).read([line])
    assert [draft["text"] for draft in found] == ([] if thought is None else [thought])


@pytest.mark.parametrize(
    "line",
    [
        "10 - 4 = 6 (remaining: 6 9 13)",
        "* 10 \u2212 4 = 6, left: [6, 9, 13]",
        "\u2022 10 - 4 = **6** (Left: 6, 9, and 13)",
        "10 - 4 = 6 \u2192 left: 6 9 13",
        "`10 - 4 = 6 (left: 6 9 13)`",
        "| 10 - 4 = 6 | left: 6 9 13 |",
        r"\(10 - 4 = 6\) (left: \(6, 9, 13\))",
        "\uff0810 - 4\uff09= 6\uff08left\uff1a 6 9 13\uff09",
        "10 - 4 = 6 (numbers left: 6, 9, 13)",
        "10 \u2013 4 = 6 (remaining numbers: 6 9 13).",
        "10 - 4 = 6. Remaining numbers: 6, 9, 13.",
        "10 - 4 = 6 (The remaining numbers are 6, 9, 13)",
        "**Step 1:** 10 - 4 = 6 (left: 6 9 13)",
        "Step 1 \u2013 10 - 4 = 6 (left: 6 9 13)",
        "(10 - 4) = 6 (left: {6, 9, 13})",
        r"10 \- 4 = 6 (left: 6 9 13)",
        "10 - 4 = 6 (left 6 9 13)",
        "_10 - 4 = 6_ _(left: 6 9 13)_",
        "10 - 4 = 6 (left: 6 | 9 | 13)",
        "10 - 4 = 6 (left: 6\u30019\u300113)",
        "10 - 4 = 6 (left: 6 & 9 & 13)",
        "10 - 4 = 6 (left: 6 \u2022 9 \u2022 13)",
        "10 - 4 = 6 (left: (6) (9) (13))",
        "10 - 4 = 6, left: 6 9 13 (closer to 24)",
        "10 - 4 = 6. Left: 6, 9, 13. A good start",
        "10-4=6(left:6 9 13)",
        "10 - 4 = 6 (left: 6 9 13) - closer to 24",
        r"$10 - 4 = 6$ \quad (left: $6$, $9$, $13$)",
        r"\boxed{10 - 4 = 6} (left: 6 9 13)",
        "\uff11\uff10 - \uff14 = \uff16 (left: 6 9 13)",
    ],
)
def test_a_step_is_read_whatever_its_decoration(line):
    assert step_in(line) == "10 - 4 = 6 (left: 6 9 13)"


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("4 \u22c5 9 = 36 (left: 10 13 36)", "4 * 9 = 36 (left: 10 13 36)"),
        (r"4 \* 9 = 36 (left: 10 13 36)", "4 * 9 = 36 (left: 10 13 36)"),
        ("4 x 9 = 36 (left: 10 13 36)", "4 * 9 = 36 (left: 10 13 36)"),
        (r"36 \div 4 = 9 (left: 9 9)", "36 / 4 = 9 (left: 9 9)"),
        ("10/4 = 2.5 (left: 2.5 9 13)", "10 / 4 = 2.5 (left: 2.5 9 13)"),
        (r"4 \cdot \frac{1}{3} = \frac{4}{3} (left: 4/3)", "4 * 1/3 = 4/3 (left: 4/3)"),
        ("10 - (-5) = 15 (left: 15 -2)", "10 - -5 = 15 (left: 15 -2)"),
        ("4 - 9 = -5 (left: 10 13 (-5))", "4 - 9 = -5 (left: 10 13 -5)"),
        ("4 - 9 = (-5) (left: (-5), 10, 13)", "4 - 9 = -5 (left: -5 10 13)"),
    ],
)
def test_signs_and_fractions_of_a_step(line, step):
    assert step_in(line) == step


@pytest.mark.parametrize(
    "line",
    [
        "2 * (10 - 4) = 12 (left: 9 12)",
        "2 * 10 - 4 = 16 (left: 9 16)",
        "12 - 10 - 4 = -2 (left: 3)",
        "1,000 - 4 = 996 (left: 9)",
        "10 - 4 = 6 (left: 6 9 1e3)",
        "10 - 4 = 6 (left: 6 9 (4 + 9))",
        "10 - 4 = 6 (left: 6 ~ 9 ~ 13)",
        "10 - 4 = 6 (left: 6 9 thirteen)",
        "10 - 4 = 6 (left: 6 and the 9 and 13)",
        "2**3 = 8 (left: 8 9)",
        "1 + 2**3 = 9 (left: 9)",
        "5\u00b2 - 1 = 24 (left: 24)",
        "10 - 4 = 6 (left: )",
    ],
)
def test_a_part_of_a_longer_calculation_is_no_step(line):
    assert step_in(line) is None


@pytest.mark.parametrize(
    "text",
    [
        r"**Answer:** $$(10-4)\times(13-9)=24$$",
        "**Answer:**\n\n" + r"$$(10-4)\times(13-9)=24$$",
        "\\[\n" + r"(10 - 4) \times (13 - 9) = 24" + "\n\\]",
        r"Final answer: \boxed{(10 - 4)(13 - 9)}",
        r"Final Answer: $\boxed{(10-4)\cdot(13-9)=24}$",
        "```\n(10 - 4) * (13 - 9) = 24\n```",
        "(10 - 4) * (13 - 9) = 24 \u2705",
        "**(10 - 4) * (13 - 9) = 24**\nAll numbers are used once.",
        "Answer: (10 - 4) * (13 - 9), which equals 24",
        "Answer: (10 - 4) * (13 - 9) = 24. This uses each of 4, 9, 10, 13 once.",
        "Answer: (10 - 4) * (13 - 9) (each number once)",
        r"**Answer: (10 - 4) \* (13 - 9) = 24**",
        "Answer: `(10 - 4) * (13 - 9) = 24`",
        "So the answer is **(10 \u2212 4) \u00d7 (13 \u2212 9)**.",
        "Answer: (10 - 4) * (13 - 9) = 24\nThe answer is 24.",
        "### Answer\n(10 - 4) * (13 - 9) = 24",
        "Answer - (10 - 4) * (13 - 9) = 24",
        "Answer = (10 - 4) * (13 - 9)",
        "24 = (10 - 4) * (13 - 9)",
        "R\u00e9ponse : (10 \u2212 4) \u00d7 (13 \u2212 9) = 24",
        "**\u7b54\u6848\uff1a**\uff0810 - 4\uff09\u00d7\uff0813 - 9\uff09= 24",
        "Solution: (10 - 4) * (13 - 9) = 24",
        "Answer: (10 - 4) * (13 - 9) = 6 * 4 = 24",
        "Answer: **(10 - 4)** * **(13 - 9)** = **24**",
        r"Answer: \left(10 - 4\right) \ast \left(13 - 9\right)",
        "ANSWER: \uff3b10 \uff0d 4\uff3d \uff0a \uff3b13 \uff0d 9\uff3d \uff1d 24",
        "The answer is:\n(10 - 4) \u00d7 (13 - 9)",
    ],
)
def test_a_right_answer_is_read_whatever_its_decoration(text):
    [answer] = TASK.ask(PUZZLE, "io", {}).read([text])
    assert TASK.check(PUZZLE, answer)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Verdict: sure, because 4 * 6 = 24", "sure"),
        ("**Verdict**: likely \u2705", "likely"),
        (" **Judge:** `Likely`.", "likely"),
        ("Judgement \u2014 impossible", "impossible"),
        ("Conclusion = **sure**", "sure"),
        ("The verdict is impossible.", "impossible"),
        ("### Judgment\n\nSure", "sure"),
        ("Judgment: Sure.\n\nThe numbers reach 24.", "sure"),
        ("sure\n\nExplanation: 10 + 14 = 24", "sure"),
        ("impossible (10 * 10 is too large)", "impossible"),
        ("> sure", "sure"),
        ("- **Impossible**", "impossible"),
        (r"$\boxed{\text{likely}}$", "likely"),
        (r"Evaluation: \(\text{sure}\)", "sure"),
        ("\u274c impossible", "impossible"),
        ('{"judgment": "sure"}', "sure"),
        ("Evaluation\uff1asure", "sure"),
        ("sure\nimpossible", "impossible"),
        ("It is not sure at all.\nVerdict: impossible", "impossible"),
        ('"impossible" would be wrong here.\nJudge: sure', "sure"),
        ("Judgment: not sure", "?"),
        ("Judgment: sure? No.", "?"),
        ("Evaluation: sure/likely/impossible", "?"),
        ("Verdict: sure, likely or impossible", "?"),
        ("Sure, let me look at the numbers:", "?"),
        ("The answer is likely wrong", "?"),
        ("sure\n\n4 4\nimpossible\n\n5 5", "?"),
        ("It is impossible to say sure", "?"),
    ],
)
def test_verdicts_with_labels_and_marks(text, word):
    assert TASK.value(PUZZLE, path(STEP), {}).read([text]).label == word


def test_steps_of_thought_rollback_in_latex_and_markdown():
    steps = ["**10 \u2212 4 = 6**", "13 \u2013 9 = `4`", r"$6 \times 4 = \boxed{24}$"]
    assert composed(PUZZLE, steps) == "(10 - 4) * (13 - 9)"


def test_every_line_is_kept_where_the_official_parser_is_asked_for():
    text = f"Possible next steps:\n{STEP}\n"
    found = TASK.propose(PUZZLE, [], {"strict_parse": False}).read([text])
    assert [draft["text"] for draft in found] == ["Possible next steps:", STEP, ""]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: (10 - 4) * (13 - 9) = 24", "(10 - 4) * (13 - 9)"),
        ("Steps:\n…\nanswer: 4 * 6", "4 * 6"),
        ("Answer: 1 = 2\nAnswer: [10 - 4] \u00d7 (13 − 9) = 24.", "(10 - 4) * (13 - 9)"),  # noqa: RUF001
        ("(6 / (9 - 7)) * 8 = 24", "(6 / (9 - 7)) * 8"),
        ("Well:\n(10 - 4) * (13 - 9)", "(10 - 4) * (13 - 9)"),
        ("So (10 - 4) * (13 - 9) = 24.", "(10 - 4) * (13 - 9)"),
        ("**Step 4:** (10 - 4) * (13 - 9) = 24", "(10 - 4) * (13 - 9)"),
        ("\u7b54\u6848\u662f(10 - 4) * (13 - 9)", "(10 - 4) * (13 - 9)"),
        ("So x - 4 + 28", None),
        (r"Answer: \( (10 - 4) \times (13 - 9) = 24 \)", "(10 - 4) * (13 - 9)"),
        (r"Answer: $\boxed{\left(10 - 4\right) \cdot (13 - 9)} = 24$", "(10 - 4 ) * (13 - 9)"),
        (r"Answer: \[ \frac{\dfrac{48}{2}}{1} \] ", "((((48) / (2))) / (1))"),
        (r"Answer: 8 \div 2 * (3 + 3) = 24", "8 / 2 * (3 + 3)"),
        (STEP, None),
        ("24", None),
        ("Answer:", None),
    ],
)
def test_the_answer_in_a_completion(text, answer):
    assert TASK.ask(PUZZLE, "io", {}).read([text]) == [answer]


@pytest.mark.parametrize(
    ("samples", "answers"),
    [
        (["Answer: (11 - 8) * ( = 24", "Answer: 4 + 9 = 24"], [None, "4 + 9"]),
        (["Answer: - = 24", "Answer: 3 / 0 = 24"], ["-", "3 / 0"]),
    ],
)
def test_answers_without_a_value_get_votes_only_where_no_answer_has_one(samples, answers):
    assert TASK.ask(PUZZLE, "cot", {}).read(samples) == answers


def test_the_worked_value_of_the_specification():
    verdict = TASK.value(PUZZLE, path(STEP), {}).read(["x\nsure", "likely", "x\nSure."])
    assert verdict.value == 41.0
    assert verdict.label == "sure, likely, sure"
    assert verdict.malformed == 0


@pytest.mark.parametrize(
    ("samples", "value", "malformed"),
    [
        (["maybe", "impossible", "hm"], 1.001, 1),
        (["**sure**", "`Likely`", ""], 21.0, 1),
        (["surely", "sure thing", "not sure"], 0.0, 3),
    ],
)
def test_verdicts_a_model_may_write(samples, value, malformed):
    verdict = TASK.value(PUZZLE, path(STEP), {}).read(samples)
    assert verdict.value == pytest.approx(value)
    assert verdict.malformed == malformed


def test_what_the_value_prompts_end_with():
    assert TASK.value(PUZZLE, path(STEP), {}).prompt.user.endswith("\n10 13 13")
    finished = path("a (left: 10 6 4)", "b (left: 6 4)", "c (left: 24)", "Answer: 6 * 4 = 24")
    last = TASK.value(PUZZLE, finished, {}).prompt.user
    assert "give a judgement (sure/impossible)" in last
    assert last.rstrip().endswith(f"Input: {PUZZLE}\nAnswer: 6 * 4 = 24\nJudge:")


def test_four_equations_without_an_answer_are_worth_nothing_unasked():
    verdict = TASK.value(PUZZLE, path(*[STEP] * 4), {})
    assert verdict.value == 0.0


def test_the_propose_prompt_names_the_numbers_that_are_left():
    assert TASK.propose(PUZZLE, [], {}).prompt.user.endswith(
        f"Input: {PUZZLE}\nPossible next steps:\n"
    )
    assert TASK.propose(PUZZLE, path(STEP), {}).prompt.user.endswith(
        "Input: 10 13 13\nPossible next steps:\n"
    )
    three = TASK.propose(PUZZLE, path(STEP), {"shots": 3}).prompt.user
    assert three.count("Possible next steps:") == 4
    done = TASK.propose(PUZZLE, path(STEP, "6 * 4 = 24 (left: 24)"), {}).prompt.user
    assert done.endswith(f"Input: {PUZZLE}\nSteps:\n{STEP}\n6 * 4 = 24 (left: 24)\n")


@pytest.mark.parametrize(
    ("puzzle", "answer", "right"),
    [
        (PUZZLE, "(10 - 4) * (13 - 9)", True),
        (PUZZLE, "(10 - 4) * (13 - 9) = 24", True),
        ("3 3 8 8", "8 / (3 - 8 / 3)", True),
        ("1 5 5 5", "5 * (5 - 1 / 5)", True),
        (PUZZLE, "4 + 9 + 10 + 13", False),
        (PUZZLE, "4 * 6", False),
        (PUZZLE, "(10 - 4) * (13 - 9) * 1", False),
        (PUZZLE, "24", False),
        ("3 3 8 8", "8 / (3 - 8 // 3)", False),
        ("2 2 2 3", "2 ** 3 * (2 + 2) - 8", False),
        ("1 1 2 12", "12 * 2 * 1 / (1 - 1)", False),
        (PUZZLE, "__import__('os').getpid()", False),
        (PUZZLE, "(lambda: 24)()", False),
        (PUZZLE, "10-4*(13-9", False),
        (PUZZLE, "(" * 90 + "24" + ")" * 90, False),
        (PUZZLE, "9" * 5_000, False),
        (PUZZLE, "4.0 + 20", False),
        (PUZZLE, "0x18", False),
        (PUZZLE, "1_0", False),
        (PUZZLE, "\u0664 + 20", False),
        (PUZZLE, "24\n", False),
        (PUZZLE, "", False),
        (PUZZLE, "\x00", False),
    ],
)
def test_the_exact_check(puzzle, answer, right):
    assert TASK.check(puzzle, answer) is right


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_makes_a_parser_raise_or_hang(text):
    for draft in TASK.propose(PUZZLE, [], {}).read([text]):
        assert len(draft["text"]) < 1_000
    drafts = path(text)
    TASK.propose(PUZZLE, drafts, {"exact_steps": True}).read([text])
    TASK.propose(PUZZLE, drafts, {})
    question = TASK.value(PUZZLE, drafts, {})
    TASK.refine(PUZZLE, drafts, {})
    answer = TASK.output(PUZZLE, drafts)
    assert TASK.check(PUZZLE, answer or "") is False or "13 - 9" in (answer or "")
    verdict = question.read([text])
    assert (verdict.value, verdict.label, verdict.malformed) == (0.0, "?", 1)


def test_there_are_1362_solvable_puzzles():
    found = puzzles()
    assert len(found) == len(set(found)) == 1362
    assert {PUZZLE, "3 3 8 8", "1 5 5 5", "1 1 1 8"} <= set(found)
    assert set(found).isdisjoint({"1 1 1 1", "13 13 13 13", "1 1 1 7", "10 10 10 10"})


def test_solvable_agrees_with_writing_every_expression_down():
    for seed in range(15):
        numbers = [rng("hand", seed, at).randrange(1, 14) for at in range(4)]
        puzzle = " ".join(map(str, numbers))
        by_hand = any(TASK.check(puzzle, expression) for expression in expressions(numbers))
        assert solvable(tuple(map(Fraction, numbers))) == by_hand, puzzle


def expressions(numbers):
    """Every way to write four numbers with three operations and parentheses."""
    shapes = ("(({}{}{}){}{}){}{}", "({}{}({}{}{})){}{}", "({}{}{}){}({}{}{})",
              "{}{}(({}{}{}){}{})", "{}{}({}{}({}{}{}))")  # fmt: skip
    for a, b, c, d in set(itertools.permutations(numbers)):
        for x, y, z in itertools.product("+-*/", repeat=3):
            for shape in shapes:
                yield shape.format(a, x, b, y, c, z, d)
