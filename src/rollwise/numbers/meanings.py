"""The meaning and the unit of a number, in its type: JSON schemas show them."""

from __future__ import annotations

from msgspec import Meta


def about(meaning: str) -> Meta:
    """The meaning of a field."""
    return Meta(description=meaning)


def unit(name: str, meaning: str | None = None) -> Meta:
    """The unit of a number, and its meaning."""
    return Meta(description=meaning, extra_json_schema={"unit": name})
