"""The folder for files that are reused by later runs."""

import os
from pathlib import Path

from platformdirs import user_cache_dir


def cache_folder() -> Path:
    """Returns the folder for weights, indexes and pages: `$THOUGHTGRAPH_CACHE`, if it is set.

    The default is the user's cache folder on this system, such as `~/.cache/thoughtgraph`.
    """
    return Path(os.environ.get("THOUGHTGRAPH_CACHE") or user_cache_dir("thoughtgraph"))
