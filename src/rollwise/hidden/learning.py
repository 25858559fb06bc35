"""Games with hidden fields played at random: simulation, and learning by external sampling.

In each game of a learner one player tries all own actions, and samples those of the other player
and of chance. The regret of an action is the sum of its gains over the strategy so far. The next
strategy takes actions in proportion to their positive regrets, and the average of all strategies
tends to an equilibrium (Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret
minimization in extensive games", NIPS 2009). The exploitability of the average is proved, not
estimated.
"""

from __future__ import annotations

import random
from bisect import bisect
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.game import Game
from rollwise.hidden.answer import Answer, Progress, Situation
from rollwise.hidden.check import may_go_on
from rollwise.hidden.positions import DEAL, ENDED, TOGETHER, Positions, Round
from rollwise.hidden.reading import read
from rollwise.hidden.regret import average_of
from rollwise.hidden.tree import Tree, unfold
from rollwise.hidden.whole import HiddenAnswer, proved
from rollwise.numbers.meanings import Number, Record, Value, about

LIMIT = 3_000_000  # histories, unless a limit is given
MOST_CHOICES = 10_000  # of a game; a longer one counts as endless


class LearnedPoint(Record, frozen=True):
    """The strategies after some games."""

    games: int
    low: Annotated[Value, about("the first player gets at least this; proved")]
    high: Annotated[Value, about("the second player allows at most this; proved")]
    exploitability: Annotated[Number, about("high less low: 0 for optimal strategies")]


class _Round:
    """What a learner knows of one round; player 0 is its first mover."""

    def __init__(self, one: Round, limit: int) -> None:
        positions = one.positions
        self.tree: Tree = unfold(positions, limit=limit)
        self.exits = positions.exits or ()
        self.regrets = [[0.0] * seat.n_sequences for seat in self.tree.seats]
        self.sums = [[0.0] * seat.n_sequences for seat in self.tree.seats]
        self.first = [seat.first.tolist() for seat in self.tree.seats]
        self.kinds, self.sights = positions.kinds.tolist(), positions.sights.tolist()
        self.choices = positions.first_choice.tolist()
        self.rewards = [float(x) for x in positions.rewards]
        self.outcomes = [
            [(float(points), target, turn) for _, points, target, turn in positions.outcomes(k)]
            for k in range(len(self.rewards))
        ]
        chances, first = positions.chances().tolist(), positions.first_outcome.tolist()
        self.steps = [list(accumulate(chances[a:b])) for a, b in pairwise(first)]

    def sequences(self, place: int, mover: int, last: list[int]) -> tuple[int, int]:
        """The sequences of the information set of the mover, from the first on."""
        number = self.tree.seats[mover].numbers[last[mover], self.sights[place]]
        begin, end = self.first[mover][number : number + 2]
        return begin, end

    def strategies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The average strategies; uniform where play never came."""
        pairs = zip(self.tree.seats, self.sums, strict=True)
        first, second = (average_of(seat, np.array(sums)) for seat, sums in pairs)
        return first, second


def _shares(weights: list[float]) -> list[float]:
    """Probabilities in proportion to these weights; uniform where all are 0."""
    total = sum(weights)
    if total <= 0.0:
        return [1.0 / len(weights)] * len(weights)
    return [x / total for x in weights]


class Learner:
    """A learner of both players' strategies.

    Each game begins at a round, and the rounds take turns. In the rounds that follow it both
    players sample from their average strategies.

    Parameters
    ----------
    game : Game
    seed : int
    max_states : int, optional
        As in `rollwise.hidden.solve`.

    Attributes
    ----------
    games : int
        Games so far.

    Raises
    ------
    UsageError
        The game has simultaneous choices.
    RulesError, EndlessPlay, TooManyStates
    """

    def __init__(self, game: Game, seed: int, max_states: int | None = None) -> None:
        positions = read(game, max_states)
        if not positions.is_hidden:
            raise UsageError(f"{positions.title} has no hidden fields: `rollwise solve` solves it")
        may_go_on(positions)  # raises if the rules give endless play no value
        self.positions: Positions = positions
        self.games = 0
        self._rounds = [_Round(one, max_states or LIMIT) for one in positions.rounds]
        self._random = random.Random(seed).random

    def play(self, games: int) -> None:
        """Play so many games more; in every second one the second player tries all actions."""
        for _ in range(games):
            one = self._rounds[self.games // 2 % len(self._rounds)]
            self._walk(one, 0, 0, [0, 0], self.games & 1)
            self.games += 1

    def _drawn(self, shares: list[float]) -> int:
        return min(bisect(list(accumulate(shares)), self._random()), len(shares) - 1)

    def _walk(self, one: _Round, place: int, mover: int, last: list[int], learner: int) -> float:
        """The payoff of the learner from a position on; regrets and sums change."""
        choice, sign = one.choices[place], 1.0 if mover == learner else -1.0
        if one.kinds[place] == DEAL:
            return self._follow(one, choice, mover, last, learner)
        begin, end = one.sequences(place, mover, last)
        regrets = one.regrets[mover]
        shares = _shares([max(x, 0.0) for x in regrets[begin:end]])
        # the opponent's strategy adds to the average, and one of its actions is sampled
        if mover != learner:
            sums = one.sums[mover]
            for k, share in enumerate(shares):
                sums[begin + k] += share
            taken = self._drawn(shares)
            after = [begin + taken, last[1]] if mover == 0 else [last[0], begin + taken]
            worth = self._follow(one, choice + taken, mover, after, learner)
            return float(sign * one.rewards[choice + taken] + worth)
        worths = []
        # the learner tries all own actions from here
        for k in range(end - begin):
            after = [begin + k, last[1]] if mover == 0 else [last[0], begin + k]
            worth = self._follow(one, choice + k, mover, after, learner)
            worths.append(one.rewards[choice + k] + worth)
        mean = float(sum(share * worth for share, worth in zip(shares, worths, strict=True)))
        # the regret of an action is its gain over the mean of the present strategy
        for k, worth in enumerate(worths):
            regrets[begin + k] += worth - mean
        return mean

    def _outcome(self, one: _Round, choice: int) -> tuple[float, int, int]:
        """A sampled outcome: payoff, target and turn."""
        steps = one.steps[choice]
        drawn = min(bisect(steps, self._random()), len(steps) - 1) if len(steps) > 1 else 0
        return one.outcomes[choice][drawn]

    def _follow(self, one: _Round, choice: int, mover: int, last: list[int], learner: int) -> float:
        """The payoff of the learner after a choice, with a sampled outcome."""
        points, target, turn = self._outcome(one, choice)
        if target >= 0:
            return self._walk(one, target, mover ^ turn, last, learner)
        if target < ENDED:
            points = self._sampled(one.exits[ENDED - 1 - target]) * (1 - 2 * turn)
        return points if mover == learner else -points

    def _sampled(self, number: int) -> float:
        """The payoff of the first mover of a round, in a game between the average strategies."""
        payoff, sign = 0.0, 1  # the sign of the mover's payoffs
        one, place, mover, last = self._rounds[number], 0, 0, [0, 0]
        for _ in range(MOST_CHOICES):
            choice = one.choices[place]
            if one.kinds[place] != DEAL:
                begin, end = one.sequences(place, mover, last)
                taken = self._drawn(_shares(one.sums[mover][begin:end]))
                last[mover] = begin + taken
                choice += taken
                payoff += sign * one.rewards[choice]
            points, target, turn = self._outcome(one, choice)
            if target == ENDED:
                return payoff + sign * points
            sign, mover, place = sign * (1 - 2 * turn), mover ^ turn, target
            if target < ENDED:
                one = self._rounds[one.exits[ENDED - 1 - target]]
                place, mover, last = 0, 0, [0, 0]
        return payoff  # endless play is a draw

    def checkpoint(self) -> LearnedPoint:
        """The proved quality of the average strategies."""
        found = self.answer()
        low, high = float(found.low), float(found.high)
        return LearnedPoint(self.games, low, high, high - low)

    def answer(self) -> HiddenAnswer:
        """The average strategies as an answer, with proved bounds."""
        found = [one.strategies() for one in self._rounds]
        trees = [one.tree for one in self._rounds]
        facts = {"method": "external sampling", "iterations": self.games}
        return proved(self.positions, trees, found, **facts)


def learn(
    game: Game,
    games: int,
    seed: int,
    *,
    points: int = 10,
    max_states: int | None = None,
    progress: Progress = None,
) -> tuple[HiddenAnswer, list[LearnedPoint]]:
    """Learn a game, and look at the strategies along the way.

    Parameters
    ----------
    points : int
        The number of checkpoints, at doubling numbers of games.

    Returns
    -------
    answer, checkpoints

    Raises
    ------
    UsageError, RulesError, EndlessPlay, TooManyStates
    """
    learner, curve = Learner(game, seed, max_states), list[LearnedPoint]()
    stops = sorted({max(games >> k, 1) for k in range(points)})
    for stop in stops:
        while learner.games < stop:
            learner.play(min(stop - learner.games, 1_000))
            if progress is not None:
                progress("learning", learner.games, games)
        curve.append(learner.checkpoint())
    return learner.answer(), curve


@dataclass
class Walk:
    """One game in progress.

    Attributes
    ----------
    position, mover : int
        The position, and the player whose view it is.
    payoff : float
        Of the first player so far; complete once the game is over.
    rounds : int
        The rounds that have begun (of a game with hidden fields).
    unending : (n, 2) bool, optional
        As of `Answer.unending`: there the game is over, since endless play is worth 0.
    is_endless : bool
        Whether the game is over for this reason.
    """

    answer: Answer
    random: np.random.Generator
    position: int = 0
    mover: int = 0
    payoff: float = 0.0
    is_over: bool = False
    rounds: int = 0
    unending: NDArray[np.bool_] | None = None
    is_endless: bool = False

    def __post_init__(self) -> None:
        self.memories: list[Any] = [None, None]
        self._enter()
        self._deal()

    def _enter(self) -> None:
        """Tell the players that play has come to the position."""
        known = [self.answer.enter(memory, self.position, self.mover) for memory in self.memories]
        self.rounds += known != self.memories
        self.memories = known
        if self.unending is not None and self.unending[self.position, self.mover]:
            self.is_over = self.is_endless = True

    def choosers(self) -> list[tuple[int, int]]:
        """Player and side of each player who chooses now."""
        both = self.answer.positions.kinds[self.position] == TOGETHER
        return [(self.mover, 0), *([(1 - self.mover, 1)] if both else [])]

    def situation(self, player: int, side: int) -> Situation:
        """The choice of a player."""
        return self.answer.at(self.memories[player], player, side, self.position)

    def act(self, indices: list[int]) -> None:
        """Take an action of each chooser, by index, and let chance act."""
        positions = self.answer.positions
        for (player, _), index in zip(self.choosers(), indices, strict=True):
            memory = self.memories[player]
            self.memories[player] = self.answer.remember(memory, player, self.position, index)
        width = len(positions.menus[self.position][-1]) if len(indices) > 1 else 1
        self._step(indices[0] * width + (indices[1] if len(indices) > 1 else 0))
        self._deal()

    def _deal(self) -> None:
        while not self.is_over and self.answer.positions.kinds[self.position] == DEAL:
            self._step(0)

    def _step(self, within: int) -> None:
        positions = self.answer.positions
        choice = int(positions.first_choice[self.position]) + within
        sign = 1 - 2 * self.mover
        self.payoff += sign * float(positions.rewards[choice])
        rows = positions.outcomes(choice)
        weights = np.array([float(row[0]) for row in rows])
        _, points, target, turn = rows[self.random.choice(len(rows), p=weights / weights.sum())]
        if target < 0:
            self.payoff += sign * float(points)
            self.is_over = True
        else:
            self.position, self.mover = target, self.mover ^ turn
            self._enter()


def drawn(situation: Situation, random: np.random.Generator) -> int:
    """The index of an action by the probabilities of a strategy."""
    shares = np.array(situation.probabilities, float)
    return int(random.choice(len(shares), p=shares / shares.sum()))


class Simulated(NamedTuple):
    """Simulated games.

    Attributes
    ----------
    mean, standard_error : float
        Of the first player's payoffs.
    endless : int
        Games that would never end; they are draws.
    """

    mean: float
    standard_error: float
    endless: int


def simulate(answer: Answer, games: int, seed: int) -> Simulated:
    """Games between the strategies of an answer.

    Raises
    ------
    EndlessPlay
        A game goes on for too long.
    """
    random = np.random.default_rng(seed)
    payoffs, endless, unending = np.empty(games), 0, answer.unending()
    for k in range(games):
        walk = Walk(answer, random, unending=unending)
        for _ in range(MOST_CHOICES):
            if walk.is_over:
                break
            walk.act([drawn(walk.situation(*who), random) for who in walk.choosers()])
        if not walk.is_over:
            raise EndlessPlay(
                f"{answer.positions.title}: these policies play on for more than "
                f"{MOST_CHOICES:,} choices; `rollwise evaluate` has their exact payoff"
            )
        payoffs[k] = walk.payoff
        endless += walk.is_endless
    spread = payoffs.std(ddof=1) if games > 1 else np.inf
    return Simulated(float(payoffs.mean()), float(spread / np.sqrt(games)), endless)
