"""`thoughtgraph solve`: searches one problem, and writes and prints the result."""

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from rich.console import Console

from thoughtgraph import results
from thoughtgraph.cli import demo, text
from thoughtgraph.cli.guard import NO_ANSWER, Terminal, complain
from thoughtgraph.cli.options import DemoOptions, SolveOptions
from thoughtgraph.cli.ports import open_port
from thoughtgraph.cli.run_config import RunConfig, check_resume, limit_settings, resumed
from thoughtgraph.cli.runs import Runs
from thoughtgraph.cli.screen.display import screen_for
from thoughtgraph.cli.session import Ended, Session
from thoughtgraph.cli.summary import Summary, introduce, limit_of, resume_hint, show, uncounted
from thoughtgraph.errors import InputError, ModelError, ToolsUnavailable
from thoughtgraph.llm.prices import check_limit, prices_of
from thoughtgraph.llm.store import PaidAnswers
from thoughtgraph.outcome import INTERRUPTED
from thoughtgraph.tree import ROOT, root


def begin(options: DemoOptions, config: RunConfig) -> int:
    """Solves one problem in a new run; returns the exit code: 0 with an answer, 1 without one."""
    return _solve(options, config, Runs(), "")


def resume(options: SolveOptions) -> int:
    """Resumes a run; returns the exit code, as `begin` does."""
    check_resume(options)
    runs = Runs()
    run = runs.find(options.resume or "")
    # Locked before its record is read, as another process may be about to finish the run.
    with runs.held(run):
        config = resumed(runs.config(run, raised=bool(options.limits)), options)
        return _solve(options, config, runs, run)


def _solve(options: DemoOptions, config: RunConfig, runs: Runs, old_run: str) -> int:
    """Solves one problem in a new run, or resumes the run that `old_run` names."""
    console = Terminal(quiet=options.quiet, stderr=config.json_file == "-")
    names = filter(None, (config.model, config.evaluator_model))
    models = [open_port(name, console) for name in names]
    prices = prices_of(models, config.settings.get("prices", {}))
    if config.settings.get("limit_dollars") is not None:
        check_limit(prices)
    run = old_run or runs.add(config)
    introduce(console, config, runs.path.with_name("pictures"), run)
    title = f"run {run}: {config.method} on {config.task_id} with {config.model}"
    session = Session(
        run,
        config,
        models,
        runs,
        PaidAnswers(runs.answers(run)),
        screen_for(console, title),
        uncounted(prices),
        limit_settings(options.limits) if old_run else {},
    )
    with nullcontext() if old_run else runs.held(run):
        return _finish(session, _run_search(session, console, old_run), console)


def _run_search(session: Session, console: Console, old_run: str) -> Ended:
    try:
        with session.paid.in_use():
            return asyncio.run(session.search())
    except KeyboardInterrupt:
        console.print(resume_hint(session.run))
        raise
    except (InputError, ToolsUnavailable):
        # Nothing was spent, so there is nothing to resume.
        if not old_run:
            session.runs.drop(session.run)
        raise


def _finish(session: Session, ended: Ended, console: Console) -> int:
    """Writes and shows the result of a search; returns the exit code."""
    run, config, runs = session.run, session.config, session.runs
    finished = _is_done(runs, run, ended)
    result = results.stored(_out(session, ended))
    try:
        runs.keep(run, results.as_json(result))
        files = _write(result, config.json_file, config.html_file)
    except InputError:
        console.print(resume_hint(run))  # the answers are kept until the result is written
        raise
    if finished:
        runs.finish(run)
    show(console, Summary(config, result, files, run))
    if config.gold is not None and result["stop_reason"] not in (INTERRUPTED, "error"):
        console.print("try next:", *demo.next_steps(config.model), sep="\n  ", markup=False)
    if console.quiet and config.json_file != "-" and result["answer"] is not None:
        print(text.lines(result["answer"]))
    if error := ended.state.get("error"):
        complain(error)
    return NO_ANSWER if result["answer"] is None or result["stop_reason"] == "error" else 0


def _is_done(runs: Runs, run: str, ended: Ended) -> bool:
    """Returns whether a run is finished; else records why, or drops it if nothing was spent."""
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


def _out(session: Session, ended: Ended) -> dict[str, Any]:
    """Returns the graph's output; for a stopped search, the same keys from its last state."""
    config, state = session.config, ended.state
    settings = state.get("settings") or config.resolved()
    judge = config.evaluator_model
    names = {"task": config.task_id, "model": config.model, "evaluator_model": judge}
    return {
        "method": config.method,
        "problem": config.problem,
        "oracle": config.oracle,
        **state,
        "settings": {**settings, **names},
        "tree": state.get("thoughts") or {ROOT: root()},
        "usage": state.get("usage" if ended.finished else "spent", {}),
        "stop_reason": state.get("stop_reason", "") if ended.finished else INTERRUPTED,
        "run": session.run,
        "prompts": session.paid.prompts,
        **({"unused": ended.unused} if ended.unused and ended.unused["answers"] else {}),
        **({} if config.gold is None else {"right": demo.is_right(state.get("answer"))}),
    }


def _write(result: Mapping[str, Any], json_file: str, html_file: str) -> list[str]:
    if json_file == "-":
        print(results.as_json(result), end="")
    elif json_file:
        results.write(json_file, results.as_json(result))
    if html_file:
        results.write(html_file, results.html(result))
    return [path for path in (json_file, html_file) if path not in ("", "-")]
