"""Every method under a module-level name, for `langgraph.json` and the servers that read it.

A run's context names its task, and of what the operator offers its model and its pages: the graphs
obey the policy that the operator's variables say (docs/serving.md). Loading this file
builds the graphs and imports the tasks, so that a first run finds them ready; it loads no model,
opens no socket and needs no key.
"""

from thoughtgraph import registry
from thoughtgraph.building import served_graphs

for _id in registry.TASKS:
    registry.task(_id)

globals().update(served_graphs())
