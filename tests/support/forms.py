"""What a form that is made of a graph's settings must show, here and on a server."""

from collections.abc import Mapping
from typing import Any

from thoughtgraph import registry


def assert_complete(fields: Mapping[str, Any]) -> None:
    """Every setting is explained and bounded and has a default."""
    assert fields
    for name, field in fields.items():
        assert field.get("description", "").strip().endswith("."), name
        shown = field.get("default") is not None or "Empty: " in field["description"]
        assert shown or name in ("prices", "top_p"), name
        for form in field.get("anyOf", [field]):
            if form.get("type") in ("integer", "number"):
                assert {"minimum", "exclusiveMinimum"} & set(form), f"{name} has no lower bound"


def assert_tasks_listed(fields: Mapping[str, Any]) -> None:
    assert fields["task"]["enum"] == sorted(registry.TASKS)
