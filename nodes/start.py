"""The first node: reads the problem, fixes the settings, plants the root; or refuses the search."""

import asyncio
import logging
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from langchain_core.messages import BaseMessage, HumanMessage, get_buffer_string, trim_messages
from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Overwrite

from thoughtgraph.configurations import PLACE, configurable
from thoughtgraph.errors import InputError, ProblemError, ThoughtgraphError
from thoughtgraph.llm.completions import encodable
from thoughtgraph.llm.meter import tell
from thoughtgraph.llm.prices import check_limit
from thoughtgraph.nodes.calls import labels
from thoughtgraph.nodes.limits import may_begin
from thoughtgraph.nodes.node import check_place, is_nested
from thoughtgraph.outcome import REFUSED
from thoughtgraph.policy import LONGEST_TEXT
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.state import REPLY, SearchInput, SearchState
from thoughtgraph.task import Opens, Task, extras
from thoughtgraph.tree import ROOT, Thought, root
from thoughtgraph.usage import nothing_spent

LEFT_OUT = "(what was said earlier is left out)"
"""First line of a transcript with room for the end of a conversation alone."""
UNKEPT = (
    "a review pauses the run, which a checkpointer must keep: "
    "tg.build(…, checkpointer=InMemorySaver()), and a thread_id; servers have both"
)
"""Refusal of a review in a run without a thread, where no pause can be stored."""


async def start(
    run: Run, origin: Thought, fresh: Mapping[str, Any], state: SearchInput
) -> dict[str, Any]:
    """Begins a search, as the first node of its graph.

    The node copies the effective settings into the state, so that every later router is a pure
    function of the state. It also clears what an earlier search left on the thread. It refuses an
    unusable problem or setting, and a model or tools that cannot be opened, before anything is
    spent: by an error, or by a result where nobody would see the error (`_replies`).

    Args:
        run: The graph's objects.
        origin: Additional fields of the root.
        fresh: Initial values of the state fields that the method adds.
        state: The input.
    """
    runtime = get_runtime()
    try:
        initial = await _initial_state(run, state, _chosen(run, state, runtime), origin)
    except ThoughtgraphError as error:
        if not _replies(run, state, runtime.context, error):
            raise
        initial = _refused(run, state, error)
    return {**initial, **fresh}


async def admitted(state: SearchState) -> Literal["begins", "refused"]:
    """Routes into the search, or past it if it was refused."""
    return "refused" if state["stop_reason"] else "begins"


async def begin(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the first request, if one is allowed."""
    return "generate" if may_begin(state) else "answer"


async def _initial_state(
    run: Run, state: SearchInput, chosen: Mapping[str, Any], origin: Thought
) -> dict[str, Any]:
    """Returns the state in which a search begins.

    Raises:
        ThoughtgraphError: The search cannot begin.
    """
    settings = run.effective_settings(chosen)
    task = run.task_for(settings, Task)
    text = encodable(problem_of(state, task))
    if run.policy is not None and len(text) > LONGEST_TEXT:
        raise ProblemError(
            f"a problem of {len(text)} characters is too long; write at most {LONGEST_TEXT}"
        )
    problem = task.read(text)
    running = get_runtime().execution_info
    if settings["review"] != "off" and (running is None or running.thread_id is None):
        raise InputError(UNKEPT)
    if isinstance(task, Opens):
        await asyncio.to_thread(task.open, problem, settings)
    run_name = secrets.token_hex(8)
    prices = await run.open_models(settings)
    if None in prices.values():
        if run.policy is None:  # a policy would refuse the changed setting
            settings["limit_dollars"] = None
        capped = run.policy and run.policy.ceilings.get("limit_dollars") is not None
        if capped or chosen.get("limit_dollars") is not None:
            check_limit(prices)
    planted: Thought = {**root(), **origin}
    if tools := await run.open_tools(settings, problem, run_name):
        planted["tools"] = tools
    initial = {
        **_reset(run, run_name, planted),
        "problem": problem,
        "settings": settings,
        "prices": prices,
        "oracle": run.has_feedback(settings),
    }
    tell(logging.INFO, labels(run, initial), "starts")
    return initial


def _reset(run: Run, name: str, planted: Thought) -> dict[str, Any]:
    """Returns the fields that reset a thread when a search starts, even one that is refused.

    Args:
        run: The objects of the graph.
        name: Name of the run.
        planted: The root of the tree.
    """
    return {
        "method": run.method.entry.id,
        "run": name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "thoughts": Overwrite({ROOT: planted}),
        "step": 0,
        "spent": Overwrite(nothing_spent()),
        "usage": {},
        "tree": {},
        **dict.fromkeys(("stop_reason", "limit", "error"), Overwrite("")),
        "answer": None,
        "verified": None,
        "votes": [],
        "outcome": "",
        "candidates": [],
    }


def _chosen(run: Run, state: SearchInput, runtime: Runtime[Any]) -> dict[str, Any]:
    """Returns the settings that the caller chose for a run.

    Settings count only in LangGraph's `context`. Elsewhere they would silently have no effect, so
    they are refused, except inside another graph, to which the other places belong.

    Raises:
        InputError: The context holds no settings, or settings are in another place.
    """
    context = runtime.context
    if is_nested(runtime):
        return run.chosen(context)
    if isinstance(context, Settings) and not isinstance(context, run.context):
        context = run.context(**context.model_dump(include=context.model_fields_set))
    if context is not None and not isinstance(context, run.context):
        raise InputError(
            f"a context is no {type(context).__name__}; give a dictionary of settings: "
            "context={'limit_requests': 100}"
        )
    chosen = run.chosen(context)
    check_place(run, configurable(get_config()).keys() - chosen.keys(), PLACE)
    check_place(run, state.keys() - SearchInput.__annotations__.keys(), "the input")
    return chosen


def _replies(run: Run, state: SearchInput, context: object, error: ThoughtgraphError) -> bool:
    """Returns whether a refused search ends with a result that says why, instead of an error.

    Servers hide the text of an error: aegra shows "execution failed", `langgraph dev` a failed run.
    In a conversation, a person or an agent's model can rephrase a problem that the task cannot
    read.
    """
    on_error = context.on_error if isinstance(context, Settings) else None
    if (on_error or run.presets.get("on_error")) == "raise":
        return False
    in_conversation = any(message.type == "human" for message in state.get("messages") or ())
    on_server = run.policy is not None and not is_nested(get_runtime())
    return on_server or (in_conversation and isinstance(error, ProblemError))


def _refused(run: Run, state: SearchInput, error: ThoughtgraphError) -> dict[str, Any]:
    """Returns the state of a refused search."""
    name = secrets.token_hex(8)
    # The log leaves out the reason, which quotes what the client sent.
    metadata = labels(run, {"settings": {}, "run": name})
    tell(logging.INFO, metadata, "is refused")
    # In a conversation the problem is in the messages, and `problem` is of an earlier turn.
    problem = "" if state.get("messages") else state.get("problem")
    return {
        **_reset(run, name, root()),
        "problem": problem if isinstance(problem, str) and len(problem) <= LONGEST_TEXT else "",
        "settings": {},
        "prices": {},
        "stop_reason": Overwrite(REFUSED),
        "error": Overwrite(str(error)),
        "oracle": False,
    }


def problem_of(state: SearchInput, task: Task) -> str:
    """Returns the problem to solve: the newest human message, or the input's `problem`.

    The message takes precedence until a run has replied to it. Then `problem` does; without one,
    the message is solved again. For a task with `follow_up`, the problem includes the conversation
    before the message: the system message, and as many of the newest turns as fit.

    Args:
        state: The input.
        task: The task that reads the problem.

    Raises:
        ProblemError: There is no problem, or it is not text.
    """
    messages = state.get("messages") or []
    if not all(isinstance(message, BaseMessage) for message in messages):
        raise ProblemError("something in `messages` is not a chat message; start a new thread")
    human_at = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
    question = str(messages[human_at[-1]].text) if human_at else ""
    later = messages[human_at[-1] + 1 :] if human_at else []
    answered = any(REPLY in message.response_metadata for message in later)
    problem = state.get("problem") or ""
    if question and not (answered and problem):
        follow_up = extras(task).follow_up
        # The template itself takes up room, too.
        room = LONGEST_TEXT - len(question) - len(follow_up("", ""))
        turns = _turns(messages[: human_at[-1]], room)
        return follow_up(turns, question) if turns else question
    if not problem:
        raise ProblemError(
            'no problem given; pass {"problem": …} or messages with one of a human among them'
        )
    # LangGraph does not check types: a caller may pass anything.
    if not isinstance(problem, str):
        raise ProblemError(
            f"a problem is one text, not {type(problem).__name__}; write lists and scenes as JSON"
        )
    return problem


def _turns(messages: Sequence[BaseMessage], room: int) -> str:
    """Returns messages as a transcript, of which the oldest are cut to fit `room` characters."""
    if not messages:
        return ""
    newest = trim_messages(
        messages,
        max_tokens=room - len(LEFT_OUT) - 1,
        token_counter=_characters,
        strategy="last",
        include_system=True,
    )
    if not newest:
        return ""
    transcript = get_buffer_string(newest)
    return transcript if len(newest) == len(messages) else f"{LEFT_OUT}\n{transcript}"


def _characters(messages: Sequence[BaseMessage]) -> int:
    return len(get_buffer_string(messages))
