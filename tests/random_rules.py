"""Random rule sheets of every shape, for attacks on the proofs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rollwise import AGAIN, DRAW, END, LOSE, PASS, WIN, Game, payoff

SLOW = 10**8  # the weight of going on, beside 1 to leave, where play is slow


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class RandomRules(Game):
    """Rules that are a random table, drawn from the seed: players, throws, ends and rewards too.

    Play may go on for ever: nothing here makes it end.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        random = np.random.default_rng(self.seed)
        players = int(random.integers(1, 3))
        points = players == 1 and random.random() < 0.5
        endings: list[Any] = [END] if points else [WIN, LOSE, DRAW, payoff(3), payoff(-2)]
        facts: dict[str, Any] = {"players": players, "objective": "win", "endless": "forbidden"}
        if points:
            facts["objective"] = str(random.choice(["maximize", "minimize"]))
        else:
            facts["endless"] = str(random.choice(["draw", "lose", "forbidden"]))
            endings = endings[: int(random.integers(1, 6))]
        n_throws, places = int(random.integers(0, 3)), int(random.integers(1, 6))
        again = [AGAIN] if players == 1 else [AGAIN, PASS]
        ending, slow = random.choice([0.1, 0.4, 0.8]), random.random() < 0.3
        table: dict[Any, Any] = {}
        for place in range(places):
            for throw in range(max(n_throws, 1)):
                for action in range(int(random.integers(1, 4))):
                    rows = []
                    for _ in range(int(random.integers(1, 4))):
                        ends = random.random() < ending
                        then = endings[random.integers(len(endings))] if ends else None
                        then = again[random.integers(len(again))] if then is None else then
                        weight = SLOW if slow and not ends else int(random.integers(1, 4))
                        rows.append((weight, then, Spot(int(random.integers(places)))))
                    table.setdefault((place, throw), {})[action] = rows
        cost = 1.0 if facts["objective"] == "minimize" else -1.0
        for name, value in {
            **facts,
            "table": table,
            "n_throws": n_throws,
            "points": cost * random.integers(0, 3, places) if points else np.zeros(places),
        }.items():
            object.__setattr__(self, name, value)

    def start(self) -> Spot:
        return Spot(0)

    def actions(self, s: Any, throw: int = 0) -> Any:
        yield from self.table[s.place, throw]

    def outcomes(self, s: Any, *choice: int) -> Any:
        throw, action = choice if len(choice) == 2 else (0, *choice)
        yield from self.table[s.place, throw][action]

    def reward(self, s: Any, *choice: int) -> float:
        return float(self.points[s.place])


class ThrownRules(RandomRules):
    """The same with throws."""

    def throws(self, s: Any) -> Any:
        for throw in range(self.n_throws):
            yield throw + 1, throw

    def actions(self, s: Any, throw: int) -> Any:
        yield from self.table[s.place, throw]

    def outcomes(self, s: Any, throw: int, action: int) -> Any:
        yield from self.table[s.place, throw][action]

    def reward(self, s: Any, throw: int, action: int) -> float:
        return float(self.points[s.place])


def random_rules(seed: int) -> RandomRules:
    """The game of a seed."""
    game = RandomRules(seed=seed)
    return ThrownRules(seed=seed) if game.n_throws else game
