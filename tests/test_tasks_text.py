import time
from contextlib import suppress
from typing import Any

import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.errors import InputError
from thoughtgraph.tasks.creative_writing import CreativeWriting
from thoughtgraph.tasks.numbers import canonical, number, numbers_in
from thoughtgraph.tasks.sections import choice, headed, split

SENTENCES = "It rained. Nobody came! Was it late? She said: 'I kept the key.'"
PROBLEMS = {
    "creative_writing": SENTENCES,
    "gsm8k": "What is 6 times 7?",
    "strategyqa": "Could a penguin outrun a snail?",
    "question": "Which planet has the shortest day?",
}
HOSTILE = {
    "empty": "",
    "blank": " \n\t\n ",
    "a million letters": "a" * 1_000_000,
    "a million digits": "7" * 1_000_000,
    "a million lines": "\n" * 1_000_000,
    "many markers": "the answer is " * 70_000,
    "many headers": "Answer:\nPassage:\n" * 60_000,
    "many choices": "best choice is " * 60_000 + "9" * 1_000,
    "braces": "\\boxed{" * 100_000,
    "binary": "".join(map(chr, range(256))) * 100,
    "lone surrogates": "\ud800\udfff the answer is \ud800",
    "json": '{"answer": {"value": 42}, "reasoning": ["a", null]}',
    "another language": "答えは四十二です。最も有望な選択肢は一番です。",
    "code": "__import__('os').system('true')",
    "template": "{input} {format} {s}",
}


def task_of(name) -> Any:
    return registry.task(name)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_makes_a_parser_raise_or_hang(name, text):
    task, problem = task_of(name), PROBLEMS[name]
    began = time.process_time()
    path = [*task.sample(problem, [], {}).read([text])]
    path += task.sample(problem, path, {}).read([text])
    for answer in (*task.ask(problem, "io", {}).read([text]), task.output(problem, path)):
        assert answer is None or isinstance(answer, str)
    assert task.vote(problem, [path] * 5, {}).read([text])[0] in (None, 0, 1, 2, 3, 4)
    assert text.strip("\n") in task.vote(problem, [path], {}).prompt.user
    task.sample(problem, path[:1], {})
    if name == "creative_writing":
        verdict = task.judge(problem, text, {}).read([text])
        assert verdict.value in (0.0, 1.0) and verdict.malformed in (0, 1)
        task.refine(problem, path, {})
    assert time.process_time() - began < 20


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("text", ["", "  \n ", "x" * 200_000], ids=["empty", "blank", "huge"])
def test_what_is_no_problem_is_refused_in_one_line_with_a_remedy(name, text):
    with pytest.raises(tg.ProblemError, match="write") as caught:
        task_of(name).read(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_example_of_the_registry_is_a_problem(name):
    task, example = task_of(name), registry.TASKS[name].example
    assert task.read(f"  {example}\n") == example
    assert task.id == name


@pytest.mark.parametrize(
    "text",
    [
        SENTENCES,
        "One is here. Two is here. An unfinished one Three is here.",
        "One line\nand another\nand a third\nand a fourth",
    ],
    ids=["a line", "a public line with a sentence that does not end", "four lines"],
)
def test_four_sentences_are_a_writing_problem(text):
    assert task_of("creative_writing").read(text) == " ".join(text.split())


@pytest.mark.parametrize("text", ["One. Two.", "1. 2. 3. 4. 5. 6.", "no sentence at all"])
def test_fewer_or_more_sentences_are_none(text):
    with pytest.raises(tg.ProblemError, match="four sentences"):
        task_of("creative_writing").read(text)


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("gsm8k", "Strategy:\nAdd 3 and 4.\n\nAnswer:\nthe answer is 7.", "7"),
        ("gsm8k", "The answer is $1,200.50 in total, after 3 days", "1200.5"),
        ("gsm8k", "**Answer:** The answer is **18** dollars.", "18"),
        ("gsm8k", "the answer is 16 - 3 - 4 = 9", "9"),
        ("gsm8k", "the answer is n, where n = 12", "12"),
        ("gsm8k", "the answer is 4. No wait, the answer is 5", "5"),
        ("gsm8k", "So she makes \\boxed{18}", "18"),
        ("gsm8k", "the answer is \\frac{3}{4}", "0.75"),
        ("gsm8k", "the answer is -3", "-3"),
        ("gsm8k", "3 and then 4", "4"),
        ("gsm8k", "the answer is unknown", None),
        ("strategyqa", "Strategy: compare.\nAnswer:\nNo doubt, the answer is Yes.", "yes"),
        ("strategyqa", "the answer is no, since yes would need wings", "no"),
        ("strategyqa", "Yes at first. But then: no!", "no"),
        ("strategyqa", "I know nothing; yesterday was fine", None),
        ("question", "Answer:\nThe answer is Jupiter.", "Jupiter"),
        ("question", 'Answer: the answer is "Don\'t Panic".\nIt is a book.', "Don't Panic"),
        ("question", "It is Jupiter.", "It is Jupiter"),
        ("question", "Strategy: look.\nAnswer:\nTwo lines\nof text", "Two lines\nof text"),
        ("question", "the answer is\n", "the answer is"),
        (
            "creative_writing",
            "Plan:\nRain.\n\n**Passage:**\n\nIt rained.\n\nAll day.",
            "It rained.\n\nAll day.",
        ),
        ("creative_writing", "It rained.", "It rained."),
        ("creative_writing", "Passage:\nPlan:\nx\nPassage:\nIt rained.", "It rained."),
        ("creative_writing", "Plan:\nx\nPassage:\n", None),
    ],
)
def test_the_answer_in_a_completion(name, text, answer):
    assert task_of(name).ask(PROBLEMS[name], "io", {}).read([text]) == [answer]


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("gsm8k", "The answer is .5", "0.5"),
        ("gsm8k", "The answer is \xbd cup.", "0.5"),
        ("gsm8k", "The answer is 1 000 000.", "1000000"),
        ("gsm8k", "the answer is 12,5 kg", "12.5"),
        ("gsm8k", "The answer is 1.200 \u20ac", None),
        ("gsm8k", "The answer is 5-7 days", None),
        ("gsm8k", "The answer is 5 to 7 days", None),
        ("gsm8k", "The answer is 1, 2 and 3", None),
        ("gsm8k", "The answer is 3:2", None),
        ("gsm8k", "the answer is 1/2", "0.5"),
        ("gsm8k", "The answer is the 7th", "7"),
        ("gsm8k", "The answer is 2^10", None),
        ("gsm8k", "The answer is 10^6", "1000000"),
        ("gsm8k", "The answer is 1.2\xd710^5 meters", "120000"),
        ("gsm8k", "The answer is $2.5k", "2500"),
        ("gsm8k", "The answer is 1e3", "1000"),
        ("gsm8k", r"The answer is $\boxed{540}$.", "540"),
        ("gsm8k", r"So $\boxed 7$.", "7"),
        ("gsm8k", r"\[\boxed{42}\] Check: 42/6 = 7", "42"),
        ("gsm8k", r"The answer is \(42\).", "42"),
        ("gsm8k", "The answer is $42$.", "42"),
        ("gsm8k", r"The answer is \$42.", "42"),
        ("gsm8k", "The answer is 42 because 50 - 8 = 42.", "42"),
        ("gsm8k", "The answer is 42. So 7*6 = 42 and 3 remain", "42"),
        ("gsm8k", "The answer is 42 (7 x 6).", "42"),
        ("gsm8k", "the answer is 42!\n\nQ: another\nA: 7", "42"),
        ("gsm8k", "The answer is 40. Wait, I miscounted by 2. The answer is 42.", "42"),
        ("gsm8k", "答えは42です\u30023日間\u3002", "42"),
        ("gsm8k", "答案\uff1a540米\u3002\n\n解释\uff1a3 x 60", "540"),
        ("gsm8k", "答案是540米\uff0c共7天", "540"),
        ("gsm8k", "正解は 12 個", "12"),
        ("gsm8k", "Final answer \u2014 540", "540"),
        ("gsm8k", "Answer = 540", "540"),
        ("gsm8k", "So the final result is 540 meters over 7 days.", "540"),
        ("gsm8k", "**Final Answer:** 540\n\nThat's 3*180.", "540"),
        ("gsm8k", "### Final Answer\n\n540 meters\n\nHe runs 3 sprints.", "540"),
        ("gsm8k", "Final answer: **540** meters", "540"),
        ("gsm8k", "**Answer**: 540 meters\n\n**Explanation**: 3 x 3", "540"),
        ("gsm8k", "Answer: $18\n\nShe sells 9 eggs at 2.", "18"),
        ("gsm8k", "Answer:\n3 x 60 = 180 per day.\n180 x 3 = 540", "540"),
        ("gsm8k", "Answer: He runs 3 x 3 = 9 sprints. So 9 x 60 = 540 meters.", "540"),
        ("gsm8k", "Answer: 540 meters over 7 days.", "540"),
        ("gsm8k", "#### 540\nQuestion: what?\n#### 3", "540"),
        ("gsm8k", "So it is 540.\n#### 540\n\n#### Note 1", "540"),
        ("gsm8k", "#### 1. Compute\n3*3=9\n#### 2. Result\nThe answer is 9", "9"),
        ("gsm8k", "The final answer is: 1,20,000 rupees", "120000"),
        ("gsm8k", "The answer to the question is 42, not 40.", "42"),
        ("gsm8k", "The answer is not 40. It is 42", "42"),
        ("gsm8k", "The answer would be 42", "42"),
        ("gsm8k", "Die Antwort ist 42 und nicht 7.", "42"),
        ("gsm8k", "La respuesta es 42.", "42"),
        ("gsm8k", "\u041e\u0442\u0432\u0435\u0442: 42\n\n3 + 4 = 7", "42"),
        ("gsm8k", "The answer is 42.\n\nExplanation: 6*7", "42"),
        ("gsm8k", "6 + 36 = 42", "42"),
        ("gsm8k", "18 dollars", "18"),
        ("gsm8k", "18\n\nQuestion: Next?\nAnswer: 5", "18"),
        ("gsm8k", "Question: q\nAnswer: 5", "5"),
        ("gsm8k", "The answer is -5.", "-5"),
        ("gsm8k", "The answer is \u22125 degrees", "-5"),
        ("gsm8k", r"The answer is 25\%", "25"),
        ("gsm8k", "The answer is 25 percent", "25"),
        ("gsm8k", "The answer is x = 5", "5"),
        ("gsm8k", "The answer is $1,234.50", "1234.5"),
        ("gsm8k", "The answer is \uff11\uff12\uff13", "123"),
        ("gsm8k", "The answer is \u0661\u066c\u0662\u0663\u0664\u066b\u0665", "1234.5"),
        ("gsm8k", "The answer is \u0967\u0968", "12"),
        ("gsm8k", "The answer is: **1 234,56 EUR**", "1234.56"),
        ("gsm8k", "The answer is 2 1/2 hours.", "2.5"),
        ("gsm8k", "The answer is 3 apples and 4 pears", None),
        ("gsm8k", "The answer is 5 x 8", None),
        ("gsm8k", "The answer is 42.  \nLet me double-check: 42 - 2 = 40.", "42"),
        ("gsm8k", "Answer: 42\nCheck: 42/6=7", "42"),
        ("gsm8k", "The correct answer is 42.", "42"),
        ("gsm8k", "My answer: 42. 3 apples", "42"),
        (
            "gsm8k",
            "2x = 10.\n\nFinal Answer: The final answer is 10. I hope it is correct.",
            "10",
        ),
        ("gsm8k", "The answer is 10:30", None),
        ("gsm8k", "The answer is 2020-01-05", None),
        ("gsm8k", "The answer is about 3.14", "3.14"),
        ("gsm8k", "The answer is 7 hundred", "700"),
        ("gsm8k", "in 2020 100 people", "100"),
        ("gsm8k", "The final solution is 540.\n\nQuestion: x\nThe final solution is 3", "540"),
        ("gsm8k", "The final solution is $ 1.5 $ million", "1.5"),
        ("gsm8k", "The answer is $5 million.", "5000000"),
        ("gsm8k", "The answer is 3 billion people", "3000000000"),
        ("gsm8k", "The answer is \xbe", "0.75"),
        ("gsm8k", "The answer is 12\u2019345", "12345"),
        ("gsm8k", "The answer is 5 \xd7 8 = 40", "40"),
        ("gsm8k", "The answer is 24 (in thousands)", "24"),
        ("gsm8k", "The answer is **42**\n\n---\n\n*Explanation*: 6*7", "42"),
        ("gsm8k", "Strategy: add.\n\nAnswer:\nFirst 3 + 4 = 7.\nThe answer is 7.", "7"),
        ("gsm8k", "The answer is 0,125", "0.125"),
        ("gsm8k", "The answer is 1.000.000", "1000000"),
        ("gsm8k", "Human: hi\nThe answer is 3", "3"),
        ("gsm8k", "The answer is: \n\n42\n\nThis is 6*7", "42"),
        ("gsm8k", "The answer is:\n\\[ 42 \\]\nas 6*7", "42"),
        ("gsm8k", "The answer is\n$$540$$", "540"),
        ("gsm8k", "The answer is 2.5K", "2500"),
        ("gsm8k", "It is 5-7", None),
        ("gsm8k", "The answer is 5m", "5"),
        ("gsm8k", "The answer is 12 345,6", "12345.6"),
        ("gsm8k", "**Answer:** There are **42** pens in 6 boxes of 7.", "42"),
        ("gsm8k", "**Answer:** The shop sells 42 pens (6 boxes of 7).", "42"),
        ("gsm8k", "**Answer: Janet makes $18 every day by selling 9 eggs.**", None),
        ("gsm8k", "Janet makes $18 (9 x $2) every day.", "18"),
        ("gsm8k", "<answer>18</answer>\nI used 3 x 6.", "18"),
        ("gsm8k", '{"reasoning": "9 x 2", "answer": 18, "unit_price": 2}', "18"),
        ("gsm8k", "She has 18 left. Answer: 18 (out of 24)", "18"),
        ("gsm8k", "정답은 18입니다. 9 x 2", "18"),
        ("gsm8k", "La respuesta final es 18. 9 x 2", "18"),
        ("gsm8k", "The answer is 42.\n\nProblem: Tom.\nThe answer is 5", "42"),
        ("gsm8k", "The answer is 42.\n\n### Question 2\nTom.\nThe answer is 5", "42"),
        ("gsm8k", "42. The answer is 42.<|im_start|>user\nTom.\nThe answer is 5", "42"),
        ("gsm8k", "Let me think.\n\nProblem: Tom has 5.\nThe answer is 5", "5"),
        ("gsm8k", "#### 1) Add 3\n#### 2) Multiply\n7*6=42", "42"),
        ("gsm8k", "The answer is minus 5.", "-5"),
        ("gsm8k", "The answer is negative $5.", "-5"),
        ("gsm8k", "The answer is 1.5M", None),
        ("gsm8k", "The answer is 2 Millionen", None),
        ("gsm8k", "The answer is 2 dozen eggs", None),
        ("gsm8k", "The answer is 3\u4e075\u5343", None),
        ("gsm8k", "The answer is 1_000_000", None),
        ("gsm8k", "The answer is 5 hundred thousand", None),
        ("gsm8k", "The answer is $1.5-million", "1500000"),
        ("gsm8k", "The answer is 500 milliliters", "500"),
        ("gsm8k", "The answer is 5\u03c0", None),
        ("gsm8k", "The answer is 2x", None),
        ("gsm8k", "The answer is \u20ac1.200", None),
        ("gsm8k", "The answer is 15.000 VND", None),
        ("gsm8k", "The answer is 3 days and 4 hours", None),
        ("gsm8k", "The answer is 5 feet 6 inches", None),
        ("gsm8k", "The answer is 3 and a half", None),
        ("gsm8k", "The answer is 6 times 7.", None),
        ("gsm8k", "The answer is more than 5", None),
        ("gsm8k", "The answer is 18 m2", "18"),
        ("gsm8k", "The answer is 22 = 18 + 4", "22"),
        ("gsm8k", r"$\boxed{5}$ and $\boxed{-5}$", None),
        ("strategyqa", "The answer isn't yes", None),
        ("strategyqa", 'The answer is not "yes"', None),
        ("strategyqa", "The answer is neither yes nor no", None),
        ("strategyqa", "It isn't. No.", "no"),
        ("question", "The answer is the following:\n1. A\n2. B", "the following:\n1. A\n2. B"),
        ("question", "Answer: Two:\n\nProblem 1: a", "Two:\n\nProblem 1: a"),
        ("question", '{"answer": "Jupiter"}', "Jupiter"),
        ("question", "<answer>Two lines\nof text</answer> done", "Two lines\nof text"),
        ("strategyqa", "**No**", "no"),
        ("strategyqa", "**Yes**\n\nThere is no doubt", "yes"),
        ("strategyqa", "No. Although yes for some.", "no"),
        ("strategyqa", "The answer is true", "yes"),
        ("strategyqa", "The answer is False.", "no"),
        ("strategyqa", "It is not true that he can.", None),
        ("strategyqa", "The answer is yes and no", None),
        ("strategyqa", "The answer is yes or no", None),
        ("strategyqa", "So the answer is no doubt yes.", "yes"),
        ("strategyqa", "A snail has no legs", None),
        ("strategyqa", "Answer: **Yes**, no penguin ...", "yes"),
        ("strategyqa", "The answer is: Yes\n\nQuestion: b?\nThe answer is no", "yes"),
        ("strategyqa", 'the answer is "no"', "no"),
        ("strategyqa", "Final Answer: No", "no"),
        ("strategyqa", "Thus, no.", "no"),
        ("strategyqa", "So yes he could", "yes"),
        ("strategyqa", "The answer is \u201cYes\u201d", "yes"),
        ("strategyqa", r"\boxed{\text{No}}", "no"),
        ("strategyqa", "Yes, true.", "yes"),
        ("strategyqa", "The answer is not yes", None),
        ("strategyqa", "The answer is no one knows", None),
        ("strategyqa", "Answer: False. It is true that", "no"),
        ("strategyqa", "yes", "yes"),
        ("strategyqa", "No", "no"),
        ("strategyqa", "NO!", "no"),
        ("strategyqa", "I think the answer would be yes", "yes"),
        ("strategyqa", "Answer:\n\nYes \u2014 penguins are fast. There's no way.", "yes"),
        ("strategyqa", "Yes - they can. No snail can.", "yes"),
        ("strategyqa", "The statement is false.", "no"),
        ("question", "The answer is:\n\n1. Mercury\n2. Venus", "1. Mercury\n2. Venus"),
        ("question", "Answer:\n1. A\n2. B\n\nExplanation: x", "1. A\n2. B"),
        ("question", "The answer is Jupiter. It is big.", "Jupiter. It is big"),
        ("question", "**Answer:** Jupiter\n\n**Explanation:** fast", "Jupiter"),
        ("question", "The answer is:\n* red\n* blue", "* red\n* blue"),
        ("question", "The answer is:\n- red\n- blue\n\n- green", "- red\n- blue\n\n- green"),
    ],
)
def test_the_answer_is_read_where_it_is_stated_and_whole(name, text, answer):
    assert task_of(name).answer("q", text) == answer


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Plan:\na\nPassage:\nb", ("Plan:\na", "b")),
        ("Plan: a\n### Passage\nb", ("Plan: a", "b")),
        ("Plan: a\n  **passage:** b", ("Plan: a", "b")),
        ("Plan: a\nFinal Passage:\nb", ("Plan: a", "b")),
        ("1. Plan: a\n2. **Passage:**\nb", ("1. Plan: a", "b")),
        ("Plan: a\nPassage\uff1ab", ("Plan: a", "b")),
        ("The passage of time:\nb", ("The passage of time:\nb", None)),
        ("Plan: the Passage: b", ("Plan: the Passage: b", None)),
        ("Passage of time", ("Passage of time", None)),
    ],
)
def test_a_section_starts_at_a_header_of_its_own(text, parts):
    assert split(text, "Passage") == parts


def test_a_missing_header_is_added_and_a_present_one_is_not_repeated():
    assert headed("b", "Passage") == "Passage:\nb"
    assert headed("**Passage:**\nb", "Passage") == "**Passage:**\nb"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Analysis.\nThe best choice is 2", 1),
        ("The best choice is **3**.", 2),
        ("The best choice is Choice 1: it is short", 0),
        ("The best choice is 1. No: the best choice is 4", 3),
        ("THE BEST CHOICE IS {5}", 4),
        ("The best choice is 12", 11),
        ("The best choice is 0", None),
        ("The best choice is 13", None),
        ("The best choice is the second", None),
        ("The best choice is\n2", 1),
        ("I like 2", None),
    ],
)
def test_the_choice_in_a_vote(text, number):
    assert choice(text, 12) == number


@pytest.mark.parametrize(
    "text",
    [
        "Best choice: 2",
        "Best choice \u2013 2",
        "The best choice is Choice **2**",
        "I vote for choice 2",
        r"\boxed{2}",
        r"The best choice is $\boxed{2}$.",
        r"The best choice is \text{Choice }2",
        "(2)",
        "**Choice 2**",
        "Choice 2 is clearly the best choice. Choice 1 is not.",
        "Choice 2 is the best choice.\n\n1. It is short",
        "Therefore, Choice **2** is the most promising choice.",
        "I would choose Choice 2.",
        "My vote: Choice 2",
        "Vote: **2**",
        "Final choice: 2",
        "The most promising choice is 2",
        "The best choice is definitely choice #2",
        "The best choice would be 2",
        "### Best choice\n\n2",
        "The best choice is \u201c2\u201d.",
        "best choice is Choice 2, since choice 1 is longer than 3 lines",
        "**The best choice is 2**\n\nIt is the better of 3.",
        "The best choice is \uff12",
        "The best choice is choice 2 of 3",
        "The best choice among these 3 is Choice 2.",
        "The most promising option of the three is 2",
        "Choice 2 is the best.",
        "Choice 2 is best, as it is short",
        "**Choice 2** is the most promising because it is short.",
        "Choice 2 is clearly the best one.",
        '{"best choice": 2}',
    ],
)
def test_a_vote_is_read_whatever_its_words(text):
    assert choice(text, 3) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Choice 1 is not the best choice",
        "The best choice is not 1",
        "The best choice isn't 2",
        "The best choice is 1 or 2",
        "The best choice is 1, 2",
        "The best choice is 1 & 2",
        "The best choice is 1 and choice 2",
        "The best choice is 2/3",
        "Neither choice 1 nor choice 2 is the best choice",
        "Choice 1 or choice 2 is the best",
        "Choice 2 is the best at rhyme",
        "Choice 2 is the best-known",
        "Choice 2 is the best?",
        "The best choice is between 1 and 3",
        "The best choice is 2.5",
        "The best choice is -2",
        "The worst choice is 2",
        "Is 2 the best choice?",
        "Choice 2: good\nChoice 3: bad",
    ],
)
def test_no_vote_is_made_up(text):
    assert choice(text, 3) is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Is the passage perfectly coherent? No, it is not.", False),
        ("Is it perfectly coherent? Not quite.", False),
        ("The passage is perfectly coherent? Yes.", True),
        ("The passage is perfectly coherent? I do not think so.", None),
        ("Perfectly coherent \u2014 no", False),
        ("Perfectly coherent: **Yes**", True),
        ("perfectly-coherent: no", False),
        ("**Verdict:** No", False),
        ("Verdict: no", False),
        ("Answer: Yes", True),
        ("Judgment: not perfectly coherent", False),
        ("Conclusion \u2013 yes", True),
        ("### Verdict\n\nNo.", False),
        (r"Verdict: $\boxed{\text{no}}$", False),
        ("No sentence is out of place. The passage is perfectly coherent.", True),
        ("The passage is perfectly coherent.\nNo sentence is misplaced", True),
        ("The passage is perfectly coherent \u2705", True),
        ("It is almost perfectly coherent", False),
        ("The passage is less than perfectly coherent", False),
        ("The passage wasn't perfectly coherent", False),
        ("The passage is *not* perfectly coherent.", False),
        ("The passage is perfectly coherent.", True),
        ("The passage is not perfectly coherent.", False),
        ("It isn't perfectly coherent", False),
        ("It is not bad.\nThe passage is **perfectly coherent**", True),
        ("At first sight perfectly coherent.\nThe passage is not perfectly coherent", False),
        ("The passage is indeed perfectly coherent", True),
        ("Perfectly coherent", True),
        ("Analysis.\n- **Perfectly coherent.**", True),
        ('{"verdict": "perfectly coherent"}', True),
        ("It fails to be perfectly coherent", None),
        ("It falls short of being perfectly coherent", None),
        ("It is too disjointed to be perfectly coherent", None),
        ("The passage would be perfectly coherent if it ended earlier", None),
        ("The passage is imperfectly coherent", None),
        ("It is rarely perfectly coherent", None),
        ("The passage is not\nperfectly coherent", None),
        ("To be perfectly coherent, it would need an end", None),
        ("The passage is perfectly coherent except for its end", None),
        ("It is coherent.", None),
        ("", None),
    ],
)
def test_the_verdict_on_a_passage(text, verdict):
    read = task_of("creative_writing").judge("", "", {}).read([text])
    assert (read.value, read.malformed) == (float(bool(verdict)), int(verdict is None))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("$1,200.50.", "1200.5"),
        ("1200.5 dollars", "1200.5"),
        (r"\frac{2401}{2}", "1200.5"),
        (r"$\dfrac{1}{3}$", "1/3"),
        ("2/6", "1/3"),
        ("0.250", "0.25"),
        ("18 cm^2", "18"),
        ("50\\%", "50"),
        (r"90^\circ", "90"),
        (r"\boxed{\text{(c)}}", "C"),
        ("b)", "B"),
        ("[1.0, 2]", "1, 2"),
        ("1, 2.0", "1, 2"),
        ("(1, 2)", "(1, 2)"),
        (r"1.5 \times 10^{3}", "1500"),
        ("Paris", "paris"),
        ("5x", "5x"),
        ("2 pi", "2 pi"),
        ("3 or 4", "3 or 4"),
        ("1/0", "1/0"),
        ("9" * 60, "9" * 60),
        (r"\frac12", "0.5"),
        (r"\frac 3 4", "0.75"),
        (r"\frac{1}2", "0.5"),
        (r"\dfrac{\pi}{6}", r"\frac{\pi}{6}"),
        (r"\dfrac{\sqrt{3}}{2}", r"\frac{\sqrt{3}}{2}"),
        (r"5 \pi", r"5\pi"),
        (r"$x = 5$", "5"),
        ("x = y = 5", "x=y=5"),
        (r"1\frac{1}{2}", "1.5"),
        (r"-2 \frac14", "-2.25"),
        (r"x\frac{1}{2}", "x1/2"),
        ("approximately 3.14", "3.14"),
        (r"\approx 3.14", "3.14"),
        ("about a boy", "about a boy"),
        ("p - q", "p-q"),
        (r"f(x) = 3x", "f(x)=3x"),
        (r"\$32{,}500", "32500"),
        (r"11,\! 111,\! 111", "11111111"),
        (r"1\,000", "1000"),
        ("1, 200", "1, 200"),
        ("\u22120.5", "-0.5"),
        ("2\u03c0", r"2\pi"),
        (r"\sqrt 3", r"\sqrt{3}"),
        (r"\frac\pi6", r"\frac{\pi}{6}"),
        (r"-\pi / 6", r"-\frac{\pi}{6}"),
        (r"(3, \sqrt3/2)", r"(3, \frac{\sqrt{3}}{2})"),
        ("5 1/2 cups", "5.5"),
        ("1 1/0", "1/0"),
        (r"x^{10}", "x^10"),
        (r"x^{2}y", "x^2y"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("\\$.50", "0.5"),
        ("\xbd", "0.5"),
        ("2\xbd", "2.5"),
        ("\xbe cup", "0.75"),
        ("1 000 000", "1000000"),
        ("1\u202f000\u2009000", "1000000"),
        ("1'000", "1000"),
        ("1\u20190001", "1'0001"),
        ("1,20,000", "120000"),
        ("1.000,50", "1000.5"),
        ("1.000.000", "1000000"),
        ("1 234,56", "1234.56"),
        ("1.200 \u20ac", "1.200\u20ac"),
        ("1.200", "1.2"),
        ("\u0661\u0662", "12"),
        ("\u0967\u0968", "12"),
        ("\uff11\uff0c\uff12\uff13\uff14", "1234"),
        ("$2.5k", "2500"),
        ("2k", "2k"),
        ("1.5 million", "1500000"),
        ("$3M", "3000000"),
        ("5m", "5m"),
        ("1e3", "1000"),
        ("10^6", "1000000"),
        ("10\u2076", "1000000"),
        ("2^10", "2^10"),
        ("2**10", "2**10"),
        ("1.2 x 10^5", "120000"),
        ("42\u5143", "42"),
        ("1.5\u4e07", "15000"),
        ("x\xb2", "x^2"),
        ("5-7", "5-7"),
        ("3:2", "3:2"),
        ("2,3", "2, 3"),
        ("0,125", "0, 125"),
        ("1 000 00", "1 000 00"),
        ("10^{100}", "10^100"),
    ],
)
def test_canonical_answers(text, form):
    assert canonical(text) == form
    assert canonical(form) == form


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (r"2^{n+1}", "2^n+1"),
        (r"2^{\frac{1}{2}}", "2^1/2"),
        (r"x^{10y}", r"x^{10}y"),
        (r"1{,}000", r"1{,}00"),
        ("1, 200", "1,200"),
        ("2 3", "23"),
    ],
)
def test_answers_that_differ_in_more_than_spelling_stay_apart(text, other):
    assert canonical(text) != canonical(other)


def test_equal_numbers_are_equal_however_written():
    for numerator in range(-30, 31):
        for denominator in (1, 2, 4, 5, 8, 10, 16, 25, 3, 7):
            value = numerator / denominator
            written = canonical(f"{numerator}/{denominator}")
            assert number(written) == number(f"{numerator}/{denominator}")
            if denominator not in (3, 7):
                assert written == canonical(repr(value)) == canonical(f"${value:,.6f}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("16 - 3 = 13", ["16", "-3", "13"]),
        ("16 - 3 = -13.50 dollars.", ["16", "-3", "-13.5"]),
        ("no number", []),
        (r"\(1{,}250\) or 1,\!300", ["1250", "1300"]),
        ("it fell to \u22125 degrees", ["-5"]),
        (r"$5\tfrac12$ hours or 5 1/2.", ["5.5", "5.5"]),
        ("in 2020 100 people", ["2020", "100"]),
        ("COVID-19 and 18 cm\xb2", ["19", "18"]),
        ("1.2.3, 5-7, 5%-7%, $5-$7, 3:2, 2^10, 1,2,3", [None] * 7),
        ("12,5 kg, 0,125 and 1,2", ["12.5", "0.125", "1.2"]),
        ("1.200 \u20ac or 1.200 m", [None, "1.2"]),
        ("so...5 or -.5 or $.75", ["5", "-0.5", "0.75"]),
    ],
)
def test_numbers_in_a_text(text, found):
    assert numbers_in(text) == found


DECORATIONS = (
    "{}",
    "**{}**",
    "${}$",
    "{}.",
    "\\boxed{{{}}}",
    "$\\boxed{{{}}}$.",
    "**{}.**",
    "_{}_",
)
GOES_ON = ("", "\n\nThis is so, as 3 + 4 = 7 and no A is.", "\n\nExplanation: 3 and 4, yes, (A).")


@pytest.mark.parametrize("said", ["The answer is {}", "Answer: {}", "**Final Answer:** {}"])
@pytest.mark.parametrize("decoration", DECORATIONS)
@pytest.mark.parametrize("after", GOES_ON)
def test_neither_decoration_nor_explanation_changes_what_is_read(said, decoration, after):
    answers = {"gsm8k": "540", "svamp": "0.5", "math": "12", "mmlu": "B", "hotpotqa": "Germany"}
    for name, answer in (answers | {"strategyqa": "no", "fever": "REFUTES"}).items():
        written = said.format(decoration.format(answer)) + after
        assert task_of(name).answer("Why?", written) == answer, written


async def test_the_second_step_continues_the_first_in_the_models_own_words():
    plan, passage = "Plan:\nIt rains, then it stops.\n", "It rained.\n\nIt stopped."

    def reply(call):
        if call.role == "vote":
            return "The best choice is 1"
        return [plan if call.stop else passage] * call.n

    model = ScriptedChat(reply=reply)
    graph = tg.build("tot_bfs", task="creative_writing", model=model)
    out = await graph.ainvoke({"problem": SENTENCES}, context={"n_generate": 2, "n_evaluate": 1})
    generated = [call for call in model.seen if call.role == "generate"]
    assert [call.stop for call in generated] == [["\nPassage:\n"], None]
    assert generated[1].prompt.startswith(generated[0].prompt)
    assert generated[1].prompt.endswith(f"{plan}\nPassage:\n")
    votes = [call.prompt for call in model.seen if call.role == "vote"]
    task = CreativeWriting()
    asked = task.ask(task.read(SENTENCES), "io", {}).prompt.user
    assert "in this order" in asked
    assert all(f"Instruction: {asked}\n" in vote for vote in votes), "a vote is told the task"
    assert "Choice 2:\nPlan:\nIt rains, then it stops.\nPassage:\nIt rained." in votes[1]
    assert out["answer"] == passage
    assert out["settings"]["temperature"] == 1.0
    assert out["settings"]["breadth"] == 1


async def test_a_header_that_escaped_the_stop_text_does_not_reach_the_next_prompt():
    def reply(call):
        if call.role == "vote":
            return "The best choice is 1"
        return ["Strategy: add.\n**Answer:** the answer is 5"] * call.n

    model = ScriptedChat(reply=reply)
    graph = tg.build("tot_bfs", task="gsm8k", model=model)
    out = await graph.ainvoke({"problem": "What is 2 plus 2?"})
    second = [call.prompt for call in model.seen if call.role == "generate"][1]
    assert second.endswith("Strategy: add.\n\nAnswer:\n")
    assert out["tree"]["1"]["text"] == "Strategy: add.\n**Answer:** the answer is 5"
    assert out["answer"] == "5"


async def test_a_search_cut_short_after_the_strategies_has_no_answer():
    model = ScriptedChat(reply=lambda call: ["Strategy: use 3 and 4."] * call.n)
    graph = tg.build("tot_bfs", task="gsm8k", model=model)
    out = await graph.ainvoke({"problem": "What is 3 plus 4?"}, context={"limit_requests": 1})
    assert (out["answer"], out["stop_reason"]) == (None, "budget")


@pytest.mark.parametrize("name", ["gsm8k", "strategyqa", "question"])
async def test_tree_of_thoughts_asks_questions_without_examples(name):
    model = ScriptedChat(reply=lambda call: "Think.\nAnswer:\nthe answer is 1. Best choice is 1")
    graph = tg.build("tot_bfs", task=name, model=model)
    out = await graph.ainvoke({"problem": PROBLEMS[name]})
    asked = [call.prompt for call in model.seen if call.role == "generate"]
    plain = task_of(name).ask(PROBLEMS[name], "cot", {}).prompt.user
    assert asked == [plain, f"{plain}\n\nThink.\n\nAnswer:\n"]
    assert out["settings"]["shots"] == 0


@pytest.mark.parametrize("task", registry.TASKS)
def test_a_problem_that_is_nested_without_end_is_refused_or_plain_text(task: str) -> None:
    for text in ("[" * 60_000, '{"a":' * 19_000, "(" * 60_000, '["' * 40_000 + '"]' * 9):
        with suppress(InputError):
            assert isinstance(registry.task(task).read(text), str)
