"""`thoughtgraph solve`: one problem, from its models to the answer."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from os.path import expanduser
from pathlib import Path
from typing import Any

from rich.console import Console

from thoughtgraph import results
from thoughtgraph.cli import text
from thoughtgraph.cli.demo import next_steps
from thoughtgraph.cli.guard import NO_ANSWER, complain
from thoughtgraph.cli.options import SolveOptions
from thoughtgraph.cli.ports import open_port
from thoughtgraph.cli.run_config import (
    RunConfig,
    check_files,
    limit_settings,
    refused_on_resume,
    with_limits,
)
from thoughtgraph.cli.runs import Runs
from thoughtgraph.cli.screen.display import screen_for
from thoughtgraph.cli.session import Ended, Session
from thoughtgraph.cli.summary import Summary, introduce, limit_of, resume_hint, show, uncounted
from thoughtgraph.errors import InputError, ModelError, ToolsUnavailable
from thoughtgraph.llm.prices import check_limit, prices_of
from thoughtgraph.llm.specifiers import default_specifier
from thoughtgraph.llm.store import PaidAnswers
from thoughtgraph.outcome import INTERRUPTED
from thoughtgraph.tree import ROOT, root


def solve(options: SolveOptions, config: RunConfig | None) -> int:
    """Solves one problem and shows how.

    Args:
        options: What was asked for.
        config: What will be run; None for a run that goes on.

    Returns:
        The exit code: 0 with an answer, 1 without one.

    Raises:
        InputError: Something that was asked for cannot be used; nothing has been spent.
        ModelError: The model never answered.
        ToolsUnavailable: The tools cannot work here, for example without a network.
    """
    runs = Runs()
    with ExitStack() as held:
        run = "" if config else _held(options, runs, held)
        return _solve(options, config or _resumed(options, run, runs), runs, run, held)


def _held(options: SolveOptions, runs: Runs, held: ExitStack) -> str:
    """Returns the run that is resumed, which no other process can finish meanwhile."""
    if extra := refused_on_resume(options):
        raise InputError(
            f"a resumed run keeps what it was given, limits apart; leave out {', '.join(extra)}, "
            "or start anew without --resume"
        )
    run = runs.find(options.resume or "")
    held.enter_context(runs.held(run))
    return run


def _solve(
    options: SolveOptions, config: RunConfig, runs: Runs, again: str, held: ExitStack
) -> int:
    config = replace(
        config,
        json_file=_placed(options.json_file) or config.json_file,
        html_file=_placed(options.html_file) or config.html_file,
    )
    check_files(replace(options, json_file=config.json_file, html_file=config.html_file))
    console = Console(
        highlight=False, soft_wrap=True, quiet=options.quiet, stderr=config.json_file == "-"
    )
    specifier = options.model or config.model or default_specifier()
    judge = options.evaluator_model or config.evaluator_model
    models = [open_port(each, console) for each in (specifier, judge) if each]
    prices = prices_of(models, config.settings.get("prices", {}))
    if config.settings.get("limit_dollars") is not None:
        check_limit(prices)
    run = again or runs.add(config)
    if not again:
        held.enter_context(runs.held(run))
    paid = PaidAnswers(runs.answers(run))
    introduce(console, config, runs.path.with_name("pictures"), run)
    title = f"run {run}: {config.method} on {config.task_id} with {specifier}"
    screen = screen_for(console, title)
    raised = limit_settings(options.limits) if again else {}
    session = Session(run, config, models, runs, paid, screen, uncounted(prices), raised)
    try:
        with paid.in_use():
            ended = asyncio.run(session.search())
    except KeyboardInterrupt:
        console.print(resume_hint(run))
        raise
    except (InputError, ToolsUnavailable):
        # Nothing was spent: there is nothing to go on with.
        if not again:
            runs.drop(run)
        raise
    done = _is_done(runs, run, ended)
    result = results.stored(_out(config, ended, specifier, run))
    try:
        written = _write(result, config.json_file, config.html_file)
    except InputError:
        console.print(resume_hint(run))  # what was answered is kept until the result is written
        raise
    if done:
        runs.drop(run)
    show(console, Summary(config, result, written, run))
    if config.gold is not None and result["stop_reason"] not in (INTERRUPTED, "error"):
        console.print("try next:", *next_steps(), sep="\n  ", markup=False)
    if options.quiet and config.json_file != "-" and result["answer"] is not None:
        print(text.lines(result["answer"]))
    if error := ended.state.get("error"):
        complain(error)
    return NO_ANSWER if result["answer"] is None or result["stop_reason"] == "error" else 0


def _resumed(options: SolveOptions, run: str, runs: Runs) -> RunConfig:
    return with_limits(runs.config(run, raised=bool(options.limits)), options.limits)


def _placed(path: str) -> str:
    """Returns where a file will be, wherever the run is resumed."""
    return str(Path(expanduser(path)).absolute()) if path not in ("", "-") else path


def _is_done(runs: Runs, run: str, ended: Ended) -> bool:
    """Returns whether there is nothing to go on with; notes why, where there is.

    Raises:
        ModelError: The endpoint never answered, which leaves nothing to keep.
    """
    if not ended.finished:
        return False
    if limit := limit_of(ended.state):
        runs.update(run, why=f"was ended by its limit on {limit}", limit=limit)
        return False
    if ended.state.get("stop_reason") != "error":
        return True
    runs.update(run, why="was ended by an error of its model or tools")
    usage = ended.state.get("usage", {})
    if not usage.get("requests") and not usage.get("cached"):
        runs.drop(run)
        raise ModelError(ended.state.get("error") or "the model never answered")
    return False


def _out(config: RunConfig, ended: Ended, model: str, run: str) -> dict[str, Any]:
    """Returns what the graph returned, or would have if it had not been stopped before its end.

    Args:
        config: What was run.
        ended: How it ended.
        model: Specifier of the generating model, the default resolved.
        run: The run's id.
    """
    state = ended.state
    right = state.get("answer") == config.gold
    settings = state.get("settings") or config.effective()
    named = {"task": config.task_id, "model": model, "evaluator_model": config.evaluator_model}
    return {
        "method": config.method,
        "problem": config.problem,
        "oracle": config.oracle,
        **state,
        "settings": {**settings, **named},
        "tree": state.get("thoughts") or {ROOT: root()},
        "stop_reason": state.get("stop_reason", "") if ended.finished else INTERRUPTED,
        "run": run,
        **({"unused": ended.unused} if ended.unused and ended.unused["answers"] else {}),
        **({} if config.gold is None else {"right": right}),
    }


def _write(result: Mapping[str, Any], json_file: str, html_file: str) -> list[str]:
    if json_file == "-":
        print(results.as_json(result), end="")
    elif json_file:
        results.write(json_file, results.as_json(result))
    if html_file:
        results.write(html_file, results.html(result))
    return [path for path in (json_file, html_file) if path not in ("", "-")]
