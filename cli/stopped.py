"""`thoughtgraph runs`: what was stopped and can be resumed."""

import asyncio
from collections.abc import Sequence

from thoughtgraph.checkpoints import opened
from thoughtgraph.cli import text
from thoughtgraph.cli.runs import KILLED, Runs
from thoughtgraph.cli.summary import resume_hint

ALL = "all"
LONGEST = 60
"""Letters of a problem that are shown."""


def runs() -> None:
    """Lists the runs that can be resumed, the latest first, each with the command that does it."""
    waiting = Runs().waiting()
    if not waiting:
        print("no run can be resumed: none was stopped, failed or ended by a limit")
        return
    for run in waiting:
        begun = run.begun.replace("T", " ").partition("+")[0]
        asked = text.short(text.headline(run.problem), LONGEST)
        print(f"{run.run}  {begun}  {run.what}: {asked}")
        print(f"    {run.why}; {resume_hint(run.run, run.limit)}")


def forget(named: str) -> None:
    """Drops what is kept of a run, for good.

    Args:
        named: Its id, or `all`: those that a limit or an error ended. One that was killed may be
            running still, so it is dropped by its id alone.

    Raises:
        InputError: There is no such run.
    """
    runs = Runs()
    kept = [run.run for run in runs.waiting() if run.why != KILLED]
    gone = kept if named == ALL else [runs.find(named)]
    for run in gone:
        runs.forget(run)
    asyncio.run(_drop(runs, gone))
    print(f"dropped {', '.join(gone)}" if gone else "no run was ended by a limit or an error")


async def _drop(runs: Runs, gone: Sequence[str]) -> None:
    """Drops the checkpoints of runs."""
    async with opened(runs.checkpoints) as saver:
        for run in gone:
            await saver.adelete_thread(run)
