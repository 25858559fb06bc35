"""Contests: players take one whole turn each, and the best score wins; all see the scores, or none.

A situation is the best score so far, and the number of players with this score. Each situation is
the solitaire game with a payoff for each final score: the share of the prize for this score, given
the policies of the later players. Situations are solved from the last player to the first (backward
induction; the subgame perfect equilibrium of Selten 1965).

With two players the game is zero-sum and has one value. With more, each player's policy is proved
to be best, within the error bound, against the policies of the others. Of equally good actions the
first is taken; another one may be better or worse for the others.

The solitaire game with a payoff for each final score is solved by `Aims`.

In a simultaneous contest of two no player sees the other's score. Only the distribution of a
policy's final scores matters. One distribution beats another with a certain chance, half of the
ties included. This is a symmetric zero-sum game: in equilibrium each player wins half of the games.
The policy of the best mean is no equilibrium, and an equilibrium can be a mixture. The double
oracle algorithm (McMahan, Gordon and Blum 2003) finds one: it solves the matrix of the policies
known so far as a linear program. A best response to the mixture is a solitaire game, where a score
is worth the chance of a worse score of the other. If the response gains nothing, the mixture is an
equilibrium; else it becomes one of the policies. The gain of the last response is certified, and no
policy gains more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import Distribution, distribution, distributions
from rollwise.answer.certified import Certified, solve_and_certify
from rollwise.answer.solve import solve_whole
from rollwise.derive.by_score import Ints, ScoredGraph, by_score, require_one_player, require_points
from rollwise.derive.contest import TIES
from rollwise.derive.derived_game import whole_graph
from rollwise.errors import ParameterError, UsageError, another_kind
from rollwise.faults import shown
from rollwise.game import Game
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.choices import are_best, first_of_each_state, keep_bounds, look_ahead
from rollwise.graph.policies import Policy, Ties, reached_by, require_policy, ties_in_play
from rollwise.hooks import InWords
from rollwise.layers import Layer, layer_of_graph
from rollwise.numbers.given import whole_number

Reals = NDArray[np.float64]
MOST_PLAYERS = 100


@dataclass(frozen=True, eq=False)
class Aim:
    """The optimal values for a payoff on final scores, from every state and score.

    Attributes
    ----------
    values, error_bounds : (n_states,) float64
        Of the scored graph; certified.
    actions : (n_states,) int64
        The first of the best actions, as an index.
    best : (n_actions,) bool
        See `rollwise.graph.choices.are_best`.
    """

    values: Reals
    error_bounds: Reals
    actions: Ints
    best: NDArray[np.bool_]


class Aims:
    """A solver of one scored graph for any number of payoffs."""

    def __init__(self, scored: ScoredGraph) -> None:
        self.scored = scored

    @cached_property
    def _layer(self) -> Layer:
        return layer_of_graph(self.scored.graph)

    def solve(self, payoffs: Reals, payoff_bounds: Reals | None = None) -> Aim:
        """Maximise the expected payoff.

        Parameters
        ----------
        payoffs : (n_scores,) float64
            For each of `ScoredGraph.scores`.
        payoff_bounds : (n_scores,) float64, optional
            Error bound of each payoff; part of the certified error.
        """
        graph = self.scored.graph
        result, certificate, _ = solve_and_certify(
            graph,
            border_values=payoffs,
            border_bounds=payoff_bounds,
            layer=self._layer,
        )
        ahead = look_ahead(graph, result.values, certificate.bounds, payoffs, payoff_bounds)
        best = are_best(graph, ahead)
        # play of a scored graph always ends
        actions = first_of_each_state(graph, keep_bounds(graph, ahead, best))
        return Aim(result.values, certificate.bounds, actions, best)

    def policy(self, aim: Aim, name: str = "aim") -> Policy:
        """The optimal policy on the scored graph."""
        return Policy.of_actions(self.scored.graph, name, aim.actions, aim.best)

    def final_scores(self, policy: Policy, state: int = 0) -> tuple[Reals, Reals]:
        """The probability of each final score from a state, under a policy of the scored graph.

        Returns
        -------
        probabilities, error_bounds : (n_scores,) float64
        """
        scored = self.scored
        every = distributions(scored.graph, policy, points=scored.points)
        row = every.of(state)
        final = row.values + int(scored.score[state])
        order = np.argsort(scored.scores)
        # totals that are no score of the game have no probability
        index = np.searchsorted(scored.scores[order], final)
        is_score = (index < len(order)) & (
            scored.scores[order[np.minimum(index, len(order) - 1)]] == final
        )
        probabilities = np.zeros(len(order))
        probabilities[order[index[is_score]]] = row.probabilities[is_score]
        bounds = every.relative_error[state] * probabilities + every.absolute_error[state]
        return probabilities, bounds


def distribution_of_chase(graph: StateGraph, target: int) -> tuple[Distribution, Ties | None]:
    """The final score of a player with the best chance of reaching a target.

    Returns
    -------
    distribution, ties
        The ties tell whether the distribution depends on the choice among best actions.
    """
    scored = by_score(graph)
    scored.index(target)
    # 1 is paid for the target or a better score
    reached = sign_of(graph.objective) * (scored.scores - target) >= 0
    aims = Aims(scored)
    plan = aims.policy(aims.solve(reached.astype(np.float64)))
    # from the start alone, which takes far less memory than from all states
    found = distribution(scored.graph, plan, points=scored.points)
    return found.trimmed(), ties_in_play(scored.graph, plan)


class Situation(NamedTuple):
    """The situation of a player at the beginning of his turn.

    Attributes
    ----------
    player : int
        From 0.
    best : int
        The best score so far, as an index into `ScoredGraph.scores` (best first);
        their number while there is none.
    sharing : int
        Number of players with this score.
    """

    player: int
    best: int
    sharing: int


@dataclass(frozen=True, eq=False)
class Turn:
    """One player's turn in one situation.

    Attributes
    ----------
    policy : (n_actions,) float64
        Of the scored graph.
    aim : Aim or None
        The optimal values; None for a player with a given policy.
    payoffs : (n_scores,) float64
        The value of each final score to the player.
    final : (n_scores,) float64
        The probability of each final score.
    final_bounds : (n_scores,) float64
        Error bounds of these probabilities.
    """

    policy: Policy
    aim: Aim | None
    payoffs: Reals
    final: Reals
    final_bounds: Reals


@dataclass(frozen=True)
class Contest:
    """Players take one whole turn each at a solitaire game; the best score wins.

    Attributes
    ----------
    game : Game
        A solitaire game with rewards in whole numbers.
    players : int
        From 2.
    ties : {"shared", "first", "win-or-tie"}
        The players of the best score share the prize; or the first of them wins it; or
        the last one, so that a tie is as good as a win.
    """

    game: Game
    players: int = 2
    ties: str = "shared"

    def __post_init__(self) -> None:
        if type(self.players) is not int or not 2 <= self.players <= MOST_PLAYERS:
            raise ParameterError(
                f"a contest has from 2 to {MOST_PLAYERS} players, not {shown(self.players)}"
            )
        if self.ties not in TIES:
            raise ParameterError(f"ties is {self.ties!r}; it must be one of {', '.join(TIES)}")

    def after(self, best: int, sharing: int, score: int) -> tuple[int, int, bool]:
        """The situation once a player has finished: best, sharing, and is he among them?"""
        if score < best or (score == best and self.ties == "win-or-tie"):
            return score, 1, True
        if score == best and self.ties == "shared":
            return best, sharing + 1, True
        return best, sharing, False


@dataclass(frozen=True, eq=False, repr=False)
class ContestSolution(InWords):
    """The solution of a contest.

    Attributes
    ----------
    contest : Contest
    scored : ScoredGraph
    turns : dict
        Every possible `Situation`, with its player's turn.
    held : dict
        The value of the best score so far to each of its players, before the turn of the
        situation's player.
    chances : dict
        Each player's expected share of the prize from the situation on, (players,) float64.
        Finished players have 0.
    error_bounds : dict
        Of all of these, rounding included, for the policies of `turns`.
    """

    contest: Contest
    scored: ScoredGraph = field(repr=False)
    aims: Aims = field(repr=False)
    turns: dict[Situation, Turn] = field(repr=False)
    held: dict[Situation, float] = field(repr=False)
    chances: dict[Situation, Reals] = field(repr=False)
    error_bounds: dict[Situation, float] = field(default_factory=dict, repr=False)

    @property
    def opening(self) -> Situation:
        """The situation before the first player's turn."""
        return Situation(0, len(self.scored.scores), 0)

    @property
    def probabilities(self) -> Reals:
        """Each player's share of the prize: the probability to win, ties as in the contest."""
        return self.chances[self.opening]

    @property
    def error_bound(self) -> float:
        """Error bound of all probabilities."""
        return self.error_bounds[self.opening]

    @property
    def ties(self) -> Ties | None:
        """Numbers of equally good actions, over all situations; None without any.

        With two players no chances depend on the choice among them; with more they may.
        """
        graph = self.scored.graph
        counts = [
            Ties(int((reached & turn.policy.tied).sum()), int(reached.sum()))
            for turn in self.turns.values()
            if turn.policy.tied is not None
            for reached in (reached_by(graph, turn.policy),)
        ]
        states = sum(one.states for one in counts)
        return Ties(states, sum(one.reached for one in counts)) if states else None

    @property
    def optimality_gap(self) -> float:
        """Proved upper bound on the gain of any player by another policy, in any situation.

        It is the certified best value plus its bound, minus the certified value of the policy, plus
        the bounds of both.
        """
        worst = 0.0
        for situation, turn in self.turns.items():
            if turn.aim is not None:
                best = turn.aim.values[0] + turn.aim.error_bounds[0]
                brings = self.chances[situation][situation.player]
                worst = max(worst, float(best - brings) + self.error_bounds[situation])
        return worst

    def situation(self, finished: Sequence[int]) -> Situation:
        """The next player's situation after these final scores, the first player's first.

        Raises
        ------
        UsageError
            Too many scores, or an impossible one.
        """
        return self._reached(finished)[0]

    def _reached(self, finished: Sequence[int]) -> tuple[Situation, list[int]]:
        """The next player's situation, and the players with the best score so far, from 0."""
        if len(finished) >= self.contest.players:
            raise UsageError(
                f"{len(finished)} scores are given, but then the contest of "
                f"{self.contest.players} players is over"
            )
        # an index behind all scores: there is none yet
        best, sharing = len(self.scored.scores), 0
        holders: list[int] = []
        for player, score in enumerate(finished):
            best, sharing, among = self.contest.after(best, sharing, self.scored.index(score))
            if among:
                holders = [player] if sharing == 1 else [*holders, player]
        return Situation(len(finished), best, sharing), holders

    def moment(
        self,
        finished: Sequence[int] = (),
        state: Sequence[int] | Mapping[str, Any] | None = None,
    ) -> tuple[Reals, float]:
        """Every player's share of the prize at any moment.

        Parameters
        ----------
        finished : final scores of the finished players
        state : fields of the scored graph, ``score`` last, optional
            The state within the next player's turn; its beginning by default.

        Returns
        -------
        shares : (players,) float64
            They add up to 1.
        error_bound : float

        Raises
        ------
        UsageError, UnknownState
        """
        situation, holders = self._reached(finished)
        s = 0 if state is None else self.scored.graph.find(state)
        final, final_bounds = self.aims.final_scores(self.turns[situation].policy, s)
        shares, bound, held, _ = _shared(self, situation, final, final_bounds)
        for player in holders:
            shares[player] = held
        return shares, bound

    def advise(
        self, finished: Sequence[int] = (), state: Sequence[int] | None = None
    ) -> list[tuple[str, float]]:
        """The value of each action to the mover, the best first."""
        turn = self.turns[self.situation(finished)]
        graph = self.scored.graph
        s = 0 if state is None else graph.find(state)
        if turn.aim is None:
            raise UsageError("this player's policy was given, not found")
        following = np.concatenate([turn.aim.values, turn.payoffs])
        rows = []
        here = graph.view[s]
        for action, text in zip(here.actions, here.action_names, strict=True):
            ways = sum(outcome.weight * outcome.worth(following) for outcome in action.outcomes)
            rows.append((text, float(ways / action.total)))
        return sorted(rows, key=lambda row: -row[1])


def solve_contest(contest: Contest, fixed: Mapping[int, Policy] | None = None) -> ContestSolution:
    """Solve a contest for any number of players.

    Parameters
    ----------
    contest : Contest
    fixed : mapping, optional
        Players (from 0) with a given policy of the game, blind to the score. The others play
        their best against it.

    Raises
    ------
    UsageError, RulesError, TooManyStates
        It isn't a contest, or has no such player; or its game has no score, or one without bound,
        or too many states; or a policy is of another game.
    """
    if not isinstance(contest, Contest):
        raise another_kind("a contest is wanted, such as Contest(Threes(), players=2)", contest)
    require_one_player(contest.game)
    graph = whole_graph(contest.game, "a contest")
    scored = by_score(graph)
    n_scores = len(scored.scores)
    fixed = {} if fixed is None else fixed
    if not isinstance(fixed, Mapping):
        raise another_kind("fixed is a mapping of players to policies, such as {0: policy}", fixed)
    for player, policy in fixed.items():
        whole_number("a player with a fixed policy", player, 0, contest.players - 1)
        require_policy(graph, policy)
    solution = ContestSolution(contest, scored, Aims(scored), {}, {}, {}, {})
    blind = {
        player: Policy(policy.name, scored.lift(policy.probability))
        for player, policy in fixed.items()
    }
    # from the end of the contest back to the first player
    for player in range(contest.players, -1, -1):
        most = player if contest.ties == "shared" else 1
        situations = [
            Situation(player, best, sharing)
            for best in range(n_scores)
            for sharing in range(1, most + 1)
        ]
        for situation in situations if player else [solution.opening]:
            if player == contest.players:
                solution.held[situation] = 1.0 / situation.sharing
                solution.chances[situation] = np.zeros(contest.players)
                solution.error_bounds[situation] = 2.0**-53
                continue
            _solve_turn(solution, situation, blind.get(player))
    return solution


def _solve_turn(solution: ContestSolution, situation: Situation, given: Policy | None) -> None:
    contest, aims = solution.contest, solution.aims
    player, best, sharing = situation
    n_scores = len(solution.scored.scores)
    payoffs, bounds = np.zeros(n_scores), np.zeros(n_scores)
    # a score below the best one so far wins nothing
    for score in range(n_scores):
        next_best, next_sharing, among = contest.after(best, sharing, score)
        if among:
            after = Situation(player + 1, next_best, next_sharing)
            payoffs[score] = solution.held[after]
            bounds[score] = solution.error_bounds[after]
    aim = None if given is not None else aims.solve(payoffs, bounds)
    policy = given if aim is None else aims.policy(aim, f"player {player + 1}")
    assert policy is not None
    final, final_bounds = aims.final_scores(policy)
    solution.turns[situation] = Turn(policy, aim, payoffs, final, final_bounds)
    chances, bound, held, held_bound = _shared(solution, situation, final, final_bounds)
    solution.chances[situation], solution.held[situation] = chances, held
    solution.error_bounds[situation] = max(bound, held_bound)


def _shared(
    solution: ContestSolution, situation: Situation, final: Reals, final_bounds: Reals
) -> tuple[Reals, float, float, float]:
    """The shares of the prize, given the final scores of the situation's player.

    Returns
    -------
    shares, bound
        Of the situation's player and those after him.
    held, held_bound
        The remaining value of the best score so far to each of its players.
    """
    player, best, sharing = situation
    shares = np.zeros(solution.contest.players)
    held = bound = held_bound = 0.0
    # the shares after each score, weighted with its probability
    for score, probability in enumerate(final.tolist()):
        next_best, next_sharing, among = solution.contest.after(best, sharing, score)
        after = Situation(player + 1, next_best, next_sharing)
        off = probability * solution.error_bounds[after] + float(final_bounds[score])
        row = solution.chances[after].copy()
        if among:
            row[player] = solution.held[after]
        shares += probability * row
        bound += off
        if next_best == best and not (among and next_sharing == 1):  # it isn't taken over
            held += probability * solution.held[after]
            held_bound += off
    rounding = 2 * len(final) * 2.0**-53
    return shares, bound + rounding, held, held_bound + rounding


LEAST_GAIN = 1e-9  # of a response: with less, the mixture is an equilibrium
LEAST_WEIGHT = 1e-9  # of a policy in the mixture
MOST_ROUNDS = 500


@dataclass(frozen=True, eq=False)
class Part:
    """A policy of the mixture.

    Attributes
    ----------
    weight : float
        Its probability in the mixture.
    policy : Policy
        On the scored graph.
    scores : Distribution
        The distribution of its final scores.
    """

    weight: float
    policy: Policy = field(repr=False)
    scores: Distribution = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class BlindContest(InWords):
    """An equilibrium of a contest of two with hidden scores.

    Attributes
    ----------
    scored : ScoredGraph
    parts : tuple of Part
        The policies of the mixture, the likeliest first.
    gain : float
        Proved upper bound on the gain of any policy against the mixture: win probability above 1/2.
    for_mean : Distribution
        The final scores of a policy of the best mean.
    mean_against : Certified
        Its win probability against the mixture.
    against_mean : Certified
        The win probability of the best response to it.
    rounds : int
        Number of best responses.
    """

    scored: ScoredGraph = field(repr=False)
    parts: tuple[Part, ...]
    gain: float
    for_mean: Distribution = field(repr=False)
    mean_against: Certified
    against_mean: Certified
    rounds: int

    @property
    def mean(self) -> float:
        """The mean score of the mixture."""
        return sum(part.weight * part.scores.mean for part in self.parts)


def solve_blind_contest(game: Game) -> BlindContest:
    """Find an equilibrium.

    Parameters
    ----------
    game : Game
        A solitaire game with points in whole numbers.

    Raises
    ------
    UsageError, RulesError, TooManyStates
        The game has no score, or one without bound, or too many states.
    """
    require_one_player(game)
    graph = whole_graph(game, "a contest")
    require_points(graph)
    scored = by_score(graph)
    aims = Aims(scored)
    blind = Policy("best mean", scored.lift(solve_whole(game).policy.probability))
    policies, finals, bounds = (
        [blind],
        *([column] for column in aims.final_scores(blind)),
    )
    off = float(bounds[0].sum())
    # solve the matrix of the known policies, then look for a better response to the mixture
    for rounds in range(1, MOST_ROUNDS + 1):
        weights = _equilibrium(np.array(finals))
        mixed, mixed_off = weights @ np.array(finals), weights @ np.array(bounds)
        answer = aims.solve(_worth(mixed), np.full(len(mixed), float(mixed_off.sum())))
        # a mixture gets one half against itself, so more than that is the gain of the best response
        gain = float(answer.values[0] + answer.error_bounds[0]) - 0.5
        if rounds == 1:
            against_mean = Certified(float(answer.values[0]), float(answer.error_bounds[0]))
        policy = aims.policy(answer, f"response {rounds}")
        final, final_bounds = aims.final_scores(policy)
        is_repeated = any(np.abs(final - other).max() <= LEAST_GAIN for other in finals)
        if gain <= LEAST_GAIN or is_repeated:
            break
        policies.append(policy)
        finals.append(final)
        bounds.append(final_bounds)
    chosen = [k for k in np.argsort(-weights) if weights[k] > LEAST_WEIGHT]
    parts = [
        Part(float(weights[k]), policies[k], _distribution(scored, finals[k], bounds[k]))
        for k in chosen
    ]
    mean_wins = float(finals[0] @ _worth(mixed))
    return BlindContest(
        scored,
        tuple(parts),
        gain,
        _distribution(scored, finals[0], bounds[0]),
        Certified(mean_wins, off + float(mixed_off.sum()) + len(mixed) * 2.0**-50),
        against_mean,
        rounds,
    )


def _distribution(scored: ScoredGraph, final: Reals, bounds: Reals) -> Distribution:
    order = np.argsort(scored.scores)
    return Distribution(scored.scores[order], final[order], float(bounds.max()))


def _worth(final: Reals) -> Reals:
    """The value of each score against these: the chance of worse ones, and half of the same."""
    worse: Reals = final.sum() - np.cumsum(final)
    return worse + final / 2


def _equilibrium(finals: Reals) -> Reals:
    """An equilibrium of the matrix game between some policies: the probability of each."""
    from scipy.optimize import linprog

    n = len(finals)
    # row i, column j: how often i beats j, less one half
    wins = finals @ np.array([_worth(final) for final in finals]).T - 0.5
    # the mixture gets at least v against each: maximize v
    solution = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-wins.T, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=[np.append(np.ones(n), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    weights: Reals = np.maximum(solution.x[:n], 0.0)
    return np.asarray(weights / weights.sum())
