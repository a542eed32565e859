"""Questions about thoughts: rendered once, although they are compared first and asked later.

Equal prompts are about equal states, so a verdict is kept under the key of its prompt. What was
rendered to find the key is what is asked if there is no verdict. In between it is kept beside the
state, not in it: it can be rendered again, and checkpoints would grow by every prompt.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar, cast

from thoughtgraph.llm.answer_cache import digest
from thoughtgraph.nodes.node import running_scratch
from thoughtgraph.task import Prompt, Question, Verdict

T = TypeVar("T")


class Keyed(NamedTuple):
    """A judge's question, and the key under which its verdict is kept."""

    key: str
    question: Question[Verdict]


def keyed(asked: Question[Verdict] | Verdict) -> Keyed | Verdict:
    """Returns a question with its key; a verdict needs none."""
    return asked if isinstance(asked, Verdict) else Keyed(state_key_of(asked.prompt), asked)


def state_key_of(prompt: Prompt) -> str:
    """Returns the state key of a question: equal prompts are about equal states."""
    return digest({"system": prompt.system, "examples": prompt.examples, "user": prompt.user})


def kept(name: str, make: Callable[[], T]) -> T:
    """Returns what was made under a name in this run and not dropped since, else makes it.

    Args:
        name: What it is about, such as the id of a thought.
        make: Makes it.
    """
    questions = running_scratch().questions
    if name not in questions:
        questions[name] = make()
    return cast("T", questions[name])


def drop(names: Iterable[str]) -> None:
    """Forgets what is about thoughts that are judged: a long search would fill the memory."""
    questions = running_scratch().questions
    for name in names:
        questions.pop(name, None)
