"""What Thought Rollback asks about steps, and how analyses are read."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.letters import run
from support.scripted import Call
from support.stepping import MARKER, STEPPING, mistaken

from thoughtgraph.reasoning import Faults
from thoughtgraph.tasks.rollback_prompts import bad_steps, score_of, single_step, unlabelled

TABLE = (Path(__file__).parent / "support" / "step_readings.txt").read_text()


def readings(of: str) -> list[tuple[str, str]]:
    """The texts of one part of the table, each with what is read out of it."""
    part = next(part for part in TABLE.split("== ") if part.startswith(of))
    rows = [re.split("  +", row, maxsplit=1) for row in part.splitlines()[1:]]
    return [
        (text.replace("\\n", "\n").replace("<nothing>", ""), expected)
        for expected, texts in rows
        for text in texts.split(" ¦ ")
    ]


LABELLED = [(f"Bad step index: {text}", steps) for text, steps in readings("bad_steps: after")]


@pytest.mark.parametrize(("text", "steps"), [*LABELLED, *readings("bad_steps: with")])
def test_bad_steps_are_read_out_of_an_analysis(text: str, steps: str) -> None:
    bad = json.loads(steps.rstrip("?"))
    assert bad_steps(text, 5) == Faults(bad, malformed=int(steps.endswith("?")))


@pytest.mark.parametrize(("text", "score"), readings("score_of"))
def test_scores_are_read(text: str, score: str) -> None:
    assert score_of(text) == json.loads(score)


@pytest.mark.parametrize(("text", "step"), [*readings("unlabelled"), ("  plain  ", '"plain"')])
def test_labels_are_dropped(text: str, step: str) -> None:
    assert unlabelled(text) == json.loads(step)


@pytest.mark.parametrize(
    ("text", "number", "step"),
    [
        ("Step 1: a\nb\n\n**Step 2.** c\nThe final solution is 7", 1, "Step 1: a\nb\n\n"),
        ("a\nStep 2: c", 1, "a\n"),
        ("Step 1. a\nStep 2. b\nStep 3. c\nStep 4. d", 3, "Step 3. c\n"),
        ("Step 1. a\nStep 2. b", 3, "Step 1. a\nStep 2. b"),
        ("\nStep 2. b", 1, "Step 2. b"),
        ("By Step 2: nothing.\nSo a step 3: b", 1, "By Step 2: nothing.\nSo a step 3: b"),
        ("Step 3. c", 3, "Step 3. c"),
        ("Next step 2: b\nNext step 3: c", 2, "Next step 2: b\n"),
        ("<steps>\nStep 2. b\n</steps>", 2, "Step 2. b"),
        ("<steps>\nStep 1. a\nStep 2. b\n</steps>\nDone.", 2, "Step 2. b\n\nDone."),
        ("", 1, ""),
    ],
)
def test_a_response_is_one_step(text: str, number: int, step: str) -> None:
    assert single_step(text, number) == step


@pytest.mark.parametrize("protocol", ["two_call", "single_call"])
@pytest.mark.parametrize(
    ("text", "bad", "fine"),
    [
        ("Bad step index: 3, 2", [2, 3], True),
        ("Bad step index: None", [], True),
        ("Bad step index: 0, 2, 9", [2], False),
        ("Bad step index: -2", [], False),
        ("", [], False),
    ],
)
async def test_where_an_analysis_leads(
    text: str, bad: list[int], fine: bool, protocol: str
) -> None:
    def fifth(call: Call) -> str:
        if call.role == "generate":
            return f"thought {call.draw}"
        shown = re.findall(r"process (?:of|containing) (\d+) step", call.prompt)[-1]
        return text if shown == "5" else "Bad step index: None"

    settings: dict[str, Any] = {"steps": 5, "solutions": 1000, "incoming": 1, "parallel": False}
    out, _ = await run("rollback", STEPPING, fifth, protocol=protocol, **settings)
    back = {"to": str(bad[0] - 1), "step": bad[0]} if bad else None
    assert (out["tree"]["5"]["bad"], out["tree"]["5"].get("rollback")) == (bad, back)
    ends = sum("bad" in thought for thought in out["tree"].values() if thought["depth"] == 5)
    role = "extract_index" if text and protocol == "two_call" else "analyse"
    assert out["usage"].get("parse_errors", {}) == ({} if fine else {role: ends})


@pytest.mark.parametrize("parallel", [True, False])
async def test_no_bad_step_is_read_out_of_an_empty_analysis(parallel: bool) -> None:
    def silent(call: Call) -> str:
        if call.role == "generate":
            return f"{MARKER} 4" if "<steps>" in call.prompt else "a"
        return " \n" if call.role == "analyse" else "Bad step index: 1"

    out, seen = await run("rollback", STEPPING, silent, parallel=parallel)
    assert Counter(call.role for call in seen) == {"generate": 2, "analyse": 2}
    assert all("no step was found to be bad" in out["tree"][key]["note"] for key in "12")
    assert (out["answer"], out["stop_reason"]) == ("4", "exhausted")
    assert out["usage"]["parse_errors"] == {"analyse": 2}


async def test_the_system_prompts_are_those_of_appendix_b3() -> None:
    """One step a response, and no error of an experience again where one may be shown."""
    searches: list[tuple[str, Any]] = [
        ("rollback", {}),
        ("rollback", {"experiences": False}),
        ("chain", {}),
        ("level_tot", {"steps": 1}),
    ]
    for at, (method, settings) in enumerate(searches):
        context = {**settings, "limit_requests": 2}
        _, seen = await run(method, "gsm8k", mistaken, "4 + 9?", **context)
        said = {call.role: call.prompt.partition("\n")[0] for call in seen}
        assert "one reasoning step" in said["generate"]
        assert ("avoid every error" in said["generate"]) == ("experience" in said["generate"])
        assert ("experience" in said["generate"]) == (at == 0)
        assert "Recompute" in said.get("analyse", "Recompute")


@pytest.mark.parametrize("protocol", ["two_call", "single_call"])
@pytest.mark.parametrize(
    ("task", "ends", "variables"),
    [
        ("gsm8k", "The final solution is 13", True),
        ("math", "The final solution is x + 1", False),
        ("aqua", "The final choice is B", False),
        ("game24", "operation: 4 + 9 = 13", False),
    ],
)
async def test_a_finished_path_is_analysed_by_the_words_of_appendix_b3(
    task: str, ends: str, variables: bool, protocol: str
) -> None:
    """Variables without a value are the official code's question, and asked about numbers alone."""

    def reply(call: Call) -> str:
        if call.role == "generate":
            return ends if "<steps>" in call.prompt else "4 + 9 = 13"
        return "fine\nBad step index: None"

    problem = "4 9 10 13" if task == "game24" else "What is it?\nA) 1\nB) 2"
    out, seen = await run("rollback", task, reply, problem, protocol=protocol)
    asked = [call.prompt.rpartition("</steps>")[2] for call in seen if call.role == "analyse"]
    lasting = ["never replaced by its value" in text for text in asked]
    assert out["tree"][str(len(asked))]["status"] == "terminal"
    assert lasting == [False] * (len(asked) - 1) + [variables]
    assert variables or asked[-1] == asked[0], "it asks what every analysis asks"
    assert not any("final solution" in text for text in asked)
