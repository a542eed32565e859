"""What is written on drawn thoughts, and how it is fitted into a terminal."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from thoughtgraph.cli.labels import distinct, labels
from thoughtgraph.cli.screen.events import Narrator
from thoughtgraph.cli.text import lines_per_row, middle_cut, wrapped
from thoughtgraph.tree import Tree, grow, root

STRATEGIES = [
    "Strategy: To answer this question, I compare the dates.",
    "Strategy: To answer this question, I look up the places.",
    "Strategy: To answer this question, I ask a friend.",
]


def test_what_siblings_share_at_their_beginning_is_left_out() -> None:
    ends, other = ["…compare the dates.", "…look up the places.", "…ask a friend."], "Nobody knows."
    assert distinct(STRATEGIES) == ends
    assert distinct([*STRATEGIES, other]) == [*ends, other], "most of them share it, one does not"


def test_what_tells_little_or_everything_is_kept() -> None:
    same = ["It is the same sentence twice."] * 2
    assert distinct(same) == same
    equations = ["10 - 4 = 6 (left: 6 9 13)", "10 - 9 = 1 (left: 1 4 13)"]
    assert distinct(equations) == equations, "a short beginning is no gain"
    assert distinct([]) == []
    prefix = ["Therefore the answer is seven", "Therefore the answer is"]
    assert distinct(prefix) == ["…is seven", "…is"], "a word is always left"


def test_lines_name_a_thought_by_its_label() -> None:
    tree: Tree = {"0": root()}
    tree |= grow(tree, "0", [{"text": strategy} for strategy in STRATEGIES])
    telling = Narrator(tree, "Who was first?")
    assert telling.quote("2") == "2: …look up the places."
    assert telling.quote("0") == "0: Who was first?"
    assert telling.quote("9") == "9: ", "one that is not in the tree yet"
    born = [str(event) for event in telling.grew({}, tree)]
    assert f"thought   {telling.quote('2')} (from 0)" in born


def test_outputs_show_the_answer_that_was_read() -> None:
    tree: Tree = {"0": root()}
    fields = [
        {"text": "Aristotle died long before. So yes.", "status": "terminal", "answer": "yes"},
        {"text": "Answer: 1 + 2 = 3", "status": "terminal", "answer": "1 + 2"},
        {"text": "I cannot say anything of that.", "status": "terminal", "answer": None},
        {"text": "It has not ended yet.", "answer": "yes"},
    ]
    tree |= grow(tree, "0", fields)
    assert labels(tree, ["1", "2", "3", "4"]) == {
        "1": "yes ← Aristotle died long before. So yes.",
        "2": "1 + 2",
        "3": "no answer ← I cannot say anything of that.",
        "4": "It has not ended yet.",
    }


@given(st.text(max_size=200), st.integers(3, 40), st.integers(1, 5))
@settings(deadline=None)
def test_lines_fit_whatever_stands_in_them(words: str, width: int, most: int) -> None:
    lines = wrapped(words, width, most)
    assert 1 <= len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)


def test_a_cut_in_the_middle_keeps_what_is_left() -> None:
    assert middle_cut("13 - 10 = 3 (left: 3 4 9)", 20) == "13 - 10 = 3 (…3 4 9)"
    assert wrapped("one two three four", 9) == ["one two", "three", "four"]


def test_lines_that_are_left_over_go_round() -> None:
    assert lines_per_row([1, 3, 2], 3) == [1, 1, 1]
    assert lines_per_row([1, 3, 2], 5) == [1, 2, 2]
    assert lines_per_row([1, 3, 2], 9) == [1, 3, 2]
