"""Every method under a module-level name, for `langgraph.json` and the servers that read it.

A run's context names its task, and chooses its model and pages among those that the operator
offers: the graphs obey the policy in the operator's environment variables (docs/serving.md).
Importing this module builds the graphs and imports the tasks, so that the first run need not wait
for them. It loads no model, opens no socket and needs no key.
"""

from thoughtgraph import registry
from thoughtgraph.building import served_graphs

for _id in registry.TASKS:
    registry.task(_id)

globals().update(served_graphs())
