"""An offline encyclopaedia: the pages of a file behind a full-text index that is built once."""

import asyncio
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import tantivy
from pydantic import TypeAdapter

from thoughtgraph.errors import InputError
from thoughtgraph.llm.store import digest
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tools.wiki.corpus_files import Entry, read_entries
from thoughtgraph.tools.wiki.pages import Page, Similar, first_similar, title_key

LAYOUT = 1
"""Version of the index's layout; an index of another version is built anew."""
HEAP_BYTES = 128 << 20
"""Bytes of memory that building the index may take (ours)."""
MOST_WORDS = 10
"""How many of a query's rarest words are searched in titles, and how many in texts (ours). With all
words, a search of a million pages takes twice as long and finds no more."""
CANDIDATES = 12
"""Hits from which titles are chosen (ours): redirects may lead several hits to one page."""
MOST_REDIRECTS = 5
"""Redirects that are followed in a row (ours)."""
LONGEST_NAME = 6
"""Words up to which a text may be a misspelt title (ours)."""
FUZZY_FROM = {4: 1, 8: 2}
"""Least letters of a word, and the spelling mistakes that are then forgiven in it (ours)."""
UNFINISHED = "unfinished-"

_AMBIGUOUS = re.compile(r"(?m)^(?>.*?\b(?:may|can|could) (?:also )?refer to\b).*:")
_NAME, _TEXT = "thoughtgraph_name", "thoughtgraph_text"
_PAGE = TypeAdapter(Page)


class Corpus:
    """Pages in a tantivy index; made by `open` or `of`.

    A title is found in whatever case and with underscores or HTML escapes; redirects are followed.
    If no page has the title, the result is the titles that match best. Spelling mistakes are
    forgiven in words that no title has.

    Args:
        index: The index, with this module's schema.
    """

    def __init__(self, index: tantivy.Index) -> None:
        for name, analyser in _analysers().items():
            index.register_tokenizer(name, analyser)
        self._schema = index.schema
        self._searcher = index.searcher()
        self._analysers = {"name": _analysers()[_NAME], "text": _analysers()[_TEXT]}

    @classmethod
    def open(cls, file: Path, folder: Path) -> "Corpus":
        """Opens the index of a file of pages, and builds it first if there is none.

        Args:
            file: The pages; see `thoughtgraph.tools.wiki.corpus_files`.
            folder: The folder of all indexes. An index is never moved between machines: its format
                is tantivy's own.

        Raises:
            InputError: The file is no file of pages, or the folder cannot be written.
        """
        try:
            status = file.stat()
        except OSError as error:
            raise InputError(
                f"cannot read {str(file)!r} ({error.strerror}); check the path"
            ) from error
        home = folder / digest({"file": str(file.resolve())})
        version = [LAYOUT, metadata.version("tantivy"), status.st_size, status.st_mtime_ns]
        at = home / digest({"version": version})
        try:
            return cls(_open_index(at) or _build_index(at, read_entries(file)))
        except InputError:
            raise
        except (OSError, ValueError) as error:  # tantivy raises ValueError when a disk is full
            raise InputError(
                f"cannot keep an index in {str(home)!r} ({error}); set THOUGHTGRAPH_CACHE to a "
                "folder that can be written"
            ) from error

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Corpus":
        """Makes a corpus in memory, such as one question's paragraphs."""
        index = tantivy.Index(_schema())
        _fill(index, entries)
        return cls(index)

    async def find(self, entity: str) -> Page | Similar:
        """Returns the page with that title, or similar titles."""
        return await asyncio.to_thread(self._find, entity)

    def _find(self, entity: str) -> Page | Similar:
        page = self._titled(entity)
        if page is None:
            return self._similar(entity)
        if _is_ambiguous(page):
            return replace(self._similar(entity), ambiguous=True)
        return page

    def _similar(self, text: str) -> Similar:
        """Returns the titles of the pages that match a text best."""
        query = self._query(text)
        if query is None:
            return Similar()
        hits = self._searcher.search(query, CANDIDATES, count=False).hits
        stored = [(score, self._stored(address)) for score, address in hits]
        # Ties by title, as the index's own order depends on how it was built.
        stored.sort(key=lambda hit: (-round(hit[0], 4), hit[1]["title"]))
        pages = (self._target(each) for _, each in stored)
        return first_similar([page.title for page in pages if page and not _is_ambiguous(page)])

    def _target(self, stored: Mapping[str, Any]) -> Page | None:
        return self._titled(stored["to"]) if "to" in stored else _PAGE.validate_python(stored)

    def _titled(self, title: str) -> Page | None:
        """Returns the page with a title, after redirects; None if there is none within the limit.

        Of titles that differ only in case, the exact one goes first, then pages before redirects.
        """
        requested = title
        for _ in range(MOST_REDIRECTS + 1):
            query = tantivy.Query.term_query(self._schema, "key", title_key(title))
            hits = self._searcher.search(query, CANDIDATES, count=False).hits
            stored = [self._stored(address) for _, address in hits]
            if not stored:
                return None
            best = min(stored, key=lambda each: (each["title"] != title, "to" in each, str(each)))
            if "to" not in best:
                page = _PAGE.validate_python(best)
                return page if title == requested else replace(page, redirected_from=requested)
            title = best["to"]
        return None

    def _stored(self, address: tantivy.DocAddress) -> dict[str, Any]:
        stored: dict[str, Any] = json.loads(self._searcher.doc(address)["stored"][0])
        return stored

    def _query(self, text: str) -> tantivy.Query | None:
        """Returns a query for any word of a text; no character in it counts as query syntax."""
        term, should = tantivy.Query.term_query, tantivy.Occur.Should
        names, unknown = self._words("name", text)
        texts, _ = self._words("text", text)
        parts = [term(self._schema, "name", word) for word in names]
        parts += [term(self._schema, "text", word) for word in texts]
        if len(names) + len(unknown) <= LONGEST_NAME:
            fuzzy = tantivy.Query.fuzzy_term_query
            parts += [fuzzy(self._schema, "name", word, _tolerance(word)) for word in unknown]
        return tantivy.Query.boolean_query([(should, part) for part in parts]) if parts else None

    def _words(self, field: str, text: str) -> tuple[list[str], list[str]]:
        """Returns a text's rarest words that occur in a field, and its words that do not."""
        words = dict.fromkeys(self._analysers[field].analyze(one_line(text)))
        counts = {word: self._searcher.doc_freq(field, word) for word in words}
        present = sorted((word for word in words if counts[word]), key=counts.__getitem__)
        return present[:MOST_WORDS], [word for word in words if not counts[word]]


def _is_ambiguous(page: Page) -> bool:
    """Returns whether a page only introduces a list of meanings that the corpus lacks."""
    sentences = list(chain(*page.paragraphs))
    return len(sentences) == 1 and _AMBIGUOUS.search(sentences[0]) is not None


def _tolerance(word: str) -> int:
    return max(
        (mistakes for least, mistakes in FUZZY_FROM.items() if len(word) >= least), default=0
    )


def _analysers() -> dict[str, tantivy.TextAnalyzer]:
    """Returns the analysers of titles and texts; titles stay unstemmed to count mistakes."""

    def plain() -> tantivy.TextAnalyzerBuilder:
        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        lower = builder.filter(tantivy.Filter.remove_long(60)).filter(tantivy.Filter.lowercase())
        return lower.filter(tantivy.Filter.ascii_fold()).filter(tantivy.Filter.stopword("english"))

    stemmed = plain().filter(tantivy.Filter.stemmer("english"))
    return {_NAME: plain().build(), _TEXT: stemmed.build()}


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("name", tokenizer_name=_NAME, index_option="freq")
    builder.add_text_field("text", tokenizer_name=_TEXT, index_option="freq")
    builder.add_bytes_field("stored", stored=True)
    return builder.build()


def _open_index(at: Path) -> tantivy.Index | None:
    """Opens the index in a folder; None if there is none. A damaged index is deleted."""
    try:
        return tantivy.Index.open(str(at)) if at.exists() else None
    except ValueError:
        shutil.rmtree(at, ignore_errors=True)
        return None


def _build_index(at: Path, entries: Iterable[Entry]) -> tantivy.Index:
    """Builds an index in a temporary folder and renames that: half an index is never used."""
    at.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=at.parent, prefix=UNFINISHED))
    try:
        _fill(tantivy.Index(_schema(), path=str(work)), entries)
        for older in at.parent.iterdir():
            if older != at and not older.name.startswith(UNFINISHED):
                shutil.rmtree(older, ignore_errors=True)
        work.rename(at)
    except OSError:
        if not at.exists():  # else another process was faster
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return tantivy.Index.open(str(at))


def _fill(index: tantivy.Index, entries: Iterable[Entry]) -> None:
    for name, analyser in _analysers().items():
        index.register_tokenizer(name, analyser)
    with index.writer(HEAP_BYTES) as writer:
        for document in map(_document, entries):
            writer.add_document(document)
    index.reload()


def _document(entry: Entry) -> tantivy.Document:
    document = tantivy.Document()
    document.add_text("key", title_key(entry.title))
    document.add_text("name", one_line(entry.title))
    if isinstance(entry, Page):
        document.add_text("text", one_line(" ".join(map(" ".join, entry.paragraphs))))
    document.add_bytes("stored", json.dumps(asdict(entry)).encode())
    return document
