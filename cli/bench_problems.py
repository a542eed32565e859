"""Chooses the problems that a benchmark searches."""

import random

from thoughtgraph.bench.data import generated, load, where
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.bench.papers.suites import Part
from thoughtgraph.cli.custom import task_of
from thoughtgraph.errors import InputError

MADE = "made"
"""Prefix of `--data` for generated problems."""


def is_made(data: str) -> bool:
    """Returns whether the problems are generated: `data` is `made:TYPES` or empty, not a file."""
    return data.partition(":")[0] in ("", MADE)


def chosen(part: Part, data: str, seed: int) -> list[Record]:
    """Returns the problems of a file or a generator, narrowed by facts, a range and a sample.

    Args:
        part: The facts, the range and the sample size; for `made:TYPES`, the size for each type
            (0: 100), and nothing else.
        data: The file, or `made:TYPES`; empty for all generated problems of the task.
        seed: Seed of the sample or of `made:TYPES`, unless the part has its own.

    Raises:
        InputError: There are too few problems, or `made:TYPES` is to be narrowed.
    """
    task = task_of(part.task)
    seed = seed if part.sample_seed is None else part.sample_seed
    types = data.partition(":")[2]
    if is_made(data) and types:
        if part.where or part.problems:
            raise InputError("made:TYPES draws its problems; choose how many with --sample alone")
        kinds = [kind for kind in types.split(",") if kind]
        return generated(task, kinds, part.sample or 100, seed)
    records = generated(task) if is_made(data) else load(task, data, paragraphs=part.paragraphs)
    if part.where:
        records = where(records, part.where)
    if part.problems:
        first, last = parse_range(part.problems, len(records))
        records = records[first - 1 : last]
    if part.sample > (size := len(records)):
        noun = f"problems of {part.id!r}" if part.id else "problems"
        raise InputError(
            f"{part.sample} {noun} are wanted and {size} are there; take fewer with --sample {size}"
        )
    # All records are shuffled, so that a small sample is the beginning of a larger one.
    shuffled = random.Random(seed).sample(records, len(records))
    return shuffled[: part.sample] if part.sample else records


def parse_range(written: str, size: int) -> tuple[int, int]:
    """Returns the numbers of the first and the last problem of a range such as `901:1000`."""
    first, colon, last = written.partition(":")
    try:
        numbers = int(first or 1), int((last or size) if colon else first)
    except ValueError:
        numbers = 0, 0
    if not 1 <= numbers[0] <= numbers[1] <= size:
        raise InputError(
            f"--problems {written!r} is no range of {size} problems; write A:B, such as 1:{size}"
        )
    return numbers


def parse_shard(written: str) -> tuple[int, int]:
    """Returns the number of the part to run and of all parts, from a text such as `1/4`."""
    if not written:
        return 1, 1
    part, _, parts = written.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise InputError(f"--shard {written!r} is no part; write 1/4 for the first of four")
    return int(part), int(parts)
