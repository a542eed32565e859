"""Turns recorded runs of the official code back into the answers a model must have given."""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from support.scripted import Call, Reply

from thoughtgraph.nodes.questions import state_key_of
from thoughtgraph.task import Prompt, Question
from thoughtgraph.tasks.crosswords import CONFIDENCE, Crosswords, board_of, clues_of
from thoughtgraph.tasks.game24.game24 import Game24

EMPTY_BOARD = "Current Board:\n" + "_____\n" * 5


def load(path: Path) -> Any:
    """A recorded run, unpacked."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def held(figures: Mapping[range, Any], known: Mapping[int, Any]) -> dict[range, Any]:
    """The figures of what is recorded here; there must be some."""
    found = {each: figures[each] for each in figures if known.keys() >= {*each}}
    assert found
    return found


def thoughts(lines: str | Sequence[str]) -> list[Any]:
    """A path whose thoughts are the lines of a recorded partial output."""
    split = lines.split("\n")[:-1] if isinstance(lines, str) else lines
    return [{"text": line} for line in split]


def told(prompt: Prompt) -> str:
    """A prompt as the scripted model sees it."""
    return "\n".join(str(message.content) for message in prompt.messages())


# Game of 24 --------------------------------------------------------------------------------------


def segments(parents: Sequence[str], children: Sequence[str]) -> list[list[str]]:
    """Gives recorded candidates back to their parents, as the lines each parent's answer had.

    Every answer had at least one line; of several equal parents the last takes what is left, since
    nothing tells whose a line was.
    """
    left = list(children)
    split: list[list[str]] = []
    for at, parent in enumerate(parents):
        again = parent in parents[at + 1 :]
        size = 1 if again else sum(1 for _ in _children(parent, left))
        split.append([child[len(parent) :].rstrip("\n") for child in left[:size]])
        left = left[size:]
    assert not left, "every recorded candidate belongs to a recorded parent"
    return split


def _children(parent: str, candidates: Sequence[str]) -> Iterator[str]:
    for candidate in candidates:
        rest = candidate.removeprefix(parent)
        if not candidate.startswith(parent) or rest.count("\n") != 1:
            return
        yield candidate


def votes(value: float) -> list[str]:
    """The three verdicts whose sum was recorded: 20 a sure, 1 a likely, 0.001 an impossible."""
    thousandths = round(value * 1000)
    sure, rest = divmod(thousandths, 20_000)
    likely, impossible = divmod(rest, 1000)
    words = ["sure"] * sure + ["likely"] * likely + ["impossible"] * impossible
    assert len(words) <= 3, f"{value} is no sum of three verdicts"
    return words + ["?"] * (3 - len(words))


def judged_before(entry: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The verdicts that the recorded run had from earlier puzzles and shows it had, by state key.

    Four equations without an answer are worth 0, except where the numbers they leave had been
    judged before: the official code looks those up first, and keeps verdicts between puzzles.
    """
    task, problem = Game24(), entry["steps"][0]["x"]
    kept: dict[str, dict[str, Any]] = {}
    asked: set[str] = set()
    for step in entry["steps"]:
        for text, value in zip(step["new_ys"], step["values"], strict=True):
            question = task.value(problem, thoughts(text), {})
            if isinstance(question, Question):
                asked.add(state_key_of(question.prompt))
            elif (
                value and question.instead and (key := state_key_of(question.instead)) not in asked
            ):
                kept[key] = {"value": value, "label": ", ".join(votes(value))}
    return kept


def game24_reply(entry: Mapping[str, Any]) -> Reply:
    """Answers as the recorded run did: generations by thought, evaluations by prompt."""
    task, problem = Game24(), entry["steps"][0]["x"]
    generations: dict[str, str] = {}
    verdicts: dict[str, list[str]] = {}
    parents, created = ["0"], 0
    for step in entry["steps"]:
        for key, lines in zip(parents, segments(step["ys"], step["new_ys"]), strict=True):
            generations[key] = "\n".join(lines)
        seen: set[str] = set()
        for text, value in zip(step["new_ys"], step["values"], strict=True):
            question = task.value(problem, thoughts(text), {})
            if text not in seen and isinstance(question, Question):
                assert verdicts.setdefault(told(question.prompt), votes(value)) == votes(value)
            seen.add(text)
        best = sorted(range(len(step["values"])), key=lambda at: -step["values"][at])
        parents = [str(created + at + 1) for at in best[: len(step["select_new_ys"])]]
        created += len(step["new_ys"])

    def reply(call: Call) -> Sequence[str] | str:
        return generations[call.draw[1]] if call.draw else verdicts[call.prompt]

    return reply


# Crosswords --------------------------------------------------------------------------------------


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
    for word, score in scores.items():
        for at, confidence in enumerate(mentions(score)):
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
