"""Turns the options of a command into the configuration of a run, before anything is spent."""

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
"""The setting whose option, `--judge`, has a shorter name."""
REVIEW = "review"
"""The setting that the command refuses, because it cannot ask a reviewer."""


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a run, in plain values, which are stored so that it can be resumed."""

    method: str
    task: str
    """An id, or `FILE.py:NAME` with the file's absolute path."""
    problem: str
    model: str
    """Model specifier."""
    evaluator_model: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    """The settings that the user chose; all others have their defaults."""
    oracle: bool = False
    """Whether the task's exact check tells the method if an answer is right."""
    gold: str | None = None
    """A right answer to the demonstration's question, which the search never sees; else None."""
    json_file: str = ""
    """File for the result as JSON; `-`: standard output; empty: none."""
    html_file: str = ""
    """File for the page of the tree; empty: none."""
    before: dict[str, float] = field(default_factory=dict)
    """Seconds and retries from before a restart, which stored answers do not spend again. Empty:
    the run was never restarted."""

    @property
    def task_id(self) -> str:
        """The task's id, also if `task` names a file."""
        return task_of(self.task).id

    def resolved(self) -> dict[str, Any]:
        """Returns the values of all settings, defaults included."""
        return effective_settings(self.method, task_of(self.task), self.settings)


def configure(options: SolveOptions) -> RunConfig:
    """Returns the configuration of a new run."""
    check_files(options.json_file, options.html_file)
    name = full_name(options.task or DEFAULT_TASK)
    task = task_of(name)
    problem = task.read(_problem(options, name))
    method = options.method or default_method(task)
    return _complete(options, RunConfig(method, name, problem, "", oracle=options.oracle))


def demonstrated(options: DemoOptions) -> RunConfig:
    """Returns the configuration of a new demonstration."""
    check_files(options.json_file, options.html_file)
    base = RunConfig(
        demo.METHOD, demo.TASK, demo.QUESTION, "", settings=dict(demo.SETTINGS), gold=demo.GOLD
    )
    return _complete(options, base)


def _complete(options: DemoOptions, base: RunConfig) -> RunConfig:
    """Adds the models, settings and files of the options to a configuration, and checks it."""
    settings = {**given_settings(options.settings), **limit_settings(options.limits)}
    specifier = options.model or default_specifier()
    for each in filter(None, (specifier, options.evaluator_model)):
        check_specifier(each)
    config = replace(
        base,
        model=specifier,
        evaluator_model=options.evaluator_model,
        settings={**base.settings, **settings},
        json_file=_absolute(options.json_file),
        html_file=_absolute(options.html_file),
    )
    admit(config.method, task_of(config.task), config.resolved(), oracle=config.oracle)
    return config


def with_database(options: SolveOptions) -> SolveOptions:
    """Returns the options with `--database` as a setting; a file's path is made absolute."""
    location = options.database
    if not location:
        return options
    setting = f"database={location if '://' in location else _absolute(location)}"
    return replace(options, settings=[*options.settings, setting])


def check_resume(options: SolveOptions) -> None:
    """Refuses options that a resumed run cannot change."""
    fixed: Mapping[str, Any] = {
        "PROBLEM": options.problem,
        "--task": options.task,
        "--method": options.method,
        "--set": options.settings,
        "--oracle": options.oracle,
    }
    if extra := [name for name, value in fixed.items() if value]:
        raise InputError(
            f"a resumed run keeps its problem, method and settings; leave out {', '.join(extra)}, "
            "or start anew without --resume"
        )


def resumed(config: RunConfig, options: SolveOptions) -> RunConfig:
    """Returns a configuration with the limits, models and files of a resumed run's options."""
    changed = replace(
        config,
        settings={**config.settings, **limit_settings(options.limits)},
        model=options.model or config.model,
        evaluator_model=options.evaluator_model or config.evaluator_model,
        json_file=_absolute(options.json_file) or config.json_file,
        html_file=_absolute(options.html_file) or config.html_file,
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


def _absolute(path: str) -> str:
    """Returns a file's absolute path, as the run may be resumed from another folder."""
    return str(Path(expanduser(path)).absolute()) if path not in ("", "-") else path


def _problem(options: SolveOptions, task: str) -> str:
    if options.problem == "-":
        return _standard_input()
    if options.problem is not None:
        return written_text(options.problem)
    entry = registry.TASKS.get(task)
    advice = f"write one such as {entry.example!r}" if entry else "write one behind the options"
    if options.task is None:
        advice += ", or see `thoughtgraph demo`"
    raise InputError(f"no problem given for task {task!r}; {advice}")


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise InputError("standard input is no text; it must be UTF-8") from None


def given_settings(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Parses settings in the form of `--set`, and refuses those with an option of their own."""
    settings = assignments(pairs, option)
    for name in CHOICES:
        if name in settings:
            flag = "judge" if name == JUDGE else name
            raise InputError(f"{name!r} is no setting here; use --{flag} {settings[name]}")
    for name in settings:
        if option == "--set" and name.startswith(LIMIT_PREFIX):
            limit = f"{name.removeprefix(LIMIT_PREFIX)}={settings[name]}"
            raise InputError(f"{name!r} is a limit; use --limit {limit}")
    if settings.get(REVIEW, "off") != "off":
        raise InputError(f"the command asks no reviewer; use {REVIEW!r} in Studio or in Python")
    return settings


def values_to_try(pairs: Sequence[str]) -> dict[str, list[Any]]:
    """Parses the values of `--sweep`, `name=a,b,c`; returns the values to try for each setting."""
    values_of: dict[str, list[Any]] = {}
    for pair in pairs:
        name, values = assignment(pair, "--sweep")
        settings = [f"{name}={value}" for value in values.split(",")]
        values_of[name] = [given_settings([each], "--sweep")[name] for each in settings]
    return values_of


def limit_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Parses the values of `--limit`; returns them as settings."""
    size = len(LIMIT_PREFIX)
    limits = [name[size:] for name in Settings.model_fields if name.startswith(LIMIT_PREFIX)]
    chosen: dict[str, Any] = {}
    for name, value in assignments(pairs, "--limit").items():
        if name not in limits:
            raise UnknownName("limit", name, limits)
        chosen[LIMIT_PREFIX + name] = None if value == "none" else value
    resolve_settings(Settings, {}, chosen)  # refuses values that are not numbers
    return chosen
