"""Results that are parts of JSON documents as they are: their base, and the meanings of fields.

JSON schemas show the meaning of a field, and the unit of a number, which stand in its type.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """A result that is a part of a document."""


def about(meaning: str) -> Meta:
    """The meaning of a field."""
    return Meta(description=meaning)


def unit(name: str, meaning: str | None = None) -> Meta:
    """The unit of a number, and its meaning."""
    return Meta(description=meaning, extra_json_schema={"unit": name})


# Null stands for an infinite, an undefined and an unknown number.
Number = float | None
Chance = Annotated[Number, unit("probability")]
Value = Annotated[Number, unit("value")]
Bound = Annotated[Number, unit("that of the value")]
