"""Puts text from outside, such as of a page or a model, on one line."""

import re

_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufffe\uffff\U000e0000-\U000e007f]+"
)
"""Control characters, characters that reorder or hide text, surrogates and noncharacters."""


def one_line(text: str) -> str:
    """Returns a text on one line, without control characters and double spaces.

    So no text of a page or a model can look like a line of a trajectory.
    """
    return " ".join(_INVISIBLE.sub(" ", text).split())
