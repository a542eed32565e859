"""MMLU: questions of 57 subjects with four choices (Hendrycks et al. 2021)."""

from thoughtgraph.tasks.choices import multiple_choice
from thoughtgraph.tasks.stepwise import Stepwise


def mmlu() -> Stepwise:
    """Makes the task `mmlu`; answers are letters from A to D. A subject is a data file."""
    return multiple_choice(
        "mmlu", "MMLU: exam questions with choices", "ABCD", "stepwise/four_choices"
    )
