"""From what was asked on the command line to what will be run, checked before anything is spent."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os.path import expanduser
from pathlib import Path
from typing import Any

from thoughtgraph import registry, results
from thoughtgraph.admission import admit, default_method, effective_settings
from thoughtgraph.cli import demo
from thoughtgraph.cli.assignments import assignment, assignments, written_text
from thoughtgraph.cli.custom import full_name, task_of
from thoughtgraph.cli.options import DemoOptions, SolveOptions
from thoughtgraph.context import resolve_settings
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.llm.specifiers import check_specifier, default_specifier
from thoughtgraph.settings import CHOICES, LIMIT_PREFIX, Settings

DEFAULT_TASK = "question"
JUDGE = "evaluator_model"
"""The setting that the command has as an option of a shorter name."""
REVIEW = "review"
"""The setting that the command does not have: nobody is there to answer."""


@dataclass(frozen=True)
class RunConfig:
    """What will be run; all of it plain values, so that a stopped run can be found again."""

    method: str
    task: str
    """An id, or `FILE.py:NAME` with the file's whole path."""
    problem: str
    model: str
    """Model specifier."""
    evaluator_model: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    """The settings that were given; all others have their defaults."""
    oracle: bool = False
    """Whether the task's exact check tells the method if an answer is right."""
    gold: str | None = None
    """A right answer, where the question is the command's own; the search never sees it."""
    json_file: str = ""
    """Where the result goes as JSON; empty: nowhere."""
    html_file: str = ""
    """Where the page of the tree goes; empty: nowhere."""
    before: dict[str, float] = field(default_factory=dict)
    """What of the usage an earlier try spent that cannot be asked for again: seconds and retries.
    Empty: there was none, the run was never begun anew."""

    @property
    def task_id(self) -> str:
        """The task's id, which a file's name is not."""
        return task_of(self.task).id

    def resolved(self) -> dict[str, Any]:
        """Returns the values of all settings."""
        return effective_settings(self.method, task_of(self.task), self.settings)


def configure(options: SolveOptions) -> RunConfig:
    """Returns the configuration of a new run."""
    check_files(options.json_file, options.html_file)
    name = full_name(options.task or DEFAULT_TASK)
    task = task_of(name)
    problem = task.read(_problem(options, name))
    method = options.method or default_method(task)
    return _configured(options, RunConfig(method, name, problem, "", oracle=options.oracle))


def demonstrated(options: DemoOptions) -> RunConfig:
    """Returns the configuration of a new run of the demonstration."""
    check_files(options.json_file, options.html_file)
    begun = RunConfig(
        demo.METHOD, demo.TASK, demo.QUESTION, "", settings=dict(demo.SETTINGS), gold=demo.GOLD
    )
    return _configured(options, begun)


def _configured(options: DemoOptions, begun: RunConfig) -> RunConfig:
    """Returns a configuration with the models, settings and files of the options."""
    settings = {**given_settings(options.settings), **limit_settings(options.limits)}
    specifier = options.model or default_specifier()
    for each in filter(None, (specifier, options.evaluator_model)):
        check_specifier(each)
    config = replace(
        begun,
        model=specifier,
        evaluator_model=options.evaluator_model,
        settings={**begun.settings, **settings},
        json_file=_placed(options.json_file),
        html_file=_placed(options.html_file),
    )
    admit(config.method, task_of(config.task), config.resolved(), oracle=config.oracle)
    return config


def with_database(options: SolveOptions) -> SolveOptions:
    """Returns options whose database is a setting, with the whole path of a file."""
    place = options.database
    if not place:
        return options
    chosen = f"database={place if '://' in place else _placed(place)}"
    return replace(options, settings=[*options.settings, chosen])


def check_resume(options: SolveOptions) -> None:
    """Refuses options that a resumed run does not take: it keeps its own."""
    taken: Mapping[str, Any] = {
        "PROBLEM": options.problem,
        "--task": options.task,
        "--method": options.method,
        "--set": options.settings,
        "--oracle": options.oracle,
    }
    if extra := [name for name, value in taken.items() if value]:
        raise InputError(
            f"a resumed run keeps what it was given, limits apart; leave out {', '.join(extra)}, "
            "or start anew without --resume"
        )


def resumed(config: RunConfig, options: SolveOptions) -> RunConfig:
    """Returns the configuration of a run that goes on: with other limits, models and files."""
    changed = replace(
        config,
        settings={**config.settings, **limit_settings(options.limits)},
        model=options.model or config.model,
        evaluator_model=options.evaluator_model or config.evaluator_model,
        json_file=_placed(options.json_file) or config.json_file,
        html_file=_placed(options.html_file) or config.html_file,
    )
    changed.resolved()
    check_files(changed.json_file, changed.html_file)
    return changed


def check_files(json_file: str, html_file: str) -> None:
    """Refuses files that cannot be written, before anything is spent on their content."""
    if html_file == "-":
        raise InputError("a page goes into a file, not to standard output; name one instead of -")
    for path in (json_file, html_file):
        if path not in ("", "-"):
            results.check_writable(path)


def _placed(path: str) -> str:
    """Returns where a file will be, wherever the run is resumed."""
    return str(Path(expanduser(path)).absolute()) if path not in ("", "-") else path


def _problem(options: SolveOptions, task: str) -> str:
    if options.problem == "-":
        return _standard_input()
    if options.problem is not None:
        return written_text(options.problem)
    known = registry.TASKS.get(task)
    form = f"write one such as {known.example!r}" if known else "write one behind the options"
    if options.task is None:
        form += ", or see `thoughtgraph demo`"
    raise InputError(f"no problem given for task {task!r}; {form}")


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise InputError("standard input is no text; it must be UTF-8") from None


def given_settings(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Returns the settings that are written as for `--set`."""
    settings = assignments(pairs, option)
    for name in CHOICES:
        if name in settings:
            used = "judge" if name == JUDGE else name
            raise InputError(f"{name!r} is no setting here; use --{used} {settings[name]}")
    for name in settings:
        if option == "--set" and name.startswith(LIMIT_PREFIX):
            limit = f"{name.removeprefix(LIMIT_PREFIX)}={settings[name]}"
            raise InputError(f"{name!r} is a limit; use --limit {limit}")
    if settings.get(REVIEW, "off") != "off":
        raise InputError(f"nobody is asked here; leave {REVIEW!r} to Studio and to Python")
    return settings


def values_to_try(pairs: Sequence[str]) -> dict[str, list[Any]]:
    """Returns the values of each setting that is written as for `--sweep`: `name=a,b,c`."""
    tried: dict[str, list[Any]] = {}
    for written in pairs:
        name, values = assignment(written, "--sweep")
        settings = [f"{name}={value}" for value in values.split(",")]
        tried[name] = [given_settings([each], "--sweep")[name] for each in settings]
    return tried


def limit_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Returns the settings of limits that are written as for `--limit`."""
    size = len(LIMIT_PREFIX)
    known = [name[size:] for name in Settings.model_fields if name.startswith(LIMIT_PREFIX)]
    chosen: dict[str, Any] = {}
    for name, value in assignments(pairs, "--limit").items():
        if name not in known:
            raise UnknownName("limit", name, known)
        chosen[LIMIT_PREFIX + name] = None if value == "none" else value
    resolve_settings(Settings, {}, chosen)  # refuses what is no number, for all methods alike
    return chosen
