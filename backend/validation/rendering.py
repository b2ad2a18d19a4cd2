"""How the service prints a refused value: as Java's toString would.

a list       [a, b]
a map        {key=value}
a structure  KeySchemaElement(attributeName=pk, keyType=HASH)
"""

from __future__ import annotations

from typing import Any

from backend.validation.model import Model


def lower_first(name: str) -> str:
    """`TableName` -> `tableName`: paths and structures print members in this form."""
    return name[:1].lower() + name[1:]


def render(model: Model, shape_name: str, value: Any) -> str:
    """The value of the given shape as text."""
    if value is None:
        return "null"
    shape = model.shape(shape_name)
    match shape["type"]:
        case "structure":
            members = (
                f"{lower_first(name)}={render(model, reference['shape'], value.get(name))}"
                for name, reference in shape["members"].items()
            )
            return f"{shape_name}({', '.join(members)})"
        case "list":
            element = shape["member"]["shape"]
            return f"[{', '.join(render(model, element, one) for one in value)}]"
        case "map":
            element = shape["value"]["shape"]
            return "{" + ", ".join(f"{key}={render(model, element, one)}" for key, one in value.items()) + "}"
        case "blob":
            return f"java.nio.HeapByteBuffer[pos=0 lim={len(value)} cap={len(value)}]"
        case "boolean":
            return "true" if value else "false"
        case _:
            return str(value)
