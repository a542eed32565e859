"""A review in the form that chat front ends show: LangChain's requests for human feedback.

The form is that of `langchain.agents.middleware.HumanInTheLoopMiddleware`: what is about to happen
is an action with arguments, which a person approves, edits or rejects.
"""

from collections.abc import Mapping
from typing import Any

from thoughtgraph.errors import InputError

DECISIONS = ("approve", "edit", "reject")
_FORM = (
    'decisions are a list of one: {"type": "approve"}, {"type": "reject", "message": "why"} or '
    '{"type": "edit", "edited_action": {"args": {…}}}'
)


def requested(kind: str, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a review asks for, as an action.

    Args:
        kind: What is reviewed: `select` or `answer`.
        shown: What the person is shown.
    """
    if kind == "answer":
        args, told = {"answer": shown["answer"]}, shown["outcome"]
    else:
        args, told = {"drop": []}, "\n".join(map(_line, shown["thoughts"]))
    return {
        "action_requests": [{"name": kind, "args": args, "description": told}],
        "review_configs": [{"action_name": kind, "allowed_decisions": [*DECISIONS]}],
    }


def decided(kind: str, reply: Any) -> Any:
    """Returns a reply in our own form; one that holds no decisions stays as it is.

    To approve is to accept. What is edited are the arguments, which are a reply's fields. What is
    rejected, whole, is dropped, or is no answer, for the reason in its message.

    Raises:
        InputError: The decisions are none.
    """
    if not isinstance(reply, Mapping) or "decisions" not in reply:
        return reply
    if len(reply) > 1:
        raise InputError(f"a reply with decisions has no other fields; leave them out; {_FORM}")
    match reply["decisions"]:
        case [{"type": "approve"}]:
            return {"accept": True}
        case [{"type": "edit", "edited_action": {"args": Mapping() as args}}]:
            return args
        case [{"type": "reject", **more}]:
            no: dict[str, Any] = {"answer": None} if kind == "answer" else {"keep": []}
            return {**no, "note": more.get("message") or "rejected"}
        case _:
            raise InputError(_FORM)


def _line(thought: Mapping[str, Any]) -> str:
    value = f" ({thought['value']:g})" if "value" in thought else ""
    return f"{thought['id']}{value}: {thought.get('text', '')}"
