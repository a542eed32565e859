"""Writes every method's graph into the configurations of servers, after a method was added.

    uv run python deploy/list_graphs.py

LangGraph's servers read a file each and know no file that includes another: `langgraph.json` serves
whoever reaches it, on one's own machine; `deploy/langgraph.json` asks for a key.
"""

import json
from pathlib import Path

from thoughtgraph import registry

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = "https://langgra.ph/schema.json"
"""LangGraph's own schema of the file, by which editors check it."""
CONFIGURATIONS = {"langgraph.json": ".", "deploy/langgraph.json": ".."}
"""Each file, and the checkout as seen from where it lies."""


def with_graphs(name: str) -> str:
    """Returns a configuration as it should be: what it says, with the graph of every method."""
    config = json.loads((ROOT / name).read_text(encoding="utf-8"))
    graphs = {
        method: {
            "path": f"{CONFIGURATIONS[name]}/graphs/served.py:{method}",
            "description": f"{entry.summary[0].upper()}{entry.summary[1:]}. Use it {entry.use}.",
        }
        for method, entry in registry.METHODS.items()
    }
    return json.dumps({"$schema": SCHEMA, **config, "graphs": graphs}, indent=2) + "\n"


if __name__ == "__main__":
    for name in CONFIGURATIONS:
        (ROOT / name).write_text(with_graphs(name), encoding="utf-8")
