"""Three players in positions that play hardly ever leaves: bounds, gains and ties in fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import pytest

import rollwise
from rollwise import AGAIN, LOSE, PASS, WIN, Game, won_by

NEXT, LAST = won_by(1), won_by(2)
SHARES = {
    WIN: (1, 0, 0),
    LOSE: (0, Fraction(1, 2), Fraction(1, 2)),
    NEXT: (0, 1, 0),
    LAST: (0, 0, 1),
}


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class SlowSeats(Game):
    """The places 2 and 3 lead to each other for long, and the last one ends with a tie."""

    players: int = 3
    patience: int = 10_000_000

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        if s.place != 2:
            yield 1

    def outcomes(self, s, action):
        if s.place == 0:
            yield 1, PASS, Spot(1)
            yield 1 + action, WIN, s
            yield 1, LOSE, s
        elif s.place == 1:
            yield 3, AGAIN, Spot(2)
            yield 1 + action, LOSE, s
        elif s.place == 2:
            yield self.patience, PASS, Spot(3)
            yield 2, WIN, s
        elif action == 0:
            yield self.patience, PASS, Spot(2)
            yield 1, NEXT, s
        else:
            yield self.patience, PASS, Spot(2)
            yield 1, LAST, s


def worth(game, taken):
    """What each seat gets, by the place and the seat that moves: of each seat, not of the mover.

    Parameters
    ----------
    taken : (place, seat) -> action
    """
    rows, constants = {}, {}
    for place, seat in taken:
        row, constant = {}, [Fraction(0)] * 3
        outcomes = list(game.outcomes(Spot(place), taken[place, seat]))
        total = sum(weight for weight, _, _ in outcomes)
        for weight, then, after in outcomes:
            chance = Fraction(weight, total)
            if then in (AGAIN, PASS):
                node = after.place, (seat + (then == PASS)) % 3
                row[node] = row.get(node, 0) + chance
            else:
                for k, share in enumerate(SHARES[then]):
                    constant[(seat + k) % 3] += chance * share
        rows[place, seat], constants[place, seat] = row, constant
    for node in rows:  # Gauss and Jordan
        left = 1 - rows[node].pop(node, 0)
        rows[node] = {t: p / left for t, p in rows[node].items()}
        constants[node] = [x / left for x in constants[node]]
        for other, row in rows.items():
            if other != node and (share := row.pop(node, 0)):
                for t, p in rows[node].items():
                    row[t] = row.get(t, 0) + share * p
                pairs = zip(constants[other], constants[node], strict=True)
                constants[other] = [x + share * y for x, y in pairs]
    return constants


@pytest.fixture(scope="module", params=[10, 10**5, 10**7, 10**9])
def solved(request):
    game = SlowSeats(patience=request.param)
    found = rollwise.equilibrium(game)
    policy = {}
    for place in range(4):
        actions = found.graph.view[found.graph.find((place,))].action_range
        (policy[place],) = (
            a for a, at in enumerate(actions) if found.policy.probability[at] == 1.0
        )
    return game, found, {(s, seat): policy[s] for s in policy for seat in range(3)}


def test_values_are_within_their_bounds(solved):
    game, found, taken = solved
    truth = worth(game, taken)
    assert found.error_bound < 1e-14 * (10 + game.patience)
    for place in range(4):
        s = found.graph.find((place,))
        for k in range(3):
            off = abs(Fraction(found.values[s, k]) - truth[place, 0][k])
            assert off <= Fraction(found.error_bounds[s, k])


def test_nobody_gains_more_than_is_said(solved):
    game, found, taken = solved
    truth = worth(game, taken)
    assert found.deviation_gain < 1e-14 * (10 + game.patience)
    for seat in range(3):
        for other in product((0, 1), repeat=3):
            changed = {(s, seat): a for s, a in zip((0, 1, 3), other, strict=True)}
            gets = worth(game, taken | changed)
            for place, mover in product(range(4), range(3)):
                gain = gets[place, mover][seat] - truth[place, mover][seat]
                said = found.deviation_gains[found.graph.find((place,)), (seat - mover) % 3]
                assert gain <= Fraction(said)


def test_ties_are_found_with_their_range(solved):
    game, found, taken = solved
    ties = found.ties
    assert (ties.positions, ties.mattering) == (1, 1)
    every = [
        worth(game, taken | {(3, seat): a for seat, a in enumerate(other)})[0, 0]
        for other in product((0, 1), repeat=3)
    ]
    for seat in range(3):
        low, high = min(one[seat] for one in every), max(one[seat] for one in every)
        assert abs(Fraction(ties.lowest[seat]) - low) <= Fraction(ties.error_bound)
        assert abs(Fraction(ties.highest[seat]) - high) <= Fraction(ties.error_bound)
    assert ties.error_bound < 1e-14 * (10 + game.patience)
