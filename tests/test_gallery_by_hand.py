"""Can't Stop for two, Ship Captain Crew, Ludo and a shut box, against programs by hand."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product

import pytest

from rollwise import Chase, solve
from rollwise.games.cant_stop import CantStopForTwo
from rollwise.games.ludo import Ludo
from rollwise.games.ship_captain_crew import ShipCaptainCrew
from rollwise.games.shut_the_box import ShutTheBox


def cant_stop_by_hand(n: int, k: int, columns: int) -> float:
    """The first player's chance in Can't Stop for two, by sweeps over all boards."""
    lengths = {c: k + 2 * min(c - 2, 2 * n - c) for c in range(2, 2 * n + 1)}
    splits = Counter(
        tuple(sorted({tuple(sorted((t[0] + t[i], sum(t) - t[0] - t[i]))) for i in (1, 2, 3)}))
        for t in product(range(1, n + 1), repeat=4)
    )
    empty = (frozenset(), frozenset())
    win = {empty: 0.4}  # by the steps of the mover and of the other

    def other(mine, theirs):
        """The mover's chance once it is the other's turn; filled columns are cleared."""
        theirs = {c: steps for c, steps in theirs.items() if mine.get(c) != lengths[c]}
        key = frozenset(theirs.items()), frozenset(mine.items())
        return 1 - win.setdefault(key, 0.4)

    def turn(mine, theirs):
        def climb(run, column):
            steps = run.get(column, mine.get(column, 0)) + 1
            open_to_all = theirs.get(column) != lengths[column] and steps <= lengths[column]
            after = {**run, column: steps}
            return after if open_to_all and len(after) <= 3 else None

        def moves(run, split):
            for one, another in split:
                alone = [climb(run, one), climb(run, another)]
                both = None if alone[0] is None else climb(alone[0], another)
                yield from [m for m in alone if m is not None] if both is None else [both]

        @cache
        def throw(key):
            run, mean = dict(key), 0.0
            for split, ways in splits.items():
                found = [after(move) for move in moves(run, split)]
                mean += ways / n**4 * max(found, default=other(mine, theirs))
            return mean

        def after(run):
            there = {**mine, **run}
            if sum(there[c] == lengths[c] for c in there) >= columns:
                return 1.0
            return max(other(there, theirs), throw(tuple(sorted(run.items()))))

        return throw(())

    change = 1.0
    while change > 1e-14:
        known, change = len(win), 0.0
        for mine, theirs in list(win):
            chance = turn(dict(mine), dict(theirs))
            change = max(change, abs(chance - win[mine, theirs]))
            win[mine, theirs] = chance
        change += len(win) - known
    return win[empty]


@pytest.mark.parametrize(("shortest", "columns"), [(1, 1), (1, 2)])
def test_cant_stop_for_two_by_hand(shortest, columns):
    solution = solve(CantStopForTwo(sides=2, shortest=shortest, columns=columns))
    assert solution.error_bound < 1e-12
    assert abs(solution.win_probability - cant_stop_by_hand(2, shortest, columns)) < 1e-12


def ship_by_hand(tries: int, worth) -> float:
    """What Ship, Captain and Crew is worth, by all throws of dice that differ."""

    @cache
    def throw(found, kept, left):
        mean = 0.0
        for faces in product(range(1, 7), repeat=5 - found - len(kept)):
            rest, crew = list(faces), found
            for face in (6, 5, 4):
                if crew == 6 - face and face in rest:
                    rest.remove(face)
                    crew += 1
            choices = [()]
            mine = 0.0
            if crew == 3:
                cargo = (*kept, *rest)
                mine = worth(sum(cargo))
                choices += [(die,) for die in cargo]
            if left > 1:
                ahead = [throw(crew, keep, left - 1) for keep in choices]
                mine = max(mine, *ahead)
            mean += mine
        return mean / 6 ** (5 - found - len(kept))

    return throw(0, (), tries)


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_ship_captain_crew_by_hand(tries):
    assert abs(solve(ShipCaptainCrew(tries)).value - ship_by_hand(tries, float)) < 1e-11


def ludo_by_hand(pieces: int, track: int, sides: int, exact: bool) -> float:
    """The first player's chance in Ludo, by sweeps; a piece is how far it has gone."""
    start = ((0,) * pieces,) * 2
    win = {start: 0.4}

    def passed(mine, theirs):
        return 1 - win.setdefault((theirs, mine), 0.4)

    def after(mine, theirs, piece, face):
        """My chance once a piece has moved; None where it can't."""
        to = 1 if piece == 0 else piece + face
        if (piece == 0 and face < sides) or piece > track or (exact and to > track + 1):
            return None
        to = min(to, track + 1)
        if to <= track and to in mine:
            return None
        moved = list(mine)
        moved[moved.index(piece)] = to
        mine = tuple(sorted(moved))
        if to <= track:
            place = (to + track // 2) % track
            met = [p for p in theirs if 0 < p <= track and p % track == place]
            theirs = tuple(sorted(0 if p in met else p for p in theirs))
        if min(mine) > track:
            return 1.0
        return win.setdefault((mine, theirs), 0.4) if face == sides else passed(mine, theirs)

    change = 1.0
    while change > 1e-14:
        known, change = len(win), 0.0
        for mine, theirs in list(win):
            chance = 0.0
            for face in range(1, sides + 1):
                found = [after(mine, theirs, piece, face) for piece in set(mine)]
                moves = [worth for worth in found if worth is not None]
                chance += max(moves) if moves else passed(mine, theirs)
            change = max(change, abs(chance / sides - win[mine, theirs]))
            win[mine, theirs] = chance / sides
        change += len(win) - known
    return win[start]


@pytest.mark.parametrize(
    ("pieces", "track", "sides", "exact"),
    [(1, 2, 2, False), (1, 8, 6, False), (2, 4, 3, True), (2, 6, 6, False), (3, 4, 4, False)],
)
def test_ludo_by_hand(pieces, track, sides, exact):
    solution = solve(Ludo(pieces, track, sides, exact))
    assert solution.error_bound < 1e-11
    assert abs(solution.win_probability - ludo_by_hand(pieces, track, sides, exact)) < 1e-12


@pytest.mark.parametrize(
    ("tiles", "one_die", "published"),
    [(9, "never", 0.071432), (9, "must", 0.097614), (10, "never", 0.0404380)],
)
def test_the_chance_to_shut_the_box(tiles, one_die, published):
    solution = solve(Chase(ShutTheBox(tiles, one_die), target=0))
    assert abs(solution.win_probability - published) < 5e-7
