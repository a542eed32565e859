"""What is written on drawn thoughts, and how it is fitted into a terminal."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from thoughtgraph.cli.labels import distinct
from thoughtgraph.cli.text import wrapped


def test_what_tells_little_or_everything_is_kept() -> None:
    same = ["It is the same sentence twice."] * 2
    assert distinct(same) == same
    equations = ["10 - 4 = 6 (left: 6 9 13)", "10 - 9 = 1 (left: 1 4 13)"]
    assert distinct(equations) == equations, "a short beginning is no gain"
    assert distinct([]) == []
    prefix = ["Therefore the answer is seven", "Therefore the answer is"]
    assert distinct(prefix) == ["…is seven", "…is"], "a word is always left"


@given(st.text(max_size=200), st.integers(3, 40), st.integers(1, 5))
@settings(deadline=None)
def test_lines_fit_whatever_stands_in_them(words: str, width: int, most: int) -> None:
    lines = wrapped(words, width, most)
    assert 1 <= len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)
