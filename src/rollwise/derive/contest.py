"""A contest of two as a game: whole turns at a solitaire game, the better score wins.

The states are those of the game with the points made so far (`rollwise.derive.by_score`): once
for the first player, and once for every score to beat for the second. A contest is an ordinary
game, and everything that solves, plays, exports or learns on a graph works on it.
(`rollwise.analysis.contest` solves contests of any number of players, turn by turn. With two
players both give the same.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rollwise.derive.by_score import (
    MOST_PAIRS,
    by_score,
    points_to_come,
    require_points,
    whole_points,
)
from rollwise.derive.changed import copies
from rollwise.derive.derived_game import DerivedGame
from rollwise.errors import RulesError, TooManyStates
from rollwise.game import outcomes_rule
from rollwise.graph import StateGraph
from rollwise.graph.layout import field_words
from rollwise.numbers.printed import how_many
from rollwise.parameters import ParameterSpec
from rollwise.then import AGAIN, DRAW, LOSE, PASS, WIN, ending_points, is_over

# Value of a tie to the second player.
TIES = {"shared": 0.0, "first": -1.0, "win-or-tie": 1.0}
_TIED = {"shared": DRAW, "first": LOSE, "win-or-tie": WIN}


@dataclass(frozen=True)
class Duel(DerivedGame):
    """A contest of two as a game: a whole turn each, and the better score wins.

    Attributes
    ----------
    inner : Game
        Any solitaire game with whole-number points.
    ties : {"shared", "first", "win-or-tie"}
        A tie is a draw, or a win of the first player, or of the second.

    Examples
    --------
    >>> from rollwise.games.threes import Threes
    >>> Duel(Threes()).start().rival
    -1
    """

    ties: str = "shared"
    added_fields: ClassVar[tuple[str, ...]] = ("score", "rival")
    form: ClassVar[str] = "contest"
    form_specs: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec("players", int, 2, 2, None, "how many play a turn each"),
        ParameterSpec("ties", str, "shared", None, None, "how a tie counts", tuple(TIES)),
    )
    purpose: ClassVar[str] = "a contest"
    players: ClassVar[int] = 2
    objective: ClassVar[str] = "win"

    def __post_init__(self) -> None:
        self.validate()
        require_points(self.inner_graph)

    @property
    def description(self) -> str:
        """The rules of the game, with the condition of winning."""
        tie = {
            "shared": "is a draw",
            "first": "goes to who played first",
            "win-or-tie": "goes to who played second",
        }[self.ties]
        return (
            f"{self.inner_rules}Two players take a whole turn each, and the better "
            f"score wins. A tie {tie}."
        )

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """How a tie counts."""
        return [replace(self.form_specs[1], default=self.ties)]

    @cached_property
    def nothing_yet(self) -> int:
        """The score to beat while there is none."""
        low, _ = points_to_come(self.inner_graph, whole_points(self.inner_graph))
        return min(-1, int(low[0]) - 1)

    @property
    def added_members(self) -> dict[str, dict[str, int]]:
        """The word for the score of a rival who plays second."""
        return {"rival": {"unplayed": self.nothing_yet}}

    def describe_added(self, s: Any) -> str:
        """The points made so far, and the score to beat."""
        rival = "" if s.rival == self.nothing_yet else f", the other made {s.rival}"
        return f"{how_many(s.score, 'point')} so far{rival}"

    def start(self) -> Any:
        inner = self.inner.start()
        return self.state_type(*inner, 0, self.nothing_yet)

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        inner = self.inner_state(s)
        made = s.score + int(self.inner.reward(inner, *choice))
        for weight, then, next_state in outcomes_rule(self.inner)(inner, *choice):
            score = made + int(ending_points(then)) if is_over(then) else made
            if not is_over(then):
                yield weight, AGAIN, type(s)(*next_state, score, s.rival)
            elif s.rival == self.nothing_yet:
                yield weight, PASS, type(s)(*self.inner.start(), 0, score)
            elif score == s.rival:
                yield weight, _TIED[self.ties], s
            else:
                fewer = self.inner.objective == "minimize"
                yield weight, WIN if (score < s.rival) == fewer else LOSE, s

    def derive(self) -> StateGraph:
        """The graph of the rules, but for the numbers of its states; from the game's own graph.

        Raises
        ------
        RulesError, TooManyStates
            The points have no bound; the names of fields clash; or too many states.
        """
        source = self.inner_graph
        scored = by_score(source)
        one = scored.graph
        if "rival" in one.field_names:
            raise RulesError(
                f"{source.game}: a contest adds a field 'rival', and there is one already"
            )
        n, m = one.n_states, len(scored.scores)
        if n * (m + 1) > MOST_PAIRS:
            raise TooManyStates(f"a contest of {source.title} has {n * (m + 1):,} states")
        target = one.outcome_state.astype(np.int64)
        ends, ending = target >= n, target - n
        # The first turn leads to the start of a second one, with the score in its states.
        outcome_state = [np.where(ends, n + ending * n, target)]
        payoff = [np.zeros(len(target))]
        for rival in range(m):  # scores stand best first
            # The states n + rival * n and following are a second turn against this score.
            outcome_state.append(np.where(ends, -1, n + rival * n + target))
            worth = np.where(ending < rival, 1.0, np.where(ending > rival, -1.0, TIES[self.ties]))
            payoff.append(np.where(ends, worth, 0.0))
        passes = np.zeros((m + 1, len(target)), np.bool_)
        passes[0] = ends
        rivals = np.concatenate([[self.nothing_yet], scored.scores])
        return copies(
            one,
            outcome_state,
            "rival",
            rivals,
            outcome_passes=passes.ravel(),
            outcome_payoff=np.concatenate(payoff),
            game=self.name,
            parameters=self.parameters,
            players=2,
            objective="win",
            n_border=0,
            words=field_words(self),
        )
