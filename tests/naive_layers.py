"""Little games of layers, with throws, solved in fractions by trying every pair of policies.

The rules are a table of random numbers. In each layer a play under fixed policies is a Markov
chain. Its recurrent classes are where play never ends: they have what that is worth, and all other
positions the values of one linear system.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np

from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game, payoff
from rollwise.game import payoff_of

LAYERS, PLACES, THROWS, ACTIONS, OUTCOMES = 3, 3, 2, 2, 2
CHOICES = 4  # of a layer, at most
STAKES = (-2.5, 0.0, 0.75, 3.0)
WORTH = {WIN: 1, LOSE: -1, DRAW: 0}
KINDS = ("any", "few endings", "no endings", "draws", "slow", "stakes", "real")


class Spot(NamedTuple):
    layer: int
    place: int


@dataclass(frozen=True)
class RandomLayers(Game):
    """A table of random numbers.

    Attributes
    ----------
    seed : int
    kind : int
        Of `KINDS`.
    """

    seed: int = 0
    kind: int = 0

    def __post_init__(self):
        super().__post_init__()
        random, kind = np.random.default_rng([self.seed, self.kind]), KINDS[self.kind]
        spots = (LAYERS, PLACES)
        shape = (*spots, THROWS, ACTIONS, OUTCOMES)
        places = int(random.integers(1, PLACES + 1))
        layer = np.arange(LAYERS).reshape(LAYERS, 1, 1, 1, 1) + np.zeros(shape, np.int64)
        layer += random.random(shape) < 0.3
        ends = {"few endings": 0.1, "no endings": 0.0}.get(kind, 0.3)
        over = random.random(shape) < ends
        over |= (layer == LAYERS) & (kind != "no endings")
        endings = np.where(over, random.integers(2, 5, shape), random.integers(0, 2, shape))
        if kind == "draws":
            endings[endings >= 2] = 4
        weight = random.integers(1, 4, shape)
        if kind == "slow":
            weight *= 10 ** (random.integers(0, 5, shape) * (random.random(shape) < 0.5))
        tables = {
            "weight": weight * 0.1 if kind == "real" else weight,
            "layer": np.minimum(layer, LAYERS - 1),
            "place": random.integers(0, places, shape),
            "then": endings,
            "worth": random.choice(STAKES, shape),
            "throw_weight": random.integers(1, 4, (*spots, THROWS)),
            "n_throws": random.integers(1, THROWS + 1, spots),
            "n_actions": _few(random.integers(1, ACTIONS + 1, (*spots, THROWS))),
            "n_outcomes": random.integers(1, OUTCOMES + 1, shape[:-1]),
        }
        for name, table in tables.items():
            object.__setattr__(self, name, table)

    def start(self):
        return Spot(0, 0)

    def throws(self, s):
        for throw in range(self.n_throws[s.layer, s.place]):
            yield self.throw_weight[s.layer, s.place, throw], throw

    def actions(self, s, throw):
        for action in range(self.n_actions[s.layer, s.place, throw]):
            yield action

    def outcomes(self, s, throw, action):
        for k in range(self.n_outcomes[s.layer, s.place, throw, action]):
            weight = self.weight[s.layer, s.place, throw, action, k]
            then = self.then[s.layer, s.place, throw, action, k]
            after = Spot(
                self.layer[s.layer, s.place, throw, action, k],
                self.place[s.layer, s.place, throw, action, k],
            )
            if then == 0:
                yield weight, AGAIN, after
            elif then == 1:
                yield weight, PASS, after
            elif self.kind == 5:
                yield weight, payoff(self.worth[s.layer, s.place, throw, action, k]), s
            elif then == 2:
                yield weight, WIN, s
            elif then == 3:
                yield weight, LOSE, s
            else:
                yield weight, DRAW, s

    def progress(self, s):
        return s.layer


class EndlessIsADraw(RandomLayers):
    endless: ClassVar = "draw"


class EndlessIsLost(RandomLayers):
    endless: ClassVar = "lose"


def _few(n_actions):
    """Throws with a choice, at most `CHOICES` in each layer."""
    for layer in n_actions.reshape(LAYERS, -1):
        layer[np.flatnonzero(layer > 1)[CHOICES:]] = 1
    return n_actions


class Outcome(NamedTuple):
    chance: Fraction
    ends: Fraction | None  # the payoff to the mover
    passes: int
    after: tuple


def outcomes_of(game, spot, throw, action) -> list[Outcome]:
    every = list(game.outcomes(spot, throw, action))
    weights = [Fraction(weight.item()) for weight, _, _ in every]
    found = []
    for weight, (_, then, after) in zip(weights, every, strict=True):
        chance, goes_on = weight / sum(weights), then in (AGAIN, PASS)
        ends = None if goes_on else Fraction(WORTH.get(then, 0) or _points(then))
        found.append(Outcome(chance, ends, int(then == PASS), tuple(map(int, after))))
    return found


def _points(then) -> float:
    return 0.0 if then in WORTH else payoff_of(int(then))


def turns_of(game) -> dict:
    """For each position its throws: each a chance, and the outcomes of each action."""
    queue, found = [tuple(game.start())], {}
    for spot in queue:  # grows while it runs
        state = Spot(*spot)
        every = list(game.throws(state))
        total = sum(int(weight) for weight, _ in every)
        found[spot] = [
            (
                Fraction(int(weight), total),
                [outcomes_of(game, state, throw, a) for a in game.actions(state, throw)],
            )
            for weight, throw in every
        ]
        for _, actions in found[spot]:
            after = [o.after for outcomes in actions for o in outcomes if o.ends is None]
            queue += dict.fromkeys(t for t in after if t not in queue)
    return found


def can_be_endless(turns: dict) -> bool:
    """Whether some positions have, after each throw, an action that stays among them."""
    inside = set(turns)
    while True:
        stay = {
            spot
            for spot in inside
            if all(
                any(all(o.ends is None and o.after in inside for o in way) for way in actions)
                for _, actions in turns[spot]
            )
        }
        if stay == inside:
            return bool(inside)
        inside = stay


def chain_values(turns: dict, later: dict, taken: dict, stuck: Fraction, alone: bool) -> dict:
    """Values to seat 0 of all pairs (position, seat) of a layer, under one action for each throw.

    Parameters
    ----------
    later : values to the mover of positions of later layers
    taken : (position, number of the throw, seat) -> number of the action
    stuck : what endless play is worth
    alone : whether who stays within a turn for ever loses
    """
    nodes = [(spot, seat) for spot in turns for seat in (0, 1)]
    rows, right = {}, {}
    for spot, seat in nodes:
        row, constant = {}, Fraction(0)
        for number, (chance, actions) in enumerate(turns[spot]):
            for outcome in actions[taken[spot, number, seat]]:
                part, after = chance * outcome.chance, (outcome.after, seat ^ outcome.passes)
                eyes = 1 if seat == 0 else -1
                if outcome.ends is not None:
                    constant += part * eyes * outcome.ends
                elif outcome.after in later:
                    constant += part * (1 if after[1] == 0 else -1) * later[outcome.after]
                else:
                    row[after] = row.get(after, 0) + part
        rows[spot, seat], right[spot, seat] = row, constant
    reach = {}
    for node in nodes:
        reach[node], pending = {node}, [node]
        for one in pending:
            pending += [t for t in rows[one] if t not in reach[node]]
            reach[node] |= set(rows[one])
    values = {}
    for node in nodes:
        if all(node in reach[t] and sum(rows[t].values()) == 1 for t in reach[node]):
            seats = {seat for _, seat in reach[node]}
            values[node] = (
                Fraction(-1 if seats == {0} else 1) if alone and len(seats) == 1 else stuck
            )
    rest = [node for node in nodes if node not in values]
    written = {}  # each in terms of those that come before it in `rest`
    for node in reversed(rest):
        row, constant = dict(rows[node]), right[node]
        while known := [t for t in row if t in values or t in written]:
            t = known[0]
            share = row.pop(t)
            constant += share * (values[t] if t in values else written[t][0])
            for u, more in ({} if t in values else written[t][1]).items():
                row[u] = row.get(u, 0) + share * more
        left = 1 - row.pop(node, 0)
        written[node] = constant / left, {t: share / left for t, share in row.items()}
    for node in rest:
        constant, row = written[node]
        values[node] = constant + sum(share * values[t] for t, share in row.items())
    return values


def values_of(turns: dict, stuck: Fraction, alone: bool) -> dict:
    """The values to the mover of all positions."""
    known: dict = {}
    for layer in range(LAYERS - 1, -1, -1):
        here = {spot: throws for spot, throws in turns.items() if spot[0] == layer}
        places = [(spot, number) for spot in here for number in range(len(here[spot]))]
        every = list(product(*(range(len(here[spot][number][1])) for spot, number in places)))
        best: dict = {}
        for mine in every:
            worst: dict = {}
            for theirs in every:
                taken = {(*place, 0): a for place, a in zip(places, mine, strict=True)}
                taken |= {(*place, 1): a for place, a in zip(places, theirs, strict=True)}
                found = chain_values(here, known, taken, stuck, alone)
                for spot in here:
                    worst[spot] = min(worst.get(spot, found[spot, 0]), found[spot, 0])
            for spot in here:
                best[spot] = max(best.get(spot, worst[spot]), worst[spot])
        known |= best
    return known


def truth_of(game) -> dict | None:
    """The values to the mover of all positions; None where the game has none."""
    turns = turns_of(game)
    if game.endless == "forbidden":
        return None if can_be_endless(turns) else values_of(turns, Fraction(0), False)
    if game.endless == "draw":
        return values_of(turns, Fraction(0), False)
    found = [values_of(turns, Fraction(stuck), True) for stuck in (-1, 1)]
    return found[0] if found[0] == found[1] else None
