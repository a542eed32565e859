"""How the nodes of graphs are told of: by their name, or by what they change, and in what words."""

QUIET = frozenset(
    {
        "start",
        "generate",
        "register",
        "settle",
        "evaluate",
        "select",
        "answer",
        "extract_index",
        "decide",
        "ensemble",
    }
)
"""Nodes whose work shows as changes of the tree; any other node is announced by its name."""
BACK = frozenset({"backtrack", "rollback"})
"""Nodes that go back to an earlier thought; told when they have chosen which."""
PROPAGATE = "propagate"
"""The node that makes thoughts above failed calls dearer; told when it is known which."""
VERIFY = "verify"
"""The node that has an answer checked; told when it is known what became of it."""
DOING = {
    "start": "reading the problem",
    "generate": "proposing from",
    "register": "placing new thoughts",
    "evaluate": "valuing",
    "select": "selecting",
    "backtrack": "backtracking",
    "check": "checking",
    "extract": "naming where to begin",
    "act": "asking for the action of",
    "settle": "adding up costs",
    "verify": "checking an answer",
    "conclude": "forcing an answer",
    "reflect": "reflecting",
    "refine": "refining",
    "vote": "counting votes",
    "analyse": "analysing",
    "extract_index": "reading the analysis of",
    "decide": "deciding whether to go back",
    "ensemble": "counting votes",
    "rollback": "rolling back",
    "call_tool": "calling a tool for",
    "propagate": "propagating costs",
    "answer": "reading off the answer",
}
"""What a running node does, in words."""
