"""Plans: which lines of a completion are steps, and what a step may be."""

import pytest

from thoughtgraph.tasks.scenes.plan_language import Name, Step, clean, parse, steps_of
from thoughtgraph.tools.scenes.values import PlanError

LINE = 'obj1 = filter_object("table",all_obj)'
STEP = Step("obj1", "filter_object", ("table", Name("all_obj")))


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        f"Step 1:{LINE}",
        f"step 12 : {LINE} ;",
        f"- Step 3) {LINE}",
        f"  `{LINE}`",
        f"2. {LINE}",
        LINE.replace('"', "'"),
        LINE.replace('"', "\u201c", 1).replace('"', "\u201d"),
        LINE.replace("(", "\uff08").replace(")", "\uff09"),
        f"\t{LINE}  # the tables",
        'obj1 = filter_object("ta" "ble", all_obj)',
        'obj1 = filter_object(r"table", all_obj)',
    ],
)
def test_decoration_and_quotes_change_nothing(line: str) -> None:
    assert parse(line) == STEP


def test_lists_hold_names_words_and_numbers() -> None:
    step = parse('obj3 = filter_part([num1, "leg bar", 2],all_obj)')
    assert step.arguments[0] == (Name("num1"), "leg bar", 2)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *[(line, "E_SYNTAX") for line in ("Here is the plan:", 'obj1 = f("a', "", "\u043ebj1 = 1")],
        *[('obj1 = filter_object("\\d", all_obj)', "E_SYNTAX"), ("x = 1if 1else 2", "E_SYNTAX")],
        *[(line, "E_STMT") for line in ("import os", "obj1 = obj2", "ans = 1 + 2", "a; b")],
        *[(f"obj1 = filter_object({a}, all_obj)", "E_STMT") for a in ("-1", 'f"x"', "(1,)", "{1}")],
        ("obj1 = filter_part([[1]], all_obj)", "E_STMT"),
        ("ans = count_object(exist(all_obj))", "E_STMT"),
        *[
            (f"obj1 = {call}", "E_FUNC")
            for call in ("eval('1')", "x.y()", "(lambda: 0)()", "f()()")
        ],
        *[(f"{name} = exist(all_obj)", "E_NAME") for name in ("sum", "all_obj", "__x", "Obj")],
        *[(f"ans = exist({given})", "E_ARITY") for given in ("", "1, 2", "*x", "**x", "object=x")],
        *[
            (f"ans = exist({v})", "E_TYPE")
            for v in ("True", "None", "...", "1.5", "2j", "b'x'", "u'x'")
        ],
        ("ans = exist(u'x')", "E_TYPE"),
        ("ans = (lambda: 0)()", "E_FUNC"),
        ("ans = sum(1001, 1)", "E_LIMIT"),
        (f'ans = exist("{"x" * 65}")', "E_LIMIT"),
        (f"ans = exist([{'1, ' * 9}])", "E_LIMIT"),
        ("ans = exist(((((x)))))", "E_LIMIT"),
        (f"ans = exist({' ' * 400})", "E_LIMIT"),
    ],
)
def test_what_is_no_step_is_refused(line: str, code: str) -> None:
    with pytest.raises(PlanError) as error:
        parse(line)
    assert error.value.code == code
    assert "\n" not in str(error.value)


def test_the_steps_of_a_chatty_completion() -> None:
    text = (
        "Sure, here is the plan:\n\n```python\n"
        f"Step 1:{LINE}\nStep 2:ans = exist(obj1)\n```\nThis works because exist = true."
    )
    assert steps_of(text) == [f"Step 1:{LINE}", "Step 2:ans = exist(obj1)"]


@pytest.mark.parametrize(
    "form",
    [
        "**Step {at}:** {step}",
        "**Step {at}**: {step}",
        "**Step {at}: {step}**",
        "**Step {at}.** {step}",
        "**Step {at}**\n`{step}`",
        "### Step {at}: {step}",
        "### Step {at}:\n{step}",
        "**Step {at}:**\n```python\n{step}\n```",
        "{at}. {step}",
        "{at}) {step}",
        "({at}) {step}",
        "{at}. **{step}**",
        "{at}. `{step}`",
        "**{at}.** {step}",
        "{at}\\. {step}",
        "- Step {at}: {step}",
        "* **Step {at}:** `{step}`",
        "Step {at} - {step}",
        "Step {at} \u2014 {step}",
        "Step #{at}: {step}",
        "> Step {at}: {step}",
        "Step {at}\uff1a{step}",
        "STEP {at}: {step};",
        "Step {at}: {step}.",
        "\u2022 {step}",
    ],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_steps_are_read_whatever_their_decoration(form: str, escaped: bool) -> None:
    wanted = [LINE, "ans = exist(obj1)"]
    written = [step.replace("_", "\\_") if escaped else step for step in wanted]
    plan = "\n".join(form.format(at=at, step=step) for at, step in enumerate(written, 1))
    assert [clean(step) for step in steps_of(f"Here is the plan:\n\n{plan}\n")] == wanted


def test_a_step_that_is_commented_out_is_none() -> None:
    assert steps_of(f"# {LINE}\nans = exist(all_obj)") == ["ans = exist(all_obj)"]


def test_steps_on_one_line_are_split() -> None:
    assert steps_of(f"Step 1:{LINE} Step 2:ans = exist(obj1)") == [
        f"Step 1:{LINE}",
        "Step 2:ans = exist(obj1)",
    ]


def test_the_next_question_ends_a_plan() -> None:
    assert steps_of(f"{LINE}\nQuestion: how many?\n{LINE}") == [LINE]


def test_prose_between_steps_is_a_step_that_fails() -> None:
    assert steps_of(f"{LINE}\nNow count.\nans = exist(obj1)")[1] == "Now count."


def test_a_limit_counts_steps() -> None:
    text = "\n".join(["# comment", "Step 4:", "", LINE, LINE, LINE])
    assert len(steps_of(text, 2)) == 2
    assert steps_of(text, None) == [LINE] * 3


@pytest.mark.parametrize("text", ["", "I cannot help.", "Step 4:", "```\n```", "\n\n"])
def test_no_step_is_no_step(text: str) -> None:
    assert steps_of(text) == []


def test_clean_lines_show_the_step_alone() -> None:
    assert clean(f"Step 2: {LINE.replace(chr(34), chr(8220))};") == LINE
