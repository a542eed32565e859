"""Under which licences what is installed with the library may be used, as the page tells."""

import re
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|Python Software Foundation|PSF|Zlib|CC0|MPL|Mozilla|CNRI"
)
WEAK = {"psycopg", "psycopg-binary", "psycopg-pool"}
"""Under the LGPL: libraries that are used as they are, with the extra `postgres`."""
ELSEWHERE = ("inspect", "server")
"""Extras that bring a whole program of others."""
NAME = re.compile(r"[A-Za-z0-9._-]+")
EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")


def licence(package: metadata.Distribution) -> str:
    """Returns what a package says of its licence: the expression, else the classifiers."""
    about: Any = package.metadata
    if expression := about.get("License-Expression"):
        return str(expression)
    classified = [each for each in about.get_all("Classifier") or () if "License ::" in each]
    named = sorted({each.rpartition("::")[2].strip() for each in classified})
    own = [each for each in named if each != "OSI Approved"]
    return " AND ".join(own) or str(about.get("License") or "").partition("\n")[0]


def needed(name: str) -> set[str]:
    """Returns the packages that one asks for, with the library's extras."""
    asked = set()
    for line in metadata.requires(name) or ():
        found, extra = NAME.match(line), EXTRA.search(line)
        assert found
        if not extra or (name == "thoughtgraph" and extra[1] not in ELSEWHERE):
            asked.add(canonicalize_name(found[0]))
    return asked


def installed() -> dict[str, metadata.Distribution]:
    """Returns all that the library brings, directly or not, where it is installed."""
    found: dict[str, metadata.Distribution] = {}
    left = list(needed("thoughtgraph"))
    while left:
        name = left.pop()
        if name not in found and name != "thoughtgraph":
            with suppress(metadata.PackageNotFoundError):
                found[name] = metadata.distribution(name)
                left += needed(name)
    return found


def test_every_licence_is_permissive_but_for_those_that_are_named() -> None:
    others = {
        name: licence(package)
        for name, package in installed().items()
        if not PERMISSIVE.search(licence(package))
    }
    assert others.keys() <= WEAK, others
    assert all("LGPL" in text for text in others.values())
    page = (Path(__file__).parents[1] / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = {*re.findall(r"^\| ([\w.-]+) \|", page, re.M)} - {"package"}
    assert listed == needed("thoughtgraph") - {"thoughtgraph"}
