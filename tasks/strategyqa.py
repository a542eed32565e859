"""StrategyQA: yes-or-no questions that need implicit steps (Geva et al. 2021)."""

import re

from thoughtgraph.tasks.answer_text import Where, first_or_last
from thoughtgraph.tasks.knowledge import Knowledge

_VERDICT = re.compile(
    r"(?:(?<![^\W_])|(?=n['\u2019]t))(?:(?P<neither>(?:yes|true)\s*+(?:/|and|or|&)\s*+(?:no|false)"
    r"|(?:not|cannot|n?either|n['\u2019]t)[\s\"'\u201c*]{1,4}(?:\w+\s+)?(?:yes|no|true|false))"
    r"|(?P<yes>yes|true)|false|no(?!\s+(?:doubt|question|one|matter|way)\b))(?![^\W_])",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?i)[ \t]*+(?:_|[^\w \t'\u2019-]|$|-\s|(?:because|since|as|it|they|s?he)\b)")
"""What follows a yes or no that answers a question, unlike that of "no legs"."""


def verdict(text: str, where: Where) -> str | None:
    """Returns yes or no: the one that is stated or begins the text, else the last alone.

    `true` and `false` mean the same. Both at once, or one that is denied, is neither.
    """
    matches = list(_VERDICT.finditer(text))
    if where in ("header", "text"):
        matches = [each for each in matches if _ALONE.match(text, each.end())]
    if (match := first_or_last(matches, where)) is None:
        return None
    return "" if match["neither"] else "yes" if match["yes"] else "no"


class StrategyQA(Knowledge):
    """The task `strategyqa`; answers are `yes` and `no`."""

    id = "strategyqa"
    answers = finish = "yes or no"
    form = 'either "the answer is yes" or "the answer is no"'
    _reader = staticmethod(verdict)
