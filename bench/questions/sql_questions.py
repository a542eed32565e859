"""Questions to databases, made anew of defog's sql-eval and defog-data, for task `sql`.

Their databases are scripts for PostgreSQL whose dates are relative to the day of loading. Here they
become SQLite files as of one day, and of the questions those stay whose accepted queries all run
and return rows.
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
"""The day of loading (ours)."""
QUESTIONS, DATABASES = "questions.jsonl", "database"
"""What is made: lines for `bench --data`, and the folder for `--set database=…`."""
ID_DIGITS = 10
_ONLY_POSTGRES = re.compile(r"\bpublic\.|::\w+")
_RELATIVE = re.compile(
    r"(?:(?P<function>EXTRACT|TO_CHAR)\((?:YEAR FROM )?)?"
    r"CURRENT_DATE - INTERVAL '(?P<number>\d+) (?P<unit>\w+)'(?(function)(?:, 'Month')?\))"
)


def rebuild(folder: Path, scripts: Sequence[str], questions: Path) -> None:
    """Makes the databases and the questions out of what was downloaded.

    Args:
        folder: Where the scripts are; what is made of them takes their place.
        scripts: Their names; a database is called as its script.
        questions: The CSV file of questions.
    """
    (folder / DATABASES).mkdir()
    for name in scripts:
        file = folder / DATABASES / f"{Path(name).stem}.sqlite"
        with closing(sqlite3.connect(file)) as database:
            database.executescript(_for_sqlite((folder / name).read_text(encoding="utf-8")))
        (folder / name).unlink()
    with (folder / QUESTIONS).open("w", encoding="utf-8") as out:
        for each in _answered(folder, questions):
            out.write(json.dumps(each, ensure_ascii=False) + "\n")


def _for_sqlite(script: str) -> str:
    """Returns a script without schemas and casts, and with the dates of `TODAY`."""
    return _RELATIVE.sub(_of_today, _ONLY_POSTGRES.sub("", script))


def _of_today(relative: re.Match[str]) -> str:
    """Returns a date, its year or its month, as the script asks for it."""
    day = _before(int(relative["number"]), relative["unit"])
    match (relative["function"] or "").upper():
        case "EXTRACT":
            return str(day.year)
        case "TO_CHAR":
            return f"'{day:%B}'"
    return f"'{day:%Y-%m-%d}'"


def _before(number: int, unit: str) -> date:
    """Returns the day so many months or years before `TODAY`."""
    months = number * (12 if unit.upper().startswith("YEAR") else 1)
    years, month = divmod(TODAY.year * 12 + TODAY.month - 1 - months, 12)
    return TODAY.replace(year=years, month=month + 1)


def _answered(folder: Path, questions: Path) -> Iterator[Mapping[str, Any]]:
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
