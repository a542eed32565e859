"""The official code's recorded GPT-4 runs must repeat step by step when our graphs replay them."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.paper_cells import cells_of, lines_of
from support.recorded import held, load, problem_of, problems
from support.recorded_rows import MODEL, keep, sampled
from support.replays import replay_crossword, replay_puzzle

import thoughtgraph as tg
from thoughtgraph.bench.crossword_scores import BoardScore, Puzzle, score
from thoughtgraph.bench.crossword_scores import best_state as best
from thoughtgraph.bench.crossword_scores import load as load_puzzles
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.graphs.tot_dfs import visited
from thoughtgraph.tasks.crosswords import Crosswords, board_of
from thoughtgraph.tasks.game24.game24 import Game24

FOLDER = os.environ.get("THOUGHTGRAPH_REPLAY_LOGS")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="THOUGHTGRAPH_REPLAY_LOGS names no folder of recorded runs"
)
GAME24 = {range(900, 950): (35, 32), range(950, 1000): (34, 30), range(900, 1000): (69, 62)}
"""Solved puzzles by range: any of five outputs, and the first (released re-run: 69 and 62)."""
CROSSWORDS = {
    range(10): ((84.0, 65.0, 2), (90.0, 74.0, 4)),
    range(10, 20): ((72, 55, 2), (74.8, 61, 3)),
    range(20): ((78.0, 60.0, 4), (82.4, 67.5, 7)),
}
"""Letters, words, games by range: default output and best state (released logs: 78.0 / 60.0 / 4 and
82.4 / 67.5 / 7 over both)."""
SAMPLES = {
    range(10): {"io": (35.4, 13.2, 0.0), "cot": (41.9, 18.6, 2.0)},
    range(20): {"io": (38.7, 14.0, 0.0), "cot": (40.6, 15.6, 1.0)},
}
"""Letters, words, games in percent by range: means over ten samples (over both: Table 3)."""


def logs(pattern: str) -> list[Path]:
    return sorted(Path(FOLDER).resolve().glob(pattern)) if FOLDER else []


@cache
def replayed_puzzles(path: Path) -> Mapping[int, Any]:
    """What our graph returned for each puzzle of a file, by number."""

    async def replays() -> dict[int, Any]:
        return {entry["idx"]: await replay_puzzle(entry) for entry in load(path)}

    return asyncio.run(replays())


@cache
def replayed_crosswords(path: Path) -> Mapping[int, Any]:
    """What our graph returned for each crossword of a file, by number, and the recorded steps."""
    proposals = load(path.parent / "crosswords_proposals_by_board.json.gz")
    order = list(problems(proposals))

    async def replays() -> dict[int, Any]:
        outs: dict[int, Any] = {}
        for records in load(path):
            problem = problem_of(records, proposals)
            out = await replay_crossword(records, problem, proposals)
            outs[order.index(problem)] = (out, records)
        return outs

    return asyncio.run(replays())


@pytest.mark.parametrize("path", logs("game24_tot_bfs*.json.gz"), ids=lambda path: path.stem)
def test_breadth_first_search_repeats_every_recorded_step(path: Path) -> None:
    outs = replayed_puzzles(path)
    results = {idx: solved(out["problem"], out["candidates"]) for idx, out in outs.items()}
    for puzzles, expected in GAME24.items():
        if "b5" in path.name and all(idx in results for idx in puzzles):
            found = [results[idx] for idx in puzzles]
            assert (sum(a for a, _ in found), sum(first for _, first in found)) == expected


def solved(problem: str, candidates: list[str | None]) -> tuple[bool, bool]:
    right = [answer is not None and Game24().check(problem, answer) for answer in candidates]
    return any(right), right[0]


def test_the_report_of_breadth_first_searches_has_the_published_figures(command: Command) -> None:
    paths = logs("game24_tot_bfs_b5*.json.gz")
    outs = {idx: out for path in paths for idx, out in replayed_puzzles(path).items()}
    for puzzles, (any_of_five, first) in held(GAME24, outs).items():
        folder, runs = f"puzzles-{puzzles.stop}", [outs[at] for at in puzzles]
        keep(Path(folder), "game24", "tot_bfs", runs, given={"breadth": 5})
        told, report = reported(command, folder)
        n = len(puzzles)
        # Where the best output cannot be read, the answer is the next one: not the first output.
        answered = sum(solved(out["problem"], [out["answer"]])[1] for out in runs)
        cells = cells_of(told, suite("tot-table2").source)
        [ours] = [each for each in cells if each.row == "ToT (b = 5)"]
        assert ours[2:] == ("best", f"{100 * any_of_five / n:.1f} ({MODEL})", str(n))
        [best_of] = lines_of(report.partition("Best of the first k outputs")[2])
        assert best_of["1"] == f"{first / n:.1%}" and best_of["5"] == f"{any_of_five / n:.1%}"
        for unit in ("requests", "tokens"):
            _, title, curve = report.partition(f"Score with at most so many {unit} a problem")
            assert title, "the report has the curve"
            [points] = lines_of(curve)
            *_, whole = points.values()
            assert whole == f"{answered / n:.1%}", "with all that was spent: the answer"
        # Of four levels, the second costs five expansions, and the first five verdicts or more.
        [points] = lines_of(report.partition("so many requests a problem")[2])
        assert points["5"] == "0.0%", "no output can be there yet"


def reported(command: Command, folder: str) -> tuple[str, str]:
    """What `report` prints, with published numbers, and the report that it writes."""
    code, out, err = command("report", folder, "--paper", "--out", f"{folder}-report")
    assert code == 0, err
    return out, Path(f"{folder}-report", "report.md").read_text()


@pytest.fixture(scope="module")
def puzzles() -> list[Puzzle]:
    file = Path(FOLDER or "").parent / "puzzles" / "crosswords_20.json"
    return load_puzzles(file) if file.is_file() else []


@pytest.mark.parametrize("path", logs("crosswords_dfs_prune*.json.gz"), ids=lambda path: path.stem)
def test_depth_first_search_repeats_every_recorded_step(path: Path, puzzles: list[Puzzle]) -> None:
    gold = {puzzle.problem: puzzle.gold for puzzle in puzzles}
    results: dict[int, tuple[BoardScore, BoardScore]] = {}
    for at, (out, records) in replayed_crosswords(path).items():
        problem = out["problem"]
        points = [recorded_score(record) for record in records]
        deepest = max(range(len(records)), key=lambda at: (records[at]["env_step"], -at))
        rows = (points[deepest], max(points, key=lambda each: each.words))
        if problem in gold:
            assert rows == (score(out["answer"], gold[problem]), best(out["tree"], gold[problem]))
            assert points == [score(b, gold[problem]) for b in boards(out["tree"])]
        results[at] = rows
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


def test_the_report_of_crosswords_has_the_published_figures(
    command: Command, puzzles: list[Puzzle]
) -> None:
    if not puzzles:
        pytest.skip("the solutions are not beside the recorded runs")
    paths = logs("crosswords_dfs_prune*.json.gz")
    outs = {at: out for path in paths for at, (out, _) in replayed_crosswords(path).items()}
    for games, (default, best_states) in held(CROSSWORDS, outs).items():
        folder, runs = f"games-{games.stop}", [outs[at] for at in games]
        keep(Path(folder), "crosswords", "tot_dfs", runs, gold=dict(puzzles))
        (letters, words, right), (best_letters, best_words, best_right) = default, best_states
        share = 100 / len(games)
        expected = {"letters": letters, "score": words, "games": share * right}
        expected |= {"best letters": best_letters, "best words": best_words}
        expected |= {"best games": share * best_right}
        found = crossword_cells(command, folder)["ToT"]
        assert found == {name: f"{value:.1f}" for name, value in expected.items()}


def crossword_cells(command: Command, folder: str) -> dict[str, dict[str, str]]:
    """Our figures of Table 3 by row."""
    told, _ = reported(command, folder)
    found: dict[str, dict[str, str]] = {}
    for cell in cells_of(told, suite("tot-table3").source):
        found.setdefault(cell.row, {})[cell.figure] = cell.ours.removesuffix(f" ({MODEL})")
    return found


@pytest.mark.parametrize("method", ["io", "cot"])
def test_the_report_of_sampled_crosswords_has_the_published_figures(
    command: Command, puzzles: list[Puzzle], method: str
) -> None:
    if not puzzles:
        pytest.skip("the solutions are not beside the recorded runs")
    entries = {e["idx"]: e for path in logs(f"crosswords_{method}*.json.gz") for e in load(path)}
    for games, expected in held(SAMPLES, entries).items():
        folder = f"games-{games.stop}"
        texts = [(puzzles[at].problem, entries[at]["ys"]) for at in games]
        runs = [sampled("crosswords", method, *each) for each in texts]
        keep(Path(folder), "crosswords", method, runs, gold=dict(puzzles))
        letters, words, solved_games = (f"{each:.1f}" for each in expected[method])
        found = crossword_cells(command, folder)["IO" if method == "io" else "CoT"]
        assert found == {"letters": letters, "mean": words, "games": solved_games}


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
