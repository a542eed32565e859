"""What is written on drawn thoughts, and how it is fitted into a terminal."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from thoughtgraph.cli.text import wrapped


@given(st.text(max_size=200), st.integers(3, 40), st.integers(1, 5))
@settings(deadline=None)
def test_lines_fit_whatever_stands_in_them(words: str, width: int, most: int) -> None:
    lines = wrapped(words, width, most)
    assert 1 <= len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)
