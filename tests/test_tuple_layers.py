"""Layers by several numbers: the same answers, smaller layers, and some at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rollwise import Game, solve, solve_by_layers
from rollwise.analysis.check import check
from rollwise.builders.rules import Rules
from rollwise.errors import RulesError
from rollwise.games.pig import Pig, Turn
from rollwise.games.royal_ur import Race, RoyalUr
from rollwise.games.super_six import Sticks, SuperSix

pytestmark = pytest.mark.needs_jit


@dataclass(frozen=True)
class Banks(Pig):
    """By both banks: their order says who moves, and isn't in it."""

    def progress(self, s: Turn) -> tuple[int, ...]:
        return min(s.banked, s.rivals[0]), max(s.banked, s.rivals[0])


@dataclass(frozen=True)
class Mine(Pig):
    """By what the mover has, which becomes what the other has."""

    def progress(self, s: Turn) -> tuple[int, ...]:
        return s.banked, s.rivals[0]


@dataclass(frozen=True)
class Tens(SuperSix):
    """By tens and ones that are large and below zero."""

    def progress(self, s: Sticks) -> tuple[int, ...]:
        gone = self.sticks - s.lid - s.mine - s.others[0]
        return gone // 10 - 5, 10**17 * gone, 7


@dataclass(frozen=True)
class Pairs(RoyalUr):
    def progress(self, s: Race) -> tuple[int, ...]:
        return min(s.home, s.rival), max(s.home, s.rival)


@dataclass(frozen=True)
class Odd(Pig):
    text: bool = False

    def progress(self, s: Turn) -> Any:
        if self.text:
            return s.banked, "x"
        return (0, 0) if s.banked + s.rivals[0] == 0 else (0, 0, 0)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


GAMES = [(Banks(12), Pig(12)), (Tens(24), SuperSix(24)), (Pairs(pieces=2), RoyalUr(pieces=2))]


@pytest.mark.parametrize(("game", "plain"), GAMES, ids=str)
def test_as_from_the_whole_graph(game: Game, plain: Game) -> None:
    found, whole = solve_by_layers(game), solve(plain)
    graph = whole.graph
    number = [whole.find(state) for state in found.space.states.tolist()]
    assert sorted(number) == list(range(len(graph.states)))
    off = np.abs(found.values - whole.values[number])
    assert np.all(off <= found.error_bounds + whole.error_bounds[number])
    assert found.error_bound < 1e-11
    every = np.arange(len(number))
    assert np.array_equal(found.numbers_of(np.asarray(found.space.states)), every)
    assert [found.find(row) for row in found.space.states[:5].tolist()] == every[:5].tolist()
    state = Rules(game).layout.state
    rows = [game.progress(state(row)) for row in found.space.states.tolist()]
    told = np.repeat(found.space.progress, np.diff(found.space.layers), axis=0).tolist()
    assert [tuple(row) for row in told] == rows
    sums = found.space.progress.sum(axis=1).tolist()
    assert sums == sorted(sums)
    assert len(np.unique(found.space.progress, axis=0)) == len(found.space.progress)


def test_an_outcome_that_lowers_a_number_is_refused() -> None:
    said = r"progress\(\) falls from \(0, 2\) to \(2, 0\) in the state banked=0, rival=2"
    with pytest.raises(RulesError, match=said) as raised:
        solve_by_layers(Mine(12))
    assert "action" in str(raised.value)
    assert "where a PASS swaps two of them, give these in order" in str(raised.value)
    found = {f.topic: f for f in check(Mine(12)).findings}["progress"]
    assert found.level == "error"
    assert "it falls from (0, 2) to (2, 0)" in found.text
    found = {f.topic: f for f in check(Banks(12)).findings}["progress"]
    assert (found.level, found.text) == ("ok", "no outcome lowers it (66 layers)")


def test_progress_of_another_kind_is_refused() -> None:
    rules = Rules(Odd(12))
    with pytest.raises(RulesError, match=r"\(0, 0, 0\) in the state .* and \(0, 0\) at the start"):
        rules.progress(Turn(3, (0,), 0))
    with pytest.raises(RulesError, match=r"or a tuple of such numbers"):
        Rules(Odd(12, text=True)).progress(Turn(3, (0,), 0))
