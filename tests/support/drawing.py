"""Models of a `FakeServer` that answer at random, by the prompt alone."""

import random

from support.fake_server import Seen

PAGES = [
    {"title": name, "text": f"{name} is near {other}. It has {at} towers. Nobody knows why."}
    for at, (name, other) in enumerate(zip("ABCDEF", "BCDEFA", strict=True))
]


def drawn(seen: Seen) -> random.Random:
    return random.Random(seen.prompt)


def walk(seen: Seen) -> list[str]:
    """Acts, scores, labels and judges: by the prompt alone."""
    draws = drawn(seen)
    if "score" in seen.prompt[-400:].lower():
        return [f"The evaluation score is {draws.randint(1, 10)}"] * seen.n
    if "sure, maybe" in seen.prompt or "sure/maybe" in seen.prompt:
        return [f"Reply: {draws.choice(['sure', 'maybe', 'maybe', 'impossible'])}"] * seen.n
    places = [draws.choice("ABCDEFG") for _ in range(seen.n)]
    return [
        f"Thought: I look at {place}{at}.\nAction: Search[{place}]"
        for at, place in enumerate(places)
    ]


def steps(seen: Seen) -> str:
    """Reasons step by step, and finds the second step bad now and then."""
    draws = drawn(seen)
    if "bad step" in seen.prompt.lower():
        return f"It is wrong.\nBad step index: {draws.choice(['1', '2', 'none'])}"
    end = draws.random() < 0.3
    return f"So the answer is {draws.randint(1, 9)}." if end else f"Note {draws.randint(1, 99)}."


def scribble(seen: Seen) -> str:
    """Writes a plan that nobody can run."""
    return f"obj1 = filter_color(objects, {drawn(seen).choice(['red', 'nonsense'])}"
