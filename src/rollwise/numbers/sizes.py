"""Amounts of memory as people read them."""

from __future__ import annotations


def in_bytes(size: float) -> str:
    """So many bytes, in the largest unit of which there is one, as in ``"38.3 MB"``."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size / 1e3:,.1f} kB"
