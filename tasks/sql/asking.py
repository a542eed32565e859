"""Questions about a database: reads problems, opens databases, requests and runs whole queries."""

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
"""Most rows of an answer to show to a reader (ours)."""
SCORING = Bounds(seconds=30.0, rows=100_000, size=50_000_000)
"""Bounds of the queries whose rows are compared with the gold rows (ours)."""
EXAMPLE = "How many books has each author written?"

_NAME = re.compile(r"[\w-]{1,64}")
logger = logging.getLogger("thoughtgraph")


class Asking:
    """The part of the task that requests a whole query and runs it.

    Args:
        offered: A server's databases, by the names that clients use; None: any may be named.
    """

    id = "sql"
    follow_up = staticmethod(follow_up)

    def __init__(self, offered: Mapping[str, str] | None = None) -> None:
        self._offered = offered
        self._open: dict[tuple[str, str], Database] = {}

    def read(self, text: str) -> str:
        """Returns the question; as JSON if the problem names a database in a folder."""
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
        """Returns the task for a server, whose clients can name only these databases."""
        return type(self)(databases)

    def open(self, problem: str, options: Options) -> None:
        """Opens the problem's database and reads its schema, which takes a moment.

        Raises:
            InputError: The database cannot be used.
        """
        key = place, name = self._place(problem, options)
        try:
            self._open[key] = database = open_database(place, name)
            database.schema(options["sample_values"])
        except InputError as error:
            if self._offered is None:
                raise
            logger.error("database %r cannot be used: %s", place, error)
            raise InputError("the database cannot be used; the server's log says why") from None

    def _database(self, problem: str, options: Options) -> Database:
        """Returns the open database of a problem.

        Raises:
            InputError: The database is not open, as when a stored run is shown.
        """
        if (database := self._open.get(self._place(problem, options))) is None:
            raise InputError("the database is not open; solve the problem again")
        return database

    def _place(self, problem: str, options: Options) -> tuple[str, str]:
        # A client may have written the thread's problem, so its name is checked again.
        canonical = self.read(problem)
        name = json.loads(canonical)["database"] if canonical.startswith("{") else ""
        place = str(options.get("database", ""))
        if self._offered is not None:
            place = self._offered.get(place or next(iter(self._offered), ""), "")
        return place, name

    # Answers, Refines, Judges, Same, Plausible

    def _prompt_values(self, problem: str, options: Options) -> dict[str, str]:
        """Returns the values of prompts that show the database: schema, dialect and question."""
        database = self._database(problem, options)
        return {
            "schema": database.schema(options["sample_values"]),
            "dialect": {"sqlite": "SQLite", "postgres": "PostgreSQL"}[database.dialect],
            "question": self.question_of(problem),
        }

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the question for a query; under `cot` the model reasons first."""
        return Question(
            Prompt(fill(f"sql/{style}", **self._prompt_values(problem, options))), each(query_in)
        )

    def refine(self, problem: str, path: Path, options: Options) -> Question[Sequence[str | None]]:
        """Returns the question for another query; its prompt shows each try with its outcome."""
        tries = "\n\n".join(
            f"{query.get('answer') or query['text']}\n-- {query.get('note', '')}" for query in path
        )
        prompt = fill("sql/refine", **self._prompt_values(problem, options), tries=tries)
        return Question(Prompt(prompt), each(query_in))

    async def _ran(self, problem: str, query: str, options: Options) -> Rows | QueryError:
        """Runs a query in a thread."""
        return await self._database(problem, options).run(query)

    async def judge(self, problem: str, output: str, options: Options) -> Verdict:
        """Returns without a model whether a query runs and returns rows; the label says why not."""
        verdict = await self.plausible(problem, output, options)
        return Verdict(verdict.value, verdict.label.partition("\n")[0])

    async def plausible(self, problem: str, answer: str, options: Options) -> Verdict:
        """Returns whether an answer runs and returns rows; the label shows the rows or an error."""
        outcome = await self._ran(problem, answer, options)
        if isinstance(outcome, QueryError):
            return Verdict(0.0, f"fails: {outcome}")
        return Verdict(float(bool(outcome.rows)), outcome.shown(SHOWN))

    async def same(self, problem: str, answer: str, options: Options) -> str | None:
        """Returns a digest of an answer's rows; empty without rows, None if the query fails."""
        outcome = await self._ran(problem, answer, options)
        return None if isinstance(outcome, QueryError) else await asyncio.to_thread(form, outcome)

    def score(
        self, problem: str, answer: str, gold: str, options: Options, *, subset: bool = False
    ) -> float:
        """Returns 1 if an answer gives the rows of an accepted query (execution match), else 0.

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
