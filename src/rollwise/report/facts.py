"""Facts for several parts of a report, computed once.

For a game too large for one graph, games are simulated (`Sampled`). The positions of the report are
drawn evenly from the visited positions. Statements about them, weighted by the frequency of a
draw, estimate statements about all positions.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.lengths import Lengths, lengths
from rollwise.answer.average import average_of, average_of_policy
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.layered_states import LayeredStates
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import positions_at_once
from rollwise.coach.tally import losses_rest_on_ties
from rollwise.derive.average import Average
from rollwise.errors import UnknownGame, UsageError
from rollwise.game import Game
from rollwise.games import find_installed
from rollwise.graph import sign_of, title_of, win_probability
from rollwise.graph.choices import has_choice, is_throw
from rollwise.graph.policies import ties_in_play
from rollwise.numbers.printed import estimated
from rollwise.plot.fields import shown_costs
from rollwise.plot.kinds.amounts import second_best_costs
from rollwise.simulate.turn_by_turn import (
    PlayedGames,
    Player,
    StatesMet,
    best_play,
    play_turn_by_turn,
    policy_play,
    random_play,
)

if TYPE_CHECKING:
    from rollwise.graph.policies import Ties

GAMES, SEED = 400, 1
SECONDS = 10.0  # of a search for rules
MOST_RESPONDED = 200_000  # a best response in more states takes long
RANDOM = "random"


def command(game: Game) -> str | None:
    """The command for this report, or None for rules outside files and for a form of a form.

    A game from a file is named by that file: from the current folder, or by its name alone,
    since readers keep it in places of their own.
    """
    rules = game.made_from
    name = _reference(rules) if rules.made_from is rules else None
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
class Facts:
    """An answer, and figures derived from it.

    Attributes
    ----------
    answer : Solution
    rules : int, optional
        Number of rules of thumb to score; 0 for none, None for a search of some seconds.
    """

    answer: Solution
    rules: int | None = 0

    counted: ClassVar[str] = "positions"
    has_maps: ClassVar[bool] = True
    spread: ClassVar[str] = ""
    guess: ClassVar[str] = ""
    no_end: ClassVar[str] = "With the best play no game comes to its end."
    drawn: ClassVar[str] = ""
    of_games: ClassVar[str] = ""
    how_proved: ClassVar[str] = (
        "a separate program, given only the positions and their values, put each value into "
        "the equations of the game, and allowed"
    )

    @classmethod
    def of(cls, answer: Solution, rules: int | None = 0) -> Facts:
        """The facts of an answer; for a large game, estimates from a sample.

        Raises
        ------
        UsageError
            Rules of thumb for a large game.
        """
        if answer.is_small:
            return Facts(answer.whole(), rules)
        if rules:
            raise UsageError(
                f"{answer.title} is too large for rules of thumb, since scoring needs the whole "
                "game: write the report without them"
            )
        return Sampled(answer)

    @property
    def solution(self) -> Solution:
        """The answer in the positions of the report."""
        return self.answer

    @property
    def name(self) -> str:
        """The game's name as a title."""
        return self.answer.heading

    @cached_property
    def lengths(self) -> Lengths:
        """Lengths of games with best play, and the visits of positions."""
        return lengths(self.solution.graph, self.solution.policy)

    @cached_property
    def ties(self) -> Ties | None:
        """The positions of best play with several equally good actions, if any."""
        return ties_in_play(self.solution.graph, self.solution.policy)

    @cached_property
    def choice(self) -> NDArray[np.bool_]:
        """Whether each state has a choice: (n_states,) bool."""
        return has_choice(self.solution.graph)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """The cost of the second-best action of each state, in shown units; NaN without one."""
        return shown_costs(self.solution, second_best_costs(self.solution))

    @property
    def is_average(self) -> bool:
        """Whether play has no end, so that a game of the report is a cycle."""
        game = self.answer.game
        return game is not None and game.made_from.objective == "average"

    @property
    def unit(self) -> str:
        """The unit of costs."""
        return "points" if self.answer.is_score else "percentage points"

    @property
    def size(self) -> tuple[int, int, int, str, str]:
        """The numbers of positions, moves and outcomes, the cycles, and the method."""
        graph = self.solution.graph
        components = graph.components
        circles = (
            f"{len(components):,} groups of positions, the largest of {components.largest:,}"
            if components.largest > 1
            else "here none leads back to another"
        )
        moves = graph.n_actions - int(np.count_nonzero(is_throw(graph)))
        return graph.n_positions, moves, graph.n_outcomes, circles, self.answer.method

    @property
    def responds(self) -> bool:
        """Whether best responses to the policies are shown."""
        return self.solution.graph.n_states <= MOST_RESPONDED

    @property
    def policy_names(self) -> list[str]:
        """The policies of the report."""
        assert self.answer.game is not None
        return [*self.answer.game.policies(), *([RANDOM] if self.responds else [])]

    @property
    def of_ties(self) -> str:
        """The effect of equally good moves of the perfect player on losses to it, if any."""
        if not losses_rest_on_ties(self.solution):
            return ""
        return (
            " Of equally good moves the perfect player takes the first; the others may lead to "
            "other figures."
        )

    def cells(self, name: str) -> list[str]:
        """The results of a policy, as the cells of a row.

        Raises
        ------
        PolicyError
        """
        solution, graph = self.solution, self.solution.graph
        policy = Policies.of(solution).find(name)
        if self.is_average:
            assert isinstance(solution.game, Average)
            (best, _), (reached, _) = average_of(solution), average_of_policy(solution.game, policy)
            return [f"{reached:z.4f}", f"{best - reached:z.4f}"]
        if graph.players == 1:
            value = float(evaluate(graph, policy, starts=[0]).values[0])
            worse = abs(solution.value - value)
            if solution.is_score:
                return [f"{value:z.4f}", f"{worse:.4f}"]
            return [f"{100 * win_probability(value):.2f} %", f"{50 * worse:.2f}"]
        result = evaluate(graph, policy, solution.policy, starts=[0])
        unit, digits = (1.0, ".4f") if solution.has_stakes else (50.0, ".2f")
        if solution.has_stakes:
            one, two = float(result.values[0]), float(result.values_second[0])
            cells = [f"{one:z.4f}", f"{two:z.4f}", f"{-(one + two) / 2:z.4f}"]
        else:
            one = 100 * float(result.win_probability[0])
            two = 100 * float(result.win_probability_second[0])
            cells = [f"{one:.2f} %", f"{two:.2f} %", f"{50 - (one + two) / 2:z.2f}"]
        if self.responds:
            # Payoffs go from -1 to 1, so that half of them are shares of games.
            loss = best_response(graph, policy, starts=[0]).exploitability()
            cells.append(f"{unit * loss:z{digits}}")
        return cells


@dataclass(frozen=True, eq=False)
class Sampled(Facts):
    """Simulated games of best play, and the answer in some of the visited positions."""

    counted = "of the positions below"
    has_maps = False  # scattered positions form no map
    how_proved = (
        "a bound of its error goes with each value from the end of the game to the start, and "
        "allows"
    )
    no_end = "None of the simulated games came to its end."
    responds = False
    of_ties = ""

    @cached_property
    def best(self) -> Player:
        """The best player."""
        return best_play(self.answer)

    @property
    def _game(self) -> Game:
        assert self.answer.game is not None
        return self.answer.game

    @cached_property
    def played(self) -> PlayedGames:
        """The games."""
        return play_turn_by_turn(self._game, self.best, GAMES, SEED, met=self._met)

    @cached_property
    def _met(self) -> StatesMet:
        """The states of the games."""
        return StatesMet()

    @property
    def ties(self) -> Ties | None:
        assert self.played.n  # `_met` has them afterwards
        return self._met.ties

    @property
    def about(self) -> str:
        """The origin of the estimates."""
        return f"estimated from {GAMES} simulated games of such play, seed {SEED}"

    @property
    def guess(self) -> str:  # type: ignore[override]
        return f" ({self.about})"

    @property
    def spread(self) -> str:  # type: ignore[override]
        """The spread of the gains of single games."""
        if not self.answer.is_score:
            return ""
        gains = self.played.gains
        low, middle, high = np.quantile(gains, (0.1, 0.5, 0.9), method="inverted_cdf")
        return (
            f"\n<p>Single games differ: one in ten brings at most {low:g}, half of them at most "
            f"{middle:g}, and one in ten {high:g} or more ({self.about}; their mean is "
            f"{estimated(self.played.mean, self.played.standard_error)}).</p>"
        )

    @property
    def drawn(self) -> str:  # type: ignore[override]
        """A sentence about the drawn positions."""
        return (
            f"The game has {len(self.answer):,} positions. Here are {self.n_positions:,} of them, "
            f"drawn from those that {GAMES} well-played games came to (seed {SEED}), the start "
            "among them; <code>rollwise advise</code> knows all. "
        )

    @property
    def of_games(self) -> str:  # type: ignore[override]
        """The origin of the figures of policies."""
        seats = " in each seat" if self.answer.space.players == 2 else ""
        return (
            f" That is estimated from {GAMES} games{seats}, seed {SEED}: behind ± stands the "
            "standard error."
        )

    @property
    def size(self) -> tuple[int, int, int, str, str]:
        space = self.answer.space
        assert isinstance(space, LayeredStates)
        circles = f"{len(space.progress):,} layers were solved, one after the other"
        method = f"{self.answer.method} by layers"
        return len(self.answer), space.n_actions, space.n_outcomes, circles, method

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The positions of the report, the start first, and the visits of each in a game."""
        played = self.played
        total, most = int(played.visits.sum()), positions_at_once(Rules(self._game))
        n = min(total, most)
        places = np.searchsorted(np.cumsum(played.visits), (np.arange(n) + 0.5) * total / n)
        which, often = np.unique(np.append(places, 0), return_counts=True)
        often[0] -= 1  # the start is always among them, drawn or not
        return which, np.asarray(often * (total / n / GAMES), np.float64)

    @property
    def n_positions(self) -> int:
        """The number of drawn positions."""
        return len(self._drawn[0])

    @cached_property
    def solution(self) -> Solution:
        rows = self.played.positions[self._drawn[0]]
        return self.answer.near_rows(rows)

    @cached_property
    def lengths(self) -> Lengths:
        """Lengths of the games, and the visits of the states of `solution` in a game."""
        played, graph = self.played, self.solution.graph
        begin = np.zeros(graph.n_states)
        begin[: len(self._drawn[1])] = self._drawn[1]
        visits = lengths(graph, self.solution.policy, begin=begin).visits
        last = int(played.lengths.max(initial=0))

        def shares(which: NDArray[np.bool_]) -> NDArray[np.float64]:
            counted = np.bincount(played.lengths[which & played.over], minlength=last + 1)
            return np.asarray(counted / played.n)

        gains, is_won = played.gains, self.answer.objective == "win"
        first, second = is_won & (gains > 0), is_won & (gains < 0)
        won, lost, other = map(shares, (first, second, ~(first | second)))
        tail, nothing = float(1 - played.over.mean()), np.zeros(last + 1)
        chance = won + lost + other
        return Lengths(chance, tail, played.unit, won, lost, other, visits, nothing)

    @property
    def policy_names(self) -> list[str]:
        return [*self._game.policies(), RANDOM]

    def cells(self, name: str) -> list[str]:
        answer, played = self.answer, self.games_of(name)
        seats = [1, -1][: len(played)]  # gains are the first player's
        means = [sign * games.mean for sign, games in zip(seats, played, strict=True)]
        errors = [games.standard_error for games in played]
        behind = -sum(means) / 2
        if len(played) == 1:  # an estimate may lie on the other side of the best value
            behind = float(sign_of(answer.objective)) * (answer.value - means[0])
        off = errors[0] if len(played) == 1 else hypot(*errors) / 2
        if answer.is_score:
            shown = [str(estimated(*pair)) for pair in zip(means, errors, strict=True)]
            return [*shown, str(estimated(behind, off))]
        shown = [
            f"{estimated(100 * win_probability(mean), 50 * error)} %"
            for mean, error in zip(means, errors, strict=True)
        ]
        return [*shown, str(estimated(50 * behind, 50 * off))]

    def games_of(self, name: str) -> list[PlayedGames]:
        """As many games with a policy of the rules, or ``random``; for two players in each seat.

        Raises
        ------
        PolicyError
        """
        game, random = self._game, np.random.default_rng(SEED)
        known = name in game.policies()
        player = policy_play(game, name, random) if known else random_play(game, random)
        seats: list[tuple[Player, Player | None]] = [(player, None)]
        if game.players == 2:
            seats = [(player, self.best), (self.best, player)]
        return [play_turn_by_turn(game, one, GAMES, SEED, other) for one, other in seats]
