"""Outputs in two named sections, and votes among outputs (Tree of Thoughts, section 4.2, B.1).

A prompt asks for `Plan:` and then `Passage:`, or for `Strategy:` and then `Answer:`. Chat models
repeat, omit or decorate headers; the readers accept all of these.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.prompts import fill
from thoughtgraph.task import Options, Prompt, Question, each
from thoughtgraph.tasks.answer_text import COLON, LINE
from thoughtgraph.tasks.judgements import after, last, points
from thoughtgraph.tree import Path, texts

TOT_BFS: Mapping[str, Any] = {
    "steps": 2,
    "generate": "sample",
    "n_generate": 5,
    "evaluate": "vote",
    "n_evaluate": 5,
    "select": "greedy",
    "breadth": 1,
}
"""The paper's values for outputs in two sections."""

_NUMBER = points(r"(?<=of )\d{1,2}") + r"(?!\s?(?:[,&]|and|or)\s?(?:choice\s)?\d)"
_NAMED = rf"(?![^\d\n]{{0,20}}(?:\bnot\b|n't\b))[^\d\n]{{0,20}}?{_NUMBER}"
_BEST = r"(?:best|most promising) (?:choice|option|one)\b"
_AMONG = r"(?:\s(?:among|of|from)\b[^.:\n]{0,40}?(?=\sis\b))?"
_VOTES = (
    after(rf"{_BEST}{_AMONG}|(?:my|final) choice|vote", _NAMED),
    rf"\bI(?:'d|'ll| would)? (?:vote for|choose|pick|select|go with)\b{_NAMED}",
    rf"(?<!or )(?<!not )\bchoice\W{{0,4}}{_NUMBER}\W{{0,3}} is (?:\w{{1,12}}ly )?(?:the )?"
    rf"(?:{_BEST}|(?:best|most promising)\b(?!\?|[ -](?!because|since|overall)\w))",
    rf"^[^\w\n]{{0,20}}(?:choice\W{{0,3}})?{_NUMBER}\W{{0,9}}\Z",
)
_VOTE = re.compile("|".join(_VOTES), re.IGNORECASE | re.MULTILINE)


def split(text: str, header: str) -> tuple[str, str | None]:
    r"""Splits an output at the header of its second section.

    Args:
        text: The output.
        header: The name of the second section, such as `Passage`.

    Returns:
        The text before the first such header, and the text after the last; None instead of the
        second text if there is no header.

    >>> split("Plan: walk. \n**Passage:** A day.", "Passage")
    ('Plan: walk.', 'A day.')
    """
    matches = list(_header(header).finditer(text))
    if not matches:
        return text.strip(), None
    return text[: matches[0].start()].strip(), text[matches[-1].end() :].strip()


def headed(text: str, header: str) -> str:
    """Adds a missing section header; models omit a header that the prompt ends with."""
    return text if _header(header).search(text) else f"{header}:\n{text}"


def partial_output(path: Path) -> str:
    """Returns the texts of a path of samples as one output, verbatim."""
    return "\n".join(text.strip("\n") for text in texts(path))


def vote_question(instruction: str, paths: Sequence[Path]) -> Question[Sequence[int | None]]:
    """Asks which partial output is the most promising.

    Args:
        instruction: The prompt that the outputs answer (ours: the official prompt omits it).
        paths: The choices, in order.
    """
    choices = "\n".join(
        f"Choice {at}:\n{partial_output(path)}\n" for at, path in enumerate(paths, 1)
    )
    prompt = Prompt(fill("vote/choices", instruction=instruction, choices=choices))
    return Question(prompt, each(lambda text: choice(text, len(paths))))


def choice(text: str, choices: int) -> int | None:
    """Returns the final choice, 0-based; None if it is missing or out of range.

    All digits count; the official regular expression reads only the last digit.
    """
    at = float(last(_VOTE, text) or 0) - 1
    return int(at) if at in range(choices) else None


def section_question(
    instruction: str, path: Path, options: Options, header: str
) -> Question[Sequence[Mapping[str, Any]]]:
    """Asks for the first section of an output, or for the second if the path has the first.

    A completion becomes a thought unchanged, but a second section gets its missing header. The stop
    text of a first section is the official code's for creative writing; we infer it for strategies.

    Args:
        instruction: The text that asks for both sections.
        path: The first section; empty if there is none.
        options: The run's settings.
        header: The name of the second section.
    """
    if path:
        first = split(partial_output(path), header)[0]
        prompt = Prompt(f"{instruction}\n\n{first}\n\n{header}:\n")
        return Question(prompt, each(lambda text: {"text": headed(text, header)}))
    prompt = Prompt(instruction, stop=(f"\n{header}:\n",) if options.get("steps") != 1 else ())
    return Question(prompt, each(lambda text: {"text": text}))


def _header(name: str) -> re.Pattern[str]:
    """Returns the pattern of a section's header at the start of a line, decorated or not."""
    mark = LINE.removeprefix("^")
    title = rf"(?:\d[.)] {mark})?(?:(?:the|final) )?{name}"
    return re.compile(rf"{LINE}{title}(?:{COLON}{mark}|[*_ \t]*+$)", re.I | re.M)
