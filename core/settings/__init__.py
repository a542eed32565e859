"""The settings of each method, one module per family; exported here: the settings all share.

Nothing in this package imports LangGraph, so that a command checks settings before it spends the
seconds that LangGraph takes to import.
"""

from thoughtgraph.settings.base import CHOICES, LIMIT_PREFIX, WATCHING, Settings

__all__ = ["CHOICES", "LIMIT_PREFIX", "WATCHING", "Settings"]
