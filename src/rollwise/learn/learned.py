"""The result of learning: the counts of the games, the values of the actions, and a policy.

The one loop of `rollwise.kernels.learning` plays games into them. Sums over games can be added up,
and workers learn side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError, another_kind
from rollwise.graph import NO_THROW, StateGraph, sign_of, win_probability
from rollwise.graph.by_fields import grid
from rollwise.graph.choices import (
    costs,
    first_actions,
    first_of_each_state,
    fold_actions,
    outcome_action,
)
from rollwise.graph.naming import free_name
from rollwise.graph.policies import Policy, alias_cells, seat_bits, seat_payoffs
from rollwise.graph.view import Outcome
from rollwise.hooks import InWords
from rollwise.kernels import learning as kernels

ROUNDING = 2.0**-50  # of a sum, relative to it, over the root of the number of its parts

if TYPE_CHECKING:
    import polars as pl


def moments(
    visits: Any, total: Any, squares: Any, rounded: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean and the standard deviation of each action's results: (n_actions,) each.

    Parameters
    ----------
    visits, total, squares : (n_actions,)
        Their number, sum, and sum of squares.
    rounded : (n_actions,), optional
        The sum of squares whose rounding is in the others, unless it is `squares`.

    Returns
    -------
    means, deviations : (n_actions,) float64
        NaN without results. A deviation no larger than rounding is 0.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(visits > 0, total / visits, np.nan)
        variance = squares / visits - means**2
        noise = ROUNDING * np.sqrt(visits) * (squares if rounded is None else rounded) / visits
        return means, np.sqrt(np.where(variance <= noise, 0.0 * variance, variance))


@dataclass(frozen=True, eq=False, repr=False)
class Learned(InWords):
    """The estimates of a learner after some games.

    Attributes
    ----------
    graph : StateGraph
    method : str
    games, explore, seed, workers
        Their origin: games played, M, the seed, and the number of workers.
    visits : (n_actions,) int64
        Number of times each action was taken.
    values : (n_actions,) float64
        Estimated: the mean payoff (1 for a win, -1 for a loss; with three players or more the
        share of the win) or points after each action; NaN for actions never taken.
    deviations : (n_actions,) float64 or None
        The spread of the results after each action: the root of their mean squared deviation from
        `values`. NaN for actions never taken. None for Q-learning.
    by_game : (n_actions, 3) float64 or None
        Sums over games: of the squared visits of each action, of its visits times the sum of the
        results after them, and of the squares of this sum. None where a game takes an action once.
    """

    graph: StateGraph
    method: str
    games: int
    explore: float
    seed: int
    workers: int
    visits: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    deviations: NDArray[np.float64] | None = field(repr=False)
    by_game: NDArray[np.float64] | None = field(default=None, repr=False)

    @cached_property
    def standard_errors(self) -> NDArray[np.float64] | None:
        """Of `values`, from the spread of the results: (n_actions,) float64.

        The results of one game go together: an action taken three times in a game counts as one
        observation of three results. The change of the players by learning meanwhile is not
        included. Results that are all equal have no spread, but another game may differ. Wins and
        losses then have the error of results of which one game differs, as in simulations. For
        points it is unknown, and NaN. It is NaN too for fewer than two games. None for Q-learning.

        Notes
        -----
        An action has m visits in a game, n in all games. Its mean is a ratio of two sums over
        games, results to visits. To first order its error is that of the sum of results - mean × m,
        divided by n. The games count as n² / Σ m² independent ones.
        """
        if self.deviations is None:
            return None
        n, mean = self.visits, self.values
        with np.errstate(invalid="ignore", divide="ignore"):
            games, squares = n.astype(np.float64), n * self.deviations**2
            if self.by_game is not None:
                visits, mixed, results = self.by_game.T
                games = n * n / visits
                squares = np.maximum(results - 2.0 * mean * mixed + mean**2 * visits, 0.0)
                squares = np.where(self.deviations > 0, squares, 0.0)  # without rounding
            errors = np.where(games > 1, np.sqrt(squares * games / (games - 1)) / n, np.nan)
            if self.is_score:
                return np.where(squares > 0, errors, np.nan)
            return np.maximum(errors, (1 if self._are_shares else 2) / games)

    @property
    def is_score(self) -> bool:
        """Whether values are points or expected payoffs, and not those of wins and losses."""
        return self.graph.is_score

    @property
    def estimate_name(self) -> str:
        """The name of `estimates` in a table."""
        if self.graph.has_stakes:
            return "payoff"
        return "score" if self.is_score else "win_rate"

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """How often each state was met: (n_states,) int64."""
        return fold_actions(self.graph, np.add, self.visits)

    @cached_property
    def best_actions(self) -> NDArray[np.int64]:
        """The action with the best estimate in each state: (n_states,) int64.

        Only actions that were taken count; of equal ones the first in the order
        of the rules. -1 in unseen states.
        """
        graph = self.graph
        worst = -np.inf * sign_of(graph.objective)
        cost = costs(graph, np.where(self.visits > 0, self.values, worst))
        # estimates have no bound
        return np.where(self.seen > 0, first_of_each_state(graph, cost == 0.0), -1)

    @cached_property
    def policy(self) -> Policy:
        """The learned actions; in unseen states, the first of the rules."""
        first = first_actions(self.graph)
        actions = np.where(self.best_actions < 0, first, self.best_actions)
        return Policy.of_actions(self.graph, "learned", actions)

    @cached_property
    def estimates(self) -> NDArray[np.float64]:
        """Win rates of the learned actions, or mean points: (n_states,) float64.

        In unseen states -1 for a rate, NaN for points.
        """
        values = self.values[self.best_actions]
        if self.is_score:
            return np.where(self.best_actions < 0, np.nan, values)
        rates = values if self._are_shares else win_probability(values)
        return np.where(self.best_actions < 0, -1.0, rates)

    @property
    def _are_shares(self) -> bool:
        """Whether `values` are shares of a win, as with three players or more."""
        return self.graph.players > 2 and not self.is_score

    @cached_property
    def estimate_errors(self) -> NDArray[np.float64]:
        """Standard errors of `estimates`, NaN where they can't be told: (n_states,) float64."""
        if self.standard_errors is None:
            return np.full(self.graph.n_states, np.nan)
        errors = self.standard_errors[self.best_actions]
        errors = errors if self.is_score or self._are_shares else 0.5 * errors
        return np.where(self.best_actions < 0, np.nan, errors)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The numbers of the learned actions, -1 in unseen states: (n_states,) int64."""
        labels = self.graph.action_label[self.best_actions].astype(np.int64)
        return np.where(self.best_actions < 0, -1, labels)

    def since(self, earlier: Learned) -> Learned:
        """The estimates from the games after an earlier point of the same run alone.

        Raises
        ------
        UsageError
            `earlier` isn't an earlier point of this run, or the learner's values
            aren't means over games.
        """
        visits = self.visits - earlier.visits
        if self.deviations is None or earlier.deviations is None:
            raise UsageError(f"the values of {self.method} aren't means over games")
        if self.games < earlier.games or np.any(visits < 0):
            raise UsageError("that isn't an earlier point of the same run")
        total, squares, rounded = np.zeros((3, len(visits)))
        # sums and sums of squares of the earlier games are subtracted from those of all games
        for part, sign in ((self, 1), (earlier, -1)):
            n = part.visits
            mean = np.where(n > 0, part.values, 0.0)
            assert part.deviations is not None
            spread = np.where(n > 0, part.deviations**2, 0.0)
            total += sign * n * mean
            squares += sign * n * (spread + mean**2)
            rounded += n * (spread + mean**2)
        means, deviations = moments(visits, total, squares, rounded)
        by_game, before = self.by_game, earlier.by_game
        return replace(
            self,
            games=self.games - earlier.games,
            visits=visits,
            values=means,
            deviations=deviations,
            by_game=None if by_game is None or before is None else by_game - before,
        )

    def grid(self, column: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Values of the states as a matrix, if the states have two fields and fill one.

        Row and column are the first and the second field. None for other games.
        """
        states = self.graph.rows
        if states.shape[1] != 2:
            return None
        shape = states.max(axis=0).astype(np.int64) - states.min(axis=0) + 1
        return grid(states, column) if int(np.prod(shape)) == len(states) else None

    def table(self) -> pl.DataFrame:
        """A row for each state, in the order of the fields; in a game with throws after each throw.

        Returns
        -------
        polars.DataFrame
            A column for each field, then ``action`` (-1 in unseen states),
            ``win_rate`` (-1 there), ``score`` or ``payoff``, ``standard_error``,
            ``action_visits`` and ``visits`` (of the state). With a field of the same name such a
            column has ``_`` behind its name.
        """
        import polars as pl

        graph = self.graph
        taken = np.where(self.best_actions < 0, 0, self.visits[self.best_actions])
        columns = {name: graph.rows[:, i] for i, name in enumerate(graph.columns)}
        rows = pl.DataFrame(columns)
        given = pl.col(graph.throw_names)  # null in a choice without a throw
        frame = rows.with_columns(pl.when(given != NO_THROW).then(given)).with_columns(
            graph.vocabulary.column(self.labels),
            pl.Series(self._own(self.estimate_name), self.estimates, nan_to_null=True),
            pl.Series(self._own("standard_error"), self.estimate_errors, nan_to_null=True),
            pl.Series(self._own("action_visits"), taken),
            pl.Series(self._own("visits"), self.seen),
        )
        # -1 is a throw's number too
        unseen = pl.when(pl.col(self._own("visits")) == 0).then(pl.lit("-1"))
        frame = frame.with_columns(action=unseen.otherwise("action"))
        if graph.throw_names:  # there is no choice before a throw
            frame = frame.filter(pl.Series(graph.thrown_in))
        return frame.sort(graph.columns)

    def _own(self, name: str) -> str:
        """The name of a column of the table."""
        return free_name(name, self.graph.columns)


MOST_MOVES = 1 << 20  # a longer game counts as endless
RULES = {
    "counts": kernels.BY_RATES,
    "monte-carlo": kernels.BY_EPSILON,
    "q-learning": kernels.BY_VALUES,
}

Arrays = dict[str, NDArray[Any]]


class Tally:
    """The estimates of a method from the games so far.

    Attributes
    ----------
    sums : (n_actions, 3) float64
        Number of times each action was taken, and its player's payoffs or points afterwards:
        their sum and the sum of their squares. With Q-learning the second column is the value.
    scales : (n_states, 2) float64 or None
        The least and most points after each state, if a game for up to two players has points.
    by_game : (n_actions, 3) float64 or None
        Sums over games, see `Learned`.
    """

    def __init__(self, graph: StateGraph, method: str, explore: float, like: Tally | None = None):
        payoffs, limit = seat_payoffs(graph), float(graph.players <= 2)
        low, high = float(payoffs.min(initial=-limit)), float(payoffs.max(initial=limit))
        self.graph, self.method = graph, method
        self.rules: kernels.Rules = kernels.Rules(
            graph.action_indptr,
            graph.action_state,
            graph.outcome_indptr,
            alias_cells(graph) if like is None else like.rules.cells,
            payoffs,
            low,
            high if high > low else low + 1.0,
            seat_bits(graph),
            sign_of(graph.objective),
            RULES[method],
            explore,
        )
        again = method != "q-learning" and _comes_again(graph)
        self.known = kernels.Known(
            np.zeros((graph.n_actions, 4)),
            np.zeros(graph.n_actions, np.int64),
            np.zeros((graph.n_actions, kernels.GAMES + 3)) if again else None,
        )
        self.sums = self.known.table[:, :3]
        self.by_game = (
            None if self.known.by_game is None else self.known.by_game[:, kernels.GAMES :]
        )
        has_points = graph.is_score and graph.players <= 2
        self.rewards = graph.action_reward if has_points else None
        has_scales = has_points and method != "q-learning"
        self.scales = np.tile((np.inf, -np.inf), (graph.n_states, 1)) if has_scales else None
        self._path = None if method == "q-learning" else np.empty(1024, np.int64)
        self._gained = np.empty(payoffs.shape[1])
        self.refresh()

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each action was taken: (n_actions,)."""
        return self.sums[:, kernels.VISITS].astype(np.int64)

    @property
    def values(self) -> NDArray[np.float64]:
        """Mean payoff or points of each action, NaN where it wasn't seen: (n_actions,)."""
        visits, total, _ = self.sums.T
        with np.errstate(invalid="ignore"):
            means = total if self.method == "q-learning" else total / visits
        return np.where(visits > 0, means, np.nan)

    @property
    def deviations(self) -> NDArray[np.float64] | None:
        """Of the results of each action, see `Learned`: (n_actions,); None for Q-learning."""
        return None if self.method == "q-learning" else moments(*self.sums.T)[1]

    def refresh(self) -> None:
        """Work out the chances of actions after the arrays were set from outside."""
        if self.method != "q-learning":  # its choices look at the values
            kernels.refresh(self.rules, self.known, self.scales)

    def play(self, games: int, words: NDArray[np.uint64]) -> None:
        """Play games from the start and learn from them.

        Raises
        ------
        EndlessPlay
            A game goes on for more than a million moves.
        """
        while True:
            most = MOST_MOVES if self._path is None else len(self._path)
            with np.errstate(over="ignore"):  # random numbers wrap round, without the compiler too
                games -= kernels.learn_games(
                    games,
                    most,
                    self.rules,
                    self.known,
                    self.scales,
                    self.rewards,
                    self._path,
                    self._gained,
                    words,
                )
            # the kernel stops at a game longer than the path, before it counts the game
            if games == 0:
                return
            if most >= MOST_MOVES:
                raise EndlessPlay(
                    f"{self.graph.game}: a game goes on for more than {MOST_MOVES:,} moves"
                )
            self._path = np.empty(4 * most, np.int64)

    def record(self, game: GameRecord) -> None:
        """Count a game played elsewhere."""
        if self.method == "q-learning":
            raise UsageError("Q-learning learns from its own games only")
        arrays = self.rules, self.known, self.scales, self.rewards, self._gained
        kernels.count_game(game.path, len(game.path), game.ending, *arrays)

    def arrays(self) -> Arrays:
        """The arrays behind all estimates, by name."""
        arrays = {"sums": self.sums, "scales": self.scales, "by_game": self.by_game}
        return {name: array for name, array in arrays.items() if array is not None}

    def set_arrays(self, arrays: Arrays) -> None:
        """Take over the contents of arrays of the same names."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
        self.refresh()


def _comes_again(graph: StateGraph) -> bool:
    """Whether a play can meet a position twice."""
    sources = graph.action_state[outcome_action(graph)]
    return len(graph.components) < graph.n_states or bool((graph.outcome_state == sources).any())


def add_up(base: Arrays, tallies: Sequence[Tally]) -> Arrays:
    """The sum of the arrays of all workers, each continued from `base`."""
    parts = [tally.arrays() for tally in tallies]
    if len(parts) == 1:
        return {name: array.copy() for name, array in parts[0].items()}
    # the sums of each worker since `base` count once; scales are extremes, which need no `base`
    total = {
        name: base[name] + sum(part[name] - base[name] for part in parts)
        for name in base
        if name != "scales"
    }
    if "scales" in base:
        scales = np.stack([part["scales"] for part in parts])
        total["scales"] = np.stack([scales[..., 0].min(axis=0), scales[..., 1].max(axis=0)], axis=1)
    return total


ENDINGS = {"win": 1.0, "lose": -1.0, "draw": 0.0, "end": 0.0}  # and their payoffs

Move = Sequence[Any]


@dataclass(frozen=True, eq=False)
class GameRecord:
    """A finished game.

    Attributes
    ----------
    actions : (n_moves,) int64
        Indices into the actions of the graph.
    seats : (n_moves,) int64
        The seats of the movers, 0 for the first.
    ending : int
        The result for the player of the last move; see `rollwise.kernels.sampling`.
    bits : int
        The bits of a seat; see `rollwise.graph.policies.seat_bits`.
    """

    actions: NDArray[np.int64]
    seats: NDArray[np.int64]
    ending: int
    bits: int

    @property
    def path(self) -> NDArray[np.int64]:
        """The action and the seat of each move in one number, as kernels take it."""
        return (self.actions << self.bits) | self.seats


def read_game_record(
    graph: StateGraph, moves: Sequence[Move], start: Sequence[int] | None = None
) -> GameRecord:
    """Read a game played elsewhere, and check it against the rules.

    Parameters
    ----------
    graph : StateGraph
    moves : sequence of (action, outcome)
        The action by number or name. The outcome is the next state, from the view
        of its mover (its fields in order, or a mapping by name), or
        ``"win"``, ``"lose"``, ``"draw"`` or ``"end"`` for the player who moved; or, in
        a game for stakes, the payoff. With three players or more an ending is ``"win"``, or
        ``{"payoffs": [...]}`` with the payoff or the share of the win of each player, from the
        player who moved on.
    start : sequence of int, optional
        The first state of the game, by default the start.

    Raises
    ------
    UsageError
        A move against the rules, or an unfinished game; names the move.
    UnknownState
    """
    if not isinstance(moves, Sequence) or isinstance(moves, str):
        raise another_kind(
            f"{graph.game}: the moves of a game are wanted, pairs of an action and its outcome, as "
            "in [('roll', 'win')]",
            moves,
        )
    s = 0 if start is None else graph.find(start)
    seat = 0
    actions, seats = [], []
    for number, move in enumerate(moves, start=1):
        where = f"{graph.game}: move {number}, in the state {graph.state_text(s)}"
        try:
            name, outcome = move
        except (TypeError, ValueError):
            raise UsageError(
                f"{where}: {move!r} isn't a pair of an action and its outcome"
            ) from None
        try:
            action = graph.view[s].find_action(name)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        actions.append(action.index)
        seats.append(seat)
        wanted = _ending(graph, outcome, where)
        if wanted is not None:
            ways = (way for way in action.outcomes if way.is_over)
            way = next((way for way in ways if _payoffs_of(graph, way) == wanted), None)
            if way is None:
                raise UsageError(f"{where}: {action} can't end with {outcome!r}")
            if number < len(moves):
                raise UsageError(f"{where}: the game is over, but moves follow")
            ending = -1 - int(np.searchsorted(graph.ending_payoffs, way.payoff))
            return GameRecord(np.array(actions), np.array(seats), ending, seat_bits(graph))
        if isinstance(outcome, Mapping):
            missing = [field for field in graph.field_names if field not in outcome]
            if missing:
                raise UsageError(f"{where}: the state that follows has no {missing[0]}")
            outcome = [outcome[field] for field in graph.field_names]
        # a lottery may have this target twice, with and without a PASS: such a record is ambiguous
        t = graph.find(outcome)
        seats_on = {way.seats_on for way in action.outcomes if way.target == t}
        if not seats_on:
            raise UsageError(f"{where}: {action} can't lead to {graph.state_text(t)}")
        if len(seats_on) > 1:
            raise UsageError(f"{where}: it isn't clear whether the turn passes")
        seat = (seat + seats_on.pop()) % graph.players
        s = t
    raise UsageError(f"{graph.game}: the game isn't over after its {len(moves)} moves")


def _ending(graph: StateGraph, outcome: Any, where: str) -> tuple[float, ...] | None:
    """The payoffs of a recorded ending, the mover's first; None if the game goes on.

    Raises
    ------
    UsageError
        It is no ending.
    """
    if graph.players > 2:
        has_payoffs = isinstance(outcome, Mapping) and "payoffs" in outcome
        if has_payoffs:
            with suppress(TypeError, ValueError):  # they are no numbers
                return tuple(map(float, outcome["payoffs"]))
        if isinstance(outcome, str) and outcome == "win":
            return 1.0, *[0.0] * (graph.players - 1)
        if has_payoffs or isinstance(outcome, str | int | float):
            raise UsageError(
                f'{where}: {outcome!r} is no ending (endings: "win", {{"payoffs": [...]}} with a '
                "number for each player, from the one who moved on)"
            )
        return None
    if isinstance(outcome, str):
        if outcome not in ENDINGS:
            raise UsageError(f"{where}: {outcome!r} is no ending (endings: {', '.join(ENDINGS)})")
        return (ENDINGS[outcome],)
    return (float(outcome),) if isinstance(outcome, int | float) else None


def _payoffs_of(graph: StateGraph, way: Outcome) -> tuple[float, ...]:
    """The payoffs of an outcome that ends the game, the mover's first."""
    return way.shares if graph.players > 2 else (way.payoff,)
