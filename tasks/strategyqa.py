"""StrategyQA: yes-or-no questions that need implicit steps (Geva et al. 2021)."""

import re

from thoughtgraph.tasks.knowledge import Knowledge, Wording

ANSWERS = "yes or no"
FORM = 'either "the answer is yes" or "the answer is no"'

_VERDICT = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


def strategyqa() -> Knowledge:
    """Makes the task `strategyqa`; answers are `yes` and `no`."""
    wording = Wording(ANSWERS, finish=ANSWERS, published=FORM)
    return Knowledge("strategyqa", wording=wording, reader=_verdict)


def _verdict(marked: str, text: str) -> str | None:
    """Returns the verdict that follows the marker, else the last one of the text."""
    found = _VERDICT.findall(marked)[:1] or _VERDICT.findall(text)[-1:]
    return found[0].lower() if found else None
