"""Trajectories: steps of thought, action and observation as a model reads and writes them (ReAct).

    Thought 2: I need the capital of Chile.
    Action 2: Lookup[capital]
    Observation 2: (Result 1 / 2) Its capital is Santiago.

The observation, a tool's answer, has a line of its own. Code only renders observations and never
parses them; an observation that the model made up is cut off.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from thoughtgraph.acting import Move
from thoughtgraph.tasks.grammar import grammar, literal, one_of
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tree import Path, Thought

STOP = "\nObservation"
"""Stop text of a step: observations come from tools (ReAct's code)."""

LONGEST_THOUGHT = 600
"""Longest thought that a grammar allows (ours)."""
LONGEST_ARGUMENT = 200
"""Longest argument that a grammar allows (ours)."""

_MARK = r"(?:[^\w\n]|_){0,8}"
_NUMBER = r"[ \t*_#(]{0,5}(?:\d{0,4}|i\b)"
"""Small models copy the letter `i` that papers number steps with."""
_COLON = r"[ \t*_)>]{0,6}[:\uff1a][*_]{0,3}"

_OBSERVED = re.compile(rf"^{_MARK}Observation\b", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(rf"^{_MARK}Thought{_NUMBER}{_COLON}", re.IGNORECASE | re.MULTILINE)
_ACTION = re.compile(
    rf"^{_MARK}(?:\d[.)] \W{{0,3}})?(?:next )?Act(?:ion)?{_NUMBER}"
    rf"(?:{_COLON}|\]:?|[ \t]-[ \t]|[ \t*_]*$)"
    rf"|\bAction[ \t]{{1,3}}(?:\d{{1,4}}|i\b){_COLON}",
    re.IGNORECASE | re.MULTILINE,
)
_BARE = re.compile(r"^[ \t*`>-]{0,8}[A-Za-z]\w{0,40}\[[^\n]*\][ \t.*`]*$", re.MULTILINE)
"""A line that is only an action; small models omit the label."""
_TOOL = re.compile(r"(\w{1,64})\[")


@lru_cache(maxsize=256)
def step_grammar(tools: str, number: int, *, thought: bool, label: bool = False) -> str:
    """Returns the grammar of a step after its label, `Thought 2:` or `Action 2:`.

    Args:
        tools: One line a tool, as prompts show them: `Search[entity]: what it does`.
        number: The number of the step.
        thought: Whether the model writes thought and action, or the action alone.
        label: Whether the model also writes the label of the thought.
    """
    names = [match[1] for line in tools.split("\n") if (match := _TOOL.match(line))]
    thought_label = literal(f"Thought {number}:") if label else ""
    action_label = literal(f"\nAction {number}: ")
    action = one_of(names) if names else "[A-Za-z]{1,40}"
    return grammar(
        f'{thought_label} " "? text {action_label} action' if thought else '" "? action',
        text=f"[^ \\n] [^\\n]{{0,{LONGEST_THOUGHT}}}",
        action=f'{action} "[" argument "]"',
        argument=f"[^\\n\\[\\]]{{1,{LONGEST_ARGUMENT}}}",
    )


def trajectory(path: Path) -> str:
    """Returns a path as numbered steps; empty for the root."""
    return "\n".join(
        line
        for step, thought in enumerate(path, 1)
        for line in (*_step_lines(step, thought), *_observation_lines(step, thought))
    )


def turns_of(question: str, path: Path) -> tuple[Sequence[tuple[str, str]], str]:
    """Returns a path as turns of a conversation: user messages and model replies.

    Args:
        question: The text before the first step.
        path: The steps.

    Returns:
        The turns so far, and the next message of the user.
    """
    turns, message = [], question
    for step, thought in enumerate(path, 1):
        turns.append((message, "\n".join(_step_lines(step, thought)) or f"Thought {step}: …"))
        message = "".join(_observation_lines(step, thought)) or "Go on."
    return turns, message


def written_turns(trajectories: str) -> Sequence[tuple[str, str]]:
    """Splits worked examples into turns; text after the last action is dropped.

    Args:
        trajectories: Questions with their numbered steps, as prompts show them.
    """
    turns, message = [], ""
    for is_reply, lines in groupby(trajectories.split("\n"), _is_model_line):
        text = "\n".join(lines)
        if is_reply:
            turns.append((message, text))
        else:
            message = text.strip()
    return turns


def action_text(thought: Thought) -> str:
    """Returns a thought's action as it is written, such as `Search[Milan]`; empty without one."""
    action = thought.get("action")
    return one_line(f"{action['name']}[{action['argument']}]") if action else ""


def _is_model_line(line: str) -> bool:
    return bool(_THOUGHT.match(line) or _ACTION.match(line))


def _step_lines(step: int, thought: Thought) -> Sequence[str]:
    lines = ("Thought", thought["text"]), ("Action", action_text(thought))
    return [f"{label} {step}: {one_line(text)}" for label, text in lines if text]


def _observation_lines(step: int, thought: Thought) -> Sequence[str]:
    text = thought.get("observation")
    return [f"Observation {step}: {one_line(text)}"] if text else []


def read_move(text: str, thought: str = "") -> Move:
    """Reads the first step out of a completion.

    Labels may be decorated; their numbers are ignored. The thought is the text before the first
    action. The action is the first line after its label or, without a label, the first line that is
    only an action, such as `Lookup[capital]`.

    Args:
        text: The completion, which may go on after the step.
        thought: The thought, if the prompt asked only for its action. Without a label, the first
            line is then the action, whatever its form.
    """
    step = _OBSERVED.split(text, maxsplit=1)[0]
    match = _ACTION.search(step)
    if thought:
        rest = step if match is None else step[match.end() :]
        action = _first_line(rest)
        return Move(thought, action, malformed=not action)
    bare = _BARE.search(step) if match is None else None
    if bare is not None:
        return Move(_thought(step[: bare.start()]), one_line(bare[0]))
    if match is None:
        return Move(_thought(step), malformed=True)
    action = _first_line(step[match.end() :])
    return Move(_thought(step[: match.start()]), action, malformed=not action)


def _thought(text: str) -> str:
    return one_line(_THOUGHT.sub("", text))


def _first_line(text: str) -> str:
    """Returns the first non-empty line; empty if it is the next thought."""
    line = next((line for line in text.split("\n") if line.strip() and "```" not in line), "")
    return "" if _THOUGHT.match(line) else one_line(line).strip("`* ")
