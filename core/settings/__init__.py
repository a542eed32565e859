"""The settings of each method, a family a module; here what they all share.

Nothing in this package imports LangGraph, so that a command checks what it is told before it waits
for the seconds that LangGraph takes to import.
"""

from thoughtgraph.settings.base import CHOICES, LIMIT_PREFIX, WATCHING, Settings

__all__ = ["CHOICES", "LIMIT_PREFIX", "WATCHING", "Settings"]
