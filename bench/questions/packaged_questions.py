"""Makes the solved examples that prompts about scenes show.

    python -m thoughtgraph.bench.questions.packaged_questions FOLDER

FOLDER is the checkout. `prompts/plans` holds 20 for each type and style; their seed is kept for
them: questions made with any other one are about other scenes.
"""

import argparse
import json
from pathlib import Path
from typing import get_args

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


def examples(style: Style, kind: Type) -> str:
    """Returns the examples of one type as JSON: one a line, no scene, no answer."""
    made = {q.question: list(q.plan) for q in generate(style, kind, SIZE + SPARE, SEED)}
    kept = [(q, plan) for q, plan in made.items() if q not in ASKED][:SIZE]
    lines = [json.dumps({"question": q, "plan": plan}) for q, plan in kept]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(folder: Path) -> None:
    """Writes all files of a checkout."""
    for style in get_args(Style):
        for kind in get_args(Type):
            file = folder / "prompts" / "plans" / f"{style}_{kind}.json"
            file.write_text(examples(style, kind), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    main(parser.parse_args().folder)
