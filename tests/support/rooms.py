"""Two scenes that hand computations are made on: furniture of PTR, solids of CLEVR."""

from thoughtgraph.tools.scenes.scene import Scene

LEFT_TO_RIGHT = {
    "left": [[], [0], [0, 1], [0, 1, 2]],
    "right": [[1, 2, 3], [2, 3], [3], []],
    "front": [[], [], [], []],
    "behind": [[], [], [], []],
}

ROOM = Scene.from_json(
    {
        "relationships": LEFT_TO_RIGHT,
        "objects": [
            {"Chair0": {"leg": ["red", 4], "seat": ["blue", 1], "back": ["blue", 1]}},
            {"Table0": {"leg": ["red", 6], "top": ["green", 1], "drawer": ["red", 6]}},
            {"Table1": {"leg": ["cyan", 4], "top": ["red", 1], "leg bar": [None, 3]}},
            {"Bed0": {"sleep area": ["brown", 1]}},
        ],
    }
)

SOLIDS = Scene.from_json(
    {
        "relationships": LEFT_TO_RIGHT,
        "objects": [
            {"cube0": ["gray", "large", "rubber"]},
            {"sphere0": ["brown", "small", "metal"]},
            {"cube1": ["blue", "large", "rubber"]},
            {"cylinder0": ["brown", "large", "rubber"]},
        ],
    }
)


def sides(text: str) -> list[list[int]]:
    """Reads the numbers of the objects on one side of each object: "1 2, 2, " for three."""
    return [[*map(int, row.split())] for row in text.split(",")]


PAPERS_ROOM = Scene.from_json(
    {
        "relationships": {
            **{"above": sides(",,"), "below": sides(",,"), "behind": sides(", 0, 0 1")},
            **{"front": sides("1 2, 2, "), "left": sides("1 2, , 1"), "right": sides(", 0 2, 0")},
        },
        "objects": [
            {"Chair0": {"back": ["cyan", 1], "leg": ["gray", 4], "seat": ["gray", 1]}},
            {"Table0": {"door": ["purple", 1], "leg": ["blue", 3], "top": ["yellow", 1]}},
            {
                "Chair1": {
                    **{"arm horizontal bar": ["green", 2], "arm vertical bar": ["brown", 4]},
                    **{"back": ["brown", 1], "leg": ["cyan", 4], "leg bar": ["green", 2]},
                    "seat": ["brown", 1],
                }
            },
        ],
    }
)
"""The scene of the paper's printed analogy."""

PAPERS_SOLIDS = Scene.from_json(
    {
        "relationships": {
            "left": sides(
                "3 5 6, 0 3 4 5 6, 0 1 3 4 5 6 7, 5 6, 0 3 5 6, , 5, 0 1 3 4 5 6",
            ),
            "behind": sides(
                "1 2 3 4 5 6 7, 4 7, 1 4 7, 1 2 4 7, , 1 2 3 4 7, 1 2 3 4 5 7, 4",
            ),
        },
        "objects": [
            {"cube0": ["gray", "large", "rubber"]},
            {"sphere0": ["brown", "small", "metal"]},
            {"cube1": ["blue", "large", "rubber"]},
            {"cylinder0": ["brown", "large", "rubber"]},
            {"cube2": ["purple", "small", "metal"]},
            {"sphere1": ["gray", "small", "metal"]},
            {"cube3": ["gray", "small", "rubber"]},
            {"cube4": ["blue", "small", "metal"]},
        ],
    }
)
"""The scene of the paper's printed intersection."""
