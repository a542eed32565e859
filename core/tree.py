"""The search tree: plain JSON values in one channel of the graph's state.

A tree is a dictionary from a thought's id to the thought. Ids are creation indices written as
strings, so they sort by age as integers; the root is `"0"`. Children refer to their parent by id,
never by reference, which is what lets a run be checkpointed, streamed, forked and replayed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError

ROOT = "0"
PERSON = "person"
"""Who made or pruned a thought by hand, in `created_by` and `pruned_by`."""
RAW_LIMIT = 4_000
"""Characters of a model's text that a thought keeps (ours)."""
TEXT_LIMIT = 20_000
"""Characters of a thought's text, answer or action that are kept (ours): several times what the
default of 1,000 tokens a completion can give, so that only a broken or hostile model meets it."""

Status = Literal["open", "expanded", "pruned", "terminal"]


class Rollback(TypedDict):
    """An edge back to an ancestor: reasoning goes on from there, warned by an experience.

    The experience is made of the thoughts on the source's path and of its `analysis`.
    """

    to: str
    """Id of the thought to go on from: the one before the bad step."""
    step: int
    """Index of the bad step on the source's path, from 1."""


class Raise(TypedDict):
    """What a failed tool call below a thought did to its cost."""

    thought: str
    """Id of the thought that became dearer."""
    before: float
    """Its cost g before."""
    after: float
    """Its cost g after."""


class Propagation(TypedDict):
    """One run of PROPAGATE: what the failed call of a thought did to the thoughts above it."""

    last: str
    """Id of the youngest thought there was: it says when in the search this happened."""
    raised: list[Raise]
    """The thoughts that became dearer, from the parent of the failed one upwards."""


class Shown(TypedDict, total=False):
    """What the prompt that made a thought contained besides the path to it, by ids."""

    rejected: list[str]
    """Answers that had been found wrong (FGDIP's error analysis)."""
    beside: list[str]
    """Steps already taken beside it (FGDIP's real-time feedback)."""
    lessons: list[str]
    """The last thoughts of earlier trials, each with its `lesson` (Reflexion)."""


class Thought(TypedDict, total=False):
    """One node of the search tree. Fields that a method does not use are absent."""

    id: str
    """Creation index as a string; `"0"` is the root, which holds no thought."""
    parent: str | None
    """Id of the thought this one continues; None for the root."""
    depth: int
    """Number of thoughts on the path from the root, itself included; the root has 0."""
    text: str
    """The thought as the task reads it: an equation, a plan, a word on the board, a reasoning
    step."""
    action: dict[str, Any] | None
    """The tool call of this thought (`name`, `argument`), for methods that act."""
    observation: str | None
    """What the tool answered."""
    tool_state: dict[str, Any]
    """The tools' state after this thought, private to its branch."""
    failed: bool
    """Whether the tool could not do what it was asked."""
    invalid: bool
    """Whether no tool was called, as the action cannot be read, names none or lacks its
    arguments."""
    price: float
    """What the tool call cost."""
    propagation: Propagation
    """What its failed call did to the thoughts above it (D* Lite)."""
    tools: str
    """One line a tool, as the prompts of the run have them; on the root of methods that act."""
    status: Status
    """`open`: not continued yet; `expanded`: next thoughts were asked for; `pruned`: judged not
    worth it; `terminal`: an output."""
    pruned_by: str
    """`person`, where it was pruned by hand: it is no answer then. Empty where a person opened it
    again, absent where no person did either."""
    value: float
    """The evaluator's verdict as a number; higher is better; its scale is the task's."""
    unread: int
    """How many votes of the comparison it was in, or scores of its own, could not be read; absent:
    none."""
    verdicts: dict[str, Any]
    """Parsed verdicts by state key: what an equal state later reuses instead of asking again."""
    cost: float
    """Accumulated cost g, for methods with a cost."""
    priority: float
    """Priority f, for methods with an order; smaller is sooner."""
    expansions: int
    """How often it was expanded, for methods that may do so again."""
    prompt: str
    """Key of the prompt that it was expanded by, where equal prompts share their proposals."""
    draws: list[int]
    """Its places in the last draw of states to go on with; absent where none are drawn."""
    score: float
    """The generator's own confidence, where the task asks for one."""
    visit: int
    """When a depth-first search recorded this thought, counted from 1; absent: never visited."""
    answer: str | None
    """Of an output: the answer that is read from the path to it, None when none can be. A method
    whose outputs are read at the end writes it then."""
    chosen: bool
    """Whether the result's answer is this thought's; several may give the same."""
    ballot: str | None
    """What an answer votes for, where that is another text; None: nothing."""
    plausible: bool
    """Of the thought that answers: whether its answer may be right, such as that it runs."""
    returned: str
    """What its answer comes to, for a reader: what it returns, or why it fails."""
    note: str
    """Why the search treated the thought as it did, in words for a reader."""
    raw: str
    """The model's text for this thought, cut to `RAW_LIMIT` characters, the cut marked."""
    value_raw: str
    """The evaluator's text, cut likewise; several samples are separated by a line of dashes."""
    usage: dict[str, dict[str, float]]
    """What asking cost, by role: requests made from this thought and about it."""
    analysis: str
    """What the model found when it checked the steps up to this thought (Thought Rollback)."""
    analysis_raw: str
    """The text from which the indexes of bad steps were read, where that was another request."""
    bad: list[int]
    """Indexes of the bad steps among the thoughts from the root (excluded) to this one, from 1."""
    rollback: "Rollback"
    """The rollback edge that leaves this thought, if there is one."""
    caused_by: str
    """Id of the thought whose rollback led to this one's creation, if one did."""
    experiences: list[str]
    """Ids of the thoughts whose steps and analyses the prompt of this thought contained, in
    order."""
    alpha: int
    """Of a solution: how many rollbacks leave the thoughts of its path."""
    beta: int
    """Of a solution: how many experiences it was made with."""
    lesson: str
    """What the model learnt from the trial that ended here (Reflexion)."""
    only: bool
    """Whether no other step can be taken beside it, so that none is asked for."""
    shown: Shown
    """What else the prompt that made it contained; absent: nothing."""
    created_by: dict[str, Any]
    """The node and draw that made it: `node`, `expansion`, `sample`; only `node` of a person's."""


Tree = dict[str, Thought]
Path = Sequence[Thought]
"""The thoughts from the root (excluded) to a thought (included)."""

_NESTED = ("usage", "verdicts")


def merge_thoughts(tree: Tree, writes: Sequence[Mapping[str, Thought]]) -> Tree:
    """Folds partial thoughts into a tree: what the reducer of the channel `thoughts` does.

    A write maps ids to the fields that change; `usage` and `verdicts` merge one level deeper. The
    function is pure and batching-invariant, as LangGraph's `DeltaChannel` demands: folding two
    batches one after the other equals folding them at once.

    Args:
        tree: The tree so far; not changed.
        writes: Partial trees, in order.

    Returns:
        The new tree; untouched thoughts are shared with the old one.
    """
    merged = dict(tree)
    for write in writes:
        for key, new in write.items():
            merged[key] = _merge(merged.get(key), new)
    return merged


def _merge(old: Thought | None, new: Thought) -> Thought:
    if old is None:
        return new
    both: dict[str, Any] = {**old, **new}
    for field in _NESTED:
        if field in old and field in new:
            both[field] = {**cast("Any", old)[field], **cast("Any", new)[field]}
    return cast("Thought", both)


def root() -> Thought:
    """Returns the root: the empty partial solution."""
    return {"id": ROOT, "parent": None, "depth": 0, "text": "", "status": "open"}


def path_to(tree: Tree, key: str) -> list[Thought]:
    """Returns the thoughts from the root (excluded) to thought `key` (included).

    Raises:
        InputError: Parents go round in a circle: a client of a server wrote past the reducer.
    """
    path: list[Thought] = []
    at: str | None = key
    while at is not None and at != ROOT:
        thought = tree[at]
        path.append(thought)
        if len(path) > len(tree):
            raise InputError("the parents of the thoughts go round in a circle; start again")
        at = thought["parent"]
    return path[::-1]


def children_of(tree: Tree, key: str) -> list[Thought]:
    """Returns the children of thought `key` in the order of their creation."""
    return [thought for thought in tree.values() if thought.get("parent") == key]


def living(tree: Tree) -> list[str]:
    """Returns the thoughts that are not pruned and follow no pruned one, parents first."""
    gone: set[str | None] = set()
    for key, thought in tree.items():
        if thought["status"] == "pruned" or thought["parent"] in gone:
            gone.add(key)
    return [key for key in tree if key not in gone]


def texts(path: Path) -> list[str]:
    """Returns the texts of a path's thoughts."""
    return [thought["text"] for thought in path]


def grow(tree: Tree, parent: str, drafts: Iterable[Mapping[str, Any]], *, offset: int = 0) -> Tree:
    """Makes thoughts of drafts: gives them ids, a parent and a depth.

    Args:
        tree: The tree they will be added to; not changed.
        parent: Id of the thought they continue.
        drafts: Partial thoughts, in the order of their creation.
        offset: How many thoughts were made since `tree`, by the same caller.

    Returns:
        The new thoughts alone, ready to be written to the channel `thoughts`.
    """
    depth = tree[parent]["depth"] + 1
    new: Tree = {}
    for draft in drafts:
        key = str(len(tree) + offset + len(new))
        base: Thought = {"id": key, "parent": parent, "depth": depth, "status": "open"}
        new[key] = cast("Thought", {**base, **draft})
    return new


def cut(text: str, limit: int = RAW_LIMIT) -> str:
    """Shortens a model's text for storage and says by how much."""
    if len(text) <= limit:
        return text
    mark = f"… [{len(text) - limit} more characters]"
    return text[: limit - len(mark)] + mark


def shortened(text: str) -> str:
    """Leaves out the middle of a text that is too long to be kept: answers stand at the end."""
    if len(text) <= TEXT_LIMIT:
        return text
    mark = f" … [{len(text) - TEXT_LIMIT} more characters] … "
    head = (TEXT_LIMIT - len(mark)) // 2
    return text[:head] + mark + text[len(mark) + head - TEXT_LIMIT :]


def bounded(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Shortens what a model wrote into a partial thought, so that no answer makes a tree large."""
    short = dict(draft)
    for field in ("text", "answer"):
        if short.get(field):
            short[field] = shortened(short[field])
    if action := short.get("action"):
        short["action"] = {**action, "argument": shortened(action["argument"])}
    if "raw" in short:
        short["raw"] = cut(short["raw"])
    return short
