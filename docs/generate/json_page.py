"""The page on JSON: the documents of all commands, as their classes declare them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "json.md"
INTRODUCTION = """\
# Which keys do the JSON documents have?

`rollwise COMMAND ... --json` prints one document in one line, and `rollwise serve` sends the same
documents. `rollwise schema COMMAND` prints the JSON schema of a command's documents. The key
`schema` names the document and the version of its keys: `rollwise/solve/1`. `kind` says whether the
numbers are exact, certified (with `error_bound`) or estimated (with a standard error and a seed).
Infinite, undefined and unknown numbers are `null`.

A star marks keys that a document may leave out. `rows[].error` is a key of each element of the list
`rows`.
"""


def page() -> str:
    """The whole page, in Markdown."""
    from rollwise.cli.app import all_functions
    from rollwise.documents.model import documents_of, schema_of

    lines = [INTRODUCTION]
    for command in all_functions():
        for number, kind in enumerate(documents_of(command)):
            lines += [f"## {command}", ""] if number == 0 else []
            text = (inspect.getdoc(kind) or "").partition("\n")[0]
            parts = schema_of([kind])["$defs"]
            fields = parts[kind.__name__]["properties"]
            lines += [f"`{fields.pop('schema')['enum'][0]}`: {text}", ""]
            lines += ["| key | type | unit | meaning |", "|---|---|---|---|"]
            lines += [*_rows(parts[kind.__name__], parts, ""), ""]
    return "\n".join(lines)


def _rows(part: dict[str, Any], parts: dict[str, Any], path: str) -> Iterator[str]:
    """A row for each key of an object, with the keys of objects within."""
    for key, field in part["properties"].items():
        name = f"{path}{key}"
        star = "" if key in part.get("required", ()) else "*"
        meaning = field.get("description", "").replace("|", "\\|")
        objects = list(_objects(field))
        if meaning or star or not objects:
            yield f"| `{name}`{star} | {_type(field)} | {field.get('unit', '')} | {meaning} |"
        for inner, marks in objects:
            yield from _rows(parts[inner], parts, f"{name}{marks}.")


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"])
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    if "$ref" in field:
        return "object"
    kind = field.get("type", "any")
    if kind == "array" and field.get("items"):
        return f"list of {_type(field['items'])}"
    return {"string": "text", "array": "list", "boolean": "yes or no"}.get(kind, kind)


def _objects(field: dict[str, Any], marks: str = "") -> Iterator[tuple[str, str]]:
    """The objects within a field, and the marks of the lists and keys around them."""
    if "$ref" in field:
        yield field["$ref"].rpartition("/")[2], marks
    for one in field.get("anyOf", ()):
        yield from _objects(one, marks)
    if field.get("items"):
        yield from _objects(field["items"], f"{marks}[]")
    if isinstance(field.get("additionalProperties"), dict):
        yield from _objects(field["additionalProperties"], f"{marks}.*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
