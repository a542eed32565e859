"""Text from elsewhere, on one line."""

import re

_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]+"
)
"""Control characters, those that reorder text, and halves of characters."""


def one_line(text: str) -> str:
    """Returns a text without line breaks, control characters and double spaces.

    What a page or a model says can then never look like a line of a trajectory.
    """
    return " ".join(_INVISIBLE.sub(" ", text).split())
