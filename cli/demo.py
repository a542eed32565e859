"""What `thoughtgraph solve` does without arguments: a real search, small enough for a laptop."""

from collections.abc import Mapping
from typing import Any

TASK = "game24"
METHOD = "tot_bfs"
PROBLEM = "4 9 10 13"
SETTINGS: Mapping[str, Any] = {
    "breadth": 2,
    "n_evaluate": 1,
    "shots": 3,
    "max_completion_tokens": 200,
}
"""Ours: a tenth of the paper's requests, for a small model on two cores."""
