"""A full disk, a folder that cannot be written, a damaged file, two processes, a clock set back.

Each ends in one line that says what to do; nothing that was paid for is lost, and one run never
has two answers.
"""

import errno
import itertools
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer, Fault, after
from support.players import play
from support.rows import ROW
from support.scripted import ScriptedChat
from support.searches import THREAD, play_call

import thoughtgraph as tg
from thoughtgraph.checkpoints import sqlite_saver
from thoughtgraph.cli.runs import Runs
from thoughtgraph.errors import ThoughtgraphError
from thoughtgraph.llm.store import SqliteStore

pytestmark = pytest.mark.usefixtures("own_environment")

SEARCH = {"breadth": 2, "n_evaluate": 1}
FULL = Path("/dev/full")
SOLVE = ["solve", "1 2 4 7", "--task", "game24", "--method", "tot_bfs", "--set", "breadth=2"]


def waiting() -> list[str]:
    """The ids of the runs that can be resumed."""
    return [each.run for each in Runs().waiting()]


def stopped(command: Command, fake: FakeServer) -> str:
    """The id of a run that its endpoint refused to go on with."""
    fake.fault = after(5, Fault(status=401))
    command(*SOLVE, "--quiet", "--model", fake.specifier)
    fake.release()
    (run,) = waiting()
    return run


def undisturbed(command: Command) -> Counter[str]:
    """What a run asks to which nothing happens."""
    with FakeServer(play) as fake:
        command(*SOLVE, "--quiet", "--model", fake.specifier)
    return Counter(fake.answered)


def told(err: str) -> str:
    """The one line of an error."""
    assert err.startswith("error: ") and err.count("\n") == 1, err
    return err


async def test_a_disk_that_is_full_ends_a_search_in_a_line_and_it_goes_on(tmp_path: Path) -> None:
    file, model = tmp_path / "runs.sqlite", ScriptedChat(reply=play_call)
    given = {"problem": "1 2 4 7"}
    with pytest.raises(ThoughtgraphError, match=r"is full.*make room"):
        async with sqlite_saver(file) as saver:
            (size,) = await (await saver.conn.execute("PRAGMA page_count")).fetchone() or (0,)
            await saver.conn.execute(f"PRAGMA max_page_count = {size + 12}")
            graph = tg.build("tot_bfs", task="game24", model=model, checkpointer=saver)
            await graph.ainvoke(given, THREAD, context=SEARCH)
    async with sqlite_saver(file) as saver:
        graph = tg.build("tot_bfs", task="game24", model=model, checkpointer=saver)
        assert (await graph.aget_state(THREAD)).values, "something was kept"
        out = await graph.ainvoke(None, THREAD)
    graph = tg.build("tot_bfs", task="game24", model=ScriptedChat(reply=play_call))
    whole = await graph.ainvoke(given, context=SEARCH)
    assert (out["answer"], len(out["tree"])) == (whole["answer"], len(whole["tree"]))


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
def test_a_result_that_no_disk_takes_is_written_by_resuming(command: Command) -> None:
    with FakeServer(play) as fake:
        code, out, err = command(*SOLVE, "--model", fake.specifier, "--json", str(FULL))
        assert code == 2 and "No space left" in told(err) and "/dev/full" in err
        (run,) = waiting()
        assert f"--resume {run}" in out
        asked = len(fake.seen)
        code, _, _ = command("solve", "--resume", run, "--json", "out.json")
        assert code == 0 and json.loads(Path("out.json").read_text())["answer"]
        assert len(fake.seen) == asked, "the answers were paid for once"
        assert not waiting()


def test_answers_that_no_disk_takes_end_the_run(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(store: SqliteStore, key: str, answer: Any) -> None:
        with store._explained():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with FakeServer(play) as fake:
        run = stopped(command, fake)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(SqliteStore, "put", full)
            _, _, err = command("solve", "--resume", run, "--quiet")
        assert "No space left" in told(err) and "free disk space" in err
        assert command("solve", "--resume", run, "--quiet")[0] == 0


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_spent(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").touch()
    with FakeServer(play) as fake:
        model = ["--model", fake.specifier]
        for arguments, words in (
            ([*SOLVE, "--json", "file/x.json"], "there is no folder"),
            ([*SOLVE, "--html", "file/x.html"], "there is no folder"),
            (["bench", "--task", "game24", "--problems", "1:1", "--out", "file/r"], "file/r"),
            (SOLVE, "THOUGHTGRAPH_DATA"),
        ):
            if arguments is SOLVE:
                monkeypatch.setenv("THOUGHTGRAPH_DATA", "file/data")
            code, _, err = command(*arguments, *model)
            assert code == 2 and words in told(err)
        assert not fake.seen


def test_one_process_resumes_a_run_and_damaged_checkpoints_lose_nothing_paid_for(
    command: Command,
) -> None:
    with FakeServer(play) as fake:
        run = stopped(command, fake)
        resume = ["solve", "--resume", run, "--quiet"]
        asked, kept = len(fake.seen), Runs().checkpoints(run)
        with Runs().held(run):
            for arguments in (resume, ["runs", "rm", run]):
                code, _, err = command(*arguments)
                assert code == 2 and "another process" in told(err)
        for name in ("-wal", "-shm"):
            kept.with_name(kept.name + name).unlink(missing_ok=True)
        kept.write_bytes(b"damaged" * 1_000)
        code, _, err = command(*resume)
        assert code == 2 and "not a database" in told(err) and "move the file away" in err
        assert waiting() == [run], "it can still be resumed"
        assert len(fake.seen) == asked
        kept.rename(kept.with_name("away"))
        code, out, _ = command(*resume)
        assert code == 0 and out.strip()
        code, _, err = command(*resume)
        assert code == 2 and "is finished" in told(err)
    assert Counter(fake.answered) == undisturbed(command), "nothing was asked again"


def test_a_clock_that_is_set_back_loses_nothing(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is stopped, the clock goes back a day, and goes on back while the run is resumed."""
    with FakeServer(play) as fake:
        stopped(command, fake)
        now, back = time.time(), itertools.count(86_400, 60)
        monkeypatch.setattr(time, "time", lambda: now - next(back))
        monkeypatch.setattr(time, "time_ns", lambda: int((now - next(back)) * 1e9))
        code, out, _ = command("solve", "--resume", "last", "--json", "-", "--quiet")
    result = json.loads(out)
    assert code == 0 and result["usage"]["seconds"] >= 0
    assert Counter(fake.answered) == undisturbed(command), "nothing was asked again"


def test_a_result_that_somebody_sent_does_not_act_on_the_terminal(command: Command) -> None:
    Path("r").mkdir()
    sequences = "\x1b[2J\x1b]0;title\x07\u202e\x9b31m"
    usage = dict.fromkeys(("requests", "samples", "prompt_tokens", "completion_tokens"), 1)
    row = {
        **{**ROW, "key": "k", "id": sequences, "seed": 0, "score": 1.0, "data": sequences},
        **{"task": sequences, "method": sequences, "model": sequences, "problem": sequences},
        **{"given": {"x": sequences, sequences: 1}, "usage": {**usage, "seconds": 0.0}},
    }
    Path("r/results.jsonl").write_text(json.dumps(row) + "\n")
    for more in ([], ["--by", "level"], ["--paper"]):
        code, out, err = command("report", "r", *more)
        assert code == 0 and not {"\x1b", "\x07", "\u202e", "\x9b"} & set(out + err)
