"""What `thoughtgraph solve` does without arguments: a real search, small enough for a laptop."""

from collections.abc import Mapping
from typing import Any

TASK = "game24"
METHOD = "tot_bfs"
PROBLEM = "3 5 7 9"
SETTINGS: Mapping[str, Any] = {
    "breadth": 2,
    "n_evaluate": 1,
    "shots": 3,
    "examples": "turns",
    "exact_steps": True,
    "max_completion_tokens": 160,
}
"""Ours: a third of the paper's requests, for a small model on two cores."""
