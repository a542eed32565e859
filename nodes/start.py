"""The first node: reads the problem, fixes the settings, plants the root; or says what is wrong."""

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
"""What begins a transcript of a conversation that had room for its end alone."""
UNKEPT = (
    "a review pauses the run, which a checkpointer must keep: "
    "tg.build(…, checkpointer=InMemorySaver()), and a thread_id; servers have both"
)
"""Why a review cannot pause a run without a thread."""


async def start(
    run: Run, origin: Thought, fresh: Mapping[str, Any], state: SearchInput
) -> dict[str, Any]:
    """The node that begins a search.

    It copies the effective settings into the state, so that every later router is a pure function
    of the state, and it clears what an earlier search on the same thread left. Where a problem or a
    setting cannot be used, or a model or tools cannot be had, it says so before anything is spent:
    by an error, or by a result where nobody would see one (`_replies`).

    Args:
        run: The graph's objects.
        origin: What the root begins with besides.
        fresh: What the method's further state fields begin with.
        state: The input.
    """
    runtime = get_runtime()
    try:
        begun = await _begun(run, state, _chosen(run, state, runtime), origin)
    except ThoughtgraphError as error:
        if not _replies(run, state, runtime.context, error):
            raise
        begun = _refused(run, state, error)
    return {**begun, **fresh}


async def admitted(state: SearchState) -> Literal["begins", "refused"]:
    """Routes past a search that was refused."""
    return "refused" if state["stop_reason"] else "begins"


async def begin(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the first request, if one is allowed."""
    return "generate" if may_begin(state) else "answer"


async def _begun(
    run: Run, state: SearchInput, chosen: Mapping[str, Any], origin: Thought
) -> dict[str, Any]:
    """Returns the state in which a search begins.

    Raises:
        ThoughtgraphError: It cannot.
    """
    settings = run.effective_settings(chosen)
    task = run.task_for(settings, Task)
    written = encodable(problem_of(state, task))
    if run.policy is not None and len(written) > LONGEST_TEXT:
        raise ProblemError(
            f"a problem of {len(written)} characters is too long; write at most {LONGEST_TEXT}"
        )
    problem = task.read(written)
    running = get_runtime().execution_info
    if settings["review"] != "off" and (running is None or running.thread_id is None):
        raise InputError(UNKEPT)
    if isinstance(task, Opens):
        await asyncio.to_thread(task.open, problem, settings)
    name = secrets.token_hex(8)
    prices = await run.open_models(settings)
    if None in prices.values():
        if run.policy is None:  # one that there is knows the settings by what it writes
            settings["limit_dollars"] = None
        capped = run.policy and run.policy.ceilings.get("limit_dollars") is not None
        if capped or chosen.get("limit_dollars") is not None:
            check_limit(prices)
    planted: Thought = {**root(), **origin}
    if tools := await run.open_tools(settings, problem, name):
        planted["tools"] = tools
    begun = {
        **_afresh(run, name, planted),
        "problem": problem,
        "settings": dict(settings),  # what it was until now may be known by its objects
        "prices": prices,
        "oracle": run.has_feedback(settings),
    }
    tell(logging.INFO, labels(run, begun), "starts")
    return begun


def _afresh(run: Run, name: str, planted: Thought) -> dict[str, Any]:
    """Returns what every search begins with, also one that is refused; it clears an earlier one's.

    Args:
        run: The objects of the graph.
        name: The name of the run.
        planted: The root of its tree.
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
    """Returns the settings that a run was given.

    LangGraph takes them by `context` alone. Those that stand elsewhere would change nothing, and
    nothing would say so. Inside another graph what stands there is that graph's.

    Raises:
        InputError: They are none, or stand where no graph looks.
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
    """Returns whether a search that cannot begin ends with a result that says so.

    Servers show of an exception what they please: aegra "execution failed", `langgraph dev` a
    failed run. And whoever said in a conversation what its task cannot read, a person or an agent's
    model, can say it otherwise.
    """
    chosen = context.on_error if isinstance(context, Settings) else None
    if (chosen or run.presets.get("on_error")) == "raise":
        return False
    said = any(message.type == "human" for message in state.get("messages") or ())
    served = run.policy is not None and not is_nested(get_runtime())
    return served or (said and isinstance(error, ProblemError))


def _refused(run: Run, state: SearchInput, error: ThoughtgraphError) -> dict[str, Any]:
    """Returns the state of a search that cannot begin."""
    name = secrets.token_hex(8)
    # Not why: the line quotes what the client sent.
    whose = labels(run, {"settings": {}, "run": name})
    tell(logging.INFO, whose, "is refused")
    # That of a conversation is in its messages; what stands here is of an earlier turn.
    problem = "" if state.get("messages") else state.get("problem")
    return {
        **_afresh(run, name, root()),
        "problem": problem if isinstance(problem, str) and len(problem) <= LONGEST_TEXT else "",
        "settings": {},
        "prices": {},
        "stop_reason": Overwrite(REFUSED),
        "error": Overwrite(str(error)),
        "oracle": False,
    }


def problem_of(state: SearchInput, task: Task) -> str:
    """Returns what is to be solved: the newest human message, or the input's `problem`.

    The message goes first. Once a run has replied to it, `problem` does; if there is none, the
    message is solved again. A task with `follow_up` is also told the conversation before the
    message: the system's message, and as many of the newest turns as there is room for.

    Args:
        state: The input.
        task: The task that reads the problem.

    Raises:
        ProblemError: There is none, or it is no text.
    """
    messages = state.get("messages") or []
    if not all(isinstance(message, BaseMessage) for message in messages):
        raise ProblemError("something in `messages` is not a chat message; start a new thread")
    human_at = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
    question = str(messages[human_at[-1]].text) if human_at else ""
    since = messages[human_at[-1] + 1 :] if human_at else []
    answered = any(REPLY in message.response_metadata for message in since)
    problem = state.get("problem") or ""
    if question and not (answered and problem):
        follow_up = extras(task).follow_up
        # The template's own words take room too.
        room = LONGEST_TEXT - len(question) - len(follow_up("", ""))
        turns = _turns(messages[: human_at[-1]], room)
        return follow_up(turns, question) if turns else question
    if not problem:
        raise ProblemError(
            'no problem given; pass {"problem": …} or messages with one of a human among them'
        )
    # A caller in Python, or a server's, may pass whatever there is.
    if not isinstance(problem, str):
        raise ProblemError(
            f"a problem is one text, not {type(problem).__name__}; write lists and scenes as JSON"
        )
    return problem


def _turns(messages: Sequence[BaseMessage], room: int) -> str:
    """Returns what was said as a transcript: as much of it as there is room for."""
    if not messages:
        return ""
    kept = trim_messages(
        messages,
        max_tokens=room - len(LEFT_OUT) - 1,
        token_counter=_letters,
        strategy="last",
        include_system=True,
    )
    if not kept:
        return ""
    words = get_buffer_string(kept)
    return words if len(kept) == len(messages) else f"{LEFT_OUT}\n{words}"


def _letters(messages: Sequence[BaseMessage]) -> int:
    return len(get_buffer_string(messages))
