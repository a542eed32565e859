"""GSM8K: grade-school word problems with a number as answer (Cobbe et al. 2021)."""

from thoughtgraph.tasks.numbers import first_number, last_number
from thoughtgraph.tasks.stepwise import Stepwise

NUMBER = "a number"
FORM = '"the answer is n" where n is a number'


def gsm8k() -> Stepwise:
    """Makes the task `gsm8k`; answers are numbers such as `18` or `0.5`."""
    return Stepwise(
        "gsm8k",
        topic="GSM8K: grade-school math word problems",
        answers=NUMBER,
        reader=marked_number,
        form=FORM,
        examples="stepwise/numbers",
        numeric=True,
        strategy=True,
    )


def marked_number(marked: str, text: str) -> str | None:
    """Returns the number after the marker (an equation's result), else the last in the text."""
    line = marked.strip().partition("\n")[0]
    result = first_number(line.rpartition("=")[2]) or first_number(line)
    return result or last_number(text)
