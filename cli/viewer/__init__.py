"""The search tree as one self-contained HTML page."""

from thoughtgraph.cli.viewer.document import page
from thoughtgraph.cli.viewer.prompts import prompts_of

__all__ = ["page", "prompts_of"]
