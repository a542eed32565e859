"""HotpotQA: questions whose answer takes two pages of Wikipedia (Yang et al. 2018).

In the "fullwiki" setting a problem is a question. In the "distractor" setting it is a JSON object
with `question` and `context`, and the paragraphs of the context are the pages of the run unless
the setting `corpus` names others. Prompts of methods without tools omit the paragraphs.
"""

import json
from importlib import import_module
from typing import Any

from thoughtgraph.errors import ProblemError
from thoughtgraph.tasks.answer_text import short_answer
from thoughtgraph.tasks.knowledge import Knowledge
from thoughtgraph.tasks.zero_shot import follow_up
from thoughtgraph.tools.wiki.corpus_files import page, paragraphs
from thoughtgraph.tools.wiki.pages import Backend

_EXAMPLE = '{"question": "Who wrote …?", "context": [["Title", ["A sentence.", "Another."]]]}'


class HotpotQA(Knowledge):
    """The task `hotpotqa`; an answer is a short text."""

    id = "hotpotqa"
    answers = finish = "a name, a date, a number, yes or no, or a few words"
    _reader = staticmethod(short_answer)

    def read(self, text: str) -> str:
        """Returns the question, or a JSON object of question and paragraphs."""
        if not text.lstrip().startswith("{"):
            return super().read(text)
        try:
            record = json.loads(text)
            context = record.get("context")
            question = super().read(record["question"])
            pages = None if context is None else _paragraphs(context)
        except ProblemError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ProblemError(
                f"{' '.join(text.split())[:60]!r} is no HotpotQA question; write one, or {_EXAMPLE}"
            ) from error
        if not pages:
            return question
        return json.dumps({"question": question, "context": pages}, ensure_ascii=False)

    def follow_up(self, turns: str, question: str) -> str:
        """Returns a question below the conversation so far, or alone if it has its own pages."""
        return question if question.lstrip().startswith("{") else follow_up(turns, question)

    def question_of(self, problem: str) -> str:
        """Returns the question alone."""
        question = json.loads(problem)["question"] if problem.startswith("{") else problem
        return str(question)

    def pages(self, problem: str) -> Backend | None:
        """Opens the paragraphs of a problem as pages; None without paragraphs."""
        if not problem.startswith("{"):
            return None
        context = json.loads(problem)["context"]
        # Imported late: listing tasks should not load tantivy.
        corpus: Any = import_module("thoughtgraph.tools.wiki.corpus")
        wiki: Backend = corpus.Corpus.of([page(title, sentences) for title, sentences in context])
        return wiki


def _paragraphs(context: Any) -> list[list[Any]]:
    """Reads a question's paragraphs; the first wins among equal titles."""
    by_title: dict[str, list[str]] = {}
    for title, sentences in paragraphs(context):
        page(title, sentences)  # raises if it is no page
        by_title.setdefault(title, [str(sentence) for sentence in sentences])
    return [[title, sentences] for title, sentences in by_title.items()]
