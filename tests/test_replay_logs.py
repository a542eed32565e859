"""The official code's recorded GPT-4 runs must repeat step by step when our graphs replay them."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.paper_cells import cells_of, lines_of
from support.recorded import FOLDER, entries, held, load, logs, recorded, replay_puzzle
from support.recorded_crosswords import problem_of, problems, replay_crossword
from support.recorded_rows import MODEL, keep, sampled

import thoughtgraph as tg
from thoughtgraph.bench.crossword_scores import BoardScore, Puzzle, best_state, score
from thoughtgraph.bench.crossword_scores import load as load_puzzles
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.graphs.tot_dfs import visited
from thoughtgraph.tasks.crosswords import Crosswords, board_of
from thoughtgraph.tasks.game24.game24 import Game24

pytestmark = [recorded, pytest.mark.ci]
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


def test_breadth_first_searches_repeat_every_recorded_step_and_the_published_figures(
    command: Command,
) -> None:
    async def replays(path: Path) -> dict[int, Any]:
        return {entry["idx"]: await replay_puzzle(entry) for entry in load(path)}

    of_five: dict[int, Any] = {}
    for path in logs("game24_tot_bfs*.json.gz"):
        outs = asyncio.run(replays(path))
        of_five |= outs if "b5" in path.name else {}
    for which, (any_of_five, first) in held(GAME24, of_five).items():
        folder, runs = f"puzzles-{which.stop}", [of_five[at] for at in which]
        keep(Path(folder), "game24", "tot_bfs", runs, given={"breadth": 5})
        told, report = reported(command, folder)
        n = len(which)
        cells = cells_of(told, suite("tot-table2").source)
        [ours] = [each for each in cells if each.row == "ToT (b = 5)"]
        assert ours[2:] == ("best", f"{100 * any_of_five / n:.1f} ({MODEL})", str(n))
        [best_of] = lines_of(report.partition("Best of the first k outputs")[2])
        assert best_of["1"] == f"{first / n:.1%}" and best_of["5"] == f"{any_of_five / n:.1%}"
        # Where the best output cannot be read, the answer is the next one: not the first output.
        right = sum(Game24().check(out["problem"], out["answer"]) for out in runs if out["answer"])
        _, _, curve = report.partition("Score with at most so many tokens a problem")
        [points] = lines_of(curve)
        assert [*points.values()][-1] == f"{right / n:.1%}", "with all that was spent: the answer"


def reported(command: Command, folder: str) -> tuple[str, str]:
    """What `report` prints, with published numbers, and the report that it writes."""
    code, out, err = command("report", folder, "--paper", "--out", f"{folder}-report")
    assert code == 0, err
    return out, Path(f"{folder}-report", "report.md").read_text()


def crossword_cells(command: Command, folder: str, row: str) -> dict[str, str]:
    """Our figures in a row of Table 3."""
    cells = cells_of(reported(command, folder)[0], suite("tot-table3").source)
    return {cell.figure: cell.ours.removesuffix(f" ({MODEL})") for cell in cells if cell.row == row}


@pytest.fixture(scope="module")
def puzzles() -> list[Puzzle]:
    file = Path(FOLDER or "").parent / "puzzles" / "crosswords_20.json"
    if not file.is_file():
        pytest.skip("the solutions are not beside the recorded runs")
    return load_puzzles(file)


async def replayed_crosswords() -> dict[int, tuple[Any, Any]]:
    """What our graph returned for each crossword, by number, and the recorded steps."""
    outs: dict[int, tuple[Any, Any]] = {}
    for path in logs("crosswords_dfs_prune*.json.gz"):
        proposals = load(path.parent / "crosswords_proposals_by_board.json.gz")
        order = list(problems(proposals))
        for records in load(path):
            problem = problem_of(records, proposals)
            out = await replay_crossword(records, problem, proposals)
            outs[order.index(problem)] = (out, records)
    return outs


def test_depth_first_searches_repeat_every_recorded_step_and_the_published_figures(
    command: Command, puzzles: list[Puzzle]
) -> None:
    outs, gold = asyncio.run(replayed_crosswords()), dict(puzzles)
    for out, records in outs.values():
        answer, tree = gold[out["problem"]], out["tree"]
        points = [recorded_score(record["info"]) for record in records]
        deepest = max(range(len(records)), key=lambda at: (records[at]["env_step"], -at))
        assert points == [score(board, answer) for board in boards(tree)]
        assert points[deepest] == score(out["answer"], answer)
        assert max(points, key=lambda each: each.words) == best_state(tree, answer)
    for games, ((letters, words, right), best) in held(CROSSWORDS, outs).items():
        folder, share = f"games-{games.stop}", 100 / len(games)
        keep(Path(folder), "crosswords", "tot_dfs", [outs[at][0] for at in games], gold=gold)
        expected = {"letters": letters, "score": words, "games": share * right}
        expected |= {"best letters": best[0], "best words": best[1], "best games": share * best[2]}
        found = crossword_cells(command, folder, "ToT")
        assert found == {name: f"{value:.1f}" for name, value in expected.items()}


def recorded_score(info: Mapping[str, Any]) -> BoardScore:
    return BoardScore(info["r_letter"], info["r_word"], info["r_letter"] == 1.0)


def boards(tree: tg.Tree) -> Iterator[str]:
    for thought in visited(tree.values()):
        yield board_of(tg.path_to(tree, thought["id"])).answer()


@pytest.mark.parametrize(("method", "row"), [("io", "IO"), ("cot", "CoT")])
def test_sampled_crosswords_score_as_recorded_and_have_the_published_figures(
    command: Command, puzzles: list[Puzzle], method: str, row: str
) -> None:
    samples: dict[int, Sequence[str]] = {}
    for entry in entries(f"crosswords_{method}*.json.gz"):
        problem, gold = puzzles[entry["idx"]]
        samples[entry["idx"]] = entry["ys"]
        for text, info in zip(entry["ys"], entry["infos"], strict=True):
            points = score(Crosswords().ask(problem, "io", {}).read([text])[0], gold)
            verdicts = (info["r_letter"], info["r_word"], info["r_game"])
            assert tuple(points) == pytest.approx(verdicts)
    for games, expected in held(SAMPLES, samples).items():
        folder = f"games-{games.stop}"
        texts = {puzzles[at].problem: samples[at] for at in games}
        runs = [*sampled("crosswords", method, texts).values()]
        keep(Path(folder), "crosswords", method, runs, gold=dict(puzzles))
        letters, words, solved_games = (f"{each:.1f}" for each in expected[method])
        found = crossword_cells(command, folder, row)
        assert found == {"letters": letters, "mean": words, "games": solved_games}
