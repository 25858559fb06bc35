"""A contest of two as one graph: whole turns at a solitaire game, the better score wins.

The states are those of the game with the points made so far (`rollwise.scores`),
once for the player who goes first and once for every score that the second may
have to beat. So a contest is a game like any other: whatever solves, plays,
exports or learns on a graph does so on this one. (`rollwise.analysis.contest`
solves contests of any number, turn by turn; with two both give the same.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import build
from rollwise.certified import solve_and_certify
from rollwise.errors import RulesError, TooManyStates, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.scores import MOST_PAIRS, by_score
from rollwise.solution import Solution

# What a tie is worth to the second player.
TIES = {"shared": 0.0, "first": -1.0, "win-or-tie": 1.0}


@dataclass(frozen=True, eq=False)
class ContestGraph:
    """A contest of two players.

    Attributes
    ----------
    graph : StateGraph
        Of a game that is won or lost. Its fields are the game's, ``score`` (points
        made so far) and ``rival`` (the score to beat; `nothing_yet` in the first turn).
    source : StateGraph
        The solitaire game.
    state : (n_states,) int64
        The state of the solitaire game in each state.
    action : (n_actions,) int64
        The action of the solitaire game's graph that each action stands for; its
        outcomes are in the same order.
    nothing_yet : int
    """

    graph: StateGraph
    source: StateGraph
    state: NDArray[np.int64]
    action: NDArray[np.int64]
    nothing_yet: int


def contest_graph(game: Game, ties: str = "shared") -> ContestGraph:
    """Make a contest of two players out of a solitaire game with points.

    Parameters
    ----------
    game : Game
        A solitaire game whose points are whole numbers.
    ties : {"shared", "first", "win-or-tie"}
        A tie is a draw, or goes to the first player, or to the second.

    Raises
    ------
    UsageError, RulesError, TooManyStates
        The game has no score, or one without bound, or too many states.
    """
    if ties not in TIES:
        raise UsageError(f"--ties is {ties!r}; it must be one of {', '.join(TIES)}")
    source = build(game)
    scored = by_score(source)
    one = scored.graph
    if "rival" in one.field_names:
        raise RulesError(f"{game.name}: a contest adds a field 'rival', and there is one already")
    n, m = one.n_states, len(scored.scores)
    if n * (m + 1) > MOST_PAIRS:
        raise TooManyStates(f"a contest of {source.title} has {n * (m + 1):,} states")
    nothing_yet = min(-1, int(scored.scores.min()) - 1)
    target = one.outcome_state.astype(np.int64)
    ends, place = target >= n, target - n
    # The first turn leads to the start of a second one that knows the score.
    outcome_state = [np.where(ends, n + place * n, target)]
    payoff = [np.zeros(len(target))]
    for rival in range(m):  # scores stand best first
        outcome_state.append(np.where(ends, -1, n + rival * n + target))
        worth = np.where(place < rival, 1.0, np.where(place > rival, -1.0, TIES[ties]))
        payoff.append(np.where(ends, worth, 0.0))
    passes = np.zeros((m + 1, len(target)), np.bool_)
    passes[0] = ends
    rivals = np.concatenate([[nothing_yet], scored.scores])
    graph = replace(
        one,
        states=np.column_stack(
            [np.tile(one.states, (m + 1, 1)), np.repeat(rivals, n)],
        ).astype(np.int32),
        action_indptr=_repeated(one.action_indptr, m + 1),
        action_label=np.tile(one.action_label, m + 1),
        action_reward=np.zeros((m + 1) * one.n_actions),
        outcome_indptr=_repeated(one.outcome_indptr, m + 1),
        outcome_state=np.concatenate(outcome_state).astype(np.int32),
        outcome_weight=np.tile(one.outcome_weight, m + 1),
        outcome_passes=passes.ravel(),
        outcome_payoff=np.concatenate(payoff),
        field_names=(*one.field_names, "rival"),
        game=f"{source.game} contest",
        parameters={**source.parameters, "ties": ties},
        players=2,
        objective="win",
        n_roots=1,
        n_border=0,
    )
    return ContestGraph(
        graph,
        source,
        np.tile(scored.state.astype(np.int64), m + 1),
        np.tile(scored.action.astype(np.int64), m + 1),
        nothing_yet,
    )


def solve_contest_graph(contest: ContestGraph) -> Solution:
    """Solve a contest like any other game, and certify the answer."""
    found, certificate, _ = solve_and_certify(contest.graph)
    return Solution(
        contest.graph,
        None,
        found.method,
        found.values,
        certificate.bounds,
        sweeps=found.sweeps,
        converged=found.converged,
    )


def _repeated(indptr: NDArray[np.int64], times: int) -> NDArray[np.int64]:
    """The CSR pointers of so many copies, one after the other."""
    step = indptr[-1]
    copies = [indptr[:-1] + i * step for i in range(times)]
    return np.concatenate([*copies, [times * step]]).astype(np.int64)
