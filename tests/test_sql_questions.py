"""Questions to databases are made anew from the published scripts, as of one day."""

import json
import sqlite3
from pathlib import Path

import pytest
from support.command import Command

from thoughtgraph import registry
from thoughtgraph.bench import data_download
from thoughtgraph.bench.data import load
from thoughtgraph.bench.data_sets import Download, data_set
from thoughtgraph.cli import data_downloads

SCRIPT = """
CREATE TABLE public.review (
    id bigint NOT NULL,
    place text DEFAULT ''::text NOT NULL,
    year bigint,
    month text,
    day date
);
INSERT INTO public.review (id, place, year, month, day) VALUES
(1, 'Pasta', EXTRACT(YEAR FROM CURRENT_DATE - INTERVAL '7 months'),
 TO_CHAR(CURRENT_DATE - INTERVAL '7 months', 'Month'), CURRENT_DATE - INTERVAL '11 years');
"""
QUESTIONS = """db_name,db_type,query_category,query,question,instructions
shop,sqlite,where,SELECT place FROM review;SELECT id FROM review;,Which place?,Use LIKE.
shop,sqlite,where,SELECT place FROM review WHERE id = 2;,No rows?,
shop,sqlite,where,SELECT nothing FROM review;,Fails?,
other,sqlite,where,SELECT 1;,Another database?,
"""


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small set whose files are served without a network."""
    files = {"https://home.test/shop.sql": SCRIPT, "https://home.test/questions.csv": QUESTIONS}

    def bring(wanted: Download, file: Path, _: object) -> Path:
        file.write_text(files[wanted.address], encoding="utf-8")
        return file

    script = Download(file="shop.sql", address="https://home.test/shop.sql")
    home = {"address": "https://home.test/questions.csv", "scripts": [script], "sha256": None}
    small = data_set("sql").model_copy(update=home)
    monkeypatch.setattr(data_download, "_download", bring)
    monkeypatch.setattr(data_downloads, "data_set", lambda name: small)


@pytest.mark.usefixtures("published")
def test_questions_stay_whose_accepted_queries_return_rows(command: Command) -> None:
    code, out, err = command("data", "get", "sql", "--out", "sets")
    assert (code, err) == (0, "") and "is there" in out
    (line,) = Path("sets/sql/questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = json.loads(line)
    assert asked["problem"] == "Which place? (Use LIKE.)" and asked["category"] == "where"
    assert asked["gold"] == ["SELECT place FROM review", "SELECT id FROM review"]
    shop = sqlite3.connect("sets/sql/database/shop.sqlite")
    assert shop.execute("SELECT * FROM review").fetchall() == [
        (1, "Pasta", 2024, "November", "2014-06-15")
    ]
    assert not Path("sets/sql/shop.sql").exists()
    (record,) = load(registry.task("sql"), "sets/sql")
    assert json.loads(record.problem)["database"] == "shop" and record.facts["category"] == "where"
    assert command("data", "get", "sql", "--out", "sets")[0] == 0, "it was there"
