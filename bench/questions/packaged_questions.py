"""Writes the solved examples in the prompts about scenes.

    python -m thoughtgraph.bench.questions.packaged_questions FOLDER

FOLDER is the checkout. `prompts/plans` holds 20 examples per type and style. Their seed is reserved
for them: questions from any other seed are about other scenes.
"""

import argparse
import json
from pathlib import Path
from typing import get_args

from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.tools.scenes.vocabulary import Style

SEED = 20_230_818
"""Reserved for the examples: the day the paper appeared (ours)."""
SIZE = 20
"""Examples per type (section 3.1: 20)."""
SPARE = 5
"""Extra questions, because some are duplicates or appear in a public test set."""
ASKED = frozenset({"How many other things are the same size as the matte ball?"})
"""Generated questions that CLEVR's validation split asks word for word, about other scenes."""


def examples(style: Style, kind: Type) -> str:
    """Returns the examples of a type as JSON, one per line, without scenes and answers."""
    plans = {q.question: list(q.plan) for q in generate(style, kind, SIZE + SPARE, SEED)}
    selected = [(q, plan) for q, plan in plans.items() if q not in ASKED][:SIZE]
    lines = [json.dumps({"question": q, "plan": plan}) for q, plan in selected]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(folder: Path) -> None:
    """Writes the example files of a checkout."""
    for style in get_args(Style):
        for kind in get_args(Type):
            file = folder / "prompts" / "plans" / f"{style}_{kind}.json"
            file.write_text(examples(style, kind), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    main(parser.parse_args().folder)
