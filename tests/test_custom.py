"""Methods and tasks: what is declared, what is refused, a user's own."""

import asyncio
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.acting import Errand, Odds, walker
from support.command import Command
from support.fake_server import FakeServer, Fault, Seen, after
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.metrics import scores_of
from thoughtgraph.task import Verdict

CHANGED: dict[str, Any] = {
    **{"shots": 2, "zero_shot": "steps", "wording": "chat", "layout": "turns"},
    **{"strict_parse": False, "exact_steps": True, "grammar": True},
    **{"corpus": "pages.txt", "observations": "react", "tool_costs": "Search=2"},
    "examples": "none",
}
"""A value of each setting that is no default."""
PAGES = '{"question": "Where is Milan?", "context": [["Milan", ["Milan is in Italy."]]]}'
"""A problem with pages of its own: no wiki is asked."""
USED = [
    *((method, "gsm8k", name) for method in ("io", "cot") for name in ("shots", "examples")),
    *(("cot", task, "zero_shot") for task in ("strategyqa", "hotpotqa", "fever", "question")),
    *(("io", task, "wording") for task in ("svamp", "hotpotqa", "question", "aqua")),
    *(("tot_bfs", "game24", name) for name in ("shots", "layout", "strict_parse", "exact_steps")),
    *((method, "game24", "shots") for method in ("rollback", "chain")),
    *(("tomt_os", "ptr", name) for name in ("shots", "layout", "grammar")),
    *((method, "hotpotqa", "layout") for method in ("react", "itot_dfs", "fgdip")),
    ("fgdip", "game24", "grammar"),
]


async def search(method: str, task: str, context: dict[str, Any]) -> None:
    """Starts a search that may ask nothing."""
    model = ScriptedChat(reply=lambda call: "x")
    graph = tg.build(method, task=task, model=tg.ChatPort(model, takes_grammar=True))
    given = {"problem": PAGES if task == "hotpotqa" else registry.TASKS[task].example}
    await graph.ainvoke(given, context={**context, "limit_requests": 0})


@pytest.mark.parametrize(
    ("names", "told", "remedy"),
    [
        (["observations"], "'observations'", "leave it out"),
        (["tool_costs", "corpus"], "'corpus' and 'tool_costs'", "leave them out"),
    ],
)
async def test_what_changes_nothing_is_refused_unless_it_is_usual_anyway(
    names: list[str], told: str, remedy: str
) -> None:
    words = f"{told} would change nothing: method 'fgdip' on task 'game24' .* {remedy}"
    with pytest.raises(tg.SettingError, match=words) as refused:
        await search("fgdip", "game24", {name: CHANGED[name] for name in names})
    assert "\n" not in str(refused.value)
    await search("fgdip", "game24", {"corpus": "", "tool_costs": ""})


@pytest.mark.parametrize(("method", "task", "name"), USED)
async def test_a_setting_that_changes_something_is_taken(method: str, task: str, name: str) -> None:
    await search(method, task, {name: CHANGED[name]})


DOCUMENT = (Path(__file__).parents[1] / "docs" / "tasks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", DOCUMENT, re.M | re.S)
SOURCE = re.sub(r"^graph = .*\n", "", "\n".join(BLOCKS), flags=re.M)
POEM = ("Waves come", "Waves go", "The sea stays")


def poet(seen: Seen) -> str:
    """Proposes lines, the poem's among them, and likes those best."""
    lines = seen.prompt.splitlines()[1:-1]
    if "A number" in seen.prompt:
        return str(1 + 3 * sum(line in POEM for line in lines))
    return "\n".join(["Noise", POEM[len(lines)], "More noise"])


REPLY = poet


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    path = tmp_path / "haiku.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def own(file: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "own"}
    exec(compile(SOURCE, str(file), "exec"), names)
    return names


def test_the_example_searches_a_tree(own: dict[str, Any], server: FakeServer) -> None:
    out = tg.solve("the sea", task=own["Haiku"](), model=server.specifier)
    assert out["method"] == "tot_bfs"
    assert out["answer"] == "\n".join(POEM)
    assert max(thought["depth"] for thought in out["tree"].values()) == 3
    assert "Waves come" in tg.html(out)
    # A task may be any object with the functions.
    haiku = own["Haiku"]()
    names = ("id", "read", "published", "propose", "value", "output")
    task: Any = SimpleNamespace(**{name: getattr(haiku, name) for name in names})
    assert tg.solve("the sea", task=task, model=server.specifier)["answer"] == "\n".join(POEM)


def test_equal_answers_are_one_vote_and_what_a_task_says_is_told(own: dict[str, Any]) -> None:
    texts = ['{"count": 3}', '{"item": "tea", "count": 2}', '{"count": 2, "item": "tea"}', "two"]
    model = ScriptedChat(reply=lambda call: texts)
    task = own["Order"]()
    out = tg.solve("two teas", task=task, model=model, method="cot_sc", n_generate=4)
    [vote] = out["votes"]
    assert (out["answer"], vote["got"], vote["of"]) == (texts[1], 2, 3)
    [chosen] = [each for each in out["tree"].values() if each.get("chosen")]
    assert (chosen["plausible"], chosen.get("returned", "")) == (True, "")
    assert scores_of(task, "two teas", [texts[2], texts[0], None], texts[1]) == [1.0, 0.0, 0.0]
    assert scores_of(knowing(), "a", ["b"], None) == [1.0], "by a check that is async"


def test_the_example_is_told_why_it_was_refused(own: dict[str, Any]) -> None:
    replies = iter(["two teas", '{"item": "tea", "count": "two"}', '{"item": "tea", "count": 2}'])
    model = ScriptedChat(reply=lambda call: [next(replies)])
    out = tg.solve("two teas", task=own["Order"](), model=model, method="refine")
    assert out["answer"] == '{"item": "tea", "count": 2}'
    assert model.seen[-1].prompt.splitlines()[1:] == [
        "two teas was refused: this is no JSON object with a count",
        """{"item": "tea", "count": "two"} was refused: count must be a whole number, not 'two'""",
    ]


def knowing() -> Any:
    """A task that judges without a model, and takes its time."""

    async def said(value: Any) -> Any:
        await asyncio.sleep(0)
        return value

    task: Any = Errand()
    task.estimate = lambda problem, path, style, options: said(Verdict(2.0, "known"))
    task.verify = lambda problem, answer, options: said(Verdict(1.0, "right"))
    task.check = lambda problem, answer: said(True)
    return task


@pytest.mark.parametrize("method", ["itot_best_first", "fgdip", "react"])
async def test_what_judges_may_be_async_and_ask_no_model(method: str) -> None:
    model = ScriptedChat(reply=walker(3, Odds(finish=0.5)))
    graph = tg.build(method, task=knowing(), model=model)
    out = await graph.ainvoke({"problem": "a"})
    assert out["answer"] is not None and out["verified"] is True
    assert {call.role for call in model.seen} <= {"generate", "act", "extract"}


def test_the_command_searches_and_views_a_task_of_a_file(
    file: Path, command: Command, server: FakeServer
) -> None:
    options = ("--task", f"{file.name}:Haiku", "--model", server.specifier, "--json", "run.json")
    code, out, err = command("solve", "the sea", *options)
    assert (code, err) == (0, "")
    assert "tot_bfs on haiku with" in out and "The sea stays" in out
    result = json.loads(Path("run.json").read_text())
    assert (result["task"], result["answer"]) == ("haiku", "\n".join(POEM))
    assert command("view", "run.json")[0] == 0
    code, out, _ = command("methods", "--task", f"{file.name}:Haiku")
    assert code == 0 and "tot_bfs" in out


def test_a_stopped_run_of_a_file_goes_on_from_another_folder(
    file: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--task", "haiku.py:Haiku")
    with FakeServer(poet, after(4, Fault(401))) as server:
        _, out, _ = command("solve", "the sea", *options, "--model", server.specifier)
    run = re.search(r"--resume (haiku-\w+)", out)
    assert run is not None
    (file.parent / "elsewhere").mkdir()
    monkeypatch.chdir(file.parent / "elsewhere")
    with FakeServer(poet) as server:
        _, out, _ = command("solve", "--resume", run[1], "--model", server.specifier)
    assert "The sea stays" in out


MISTAKES = [
    ("nowhere.py:Haiku", "", "there is no file '"),
    ("haiku.py", "", "it defines Order, Haiku, Backwards"),
    ("haiku.py:Hiku", "", "it defines Order, Haiku, Backwards"),
    ("own.py:Own", "class Own:\n    pass", "Own is no task, it needs id, read(text)"),
    ("own.py:Own", "x = 1\nOwn = nothing", "fails at line 2 (NameError"),
    ("own.py:Own", "class Own(:", "fails at line 1 (SyntaxError"),
    ("own.py:Own", "class Own:\n    def __init__(self): 1 / 0", "line 2 (ZeroDivisionError"),
]


@pytest.mark.parametrize(("task", "text", "told"), MISTAKES)
def test_a_mistake_in_a_file_is_one_line(
    task: str, text: str, told: str, file: Path, command: Command
) -> None:
    # A folder of its own for each: a file is run once a process.
    if text:
        Path("own.py").write_text(text)
    code, out, err = command("solve", "x", "--task", str(file.parent / task) if text else task)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


LACKING = [
    (
        *("tot_bfs", "Order", "output(problem, path)", "sample(problem, path, options)"),
        *("vote(problem, paths, options)", "or choose one of io, cot, cot_sc, refine"),
        ", adaptive, which take it as it is",
    ),
    ("rollback", "Haiku", "the task needs ", "step(", ", analyse(", "tot_bfs"),
    (
        *("fgdip", "Haiku", "move(problem, path, style, options, hints)"),
        *("estimate(problem, path, style, options)", "verify(problem, answer, options)"),
    ),
    ("fgdip", "", "asked for one next step", "`thoughtgraph methods --task crosswords` lists the"),
]
"""A method, a task of the document or else crosswords, which it cannot take, and what is said."""


def test_what_is_missing_is_told_as_what_to_write(own: dict[str, Any]) -> None:
    for method, name, *words in LACKING:
        with pytest.raises(tg.CapabilityError) as caught:
            tg.build(method, task=own[name]() if name else "crosswords")
        told = str(caught.value)
        assert [word for word in words if word not in told] == [], told
        assert name != "Order" or not re.search(r"ask\(|lacks|`", told)
    haiku = own["Haiku"]()
    own["Haiku"].published = lambda self, method: {}
    with pytest.raises(tg.CapabilityError, match="or set generate=propose, evaluate=value"):
        tg.build("tot_bfs", task=haiku)
    own["Haiku"].published = lambda self, method: {"bredth": 3}
    with pytest.raises(tg.SettingError, match="the task publishes 'bredth' for a method"):
        tg.build("tot_bfs", task=haiku)


def test_a_class_is_answered_with_its_object(own: dict[str, Any]) -> None:
    with pytest.raises(tg.InputError, match=r"not a class; give Order\(\)"):
        tg.build("io", task=own["Order"])
    with pytest.raises(tg.InputError, match=r"object is no task, it needs id, read\(text\)"):
        tg.solve("x", task=object())  # type: ignore[arg-type]
