"""Under which licences what is installed with the library may be used, as the page tells."""

import re
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|Python Software Foundation|PSF|Zlib|CC0|MPL|Mozilla|CNRI"
)
WEAK = {"psycopg", "psycopg-binary", "psycopg-pool"}
"""Under the LGPL: libraries that are used as they are, with the extra `postgres`."""
ELSEWHERE = ("inspect", "server")
"""Extras that bring a whole program of others."""
EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")


def licence(package: metadata.Distribution) -> str:
    """Returns what a package says of its licence: the expression, else classifiers or a line."""
    about: Any = package.metadata
    classified = [each for each in about.get_all("Classifier") or () if "License ::" in each]
    said = about.get("License-Expression") or " ".join(classified) or about.get("License")
    return str(said).partition("\n")[0]


def needed(name: str) -> set[str]:
    """Returns the packages that one asks for, the library also those of its extras."""
    asked = set()
    for each in map(Requirement, metadata.requires(name) or ()):
        extra = EXTRA.search(str(each.marker))
        if not extra or (name == "thoughtgraph" and extra[1] not in ELSEWHERE):
            asked.add(canonicalize_name(each.name))
    return asked


def test_every_licence_is_permissive_but_for_those_that_are_named() -> None:
    found: dict[str, str] = {}
    left = asked = needed("thoughtgraph") - {"thoughtgraph"}
    while left := {name for name in left if name not in found}:
        name = left.pop()
        found[name] = "MIT"
        with suppress(metadata.PackageNotFoundError):
            found[name] = licence(metadata.distribution(name))
            left |= needed(name)
    others = {name: text for name, text in found.items() if not PERMISSIVE.search(text)}
    assert others.keys() <= WEAK and all("LGPL" in text for text in others.values()), others
    page = (Path(__file__).parents[1] / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = {*re.findall(r"^\| ([\w.-]+) \|", page, re.M)} - {"package"}
    assert listed == asked
