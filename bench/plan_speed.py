"""What checking one step of a plan costs: `python -m thoughtgraph.bench.plan_speed`.

Every step of every gold plan is judged as a search judges it, alone, in the environment that was
stored as JSON after the step before.
"""

import argparse
import gc
import json
import time

from thoughtgraph.bench.question_types import TYPES
from thoughtgraph.bench.scene_questions import SceneQuestion, generate
from thoughtgraph.tools.plan_evaluator import Rules, judge
from thoughtgraph.tools.question_reading import read
from thoughtgraph.tools.scene import Scene
from thoughtgraph.tools.step_meaning import sense_of


def milliseconds_a_step(questions: list[SceneQuestion], rules: Rules) -> float:
    """Returns the mean processor time of a verdict on one step, scenes read beforehand.

    Each question is read and judged for the first time: nothing is known from an earlier run.
    """
    scenes = [Scene.from_json(question.scene) for question in questions]
    sense_of.cache_clear()
    read.cache_clear()
    gc.collect()
    gc.freeze()  # the questions themselves are no cost of checking
    steps = 0
    begin = time.process_time()
    for question, scene in zip(questions, scenes, strict=True):
        state = None
        for line in question.plan:
            judged = judge(question.question, scene, state, [line], rules)
            state = judged.state
            steps += 1
    return (time.process_time() - begin) * 1000 / steps


def main() -> None:
    """Prints the time a step for both profiles."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    reader.add_argument("--count", type=int, default=1000, help="questions in all")
    count = -(-reader.parse_args().count // (2 * len(TYPES)))
    questions = [q for s in ("ptr", "clevr") for kind in TYPES for q in generate(s, kind, count, 0)]
    size = len(json.dumps(questions[0].scene))
    print(f"{len(questions)} questions, {sum(q.hop for q in questions)} steps, scenes of {size} B")
    for profile in ("paper", "grounded"):
        least = min(milliseconds_a_step(questions, Rules(profile=profile)) for _ in range(3))
        print(f"{profile}: {least:.3f} ms a step, the least of three runs")


if __name__ == "__main__":
    main()
