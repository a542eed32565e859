"""Makes the questions that the package ships: examples for prompts, scenes for the demonstration.

    python -m thoughtgraph.bench.questions.packaged_questions FOLDER

FOLDER is the checkout. `prompts/plans` holds the solved examples that prompts about scenes show, 20
for each type and style; their seed is kept for them: questions made with any other one are about
other scenes. `cli/demo.json` holds what `thoughtgraph solve` asks without arguments.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.tools.scenes.vocabulary import Style

SEED = 20_230_818
"""Kept for the examples: the day the paper appeared (ours)."""
SIZE = 20
"""Examples a type (section 3.1: 20)."""
SPARE = 5
"""More that are made, because a question may come twice, or be asked in a public test."""
ASKED = frozenset({"How many other things are the same size as the matte ball?"})
"""Drawn questions that CLEVR's validation split asks in the same words, of other scenes."""
SHOWN = 32
"""Scenes of the demonstration: those of the seeds from 0 on (ours)."""


def examples(style: Style, kind: Type) -> str:
    """Returns the examples of one type as JSON: one a line, no scene, no answer."""
    made = {q.question: list(q.plan) for q in generate(style, kind, SIZE + SPARE, SEED)}
    kept = [(q, plan) for q, plan in made.items() if q not in ASKED][:SIZE]
    return _lines([{"question": q, "plan": plan} for q, plan in kept])


def demonstrations() -> str:
    """Returns the problems of the demonstration as JSON: one a line, with its gold answer."""
    made = [generate("ptr", "sum", 1, seed)[0] for seed in range(SHOWN)]
    return _lines([{"problem": json.loads(q.problem()), "gold": q.answer} for q in made])


def _lines(entries: Sequence[Any]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, entries)) + "\n]\n"


def main(folder: Path) -> None:
    """Writes all files of a checkout."""
    for style in get_args(Style):
        for kind in get_args(Type):
            file = folder / "prompts" / "plans" / f"{style}_{kind}.json"
            file.write_text(examples(style, kind), encoding="utf-8")
    (folder / "cli" / "demo.json").write_text(demonstrations(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    main(parser.parse_args().folder)
