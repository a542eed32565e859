"""The search tree: plain JSON values in one channel of the graph's state.

A tree is a dictionary from a thought's id to the thought. Ids are creation indices written as
strings, so they sort by age as integers; the root is `"0"`. Children refer to their parent by id,
never by reference, so that a run can be checkpointed, streamed, forked and replayed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError

ROOT = "0"
PERSON = "person"
"""Value in `created_by` and `pruned_by` of a thought that was made or pruned by hand."""
RAW_LIMIT = 4_000
"""Most characters of a model's text that a thought keeps (ours)."""
TEXT_LIMIT = 20_000
"""Most characters of a thought's text, answer or action (ours): several times the default of 1,000
tokens per completion, so that only a broken or hostile model reaches it."""

Status = Literal["open", "expanded", "pruned", "terminal"]


class Rollback(TypedDict):
    """An edge back to an ancestor, from which reasoning continues, warned by an experience.

    The experience consists of the thoughts on the source's path and of the source's `analysis`.
    """

    to: str
    """Id of the thought to continue from: the one before the bad step."""
    step: int
    """Index of the bad step on the source's path, from 1."""


class Raise(TypedDict):
    """The rise in a thought's cost after a failed tool call below it."""

    thought: str
    """Id of the thought whose cost rose."""
    before: float
    """Its cost g before the rise."""
    after: float
    """Its cost g after the rise."""


class Propagation(TypedDict):
    """One run of PROPAGATE: how the failed call of a thought raised its ancestors' costs."""

    last: str
    """Id of the youngest thought at that time, which dates the run within the search."""
    raised: list[Raise]
    """The ancestors whose costs rose, from the parent of the failed thought upwards."""


class Shown(TypedDict, total=False):
    """Contents of the prompt that made a thought, besides the path to it, as ids of thoughts."""

    rejected: list[str]
    """Answers rejected before (FGDIP's error analysis)."""
    beside: list[str]
    """Earlier steps from the same thought (FGDIP's real-time feedback)."""
    lessons: list[str]
    """The last thoughts of earlier trials, each with its `lesson` (Reflexion)."""


class Thought(TypedDict, total=False):
    """One node of the search tree. Fields that a method does not use are absent."""

    id: str
    """Creation index as a string; `"0"` is the root, which holds no thought."""
    parent: str | None
    """Id of the thought this one continues; None for the root."""
    depth: int
    """Number of thoughts on its path, itself included; the root has 0."""
    text: str
    """The thought as the task reads it: an equation, a plan, a word on the board, a reasoning
    step."""
    action: dict[str, Any] | None
    """The tool call of this thought (`name`, `argument`), for methods that act."""
    observation: str | None
    """The tool's answer."""
    tool_state: dict[str, Any]
    """The tools' state after this thought, private to its branch."""
    failed: bool
    """Whether the tool could not do its work."""
    invalid: bool
    """Whether no tool was called, because the action is unreadable, names none or lacks
    arguments."""
    price: float
    """Cost of the tool call."""
    propagation: Propagation
    """How its failed call raised its ancestors' costs (D* Lite)."""
    tools: str
    """One line per tool, as in the prompts of the run; on the root of methods that act."""
    status: Status
    """`open`: not continued yet; `expanded`: next thoughts were requested; `pruned`: not to be
    continued; `terminal`: an output."""
    pruned_by: str
    """`person` if pruned by hand, so that it never gives the answer; empty if a person reopened it;
    else absent."""
    value: float
    """The evaluator's verdict as a number on the task's scale; higher is better."""
    unread: int
    """Number of unreadable votes in its comparison, or of its own unreadable scores; absent: 0."""
    verdicts: dict[str, Any]
    """Parsed verdicts by state key, which later equal states reuse without a request."""
    cost: float
    """Accumulated cost g, for methods with a cost."""
    priority: float
    """Priority f, for methods with an order; smaller comes first."""
    expansions: int
    """Number of expansions, for methods that may repeat them."""
    prompt: str
    """Key of the prompt that expanded it, if equal prompts share their proposals."""
    draws: list[int]
    """Its positions in the last draw of states to expand; absent if none are drawn."""
    score: float
    """The generator's own confidence, if the task asks for it."""
    visit: int
    """Number of its visit in a depth-first search, from 1; absent: never visited."""
    answer: str | None
    """Of an output: the answer read from its path; None if it is unreadable. Methods that read
    outputs at the end write it then."""
    chosen: bool
    """Whether this thought gives the result's answer; others may have the same."""
    ballot: str | None
    """The text its answer votes for, if another one; None: no vote."""
    plausible: bool
    """Of the chosen thought: whether its answer may be right, such as one that runs."""
    returned: str
    """Result of running its answer, for a reader: its output, or why it fails."""
    note: str
    """Why the search treated the thought as it did, for a reader."""
    raw: str
    """The model's text for this thought, cut to `RAW_LIMIT` characters with a mark."""
    value_raw: str
    """The evaluator's text, cut likewise; a line of dashes separates samples."""
    usage: dict[str, dict[str, float]]
    """Cost, by role, of the requests made from this thought and about it."""
    analysis: str
    """Analysis of the steps up to this thought (Thought Rollback)."""
    analysis_raw: str
    """The text that names the bad steps, if it came from a second request."""
    bad: list[int]
    """Indexes of the bad steps on the path to this thought, from 1; the root is not counted."""
    rollback: "Rollback"
    """The rollback edge that starts from this thought, if any."""
    caused_by: str
    """Id of the thought whose rollback led to this one, if any."""
    experiences: list[str]
    """Ids of the thoughts whose steps and analyses its prompt contained, in order."""
    alpha: int
    """Of a solution: number of rollbacks from thoughts of its path."""
    beta: int
    """Of a solution: number of experiences in its prompt."""
    lesson: str
    """The model's lesson from the trial that ended here (Reflexion)."""
    only: bool
    """Whether no sibling step is possible, so that none is requested."""
    shown: Shown
    """Other contents of the prompt that made it; absent: none."""
    created_by: dict[str, Any]
    """Its origin: `node`, `expansion`, `sample`; only `node` if a person made it."""


Tree = dict[str, Thought]
Path = Sequence[Thought]
"""The thoughts from the root (excluded) to a thought (included)."""

_NESTED = ("usage", "verdicts")


def merge_thoughts(tree: Tree, writes: Sequence[Mapping[str, Thought]]) -> Tree:
    """Folds partial thoughts into a tree, for the reducer of the channel `thoughts`.

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
        InputError: The parents form a cycle, because a client of a server bypassed the reducer.
    """
    path: list[Thought] = []
    current: str | None = key
    while current is not None and current != ROOT:
        thought = tree[current]
        path.append(thought)
        if len(path) > len(tree):
            raise InputError("the parents of the thoughts go round in a circle; start again")
        current = thought["parent"]
    return path[::-1]


def children_of(tree: Tree, key: str) -> list[Thought]:
    """Returns the children of thought `key` in the order of their creation."""
    return [thought for thought in tree.values() if thought.get("parent") == key]


def living(tree: Tree) -> list[str]:
    """Returns the ids of thoughts neither pruned nor below a pruned one, parents first."""
    dropped: set[str | None] = set()
    for key, thought in tree.items():
        if thought["status"] == "pruned" or thought["parent"] in dropped:
            dropped.add(key)
    return [key for key in tree if key not in dropped]


def texts(path: Path) -> list[str]:
    """Returns the texts of a path's thoughts."""
    return [thought["text"] for thought in path]


def grow(tree: Tree, parent: str, drafts: Iterable[Mapping[str, Any]], *, offset: int = 0) -> Tree:
    """Turns drafts into thoughts, with ids, a parent and a depth.

    Args:
        tree: The tree that will receive the thoughts; not changed.
        parent: Id of the thought that they continue.
        drafts: Partial thoughts, in the order of their creation.
        offset: Number of thoughts that the caller made earlier and that `tree` lacks.

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
    """Shortens a model's text for storage, with a mark that says by how much."""
    if len(text) <= limit:
        return text
    mark = f"… [{len(text) - limit} more characters]"
    return text[: limit - len(mark)] + mark


def shortened(text: str) -> str:
    """Cuts the middle out of a text above `TEXT_LIMIT`, as answers stand at the end."""
    if len(text) <= TEXT_LIMIT:
        return text
    mark = f" … [{len(text) - TEXT_LIMIT} more characters] … "
    head = (TEXT_LIMIT - len(mark)) // 2
    return text[:head] + mark + text[len(mark) + head - TEXT_LIMIT :]


def bounded(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Shortens the model's texts in a partial thought, so that no completion makes a tree large."""
    short = dict(draft)
    for field in ("text", "answer"):
        if short.get(field):
            short[field] = shortened(short[field])
    if action := short.get("action"):
        short["action"] = {**action, "argument": shortened(action["argument"])}
    if "raw" in short:
        short["raw"] = cut(short["raw"])
    return short
