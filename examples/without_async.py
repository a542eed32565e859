"""A search from ordinary code: `tg.solve` blocks, in a script, a notebook or beside an event loop.

uv run python examples/without_async.py
"""

from typing import Any

import thoughtgraph as tg


def main(model: Any = "openai:gpt-4o-mini") -> tg.Result:
    """Solves one problem and keeps the tree as a page."""
    out = tg.solve("4 9 10 13", task="game24", model=model, breadth=3, limit_requests=100)
    print(out["answer"], "-", out["outcome"])
    tg.save(out, "tree.html")
    return out


if __name__ == "__main__":
    main()
