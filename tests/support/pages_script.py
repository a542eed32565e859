"""Scripted encyclopaedias, and a reader of them behind an endpoint."""

import re
from collections.abc import Collection, Mapping

from support.fake_server import Seen

from thoughtgraph.tools.wiki.pages import Page, PagesError, Similar, page_of_text, title_key


class ScriptedPages:
    """Serves pages given as text; a fault given for a title is raised instead.

    Args:
        texts: The pages' texts by title.
        faults: What asking for a title raises.
        several: Titles with several meanings.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        *,
        faults: Mapping[str, PagesError] | None = None,
        several: Collection[str] = (),
    ) -> None:
        self._pages = {title_key(t): page_of_text(text, t) for t, text in texts.items()}
        self._faults = faults or {}
        self._several = several

    async def find(self, entity: str) -> Page | Similar:
        if entity in self._faults:
            raise self._faults[entity]
        found = self._pages.get(title_key(entity))
        titles = tuple(page.title for page in self._pages.values())[:5]
        return found or Similar(titles, entity in self._several)

    async def check(self) -> None:
        """Nothing is wrong."""


QUESTION = "In which country was the composer of Fidelio born?"
PAGES = {
    "Fidelio": "Fidelio is the only opera of Ludwig van Beethoven.",
    "Ludwig van Beethoven": "Ludwig van Beethoven was a composer. Bonn in Germany is where he was "
    "born.",
}
STEPS = (
    "Who wrote Fidelio?\nAction 1: Search[Fidelio]",
    "Where was Beethoven born?\nAction 2: Search[Ludwig van Beethoven]",
    "I look for the place.\nAction 3: Lookup[born]",
    "It is Germany.\nAction 4: Finish[Germany]",
)


def read(seen: Seen) -> str:
    """Writes the next step of the trajectory that a prompt ends with."""
    step = re.search(r"Thought (\d+):$", seen.prompt)
    assert step is not None, seen.prompt
    return STEPS[int(step[1]) - 1]


def told(prompt: str) -> list[str]:
    """Returns the observations of the question that a prompt ends with."""
    return re.findall(r"^Observation \d+: (.*)$", prompt.rpartition("Question: ")[2], re.M)
