"""The task `crosswords` and its search: the board, the prompts, parsing, resuming, scores."""

import json
from typing import Any

import pytest
from support.scripted import Call, ScriptedChat, rng

import thoughtgraph as tg
from thoughtgraph.bench.crossword_scores import best_state, rows, score
from thoughtgraph.bench.data import load
from thoughtgraph.bench.metrics import scores
from thoughtgraph.errors import InputError, ProblemError
from thoughtgraph.nodes.families.depth_first import visited
from thoughtgraph.task import Verdict
from thoughtgraph.tasks.crossword_board import LABELS, CrosswordBoard
from thoughtgraph.tasks.crosswords import Crosswords, board_of, clues_of

TASK = Crosswords()
GOLD = "ADAPT WORRY ANGER ROUSE DRESS"
CLUES = [
    *("Change to fit", "Fret", "Displeasure: strong", "Wake up", "One-piece garment"),
    *("Prize", "Giver", "Quarrel", "Newspapers", "Rubber rings on wheels"),
]
PROBLEM = "\n".join(f"{label}. {clue}" for label, clue in zip(LABELS, CLUES, strict=True))
DOWN = ["award", "donor", "argue", "press", "tyres"]
WORDS = dict(zip(LABELS, [*GOLD.lower().split(), *DOWN], strict=True))


def path(*words: str) -> list[Any]:
    return [{"text": word} for word in words]


def test_reading_a_crossword() -> None:
    shuffled = "\n\n".join(reversed(PROBLEM.replace(". ", ")  ").upper().split("\n")))
    for text in (PROBLEM, json.dumps(CLUES), "\n".join(CLUES), shuffled):
        assert TASK.read(text).lower() == PROBLEM.lower()


@pytest.mark.parametrize(
    "text",
    [
        *("", "h1. only one", "[", "[1, 2]", json.dumps(CLUES[:9]), json.dumps([*CLUES[:9], " "])),
        "\n".join(["h1. twice"] * 10),
        json.dumps([CLUES, list("adaptworryangerrousedress")]),
    ],
)
def test_what_is_no_crossword_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ProblemError) as error:
        TASK.read(text)
    assert "\n" not in str(error.value)


def test_the_board_by_hand() -> None:
    board = CrosswordBoard().place("h1", "adapt").place("v1", "award").place("h2", "worry")
    assert board.answer() == "ADAPT WORRY A____ R____ D____"
    assert board.render(clues_of(PROBLEM)) == (
        "Current Board:\nADAPT\nWORRY\nA____\nR____\nD____\n\n"
        "Unfilled:\n"
        "h3. Displeasure: strong: A____\nh4. Wake up: R____\nh5. One-piece garment: D____\n"
        "v2. Giver: DO___\nv3. Quarrel: AR___\nv4. Newspapers: PR___\n"
        "v5. Rubber rings on wheels: TY___\n\n"
        "Filled:\nh1. Change to fit: ADAPT\nh2. Fret: WORRY\nv1. Prize: AWARD\n\n"
        "Changed:\n"
    )
    changed = board.place("v2", "olive")
    fillings = dict(zip(LABELS, changed.fillings, strict=True))
    assert [each for each in fillings if fillings[each] == "changed"] == ["h1", "h2"]
    assert fillings["v1"] == fillings["v2"] == "filled"
    assert board.altered(changed) == ["h1", "h2", "v2"]


def test_proposals_add_up_over_samples_in_order_of_appearance() -> None:
    samples = [
        "h2. worry (high)\nh1. Adapt (certain)\nI am sure.\nh3. long word (low)",
        "- **h1. adapt** (low)\nh2. worry (medium), perhaps\nh2. fuss (high)",
    ]
    drafts = TASK.propose(PROBLEM, path(), {}).read(samples)
    assert [(d["text"], pytest.approx(d["score"])) for d in drafts] == [
        ("h2. worry", 0.7),
        ("h1. adapt", 1.1),
    ]
    strict = TASK.propose(PROBLEM, path(), {"repo_compat": True}).read(samples)
    assert [d["score"] for d in strict] == [pytest.approx(0.7), 1.0]
    standing = TASK.propose(PROBLEM, path("h2. worry"), {}).read(samples)
    assert [d["text"] for d in standing] == ["h1. adapt"]


def test_clues_with_at_least_two_letters_are_judged_by_the_last_line() -> None:
    questions = TASK.inspect(PROBLEM, path("h1. adapt", "h2. worry"), {})
    prompts = [question.prompt.user.split("\n")[-1] for question in questions]
    assert prompts == [
        "Change to fit: a d a p t",
        "Fret: w o r r y",
        "Prize: a w _ _ _",
        "Giver: d o _ _ _",
        "Quarrel: a r _ _ _",
        "Newspapers: p r _ _ _",
        "Rubber rings on wheels: t y _ _ _",
    ]
    verdicts = [questions[0].read([text]) for text in ("ok\n Sure. ", "impossible", "hm")]
    none = Verdict(0.0, malformed=1)
    assert verdicts == [Verdict(0.0, "sure"), Verdict(-1.0, "impossible"), none]


def knowing(call: Call) -> str:
    """A model that proposes a wrong word first and knows which letters belong where."""
    if call.role == "generate":
        right = [f"{label}. {word} (high)" for label, word in WORDS.items()]
        return "\n".join(["h1. amend (certain)", "v1. agree (certain)", *right])
    clue, _, letters = call.prompt.split("\n")[-1].rpartition(": ")
    word = WORDS[LABELS[CLUES.index(clue)]]
    fits = all(a in ("_", b) for a, b in zip(letters.split(), word, strict=True))
    return "sure" if fits else "impossible"


async def search(**context: Any) -> tuple[dict[str, Any], ScriptedChat]:
    model = ScriptedChat(reply=knowing, delay=0.01)
    graph = tg.build("tot_dfs", task="crosswords", model=model)
    return await graph.ainvoke({"problem": PROBLEM}, context=context), model


async def test_the_search_backtracks_out_of_wrong_words_and_fills_the_board() -> None:
    out, model = await search(outputs=1, proposal_samples=1)
    assert (out["answer"], out["stop_reason"]) == (GOLD, "finished")
    records = visited(out["tree"].values())
    visits = [(t["text"], t["status"], t["note"]) for t in records]
    assert visits[:2] == [
        ("h1. amend", "pruned", "impossible"),
        ("v1. agree", "pruned", "impossible"),
    ]
    right = [f"{label}. {word}" for label, word in WORDS.items()]
    assert [text for text, _, _ in visits[2:]] == [right[0], "v1. agree", *right[1:]]
    assert visits[4] == ("h2. worry", "expanded", "sure 7")
    refused = tg.children_of(out["tree"], records[2]["id"])[0]
    assert (refused["text"], refused["status"]) == ("h1. amend", "pruned")
    assert "alters a letter of h1" in refused["note"]
    asked = [call.prompt for call in model.seen if call.role == "value"]
    assert len(asked) == len(set(asked)), "a clue's verdict is asked for once"
    assert model.peak == 6, "all clues of a state are judged side by side"


MORE = [
    pytest.param(range(3, 10), marks=pytest.mark.ci),
    pytest.param(range(10, 400), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("pool", [range(3), *MORE])
async def test_what_holds_for_every_crossword_search(pool: range) -> None:
    for seed in pool:
        out = await guess(seed, variant="no_prune" if seed % 4 == 0 else "prune")
        tree = out["tree"]
        records = visited(tree.values())
        assert len(records) <= 20, "P17"
        for thought in records:
            steps = tg.path_to(tree, thought["id"])
            board, before = board_of(steps), board_of(steps[:-1])
            assert before.altered(board) == [], "P22"
            assert "changed" not in board.fillings
        assert score(out["answer"], GOLD).words <= best_state(tree, GOLD).words, "P21"
        assert out["answer"].count("_") == 25 - len(out["answer"].replace(" ", "").replace("_", ""))


async def guess(seed: int, **context: Any) -> dict[str, Any]:
    """A search with a model that guesses among right and wrong words."""

    def reply(call: Call) -> list[str]:
        draws = rng(seed, call.draw or call.prompt)
        if call.role == "generate":
            words = [*WORDS.items(), *(("h1", "amend"), ("v3", "abbey"), ("h4", "gauge"))]
            lines = [f"{k}. {w} ({draws.choice(['high', 'low'])})" for k, w in words]
            return ["\n".join(draws.sample(lines, 4)) for _ in range(call.n)]
        return [draws.choice(["sure", "maybe", "maybe", "impossible", "?"]) for _ in range(call.n)]

    graph = tg.build("tot_dfs", task="crosswords", model=ScriptedChat(reply=reply))
    settings = {"max_records": 20, "proposal_samples": 2, **context}
    return await graph.ainvoke({"problem": PROBLEM}, context=settings)


async def test_plain_prompting_reads_every_sample() -> None:
    texts = [f"Output:\n{GOLD.replace(' ', chr(10))}", "no idea"] * 5
    for method in ("io", "cot"):
        model = ScriptedChat(reply=lambda call: texts)
        out = await tg.build(method, task="crosswords", model=model).ainvoke({"problem": PROBLEM})
        assert out["candidates"] == [GOLD, None] * 5
        assert model.seen[0].prompt.count("Input:") == 6


def test_scores_by_hand() -> None:
    one_off = GOLD.replace("DRESS", "DRESX")
    assert score(one_off, GOLD) == (24 / 25, 8 / 10, False)
    assert scores("crosswords", PROBLEM, [GOLD, one_off, None], GOLD) == [1.0, 0.8, 0.0]


def test_loading_puzzles(tmp_path: Any) -> None:
    file = tmp_path / "puzzles.json"
    file.write_text(json.dumps([[CLUES, list(GOLD.replace(" ", ""))]]))
    assert load(TASK, file) == [("1", PROBLEM, GOLD, {})]
    assert rows(GOLD.replace(" ", "").lower()) == GOLD
    for text in ("{", "[1]", '[["a", "b"]]'):
        file.write_text(text)
        with pytest.raises(InputError):
            load(TASK, file)
