"""The public data sets that the loaders read: where each is at home, and what is known of it.

The table is a file of TOML beside this one. Nothing else names an address: neither an option nor
an answer of a home can add one.

    [sets.NAME]        one data set
    [[missing]]        a set that is read and that cannot be downloaded here, and why
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from thoughtgraph.bench.questions.sql_questions import QUESTIONS
from thoughtgraph.errors import UnknownName

PLACE, FILE = "thoughtgraph.bench", "data_sets.toml"


class Download(BaseModel):
    """A file that is downloaded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """What it is called here; of an archive and of several files, their folder."""
    address: str
    """Where it is downloaded from."""
    size: int | None = None
    """Bytes of what lies at the address; None: not known beforehand."""
    sha256: str | None = None
    """Its checksum; None: not known beforehand."""


class DataSet(Download):
    """One data set as its authors publish it."""

    name: str
    task: str
    """The task whose problems they are."""
    title: str
    entries: int
    """How many problems of it are read."""
    licence: str
    """An SPDX identifier."""
    home: str
    """The page of the data set."""
    scripts: Sequence[Download] = ()
    """Databases that its questions are about, as scripts of SQL, from which both are made anew."""
    archive: Literal["tar", "zip"] | None = None
    recorded: bool = False
    """Whether it holds runs of a model, for `bench.papers.recorded_runs`, and no problems."""
    members: Sequence[str] = ()
    """What is taken out of an archive."""

    @property
    def contents(self) -> list[str]:
        """The files of its folder; none where it is a single file."""
        return [QUESTIONS] if self.scripts else list(self.member_files.values())

    @property
    def member_files(self) -> Mapping[str, str]:
        """The names that an archive's members have in their folder."""
        return {member: member.rpartition("/")[2] for member in self.members}


class Missing(NamedTuple):
    """A data set that cannot be downloaded."""

    name: str
    why: str


class Catalogue(NamedTuple):
    """All of them, by name."""

    sets: Mapping[str, DataSet]
    missing: Sequence[Missing]


@cache
def catalogue() -> Catalogue:
    """Returns the table."""
    table = tomllib.loads(files(PLACE).joinpath(FILE).read_text(encoding="utf-8"))
    sets = {name: DataSet(name=name, **entry) for name, entry in table["sets"].items()}
    return Catalogue(sets, [Missing(**each) for each in table["missing"]])


def data_set(name: str) -> DataSet:
    """Returns a data set.

    Raises:
        UnknownName: There is none of that name.
    """
    known = catalogue().sets
    if name not in known:
        raise UnknownName("data set", name, known)
    return known[name]
