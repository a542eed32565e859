"""Rebuilds defog's sql-eval and defog-data as questions and databases for the task `sql`.

defog's databases are PostgreSQL scripts with dates relative to the day of loading. Here they become
SQLite files as of one fixed day. A question stays only if all of its accepted queries run and
return rows.
"""

import csv
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

TODAY = date(2025, 6, 15)
"""The fixed day of loading (ours)."""
QUESTIONS, DATABASES = "questions.jsonl", "database"
"""The results: lines for `bench --data`, and the folder for `--set database=…`."""
ID_DIGITS = 10
_ONLY_POSTGRES = re.compile(r"\bpublic\.|::\w+")
_RELATIVE = re.compile(
    r"(?:(?P<function>EXTRACT|TO_CHAR)\((?:YEAR FROM )?)?"
    r"CURRENT_DATE - INTERVAL '(?P<number>\d+) (?P<unit>\w+)'(?(function)(?:, 'Month')?\))"
)


def rebuild(folder: Path, scripts: Sequence[str], questions: Path) -> None:
    """Builds the databases and the questions from the downloaded files.

    Args:
        folder: The folder of the scripts; databases and questions replace them.
        scripts: Names of the scripts; a database has the name of its script.
        questions: The CSV file of questions.
    """
    (folder / DATABASES).mkdir()
    for name in scripts:
        file = folder / DATABASES / f"{Path(name).stem}.sqlite"
        with closing(sqlite3.connect(file)) as database:
            database.executescript(_for_sqlite((folder / name).read_text(encoding="utf-8")))
        (folder / name).unlink()
    with (folder / QUESTIONS).open("w", encoding="utf-8") as out:
        for each in _usable_questions(folder, questions):
            out.write(json.dumps(each, ensure_ascii=False) + "\n")


def _for_sqlite(script: str) -> str:
    """Returns a script without schemas and casts, with its relative dates as of `TODAY`."""
    return _RELATIVE.sub(_as_of_today, _ONLY_POSTGRES.sub("", script))


def _as_of_today(relative: re.Match[str]) -> str:
    """Returns a relative date, its year or its month's name, as the script requests."""
    day = _day_before(int(relative["number"]), relative["unit"])
    match (relative["function"] or "").upper():
        case "EXTRACT":
            return str(day.year)
        case "TO_CHAR":
            return f"'{day:%B}'"
    return f"'{day:%Y-%m-%d}'"


def _day_before(number: int, unit: str) -> date:
    """Returns the day so many months or years before `TODAY`."""
    months = number * (12 if unit.upper().startswith("YEAR") else 1)
    years, month = divmod(TODAY.year * 12 + TODAY.month - 1 - months, 12)
    return TODAY.replace(year=years, month=month + 1)


def _usable_questions(folder: Path, questions: Path) -> Iterator[Mapping[str, Any]]:
    """Yields the questions whose accepted queries all return rows."""
    with questions.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            file = folder / DATABASES / f"{row['db_name']}.sqlite"
            gold = [each.strip() for each in row["query"].split(";") if each.strip()]
            if file.exists() and all(_returns_rows(file, query) for query in gold):
                hint = f" ({row['instructions']})" if row["instructions"] else ""
                problem = row["question"] + hint
                key = hashlib.sha256((row["db_name"] + row["question"]).encode()).hexdigest()
                yield {
                    "id": key[:ID_DIGITS],
                    "database": row["db_name"],
                    "problem": problem,
                    "gold": gold,
                    "category": row["query_category"],
                }


def _returns_rows(file: Path, query: str) -> bool:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        try:
            return database.execute(query).fetchone() is not None
        except sqlite3.Error:
            return False
