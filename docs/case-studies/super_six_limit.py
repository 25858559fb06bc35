"""Super Six far from its end: what it is worth, in sticks, to be about to throw.

While both players have very many sticks, only the lead counts: the other player's sticks minus
the mover's. The worth of being at move is a number of sticks that depends on the lid alone::

    worth(lid) = max over actions of  mean of (sticks won or lost + worth(next lid))

with minus the worth of the next lid where the turn passes. It is solved in fractions here, from
the rule sheet itself. The lead plus the worth is then a martingale. The lid changes by the same
chances whoever throws (with holes of the usual kind it is the urn of Ehrenfest and Ehrenfest 1907).
So the mean square of a step, for each stick that leaves the game, is a fixed number, the spread.
By the central limit theorem for martingales (Hall and Heyde 1980, section 3.2) the lead after n
sticks have left is nearly normal with the mean worth(start) and the variance spread x n, and who
begins is ahead with probability 1/2 + worth(start) / sqrt(2 pi spread n).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from rollwise.games.super_six import STOP, THROW, Sticks, SuperSix
from rollwise.then import PASS

MANY = 1000  # sticks in each hand: as good as infinitely many, for one action
SWEEPS = 2000


class Way(NamedTuple):
    """An outcome of an action."""

    chance: Fraction
    gain: int  # of the mover's lead
    sign: int  # -1 if the turn passes
    after: tuple[int, int]
    gone: int  # sticks that leave the game


Ways = Mapping[int, list[Way]]


class Limit(NamedTuple):
    """The game far from its end.

    Attributes
    ----------
    worth : mapping
        In sticks, by (lid, forced).
    stops : tuple of int
        With how many sticks in the lid one stops.
    visits : mapping
        How often each number of sticks stands in the lid when the die is thrown.
    spread : Fraction or None
        The variance of the lead for each stick that leaves the game; None if none leaves.
    start : (lid, forced)
    """

    worth: Mapping[tuple[int, int], Fraction]
    stops: tuple[int, ...]
    visits: Mapping[int, Fraction]
    spread: Fraction | None
    start: tuple[int, int]

    @property
    def lead(self) -> Fraction:
        """What it is worth to begin, in sticks."""
        return self.worth[self.start]

    def edge(self, ahead: int = 0) -> float:
        """The limit of (chance of who begins - 1/2) x sqrt(sticks), with a lead of some sticks."""
        if self.spread is None:
            raise ValueError("no stick leaves the game")
        return float(self.lead + ahead) / math.sqrt(2 * math.pi * self.spread)


def limit_of(game: SuperSix) -> Limit:
    """Solve a version of the game far from its end.

    Raises
    ------
    ValueError
        Play may never end; then the worth of a draw counts, and not the lead alone.
    """
    if game.endless != "forbidden":
        raise ValueError("play may never end")
    start = game.start()
    moves = _moves(game, (start.lid, start.forced))
    worth = _best_worth(moves)
    visits = _visits(moves)
    square = gone = Fraction(0)
    for lid, share in visits.items():
        for way in moves[lid, 1][THROW]:
            step = _of_way(way, worth) - worth[lid, 1]
            square += share * way.chance * step**2
            gone += share * way.chance * way.gone
    stops = tuple(
        lid
        for (lid, forced), actions in sorted(moves.items())
        if forced == 0 and STOP in actions and _mean(actions[STOP], worth) == worth[lid, forced]
    )
    return Limit(worth, stops, visits, square / gone if gone else None, (start.lid, start.forced))


def _moves(game: SuperSix, start: tuple[int, int]) -> dict[tuple[int, int], Ways]:
    """All (lid, forced) that play comes to, with what each action may bring."""
    game = dataclasses.replace(game, sticks=4 * MANY)
    moves: dict[tuple[int, int], Ways] = {}
    pending = [start, (0, 1)]
    while pending:
        place = pending.pop()
        if place not in moves:
            state = Sticks(place[0], MANY, (MANY,), place[1])
            moves[place] = {a: _ways(game, state, a) for a in game.actions(state)}
            pending += [(place[0], 1), *(w.after for ways in moves[place].values() for w in ways)]
    return moves


def _ways(game: SuperSix, state: Sticks, action: int) -> list[Way]:
    found = [
        (weight, then, after) for weight, then, after in game.outcomes(state, action) if weight
    ]
    total = sum(weight for weight, _, _ in found)
    ways = []
    for weight, then, after in found:
        sign = -1 if then == PASS else 1
        gain = sign * (after.others[0] - after.mine)
        gone = _sticks(state) - _sticks(after)
        ways.append(Way(Fraction(weight, total), gain, sign, (after.lid, after.forced), gone))
    return ways


def _sticks(state: Sticks) -> int:
    return state.lid + state.mine + sum(state.others)


def _of_way(way: Way, worth: Mapping[tuple[int, int], Fraction]) -> Fraction:
    return way.gain + way.sign * worth[way.after]


def _mean(ways: list[Way], worth: Mapping[tuple[int, int], Fraction]) -> Fraction:
    return sum((way.chance * _of_way(way, worth) for way in ways), Fraction(0))


def _best_worth(moves: Mapping[tuple[int, int], Ways]) -> dict[tuple[int, int], Fraction]:
    """The solution of the equation: guessed by sweeps, then found and checked in fractions."""
    rough = dict.fromkeys(moves, 0.0)
    floats = {
        place: {
            a: [(float(w.chance), w.gain, w.sign, w.after) for w in ways] for a, ways in m.items()
        }
        for place, m in moves.items()
    }

    def mean(place: tuple[int, int], action: int) -> float:
        return sum(p * (gain + sign * rough[t]) for p, gain, sign, t in floats[place][action])

    for _ in range(SWEEPS):
        for place, actions in floats.items():
            rough[place] = max(mean(place, action) for action in actions)
    chosen = {place: max(moves[place], key=lambda a: mean(place, a)) for place in moves}
    places = list(moves)
    rows, right = [], []
    for place in places:
        ways = moves[place][chosen[place]]
        row = {place: Fraction(1)}
        for way in ways:
            row[way.after] = row.get(way.after, Fraction(0)) - way.sign * way.chance
        rows.append([row.get(other, Fraction(0)) for other in places])
        right.append(sum((way.chance * way.gain for way in ways), Fraction(0)))
    worth = dict(zip(places, _solved(rows, right), strict=True))
    for place, actions in moves.items():
        assert worth[place] == max(_mean(ways, worth) for ways in actions.values())
    return worth


def _visits(moves: Mapping[tuple[int, int], Ways]) -> dict[int, Fraction]:
    """How often each lid is met by a throw, in the long run."""
    lids = sorted({lid for lid, forced in moves if forced == 1})
    rows = [[Fraction(-(a == b)) for a in lids] for b in lids]
    for i, lid in enumerate(lids):
        for way in moves[lid, 1][THROW]:
            rows[lids.index(way.after[0])][i] += way.chance
    rows[-1] = [Fraction(1)] * len(lids)  # the shares sum to 1; one balance follows from the others
    right = [Fraction(0)] * (len(lids) - 1) + [Fraction(1)]
    return dict(zip(lids, _solved(rows, right), strict=True))


def _solved(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of a linear system, by Gauss and Jordan."""
    n = len(rows)
    table = [[*row, end] for row, end in zip(rows, right, strict=True)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if table[k][i])
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [x / table[i][i] for x in table[i]]
        for k in range(n):
            if k != i and table[k][i]:
                factor = table[k][i]
                table[k] = [x - factor * y for x, y in zip(table[k], table[i], strict=True)]
    return [row[n] for row in table]
