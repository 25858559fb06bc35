"""The page on JSON, with a list of all documents; and, for the site, a page of all their keys."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "json.md"
INTRODUCTION = """\
# How do I read the JSON documents?

`rollwise COMMAND ... --json` prints one document in one line, and `rollwise serve` sends the same
documents. `rollwise schema COMMAND` prints their JSON schema, with types, units and meanings of all
keys. The site (`make site`) has all keys on one page.

```sh
python -m rollwise advise piglet target=3 --state banked=1,rival=1,turn=1 --json \\
  | python -m json.tool
```

```text
{
    "schema": "rollwise/advise/1",
    "game": "piglet",
    "parameters": {
        "target": 3
    },
    "kind": "certified",
...
    "unit": "win probability",
    "value": 0.42857142857142855,
    "win_probability": 0.7142857142857143,
    "error_bound": 2.184760313060522e-15,
    "actions": [
        {
            "action": "flip",
            "value": 0.4285714285714286,
            "win_probability": 0.7142857142857143,
            "error_bound": 1.4452724760435516e-15,
            "cost": 0.0,
            "cost_bound": 1.893921530750889e-15,
            "best": true
        },
...
    ]
}
```

- `schema` names the document and the version of its keys.
- `game`, `parameters` (also the form of the game, as `as`) and, for three or more, `players` tell
  the game.
- `kind`: the numbers are exact, certified (with `error_bound`) or estimated (with a standard error
  and a seed).
- `value` is 1 for a win and -1 for a loss, or it is in points. Probabilities are fractions of 1,
  with all digits. `error_bound` is the largest error of the value beside it.
- A [set](language.md#rollwisebits) is its number: 530 for `{1 4 9}`.
- Infinite, undefined and unknown numbers are `null`, and so is an `error_bound` without a proof.

## The documents

The document of a command is `rollwise/COMMAND/1`. For games with hidden dice or simultaneous
choices @HIDDEN@
have `rollwise/COMMAND/hidden/1`. Further documents:

"""
KEYS = """\
# Keys of the JSON documents

A star marks keys that a document may leave out. `rows[].error` is a key of each element of the list
`rows`. A type with `?` includes `null`. The types "value", "probability", "points" and "error" are
numbers with that unit. Documents about a game begin with `game`, `parameters`, `players` (for three
or more) and `kind`. Objects of several documents follow at the end.
"""
Row = tuple[str, str, str]  # keys, type, meaning


def page() -> str:
    """The whole page, in Markdown."""
    lines, hidden = [], []
    for command, kinds in _kinds().items():
        for kind in kinds:
            tag = kind.__struct_config__.tag.removeprefix("rollwise/").removesuffix("/1")
            if tag == f"{command}/hidden":
                hidden.append(f"`{command}`")
            elif tag != command:
                lines.append(f"- `{tag}`: {_about(kind)}")
    of_hidden = f"{', '.join(hidden[:-1])} and {hidden[-1]}"
    return INTRODUCTION.replace("@HIDDEN@", of_hidden) + "\n".join(lines) + "\n"


def _kinds() -> dict[str, Any]:
    """The classes of the documents of each command."""
    from rollwise.cli.app import all_functions
    from rollwise.documents.model import documents_of

    return {name: kinds for name in all_functions() if (kinds := documents_of(name))}


def _about(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def keys() -> str:
    """The keys of all documents, in Markdown."""
    from rollwise.documents.model import GameDocument, schema_of

    kinds = _kinds()
    schemas = {kind: schema_of([kind])["$defs"] for some in kinds.values() for kind in some}
    uses = Counter(
        name
        for parts in schemas.values()
        for part in parts.values()
        for field in part["properties"].values()
        for name, _ in _objects(field)
    )
    shared = {
        name: parts[name] for parts in schemas.values() for name in sorted(parts) if uses[name] > 1
    }
    lines = [KEYS]
    for command, some in kinds.items():
        for number, kind in enumerate(some):
            lines += [f"## {command}", ""] if number == 0 else []
            parts = schemas[kind]
            keys = parts[kind.__name__]["properties"]
            tag = keys.pop("schema")["enum"][0]
            for name in GameDocument.__struct_fields__ if issubclass(kind, GameDocument) else ():
                del keys[name]
            own = {name: part for name, part in parts.items() if name not in shared}
            lines += [f"`{tag}`: {_about(kind)}", ""]
            lines += [*_merged(_rows(parts[kind.__name__], own, "")), ""]
    lines += ["## Objects of several documents", ""]
    for name, part in sorted(shared.items()):
        lines += [f"`{name}`: {part['description']}", "", *_merged(_rows(part, {}, "")), ""]
    return "\n".join(lines)


def _rows(part: dict[str, Any], parts: dict[str, Any], path: str) -> Iterator[Row]:
    """A row for each key of an object, with the keys of objects within."""
    for key, field in part["properties"].items():
        star = "" if key in part.get("required", ()) else "*"
        meaning = field.get("description", "")
        within = [(name, marks) for name, marks in _objects(field) if name in parts]
        if meaning or star or not within:
            kind, unit = _type(field), field.get("unit", "").replace("that of the value", "error")
            kind = kind.replace("number", unit.replace(", or ", " or ")) if unit else kind
            yield f"`{path}{key}`{star}", kind, meaning
        for name, marks in within:
            yield from _rows(parts[name], parts, f"{path}{key}{marks}.")


def _merged(rows: Iterable[Row]) -> Iterator[str]:
    """The lines of a list, with one line for keys of an object that differ in their names alone."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for key, kind, meaning in rows:
        lines.setdefault((key.rpartition(".")[0], kind, meaning), []).append(key)
    for (_, kind, meaning), keys in lines.items():
        yield f"- {', '.join(keys)}: {kind}{meaning and f'; {meaning}'}"


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        types = [_type(one) for one in field["anyOf"] if one.get("type") != "null"]
        return " or ".join(types) + "?" * (len(types) < len(field["anyOf"]))
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    kind = field.get("type", "any")
    if kind == "array" and field.get("items"):
        return _type(field["items"]) + " list"
    return {"string": "text", "array": "list"}.get(kind, kind)


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
