"""Which problems of a data set a benchmark searches."""

import random

from thoughtgraph.bench.data import generated, load, where
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.bench.papers.suites import Part
from thoughtgraph.cli.custom import task_of
from thoughtgraph.errors import InputError

MADE = "made"
"""What `--data` begins with where problems are made up."""


def is_made(data: str) -> bool:
    """Returns whether problems are made up, not read: `made:TYPES`, or nothing is named."""
    return data.partition(":")[0] in ("", MADE)


def chosen(part: Part, data: str, seed: int) -> list[Record]:
    """Returns the problems: those of the file, a range of them, a sample of that.

    Args:
        part: Which ones.
        data: The file, or `made:TYPES`, or empty.
        seed: Seed of the sample, where the part has none of its own.
    """
    task = task_of(part.task)
    seed = seed if part.sample_seed is None else part.sample_seed
    types = data.partition(":")[2]
    if is_made(data) and types:
        kinds = [kind for kind in types.split(",") if kind]
        return generated(task, kinds, part.sample or 100, seed)
    records = generated(task) if is_made(data) else load(task, data, paragraphs=part.paragraphs)
    if part.where:
        records = where(records, part.where)
    if part.problems:
        first, last = parse_range(part.problems, len(records))
        records = records[first - 1 : last]
    if part.sample > (most := len(records)):
        what = f"problems of {part.id!r}" if part.id else "problems"
        raise InputError(
            f"{part.sample} {what} are wanted and {most} are there; take fewer with --sample {most}"
        )
    # Shuffled whole: a smaller sample is the beginning of a larger one, which can go on from it.
    shuffled = random.Random(seed).sample(records, len(records))
    return shuffled[: part.sample] if part.sample else records


def parse_range(written: str, size: int) -> tuple[int, int]:
    """Returns the first and the last problem of a range such as `901:1000`, both included."""
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
    """Returns which part of the problems is run and of how many, such as `1/4`."""
    if not written:
        return 1, 1
    part, _, of = written.partition("/")
    if not (part.isdecimal() and of.isdecimal() and 1 <= int(part) <= int(of)):
        raise InputError(f"--shard {written!r} is no part; write 1/4 for the first of four")
    return int(part), int(of)
