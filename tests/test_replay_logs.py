"""The official code's recorded GPT-4 runs must repeat step by step when our graphs replay them."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.recorded import (
    crosswords_reply,
    game24_reply,
    judged_before,
    load,
    problem_of,
    problems,
)
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.bench.crossword_scores import BoardScore, Puzzle, score
from thoughtgraph.bench.crossword_scores import best_state as best
from thoughtgraph.bench.crossword_scores import load as load_puzzles
from thoughtgraph.graphs.tot_dfs import visited
from thoughtgraph.tasks.crosswords import Crosswords, board_of
from thoughtgraph.tasks.game24.game24 import Game24

FOLDER = os.environ.get("THOUGHTGRAPH_REPLAY_LOGS")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="THOUGHTGRAPH_REPLAY_LOGS names no folder of recorded runs"
)
GAME24 = {range(900, 950): (35, 32), range(950, 1000): (34, 30)}
"""Solved puzzles by range: any of five outputs, and the first (released re-run: 69 and 62)."""
CROSSWORDS = {
    range(10): ((84.0, 65.0, 2), (90.0, 74.0, 4)),
    range(10, 20): ((72, 55, 2), (74.8, 61, 3)),
}
"""Letters, words, games by range: default output and best state (released logs: 78.0 / 60.0 / 4 and
82.4 / 67.5 / 7 over both)."""


def logs(pattern: str) -> list[Path]:
    return sorted(Path(FOLDER).glob(pattern)) if FOLDER else []


def lines(tree: tg.Tree, key: str) -> str:
    return "".join(thought["text"] + "\n" for thought in tg.path_to(tree, key))


async def replay_puzzle(entry: Any) -> tuple[bool, bool]:
    steps = entry["steps"]
    model = ScriptedChat(reply=game24_reply(entry))
    graph = tg.build("tot_bfs", task="game24", model=model, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": str(entry["idx"])}}
    breadth = max(len(step["select_new_ys"]) for step in steps)
    context = {"repo_compat": True, "n_evaluate": 3, "breadth": breadth, "steps": len(steps)}
    start = {"problem": steps[0]["x"]}
    await graph.ainvoke(
        start, config, context=context, interrupt_after=["start"], durability="exit"
    )
    earlier = {"tree": {"0": {"verdicts": judged_before(entry)}}}
    await graph.aupdate_state(config, earlier, as_node="start")
    selected = []
    async for update in graph.astream(
        None, config, context=context, stream_mode="updates", durability="exit"
    ):
        if "select" in update:
            selected.append(update["select"]["frontier"])
    out = (await graph.aget_state(config)).values
    tree = out["tree"]
    for depth, (step, kept) in enumerate(zip(steps, selected, strict=True), start=1):
        level = [thought for thought in tree.values() if thought["depth"] == depth]
        assert [lines(tree, t["id"]) for t in level] == step["new_ys"]
        assert [t["value"] for t in level] == pytest.approx(step["values"])
        assert [lines(tree, key) for key in kept] == step["select_new_ys"]
    assert [lines(tree, key) for key in selected[-1]] == entry["ys"]
    return solved(steps[0]["x"], out["candidates"])


def solved(problem: str, candidates: list[str | None]) -> tuple[bool, bool]:
    right = [answer is not None and Game24().check(problem, answer) for answer in candidates]
    return any(right), right[0]


@pytest.mark.parametrize("path", logs("game24_tot_bfs*.json.gz"), ids=lambda path: path.stem)
async def test_breadth_first_search_repeats_every_recorded_step(path: Path) -> None:
    results = {entry["idx"]: await replay_puzzle(entry) for entry in load(path)}
    for puzzles, expected in GAME24.items():
        if "b5" in path.name and all(idx in results for idx in puzzles):
            found = [results[idx] for idx in puzzles]
            assert (sum(a for a, _ in found), sum(first for _, first in found)) == expected


async def replay_crossword(records: list[Any], problem: str, proposals: Any) -> Any:
    model = ScriptedChat(reply=crosswords_reply(records, problem, proposals))
    graph = tg.build("tot_dfs", task="crosswords", model=model)
    out = await graph.ainvoke({"problem": problem}, context={"repo_compat": True})
    tree = out["tree"]
    for thought, record in zip(visited(tree.values()), records, strict=True):
        path = tg.path_to(tree, thought["id"])
        assert [step["text"] for step in path] == record["actions"]
        assert thought["depth"] == record["env_step"]
        assert thought["visit"] == record["total_step"] + 1
        assert counted(thought["note"]) == {k: n for k, n in record["count"].items() if n}
        assert thought["value"] == -record["count"]["impossible"]
    for thought in tree.values():
        children = tg.children_of(tree, thought["id"])
        if thought["status"] == "expanded":
            board = board_of(tg.path_to(tree, thought["id"]))
            expected = proposals[board.render(clues(problem))]
            found = [(child["text"], child["score"]) for child in children]
            assert found == list(expected.items())
    return out


def clues(problem: str) -> dict[str, str]:
    return {line[:2]: line[4:] for line in problem.split("\n")}


def counted(note: str) -> dict[str, int]:
    found = re.findall(r"(sure|maybe|impossible)(?: (\d+))?", note)
    return {label: int(n or 1) for label, n in found}


@pytest.fixture(scope="module")
def puzzles() -> list[Puzzle]:
    file = Path(FOLDER or "").parent / "puzzles" / "crosswords_20.json"
    return load_puzzles(file) if file.is_file() else []


@pytest.mark.parametrize("path", logs("crosswords_dfs_prune*.json.gz"), ids=lambda path: path.stem)
async def test_depth_first_search_repeats_every_recorded_step(
    path: Path, puzzles: list[Puzzle]
) -> None:
    proposals = load(path.parent / "crosswords_proposals_by_board.json.gz")
    gold = {puzzle.problem: puzzle.gold for puzzle in puzzles}
    order = list(problems(proposals))
    results: dict[int, tuple[BoardScore, BoardScore]] = {}
    for records in load(path):
        problem = problem_of(records, proposals)
        out = await replay_crossword(records, problem, proposals)
        points = [recorded_score(record) for record in records]
        deepest = max(range(len(records)), key=lambda at: (records[at]["env_step"], -at))
        rows = (points[deepest], max(points, key=lambda each: each.words))
        if problem in gold:
            assert rows == (score(out["answer"], gold[problem]), best(out["tree"], gold[problem]))
            assert points == [score(b, gold[problem]) for b in boards(out["tree"])]
        results[order.index(problem)] = rows
    for games, expected in CROSSWORDS.items():
        if all(game in results for game in games):
            default, best_states = zip(*(results[game] for game in games), strict=True)
            assert table_row(default) == pytest.approx(expected[0])
            assert table_row(best_states) == pytest.approx(expected[1])


def recorded_score(record: Any) -> BoardScore:
    info = record["info"]
    return BoardScore(info["r_letter"], info["r_word"], info["r_letter"] == 1.0)


def boards(tree: tg.Tree) -> list[str]:
    return [board_of(tg.path_to(tree, t["id"])).answer() for t in visited(tree.values())]


def table_row(scores: Sequence[BoardScore]) -> tuple[float, float, int]:
    n = len(scores)
    letters = 100 * sum(each.letters for each in scores) / n
    return letters, 100 * sum(each.words for each in scores) / n, sum(each.game for each in scores)


@pytest.mark.parametrize("path", logs("crosswords_[ic]o*.json.gz"), ids=lambda path: path.stem)
def test_plain_outputs_score_as_recorded(path: Path, puzzles: list[Puzzle]) -> None:
    if not puzzles:
        pytest.skip("the solutions are not beside the recorded runs")
    task = Crosswords()
    for entry in load(path):
        problem, gold = puzzles[entry["idx"]]
        for text, info in zip(entry["ys"], entry["infos"], strict=True):
            points = score(task.ask(problem, "io", {}).read([text])[0], gold)
            recorded = (info["r_letter"], info["r_word"], info["r_game"])
            assert tuple(points) == pytest.approx(recorded)
