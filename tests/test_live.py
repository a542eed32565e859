"""What a terminal shows of a search, line by line."""

import io
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from rich.cells import cell_len
from rich.console import Console
from support.rows import tree_of
from support.scripted import Call, Reply, ScriptedChat
from support.stepping import mistaken

import thoughtgraph as tg
from thoughtgraph.cli import catalog, ports, text
from thoughtgraph.cli.labels import distinct
from thoughtgraph.cli.screen.events import Event
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import STREAM, LiveState, channels
from thoughtgraph.cli.screen.progress import Slot, slots_of
from thoughtgraph.cli.text import wrapped
from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.tree import Tree

HOSTILE = [
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "[bold]not markup[/bold] [/] [link=http://x]",
    "right\u202eto left\u2066",
    "carriage\rreturn and\nline\u2028breaks\ttabs\x00",
    "wide 漢字" * 40,
    "family 👩‍👩‍👧‍👦 flag 🇫🇷 heart ❤️" * 10,
    "\ud800 half a pair",
    "x" * 5_000,
    "",
]


def terminal(width: int = 80, height: int = 24) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system=None,
        width=width,
        height=height,
        legacy_windows=False,
    )


def watching(tree: Tree, **state: Any) -> LiveState:
    return LiveState({"problem": "4 9 10 13", "thoughts": tree, **state})


def frame(watch: LiveState, width: int = 80, height: int = 24, events: Any = ()) -> list[str]:
    console = terminal(width, height)
    screen = LiveScreen(console, "run x: tot_bfs on game24", clock=lambda: 0.0)
    screen._state = watch
    screen.tell(events)
    with console.capture() as captured:
        console.print(screen)
    return captured.get().rstrip("\n").split("\n")


def test_what_tells_little_or_everything_is_kept() -> None:
    same = ["It is the same sentence twice."] * 2
    assert distinct(same) == same
    equations = ["10 - 4 = 6 (left: 6 9 13)", "10 - 9 = 1 (left: 1 4 13)"]
    assert distinct(equations) == equations, "a short beginning is no gain"
    assert distinct([]) == []
    prefix = ["Therefore the answer is seven", "Therefore the answer is"]
    assert distinct(prefix) == ["…is seven", "…is"], "a word is always left"


@given(st.text(max_size=200), st.integers(3, 40), st.integers(1, 5))
@settings(deadline=None)
def test_lines_fit_whatever_stands_in_them(words: str, width: int, most: int) -> None:
    lines = wrapped(words, width, most)
    assert 1 <= len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    rows: list[tuple[str, str, dict[str, Any]]] = []
    for key in range(1, draw(st.integers(1, 80))):
        status = draw(st.sampled_from(["open", "expanded", "pruned", "terminal"]))
        valued = {"value": draw(st.floats(allow_nan=False))} if draw(st.booleans()) else {}
        parent, text = draw(st.integers(0, key - 1)), draw(st.sampled_from(["4 + 9", *HOSTILE]))
        rows.append((str(parent), text, {"status": status, **valued}))
    return tree_of(*rows)


@pytest.mark.ci
@given(trees(), st.sampled_from([(80, 24), (40, 10), (20, 6), (200, 60)]))
def test_a_frame_never_outgrows_the_terminal_whatever_models_write(
    tree: Tree, size: tuple[int, int]
) -> None:
    width, height = size
    newest = list(tree)[-1]
    watch = watching(tree, frontier=[newest], error="\x1b[2J")
    drawn = frame(watch, width, height, [Event("backtracked", f"to {watch.quote(newest)}")])
    assert len(drawn) < height
    for row in drawn:
        assert cell_len(row) < width
        assert text.line(row).strip() == " ".join(row.split()), "a control character got through"


def test_a_frame_shows_marks_values_and_counts_what_it_hides() -> None:
    statuses = {1: "open", 3: "terminal"}
    tree = tree_of(
        *(
            ("0", f"thought {key}", {"value": 60.0 - key, "status": statuses.get(key, "pruned")})
            for key in range(1, 44)
        )
    )
    tree["0"]["status"] = "expanded"
    drawn = frame(watching(tree, frontier=["1"]), height=12)
    assert drawn[0].strip() == "run x: tot_bfs on game24"
    assert drawn[1].split() == ["•", "4", "9", "10", "13"]
    assert drawn[2].split() == ["├─", "●", "thought", "1", "59"]
    assert any(line.split() == ["├─", "◆", "thought", "3", "57"] for line in drawn)
    assert drawn[-2].strip() == "└─ … 36 pruned, best 52"
    assert drawn[-1].strip() == "0 thoughts · 0 requests · 0 tokens · 0.0 s"


def script(call: Call) -> str:
    """A puzzle of three lines: one good way, one bad one."""
    if call.role == "value":
        return "impossible" if call.prompt.rstrip().endswith("1 2 3") else "sure"
    last = call.prompt.rsplit("Input:", 1)[-1]
    if "4 9 10 13" in last and "Steps" not in last:
        return "10 - 4 = 6 (left: 6 9 13)\n4 + 9 = 13 (left: 1 2 3)"
    if "6 9 13" in last:
        return "13 - 9 = 4 (left: 4 6)"
    if "4 6" in last:
        return "4 * 6 = 24 (left: 24)"
    return "Answer: (10 - 4) * (13 - 9) = 24"


async def stream(
    method: str, reply: Reply = script, task: str = "game24", **context: Any
) -> tuple[LiveState, list[list[Event]], dict[str, Any]]:
    """What a display knows in the end, the events of each part of the stream, and the state."""
    model = ScriptedChat(reply=reply)
    graph = tg.build(method, task=task, model=model, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    watch, told = LiveState(), []
    problem = {"problem": "4 9 10 13" if task == "game24" else "4 + 9?"}
    keys = channels(graph.builder.state_schema)
    options: Any = {"context": context, "stream_mode": list(STREAM), "output_keys": keys}
    async for mode, data in graph.astream(problem, config, **options):
        told.append(watch.apply(mode, data))
        for event in told[-1]:
            if event.kind == "rolled_back":
                drawn = frame(watch, events=told[-1])
                assert any(row.startswith(str(event).replace("  ", " ")[:30]) for row in drawn)
    return watch, told, (await graph.aget_state(config)).values


async def test_a_search_is_told_in_order_and_its_backtracking_too() -> None:
    _, told, _ = await stream("tot_bfs", breadth=1, n_evaluate=1)
    events = list(chain.from_iterable(told))
    assert [str(event) for event in events][:7] == [
        "asked       generate 0: 4 9 10 13",
        "made        1: 10 - 4 = 6 (left: 6 9 13) (from 0)",
        "made        2: 4 + 9 = 13 (left: 1 2 3) (from 0)",
        "judged      1: 20 (sure)",
        "judged      2: 0.001 (impossible)",
        "pruned      2",
        "selected    1",
    ]
    assert "backtracked" not in {event.kind for event in events}
    _, told, _ = await stream("tot_dfs", outputs=0, n_evaluate=1)
    events = list(chain.from_iterable(told))
    assert "backtracked" in {event.kind for event in events}
    assert Event("pruned", "2") in events


@pytest.mark.parametrize("parallel", [True, False])
async def test_rollbacks_are_told_and_drawn_before_what_grows_from_them(parallel: bool) -> None:
    watch, told, _ = await stream("rollback", mistaken, "gsm8k", parallel=parallel)
    for events in told:
        assert "backtracked" not in {event.kind for event in events} or not parallel
    events = list(chain.from_iterable(told))
    rollbacks = [str(event) for event in events if event.kind == "rolled_back"]
    sources = [key for key, thought in watch.tree.items() if "rollback" in thought]
    assert rollbacks == [f"rolled_back from {key} (step 1 is bad) to 0: 4 + 9?" for key in sources]
    assert len(rollbacks) == 2
    first = [event.kind for event in events].index("rolled_back")
    grown = [f"{key}: " for key, t in watch.tree.items() if "caused_by" in t]
    assert not any(event.about.startswith(tuple(grown)) for event in events[:first])


def test_a_download_is_announced_and_may_be_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "whereabouts", lambda known: "remote")
    keyboard = io.StringIO("n\n")
    keyboard.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", keyboard)
    console = terminal(width=200)
    with console.capture() as said, pytest.raises(ModelUnavailable, match="was not downloaded"):
        ports.open_port("local", console)
    assert "Apache-2.0, 1.12 GB" in said.get()
    assert "https://huggingface.co/" in said.get()


def slot(prompt: int, cached: int, read: int, written: int, left: int) -> dict[str, Any]:
    """One slot of `/slots`, as llama.cpp reports it."""
    tokens = {"": prompt + written, "_cache": cached, "_processed": read}
    next_token = {"has_next_token": True, "n_decoded": written, "n_remain": left}
    known = {f"n_prompt_tokens{name}": count for name, count in tokens.items()}
    return {"id": 0, "is_processing": True, **known, "next_token": [next_token]}


def test_a_report_of_llama_cpp_is_read_and_one_that_is_none_is_no_work() -> None:
    idle = {"id": 1, "is_processing": False}
    slots = [slot(464, 100, 128, 0, 300), slot(464, 0, 464, 9, 3), idle]
    assert slots_of(slots) == [Slot(228, 0, 300), Slot(464, 9, 12)]
    for odd in (None, {}, "x", [None], [{"is_processing": True}], [[1]]):
        assert slots_of(odd) == []
