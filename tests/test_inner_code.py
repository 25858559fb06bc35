"""Functions of compiled rules that Python calls too have machine code of their own."""

from __future__ import annotations

from typing import NamedTuple

import numba
import pytest

from rollwise.builders import build
from rollwise.game import PASS, WIN, Game

pytestmark = pytest.mark.needs_jit


class Spot(NamedTuple):
    x: int


@numba.njit
def doubled(face):
    return 2 * face


class Walk(Game):
    """Calls a function that Numba compiles for Python too."""

    def start(self):
        return Spot(9)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for face in range(1, 4):
            if doubled(face) >= s.x:
                yield 1, WIN, s
            else:
                yield 1, PASS, Spot(s.x - doubled(face))


def test_a_function_of_the_user_is_called_by_compiled_rules_and_by_python(tmp_path, monkeypatch):
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path))  # compiled here, not read
    compiled = build(Walk(), mode="compiled")
    assert doubled(3) == 6
    assert compiled.content_hash == build(Walk(), mode="interpreted").content_hash
