"""The first lines of `solve`: a question and its picture, if it has one, and what is unknown."""

from pathlib import Path

from rich.console import Console

from thoughtgraph import results
from thoughtgraph.cli import text
from thoughtgraph.cli.custom import task_of
from thoughtgraph.cli.plan import Plan
from thoughtgraph.cli.screen.events import Event
from thoughtgraph.errors import InputError
from thoughtgraph.llm.prices import Prices, remedy, unknown
from thoughtgraph.task import Pictures


def introduce(console: Console, plan: Plan, folder: Path, run: str) -> None:
    """Prints the question of a problem that has a picture, writes the picture and names its file.

    Args:
        console: Standard output.
        plan: What will be run.
        folder: Where pictures are kept.
        run: The run's id, which names the file.

    Raises:
        InputError: The file cannot be written.
    """
    task = task_of(plan.task)
    if not isinstance(task, Pictures):
        return
    file = folder / f"{run}.svg"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        results.write(str(file), task.picture(plan.problem))
    except OSError as error:
        raise InputError(
            f"cannot write {str(file)!r} ({error.strerror}); set THOUGHTGRAPH_DATA to a folder "
            "that can be written"
        ) from error
    console.print(f"question: {text.line(text.headline(plan.problem))}", markup=False)
    console.print(f"picture:  {file}", markup=False)


def uncounted(prices: Prices) -> list[Event]:
    """Returns the news that the limit on dollars is off, where the price of a model is unknown."""
    if not (names := unknown(prices)):
        return []
    why = f"no price of {', '.join(names)} is known; give it with {remedy(names[0])}"
    return [Event("dollars", f"neither counted nor limited, as {why}")]
