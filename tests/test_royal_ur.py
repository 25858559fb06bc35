"""What the Royal Game of Ur says of its moves, against its own rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rollwise
from rollwise import PASS, bits
from rollwise.games.royal_ur import SIT_OUT, WEIGHTS, Race, RoyalUr, meets

PATHS = ("finkel", "blitz", "masters")


def moves(game: RoyalUr) -> Iterator[tuple[Race, int, int]]:
    """Some positions, with throws and moves."""
    graph = rollwise.build(game)
    for fields in graph.states[: graph.n_positions : 17].tolist():
        s = Race(*fields[:4])
        for _, throw in game.throws(s):
            for k in game.actions(s, throw):
                yield s, throw, k


def captures(game: RoyalUr, s: Race, square: int) -> int:
    """How many of 16 throws let the mover capture what the other has on a square of its path."""
    weights = [(weight, throw) for weight, throw in game.throws(s)]
    found = 0
    for weight, throw in weights:
        for k in game.actions(s, throw):
            to = k + throw
            if k != SIT_OUT and to <= 16 and meets(game.path == "finkel", to) == square:
                found += weight
                break
    return found * 16 // sum(weight for weight, _ in weights)


@pytest.mark.parametrize("path", PATHS)
def test_danger_and_aims_count_the_throws_that_hit(path: str) -> None:
    game, compared = RoyalUr(pieces=3, path=path), 0
    assert sum(WEIGHTS[path]) == 16
    for s, throw, k in moves(game):
        told = game.action_features(s, throw, k)
        ((_, then, after),) = game.outcomes(s, throw, k)
        on = bits.members(after.theirs if then == PASS else after.mine)
        if then != PASS or k == SIT_OUT or k + throw not in on:
            assert k != SIT_OUT or told["danger"] == told["aims"] == 0
            continue
        compared += 1
        assert told["danger"] == (captures(game, after, k + throw) if told["shared"] else 0)
        before = bits.members(s.theirs)
        assert told["captures"] == (len(tuple(bits.members(after.mine))) < len(tuple(before)))
        assert (told["sends_back"] > 0) == told["captures"]
    assert compared > 100
