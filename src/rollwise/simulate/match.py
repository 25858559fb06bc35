"""Many simulated games between policies: estimates, with the exact figures beside them.

Games are played in blocks, each from its own stream of random numbers. The
result depends on the seed alone and not on the number of workers.

The exact figures are certified. The expected number of moves is the score of a solitaire game with
one point for every move; the throw before a choice is no move. The expected number of turns is the
score with the probability of passing as the points of a move. The solver and the certificate
therefore apply to lengths too.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import Certified, solve_and_certify
from rollwise.answer.evaluation import (
    Evaluation,
    SeatPolicies,
    certified_at,
    evaluate,
    without_a_list,
)
from rollwise.answer.references import AnyPolicy, Policies, Subject, are_policies
from rollwise.cluster.pool import Pool, Threads
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, UsageError, no_opponent
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import chance_to_pass, is_throw, summed
from rollwise.graph.endings import ways_out
from rollwise.graph.policies import Policy, Ties, ties_in_play
from rollwise.hooks import InWords
from rollwise.machine.interrupts import held_back
from rollwise.numbers.given import whole_number
from rollwise.numbers.intervals import CONFIDENCE, of_chance, of_mean
from rollwise.numbers.printed import CHANCE_ROUNDING, estimated
from rollwise.numbers.randomness import seed_of, stream
from rollwise.play.games import Games, PlayTable
from rollwise.simulate.seats import Played, simulate_seats


def over_the_seats(evaluation: Evaluation, *, is_score: bool) -> Certified:
    """The result of a policy of two players from the start, mean over the seats."""
    first, second = certified_at(evaluation)
    mean = Certified((first.value + second.value) / 2, max(first.bound, second.bound))
    return mean.shown(is_score=is_score)


def require_end(chain: StateGraph, fault: str = "these policies never end the play") -> None:
    """Check that play may end from each state reached by the policies.

    Parameters
    ----------
    chain : StateGraph
        Play with one action a state.
    fault : str
        The message but for the position.

    Raises
    ------
    EndlessPlay
    """
    lost = np.flatnonzero(ways_out(chain, np.ones(chain.n_actions, np.bool_)) < 0)
    if len(lost):
        raise EndlessPlay(f"{chain.game}: {fault} from {chain.state_text(int(lost[0]))}")


def expected_lengths(
    graph: StateGraph, policy: Policy, against: Policy | None = None
) -> list[tuple[Certified, Certified]]:
    """Expected turns and moves of a game from the start, by the policy that moves first.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    against : Policy, optional
        The opponent's policy, by default the same one.

    Returns
    -------
    list of (turns, moves)
        One pair, or two with an opponent: the policy moves first, the opponent does.

    Raises
    ------
    EndlessPlay
        The policies can go round for ever.
    """
    policies = [policy] if against is None else [policy, against]
    played = take_seats(graph, policies, [0]).graph
    require_end(played)
    # a move counts as a turn by its chance to pass
    turns, moves = (
        solve_and_certify(summed(played, amounts))
        for amounts in (chance_to_pass(played), (~is_throw(played)).astype(np.float64))
    )
    lengths = []
    for s in range(played.n_roots):
        passed, moved = turns.at(s), moves.at(s)
        # The chance to pass is rounded once a move; the first turn passes nowhere.
        off = passed.bound + 2.0**-52 * abs(moved.value) + 2.0**-52
        lengths.append((Certified(1 + passed.value, off), moved))
    return lengths


SUSPICIOUS = 1 / 1.7e6  # two-sided probability of a deviation by chance: five standard errors
FEWEST = 1000  # number of games for a comparison with exact figures: fewer may lack rare results
MOST_SCORES = 100_000  # largest number of distinct scores counted


class Disagreement(UserWarning):
    """Simulated and exact figures further apart than chance explains."""


@dataclass(frozen=True)
class Estimate:
    """A mean over games, beside its exact value.

    Attributes
    ----------
    mean : float
    standard_error : float
        NaN where all games gave the same, unless these are wins or losses: their spread is
        unknown. Infinite for a single game.
    games : int
    wins, draws : int or None
        Counts behind a win rate; None for a mean of anything else.
    exact, exact_bound : float or None
        The certified value and its error bound; None if unknown.
    """

    mean: float
    standard_error: float
    games: int
    exact: float | None = None
    exact_bound: float | None = None
    wins: int | None = None
    draws: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval (see `rollwise.numbers.intervals`)."""
        return self.interval_at(CONFIDENCE)

    def interval_at(self, confidence: float) -> tuple[float, float]:
        """The confidence interval at this level."""
        if self.wins is not None:
            return of_chance(self.wins, self.draws, self.games, confidence)
        return of_mean(self.mean, self.standard_error, self.games, confidence)

    def beside(self, exact: Certified) -> Estimate:
        """The estimate with the exact figure beside it."""
        return replace(self, exact=exact.value, exact_bound=exact.bound)

    @property
    def disagrees(self) -> bool:
        """Whether the exact value, its bound included, is further off than chance explains."""
        if self.exact is None or self.exact_bound is None or not math.isfinite(self.exact_bound):
            return False
        if self.wins is None and (self.games < FEWEST or not self.standard_error > 0):
            return False
        low, high = self.interval_at(1 - SUSPICIOUS)
        slack = self.exact_bound + 1e-12 * max(1.0, abs(self.exact))
        return not low - slack <= self.exact <= high + slack


@dataclass(frozen=True)
class Length:
    """How long games took.

    Attributes
    ----------
    estimate : Estimate
    deviation : float
        Standard deviation.
    shortest, median, longest : int
    """

    estimate: Estimate
    deviation: float
    shortest: int
    median: int
    longest: int


@dataclass(frozen=True)
class Side:
    """The games in which one of the policies moved first.

    Attributes
    ----------
    first, second : str
        Names of the policies; `second` is empty in a solitaire game.
    games, wins, draws, losses : int
        Wins and losses of the first player.
    win_rate : Estimate or None
        Of the first player, a draw being half a win; None in a game for points or stakes.
    score : Estimate or None
        Of the first player: the points, or in a game for stakes the gain.
    scores : dict or None
        Number of games by score; None if there are too many scores.
    turns, moves : Length
    """

    first: str
    second: str
    games: int
    wins: int
    draws: int
    losses: int
    win_rate: Estimate | None
    score: Estimate | None
    scores: dict[float, int] | None
    turns: Length
    moves: Length

    def beside(self, value: Certified) -> Side:
        """The side with the exact value of the start beside the simulated result."""
        if self.win_rate is not None:
            return replace(self, win_rate=self.win_rate.beside(value.shown(is_score=False)))
        return replace(self, score=self.score and self.score.beside(value))

    def estimates(self) -> Iterator[tuple[str, Estimate]]:
        """All figures with an exact value for comparison."""
        if self.win_rate is not None:
            yield "win rate", self.win_rate
        if self.score is not None:
            yield "score", self.score
        yield "turns", self.turns.estimate
        yield "moves", self.moves.estimate


@dataclass(frozen=True, repr=False)
class Match(InWords):
    """The result of simulating a policy, against another or itself.

    Attributes
    ----------
    policy, against : str
        Names; `against` is the same if a policy plays itself.
    games : int
        Number of games played.
    asked : int
        Requested number; more than `games` after Ctrl-C.
    seed : int
    sides : tuple of Side
        One if the policy plays itself or alone; otherwise the games in which it moved
        first, and the games in which the other did.
    notes : tuple of str
        Reasons for missing exact figures.
    ties : Ties or None
        The ties of an optimal policy; other choices in them may give other figures.
    subject : StateGraph | Game
        The game.
    """

    policy: str
    against: str
    games: int
    asked: int
    seed: int
    sides: tuple[Side, ...]
    notes: tuple[str, ...] = ()
    ties: Ties | None = None
    subject: StateGraph | Game | None = field(default=None, repr=False, compare=False)

    @property
    def win_rate(self) -> Estimate | None:
        """Of the policy over both seats, each counting half."""
        rate = self._over_both([side.win_rate for side in self.sides], 1)
        if rate is None:
            return None
        # as many games from each seat: wins of both add up, with a chance in between
        first, second = self.sides
        return replace(rate, wins=first.wins + second.losses, draws=first.draws + second.draws)

    @property
    def payoff(self) -> Estimate | None:
        """Of the policy over both seats, in a game for stakes."""
        return self._over_both([side.score for side in self.sides], 0)

    def _over_both(self, sides: Sequence[Estimate | None], whole: int) -> Estimate | None:
        """The mean over the seats, with the sum of both players' results; None without two."""
        if len(sides) != 2 or sides[0] is None or sides[1] is None:
            return None
        first, second = sides[0], sides[1]
        exact = bound = None
        if first.exact is not None and second.exact is not None:
            exact = (first.exact + whole - second.exact) / 2
            bound = ((first.exact_bound or 0.0) + (second.exact_bound or 0.0)) / 2
            bound += CHANCE_ROUNDING if whole else 2.0**-52 * abs(exact)
        return Estimate(
            (first.mean + whole - second.mean) / 2,
            _error_of_both(first.standard_error, second.standard_error),
            first.games + second.games,
            exact,
            bound,
        )

    def disagreements(self) -> list[str]:
        """Figures that differ from the exact ones by more than chance explains."""
        figures = []
        for side in self.sides:
            pair = f"{side.first} against {side.second}" if side.second else side.first
            for name, estimate in side.estimates():
                if estimate.disagrees:
                    shown = estimated(estimate.mean, estimate.standard_error)
                    figures.append(
                        f"{pair}: {name} {shown} (standard error) is further from the exact "
                        f"{estimate.exact:.8g} than chance comes once in 1.7 million times"
                    )
        return figures


def warn_of_disagreements(match: Match) -> None:
    """Warn of every figure that differs from the exact one by more than chance explains."""
    for text in match.disagreements():
        warnings.warn(text, Disagreement, stacklevel=3)


class Counts:
    """Sums over blocks of games.

    Attributes
    ----------
    payoffs : (3,) int64
        Losses, draws and wins of the first player.
    turns, moves : (m,) int64
        Number of games by length.
    scores : dict or None
        Number of games by score.
    origin : float
        The first score. Scores are counted from here, since those far from 0 leave no digits of
        their spread in a sum of squares.
    points, squares : float
        Sums of the scores from there and of their squares.
    """

    def __init__(self, for_points: bool) -> None:
        self.payoffs = np.zeros(3, np.int64)  # losses, draws, wins of the first player
        self.turns = np.zeros(1, np.int64)
        self.moves = np.zeros(1, np.int64)
        self.scores: dict[float, int] | None = {} if for_points else None
        self.origin = self.points = self.squares = 0.0

    @property
    def games(self) -> int:
        """How many games were counted."""
        return int(self.payoffs.sum())

    def add(self, block: Games) -> None:
        """Count a block of games."""
        if not self.games and len(block.points):
            self.origin = float(block.points[0])
        self.payoffs += np.bincount(block.payoff.astype(np.int64) + 1, minlength=3)
        self.turns = _added(self.turns, np.bincount(block.turns))
        self.moves = _added(self.moves, np.bincount(block.moves))
        if not len(block.points):
            return
        away = block.points - self.origin
        self.points += float(away.sum())
        self.squares += float((away**2).sum())
        if self.scores is not None:
            for score, count in zip(*np.unique(block.points, return_counts=True), strict=True):
                key = _as_summed(float(score))
                self.scores[key] = self.scores.get(key, 0) + int(count)
            if len(self.scores) > MOST_SCORES:
                self.scores = None


def _as_summed(score: float) -> float:
    """A score without the rounding of its sum, so that equal scores are one."""
    return float(f"{round(score, 10):.12g}")


def _added(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


def _mean(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Mean and standard deviation of values with these counts."""
    n = int(counts.sum())
    mean = float(values @ counts) / n
    return mean, math.sqrt(float((values - mean) ** 2 @ counts) / max(n - 1, 1))


def _standard_error(deviation: float, games: int) -> float:
    """Of a mean; infinite for a single game, and NaN for several without a spread."""
    if games < 2:
        return math.inf
    return deviation / math.sqrt(games) if deviation > 0 else math.nan


def _error_of_both(first: float, second: float) -> float:
    """The standard error of the mean of two means; NaN where both are."""
    if math.isnan(first) and math.isnan(second):
        return math.nan
    return math.hypot(*(0.0 if math.isnan(error) else error for error in (first, second))) / 2


def _length(counts: NDArray[np.int64]) -> Length:
    values = np.arange(len(counts), dtype=np.float64)
    n = int(counts.sum())
    mean, deviation = _mean(values, counts)
    seen = np.flatnonzero(counts)
    median = int(np.searchsorted(np.cumsum(counts), (n + 1) // 2))
    estimate = Estimate(mean, _standard_error(deviation, n), n)
    return Length(estimate, deviation, int(seen[0]), median, int(seen[-1]))


def side_of(counts: Counts, first: str, second: str, for_points: bool) -> Side:
    """The figures of the counted games."""
    n = counts.games
    losses, draws, wins = counts.payoffs.tolist()
    rate = score = None
    if for_points:
        away = counts.points / n
        spread = (counts.squares / n - away * away) * n / max(n - 1, 1)
        is_alike = spread <= 0 or (counts.scores is not None and len(counts.scores) == 1)
        error = _standard_error(0.0 if is_alike else math.sqrt(spread), n)
        score = Estimate(counts.origin + away, error, n)
    else:
        mean, deviation = _mean(np.array([0.0, 0.5, 1.0]), counts.payoffs)
        # If all games end alike, their spread gives no standard error.
        error = max(deviation, 1 / math.sqrt(n)) / math.sqrt(n)
        rate = Estimate(mean, error, n, wins=wins, draws=draws)
    return Side(
        first,
        second,
        n,
        wins,
        draws,
        losses,
        rate,
        score,
        None if counts.scores is None else dict(sorted(counts.scores.items())),
        _length(counts.turns),
        _length(counts.moves),
    )


BLOCK = 1 << 16  # games from one stream
MOST_GAMES = 10**15
MOST_WORKERS = 256
SECOND_SEAT = 1 << 32  # streams of the games that the opponent begins count from here
MOST_EXACT = 30_000_000  # outcomes of a graph up to which exact figures are computed


@overload
def simulate(
    game: Subject,
    policy: SeatPolicies,
    against: None = None,
    *,
    games: int,
    seed: int | None = None,
    exact: bool = True,
) -> Played: ...


@overload
def simulate(
    game: Subject,
    policy: AnyPolicy,
    against: AnyPolicy | None = None,
    *,
    games: int,
    seed: int | None = None,
    workers: int = 1,
    exact: bool = True,
    progress: Callable[[str, int, int | None], None] | None = None,
    pool: Pool | None = None,
) -> Match: ...


def simulate(
    game: Subject,
    policy: AnyPolicy | SeatPolicies,
    against: AnyPolicy | None = None,
    *,
    games: int,
    seed: int | None = None,
    workers: int = 1,
    exact: bool = True,
    progress: Callable[[str, int, int | None], None] | None = None,
    pool: Pool | None = None,
) -> Match | Played:
    """Play games between policies and compare them with the exact figures.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    policy : str, callable or Policy; or a list or tuple of them
        As in `rollwise.evaluate`: a list has the policy of each seat, in a game of any number of
        players.
    against : optional
        The opponent's policy, by default the same one. Each of the two moves
        first in half of the games, the first one in one more if the number is odd.
    games : int
        At least 1, or 2 between two policies.
    seed : int, optional
        By default a new one, stored in the result. The result depends only on it.
    workers : int
        Number of threads.
    exact : bool
        Whether to compute the exact figures too.
    progress : callable, optional
        Called now and then as ``progress("playing", games, total)``.
    pool : Pool, optional
        Its workers play instead of threads.

    Returns
    -------
    Match
        After Ctrl-C, of the games finished by then. For a list of policies, `Played`: the result of
        each seat.

    Raises
    ------
    UsageError, ClusterError
        Too few games; a policy that doesn't fit; an opponent in a solitaire game; an opponent or
        workers besides a list. No workers.
    ForMorePlayers
        A single policy in a game of three or more.
    EndlessPlay
        These policies may reach a state where neither ends the play, or a game goes on for more
        than a million moves.

    Warns
    -----
    Disagreement
        A simulated figure differs from the exact one by more than chance explains.
    """
    if are_policies(policy):
        if against is not None or workers != 1 or pool is not None:
            raise UsageError(
                "a list has the policies of all seats: there is no opponent besides, and one worker"
            )
        return _played(Policies.of(game, any_players=True), policy, games, seed, exact=exact)
    policies = without_a_list(game, policy)
    graph, mine = policies.graph, policies.find(policy)  # type: ignore[arg-type]
    theirs = None if against is None else policies.find(against)
    if theirs is not None and graph.players != 2:
        raise no_opponent(graph.game)
    ties = ties_in_play(graph, mine, theirs)
    if theirs is not None and theirs.name == mine.name:  # equal ones keep the names as typed
        theirs = None if np.array_equal(theirs.probability, mine.probability) else theirs
    plans = [mine] if theirs is None else [mine, theirs]
    if graph.objective != "win" or graph.endless != "forbidden":
        require_end(take_seats(graph, plans, [0]).graph)
    table = PlayTable.of(graph, *plans)
    seats = 1 if theirs is None else 2
    games = whole_number("games", games, seats, MOST_GAMES)
    workers = whole_number("workers", workers, 1, MOST_WORKERS)
    seed = seed_of(seed)
    counts = [Counts(graph.is_score) for _ in range(seats)]
    with nullcontext(pool) if pool is not None else Threads(workers) as players:
        _play(table, counts, games, seed, players, progress)

    other = mine if theirs is None else theirs
    names = (mine.name, other.name if graph.players == 2 else "")
    played = zip(counts, (names, names[::-1]), strict=False)
    sides = [side_of(part, *pair, graph.is_score) for part, pair in played if part.games]
    notes: list[str] = []
    if exact and len(sides) == seats:
        sides, notes = _with_exact(graph, mine, theirs, sides)
    n = sum(side.games for side in sides)
    match = Match(mine.name, other.name, n, games, seed, tuple(sides), tuple(notes), ties, graph)
    warn_of_disagreements(match)
    return match


def _played(
    policies: Policies, given: Sequence[AnyPolicy], games: int, seed: int | None, *, exact: bool
) -> Played:
    """Games with a policy for each seat, and the exact results."""
    seated = [policies.find(policy) for policy in given]
    played = simulate_seats(policies.graph, seated, games=games, seed=seed)
    return replace(played, exact=evaluate(policies, tuple(seated))) if exact else played


def _play(
    table: PlayTable,
    counts: list[Counts],
    games: int,
    seed: int,
    pool: Pool,
    progress: Callable[[str, int, int | None], None] | None,
) -> None:
    """Play the blocks of all seats in order, some at the same time, and add them up."""
    # the first seat has one game more if the number is odd
    seats = len(counts)
    shares = [(games + seats - 1 - first) // seats for first in range(seats)]
    plan = (  # in this order, so that both seats have played alike when Ctrl-C comes
        (number, first, min(BLOCK, share - number * BLOCK))
        for number in range((shares[0] + BLOCK - 1) // BLOCK)
        for first, share in enumerate(shares)
        if number * BLOCK < share
    )
    shared, done = pool.share(table), 0
    waiting = deque[tuple[int, Future[Games]]]()

    def count_first() -> None:
        nonlocal done
        first, future = waiting.popleft()
        block = pool.result(future)
        counts[first].add(block)
        done += len(block.payoff)
        if progress is not None:
            progress("playing", done, games)

    with held_back() as interrupt:
        # futures are counted in the order of the blocks, so sums don't depend on the workers
        for number, first, size in plan:
            if interrupt.asked:
                break
            words = stream(seed, number + first * SECOND_SEAT)
            waiting.append((first, pool.submit(_block, shared, size, words, first)))
            if len(waiting) > pool.width:
                count_first()
        while waiting:
            count_first()
        if interrupt.asked and all(part.games for part in counts):
            interrupt.asked = False  # the finished games are the answer


def _block(table: PlayTable, size: int, words: NDArray[np.uint64], first: int) -> Games:
    """Games from one stream of random numbers."""
    return table.play(size, words.copy(), first)


def _with_exact(
    graph: StateGraph, policy: Policy, against: Policy | None, sides: list[Side]
) -> tuple[list[Side], list[str]]:
    """Put the exact figures beside the simulated ones."""
    if graph.n_outcomes > MOST_EXACT:
        return sides, [f"no exact figures: the game has over {MOST_EXACT:,} outcomes"]
    try:
        first, second = certified_at(evaluate(graph, policy, against, starts=[0]))
        lengths = expected_lengths(graph, policy, against)
    except EndlessPlay as error:
        return sides, [f"no exact figures: {error}"]
    # The second side has the figures of the opponent, who moves first there.
    values = (first, Certified(-second.value, second.bound))
    return [
        replace(
            side.beside(value),
            turns=_with_length(side.turns, turns),
            moves=_with_length(side.moves, moves),
        )
        for side, value, (turns, moves) in zip(sides, values, lengths, strict=False)
    ], []


def _with_length(simulated: Length, exact: Certified) -> Length:
    return replace(simulated, estimate=simulated.estimate.beside(exact))
