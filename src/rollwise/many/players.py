"""The policies of a game of three or more players, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rollwise.errors import PolicyError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.many.seats import build_seats

AnyPolicy = str | Policy | Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Players:
    """Who can sit at the table.

    Attributes
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    optimal : Policy, optional
        What ``optimal`` is, if somebody has found it.
    """

    graph: StateGraph
    game: Game
    optimal: Policy | None = None

    @classmethod
    def of(cls, game: Game, **how: Any) -> Players:
        """Those of a game; without an equilibrium nobody is optimal."""
        return cls(build_seats(game, **how), game)

    @property
    def players(self) -> int:
        return self.graph.players

    def find_policy(self, policy: AnyPolicy) -> Policy:
        """A policy by name: of the rules, ``optimal``, or ``random``.

        Raises
        ------
        PolicyError
            There is none.
        """
        if isinstance(policy, Policy):
            return policy
        if not isinstance(policy, str):
            name = getattr(policy, "__name__", "policy")
            return Policy.of_function(self.graph, self.game, name, policy)
        named = self.game.policies()
        if policy in named:
            function: Any = named[policy]
            return Policy.of_function(
                self.graph, self.game, policy, lambda *s: function(self.game, *s)
            )
        if policy == "optimal" and self.optimal is not None:
            return self.optimal
        if policy == "random":
            return Policy.uniform(self.graph)
        raise PolicyError(
            f"{self.graph.game} has no policy {policy!r}; a game for {self.players} takes "
            f"{', '.join([*named, 'optimal'])} and random, one for all or one a seat: A,B,C"
        )
