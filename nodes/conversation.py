"""What a conversation asks: its last human message, with what was said before where that counts."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, get_buffer_string, trim_messages

from thoughtgraph.errors import ProblemError
from thoughtgraph.policy import LONGEST
from thoughtgraph.state import REPLY, SearchInput
from thoughtgraph.task import Task, extras

LEFT_OUT = "(what was said earlier is left out)"


def problem_of(state: SearchInput, task: Task) -> str:
    """Returns the last thing a human said; the given problem, once that has been answered.

    A task that takes any question is given what was said before it too, as far as there is room:
    the newest turns, and the system's message.

    Args:
        state: The input.
        task: The task that reads the problem.

    Raises:
        ProblemError: There is none, or it is no text.
    """
    messages = state.get("messages") or []
    if not all(isinstance(message, BaseMessage) for message in messages):
        raise ProblemError("messages are a list of a conversation's messages; start a new thread")
    said = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
    question = str(messages[said[-1]].text) if said else ""
    since = messages[said[-1] + 1 :] if said else []
    answered = any(REPLY in message.response_metadata for message in since)
    given = state.get("problem") or ""
    if question and not (answered and given):
        follow_up = extras(task).follow_up
        turns = _turns(messages[: said[-1]], LONGEST - len(question) - len(follow_up("", "")))
        return follow_up(turns, question) if turns else question
    if not given:
        raise ProblemError(
            'no problem given; pass {"problem": …} or messages with one of a human among them'
        )
    # A caller in Python, or a server's, may pass whatever there is.
    if not isinstance(given, str):
        raise ProblemError(
            f"a problem is one text, not {type(given).__name__}; write lists and scenes as JSON"
        )
    return given


def _turns(messages: Sequence[BaseMessage], room: int) -> str:
    """Returns what was said as a transcript: as much of it as there is room for."""
    if not messages:
        return ""
    kept = trim_messages(
        messages,
        max_tokens=room - len(LEFT_OUT) - 1,
        token_counter=_length,
        strategy="last",
        include_system=True,
    )
    if not kept:
        return ""
    words = get_buffer_string(kept)
    return words if len(kept) == len(messages) else f"{LEFT_OUT}\n{words}"


def _length(messages: Sequence[BaseMessage]) -> int:
    return len(get_buffer_string(messages))
