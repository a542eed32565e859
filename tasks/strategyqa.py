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
"""Text that can follow an answer yes or no; the "no" of "no legs" is no answer."""


def verdict(text: str, where: Where) -> str | None:
    """Returns yes or no: the match that `first_or_last` selects; empty for a denied one or both.

    `true` and `false` mean the same. Unless stated in a sentence or box, a match must stand alone.
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
