"""A review in the form that chat front ends show: LangChain's requests for human feedback.

The form is that of `langchain.agents.middleware.HumanInTheLoopMiddleware`: a pending action with
arguments, which a person approves, edits or rejects.
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
    """Returns a review as an action request.

    Args:
        kind: What is reviewed: `select` or `answer`.
        shown: The data shown to the person.
    """
    # The arguments are fields of a reply, for an edit to begin with; `approve` ignores them.
    if kind == "answer":
        args, description = {"answer": shown["answer"]}, shown["outcome"]
    else:
        args, description = {"drop": []}, "\n".join(map(_line, shown["thoughts"]))
    return {
        "action_requests": [{"name": kind, "args": args, "description": description}],
        "review_configs": [{"action_name": kind, "allowed_decisions": [*DECISIONS]}],
    }


def decided(kind: str, reply: Any) -> Any:
    """Converts a reply with decisions into our own form; returns any other reply unchanged.

    `approve` accepts. The arguments of `edit` are the fields of our reply. `reject` drops all
    thoughts shown, or the answer; its message is the note.

    Raises:
        InputError: The decisions do not have the expected form.
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
            refusal: dict[str, Any] = {"answer": None} if kind == "answer" else {"keep": []}
            return {**refusal, "note": more.get("message") or "rejected"}
        case _:
            raise InputError(_FORM)


def _line(thought: Mapping[str, Any]) -> str:
    value = f" ({thought['value']:g})" if "value" in thought else ""
    return f"{thought['id']}{value}: {thought.get('text', '')}"
