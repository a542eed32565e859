"""A scripted encyclopaedia: pages by title, faults by title."""

from collections.abc import Collection, Mapping

from thoughtgraph.tools.wiki.pages import Page, PagesError, Similar, page_of_text, title_key


class ScriptedPages:
    """Serves pages given as text; a fault given for a title is raised instead.

    Args:
        texts: The pages' texts by title.
        faults: What asking for a title raises; under the empty title, what a check raises.
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
        if "" in self._faults:
            raise self._faults[""]
