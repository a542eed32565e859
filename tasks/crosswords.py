"""Mini crosswords: ten clues, a board of 5 x 5 letters (Tree of Thoughts, section 4.3).

A thought places one word, such as `h1. agend`. A model proposes several next words, each with a
confidence; the confidences of equal words add up. A board is judged clue by clue: could a word of
that meaning fit the letters so far? Its value is minus the number of clues without such a word.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from thoughtgraph.errors import ProblemError
from thoughtgraph.prompts import fill
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks.crossword_board import BLANK, LABELS, SIZE, CrosswordBoard
from thoughtgraph.tasks.judgements import plain, verdicts
from thoughtgraph.tree import Path, texts

CONFIDENCE = {"certain": 1.0, "high": 0.5, "medium": 0.2, "low": 0.1}
"""Score of one mention of a word (official code)."""
VERDICTS = {"sure": 0.0, "maybe": 0.0, "impossible": -1.0}
MOST_BLANKS = 3
"""Clues with more blanks are not judged (official code)."""

_EXAMPLE = '["Smell that a dog follows", "Boat with paddles", … ten in all]'
_LINE = re.compile(r"([hv][1-5])\. ([A-Za-z]{5}) \((certain|high|medium|low)\)")
_LENIENT = re.compile(
    r"\W*(?:\d{1,2}[.)]\W*)?([hv][1-5])\b[^A-Za-z\n]*([a-z]{5}|[a-z](?: [a-z]){4})\b[^A-Za-z\n]*"
    r"(?:confidence\b[^A-Za-z\n]*)?(certain|high|medium|low)\b",
    re.I,
)
_OUTPUT = re.compile(r"\boutput[^\w\n]{0,6}:", re.I)
_DOWN = re.compile(r"^[^\w\n]*+down\b", re.I | re.M)
_NO_ROW = re.compile(r"[^\w\n]*+(?:v[1-5]|\d\W*+down)\b|\D*:\W*$", re.I)
_CELLS = re.compile(r"(?<!\w)(?!(?:row|across)\b)[^\W\d]+(?!\w)", re.I)
_LABEL = re.compile(r"^[^\w\n]*+(?:row\s*+)?h?[1-5][.:)|\s]++", re.I)
_EMPTY = re.compile(r"\|\s*+(?=\|)")
_CLUE = re.compile(r"([hv][1-5])[.:)]\s*+(\S.*)", re.I)

PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "io": {"n_generate": 10, "temperature": 0.7},
    "cot": {"n_generate": 10, "temperature": 0.7},
    "tot_dfs": {
        "steps": 2 * SIZE,
        "threshold": -1.0,
        "max_per_state": 3,
        "max_records": 100,
        "outputs": 0,
        "answer_from": "records",
        "greedy_steps": 20,
        "generate": "propose",
        "proposal_samples": 5,
        "evaluate": "inspect",
        "n_evaluate": 1,
        "reuse_proposals": True,
        "temperature": 0.7,
    },
}


class Crosswords:
    """The task `crosswords`; a problem is ten clues, across then down."""

    id = "crosswords"

    def read(self, text: str) -> str:
        """Returns the clues as ten lines, `h1. clue` to `v5. clue`.

        The text may have ten such lines, ten lines without labels, or a JSON list of ten clues.
        """
        clues = _json_clues(text) if text.lstrip().startswith("[") else _line_clues(text)
        if clues is None or len(clues) != len(LABELS) or not all(clues):
            raise ProblemError(
                f"{' '.join(text.split())[:60]!r} is not a mini crossword; write ten clues, one a "
                f"line, five across, then five down, or a JSON list {_EXAMPLE}"
            )
        return "\n".join(f"{label}. {clue}" for label, clue in zip(LABELS, clues, strict=True))

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the paper's values for this task."""
        return PUBLISHED.get(method, {"temperature": 0.7})

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the 5-shot prompt; `cot` asks for the words first."""
        return Question(Prompt(fill(f"crosswords/{style}", input=problem)), each(_rows))

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the five rows of a path's board, with blanks; None at the root."""
        return board_of(path).answer() if path else None

    def propose(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Asks for the next words on the board.

        Equal words become one proposal, whose score is the sum of their confidences. Words that
        stand on the board are no proposals (ours; the official code places them again).
        """
        board, official = board_of(path), options.get("repo_compat", False)
        prompt = Prompt(fill("crosswords/propose", board=board.render(clues_of(problem))))
        placed = set() if official else board.placed()
        return Question(prompt, lambda samples: _proposals(samples, placed, official=official))

    def violation(self, problem: str, path: Path) -> str:
        """Names the clues with a letter that the last word of a path alters; empty for none."""
        altered = board_of(path[:-1]).altered(board_of(path))
        return f"alters a letter of {', '.join(altered)}" if altered else ""

    def inspect(self, problem: str, path: Path, options: Options) -> Sequence[Question[Verdict]]:
        """Returns one question for every clue with at least two letters on the board."""
        clues = clues_of(problem)
        pairs = zip(LABELS, board_of(path).words(), strict=True)
        return [
            Question(
                Prompt(fill("crosswords/value", clue=clues[label], letters=" ".join(word.lower()))),
                _verdict,
            )
            for label, word in pairs
            if word.count(BLANK) <= MOST_BLANKS
        ]


def clues_of(problem: str) -> dict[str, str]:
    """Returns the clues of a canonical problem by label."""
    return {line[:2]: line[4:] for line in problem.split("\n")}


def board_of(path: Path) -> CrosswordBoard:
    """Returns the board after the words of a path."""
    return _board_after(tuple(texts(path)))


@lru_cache(maxsize=10_000)
def _board_after(words: tuple[str, ...]) -> CrosswordBoard:
    """Returns the board after placing words in order; cached because paths share prefixes."""
    if not words:
        return CrosswordBoard()
    label, _, word = words[-1].partition(". ")
    return _board_after(words[:-1]).place(label, word)


def _proposals(
    samples: Sequence[str], placed: Collection[str], *, official: bool
) -> list[dict[str, Any]]:
    drafts: dict[str, dict[str, Any]] = {}
    for line in (line for text in samples for line in text.split("\n")):
        if not (match := _LINE.match(line) if official else _LENIENT.match(plain(line))):
            continue
        label, word, confidence = (part.lower().replace(" ", "") for part in match.groups())
        if (text := f"{label}. {word}") in placed:
            continue
        draft = drafts.setdefault(text, {"text": text, "score": 0.0, "raw": line[:400]})
        draft["score"] += CONFIDENCE[confidence]
    return list(drafts.values())


def _verdict(samples: Sequence[str]) -> Verdict:
    """Returns the most frequent verdict; the first one in a tie."""
    words = verdicts(samples, VERDICTS)
    valid = [word for word in words if word != "?"]
    label = max(valid, key=valid.count, default="")
    return Verdict(VERDICTS.get(label, 0.0), label, words.count("?"))


def _json_clues(text: str) -> list[str] | None:
    try:
        clues = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(clues, list) or not all(isinstance(clue, str) for clue in clues):
        return None
    return [" ".join(clue.split()) for clue in clues]


def _line_clues(text: str) -> list[str] | None:
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    labelled = {match[1].lower(): match[2] for line in lines if (match := _CLUE.fullmatch(line))}
    if labelled:
        return [labelled.get(label, "") for label in LABELS] if len(lines) == len(LABELS) else None
    return lines


def _rows(text: str) -> str | None:
    """Returns the five rows after the last `Output:`; missing rows are blank. None without letters.

    Of several boards, the one with the most letters counts, then the one on the fewest lines, then
    the last. A line that begins with `Down` ends the text to read.
    """
    lines = _DOWN.split(_OUTPUT.split(plain(text))[-1])[0].split("\n")
    line_rows = ("" if _NO_ROW.match(line) else _row(line) for line in lines)
    rows = [(at, row) for at, row in enumerate(line_rows) if row]
    rows += [(len(lines), BLANK * SIZE)] * (SIZE - len(rows))

    def fit(first: int) -> tuple[int, int, int]:
        places, words = zip(*rows[first : first + SIZE], strict=True)
        # Most letters, then fewest lines, then the last board; within successive rows, the first.
        return -"".join(words).count(BLANK), places[0] - places[-1], places[0] - first

    best = max(range(len(rows) - SIZE + 1), key=fit)
    board = " ".join(row for _, row in rows[best : best + SIZE])
    return board if board.strip(f" {BLANK}") else None


def _row(line: str) -> str:
    """Returns the five cells of a line, blanks for other signs; "" without cells and label.

    Blanks fill a short row; cells beyond the fifth are dropped. An unreadable row is all blanks.
    """
    parts = re.split(r"[\s|,]+", _LABEL.sub("", _EMPTY.sub("|_", line)).strip(" \t\r|,"))
    cells = _CELLS.findall(line)
    word = "".join(cells[:SIZE])
    if len(parts) in (1, SIZE) and len("".join(parts)) == SIZE:
        word = re.sub(r"\W", BLANK, "".join(parts))
    elif not cells:
        return BLANK * SIZE if _LABEL.match(line) else ""
    elif len(word) < SIZE and " ".join(cells) not in line:
        word = BLANK
    word = word.upper().ljust(SIZE, BLANK)
    return word if re.fullmatch(r"[A-Z_]{5}", word) else BLANK * SIZE
