"""Games of the gallery, small enough for tests that go through all games."""

from __future__ import annotations

from typing import Any

import numpy as np

from rollwise import Game
from rollwise.coach import Session, Table
from rollwise.games import available

SMALL: dict[str, dict[str, Any]] = {
    "bear-off": {"checkers": 2},
    "two-sided-bear-off": {"checkers": 1},
    "bozo": {"sheet": "five"},
    "einstein": {"size": 3, "rows": 1},
    "farkle": {"target": 100},
    "farkle-turn": {"most": 100},
    "hare-and-tortoise": {"steps": 10},
    "hog": {"target": 20, "dice": 3},
    "hypergammon": {"checkers": 1},
    "knucklebones": {"columns": 2, "rows": 1},
    "ludo": {"pieces": 1},
    "pass-the-pigs": {"target": 12},
    "pickomino": {"dice": 5},
    "pig": {"target": 12},
    "red-light": {"target": 6, "greens": 6, "reds": 2},
    "risk": {"attackers": 2, "defenders": 3},
    "royal-ur": {"pieces": 1},
    "super-six": {"sticks": 6},
    "threes": {"dice": 3},
    "two-dice-pig": {"target": 8},
    "zilch": {"most": 300},
    "zombie-dice": {"goal": 2},
    "yahtzee": {"boxes": 1},
    "yatzy": {"boxes": 1},
    "chicago": {"dice": 2},
    "ship-captain-crew": {"tries": 2},
    "shut-the-box": {"tiles": 5},
}
TYPED = {  # as on the command line
    name: [f"{parameter}={value}" for parameter, value in given.items()]
    for name, given in SMALL.items()
}


def small_game(name: str) -> Game:
    """A game of the gallery by its name, made small."""
    return available()[name](**SMALL.get(name, {}))


def played(table: Table, seed: int, names=("Ann", "Bob"), moves: int = 10_000) -> Session:
    """A game of random choices, or its first moves."""
    names = names[: table.graph.players]
    session = Session(table, names, [None] * len(names), seed=seed)
    generator = np.random.default_rng(seed)
    while not session.is_over and len(session.accounts) < moves:
        choices = session.choices
        session.choose(choices[int(generator.integers(len(choices)))].action)
        session.roll()
    return session
