"""`thoughtgraph demo` with a scripted model."""

import json
from pathlib import Path

import pytest
from support.command import Command
from support.fake_server import FakeServer, Seen

from thoughtgraph.bench.questions.packaged_questions import SHOWN
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.cli import demo
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
        code, out, err = command("demo", *told)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert f"question: {question.question}" in lines
    [picture] = [line.split()[1] for line in lines if line.startswith("picture:")]
    assert Path(picture).read_text().lstrip().startswith("<svg")
    kinds = [line.split()[0] for line in lines]
    assert "called" in kinds
    assert "backtracked" not in kinds, "another try from the same place is no way back"
    refused, sorry = (line for line in lines if line.startswith("pruned"))
    assert "E_VOCAB" in refused and "E_SYNTAX" in sorry
    assert any(line.startswith("made") and "I am sorry." in line for line in lines)
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
            code, out, _ = command("demo", "--model", fake.specifier, *options)
        assert code == end[0] and end[1] in out
        assert f"right:    no, it is {asked(seed).answer!r}" in out
