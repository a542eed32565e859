"""The recorded GPT-4 runs, replayed and scored again."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.recorded import FOLDER, entries, held, load, logs, recorded, replay_puzzle
from support.recorded_results import (
    MODEL,
    keep,
    problem_of,
    problems,
    replay_crossword,
    sampled,
    spending,
)
from support.rows import cells_of, lines_of

import thoughtgraph as tg
from thoughtgraph.bench import report_lines
from thoughtgraph.bench.budget import curve
from thoughtgraph.bench.crossword_scores import BoardScore, best_state, score
from thoughtgraph.bench.data import load as load_puzzles
from thoughtgraph.bench.metrics import best_of_k, scores
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.graphs.tot_bfs import best_states
from thoughtgraph.nodes.families.depth_first import visited
from thoughtgraph.tasks.creative_writing import CreativeWriting
from thoughtgraph.tasks.crosswords import Crosswords, board_of
from thoughtgraph.tasks.game24.game24 import Game24
from thoughtgraph.tasks.sections import split

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


def test_breadth_first_searches_repeat_each_step_and_published_figure(command: Command) -> None:
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
def puzzles() -> list[tuple[str, str]]:
    file = Path(FOLDER or "").parent / "puzzles" / "crosswords_20.json"
    if not file.is_file():
        pytest.skip("the solutions are not beside the recorded runs")
    return [(each.problem, each.gold or "") for each in load_puzzles(Crosswords(), file)]


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


def test_depth_first_searches_repeat_each_step_and_published_figure(
    command: Command, puzzles: list[tuple[str, str]]
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
    command: Command, puzzles: list[tuple[str, str]], method: str, row: str
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
        texts = {puzzles[at][0]: samples[at] for at in games}
        runs = [*sampled("crosswords", method, texts).values()]
        keep(Path(folder), "crosswords", method, runs, gold=dict(puzzles))
        letters, words, solved_games = (f"{each:.1f}" for each in expected[method])
        found = crossword_cells(command, folder, row)
        assert found == {"letters": letters, "mean": words, "games": solved_games}


def numbers_of_puzzles() -> dict[int, str]:
    """The puzzles by number; the logs of plain prompting leave them out."""
    return {entry["idx"]: entry["steps"][0]["x"] for entry in entries("game24_tot_bfs*.json.gz")}


@pytest.mark.parametrize("pattern", ["game24_io*.json.gz", "game24_cot*.json.gz"])
def test_samples_of_game24_score_as_recorded(pattern: str) -> None:
    task, known = Game24(), numbers_of_puzzles()
    for entry in entries(pattern):
        puzzle = known[entry["idx"]]
        verdicts = entry.get("accs") or [info["r"] for info in entry["infos"]]
        outputs = task.ask(puzzle, "io", {}).read(entry["ys"])
        ours = scores("game24", puzzle, outputs, None)
        assert ours == [float(right) for right in verdicts], entry["idx"]
        assert best_of_k(ours) == float(any(verdicts))


def test_plans_and_passages_are_selected_and_read_as_recorded() -> None:
    task = CreativeWriting()
    for entry in entries("creative_writing_tot*.json.gz"):
        for step in entry["steps"]:
            tree: Any = {str(at): {"value": votes} for at, votes in enumerate(step["values"])}
            kept = [step["new_ys"][int(key)] for key in best_states(tree, list(tree), 1)]
            assert kept == step["select_new_ys"], entry["idx"]
        problem = task.read(entry["steps"][0]["x"])
        plan, passage = (step["select_new_ys"][0] for step in entry["steps"])
        official = passage.split("Passage:\n")[-1].strip()
        path: list[Any] = [*task.sample(problem, [], {}).read([plan])]
        path += task.sample(problem, path, {}).read([passage.removeprefix(plan)])
        assert task.output(problem, path) == official
        assert split(passage, "Passage")[1] == official
        asked = task.sample(problem, path[:1], {}).prompt.user
        assert asked.endswith(f"{plan.strip()}\n\nPassage:\n")


@pytest.fixture(scope="module")
def sampled_runs() -> Mapping[str, Mapping[int, Any]]:
    """What our graphs return when the model says what was recorded, by method and number."""
    known = numbers_of_puzzles()
    number = {problem: at for at, problem in known.items()}
    found: dict[str, dict[int, Any]] = {}
    for method in ("io", "cot", "cot_sc"):
        runs = entries(f"game24_{method.removesuffix('_sc')}*.json.gz")
        outs = sampled("game24", method, {known[entry["idx"]]: entry["ys"] for entry in runs})
        found[method] = {number[problem]: out for problem, out in outs.items()}
    return found


LINES = {"IO prompt": "io", "CoT prompt": "cot", "CoT-SC (k = 100)": "cot_sc"}
KNOWN = (("io", "mean"), ("io", "best"), ("cot", "mean"), ("cot", "best"), ("cot_sc", "score"))
FIGURES = {
    range(900, 950): (100 * 234 / 5000, 36, 100 * 254 / 5000, 56, 8),
    range(900, 1000): (7.34, 33, 4.03, 49, 8),
}
"""Percent by range: 100 samples a puzzle, any of them, the vote. Of the first 50 puzzles the logs
call 234 samples of IO right and 254 of CoT, some of 18 and of 28 puzzles, and the votes of 4. Of
all 100 the votes of 8 are right; the paper says 9."""


def test_the_report_of_recorded_samples_has_the_published_figures(
    command: Command, sampled_runs: Mapping[str, Mapping[int, Any]]
) -> None:
    """A sample costs a token here: with k tokens a budget curve has the vote of k samples."""
    for which, percents in held(FIGURES, sampled_runs["cot"]).items():
        expected, folder = dict(zip(KNOWN, percents, strict=True)), Path(f"puzzles-{which.stop}")
        for method, outs in sampled_runs.items():
            kept = [spending(outs[at], 0, 100) for at in which]
            keep(folder, "game24", method, kept, given={"n_generate": 100})
        cells = cells_of(reported(command, str(folder))[0], suite("tot-table2").source)
        cells = [each for each in cells if each.row in LINES]
        ours = {(LINES[each.row], each.figure): each.ours for each in cells}
        assert ours == {known: f"{percent:.1f} ({MODEL})" for known, percent in expected.items()}
        assert {each.n for each in cells} == {str(len(which))}
        lines = report_lines.entries(ResultFolder(folder).rows())
        [rows] = [line.rows for line in lines if line.rows[0]["method"] == "cot_sc"]
        one, whole = curve(rows, "tokens", [1, 100])
        single = expected["cot", "mean"] / 100
        assert one == pytest.approx(single, abs=5e-5), "a mean over all samples"
        assert whole == expected["cot_sc", "score"] / 100


def test_recorded_tokens_are_those_of_the_published_costs(
    command: Command, sampled_runs: Mapping[str, Mapping[int, Any]]
) -> None:
    """The log of plain prompting counts tokens from the first puzzle on: 1,000 and 1,803 each."""
    kept, before = [], {"prompt_tokens": 0, "completion_tokens": 0}
    for entry in entries("game24_io*_900-949.json.gz"):
        spent = [entry["usage_so_far"][name] - before[name] for name in before]
        kept.append(spending(sampled_runs["io"][entry["idx"]], *spent))
        before = {name: entry["usage_so_far"][name] for name in before}
    keep(Path("io"), "game24", "io", kept, given={"n_generate": 100})
    cells = cells_of(reported(command, "io")[0], suite("tot-table7").source)
    tokens = {each.figure: each.ours for each in cells if each.row.startswith("IO")}
    assert tokens["prompt tokens"] == f"1,000.0 ({MODEL})", "published: 1.0k"
    assert tokens["completion tokens"] == f"1,803.3 ({MODEL})", "published: 1.8k"
