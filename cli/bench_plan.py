"""What a benchmark will run, from the options of the command line; nothing is spent yet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from thoughtgraph import registry
from thoughtgraph.admission import Oracle, admit, default_method, effective_settings
from thoughtgraph.bench.data import set_file, unscored
from thoughtgraph.bench.papers.suites import Line, Part, suite
from thoughtgraph.bench.runner import Batch, Setup, sweep
from thoughtgraph.cli.assignments import assignment
from thoughtgraph.cli.bench_options import BenchOptions
from thoughtgraph.cli.bench_problems import chosen, is_made
from thoughtgraph.cli.custom import full_name, task_of
from thoughtgraph.cli.data_downloads import problems_of
from thoughtgraph.cli.run_config import given_settings, limit_settings, values_to_try
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.llm.specifiers import check_specifier, default_specifier, takes_grammar
from thoughtgraph.settings import WATCHING
from thoughtgraph.task import Checks

GRAMMAR_REFUSED = "no server but the embedded model's is known to take a grammar; choose local"


def batches(options: BenchOptions) -> list[Batch]:
    """Returns what is compared, and on which problems."""
    _check_models(options)
    if options.suite:
        return _suite_batches(options)
    if not options.task:
        raise InputError("name what kind of problems with --task, or a table with --suite")
    part = Part(
        id="",
        task=full_name(options.task),
        data=problems_of(options.data),
        problems=options.problems,
        sample=options.sample,
        seeds=options.seeds,
        paragraphs=options.paragraphs,
        where=dict(assignment(pair, "--where") for pair in options.where),
    )
    settings = {**given_settings(options.settings), **limit_settings(options.limits)}
    setups = [
        _setup(options, part, method, values, options.oracle)
        for method in options.methods or [default_method(task_of(part.task))]
        for values in sweep(settings, values_to_try(options.sweep))
    ]
    first = setups[0].resolved["seed"]
    return [
        Batch(
            [_seedless(setup) for setup in setups],
            unscored(task_of(part.task), options.file)
            if options.file
            else chosen(part, part.data, options.sample_seed),
            range(first, first + options.seeds),
        )
    ]


def left_out(options: BenchOptions) -> list[str]:
    """Returns the lines of a table that the models cannot run, as none takes a grammar."""
    if not options.suite:
        return []
    lines = [line for part in _parts(options) for line in _lines(options, part)]
    return sorted({line.name for line in lines if not _runs(options, line.settings)})


def _runs(options: BenchOptions, settings: Mapping[str, Any]) -> bool:
    # What a LangGraph server's models take is known there alone.
    if options.server or not settings.get("grammar"):
        return True
    return all(map(takes_grammar, _models(options)))


def _models(options: BenchOptions) -> Iterable[str]:
    return filter(None, (options.model or default_specifier(), options.evaluator_model))


def _check_models(options: BenchOptions) -> None:
    """Refuses specifiers that are none; a server knows its models by names of its own."""
    if not options.server:
        for specifier in _models(options):
            check_specifier(specifier)
    elif options.oracle or ".py:" in options.task:
        what = "--oracle" if options.oracle else "a task of your own"
        raise InputError(f"a server takes no {what}; leave out --server")


def _suite_batches(options: BenchOptions) -> list[Batch]:
    """Returns the runs of a table, or the part of it that was named: a set, some methods."""
    if options.sweep:
        raise InputError("a suite has settings of its own; leave out --sweep")
    known_methods = sorted({line.method for line in suite(options.suite).rows})
    for method in options.methods:
        if method not in known_methods:
            raise UnknownName(f"method of {options.suite}", method, known_methods)
    # Before data are looked for: nobody must give a file that no line reads.
    wanted = [(part, lines) for part in _parts(options) if (lines := _runnable(options, part))]
    if not wanted:
        what = f"{', '.join(options.methods)} on {options.task}"
        raise InputError(f"no line of {options.suite!r} has {what}; leave one of them out")
    return [_of_suite(options, part, lines) for part, lines in wanted]


def _parts(options: BenchOptions) -> list[Part]:
    parts = suite(options.suite).parts
    if wanted := [part for part in parts if options.task in ("", part.id, part.task)]:
        return wanted
    known = {name for part in parts for name in (part.id, part.task)}
    raise UnknownName(f"task or set of {options.suite}", options.task, sorted(known))


def _lines(options: BenchOptions, part: Part) -> list[Line]:
    table = suite(options.suite)
    return [
        line
        for line in table.rows
        if part in table.parts_of(line)
        and not line.same_run_as
        and (not options.methods or line.method in options.methods)
    ]


def _runnable(options: BenchOptions, part: Part) -> list[Line]:
    return [line for line in _lines(options, part) if _runs(options, line.settings)]


def _of_suite(options: BenchOptions, part: Part, lines: Sequence[Line]) -> Batch:
    own = {**given_settings(options.settings), **limit_settings(options.limits)}
    table = suite(options.suite)
    for name in own:
        if not any(name in registry.settings(row.method).model_fields for row in table.rows):
            raise InputError(
                f"no method of {options.suite!r} has the setting {name!r}; leave it out"
            )
    setups = [_of_line(options, part, line, own) for line in lines]
    if options.sample:
        part = part.model_copy(update={"sample": options.sample})
    data = part.data if is_made(part.data) else str(set_file(options.data or ".", part.data))
    return Batch(setups, chosen(part, data, options.sample_seed), range(part.seeds))


def _of_line(options: BenchOptions, part: Part, line: Line, own: Mapping[str, Any]) -> Setup:
    # What is given for the whole table reaches the methods that have it, such as a corpus.
    known = registry.settings(line.method).model_fields
    settings = {**line.settings, **{name: own[name] for name in own if name in known}}
    return _seedless(_setup(options, part, line.method, settings, line.oracle))


def _setup(
    options: BenchOptions, part: Part, method: str, chosen_settings: Mapping[str, Any], oracle: bool
) -> Setup:
    task = task_of(part.task)
    try:
        settings = effective_settings(method, task, chosen_settings)
    except UnknownName as error:
        if len(options.methods) < 2:
            raise
        raise InputError(f"{method}: {error}; what is set must be known to every method") from None
    admit(method, task, settings, oracle=oracle_of(part.task, oracle))
    if not _runs(options, settings):
        raise InputError(GRAMMAR_REFUSED)
    return Setup(
        part.task,
        method,
        options.model if options.server else options.model or default_specifier(),
        options.evaluator_model,
        oracle,
        part.id or Path(part.data).stem,
        chosen_settings,
        settings,
    )


def oracle_of(task: str, wanted: bool) -> Oracle | bool:
    """Returns the oracle of a task, if there is to be one: its exact check.

    A task without one has a stand-in here: each problem has an oracle that knows its gold answer.
    """
    return _nobody if wanted and not isinstance(task_of(task), Checks) else wanted


async def _nobody(answer: str) -> bool:
    return False


def _seedless(setup: Setup) -> Setup:
    dropped = ("seed", "model", "evaluator_model", "task", *WATCHING)
    resolved = {name: value for name, value in setup.resolved.items() if name not in dropped}
    settings = {name: value for name, value in setup.given.items() if name != "seed"}
    return replace(setup, given=settings, resolved=resolved)
