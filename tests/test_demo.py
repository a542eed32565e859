"""The demonstration that `thoughtgraph solve` runs without arguments, with a scripted model."""

import json
import sqlite3
from pathlib import Path

import pytest
from support.command import Command
from support.fake_server import FakeServer, Seen

from thoughtgraph import registry
from thoughtgraph.bench.questions.packaged_questions import SHOWN, demonstrations
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.cli import demo
from thoughtgraph.cli.run_config import SolveOptions, configure
from thoughtgraph.cli.runs import Runs
from thoughtgraph.tasks.scenes.scenes import numbered

SEED: int = demo.SETTINGS["seed"]
pytestmark = pytest.mark.usefixtures("own_environment")


def asked(seed: int) -> SceneQuestion:
    return generate("ptr", "sum", 1, seed % SHOWN)[0]


def test_it_tells_what_was_tried_and_whether_the_answer_is_right(command: Command) -> None:
    """The model writes the gold plan; its second and third call go wrong."""
    question, prompts = asked(SEED), list[str]()
    plan = list(question.plan)

    def planner(seen: Seen) -> str:
        prompts.append(seen.prompt)
        if len(prompts) == 2:
            return numbered([*plan[:2], 'num1 = count_part("support",obj1)'])
        return "I am sorry." if len(prompts) == 3 else numbered(plan)

    with FakeServer(planner) as fake:
        told = ["--model", fake.specifier, "--json", "run.json", "--html", "tree.html"]
        code, out, err = command("solve", *told)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert f"question: {question.question}" in lines
    [picture] = [line.split()[1] for line in lines if line.startswith("picture:")]
    assert Path(picture).read_text().lstrip().startswith("<svg")
    kinds = [line.split()[0] for line in lines]
    assert "accept" in kinds
    assert "backtrack" not in kinds, "another try from the same place is no way back"
    refused, sorry = (line for line in lines if line.startswith("reject"))
    assert "E_VOCAB" in refused and "I am sorry." in sorry
    assert f"answer:   {question.answer}" in lines
    assert "right:    yes, it is the gold answer" in lines
    assert any(line.startswith("tried:") and "2 refused" in line for line in lines)
    assert all(any(step in line and "→" in line for line in lines) for step in question.plan)
    result = json.loads(Path("run.json").read_text())
    assert json.loads(result["problem"]).keys() == {"question", "type", "scene"}
    assert "gold" not in result
    assert "data:image/svg+xml;base64," in Path("tree.html").read_text()


def test_a_wrong_answer_or_none_is_told_beside_the_right_one(command: Command) -> None:
    question = asked(0)
    spoilt = numbered([*question.plan[:-1], question.plan[-1].replace("num2", "num1")])
    wrong = ["--set", "evaluator=paper", "--set", "seed=0"]
    none = "finished without an answer, as no thought was left"
    for said, options, seed, end in ((spoilt, wrong, 0, (0, "")), ("no", [], SEED, (1, none))):
        with FakeServer(lambda seen, said=said: said) as fake:
            code, out, _ = command("solve", "--model", fake.specifier, *options)
        assert code == end[0] and end[1] in out
        assert f"right:    no, it is {asked(seed).answer!r}" in out


def test_another_seed_is_another_scene_and_the_gold_answer_is_kept_apart(tmp_path: Path) -> None:
    one, two = (configure(SolveOptions(settings=[f"seed={seed}"])) for seed in (SEED, 7))
    assert one.problem != two.problem
    assert one.problem == configure(SolveOptions()).problem
    assert (one.gold, two.gold) == (asked(SEED).answer, asked(7).answer)
    assert one.settings["evaluator"] == "grounded"
    runs = Runs(tmp_path)
    assert runs.config(runs.add(two)) == two, "a resumed run is compared with it too"


def test_the_questions_are_what_the_generator_makes_from_the_first_seeds() -> None:
    file = Path(__file__).parents[1] / "cli" / "demo.json"
    assert file.read_text(encoding="utf-8") == demonstrations(), (
        "run `python -m thoughtgraph.bench.questions.packaged_questions .`"
    )
    for seed in (0, 19, SHOWN - 1):
        question = generate("ptr", "sum", 1, seed)[0]
        assert demo.demonstration(seed) == (question.problem(), question.answer)
    assert demo.demonstration(SHOWN + 3) == demo.demonstration(3), "later seeds begin anew"


def test_what_cannot_run_is_refused_in_one_line(command: Command) -> None:
    runs = Runs()
    run = runs.add(configure(SolveOptions()))
    with sqlite3.connect(runs.path) as db:
        db.execute("UPDATE runs SET plan = replace(plan, '\"format\": ', '\"format\": 1')")
    db.close()
    refused = {
        ("--resume", run): "another version",
        ("--set", "seed=-3"): "error: setting 'seed'",
        ("--method", "tot_bfs"): "'tot_bfs' cannot run on task 'ptr'",
    }
    for arguments, words in refused.items():
        code, _, err = command("solve", *arguments)
        assert code == 2 and words in err and err.count("\n") == 1


def test_a_problem_of_ones_own_gets_its_picture_too(command: Command) -> None:
    Path("problem.json").write_text(registry.TASKS["clevr"].example)
    plan = 'Step 1:obj1 = filter_object("cube",all_obj)\nStep 2:ans = query_color(obj1)'
    with FakeServer(lambda seen: plan) as fake:
        told = ["--task", "clevr", "--model", fake.specifier]
        code, out, _ = command("solve", "@problem.json", *told)
    assert code == 0
    shown = ("tomt_os on clevr", "question: What color is the cube?", "picture:")
    for words in (*shown, "answer:   red", "verified: unknown"):
        assert words in out
