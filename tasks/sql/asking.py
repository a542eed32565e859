"""A question about a database: the problem, the databases it may be about, and what is asked."""

import asyncio
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.errors import InputError, ProblemError
from thoughtgraph.prompts import fill
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks.sql.chains import query_in
from thoughtgraph.tasks.sql.rows import form, matches
from thoughtgraph.tasks.zero_shot import LONGEST_QUESTION, follow_up
from thoughtgraph.tools.sql.database import Database, open_database
from thoughtgraph.tools.sql.tables import Bounds, QueryError, Rows
from thoughtgraph.tree import Path

SHOWN = 20
"""Rows of an answer that a reader is shown (ours)."""
SCORING = Bounds(seconds=30.0, rows=100_000, size=50_000_000)
"""What a query may take whose rows are compared with the gold ones (ours)."""
EXAMPLE = "How many books has each author written?"

_NAME = re.compile(r"[\w-]{1,64}")
logger = logging.getLogger("thoughtgraph")


class Asking:
    """The part of the task that asks for a whole query, and runs it.

    Args:
        offered: On a server, its databases by the names that clients know; None: any can be named.
    """

    id = "sql"
    follow_up = staticmethod(follow_up)

    def __init__(self, offered: Mapping[str, str] | None = None) -> None:
        self._offered = offered
        self._open: dict[tuple[str, str], Database] = {}

    def read(self, text: str) -> str:
        """Returns the question; as JSON where it names a database of a folder."""
        parsed: Any = {"question": text}
        if text.lstrip().startswith("{"):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                parsed = {}
        question, name = parsed.get("question"), parsed.get("database", "")
        if not (isinstance(question, str) and question.strip() and isinstance(name, str)):
            raise ProblemError(f"this is no question; write one such as {EXAMPLE!r}")
        if len(question) > LONGEST_QUESTION:
            raise ProblemError(f"a question is too long; write at most {LONGEST_QUESTION} letters")
        if name and not _NAME.fullmatch(name):
            raise ProblemError("a database in a problem is one of a folder; write its name alone")
        problem = {"question": question.strip(), "database": name}
        plain = not name and not problem["question"].startswith("{")
        return problem["question"] if plain else json.dumps(problem, ensure_ascii=False)

    def question_of(self, problem: str) -> str:
        """Returns the question alone."""
        return str(json.loads(problem)["question"]) if problem.startswith("{") else problem

    # Opens

    def offered(self, databases: Mapping[str, str]) -> "Asking":
        """Returns the task as a server offers it, with its databases by name."""
        return type(self)(databases)

    def open(self, problem: str, options: Options) -> None:
        """Opens the database, which takes a moment.

        Raises:
            InputError: It cannot be used.
        """
        key = place, name = self._place(problem, options)
        try:
            self._open[key] = opened = open_database(place, name)
            opened.schema(options["sample_values"])
        except InputError as error:
            if self._offered is None:
                raise
            logger.error("database %r cannot be used: %s", place, error)
            raise InputError("the database cannot be used; the server's log says why") from None

    def _database(self, problem: str, options: Options) -> Database:
        """Returns the database that was opened.

        Raises:
            InputError: It was not: whoever shows a stored run opens none.
        """
        if (database := self._open.get(self._place(problem, options))) is None:
            raise InputError("the database is not open; solve the problem again")
        return database

    def _place(self, problem: str, options: Options) -> tuple[str, str]:
        # What stands in a thread may be a client's: the name is checked again.
        canonical = self.read(problem)
        name = json.loads(canonical)["database"] if canonical.startswith("{") else ""
        place = str(options.get("database", ""))
        if self._offered is not None:
            place = self._offered.get(place or next(iter(self._offered), ""), "")
        return place, name

    # Answers, Refines, Judges, Same, Plausible

    def _shown(self, problem: str, options: Options) -> dict[str, str]:
        """Returns what every prompt says: the schema, its dialect, and the question."""
        database = self._database(problem, options)
        return {
            "schema": database.schema(options["sample_values"]),
            "dialect": {"sqlite": "SQLite", "postgres": "PostgreSQL"}[database.dialect],
            "question": self.question_of(problem),
        }

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the plain question; `cot` asks for reasons first."""
        return Question(
            Prompt(fill(f"sql/{style}", **self._shown(problem, options))), each(query_in)
        )

    def refine(self, problem: str, path: Path, options: Options) -> Question[Sequence[str | None]]:
        """Returns the request for another query, after those so far and what each came to."""
        tries = "\n\n".join(
            f"{tried.get('answer') or tried['text']}\n-- {tried.get('note', '')}" for tried in path
        )
        prompt = fill("sql/refine", **self._shown(problem, options), tries=tries)
        return Question(Prompt(prompt), each(query_in))

    async def _ran(self, problem: str, query: str, options: Options) -> Rows | QueryError:
        """Runs a query in a thread."""
        return await self._database(problem, options).run(query)

    async def judge(self, problem: str, output: str, options: Options) -> Verdict:
        """Says without a model whether a query runs and returns rows; else why not."""
        verdict = await self.plausible(problem, output, options)
        return Verdict(verdict.value, verdict.label.partition("\n")[0])

    async def plausible(self, problem: str, answer: str, options: Options) -> Verdict:
        """Says whether an answer runs and returns rows; the label shows them, or says why not."""
        outcome = await self._ran(problem, answer, options)
        if isinstance(outcome, QueryError):
            return Verdict(0.0, f"fails: {outcome}")
        return Verdict(float(bool(outcome.rows)), outcome.shown(SHOWN))

    async def same(self, problem: str, answer: str, options: Options) -> str | None:
        """Returns a digest of the rows that an answer returns; empty without rows."""
        outcome = await self._ran(problem, answer, options)
        return None if isinstance(outcome, QueryError) else await asyncio.to_thread(form, outcome)

    def score(
        self, problem: str, answer: str, gold: str, options: Options, *, subset: bool = False
    ) -> float:
        """Returns 1 if an answer returns what an accepted query does (execution match), else 0.

        Args:
            problem: The problem.
            answer: The query.
            gold: A JSON list of accepted queries.
            options: The run's settings.
            subset: Whether columns beyond the gold ones are allowed.
        """
        database = open_database(*self._place(problem, options))
        outcome = database.run_now(answer, SCORING)
        accepted = (database.run_now(each, SCORING) for each in json.loads(gold))
        return float(
            isinstance(outcome, Rows)
            and any(isinstance(e, Rows) and matches(outcome, e, more=subset) for e in accepted)
        )
