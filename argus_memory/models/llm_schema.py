"""Is this JSON of that shape? The part of JSON Schema that Argus's own schemas use, without a library.

Servers enforce a schema differently or not at all, so every answer is checked here as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def find_problem(value: object, schema: Mapping[str, Any], where: str = "answer") -> str | None:
    """The first thing wrong with `value`, as "notes[2].title: not a string"; None when it fits."""
    kinds = schema.get("type")
    if kinds is not None:
        wanted = [kinds] if isinstance(kinds, str) else list(kinds)
        if not any(_is(value, kind) for kind in wanted):
            return f"{where}: not of type {' or '.join(wanted)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where}: not one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, dict):
        return _problem_in_object(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        for at, item in enumerate(value):
            if problem := find_problem(item, schema["items"], f"{where}[{at}]"):
                return problem
    return None


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, _TYPES[kind])


def _problem_in_object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> str | None:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{where}: no {name!r}"
    for name, part in schema.get("properties", {}).items():
        if name in value and (problem := find_problem(value[name], part, f"{where}.{name}")):
            return problem
    return None
