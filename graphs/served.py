"""Every method under a module-level name, for `langgraph.json` and the servers that read it.

A run's context names its task and its model. Loading this file builds the graphs and imports the
tasks, so that a first run finds them ready; it loads no model, opens no socket and needs no key.
"""

from thoughtgraph import build, registry

for _id in registry.TASKS:
    registry.task(_id)

globals().update({_id: build(_id) for _id in registry.METHODS})
