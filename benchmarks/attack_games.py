"""Random rule sheets for `benchmarks.attack`, and the same games as exact options.

A sheet is drawn from its seed: 1 to 5 players, with throws, a pool of dice or neither, wins, stakes
or points, slow chains, real weights, each kind of endless play, and random layers. Nothing makes
play end. Both forms read one table. So the exact form depends on nothing of rollwise but the names
of endings.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from benchmarks.exact import Node, Option
from rollwise import AGAIN, DRAW, END, LOSE, PASS, WIN, Game, dice, payoff, payoffs, shared, skip

SLOW = (10**6, 10**8, 10**8, 10**10, 10**12)  # moves for which play goes on, on average


class Row(NamedTuple):
    """An outcome: its weight, how many seats the die moves on, and the next place or the payoffs of
    the seats from the mover on."""

    weight: Any
    then: int
    seats: int
    place: int
    paid: tuple[Fraction, ...] | None


class Spot(NamedTuple):
    place: int


def endings(players: int, points: bool, stakes: bool) -> list[tuple[int, tuple[Any, ...]]]:
    """Endings, each with what it brings the seats."""
    if points:
        return [(END, (0,))]
    if players <= 2:
        numbers = [1, -1, 0, *((3, -2, 0.1) if stakes else ())]
        names = {1: WIN, -1: LOSE, 0: DRAW}
        return [(names.get(x, payoff(x)), (x, -x)[:players]) for x in numbers]
    others, none = players - 1, (0,) * (players - 2)
    found = [
        (WIN, (1, *(0,) * others)),
        (LOSE, (0, *(Fraction(1, others),) * others)),
        (DRAW, (Fraction(1, players),) * players),
        (shared(2, 1, *none), (Fraction(2, 3), Fraction(1, 3), *none)),
    ]
    given = (3, -1, *range(others - 1))
    return [*found, (payoffs(*given), given)] if stakes else found


@dataclass(frozen=True)
class Table(Game):
    """Rules that are a random table: a situation is numbered by its place and throw."""

    seed: int = 0
    most: int = 8  # places
    whole: bool = False  # points

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in drawn(self.seed, self.most).items():
            made = np.rint(value) if name == "points" and self.whole else value
            object.__setattr__(self, name, made)

    def start(self):
        return Spot(0)

    def progress(self, s):
        return self.level[s.place]

    def actions(self, s):
        yield from self.labels(s.place)

    def outcomes(self, s, action):
        yield from self.after(self.begin[s.place] + action)

    def reward(self, s, action):
        return self.points[self.begin[s.place] + action]

    def labels(self, situation):
        for action in range(self.begin[situation + 1] - self.begin[situation]):  # noqa: UP028
            yield action

    def after(self, a):
        for k in range(self.first[a], self.first[a + 1]):
            yield self.weight[k], self.then[k], Spot(self.to[k])


class ThrownTable(Table):
    """The same with throws."""

    def throws(self, s):
        for throw in range(self.n_throws):
            yield self.throw_weight[throw], throw

    def situation(self, s, throw):
        return s.place * self.n_throws + throw

    def actions(self, s, throw):
        yield from self.labels(self.situation(s, throw))

    def outcomes(self, s, throw, action):
        yield from self.after(self.begin[self.situation(s, throw)] + action)

    def reward(self, s, throw, action):
        return self.points[self.begin[self.situation(s, throw)] + action]


class PoolTable(ThrownTable):
    """The same with a pool of dice; a throw counts as its total."""

    def throws(self, s):
        return dice.pool(self.n_dice, self.sides, self.rerolls)

    def situation(self, s, throw):
        total = s.place * self.n_throws
        for face in throw:
            total += face - 1
        return total


class CountedTable(PoolTable):
    """The same where each throw may end the turn, and a place has rerolls of its own."""

    def throws(self, s):
        return dice.pool(self.n_dice, self.sides, self.rolls[s.place])

    def situation(self, s, throw, rolls_left):
        total = (s.place * (self.rerolls + 1) + rolls_left) * self.n_totals
        for face in throw:
            total += face - 1
        return total

    def actions(self, s, throw, rolls_left):
        yield from self.labels(self.situation(s, throw, rolls_left))

    def outcomes(self, s, throw, rolls_left, action):
        yield from self.after(self.begin[self.situation(s, throw, rolls_left)] + action)

    def reward(self, s, throw, rolls_left, action):
        return self.points[self.begin[self.situation(s, throw, rolls_left)] + action]


POOLS = ("pool", "counted")
KINDS = {"plain": Table, "thrown": ThrownTable, "pool": PoolTable, "counted": CountedTable}


def sheet(seed: int, most: int = 8, whole: bool = False) -> Table:
    """The game of a seed."""
    kind = drawn(seed, most)["kind"]
    return KINDS[kind](seed=seed, most=most, whole=whole)


def drawn(seed: int, most: int) -> dict[str, Any]:
    """The facts and arrays of a random sheet."""
    rng = random.Random(seed)
    chance = lambda p: rng.random() < p  # noqa: E731
    players = rng.choice((1, 1, 2, 2, 2, 3, 4, 5))
    points, stakes = players == 1 and chance(0.5), chance(0.4)
    facts: dict[str, Any] = {"players": players, "objective": "win", "endless": "forbidden"}
    if points:
        facts["objective"] = rng.choice(("maximize", "minimize"))
    elif players <= 2:
        facts["endless"] = rng.choice(("forbidden", "draw", "lose"))
    kind = rng.choice(("plain", "plain", "thrown", "pool") if players <= 2 else ("plain", "thrown"))
    n_dice, sides, rerolls = rng.choice(((1, 2, 1), (1, 3, 2), (2, 2, 1), (2, 2, 2), (2, 3, 1)))
    n_totals = n_dice * (sides - 1) + 1
    if kind == "pool" and chance(0.5):
        kind = "counted"
    n_throws = {"plain": 1, "thrown": rng.randint(1, 3), "pool": n_totals}.get(kind)
    n_throws = n_throws or n_totals * (rerolls + 1)
    n = rng.randint(1, most if players <= 2 else min(most, 5))
    layers = rng.choice((1, 1, 2, 3, n))
    group = [p * layers // n for p in range(n)]
    known = endings(players, points, stakes)
    known = rng.sample(known, rng.randint(1, len(known)))
    ending, real = rng.choice((0.1, 0.3, 0.8)), chance(0.15)
    slow, often = rng.choice(SLOW) if chance(0.3) else 0, rng.choice((0.1, 0.5))
    moves = [AGAIN] if players == 1 else [AGAIN, PASS, skip(2), skip(-1)][: min(players + 1, 4)]
    paid = points or (players == 2 and facts["endless"] == "forbidden" and chance(0.3))
    cost = -1 if facts["objective"] == "maximize" else 1
    signs = (cost,) if chance(0.8) else (1, -1)
    begin, first, points_of, rows = [0], [0], list[float](), list[Row]()
    for situation in range(n * n_throws):
        place = situation // n_throws
        later = [p for p in range(n) if group[p] >= group[place]]
        for _ in range(rng.randint(1, 3)):
            stays = slow > 0 and chance(often)
            for k in range(rng.randint(1, 3)):
                ends = chance(ending)
                if ends:
                    then, brings = rng.choice(known)
                    row = Row(1, then, 0, place, tuple(map(exactly, brings)))
                else:
                    then = rng.choice(moves)
                    seats = {AGAIN: 0, PASS: 1, skip(2): 2, skip(-1): -1}[then]
                    row = Row(1, then, seats % players, rng.choice(later), None)
                size = slow if stays and k == 0 else rng.randint(1, 4)
                rows.append(row._replace(weight=size * 0.1 if real else size))
            first.append(len(rows))
            points_of.append(rng.choice(signs) * rng.choice((0, 1, 1, 2.5)) if paid else 0)
        begin.append(len(points_of))
    cuts = [g for g in range(layers) if g == 0 or chance(0.7)]  # some groups are one layer
    weights = [rng.randint(1, 3) * (0.1 if real else 1) for _ in range(n_throws)]
    return {
        **facts,
        "kind": kind,
        "n_dice": n_dice,
        "sides": sides,
        "rerolls": rerolls,
        "rolls": np.array([rng.randint(0, rerolls) for _ in range(n)]),
        "n_totals": n_totals,
        "n_throws": n_throws,
        "throw_weight": np.array(weights),
        "begin": np.array(begin),
        "first": np.array(first),
        "points": np.array(points_of, np.float64),
        "weight": np.array([row.weight for row in rows]),
        "then": np.array([row.then for row in rows], np.int64),
        "to": np.array([row.place for row in rows]),
        "level": np.array([sum(g >= cut for cut in cuts) for g in group]),
        "rows": tuple(rows),
        "slow": slow,
        "n_slow": sum(row.weight >= 0.1 * slow > 0 for row in rows),
    }


def exactly(number: Any) -> Fraction:
    return Fraction(number)


def options_of(game: Table) -> dict[Any, list[tuple[Any, Any]]]:
    """The choices of the mover by node: (label, Turn) each.

    A node is a place, a place and the number of a situation, or with a pool what was thrown or kept
    and how often dice may be thrown again.
    """
    found: dict[Any, list[tuple[Any, Any]]] = {}
    n = len(game.level)

    def lottery(ways: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        total = sum(exactly(weight) for weight, _ in ways)
        return None, (Fraction(0), [(exactly(w) / total, 0, node, None) for w, node in ways])

    def choice(situation: int) -> list[tuple[Any, Any]]:
        some = []
        for a in range(game.begin[situation], game.begin[situation + 1]):
            rows = game.rows[game.first[a] : game.first[a + 1]]
            total = sum(exactly(row.weight) for row in rows)
            ways = [(exactly(r.weight) / total, r.seats, ("at", r.place), r.paid) for r in rows]
            some.append((a - int(game.begin[situation]), (exactly(game.points[a]), ways)))
        return some

    for place in range(n):
        if game.kind == "plain":
            found["at", place] = choice(place)
        elif game.kind == "thrown":
            ways = [(w, ("thrown", place, (t,))) for t, w in enumerate(game.throw_weight.tolist())]
            found["at", place] = [lottery(ways)]
            for throw in range(game.n_throws):
                found["thrown", place, (throw,)] = choice(place * game.n_throws + throw)
        else:
            throws = list(product(range(1, game.sides + 1), repeat=game.n_dice))
            counted = game.kind == "counted"
            left = int(game.rolls[place]) if counted else game.rerolls
            start = [(1, ("thrown", place, tuple(sorted(t)), left)) for t in throws]
            found["at", place] = [lottery(start)]
            for again in range(left + 1):
                for t in sorted({tuple(sorted(t)) for t in throws}):
                    number = sum(t) - game.n_dice + again * game.n_totals * counted
                    some = choice(place * game.n_throws + number)
                    if again:
                        kept = {k for m in range(game.n_dice) for k in combinations(t, m)}
                        for k in sorted(kept):
                            rest = product(range(1, game.sides + 1), repeat=game.n_dice - len(k))
                            ways = [
                                (1, ("thrown", place, tuple(sorted((*k, *r))), again - 1))
                                for r in rest
                            ]
                            some.append((k, lottery(ways)[1]))
                    found["thrown", place, t, again] = some
    return found


def seen_by(game: Table, options: Mapping[Any, Any]) -> dict[Node, list[Option]]:
    """The game as one observer sees it, who moves where the seat is 0, from the start on."""
    found: dict[Node, list[Option]] = {}
    sign = -1 if game.objective == "minimize" else 1
    queue = [(("at", 0), seat) for seat in range(game.players)]
    for node, seat in queue:  # which grows
        if (node, seat) not in found:
            rows = []
            for _, (points, ways) in options[node]:
                constant = sign * points * (1 if seat == 0 else -1)
                after: dict[Node, Fraction] = {}
                for part, seats, to, paid in ways:
                    if paid is not None:
                        constant += part * paid[seat]
                    else:
                        key = to, (seat - seats) % game.players
                        after[key] = after.get(key, 0) + part
                rows.append(Option(constant, after))
            found[node, seat] = rows
            queue += [to for row in rows for to in row.after]
    return found
