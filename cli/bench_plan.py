"""Plans a benchmark from the options of the command line, before anything is spent."""

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
    """Returns the batches to run: setups to compare, with the problems that they search."""
    _check_models(options)
    if options.suite:
        return _suite_batches(options)
    if not options.task:
        raise InputError("name the kind of problems with --task, or a paper's table with --suite")
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


def _specifiers(options: BenchOptions) -> Iterable[str]:
    return filter(None, (options.model or default_specifier(), options.evaluator_model))


def _check_models(options: BenchOptions) -> None:
    """Refuses invalid specifiers; for a server, refuses an oracle and a task from a file."""
    if not options.server:
        for specifier in _specifiers(options):
            check_specifier(specifier)
    elif options.oracle or ".py:" in options.task:
        refused = "--oracle" if options.oracle else "a task of your own"
        raise InputError(f"a server does not take {refused}; leave out --server")


def _suite_batches(options: BenchOptions) -> list[Batch]:
    """Returns the batches of a suite, or of the set and the methods that the options name."""
    if options.sweep:
        raise InputError("a suite has settings of its own; leave out --sweep")
    suite_methods = sorted({line.method for line in suite(options.suite).rows})
    for method in options.methods:
        if method not in suite_methods:
            raise UnknownName(f"method of {options.suite}", method, suite_methods)
    # Before the data are opened: a set without such lines needs no file.
    wanted = [(part, lines) for part in _parts(options) if (lines := _lines(options, part))]
    if not wanted:
        choice = f"{', '.join(options.methods)} on {options.task}"
        raise InputError(f"no line of {options.suite!r} has {choice}; leave one of them out")
    return [_suite_batch(options, part, lines) for part, lines in wanted]


def _parts(options: BenchOptions) -> list[Part]:
    parts = suite(options.suite).parts
    if matches := [part for part in parts if options.task in ("", part.id, part.task)]:
        return matches
    names = {name for part in parts for name in (part.id, part.task)}
    raise UnknownName(f"task or set of {options.suite}", options.task, sorted(names))


def _lines(options: BenchOptions, part: Part) -> list[Line]:
    table = suite(options.suite)
    return [
        line
        for line in table.rows
        if part in table.parts_of(line)
        and not line.same_run_as
        and (not options.methods or line.method in options.methods)
    ]


def _suite_batch(options: BenchOptions, part: Part, lines: Sequence[Line]) -> Batch:
    shared = {**given_settings(options.settings), **limit_settings(options.limits)}
    table = suite(options.suite)
    for name in shared:
        if not any(name in registry.settings(row.method).model_fields for row in table.rows):
            raise InputError(
                f"no method of {options.suite!r} has the setting {name!r}; leave it out"
            )
    setups = [_suite_setup(options, part, line, shared) for line in lines]
    if options.sample:
        part = part.model_copy(update={"sample": options.sample})
    data = part.data if is_made(part.data) else str(set_file(options.data or ".", part.data))
    return Batch(setups, chosen(part, data, options.sample_seed), range(part.seeds))


def _suite_setup(options: BenchOptions, part: Part, line: Line, shared: Mapping[str, Any]) -> Setup:
    # A setting for the whole suite, such as a corpus, goes to the methods that have it.
    fields = registry.settings(line.method).model_fields
    settings = {**line.settings, **{name: shared[name] for name in shared if name in fields}}
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
        raise InputError(f"{method}: {error}; all methods must have the setting") from None
    admit(method, task, settings, oracle=oracle_of(part.task, oracle))
    # Only a LangGraph server itself knows whether its models take a grammar.
    models = () if options.server else _specifiers(options)
    if settings.get("grammar") and not all(map(takes_grammar, models)):
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
    """Returns whether a task's exact check is the oracle, or a stand-in if the task has none.

    The stand-in serves to check settings; each problem then gets an oracle with its gold answer.
    """
    return _stand_in if wanted and not isinstance(task_of(task), Checks) else wanted


async def _stand_in(answer: str) -> bool:
    return False


def _seedless(setup: Setup) -> Setup:
    dropped = ("seed", "model", "evaluator_model", "task", *WATCHING)
    resolved = {name: value for name, value in setup.resolved.items() if name not in dropped}
    settings = {name: value for name, value in setup.given.items() if name != "seed"}
    return replace(setup, given=settings, resolved=resolved)
