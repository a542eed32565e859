"""Tables as data: what to run for each row, and what was published of it.

One a published table, and `comparison`, which is ours.

A suite is a file of TOML beside this one. It says what cannot be reproduced, and why.

    title, source      what the table is, and where it stands
    [[parts]]          what is searched: task, data set, which problems, how many repeats
    [[rows]]           a line of the table: method, settings, parts, what was published
    [[missing]]        a line that cannot be reproduced, and why
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thoughtgraph.errors import InputError, UnknownName

PLACE = "thoughtgraph.bench.papers"
"""The package whose files the suites are."""
Figure = Literal[
    "score",
    "mean",
    "coherence",
    "mean coherence",
    "best",
    "calls",
    "tokens",
    "f1",
    "letters",
    "games",
    "best letters",
    "best words",
    "best games",
]
"""`score`: of the answer; `mean`: of all outputs; `coherence`, `mean coherence`: the same from 1
to 10, by a judge; `best`: of the best output; `f1`: HotpotQA's;
`calls` and `tokens`: requests, and prompt and completion tokens, per problem. Of crosswords, whose
`score` is the share of right words: `letters` and `games`, over all outputs, and `best …` of the
board with most right words that the search visited, as an oracle would choose."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(_Strict):
    """One set of problems."""

    id: str
    task: str
    data: str = ""
    """The data set's name, by which its file is found, or `made:TYPE`; empty: made up."""
    problems: str = ""
    """A range such as `901:1000`; empty: all."""
    sample: int = 0
    """How many are drawn; 0: all."""
    sample_seed: int | None = None
    """What they are drawn from; None: what the command says."""
    seeds: int = 1
    """How often each is searched."""
    paragraphs: bool = False
    where: Mapping[str, str] = Field(default_factory=dict)
    """What the data set must say of a problem, such as its level."""
    note: str = ""
    """How it differs from what the paper used."""


class Published(_Strict):
    """One published number."""

    part: str
    model: str
    value: float
    figure: Figure = "score"
    note: str = ""
    """What keeps it from being compared."""


class Line(_Strict):
    """One line of the table."""

    name: str
    method: str
    settings: Mapping[str, Any] = Field(default_factory=dict)
    oracle: bool = False
    same_run_as: str = ""
    """Name of the line whose runs hold this one's answers too; empty: it is run by itself."""
    parts: Sequence[str] = ()
    """Ids of the parts it is run on; none: all."""
    published: Sequence[Published] = ()


class Missing(_Strict):
    """What cannot be reproduced."""

    name: str
    why: str


class Suite(_Strict):
    """One table."""

    id: str
    title: str
    source: str
    parts: Sequence[Part]
    rows: Sequence[Line]
    missing: Sequence[Missing] = ()

    def parts_of(self, line: Line) -> list[Part]:
        """Returns what a line is run on."""
        return [part for part in self.parts if not line.parts or part.id in line.parts]


def names() -> list[str]:
    """Returns the ids of all suites."""
    entries = files(PLACE).iterdir()
    return sorted(each.name.removesuffix(".toml") for each in entries if _is_suite(each.name))


@cache
def suite(name: str) -> Suite:
    """Returns a suite.

    Raises:
        UnknownName: There is none of that id.
        InputError: Its file is damaged.
    """
    known = names()
    if name not in known:
        raise UnknownName("suite", name, known)
    text = files(PLACE).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    try:
        return Suite(id=name, **tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise InputError(f"the suite {name!r} is damaged ({first}); install it again") from error


def _is_suite(name: str) -> bool:
    return name.endswith(".toml")
