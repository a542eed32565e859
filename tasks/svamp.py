"""SVAMP: short arithmetic word problems with a twist (Patel et al. 2021)."""

from thoughtgraph.tasks.gsm8k import FORM, NUMBER, marked_number
from thoughtgraph.tasks.stepwise import Stepwise


def svamp() -> Stepwise:
    """Makes the task `svamp`; answers are numbers such as `18` or `0.5`."""
    return Stepwise(
        "svamp",
        topic="SVAMP: elementary math word problems",
        answers=NUMBER,
        reader=marked_number,
        form=FORM,
        examples="stepwise/numbers",
        numeric=True,
    )
