"""The policies of a game of three or more players, by what is typed for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rollwise.answer.references import Policies
from rollwise.errors import PolicyError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.many.seats import build_seats


class Players(Policies):
    """Who can sit at the table: see `rollwise.answer.references.Policies`.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    equilibrium : Policy or callable, optional
        What ``optimal`` is, or what finds it when it is first asked for.
    """

    game: Game

    def __init__(
        self,
        graph: StateGraph,
        game: Game,
        equilibrium: Policy | Callable[[], Policy] | None = None,
    ) -> None:
        super().__init__(graph, game)
        self._equilibrium = equilibrium

    @classmethod
    def of(cls, subject: Game, **how: Any) -> Players:  # type: ignore[override]
        """Those of a game; without an equilibrium nobody is optimal."""
        return cls(build_seats(subject, **how), subject)

    @property
    def players(self) -> int:
        return self.graph.players

    @property
    def optimal(self) -> Policy:
        """The equilibrium's policy."""
        if self._equilibrium is None:
            raise PolicyError(f"{self.graph.title}: no equilibrium is known, so nobody is optimal")
        if not isinstance(self._equilibrium, Policy):
            self._equilibrium = self._equilibrium()
        return self._equilibrium

    def _named(self, reference: str) -> Policy:
        if reference == "optimal" and "optimal" not in self.game.policies():
            return self.optimal
        return super()._named(reference)
