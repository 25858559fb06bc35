"""Amounts of memory as people read them."""

from __future__ import annotations

import re

UNITS = {"": 1e9, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def in_bytes(size: float) -> str:
    """So many bytes, in the largest unit of which there is one, as in ``"38.3 MB"``."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size / 1e3:,.1f} kB"


def bytes_of(text: str) -> int | None:
    """The bytes of ``8GB``, ``500 MB`` or ``2.5``, which are GB; None for what says no amount."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", text.lower())
    if found is None or found[2] not in UNITS:
        return None
    return int(float(found[1]) * UNITS[found[2]])
