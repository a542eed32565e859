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
