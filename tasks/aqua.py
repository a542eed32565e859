"""AQuA-RAT: algebra word problems with five choices (Ling et al. 2017)."""

from thoughtgraph.tasks.choices import multiple_choice
from thoughtgraph.tasks.stepwise import Stepwise


def aqua() -> Stepwise:
    """Makes the task `aqua`; answers are letters from A to E."""
    return multiple_choice(
        "aqua", "AQuA: algebra word problems with choices", "ABCDE", "stepwise/five_choices"
    )
