"""Games whose fields rise without an end, where stopping is best from some number on.

The rules are tried up to a limit. If a field still rises, caps are sought beyond which stopping is
proved to be best (`rollwise.proofs.remainder`). The capped game, where only stopping is allowed
beyond caps, is finite, and has the same values.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from rollwise.answer.certified import claims_on, solve_and_certify
from rollwise.builders import build, limits
from rollwise.builders.building import warn_outside
from rollwise.builders.compiled.reads import was_large
from rollwise.builders.growth import GrowthWarning, growth_of
from rollwise.builders.interpreter import Interpreter
from rollwise.builders.remembered import remembered
from rollwise.builders.rules import Rules
from rollwise.derive.derived_game import with_methods
from rollwise.errors import RollwiseError, RulesError, TooManyStates
from rollwise.game import Game, caps_of, has_many
from rollwise.machine.endless import is_endless
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
from rollwise.then import is_over


def capped(rest: Rest) -> Game:
    """The game of a rest, where only leaving actions are allowed in the rest, if there are any.

    Made with other parameters it is another game, with caps of its own.
    """

    def with_other_parameters(cls: Any, *args: Any, **values: Any) -> Any:
        return finite(type(rest.game)(*args, **values))

    return with_methods(
        rest.game,
        rest=rest,
        caps=tuple(rest.caps.items()),
        is_beyond=is_in_rest if any(map(is_tuple, rest.game.start())) else is_beyond,
        leaves=leaves,
        can_leave=can_leave,
        all_actions=type(rest.game).actions,
        actions=actions_after_throw if rest.game.has_throws else actions,
        __new__=with_other_parameters,
        __copy__=lambda self: capped(rest),
        __reduce__=lambda self: (finite, (rest.game,)),
    )


def is_tuple(field: Any) -> bool:
    return isinstance(field, tuple)


# The rules below become methods of the capped game, and are compiled with it.


def is_in_rest(self: Any, s: Any) -> bool:
    """Whether a position is in the rest; not compiled."""
    return bool(self.rest.holds(s))


def is_beyond(self: Any, s: Any) -> bool:
    """Whether a position whose fields are all plain numbers is in the rest."""
    for field, cap in self.caps:  # noqa: SIM110 (compiled)
        if s[field] >= cap:
            return True
    return False


def leaves(self: Any, s: Any, *choice: Any) -> bool:
    """Whether each outcome of a choice ends the game or leads out of the rest."""
    for _, then, after in self.outcomes(s, *choice):
        if not is_over(then) and self.is_beyond(after):
            return False
    return True


def can_leave(self: Any, s: Any, *throw: Any) -> bool:
    """Whether a position is in the rest, and an action leaves it."""
    if self.is_beyond(s):
        for action in self.all_actions(s, *throw):
            if self.leaves(s, *throw, action):
                return True
    return False


def actions(self: Any, s: Any) -> Iterator[int]:
    """The leaving actions in the rest, if there are any; otherwise all actions."""
    stops = self.can_leave(s)
    for action in self.all_actions(s):
        if not stops or self.leaves(s, action):
            yield action


def actions_after_throw(self: Any, s: Any, throw: Any) -> Iterator[int]:
    """As `actions`, in a game with throws."""
    stops = self.can_leave(s, throw)
    for action in self.all_actions(s, throw):
        if not stops or self.leaves(s, throw, action):
            yield action


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
    if has_many(game) or game.made_from is not game or game.rest is not None:
        return game
    if game.objective == "average" or game.endless != "forbidden":
        return game
    capped_game = _capped(game)
    return game if capped_game is None else capped_game


@remembered(64)
def _capped(game: Game) -> Game | None:
    """The game with proved caps; None if no field rises without an end, or no caps are proved."""
    try:
        rules = Rules(game)
        roots = rules.few_roots(limits.SMALL)
        if roots is None or was_large(rules, limits.SMALL):  # and had an end
            return None
        trial = Interpreter(rules, roots, limits.MAX_STATES_INTERPRETED)
        more = True  # also if a number becomes too large for a field
        with suppress(RulesError):
            more = trial.run(stop_after=limits.SMALL, patience=limits.PATIENCE)
        if not more or not growth_of(rules, trial.states):
            return None
    except RollwiseError as error:  # the builder tells
        if is_endless(error):
            raise
        return None
    seen = [flat(rules.layout.state(row)) for row in trial.states.tolist()]
    search = _Search(game, seen)
    try:
        made = search.run()
    except Unproved as fault:
        names = " and ".join(search.names)
        if fault.certain:
            raise RulesError(
                f"{game.name}: {names} can rise without an end, and no number was found from which "
                f"stopping is proved best: {fault}. Let the game end at some number, or cap "
                f"{names} with min()"
            ) from None
        if names:  # the builder says that they grow
            told = f"{game.name}: no cap of {names} is proved: {fault}"
            warn_outside(told, GrowthWarning)
        return None
    numbers = made.rest.named(made.rest.caps).items()
    warn_outside(
        f"{game.name} has no end. Only stopping is allowed from "
        f"{' or '.join(f'{name}={cap}' for name, cap in numbers)} on; this is proved to leave the "
        "values of best play as they are; other play, and play for another aim, stops there too",
        GrowthWarning,
    )
    return made


class _Search:
    """The search for caps of the rising fields of a game."""

    def __init__(self, game: Game, seen: list[list[int]]) -> None:
        self.game, self.seen = game, np.array(seen, np.int64)
        half = self.seen[: len(seen) // 2 + 1].max(axis=0)
        self.rising = np.flatnonzero(self.seen.max(axis=0) > half).tolist()
        self.least = {k: int(self.seen[:, k].min()) for k in self.rising}
        self.names = [names_of(game.start())[k] for k in self.rising]
        self.known: tuple[list[Any], Claims] | None = None

    def run(self) -> Game:
        """The game with proved caps.

        Raises
        ------
        Unproved
        """
        if not self.rising:
            raise Unproved("no field rises")
        caps = {k: least + 1 for k, least in self.least.items()}
        # a proof that fails names a field where going on is worth more: its cap rises
        for _ in range(MOST_CAPS):
            rest = Rest(self.game, caps, self.least, self._slopes(), caps)
            self.known = None
            try:
                prove_rest(rest, self._patterns(), partial(self._upper, rest))
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
        # first some room beyond the proved caps, for the eyes of players only
        for wide in (replace(rest, caps=caps), rest):
            made = capped(wide)
            fault = check_rest(wide, *_claims(made))
            if not fault:
                return made
        raise Unproved(fault)

    def _slopes(self) -> dict[tuple[int, int], Fraction]:
        """The least ratio of two rising fields, rounded down to a simple fraction."""
        above = {k: self.seen[:, k] - least for k, least in self.least.items()}
        slopes = {}
        # a simple fraction at most the least ratio seen: the largest one by denominator
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
            self.known = _claims(capped(rest))
        return upper_bound(rest, self.known[1], state, passes)


def _claims(game: Game) -> tuple[list[Any], Claims]:
    """The positions of a capped game, and its certified values.

    Raises
    ------
    Unproved
        Its fields grow too: stopping leaves them large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", GrowthWarning)
            graph = build(game)
    except (GrowthWarning, TooManyStates):
        caps = " or ".join(f"{name}={cap}" for name, cap in caps_of(game).items())
        fault = Unproved(f"stopping from {caps} on doesn't end the growth")
        fault.certain = False
        raise fault from None
    run = solve_and_certify(graph)
    layout = Rules(game).layout
    states = list(map(layout.state, graph.states[graph.positions].tolist()))
    return states, claims_on(graph, run.found.values, run.certificate.bounds)
