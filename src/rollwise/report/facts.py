"""What several parts of a report need, computed once.

Of a game that is too large for one graph games are played, and counted. The positions that a report
looks at are drawn from those that these games came to, evenly. So what is said of them, weighted by
how often they were drawn, is said of all.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.lengths import Lengths, lengths
from rollwise.answer.layered_solution import LayeredSolution
from rollwise.answer.solution import Solution
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import positions_at_once
from rollwise.errors import UnknownGame, UsageError
from rollwise.game import Game
from rollwise.games import find_installed
from rollwise.graph import title_of
from rollwise.graph.choices import has_choice
from rollwise.plot.fields import shown_costs
from rollwise.plot.kinds.regret import second_best_costs
from rollwise.simulate.turn_by_turn import (
    PlayedGames,
    Player,
    best_play,
    play_turn_by_turn,
    policy_play,
    random_play,
)

if TYPE_CHECKING:
    from rollwise.answer.answer import Answer

GAMES, SEED = 400, 1


def command(game: Game) -> str | None:
    """What to type for this report, or None where the rules stand in no file.

    A game from a file is named by that file: from the current folder, or by its name alone,
    since a reader keeps it in a place of their own.
    """
    name = _reference(game.base_game)
    return None if name is None else f"rollwise report {title_of(name, game.parameters)}"


def _reference(game: Game) -> str | None:
    cls = type(game)
    try:
        installed = find_installed(cls.name)
        if installed is cls or type(installed(**game.parameters)) is cls:  # or that for more
            return cls.name
    except UnknownGame:
        pass
    try:
        file = Path(inspect.getfile(cls)).resolve()
    except (OSError, TypeError):
        return None
    if not file.is_file():
        return None
    here = Path.cwd().resolve()
    shown = file.relative_to(here) if file.is_relative_to(here) else Path(file.name)
    return f"{shown.as_posix()}:{cls.__name__}"


@dataclass(frozen=True, eq=False)
class Sample:
    """Games played best, and the answer in some of the positions that they came to.

    Attributes
    ----------
    answer : LayeredSolution
        The whole answer.
    """

    answer: LayeredSolution

    @cached_property
    def best(self) -> Player:
        """Who plays best."""
        return best_play(self.answer)

    @cached_property
    def played(self) -> PlayedGames:
        """The games."""
        return play_turn_by_turn(self.answer.game, self.best, GAMES, SEED)

    @property
    def about(self) -> str:
        """Where estimates come from."""
        return f"estimated from {GAMES} games that rollwise played so, seed {SEED}"

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Which positions are looked at, the start first, and how often a game comes to each."""
        played = self.played
        total, most = int(played.visits.sum()), positions_at_once(Rules(self.answer.game))
        n = min(total, most)
        places = np.searchsorted(np.cumsum(played.visits), (np.arange(n) + 0.5) * total / n)
        which, often = np.unique(np.append(places, 0), return_counts=True)
        often[0] -= 1  # the start is looked at whether it is drawn or not
        return which, np.asarray(often * (total / n / GAMES), np.float64)

    @property
    def n_positions(self) -> int:
        """How many positions are looked at."""
        return len(self._drawn[0])

    @cached_property
    def solution(self) -> Solution:
        """The answer in these positions."""
        rows = self.played.positions[self._drawn[0]]
        return self.answer.parts(self.answer.numbers_of(rows))

    @cached_property
    def lengths(self) -> Lengths:
        """How long the games lasted, and how often a game comes to the states of `solution`."""
        played, graph = self.played, self.solution.graph
        begin = np.zeros(graph.n_states)
        begin[: len(self._drawn[1])] = self._drawn[1]
        visits = lengths(graph, self.solution.policy, begin=begin).visits
        last = int(played.lengths.max(initial=0))

        def shares(which: NDArray[np.bool_]) -> NDArray[np.float64]:
            counted = np.bincount(played.lengths[which & played.over], minlength=last + 1)
            return np.asarray(counted / played.n)

        gains, won = played.gains, self.answer.objective == "win"
        first, second = won & (gains > 0), won & (gains < 0)
        return Lengths(
            played.unit,
            shares(first),
            shares(second),
            shares(~(first | second)),
            float(1 - played.over.mean()),
            visits,
            np.zeros(last + 1),
        )

    def games_of(self, name: str) -> list[PlayedGames]:
        """As many games by a policy of the rules, or ``random``; of two players in each seat.

        Raises
        ------
        PolicyError
        """
        game, random = self.answer.game, np.random.default_rng(SEED)
        known = name in game.policies()
        player = policy_play(game, name, random) if known else random_play(game, random)
        seats: list[tuple[Player, Player | None]] = [(player, None)]
        if game.players == 2:
            seats = [(player, self.best), (self.best, player)]
        return [play_turn_by_turn(game, one, GAMES, SEED, other) for one, other in seats]


@dataclass(frozen=True, eq=False)
class Facts:
    """A solution, and what is worked out from it.

    Attributes
    ----------
    solution : Solution
    sample : Sample or None
    rules : int
        How many rules of thumb are scored; 0 for none.
    """

    solution: Solution
    sample: Sample | None = None
    rules: int = 0

    @classmethod
    def of(cls, answer: Answer, rules: int = 0) -> Facts:
        """The facts of an answer; where it is one by layers, those of a sample of it.

        Raises
        ------
        UsageError
            Rules of thumb are asked for, and the answer is one by layers.
        """
        if not isinstance(answer, LayeredSolution):
            return cls(answer.part_where(None), rules=rules)
        if rules:
            raise UsageError(
                f"{answer.title} is too large for rules of thumb, which are scored on the whole "
                "game: write the report without them"
            )

        sample = Sample(answer)
        return cls(sample.solution, sample)

    @property
    def answer(self) -> Answer:
        """The whole answer."""
        return self.solution if self.sample is None else self.sample.answer

    @property
    def name(self) -> str:
        """The game's name as a title."""
        return self.solution.heading

    @cached_property
    def lengths(self) -> Lengths:
        """How long games last when played best, and which positions they come to."""
        if self.sample is not None:
            return self.sample.lengths
        return lengths(self.solution.graph, self.solution.policy)

    @cached_property
    def choice(self) -> NDArray[np.bool_]:
        """In which states there is a choice."""
        return has_choice(self.solution.graph)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """What the second-best action of each state costs, in shown units; NaN without one."""
        return shown_costs(self.solution, second_best_costs(self.solution))

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return "points" if self.solution.is_score else "percentage points"
