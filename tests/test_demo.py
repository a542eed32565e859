"""The demonstration that `thoughtgraph solve` runs without arguments, with a scripted model."""

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fake_server import FakeServer, Seen

from thoughtgraph import registry
from thoughtgraph.bench.questions.packaged_questions import SHOWN, demonstrations
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.cli import demo
from thoughtgraph.cli.app import main
from thoughtgraph.cli.run_config import SolveOptions, configure
from thoughtgraph.cli.runs import Runs
from thoughtgraph.tasks.scenes.scenes import numbered

Call = Callable[..., tuple[int, str, str]]
SEED: int = demo.SETTINGS["seed"]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path))

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["thoughtgraph", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def asked(seed: int) -> SceneQuestion:
    return generate("ptr", "sum", 1, seed % SHOWN)[0]


class Planner:
    """Writes the gold plan; its second and third call go wrong."""

    def __init__(self, question: SceneQuestion) -> None:
        self.plan = list(question.plan)
        self.prompts: list[str] = []

    def __call__(self, seen: Seen) -> str:
        self.prompts.append(seen.prompt)
        if len(self.prompts) == 2:
            return numbered([*self.plan[:2], 'num1 = count_part("support",obj1)'])
        if len(self.prompts) == 3:
            return "I am sorry."
        return numbered(self.plan)


def test_it_tells_what_was_tried_and_whether_the_answer_is_right(
    command: Call, tmp_path: Path
) -> None:
    question, files = asked(SEED), (tmp_path / "run.json", tmp_path / "tree.html")
    planner = Planner(question)
    with FakeServer(planner) as fake:
        arguments = ["--model", fake.specifier, "--json", str(files[0]), "--html", str(files[1])]
        code, out, err = command("solve", *arguments)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert f"question: {question.question}" in lines
    [picture] = [line.split()[1] for line in lines if line.startswith("picture:")]
    assert Path(picture).read_text().lstrip().startswith("<svg")
    kinds = [line.split()[0] for line in lines]
    assert kinds.count("reject") == 2
    assert any(line.startswith("reject") and "E_VOCAB" in line for line in lines)
    assert any(line.startswith("reject") and "I am sorry." in line for line in lines)
    assert "accept" in kinds
    assert "backtrack" not in kinds, "another try from the same place is no way back"
    assert f"answer:   {question.answer}" in lines
    assert "right:    yes, it is the gold answer" in lines
    assert any(line.startswith("tried:") and "2 refused" in line for line in lines)
    assert all(any(step in line and "→" in line for line in lines) for step in question.plan)
    result = json.loads(files[0].read_text())
    assert json.loads(result["problem"]).keys() == {"question", "type", "scene"}
    assert "gold" not in result
    assert "data:image/svg+xml;base64," in files[1].read_text()


def test_a_wrong_answer_is_said_to_be_wrong(command: Call) -> None:
    question = asked(0)
    spoilt = numbered([*question.plan[:-1], question.plan[-1].replace("num2", "num1")])
    with FakeServer(lambda seen: spoilt) as fake:
        arguments = ["--model", fake.specifier, "--set", "evaluator=paper", "--set", "seed=0"]
        code, out, _ = command("solve", *arguments)
    assert code == 0
    assert f"right:    no, it is {question.answer!r}" in out


def test_without_an_answer_the_right_one_is_told(command: Call) -> None:
    with FakeServer(lambda seen: "no") as fake:
        code, out, _ = command("solve", "--model", fake.specifier)
    assert code == 1
    assert f"right:    no, it is {asked(SEED).answer!r}" in out
    assert "finished without an answer, as no thought was left" in out


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


def test_a_run_that_another_version_began_is_refused_in_one_line(
    command: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path))
    runs = Runs(tmp_path)
    run = runs.add(configure(SolveOptions()))
    with sqlite3.connect(runs.path) as db:
        db.execute("UPDATE runs SET plan = replace(plan, '\"format\": ', '\"format\": 1')")
    db.close()
    code, _, err = command("solve", "--resume", run)
    assert code == 2
    assert "another version" in err
    assert err.count("\n") == 1


def test_a_seed_that_is_none_is_refused_in_one_line(command: Call) -> None:
    code, _, err = command("solve", "--set", "seed=-3")
    assert code == 2
    assert err.startswith("error: setting 'seed'")
    assert err.count("\n") == 1


def test_a_method_that_cannot_plan_is_refused(command: Call) -> None:
    code, _, err = command("solve", "--method", "tot_bfs")
    assert code == 2
    assert "'tot_bfs' cannot run on task 'ptr'" in err


def test_a_problem_of_ones_own_gets_its_picture_too(command: Call, tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    file.write_text(registry.TASKS["clevr"].example)
    plan = 'Step 1:obj1 = filter_object("cube",all_obj)\nStep 2:ans = query_color(obj1)'
    with FakeServer(lambda seen: plan) as fake:
        arguments = ["--task", "clevr", "--model", fake.specifier]
        code, out, _ = command("solve", f"@{file}", *arguments)
    assert code == 0
    assert "tomt_os on clevr" in out
    assert "question: What color is the cube?" in out
    assert "picture:" in out
    assert "answer:   red" in out
    assert "verified: unknown" in out
