"""Stakes: doubles in a contest, and questions about a game with a doubling cube.

A double is for two players with a stake of one unit each, by the rules of the doubling cube
(`rollwise.derive.cube`): before a turn a player may double, and the opponent takes, or passes and
loses the stake. Each player has one turn. Let E be the second player's equity before that turn. A
double is worth min(1, 2 E), and E' = max(E, min(1, 2 E)) is the equity of a player who may double.
The second player may double whether the cube lies in the middle or came to him. So the first
player plays for -E' with or without a double, and a double counts twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.contest import ContestSolution, Situation
from rollwise.analysis.records import CubeWindow, Doubling
from rollwise.answer.solve import solve_whole
from rollwise.derive.cube import BEFORE, MIDDLE, MINE, Cube, Stake, answers_to
from rollwise.derive.derived_game import places_in
from rollwise.errors import UnknownState, UsageError
from rollwise.graph import win_probability
from rollwise.graph.choices import first_actions

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution


Reals = NDArray[np.float64]


def advise_double(solution: ContestSolution, finished: Sequence[int] = ()) -> Doubling:
    """Whether to double before a turn of a contest of two, and whether to accept.

    Parameters
    ----------
    finished : sequence of int
        The first player's final score, once there is one.

    Raises
    ------
    UsageError
        The contest has more players, or no such score.
    """
    players = solution.contest.players
    if players != 2:
        raise UsageError(f"a double is between two players, and the contest has {players}")
    if finished:
        (equity,), bound = _second_equities(solution, [solution.situation(finished)])
    else:
        scores = [Situation(1, best, 1) for best in range(len(solution.scored.scores))]
        seconds, bound = _second_equities(solution, scores)
        # E' of the second player for each score of the first, who plays for -E'
        doubled = np.maximum(seconds, np.minimum(1.0, 2 * seconds))
        aim = solution.aims.solve(-doubled, np.full(len(doubled), 2 * bound))
        equity, bound = aim.values[0], float(aim.error_bounds[0])
    accepted, margin = 2 * float(equity), 4 * bound
    best = max(float(equity), min(1.0, accepted))
    offer, accept = best > equity + margin, accepted <= 1.0 + margin
    return Doubling(float(equity), accepted, 1.0, bool(offer), bool(accept), best, 2 * bound)


def _second_equities(
    solution: ContestSolution, situations: Sequence[Situation]
) -> tuple[Reals, float]:
    """The second player's equity in these situations without a cube, and their error bound."""
    shares = np.array([solution.chances[situation][1] for situation in situations])
    bound = 2 * max(solution.error_bounds[situation] for situation in situations)
    return 2 * shares - 1, bound + 2.0**-52


def _cube(solution: Solution) -> Cube:
    if not isinstance(solution.game, Cube):
        raise UsageError(f"{solution.title} has no doubling cube: solve game.cube()")
    return solution.game


def windows(solution: Solution) -> list[CubeWindow]:
    """The windows of the first double, and of a double by the owner of the cube.

    Parameters
    ----------
    solution : Solution
        Of a `Cube` for money, as one graph.

    Raises
    ------
    UsageError
        It is of another game.
    """
    game, graph = _cube(solution), solution.graph
    inner = solve_whole(game.inner)
    source = inner.graph
    fields = dict(zip(graph.columns, graph.rows.T, strict=True))
    cube_windows = []
    # the cube in the middle, and then in the mover's hands
    for cube, owner in ((1, MIDDLE), (2, MINE)):
        here = (fields["step"] == BEFORE) & (fields["cube"] == cube) & (fields["owner"] == owner)
        before = np.flatnonzero(here)
        if not len(before):
            continue
        rows = np.column_stack([fields[name][before] for name in source.columns])
        places = places_in(rows, source.rows)
        worth, bound = inner.values[places], inner.error_bound
        if not inner.is_score:  # chances to win
            worth, bound = win_probability(worth), bound / 2
        theirs = -worth if inner.is_score else 1 - worth
        verdicts = np.array(game.verdicts(solution, before)["cube_action"])
        take = first_actions(graph)[answers_to(graph, before)]
        best = solution.is_best
        cube_windows.append(
            CubeWindow(
                cube,
                dict(sorted(Counter(verdicts.tolist()).items())),
                _least(worth, np.char.startswith(verdicts, "double")),
                _largest(worth, verdicts == "no double"),
                _least(theirs, best[take]),
                _largest(theirs, best[take + 1]),
                bound,
            )
        )
    return cube_windows


def _least(numbers: NDArray[np.float64], among: NDArray[np.bool_]) -> float | None:
    return float(numbers[among].min()) if among.any() else None


def _largest(numbers: NDArray[np.float64], among: NDArray[np.bool_]) -> float | None:
    return float(numbers[among].max()) if among.any() else None


def effect_of_the_limit(solution: Solution) -> float | None:
    """A bound on the change of the start's value by any higher limit.

    `rollwise.derive.cube` has the proof. None below a limit of 3, with beavers, and in a match.
    """
    game, graph = solution.game, solution.graph
    assert isinstance(game, Cube)
    if game.match or game.beavers or game.limit < 3:
        return None
    fields = dict(zip(graph.columns, graph.rows.T, strict=True))
    owned = [
        np.flatnonzero((fields["owner"] == MINE) & (fields["cube"] == cube)) for cube in (2, 4)
    ]
    rest = [k for k, name in enumerate(graph.columns) if name != "cube"]
    places = places_in(graph.rows[owned[0]][:, rest], graph.rows[owned[1]][:, rest])
    both = places >= 0
    # positions that differ in the cube only: a cube of 4 counts twice as much as one of 2
    two, four = owned[0][both], owned[1][places[both]]
    if not len(two):
        return 0.0
    apart = np.abs(solution.values[two] - solution.values[four] / 2).max()
    return float(apart + 2 * solution.error_bound)


@dataclass(frozen=True)
class MatchTable:
    """Chances to win a match before a game, by the points that both players need.

    Attributes
    ----------
    chances : (n, n) list of list
        Row i and column k: the player needs i + 1 points, the opponent k + 1. Where a player needs
        1 point the next game is the Crawford game. None: no play comes there.
    after_crawford : (n,) list
        The opponent needs 1 point, and the player i + 1; the Crawford game is over.
    error_bound : float
    """

    chances: list[list[float | None]]
    after_crawford: list[float | None]
    error_bound: float


def match_table(solution: Solution) -> MatchTable:
    """The match table of a `Cube` with a match.

    Raises
    ------
    UsageError
        It is of another game.
    """
    game = _cube(solution)
    n = game.match
    if not n:
        raise UsageError(f"{solution.title} is for money: a match table needs cube(match=N)")

    def value(stake: Stake) -> float | None:
        try:
            return float(solution.values[solution.find(game.opened(stake))])
        except UnknownState:
            return None

    def chance(away: int, rival: int, crawford: int) -> float | None:
        stake = Stake(1, MIDDLE, away, rival, crawford)
        first, second = value(stake), value(stake.turned())
        return None if first is None or second is None else 0.5 + (first - second) / 4

    def at_score(away: int, rival: int) -> float | None:
        return chance(away, rival, int(min(away, rival) == 1 < max(away, rival)))

    numbers = range(1, n + 1)
    table = [[at_score(away, rival) for rival in numbers] for away in numbers]
    return MatchTable(table, [chance(k, 1, 0) for k in numbers], solution.error_bound / 2)
