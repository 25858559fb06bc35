"""What each action is good for: where it is the best, and which other one makes it needless."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.graph.choices import has_choice
from rollwise.graph.naming import KEEP

MOST_LISTED = 12


class Option(NamedTuple):
    """An action, by its number, in the positions where there is a choice.

    Attributes
    ----------
    number : int
    name : str
    offered : int
        In how many of these positions it may be taken.
    best, only_best : int
        In how many it is one of the best, and better than every other.
    in_a_game : float
        How often it is taken in a game in which all play best; followed in floating point.
    dominated_by : str or None
        Another action that may be taken wherever this one may, is never worse, and somewhere
        better.
    """

    number: int
    name: str
    offered: int
    best: int
    only_best: int
    in_a_game: float
    dominated_by: str | None


def options_of(solution: Solution, visits: NDArray[np.float64]) -> tuple[Option, ...]:
    """Every action of a game, in the order of their numbers.

    Parameters
    ----------
    visits : (n_states,) float64
        How often a game comes to each state, see `rollwise.analysis.lengths`.
    """
    graph, policy = solution.graph, solution.policy
    looked = has_choice(graph)[graph.action_state]
    if graph.has_pool:
        looked = looked & (graph.action_label < KEEP)  # what is kept isn't the rules' affair
    place = np.flatnonzero(looked)
    labels, which = np.unique(graph.action_label[place], return_inverse=True)
    state, best = graph.action_state[place].astype(np.int64), solution.is_best[place]
    rivals = np.bincount(state, weights=best, minlength=graph.n_states)
    taken = visits[state] * policy.probability[place]
    names = [graph.vocabulary.text(int(label)) for label in labels]
    found = []
    for k, name in enumerate(names):
        mine = which == k
        better = _dominating(solution, place, which, k)
        found.append(
            Option(
                int(labels[k]),
                name,
                int(mine.sum()),
                int(best[mine].sum()),
                int((best[mine] & (rivals[state[mine]] == 1)).sum()),
                float(taken[mine].sum()),
                None if better is None else names[better],
            )
        )
    return tuple(found)


def _dominating(
    solution: Solution, place: NDArray[np.int64], which: NDArray[np.int64], k: int
) -> int | None:
    """The action that makes another one needless: of several the one that is better by most."""
    graph = solution.graph
    mine = place[which == k]
    of_state = np.full(graph.n_states, np.nan)
    of_state[graph.action_state[mine]] = solution.regret[mine]
    there = of_state[graph.action_state[place]]
    beside = np.isfinite(there) & (which != k)
    gain = there[beside] - solution.regret[place[beside]]
    slack = 2 * solution.error_bound
    n = int(which.max()) + 1
    as_good = np.bincount(which[beside], weights=gain >= -slack, minlength=n) == len(mine)
    somewhere = np.bincount(which[beside], weights=gain > slack, minlength=n) > 0
    candidates = np.flatnonzero(as_good & somewhere)
    if not len(candidates):
        return None
    in_all = np.bincount(which[beside], weights=gain, minlength=n)
    return int(candidates[np.argmax(in_all[candidates])])


def most_taken(options: tuple[Option, ...]) -> list[Option]:
    """The actions that are listed: those that are taken most often, at most `MOST_LISTED`."""
    return sorted(options, key=lambda option: -option.in_a_game)[:MOST_LISTED]


def never_best(options: tuple[Option, ...]) -> tuple[str, ...]:
    """The actions, by name, that are nowhere one of the best."""
    best = {option.name for option in options if option.best}
    return tuple(sorted({option.name for option in options} - best))
