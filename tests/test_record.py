"""The behaviour record: every question of `record.py` still gives its recorded answer."""

from __future__ import annotations

import math
from typing import Any

import pytest
import record

RECORDED = record.recorded()
WIDER = 4  # times a recorded bound that a new bound may be
SAME = 1e-9  # relative difference of numbers that state no bound of their own

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit, pytest.mark.usefixtures("solved_once")]


def is_bound(name: str) -> bool:
    """Whether a number says how far others may be off."""
    return "bound" in name or name in ("deviation_gain", "gain")


def differences(name: str, was: Any, now: Any) -> list[str]:
    """Where a new document differs from the recorded one by more than the bounds of both."""
    if isinstance(was, dict) and isinstance(now, dict):
        missing = [f"{name}.{key} is missing" for key in was if key not in now]
        parts = [differences(f"{name}.{key}", was[key], now[key]) for key in was if key in now]
        return missing + [line for part in parts for line in part]
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        parts = [
            differences(f"{name}[{i}]", *pair) for i, pair in enumerate(zip(was, now, strict=True))
        ]
        return [line for part in parts for line in part]
    if isinstance(was, float) and isinstance(now, float | int):
        if is_bound(name.rpartition(".")[2]):
            close = now <= WIDER * was + 1e-15
        else:
            close = math.isclose(was, now, rel_tol=SAME, abs_tol=SAME)
        return [] if close else [f"{name} was {was} and is {now}"]
    return [] if was == now else [f"{name} was {was!r} and is {now!r}"]


@pytest.mark.parametrize("question", list(record.questions()))
def test_an_answer_is_the_recorded_one(question: str) -> None:
    found = differences("", RECORDED[question], record.answer(question))
    assert not found, f"{found}; if that is meant: python tests/record.py"


def test_a_changed_number_is_noticed() -> None:
    was = {"value": 0.5, "error_bound": 1e-13, "rows": [{"action": "hold", "value": 1.0}]}
    assert not differences("", was, was)
    assert differences("", was, {**was, "value": 0.5 + 1e-8})
    assert differences("", was, {**was, "error_bound": 1e-12})
    assert differences("", was, {**was, "rows": [{"action": "roll", "value": 1.0}]})
    assert differences("", was, {"value": 0.5, "error_bound": 1e-13})
