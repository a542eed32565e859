import time
from contextlib import suppress
from typing import Any

import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.errors import InputError
from thoughtgraph.tasks.creative_writing import CreativeWriting
from thoughtgraph.tasks.numbers import canonical, first_number, last_number, number
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
    ("text", "parts"),
    [
        ("Plan:\na\nPassage:\nb", ("Plan:\na", "b")),
        ("Plan: a\n### Passage\nb", ("Plan: a", "b")),
        ("Plan: a\n  **passage:** b", ("Plan: a", "b")),
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
        "The best choice is two",
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


def test_numbers_in_a_text():
    assert first_number("16 - 3 = 13") == "16"
    assert last_number("16 - 3 = -13.50 dollars.") == "-13.5"
    assert last_number("no number") is None
    assert first_number(r"\(1{,}250\) or 1,\!300") == "1250"
    assert last_number(r"\(1{,}250\) or 1,\!300") == "1300"
    assert first_number("it fell to \u22125 degrees") == "-5"
    assert first_number(r"$5\tfrac12$ hours") == first_number("5 1/2 hours") == "5.5"


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
