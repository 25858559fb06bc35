"""Recorded scores against the distribution of a policy, or of all optimal ones; judged plays.

Where several policies are optimal, scores fit best play if they fit one of them. The least
chi-square over the set is found by conditional gradients (Frank and Wolfe 1956): the slope of
chi-square is a payoff for each final score, the set is solved for it, and the next step goes
towards the resulting policy. The same solution bounds the remaining decrease of chi-square.

A recorded play is judged move by move, by the losses of its choices.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.contest import Contest, ContestSolution, solve_contest
from rollwise.analysis.distributions import Distribution, played
from rollwise.analysis.records import FitOfBest, JudgedMove
from rollwise.analysis.second_aims import distribution_in, of_scores
from rollwise.answer.optimal_set import OptimalSet
from rollwise.answer.solution import Solution
from rollwise.derive.by_score import Ints, whole_points
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.machine.atomic_files import read_text
from rollwise.numbers.printed import how_many
from rollwise.play.games import Stepper
from rollwise.words import Words

LEAST_SCORES = 2  # for a test
LEAST_EXPECTED = 5.0  # of a cell of the chi-square test (Cochran 1954)
Reals = NDArray[np.float64]

MOST_STEPS = 200
CLOSE = 1e-3  # of chi-square: its effect on the probability is invisible


def text_of(path: Path, fault: type[UsageError] = UsageError) -> str:
    """The text of a file.

    Raises
    ------
    UsageError
        Or another `fault`: the file can't be read.
    """
    try:
        return read_text(path)
    except OSError as error:
        raise fault(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise fault(f"{path} can't be read: it isn't text") from error


def scores_in(contents: str, path: Path) -> Ints:
    """The scores in the text of a file, one a line; a first line ``score`` is a heading.

    Raises
    ------
    UsageError
        Names the first line that isn't a whole number.
    """
    scores = []
    for number, line in enumerate(contents.splitlines(), start=1):
        text = line.strip().rstrip(",").strip('"')
        if not text or (number == 1 and text.lower() in ("score", "scores")):
            continue
        try:
            scores.append(int(np.int64(int(text))))
        except (ValueError, OverflowError):
            raise UsageError(f"{path}, line {number}: {line!r} isn't a whole number") from None
    if len(scores) < LEAST_SCORES:
        found = how_many(len(scores), "score")
        raise UsageError(f"{path} holds {found}; a test needs at least {LEAST_SCORES}")
    return np.array(scores, np.int64)


@dataclass(frozen=True)
class GoodnessOfFit:
    """Scores tested against a distribution.

    Attributes
    ----------
    games : int
    mean, sd : float
        Of the scores.
    standard_error : float
        Of their mean.
    expected_mean, expected_sd : float
        Of the distribution.
    z, p_mean : float
        The distance of the means in standard errors (by the distribution's own deviation), and
        the two-sided probability of this distance or more.
    chi_square, cells, p_shape : float, int, float
        Pearson's test of the whole histogram, cells pooled until each expects 5;
        nan where fewer than two cells are left.
    """

    games: int
    mean: float
    sd: float
    standard_error: float
    expected_mean: float
    expected_sd: float
    z: float
    p_mean: float
    chi_square: float
    cells: int
    p_shape: float


def goodness_of_fit(
    scores: Ints, expected: Distribution, times: Ints | None = None
) -> GoodnessOfFit:
    """Test scores against the exact distribution of a policy.

    Parameters
    ----------
    scores : (n,) int
    expected : Distribution
    times : (n,) int, optional
        The number of games with each score; one unless given.

    Raises
    ------
    UsageError
        An impossible score.
    """
    from scipy.stats import chi2, norm

    require_possible(scores, expected)
    times = np.ones(len(scores), np.int64) if times is None else times
    n = int(times.sum())
    observed = np.array([times[scores == value].sum() for value in expected.values], np.float64)
    counts, hopes = pooled(observed, n * expected.probabilities)
    statistic = float(((counts - hopes) ** 2 / hopes).sum()) if len(hopes) > 1 else float("nan")
    mean = float(scores @ times) / n
    off, spread = mean - expected.mean, expected.sd / float(np.sqrt(n))
    z = off / spread if spread > 0 else 0.0  # where only one score is possible, all have it
    sd = float(np.sqrt((scores - mean) ** 2 @ times / (n - 1))) if n > 1 else float("nan")
    return GoodnessOfFit(
        n,
        mean,
        sd,
        sd / float(np.sqrt(n)),
        expected.mean,
        expected.sd,
        z,
        float(2 * norm.sf(abs(z))),
        statistic,
        len(hopes),
        float(chi2.sf(statistic, len(hopes) - 1)) if len(hopes) > 1 else float("nan"),
    )


def require_possible(scores: Ints, expected: Distribution) -> None:
    """Raise unless all scores are possible.

    Raises
    ------
    UsageError
        With an impossible score.
    """
    possible = expected.values[expected.probabilities > 0]
    outside = scores[(scores < possible.min()) | (scores > possible.max())]
    if len(outside):
        raise UsageError(
            f"the score {outside[0]} doesn't occur with this policy: its scores go from "
            f"{possible.min()} to {possible.max()}; another policy may have it (--policy)"
        )


def pooled(
    observed: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Neighbouring cells put together until each expects at least 5."""
    cells = cells_of(expected)
    counts, hopes = (np.bincount(cells, numbers) for numbers in (observed, expected))
    return counts.astype(np.float64), hopes.astype(np.float64)


def cells_of(expected: NDArray[np.float64]) -> Ints:
    """The cell of each number, pooled so that each cell expects at least 5: (n,) int64."""
    cells = np.empty(len(expected), np.int64)
    cell, hope = 0, 0.0
    # a cell closes when it expects enough; a last one that doesn't joins its neighbour
    for i, expects in enumerate(expected.tolist()):
        if hope >= LEAST_EXPECTED:
            cell, hope = cell + 1, 0.0
        cells[i] = cell
        hope += expects
    if hope < LEAST_EXPECTED and cell > 0:
        cells[cells == cell] = cell - 1
    return cells


AT_ONCE = 1 << 20  # games played at once: a step of all of them takes less than a second


class SimulatedScores(NamedTuple):
    """Final scores of simulated games, held against a distribution.

    Attributes
    ----------
    values, times : (n,) int64
        The different scores, ascending, and the number of games with each.
    seed : int
    fit : GoodnessOfFit
    """

    values: Ints
    times: Ints
    seed: int
    fit: GoodnessOfFit


def simulated_scores(
    graph: StateGraph,
    policy: Policy,
    expected: Distribution,
    *,
    games: int,
    seed: int,
    count: str | None = None,
    state: int = 0,
) -> SimulatedScores:
    """Play at random under a policy, and test the scores against their distribution.

    Parameters
    ----------
    seed : int
        The same seed gives the same games.
    count, state
        As `rollwise.analysis.distributions.distribution` takes them.
    """
    graph, policy = played(graph, policy, state)
    labels = None if count is None else graph.vocabulary.require(count)
    wanted = None if labels is None else np.isin(graph.action_label, labels)
    stepper, often = Stepper(graph, np.random.default_rng(seed)), Counter[int]()
    for begin in range(0, games, AT_ONCE):
        totals = np.zeros(min(AT_ONCE, games - begin), np.int64)
        for move in stepper.between((policy, policy), len(totals), state):
            points = move.gained.astype(np.int64) if wanted is None else wanted[move.action]
            totals[move.game] += points
        found = np.unique(totals, return_counts=True)
        often.update(dict(zip(*(column.tolist() for column in found), strict=True)))
    pairs = np.array(sorted(often.items()), np.int64)
    values, times = np.ascontiguousarray(pairs.T)
    return SimulatedScores(values, times, seed, goodness_of_fit(values, expected, times))


def best_fit(scores: Ints, policies: OptimalSet, expected: Distribution) -> FitOfBest | None:
    """Test scores against all policies of a set; None where fewer than two cells are left.

    Parameters
    ----------
    scores : (n,) int64
    policies : OptimalSet
    expected : Distribution
        Of one of the policies; it determines the cells.
    """
    from scipy.optimize import minimize_scalar
    from scipy.stats import chi2

    every, n = policies.with_scores, len(scores)
    assert every.scores is not None
    cells = cells_of(n * expected.probabilities)
    n_cells = int(cells.max()) + 1
    if n_cells < 2:
        return None

    def cell_of(values: Ints) -> Ints:
        # scores that the distribution leaves out have the cell of the next one
        place = np.searchsorted(expected.values, values)
        return np.asarray(cells[np.minimum(place, len(cells) - 1)])

    def shares(distribution: Distribution) -> Reals:
        return np.bincount(
            cell_of(distribution.values), distribution.probabilities, n_cells
        ).astype(np.float64)

    counts = np.bincount(cell_of(scores), minlength=n_cells).astype(np.float64)

    def chi_square(share: Reals) -> float:
        return float(((counts - n * share) ** 2 / (n * share)).sum())

    share, gap = shares(expected), np.inf
    # conditional gradients: solve the set for the slope, step towards this policy
    for _ in range(MOST_STEPS):
        slope = n - counts**2 / (n * share**2)
        payoffs = -slope[cell_of(every.scores)]
        aim = of_scores("fit", payoffs, np.zeros(len(payoffs)), every.scores)
        _, towards = every.then(aim)
        other = shares(distribution_in(towards, towards.policy("fit")))
        # chi-square is convex: its least value is at most `gap` below the present one
        gap = float(slope @ (share - other))
        if gap <= CLOSE:
            break
        step = minimize_scalar(
            lambda t, a=share, b=other: chi_square(a + t * (b - a)), bounds=(0, 1), method="bounded"
        ).x
        share = share + step * (other - share)
    statistic = chi_square(share)
    least = max(statistic - max(gap, 0.0), 0.0)
    return FitOfBest(statistic, least, n_cells, float(chi2.sf(least, n_cells - 1)))


class Move(NamedTuple):
    """A state and an action as numbers of the graph, with their place in the file."""

    state: int
    action: int
    line: int


@dataclass(frozen=True)
class Play:
    """One player's turn.

    Attributes
    ----------
    player : str
    moves : tuple of Move
    score : int
        The final score.
    """

    player: str
    moves: tuple[Move, ...]
    score: int


def read_plays(game: Game, graph: StateGraph, path: Path) -> list[Play]:
    """Read plays from a CSV file, one row a choice.

    The columns are ``player`` (optional; rows of one player are consecutive) and either
    the fields of the state, those of its throw, and ``action`` (its name or number), or columns
    read by the game itself (`Game.read_play`; for Threes ``rolled`` and ``taken``).

    Raises
    ------
    UsageError
        With the file, the line and the fault.
    """
    reader = csv.DictReader(text_of(path).splitlines())
    columns = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = columns
    groups: list[tuple[str, list[tuple[int, dict[str, str]]]]] = []
    for row in reader:
        named = {name: (value or "").strip() for name, value in row.items() if name is not None}
        player = named.get("player", "1")
        if not groups or groups[-1][0] != player:
            if any(player_before == player for player_before, _ in groups):
                raise UsageError(
                    f"{path}, line {reader.line_num}: player {player} comes up again; the rows of "
                    "a player stand together"
                )
            groups.append((player, []))
        groups[-1][1].append((reader.line_num, named))
    if not groups:
        raise UsageError(f"{path} holds no moves")
    written = (*graph.columns, "action")
    if all(name in columns for name in written):
        reading: Any = partial(_from_fields, graph.columns)
    elif game.play_columns and all(name in columns for name in game.play_columns):
        reading = Words(game).read_play
    else:
        ways = [", ".join(written)]
        if game.play_columns:
            ways.append(", ".join(game.play_columns))
        if any(column.startswith("@") for column in columns):
            raise UsageError(f"{path} holds games that `play` kept: see rollwise review")
        raise UsageError(
            f"{path} has the columns {', '.join(columns)}; a play of {game.name} has "
            f"{' or '.join(ways)} (and player, if there are several)"
        )
    return [_play(graph, path, player, rows, reading) for player, rows in groups]


def _from_fields(
    names: Sequence[str], rows: Sequence[Mapping[str, str]]
) -> Sequence[tuple[Any, int | str]]:
    plays = []
    for number, row in enumerate(rows):
        try:
            state = {name: int(row[name]) for name in names}
        except ValueError:
            raise ValueError(number, "this isn't a state and an action") from None
        plays.append((state, row["action"]))
    return plays


def _play(
    graph: StateGraph,
    path: Path,
    player: str,
    rows: list[tuple[int, dict[str, str]]],
    reading: Any,
) -> Play:
    try:
        written = reading([row for _, row in rows])
    except ValueError as error:
        number, reason = error.args if len(error.args) == 2 else (0, str(error))
        raise UsageError(f"{path}, line {rows[number][0]}: {reason}") from error
    if graph.objective == "win":
        raise UsageError(
            f"{graph.title} is won, lost or paid at its end, which a list of moves doesn't show; "
            "judge is for games with points for actions"
        )
    whole_points(graph)
    moves: list[Move] = []
    score = 0
    may_follow: set[int] | None = None
    for (line, _), (state, taken) in zip(rows, written, strict=True):
        where = f"{path}, line {line}"
        try:
            s = graph.find(state)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
        try:
            action = graph.view[s].find_action(taken).index
        except UsageError as error:
            raise UsageError(f"{where}: in the state {graph.state_text(s)} {error}") from error
        if may_follow is None:
            may_follow = _may_follow(graph, [0])
        if s not in may_follow:
            raise UsageError(f"{where}: this doesn't follow from the move before")
        may_follow = _may_follow(graph, _outcomes(graph, action))
        score += int(graph.action_reward[action])
        moves.append(Move(s, action, line))
    if not any(t < 0 for t in _outcomes(graph, moves[-1].action)):
        raise UsageError(f"{path}, line {rows[-1][0]}: the play isn't over yet")
    return Play(player, tuple(moves), score)


def _outcomes(graph: StateGraph, action: int) -> list[int]:
    return [outcome.target for outcome in graph.view.action(action).outcomes]


def _may_follow(graph: StateGraph, states: list[int]) -> set[int]:
    """The possible next states: these states, and states after moves without choice or points."""
    targets: set[int] = set()
    queue = [s for s in states if s >= 0]
    # moves without choice or points need no line in the file
    while queue:
        s = queue.pop()
        if s in targets:
            continue
        targets.add(s)
        first, *others = graph.view[s].actions
        if not others and first.reward == 0:
            queue += [t for t in _outcomes(graph, first.index) if t >= 0]
    return targets


def judge(solution: Solution, plays: Sequence[Play], ties: str | None = None) -> list[JudgedMove]:
    """Judge every choice by the mean score and, between players, by the chance to win.

    Parameters
    ----------
    solution : Solution
        Of the game.
    plays : the players' turns, in their order
    ties : str, optional
        The rule for ties of a contest (see `Contest`); given for a play judged as a contest.

    Returns
    -------
    list of JudgedMove
        One for each move with a choice.
    """
    contest: ContestSolution | None = None
    if ties is not None and len(plays) > 1:
        assert solution.game is not None
        contest = solve_contest(Contest(solution.game, len(plays), ties))
    graph = solution.graph
    rows = []
    finished: list[int] = []
    for play in plays:
        score = 0
        for move in play.moves:
            here = graph.view[move.state]
            if here.is_choice:
                chance = lost = best_chance = None
                called = dict(zip(here.action_range, here.action_names, strict=True))
                taken = called[move.action]
                fine = bool(solution.is_best[move.action])
                best = taken if fine else called[int(solution.best_actions[here])]
                if contest is not None:
                    state = (*here.fields, score)
                    advice = contest.advise(finished, state)
                    best_chance, chance = advice[0]
                    lost = max(chance - dict(advice)[taken], 0.0)
                    if lost < 1e-12:  # rounding only
                        best_chance, lost = taken, 0.0
                rows.append(
                    JudgedMove(
                        play.player,
                        move.line,
                        str(here),
                        taken,
                        best,
                        0.0 if fine else float(solution.regret[move.action]),
                        chance,
                        lost,
                        best_chance,
                    )
                )
            score += int(graph.action_reward[move.action])
        finished.append(play.score)
    return rows
