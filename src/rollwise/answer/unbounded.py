"""Games whose fields rise without an end, where stopping is best from some number on.

The rules are tried up to a limit. If a field still rises, caps are sought beyond which stopping is
proved to be best (`rollwise.proofs.remainder`). The capped game is finite, and has the same values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.builders import build, limits
from rollwise.builders.building import endless_growth
from rollwise.builders.interpreted import Interpreter
from rollwise.builders.rules import Rules
from rollwise.derive.derived_game import with_methods
from rollwise.errors import NumberTooLarge, RollwiseError, RulesError
from rollwise.game import Game, has_many, is_over
from rollwise.proofs.check_rules import Claims, Position
from rollwise.proofs.remainder import (
    Rest,
    Unproved,
    WorthMore,
    check_rest,
    flat,
    names_of,
    prove_rest,
    upper_bound,
)

MOST_CAPS = 200  # tried
MOST_PERIOD = 12  # of the denominator of a ratio of two fields
SHOWN = 1_000  # numbers beyond the proved ones where other actions are still offered, at most


def finite(game: Game) -> Game:
    """The game itself; or, if a field rises without an end, the game with proved caps.

    Raises
    ------
    RulesError
        A field rises without an end, and stopping is best nowhere.
    """
    if has_many(game) or game.made_from is not game or hasattr(game, "rest"):
        return game
    if game.objective == "average" or game.endless != "forbidden":
        return game
    try:
        return _finite(game)
    except TypeError:  # a parameter that can't be hashed
        return _finite.__wrapped__(game)


@cache
def _finite(game: Game) -> Game:
    try:
        rules = Rules(game)
        roots = rules.few_roots(limits.SMALL)
        if roots is None:
            return game
        trial = Interpreter(rules, roots, limits.MAX_STATES_INTERPRETED)
        if not trial.run(stop_after=limits.SMALL, patience=limits.PATIENCE):
            return game
        if not endless_growth(rules, trial.states):
            return game
    except NumberTooLarge:
        pass
    except RollwiseError:  # the builder tells
        return game
    seen = [flat(rules.layout.state(row)) for row in trial.states.tolist()]
    try:
        return _Search(game, seen).capped()
    except Unproved as fault:
        if fault.certain:
            raise RulesError(
                f"{game.name}: its states have no end, and there is no number from which stopping "
                f"is proved best: {fault}. Let the game end where a field is large, or cap it with "
                "min()"
            ) from None
    return game


class _Search:
    """The search for caps of the rising fields of a game."""

    def __init__(self, game: Game, seen: list[list[int]]) -> None:
        self.game, self.seen = game, np.array(seen, np.int64)
        half = self.seen[: len(seen) // 2 + 1].max(axis=0)
        self.rising = np.flatnonzero(self.seen.max(axis=0) > half).tolist()
        self.least = {k: int(self.seen[:, k].min()) for k in self.rising}
        self.known: tuple[Game, Claims] | None = None

    def capped(self) -> Game:
        """The game with proved caps.

        Raises
        ------
        Unproved
        """
        caps = {k: least + 1 for k, least in self.least.items()}
        for _ in range(MOST_CAPS):
            rest = Rest(self.game, caps, self.least, self._slopes())
            self.known = None
            try:
                prove_rest(rest, self._patterns(), lambda s, passes: self._upper(rest, s, passes))
            except WorthMore as fault:
                if fault.cap is None:
                    raise
                caps = {**caps, fault.field: max(fault.cap, caps[fault.field] + 1)}
                continue
            return self._wider(rest)
        raise Unproved(f"none of {MOST_CAPS} caps was proved, up to {max(caps.values()):,}")

    def _wider(self, rest: Rest) -> Game:
        """The game with caps beyond the proved ones, so that players see stopping to be best."""
        caps = {k: cap + min(cap, SHOWN) for k, cap in rest.caps.items()}
        for wide in (Rest(rest.game, caps, rest.least, rest.slopes), rest):
            made = _with_caps(wide, rest.caps)
            fault = check_rest(wide, *_claims(made))
            if not fault:
                return made
        raise Unproved(fault)

    def _slopes(self) -> dict[tuple[int, int], Fraction]:
        """The least ratio of two rising fields, rounded down to a simple fraction."""
        above = {k: self.seen[:, k] - least for k, least in self.least.items()}
        slopes = {}
        for i, j in permutations(self.rising, 2):
            up = above[i] > 0
            least = float((above[j][up] / above[i][up]).min())
            slopes[i, j] = max(Fraction(int(least * q), q) for q in range(1, MOST_PERIOD + 1))
        return slopes

    def _patterns(self) -> list[Position]:
        """The other fields of positions where a rising one is large."""
        large = np.zeros(len(self.seen), np.bool_)
        for k in self.rising:
            large |= self.seen[:, k] > np.median(self.seen[:, k])
        rows = self.seen[large]
        rows[:, self.rising] = 0
        return list(map(tuple, np.unique(rows, axis=0).tolist()))

    def _upper(self, rest: Rest, state: Any, passes: bool) -> Fraction:
        if self.known is None:
            self.known = _claims(_with_caps(rest, rest.caps))
        return upper_bound(rest, self.known[1], state, passes)


def _with_caps(rest: Rest, proved: Mapping[int, int]) -> Game:
    """The game where only leaving actions are allowed in the rest, if there are any."""
    caps = tuple(rest.caps.items())

    def is_beyond(self: Any, s: Any) -> bool:
        for field, cap in caps:
            if s[field] >= cap:
                return True
        return False

    def leaves(self: Any, s: Any, *choice: Any) -> bool:
        for _, then, after in self.outcomes(s, *choice):
            if not is_over(then) and self.is_beyond(after):
                return False
        return True

    def can_leave(self: Any, s: Any, *throw: Any) -> bool:
        if self.is_beyond(s):
            for action in self.all_actions(s, *throw):
                if self.leaves(s, *throw, action):
                    return True
        return False

    def actions(self: Any, s: Any) -> Iterator[int]:
        stops = self.can_leave(s)
        for action in self.all_actions(s):
            if not stops or self.leaves(s, action):
                yield action

    def after_throw(self: Any, s: Any, throw: Any) -> Iterator[int]:
        stops = self.can_leave(s, throw)
        for action in self.all_actions(s, throw):
            if not stops or self.leaves(s, throw, action):
                yield action

    methods = {"is_beyond": is_beyond, "leaves": leaves, "can_leave": can_leave}
    methods["all_actions"] = type(rest.game).actions
    methods["actions"] = after_throw if rest.game.has_throws else actions
    made = with_methods(rest.game, **methods)
    object.__setattr__(made, "rest", rest)
    names = names_of(rest.game.start())
    object.__setattr__(made, "stops", {names[k]: cap for k, cap in proved.items()})
    return made


def _claims(game: Game) -> tuple[list[Any], Claims]:
    """The positions of a game, and its certified values."""
    graph = build(game)
    run = solve_and_certify(graph)
    rows = list(map(tuple, graph.states[: graph.n_positions].tolist()))
    states = list(map(Rules(game).layout.state, rows))
    values, bounds = (
        dict(zip(rows, zip(numbers.tolist()), strict=False))
        for numbers in (run.found.values, run.certificate.bounds)
    )
    return states, Claims(values, bounds)
