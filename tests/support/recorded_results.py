"""Recorded runs as results: crosswords, and rows of the benchmark."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from support.recorded import thoughts, told
from support.scripted import Call, Reply, ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.bench.runner import Batch, Setup, Trial, run, trials
from thoughtgraph.cli.bench import score
from thoughtgraph.nodes.families.depth_first import visited
from thoughtgraph.tasks.crosswords import CONFIDENCE, Crosswords, board_of, clues_of

EMPTY_BOARD = "Current Board:\n" + "_____\n" * 5


def problems(proposals: Mapping[str, Any]) -> dict[str, str]:
    """The crosswords that were proposed for: the empty board by problem."""
    boards = [board for board in proposals if board.startswith(EMPTY_BOARD)]
    clues = r"^([hv]\d\. .*): _____$"
    return {Crosswords().read("\n".join(re.findall(clues, b, re.M))): b for b in boards}


def problem_of(records: Sequence[Mapping[str, Any]], proposals: Mapping[str, Any]) -> str:
    """The crossword a recorded search was about: the one whose proposals it followed."""
    fitting = [
        problem
        for problem in problems(proposals)
        if all(_proposed(problem, record["actions"], proposals) for record in records)
    ]
    assert len(fitting) == 1, f"{len(fitting)} crosswords fit {records[0]['actions']}"
    return fitting[0]


def _proposed(problem: str, actions: Sequence[str], proposals: Mapping[str, Any]) -> bool:
    before = board_of(thoughts(actions[:-1])).render(clues_of(problem))
    return actions[-1] in proposals.get(before, ())


def mentions(score: float) -> list[str]:
    """The confidences, in order, whose floating-point sum is exactly a recorded score."""
    reached: dict[float, list[str]] = {0.0: []}
    for _ in range(12):
        if score in reached:
            return reached[score]
        step = {
            total + worth: [*words, word]
            for total, words in reached.items()
            for word, worth in CONFIDENCE.items()
            if total + worth <= score
        }
        reached = {**step, **reached}
    raise AssertionError(f"{score} is no sum of twelve confidences")


def proposal_samples(scores: Mapping[str, float], n: int) -> list[str]:
    """Completions in which the words occur in the recorded order and add up to their scores."""
    samples: list[list[str]] = [[] for _ in range(n)]
    for word, sure in scores.items():
        for at, confidence in enumerate(mentions(sure)):
            samples[min(at, n - 1)].append(f"{word} ({confidence})")
    return ["\n".join(lines) for lines in samples]


def crosswords_reply(
    records: Sequence[Mapping[str, Any]], problem: str, proposals: Mapping[str, Any]
) -> Reply:
    """Answers as the recorded run did: proposals by board, verdicts by clue and letters."""
    task = Crosswords()
    sums = []
    for record in records:
        questions = task.inspect(problem, thoughts(record["actions"]), {})
        asked = [told(question.prompt) for question in questions]
        sums.append((frozenset(asked), {**record["count"], "": 0}))
        sums[-1][1][""] = len(asked) - sum(record["count"].values())
    verdicts = decode(sums)

    def reply(call: Call) -> Sequence[str] | str:
        if call.role == "generate":
            board = call.prompt[call.prompt.rindex("Current Board:") :]
            known = next(b for b in proposals if board.startswith(b))
            return proposal_samples(proposals[known], call.n)
        return verdicts[call.prompt] or "I cannot tell"

    return reply


Counts = Mapping[str, int]


def decode(sums: Sequence[tuple[frozenset[str], Counts]]) -> dict[str, str]:
    """One verdict a question, given only how often each verdict occurred in sets of questions.

    The official code asked every question once, so the sums of different states constrain each
    other; sums of sets that overlap give sharper ones for their difference. What they leave open
    is tried out, where the fewest questions are open first.
    """
    sharper = {(asked, frozenset[str]()): dict(counts) for asked, counts in sums}
    for (a, x), (b, y) in combinations(sums, 2):
        if a & b and a != b and len(a ^ b) <= 12:
            sharper[a - b, b - a] = {label: x[label] - y[label] for label in x}
    rules = [(*sides, counts) for sides, counts in sharper.items()]
    where: dict[str, list[int]] = {question: [] for question in sorted(set().union(*dict(sums)))}
    for at, (plus, minus, _) in enumerate(rules):
        for question in plus | minus:
            where[question].append(at)
    labels = frozenset(sums[0][1])
    tries = [(dict.fromkeys(where, labels), dict.fromkeys(range(len(rules))))]
    while tries:
        domains, touched = tries.pop()
        if not _narrow(domains, touched, rules, where):
            continue
        unsure = {question for question in domains if len(domains[question]) > 1}
        if not unsure:
            return {question: next(iter(domain)) for question, domain in domains.items()}
        open_ = [sorted((plus | minus) & unsure) for plus, minus, _ in rules]
        question = min((len(each), each) for each in open_ if each)[1][0]
        for label in sorted(domains[question]):
            tried = {**domains, question: frozenset([label])}
            tries.append((tried, dict.fromkeys(where[question])))
    raise AssertionError("no verdicts give the recorded counts")


def _narrow(domains: Any, touched: dict[int, None], rules: Any, where: Any) -> bool:
    """Takes out of the domains what a rule forbids; False if a rule cannot hold."""
    while touched:
        plus, minus, counts = rules[touched.popitem()[0]]
        for label, count in counts.items():
            low, high = _bounds(domains, plus, label), _bounds(domains, minus, label)
            least, most = low[0] - high[1], low[1] - high[0]
            if not least <= count <= most:
                return False
            if least == most or least < count < most:
                continue
            take, drop = (minus, plus) if count == least else (plus, minus)
            for question, wanted in [*((q, True) for q in take), *((q, False) for q in drop)]:
                old = domains[question]
                if label in old and len(old) > 1:
                    domains[question] = frozenset([label]) if wanted else old - {label}
                    touched.update(dict.fromkeys(where[question]))
    return True


def _bounds(domains: Any, questions: frozenset[str], label: str) -> tuple[int, int]:
    able = [domains[question] for question in questions if label in domains[question]]
    return sum(len(domain) == 1 for domain in able), len(able)


async def replay_crossword(records: list[Any], problem: str, proposals: Any) -> Any:
    """A recorded search of a crossword, replayed: each step must be the recorded one."""
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
            expected = proposals[board.render(clues_of(problem))]
            found = [(child["text"], child["score"]) for child in children]
            assert found == list(expected.items())
    return out


def counted(note: str) -> dict[str, int]:
    found = re.findall(r"(sure|maybe|impossible)(?: (\d+))?", note)
    return {label: int(n or 1) for label, n in found}


MODEL = "gpt-4"


def keep(
    folder: Path,
    task: str,
    method: str,
    outs: Sequence[Mapping[str, Any]],
    *,
    given: Mapping[str, Any] | None = None,
    gold: Mapping[str, str] | None = None,
) -> None:
    """Writes what a method's graph returned, a problem each, as `bench` does: as runs of GPT-4.

    The settings given are those of a suite's line; the right answers are told by problem.
    """
    settings = effective_settings(method, registry.task(task), given) | {"task": task}
    setup = Setup(task, method, MODEL, data=task, given=given or {}, resolved=settings)
    problems = [str(out["problem"]) for out in outs]
    records = [Record(str(at), each, (gold or {}).get(each)) for at, each in enumerate(problems)]
    of = dict(zip(problems, outs, strict=True))

    async def search(trial: Trial) -> Mapping[str, Any]:
        return {**of[trial.record.problem], "settings": settings}

    wanted, results = trials([Batch([setup], records, [0])]), ResultFolder(folder)
    results.open()
    try:
        asyncio.run(run(wanted, results, search, score, concurrency=1, tell=lambda *_: None))
    finally:
        results.close()


def sampled(
    task: str, method: str, texts: Mapping[str, Sequence[str]]
) -> dict[str, Mapping[str, Any]]:
    """What a method of samples returns by problem when these are what the model says."""
    said: Sequence[str] = ()
    graph = tg.build(method, task=task, model=ScriptedChat(reply=lambda call: said))

    async def searches() -> dict[str, Mapping[str, Any]]:
        nonlocal said
        outs = {}
        for problem, said in texts.items():
            context = {"n_generate": len(said)}
            outs[problem] = await graph.ainvoke({"problem": problem}, context=context)
        return outs

    return asyncio.run(searches())


def spending(out: Mapping[str, Any], prompt: int, completion: int) -> dict[str, Any]:
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {**out, "usage": {**out["usage"], **tokens}}
