"""Settings that were given and would change nothing: refused before anything is spent.

Which of them a task uses is seen from what it reads when its first prompt is made: no list of
methods and tasks has to be kept.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from thoughtgraph.acting import Acts, Hints
from thoughtgraph.context import is_given
from thoughtgraph.errors import SettingError
from thoughtgraph.settings import Settings
from thoughtgraph.settings.acting import ActingSettings
from thoughtgraph.task import Options, Question, Task
from thoughtgraph.tree import Thought

PROMPTED = ("examples", "grammar", "layout", "shots", "wording", "zero_shot")
"""Settings that only prompts depend on."""
PARSED = ("exact_steps", "strict_parse")
"""Settings that only the reading of completions depends on."""
TOOLED = tuple(sorted(ActingSettings.model_fields.keys() - {*Settings.model_fields, *PROMPTED}))
"""Settings that only tools depend on."""
JUDGING = {
    "estimate_examples": "",
    "extract_examples": "extractor",
    "label_examples": "step_evaluator",
    "verify_examples": "answer_evaluator",
}
"""Settings that only one judge's prompt depends on, and the switch of that judge."""

Render = Callable[[Options], Question[object]]
"""From settings to what a search asks first."""
_STEP: Thought = {"id": "1", "parent": "0", "depth": 1, "text": "", "status": "open"}


class Watched(Mapping[str, Any]):
    """Settings that note which of them are read.

    Args:
        settings: The effective settings.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self.read: set[str] = set()
        """Names that were looked up so far."""

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)


def check_used(
    method: str,
    task: Task,
    problem: str,
    given: BaseModel | Mapping[str, Any] | None,
    chosen: Mapping[str, Any],
    usual: Mapping[str, Any],
    render: Render,
) -> None:
    """Refuses settings that the caller gave and that would change nothing.

    What equals the value that holds anyway is no matter, nor is what is published.

    Args:
        method: Id of the method.
        task: The task.
        problem: The run's problem.
        given: The run's context.
        chosen: The effective settings.
        usual: What they would be if nothing were given.
        render: Makes the first prompt from options, as the search will.

    Raises:
        SettingError: One is not used; the message says to leave it out.
    """
    names = (*PROMPTED, *PARSED, *JUDGING, *(() if isinstance(task, Acts) else TOOLED))
    asked = [name for name in names if is_given(given, name) and chosen[name] != usual[name]]
    used = _used(asked, chosen, render) if asked else set()
    used |= {name for name in asked if name in JUDGING and _shown(name, task, problem, chosen)}
    if ignored := [name for name in asked if name not in used]:
        what = " and ".join(repr(name) for name in ignored)
        them = "it" if len(ignored) == 1 else "them"
        raise SettingError(
            f"{what} would change nothing: method {method!r} on task {task.id!r} does not use "
            f"{them}; leave {them} out"
        )


def _used(asked: Collection[str], chosen: Mapping[str, Any], render: Render) -> set[str]:
    """Returns which settings a task reads when it is first asked and answered."""
    watched = Watched(chosen)
    question = render(watched)
    if any(name in PARSED for name in asked):
        question.read([""])
    return watched.read


def _shown(name: str, task: Any, problem: str, chosen: Mapping[str, Any]) -> bool:
    """Returns whether a judge is asked at all, and reads the setting when it is."""
    exact = name == "verify_examples" and chosen["exact_check"]
    if exact or not chosen.get(JUDGING[name], True):
        return False
    watched = Watched(chosen)
    match name:
        case "extract_examples":
            task.move(problem, (), "fgdip", watched, Hints(wanted="first"))
        case "verify_examples":
            task.verify(problem, "", watched)
        case _:
            style = "fgdip" if name == "label_examples" else "itot"
            task.estimate(problem, [_STEP], style, watched)
    return name in watched.read
