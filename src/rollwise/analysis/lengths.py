"""The distribution of the number of turns of a game, under a policy.

Play is followed forward from the start as a distribution over positions. In a game for two, a turn
ends when it passes or the game is over. In a solitaire game the counted unit is a roll: a move with
more than one outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action
from rollwise.graph.endings import ways_out
from rollwise.graph.policies import Policy
from rollwise.kernels.occupancy import play_turn

Floats = NDArray[np.float64]

TAIL = 1e-9
LEAST_TURNS, MOST_TURNS = 5_000, 200_000  # followed in any case, and at most
WORK = 2_000_000_000  # outcomes followed in all turns together
FORGOTTEN = 1e-16
FEW = 1e-8  # a negligible share of games


@dataclass(frozen=True, eq=False)
class Lengths:
    """The length of a game.

    Attributes
    ----------
    unit : {"turns", "rolls"}
    first, second, other : (n,) float64
        The probability that the game ends in turn 0, 1, 2, ...: won by the first player,
        won by the second, or otherwise (a draw, or no winner).
    tail : float
        The probability of a longer game.
    visits : (n_states,) float64
        Expected visits of each state (without the tail).
    watched : (n,) float64
        Expected total of `watch` in turn 0, 1, 2, ...; zeros without it.
    """

    unit: str
    first: Floats
    second: Floats
    other: Floats
    tail: float
    visits: Floats
    watched: Floats

    @property
    def chance(self) -> Floats:
        """The probability of each length from 0: (n,) float64."""
        return self.first + self.second + self.other

    @property
    def mean(self) -> float:
        """The mean length of the games outside the tail.

        With a tail, the mean of all games is larger.
        """
        chance = self.chance
        return float(np.arange(len(chance)) @ chance / chance.sum())

    @property
    def longest(self) -> int:
        """The number of followed turns; the tail is longer."""
        return len(self.first) - 1

    @property
    def is_cut(self) -> bool:
        """Whether the tail is more than a trace."""
        return self.tail > FEW

    def quantile(self, share: float) -> int | None:
        """The least number of turns within which this share of games is over.

        None for more turns than were followed.
        """
        return quantile_of(self.chance, share)

    def quantile_text(self, share: float) -> str:
        """The quantile in words: ``more than 5,000`` beyond the followed turns."""
        return turns_text(self.quantile(share), self.longest)


def quantile_of(chance: Floats, share: float) -> int | None:
    """The first number with a cumulative probability of at least `share`; None if there is none."""
    index = int(np.searchsorted(np.cumsum(chance), share))
    return None if index == len(chance) else index


def turns_text(turns: int | None, followed: int) -> str:
    """A number of turns, or "more than" the followed turns."""
    return f"more than {followed:,}" if turns is None else f"{turns}"


def lengths(
    graph: StateGraph,
    policy: Policy,
    *,
    most: int | None = None,
    begin: Floats | None = None,
    watch: Floats | None = None,
) -> Lengths:
    """The lengths of games from the start, with one policy in all seats.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    most : int, optional
        Number of turns before the tail; by default limited by time.
    begin : (n_states,) float64, optional
        Number of games begun in each state; by default one game from the start.
    watch : (n_states,) float64, optional
        Amount added to the turn's `watched` total by each visit of a state.

    Returns
    -------
    Lengths
        Floating point, not certified: the roundings of a sum of positive numbers.
    """
    if most is None:
        most = min(max(LEAST_TURNS, WORK // graph.n_outcomes), MOST_TURNS)
    alone = graph.players == 1
    if alone:
        counted = (np.diff(graph.outcome_indptr) > 1)[outcome_action(graph)]
    else:
        counted = (graph.outcome_passes != 0) | (graph.outcome_state < 0)
    # from some states the policy never ends the play: they are the tail, and each move there counts
    ends_never = ways_out(graph, policy.probability > 0) < 0
    counted |= np.append(ends_never, np.zeros(graph.n_border + 1, np.bool_))[graph.outcome_state]
    order = np.ascontiguousarray(graph.components.order[::-1])
    now = np.zeros(graph.n_states)
    now[0] = 1.0
    if begin is not None:
        now[:] = begin
    visits = np.zeros(graph.n_states)
    ends, seen = [np.zeros(3)], [0.0]
    while now[~ends_never].sum() > TAIL and len(ends) <= most:
        ends.append(np.zeros(3))
        later = np.zeros(graph.n_states)
        play_turn(
            order,
            graph.action_indptr,
            graph.outcome_indptr,
            graph.outcome_state,
            graph.outcome_weight,
            graph.outcome_payoff,
            counted,
            policy.probability,
            FORGOTTEN,
            now,
            later,
            visits,
            ends[-2],
            ends[-1],
        )
        now = later
        seen.append(0.0 if watch is None else float(watch @ visits))
    table = np.array(ends)
    if not alone:  # wins and losses are the mover's: the second player moves in even turns
        table[::2] = table[::2][:, [1, 0, 2]]
    tail = max(0.0, float(now.sum()))
    first, second, other = (np.ascontiguousarray(column) for column in table.T)
    watched = np.diff(seen, prepend=0.0)
    return Lengths("rolls" if alone else "turns", first, second, other, tail, visits, watched)
