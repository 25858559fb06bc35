"""A game whose fields rise without an end, made finite: only stopping is allowed beyond caps.

`rollwise.answer.unbounded` finds the caps, and `rollwise.proofs.remainder` proves that the values
stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollwise.derive.derived_game import with_methods
from rollwise.game import Game
from rollwise.hooks import HOOKS
from rollwise.proofs.remainder import Rest
from rollwise.then import is_over


def capped(rest: Rest) -> Game:
    """The game of a rest, where only leaving actions are allowed in the rest, if there are any.

    Made with other parameters it is another game, with caps of its own.
    """

    def with_other_parameters(cls: Any, *args: Any, **values: Any) -> Any:
        return HOOKS.finite(type(rest.game)(*args, **values))

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
        __reduce__=lambda self: (HOOKS.finite, (rest.game,)),
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
