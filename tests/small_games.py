"""Games of the gallery, small enough for tests that go through all games."""

from __future__ import annotations

from typing import Any

SMALL: dict[str, dict[str, Any]] = {
    "bear-off": {"checkers": 2},
    "two-sided-bear-off": {"checkers": 1},
    "bozo": {"sheet": "five"},
    "farkle": {"target": 100},
    "farkle-turn": {"most": 100},
    "hypergammon": {"checkers": 1},
    "ludo": {"pieces": 1},
    "red-light": {"target": 6, "greens": 6, "reds": 2},
    "risk": {"attackers": 2, "defenders": 3},
    "royal-ur": {"pieces": 1},
    "zilch": {"most": 300},
    "yahtzee": {"boxes": 1},
    "yatzy": {"boxes": 1},
    "chicago": {"dice": 2},
    "ship-captain-crew": {"tries": 2},
    "shut-the-box": {"tiles": 5},
}
# Small, and yet too slow for the tests of kernels with the JIT off.
SLOW = {"bear-off", "bozo", "cant-stop", "cant-stop-for-two", "chicago", "farkle", "farkle-turn",
    "ludo", "ship-captain-crew", "shut-the-box", "two-sided-bear-off", "yahtzee",
    "yatzy"}  # fmt: skip
TYPED = {  # as on the command line
    name: [f"{parameter}={value}" for parameter, value in given.items()]
    for name, given in SMALL.items()
}
