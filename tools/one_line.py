"""Text from elsewhere, on one line."""

import re

_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufffe\uffff\U000e0000-\U000e007f]+"
)
"""Control characters, those that reorder text, and halves of characters."""


def one_line(text: str) -> str:
    """Returns a text without line breaks, control characters and double spaces.

    What a page or a model says can then never look like a line of a trajectory.
    """
    return " ".join(_INVISIBLE.sub(" ", text).split())
