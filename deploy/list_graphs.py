"""Writes the graph of every method into the configurations of servers; run it for a new method.

    uv run python deploy/list_graphs.py

A server reads one file, which cannot include another. `langgraph.json` serves everybody who can
reach it, so it is for your own machine; `deploy/langgraph.json` requires a key.
"""

import json
from pathlib import Path

from thoughtgraph import registry

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = "https://langgra.ph/schema.json"
"""LangGraph's schema of the file, with which editors check it."""
CONFIGURATIONS = {"langgraph.json": ".", "deploy/langgraph.json": ".."}
"""Each file, with the path from its folder to the checkout."""


def with_graphs(name: str) -> str:
    """Returns the text of a configuration with the graph of every method."""
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
