"""`thoughtgraph runs`: what was stopped and can be resumed."""

from thoughtgraph.cli import text
from thoughtgraph.cli.outcome import resume_hint
from thoughtgraph.cli.runs import Runs

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
