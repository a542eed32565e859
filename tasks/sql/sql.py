"""Ask your database: the answer to a question about a database is a query (ours).

A query is checked by running it, which shows whether it fails or returns no rows; a query that runs
may still be wrong. Step-by-step searches build a chain: each step is `name = SELECT …`, the last is
the final SELECT, and each runs together with the steps before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.planning import Ruling
from thoughtgraph.prompts import fill
from thoughtgraph.reasoning import TWO_CALLS, Faults
from thoughtgraph.task import Options, Prompt, Question, Verdict, each
from thoughtgraph.tasks import judgements
from thoughtgraph.tasks.rollback_prompts import bad_steps, counted, numbered, step_score
from thoughtgraph.tasks.sql.chains import Part, chained, part_of, parts_in
from thoughtgraph.tasks.sql.trajectories import Acting
from thoughtgraph.tools.sql.tables import QueryError, Rows
from thoughtgraph.tree import Path, cut, texts

VALUES = {"sure": 20.0, "likely": 1.0, "impossible": 0.001}
"""Value of each verdict on a part that runs (the values of Game of 24)."""
_PLAN = {"shots": 0}
_CHAIN = {"steps": 6, "temperature": 0.7}
_TREE = {"steps": 2, "generate": "propose", "evaluate": "value", "n_evaluate": 1}
PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "cot_sc": {"n_generate": 8},
    "adaptive": {"samples": 8},
    "refine": {"refinements": 5},
    "tot_bfs": {**_TREE, "breadth": 3},
    "tot_dfs": {**_TREE, "threshold": 0.5, "max_per_state": 4, "proposal_samples": 1},
    "rollback": {**_CHAIN, "protocol": "single_call", "solutions": 3},
    "chain": _CHAIN,
    "level_tot": _CHAIN,
    **dict.fromkeys(("tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block"), _PLAN),
}
"""Settings by method (ours)."""
NO_ROWS = "it returns no rows"
PART = "part"
"""Prefix of the names of parts."""
FAILED = "Step "
"""Prefix of the analysis of a part that fails."""


class Sql(Acting):
    """The task `sql`; a problem is a question in words."""

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns our settings: none were published."""
        return PUBLISHED.get(method, {})

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the query of a path; None unless its last part is the final SELECT."""
        parts = [part_of(text) for text in texts(path)]
        return chained(parts) if parts and not parts[-1].name else None

    # Proposes, Values

    def propose(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns the question for next parts; at the last step, for final queries."""
        last = len(path) + 1 >= options.get("steps", 2)
        name = "propose_last" if last else "propose"

        def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
            parts = [part for text in samples for part in parts_in(text)]
            default_name = f"{PART}{len(path) + 1}"
            named = (Part("" if last else part.name or default_name, part.query) for part in parts)
            return [{"text": text} for text in dict.fromkeys(part.text for part in named)]

        return Question(self._prompt(name, problem, path, options), read)

    async def value(
        self, problem: str, path: Path, options: Options
    ) -> Question[Verdict] | Verdict:
        """Returns the question for a verdict, or the verdict if the part fails or has no rows."""
        outcome = await self._chain(problem, texts(path), options)
        if isinstance(outcome, QueryError):
            return Verdict(0.0, str(outcome))
        if not outcome.rows:
            return Verdict(VALUES["impossible"], NO_ROWS)
        prompt = self._prompt("value", problem, path, options, rows=outcome.shown(5))
        return Question(prompt, _read_verdicts)

    # Steps, Reviews, Estimates

    def step(
        self, problem: str, path: Path, lessons: Sequence[Path], options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns the question for the next part; its prompt warns of chains that went wrong."""
        failures = (f"{numbered(each)}\nWhat was wrong: {each[-1]['analysis']}" for each in lessons)
        warning = "\n\n".join(["", "These chains went wrong:", *failures]) if lessons else ""
        prompt = self._prompt("step", problem, path, options, lessons=warning)
        return Question(prompt, each(lambda text: self._read_step(path, text)))

    def _read_step(self, path: Path, text: str) -> dict[str, Any]:
        parts = parts_in(text)
        if not parts:
            return {"text": text.strip(), "raw": cut(text)}
        fields = {"text": parts[0].text, "raw": cut(text)}
        if parts[0].name:
            return fields
        answer = chained([*map(part_of, texts(path)), parts[0]])
        return {**fields, "status": "terminal", "answer": answer}

    async def analyse(
        self, problem: str, path: Path, options: Options
    ) -> Question[Faults] | Faults:
        """Returns the first part that fails; if all run, the question about bad steps."""
        if options["protocol"] == TWO_CALLS and "analysis" in path[-1]:
            values = {"question": self.question_of(problem), "analysis": path[-1]["analysis"]}
            request = fill("rollback/extract", **values, count=counted(path))
            return Question(Prompt(request), lambda samples: bad_steps(samples[0], len(path)))
        # A part with an analysis ran when that was made, unless the analysis reports a failure.
        has_run = [not each.get("analysis", FAILED).startswith(FAILED) for each in path[:-1]]
        outcome: Rows | QueryError | None = None
        for at in (at for at, runs in enumerate([*has_run, False], 1) if not runs):
            outcome = await self._chain(problem, texts(path)[:at], options)
            if isinstance(outcome, QueryError):
                return Faults([at], analysis=f"{FAILED}{at} fails: {outcome}")
        rows = outcome.shown(5) if isinstance(outcome, Rows) else ""
        prompt = self._prompt("analyse", problem, path, options, rows=rows)
        return Question(prompt, lambda samples: bad_steps(samples[0], len(path)))

    async def estimate(
        self, problem: str, path: Path, style: str, options: Options
    ) -> Question[Verdict] | Verdict:
        """Returns the question for a score; under `level_tot`, 0 if the parts fail."""
        if style != "level_tot":
            return self.estimate_actions(problem, path, style)
        outcome = await self._chain(problem, texts(path), options)
        if isinstance(outcome, QueryError):
            return Verdict(0.0, str(outcome))
        return Question(self._prompt("score", problem, path, options), step_score)

    # Plans

    def plan(
        self, problem: str, path: Path, shots: Sequence[int], steps: int | None, options: Options
    ) -> Question[Sequence[Sequence[str]]]:
        """Returns the question for the next parts, one per line."""
        wanted = "all that remain" if steps is None else f"the next {steps}"
        prompt = self._prompt("plan", problem, path, options, wanted=wanted)
        return Question(prompt, each(lambda text: [p.text for p in parts_in(text)][:steps]))

    async def execute(
        self, problem: str, path: Path, steps: Sequence[str], options: Options
    ) -> Ruling:
        """Runs each part with the parts before it; under `empty=strict` each must return rows."""
        done, lines, observations = _lines(path), list[str](), list[str]()
        for line in steps:
            if not parts_in(line):
                return _refused(
                    [*lines, line], "E_SYNTAX", "it is no part of a query", unparsed=True
                )
            lines.append(line)
            outcome = await self._chain(problem, [*done, *lines], options)
            if isinstance(outcome, QueryError):
                return _refused(lines, "E_QUERY", str(outcome))
            if not outcome.rows and options["empty"] == "strict":
                return _refused(lines, "E_EMPTY", NO_ROWS)
            observations.append(outcome.shown(3, "; "))
            if not part_of(line).name:
                break
        if not lines:
            return _refused(lines, "E_SYNTAX", "the plan has no next step", unparsed=True)
        parts = [part_of(line) for line in [*done, *lines]]
        answer = None if parts[-1].name else chained(parts)
        return Ruling(True, "\n".join(lines), "\n".join(observations), {}, answer)

    async def _chain(
        self, problem: str, lines: Sequence[str], options: Options
    ) -> Rows | QueryError:
        return await self._ran(problem, chained([part_of(line) for line in lines]), options)

    def _prompt(
        self, name: str, problem: str, path: Path, options: Options, **values: str
    ) -> Prompt:
        fields = {**self._prompt_values(problem, options), **values}
        fields["parts"] = "\n".join(_lines(path)) or "(none yet)"
        fields["next"] = f"{PART}{len(path) + 1}"
        return Prompt(fill(f"sql/{name}", **fields, steps=numbered(path)))


def _lines(path: Path) -> list[str]:
    return [line for text in texts(path) for line in text.split("\n")]


def _refused(lines: Sequence[str], code: str, reason: str, *, unparsed: bool = False) -> Ruling:
    return Ruling(False, "\n".join(lines), code=code, reason=reason, malformed=unparsed)


def _read_verdicts(samples: Sequence[str]) -> Verdict:
    """Sums the values of the verdicts; an unreadable one counts as likely, as the part runs."""
    words = judgements.verdicts(samples, VALUES)
    total = sum(VALUES.get(word, VALUES["likely"]) for word in words)
    return Verdict(total, ", ".join(words), words.count("?"))
