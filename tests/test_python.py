"""What a user of the library meets first: one call, a result to keep and show, clear refusals."""

import asyncio
import html as markup
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.players import add_up

import thoughtgraph as tg

GAME: dict[str, Any] = {"task": "game24", "method": "tot_bfs", "breadth": 1}
PUZZLE = {"problem": "3 5 7 9"}


REPLY = add_up


@pytest.fixture
def model(server: FakeServer) -> str:
    return server.specifier


async def test_a_script_solves_with_one_call_and_a_running_loop_is_no_hindrance(model: str) -> None:
    out = tg.solve("3 5 7 9", model=model, **GAME)
    assert (out["answer"], out["stop_reason"]) == ("3 + 5 + 7 + 9", "finished")
    assert out["settings"]["breadth"] == 1
    assert "keys: " in repr(out) and len(repr(out)) < 400
    again = await asyncio.to_thread(tg.solve, "3 5 7 9", model=model, **GAME)
    assert out["answer"] == again["answer"]
    page = tg.html(dict(out))
    assert page.lower().startswith("<!doctype html>")
    assert repr(page) == f"<Page answer={out['answer']!r}, {out['outcome']}>"
    assert len(repr(page)) < 300
    shown = page._repr_html_()
    assert shown == out._repr_html_(), "what a notebook shows"
    inside = shown.partition('srcdoc="')[2].partition('"')[0]
    assert markup.unescape(inside) == page


def test_the_method_is_chosen_as_the_command_chooses_it(model: str) -> None:
    assert tg.solve("3 5 7 9", task="game24", model=model, breadth=1)["method"] == "tot_bfs"
    with pytest.raises(tg.UnknownName, match="did you mean 'game24'"):
        tg.solve("3 5 7 9", task="game25", model=model)


SLOW = """
import signal
# Of tests that a shell runs in the background everything inherits that this signal is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
import thoughtgraph as tg
from support.scripted import ScriptedChat
def asked(call):
    print("asked", flush=True)
    return 60
tg.solve("3 5 7 9", task="game24", model=ScriptedChat(reply=lambda _: "no", delay=asked))
"""


@pytest.mark.ci
def test_ctrl_c_ends_a_call_at_once() -> None:
    script = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert script.stdout is not None
    assert script.stdout.readline() == "asked\n"
    script.send_signal(signal.SIGINT)
    _, err = script.communicate(timeout=600)
    assert "KeyboardInterrupt" in err


@pytest.mark.usefixtures("own_environment")
async def test_what_python_keeps_is_what_the_command_writes_and_views(
    model: str, command: Command
) -> None:
    graph = tg.build("tot_bfs", task="game24", model=model)
    tg.save(await graph.ainvoke(PUZZLE, context={"breadth": 1}), "python.json")
    options = ["--task", "game24", "--model", model, "--set", "breadth=1", "--json", "command.json"]
    assert (await asyncio.to_thread(command, "solve", "3 5 7 9", *options))[0] == 0
    ours, theirs = (json.loads(Path(f"{name}.json").read_text()) for name in ("python", "command"))
    assert [*ours, "prompts"] == list(theirs)
    assert ours["tree"].keys() == theirs["tree"].keys()
    for name in ("method", "task", "problem", "answer", "stop_reason"):
        assert ours[name] == theirs[name]
    assert theirs["settings"]["model"] == model
    assert model.endswith(f"#{ours['settings']['model']}")
    assert (await asyncio.to_thread(command, "view", "python.json"))[0] == 0
    tg.save(ours, "again.json")
    tg.save(ours, "page.html")
    assert json.loads(Path("again.json").read_text()) == ours
    assert Path("page.html").read_text() == Path("python.html").read_text()


def test_what_is_no_result_is_not_kept(tmp_path: Path) -> None:
    for nothing in ({"answer": "7"}, {}, [1]):
        with pytest.raises(tg.InputError, match="no result"):
            tg.save(nothing, tmp_path / "x.json")  # type: ignore[arg-type]
    with pytest.raises(tg.InputError, match="no folder"):
        tg.save({}, tmp_path / "none" / "x.json")
    assert not list(tmp_path.iterdir())


SETTING = "'breadth' is a setting"
MISPLACED: list[tuple[Any, dict[str, Any], str]] = [
    ({**PUZZLE, "breadth": 3}, {}, f"{SETTING}.*the input.*context="),
    (PUZZLE, {"configurable": {"breadth": 3}}, f"{SETTING}.*configurable.*context="),
    (PUZZLE, {"breadth": 3}, f"{SETTING}.*context="),
    (PUZZLE, {"configurable": {"model": "x"}}, "'model' is a setting"),
    ({"problm": "3 5 7 9"}, {}, "no problem given; pass"),
]
"""An input and a configuration with something that belongs elsewhere, and what is said of it."""


@pytest.mark.parametrize(("given", "config", "why"), MISPLACED)
async def test_a_setting_in_the_wrong_place_is_refused(
    given: Any, config: Any, why: str, model: str
) -> None:
    graph = tg.build("tot_bfs", task="game24", model=model)
    with pytest.raises(tg.InputError, match=why):
        await graph.ainvoke(given, config)
    with pytest.raises(tg.InputError, match=why):
        async for _ in graph.with_config(config).astream(given):
            pass


async def test_a_wrong_call_is_answered_with_the_remedy(model: str) -> None:
    graph = tg.build("tot_bfs", task="game24", model=model)
    with pytest.raises(tg.InputError, match=r"await graph.ainvoke.*runnable\(graph\).*solve\("):
        graph.invoke(PUZZLE)
    with pytest.raises(tg.InputError, match="async"):
        list(graph.stream(PUZZLE))
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"breadth": 0}, tg.SettingError, "setting 'breadth': .*, not 0"),
        ({"bredth": 3}, tg.UnknownName, "did you mean 'breadth'"),
        ({"checkpoint": None}, tg.UnknownName, "did you mean 'checkpointer'"),
        ({"model": lambda prompt: "24"}, tg.InputError, "no function"),
    ]
    for options, kind, why in wrong:
        with pytest.raises(kind, match=why):
            tg.build("tot_bfs", **options)
