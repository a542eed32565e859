"""What a fanned-out task is sent, and how it gets the rest of the state.

LangGraph stores every slice that is sent, twice: a slice with the path in it made a checkpoint
three times as large (measured by `bench/speed/checkpoint_growth.py`). So an `Order` names its
thoughts by id only, and the task completes it to a `Job` from the channels of the running
superstep, which hold what the router saw. LangGraph's own tool node reads them in the same way.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from thoughtgraph.jobs import Job, Order
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.running import reader, running
from thoughtgraph.scratch import SCRATCH, Scratch
from thoughtgraph.state import SearchState
from thoughtgraph.tree import path_to

NEEDED = ["problem", "settings", "run", "prices", "usage", "tree"]


def fanned_out(node: Callable[[Job], Awaitable[dict[str, Any]]]) -> Node:
    """Makes a node that is sent orders of one that works on jobs.

    Args:
        node: From a job to a state update.
    """

    async def run(order: Order) -> dict[str, Any]:
        return await node(job_of(running_state(), order))

    return run


def running_state() -> SearchState:
    """Returns the part of the running superstep's state that jobs need.

    Raises:
        RuntimeError: No graph is running.
    """
    return cast("SearchState", running(NEEDED))


def running_scratch() -> Scratch:
    """Returns what the running graph shares beside its state; a new one where none is running."""
    read = reader()
    return Scratch() if read is None else cast("Scratch", read(SCRATCH, False))


def job_of(state: SearchState, order: Order) -> Job:
    """Completes an order from the state.

    Args:
        state: The state; `NEEDED` names what is read of it.
        order: What the task is about.
    """
    tree = state["tree"]
    thoughts = order.get("about") or [order["thought"]]
    job = {name: cast("Mapping[str, Any]", state)[name] for name in NEEDED if name != "tree"}
    job["path"] = path_to(tree, thoughts[0])
    if order.get("vote"):
        job["paths"] = [path_to(tree, key) for key in thoughts]
    if order.get("experiences"):
        job["lessons"] = [path_to(tree, key) for key in order["experiences"]]
    # What else is sent, such as settings, counts for nothing: the state alone has them.
    own = {name: value for name, value in order.items() if name in Order.__annotations__}
    return cast("Job", {**job, **own})
