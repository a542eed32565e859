"""Suites: tables as data, with the runs and the published numbers of each line.

There is one suite per published table, and `comparison`, which is ours.

A suite is a TOML file next to this one. It also lists the lines that cannot be reproduced.

    title, source      the table's title, and its place in a paper
    parts              sets of problems: task, data set, range of problems, number of repeats
    [[rows]]           a line of the table: method, settings, parts, published numbers
    averages           a mean over the parts, each with a weight
    correlations       correlation of the parts' means with a fact of their problems
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
"""The package that holds the files of the suites."""
Figure = str
"""The kind of a number, by a name of `paper_figures`.

`score`: of the answer; `mean`: of all outputs; `coherence`, `mean coherence`: the same from 1 to
10, by a judge; `best`: of the best output; `f1`: HotpotQA's.

Per problem: `calls, answered right`: requests, over problems answered right; `interactions`:
samples; `tokens`: prompt and completion tokens, or either alone; `dollars`: at the run's prices.
Shares of plans: `NoBack`: right, and no step was refused; `inconsistent`: accepted, and wrong.

Of crosswords, whose `score` is the share of right words: `letters` and `games`, of the answer or
over all samples, and `best …` of the board with most right words that the search visited, as an
oracle would choose.

Relative to another line: `saving`: the other line's calls divided by this line's; `… ratio`: this
line's tokens divided by the other's; `… change`: this line's lead, in percentage points."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(_Strict):
    """One set of problems."""

    id: str
    task: str
    data: str = ""
    """The data set's name, which identifies its file, or `made:TYPE`; empty: generated problems."""
    problems: str = ""
    """A range such as `901:1000`; empty: all."""
    sample: int = 0
    """Number of problems to draw; 0: all."""
    sample_seed: int | None = None
    """Seed of the draw; None: the seed of the command."""
    seeds: int = 1
    """Number of searches of each problem."""
    paragraphs: bool = False
    where: Mapping[str, str] = Field(default_factory=dict)
    """Facts that a problem must have, such as its level."""
    note: str = ""
    """Its differences from the set in the paper."""


class Published(NamedTuple):
    """One published number."""

    part: str
    """Id of a part, or name of an average or a correlation."""
    model: str
    value: float
    figure: Figure
    note: str
    """Why the number is hard to compare with ours."""


class PublishedFigure(_Strict):
    """The published numbers of one figure of a model."""

    model: str
    figure: Figure = "score"
    values: Mapping[str, float]
    """The numbers, by part, average or correlation."""
    note: str = ""
    """Why all of the numbers are hard to compare with ours."""
    notes: Mapping[str, str] = Field(default_factory=dict)
    """Replaces `note` for single numbers, by part, average or correlation."""

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
    """Name of the line whose runs also hold this line's answers; empty: its own runs do."""
    parts: Sequence[str] = ()
    """Ids of the parts to run it on; empty: all."""
    relative_to: str = ""
    """Name of the line that its savings, ratios and changes are relative to."""
    figures: Sequence[PublishedFigure] = Field((), alias="published")

    @property
    def published(self) -> list[Published]:
        """All published numbers of the line."""
        return [number for figure in self.figures for number in figure.numbers()]


class Average(_Strict):
    """A mean over parts."""

    name: str
    weights: Mapping[str, float]
    """Weights by the ids of the parts, with any sum."""
    note: str = ""
    """Source of the weights."""

    @property
    def explanation(self) -> str:
        """The weights as text."""
        return ", ".join(f"{part} {weight:g}" for part, weight in self.weights.items())


class Correlation(_Strict):
    """Pearson's correlation between the means of a line's parts and the parts' means of a fact."""

    name: str
    fact: str
    """Name of a numeric fact of each problem, such as `hop`."""
    note: str = ""

    @property
    def explanation(self) -> str:
        """The correlation's meaning as text."""
        return f"Pearson's correlation of the sets' means with their mean {self.fact}"


class Missing(_Strict):
    """A line that cannot be reproduced."""

    name: str
    why: str


class Suite(_Strict):
    """A table as data."""

    id: str
    title: str
    source: str
    parts: Sequence[Part]
    rows: Sequence[Line]
    averages: Sequence[Average] = ()
    correlations: Sequence[Correlation] = ()
    missing: Sequence[Missing] = ()

    def parts_of(self, line: Line) -> list[Part]:
        """Returns the parts to run a line on."""
        return [part for part in self.parts if not line.parts or part.id in line.parts]

    @property
    def wholes(self) -> list[Average | Correlation]:
        """The averages and correlations over several parts."""
        return [*self.averages, *self.correlations]


def names() -> list[str]:
    """Returns the ids of all suites."""
    paths = [each.name.rpartition(".") for each in files(PLACE).iterdir()]
    return sorted(name for name, _, extension in paths if extension == "toml")


@cache
def suite(name: str) -> Suite:
    """Returns a suite by its id.

    Raises:
        UnknownName: No suite has that id.
        InputError: The file of the suite is damaged.
    """
    ids = names()
    if name not in ids:
        raise UnknownName("suite", name, ids)
    text = files(PLACE).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    try:
        return Suite(id=name, **tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise InputError(f"the suite {name!r} is damaged ({first}); install it again") from error
