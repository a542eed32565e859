"""Tables as data: what to run for each row, and what was published of it.

One a published table, and `comparison`, which is ours.

A suite is a file of TOML beside this one. It says what cannot be reproduced, and why.

    title, source      what the table is, and where it stands
    parts              what is searched: task, data set, which problems, how many repeats
    [[rows]]           a line of the table: method, settings, parts, what was published
    averages           a mean over the parts, each with a weight
    correlations       how the means of the parts go with a fact of their problems
    missing            a line that cannot be reproduced, and why
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thoughtgraph.errors import InputError, UnknownName

PLACE = "thoughtgraph.bench.papers"
"""The package whose files the suites are."""
Figure = str
"""What a number is, by the names of `paper_figures`.

`score`: of the answer; `mean`: of all outputs; `coherence`, `mean coherence`: the same from 1 to
10, by a judge; `best`: of the best output; `f1`: HotpotQA's.

Per problem: `calls, answered right`: requests, over problems answered right; `interactions`:
samples; `tokens`: prompt and completion tokens, or either alone; `dollars`: at the run's prices.
Shares of plans: `NoBack`: right, and no step was refused; `inconsistent`: accepted, and wrong.

Of crosswords, whose `score` is the share of right words: `letters` and `games`, of the answer or
over all samples, and `best …` of the board with most right words that the search visited, as an
oracle would choose.

Relative to another line: `saving`: its calls divided by this line's; `… ratio`: this line's tokens
divided by its; `… change`: what this line has more, in percentage points."""


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


class Published(NamedTuple):
    """One published number."""

    part: str
    """Id of a part, or name of an average or a correlation."""
    model: str
    value: float
    figure: Figure
    note: str
    """What keeps it from being compared."""


class PublishedFigure(_Strict):
    """What was published of one figure of a model."""

    model: str
    figure: Figure = "score"
    values: Mapping[str, float]
    """By part, average or correlation."""
    note: str = ""
    """What keeps all of them from being compared."""
    notes: Mapping[str, str] = Field(default_factory=dict)
    """What keeps single ones from being compared."""

    def numbers(self) -> Iterator[Published]:
        """Yields each number."""
        for part, value in self.values.items():
            note = self.notes.get(part, self.note)
            yield Published(part, self.model, value, self.figure, note)


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
    relative_to: str = ""
    """Name of the line that its savings, ratios and changes are relative to."""
    figures: Sequence[PublishedFigure] = Field((), alias="published")

    @property
    def published(self) -> list[Published]:
        """All numbers that were published of it."""
        return [number for figure in self.figures for number in figure.numbers()]


class Average(_Strict):
    """A mean over parts."""

    name: str
    weights: Mapping[str, float]
    """By the ids of the parts; their sum may be any."""
    note: str = ""
    """Where the weights are from."""

    @property
    def explanation(self) -> str:
        """The weights in words."""
        return ", ".join(f"{part} {weight:g}" for part, weight in self.weights.items())


class Correlation(_Strict):
    """Pearson's correlation, over the parts of a line, of their means with those of a fact."""

    name: str
    fact: str
    """What is told of each problem, as a number, such as `hop`."""
    note: str = ""

    @property
    def explanation(self) -> str:
        """What it is in words."""
        return f"Pearson's correlation of the sets' means with their mean {self.fact}"


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
    averages: Sequence[Average] = ()
    correlations: Sequence[Correlation] = ()
    missing: Sequence[Missing] = ()

    def parts_of(self, line: Line) -> list[Part]:
        """Returns what a line is run on."""
        return [part for part in self.parts if not line.parts or part.id in line.parts]

    @property
    def wholes(self) -> list[Average | Correlation]:
        """What is published of several parts together."""
        return [*self.averages, *self.correlations]


def names() -> list[str]:
    """Returns the ids of all suites."""
    known = [each.name.rpartition(".") for each in files(PLACE).iterdir()]
    return sorted(name for name, _, kind in known if kind == "toml")


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
