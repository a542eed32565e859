"""The catalogue of public data sets that the loaders read: addresses, sizes, licences.

The catalogue is the file `data_sets.toml` next to this one. All addresses are in it: no option and
no server's response can add one.

    [sets.NAME]        one data set
    [[missing]]        a set that can be read but not downloaded here, and why
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
    """Name in the folder of data sets; for an archive or several files, the name of a subfolder."""
    address: str
    """The address of the download."""
    size: int | None = None
    """Bytes of the download; None: not known beforehand."""
    sha256: str | None = None
    """Checksum of the download; None: not known beforehand."""


class DataSet(Download):
    """One data set as its authors publish it."""

    name: str
    task: str
    """The task that searches its problems."""
    title: str
    entries: int
    """Number of problems that the loader reads."""
    licence: str
    """An SPDX identifier."""
    home: str
    """The page of the data set."""
    scripts: Sequence[Download] = ()
    """SQL scripts of the databases behind its questions, from which `rebuild` makes both."""
    archive: Literal["tar", "zip"] | None = None
    recorded: bool = False
    """Whether it holds runs of a model (for `bench.papers.recorded_runs`) instead of problems."""
    members: Sequence[str] = ()
    """Members to extract from the archive."""

    @property
    def contents(self) -> list[str]:
        """The files of its folder; empty for a data set that is a single file."""
        return [QUESTIONS] if self.scripts else list(self.member_files.values())

    @property
    def member_files(self) -> Mapping[str, str]:
        """From each member of the archive to its file name in the folder."""
        return {member: member.rpartition("/")[2] for member in self.members}


class Missing(NamedTuple):
    """A data set that cannot be downloaded."""

    name: str
    why: str


class Catalogue(NamedTuple):
    """All data sets."""

    sets: Mapping[str, DataSet]
    missing: Sequence[Missing]


@cache
def catalogue() -> Catalogue:
    """Returns the catalogue."""
    table = tomllib.loads(files(PLACE).joinpath(FILE).read_text(encoding="utf-8"))
    sets = {name: DataSet(name=name, **entry) for name, entry in table["sets"].items()}
    return Catalogue(sets, [Missing(**each) for each in table["missing"]])


def data_set(name: str) -> DataSet:
    """Returns a data set by its name.

    Raises:
        UnknownName: No data set has that name.
    """
    sets = catalogue().sets
    if name not in sets:
        raise UnknownName("data set", name, sets)
    return sets[name]
