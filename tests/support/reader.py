"""A scripted reader behind an endpoint: it searches twice, looks a word up, and answers."""

import re

from support.fake_server import Seen

QUESTION = "In which country was the composer of Fidelio born?"
PAGES = {
    "Fidelio": "Fidelio is the only opera of Ludwig van Beethoven.",
    "Ludwig van Beethoven": "Ludwig van Beethoven was a composer. Bonn in Germany is where he was "
    "born.",
}
STEPS = (
    "Who wrote Fidelio?\nAction 1: Search[Fidelio]",
    "Where was Beethoven born?\nAction 2: Search[Ludwig van Beethoven]",
    "I look for the place.\nAction 3: Lookup[born]",
    "It is Germany.\nAction 4: Finish[Germany]",
)


def read(seen: Seen) -> str:
    """Writes the next step of the trajectory that a prompt ends with."""
    step = re.search(r"Thought (\d+):$", seen.prompt)
    assert step is not None, seen.prompt
    return STEPS[int(step[1]) - 1]


def told(prompt: str) -> list[str]:
    """Returns the observations of the question that a prompt ends with."""
    return re.findall(r"^Observation \d+: (.*)$", prompt.rpartition("Question: ")[2], re.M)
