"""What random scripts of the public scripted model draw from."""

import random

from thoughtgraph.llm.exchange import Draw
from thoughtgraph.llm.scripted import Call, Reply, ScriptedChat

__all__ = ["Call", "Reply", "ScriptedChat", "rng"]


def rng(*key: object) -> random.Random:
    """A generator that depends on the key alone."""
    plain = tuple(tuple(part) if isinstance(part, Draw) else part for part in key)
    return random.Random(repr(plain))
