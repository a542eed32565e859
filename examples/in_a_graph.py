"""A search as a node of your own graph, whose state has other keys.

The node reads `task_line` and writes `result`; the two states share nothing else.

    uv run python examples/in_a_graph.py
"""

import asyncio
from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import thoughtgraph as tg


class Ticket(TypedDict, total=False):
    """The state of the app."""

    task_line: str
    answer: str
    result: str


async def acknowledge(state: Ticket) -> Ticket:
    """A step of the app that has an `answer` of its own."""
    return {"answer": f"working on {state['task_line']}"}


def app(model: Any) -> Any:
    """Returns the app's graph."""
    search = tg.build("tot_bfs", task="game24", model=model, breadth=3)
    graph = StateGraph(Ticket)
    graph.add_node("acknowledge", acknowledge)
    graph.add_node("search", tg.node(search, problem="task_line", answer="result"))
    graph.add_edge(START, "acknowledge")
    graph.add_edge("acknowledge", "search")
    graph.add_edge("search", END)
    return graph.compile()


async def main(model: Any = "openai:gpt-4o-mini") -> Ticket:
    """Runs the app once."""
    state: Ticket = await app(model).ainvoke({"task_line": "4 9 10 13"})
    print(state["answer"], "→", state["result"])
    return state


if __name__ == "__main__":
    asyncio.run(main())
