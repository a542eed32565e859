"""Folders of the user's that files are kept in."""

import os
from pathlib import Path

from platformdirs import user_cache_dir


def cache_folder() -> Path:
    """Returns where weights, indexes and pages are kept: `$THOUGHTGRAPH_CACHE`, else the system's.

    The system's is the user's cache folder, such as `~/.cache/thoughtgraph`.
    """
    return Path(os.environ.get("THOUGHTGRAPH_CACHE") or user_cache_dir("thoughtgraph"))
