"""Questions about thoughts: rendered to compare them, asked later, and rendered once."""

import pytest
from support.letters import Letters, die, run

from thoughtgraph.task import Options, Question, Verdict
from thoughtgraph.tree import Path


class Counted(Letters):
    """Keeps of which thoughts the question was rendered."""

    def __init__(self) -> None:
        super().__init__()
        self.rendered: list[str] = []

    def value(self, problem: str, path: Path, options: Options) -> Question[Verdict] | Verdict:
        self.rendered.append(path[-1]["id"])
        return super().value(problem, path, options)


@pytest.mark.parametrize("method", ["tot_bfs", "tot_dfs"])
async def test_no_question_about_a_thought_is_rendered_twice(method: str) -> None:
    for seed in range(5):
        task = Counted()
        out, _ = await run(method, task, die(seed), evaluate="value", generate="propose", steps=3)
        assert len(set(task.rendered)) == len(task.rendered) <= out["usage"]["thoughts"]
        assert out["usage"]["evaluated"]
