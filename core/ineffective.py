"""Settings that were given and change nothing, as the settings and the task themselves declare it.

Which settings a prompt depends on is declared nowhere: a task may read them in any of its prompts,
so none of these is refused.
"""

from collections.abc import Mapping
from typing import Any

from thoughtgraph.acting import Acts
from thoughtgraph.errors import SettingError
from thoughtgraph.settings import Settings
from thoughtgraph.settings.acting import ActingSettings
from thoughtgraph.task import Task

PROMPTED = ("examples", "grammar", "layout", "shots", "wording", "zero_shot")
"""Settings of methods that act which prompts depend on."""
TOOLED = tuple(sorted(ActingSettings.model_fields.keys() - {*Settings.model_fields, *PROMPTED}))
"""Settings that only tools depend on."""


def check_used(
    method: str,
    task: Task,
    chosen: Mapping[str, Any],
    settings: Mapping[str, Any],
    usual: Mapping[str, Any],
) -> None:
    """Refuses settings of tools where the task has none.

    A value that holds anyway, or that the task publishes, is no matter.

    Args:
        method: Id of the method.
        task: The task.
        chosen: The settings that the run was given.
        settings: The effective ones.
        usual: What they would be if nothing were given.

    Raises:
        SettingError: One is not used; the message says to leave it out.
    """
    unused = () if isinstance(task, Acts) else TOOLED
    names = [
        name for name in unused if chosen.get(name) is not None and settings[name] != usual[name]
    ]
    if names:
        them = "it" if len(names) == 1 else "them"
        raise SettingError(
            f"{' and '.join(map(repr, names))} would change nothing: method {method!r} on task "
            f"{task.id!r} does not use {them}; leave {them} out"
        )
