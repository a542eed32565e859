"""What checking one step of a plan costs: `python -m thoughtgraph.bench.speed.plan_speed`.

Every step of every gold plan is judged as a search judges it, alone, in the environment that was
stored as JSON after the step before.
"""

import argparse
import gc
import json
import statistics

from thoughtgraph.bench.questions.question_types import TYPES
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.bench.speed.mixed_speed import checking
from thoughtgraph.tasks.scenes.question_reading import read
from thoughtgraph.tasks.scenes.step_meaning import sense_of


def milliseconds_a_step(questions: list[SceneQuestion], profile: str) -> float:
    """Returns the mean processor time of a verdict on one step, scenes read beforehand.

    Each question is read and judged for the first time: nothing is known from an earlier run.
    """
    sense_of.cache_clear()
    read.cache_clear()
    gc.collect()
    gc.freeze()  # the questions themselves are no cost of checking
    return 1000 * statistics.fmean(checking(questions, profile))


def main() -> None:
    """Prints the time a step for both profiles."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    reader.add_argument("--count", type=int, default=1000, help="questions in all")
    count = -(-reader.parse_args().count // (2 * len(TYPES)))
    questions = [q for s in ("ptr", "clevr") for kind in TYPES for q in generate(s, kind, count, 0)]
    size = len(json.dumps(questions[0].scene))
    print(f"{len(questions)} questions, {sum(q.hop for q in questions)} steps, scenes of {size} B")
    for profile in ("paper", "grounded"):
        least = min(milliseconds_a_step(questions, profile) for _ in range(3))
        print(f"{profile}: {least:.3f} ms a step, the least of three runs")


if __name__ == "__main__":
    main()
