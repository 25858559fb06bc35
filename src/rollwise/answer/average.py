"""The best average of a game without an end, and its proof.

Let f(rate) be the best expected reward of a cycle minus the cost of its duration. f falls and is
convex, and the best average is its zero. As every cycle has an expected duration of at least D, an
average differs from the rate by at most |f(rate)| / D.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.derive.average import Average
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, RulesError
from rollwise.game import Game
from rollwise.graph.choices import outcome_action
from rollwise.graph.policies import Policy

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution

MOST_RATES = 200
AS_GOOD = 1e-9  # the largest loss of a cycle, a unit of duration, that counts as none
HOME = (
    "give another one (as=average home=N), or let start() give a position to which every play "
    "returns"
)
UNIT = 2.0**-53


class Cycle(NamedTuple):
    """The best cycle at a rate: its value, infinite if it never ends, with an error bound."""

    rate: float
    value: float
    bound: float


def with_best_rate(rules: Game) -> Average:
    """The game at its best average, or within the error bounds of it.

    Parameters
    ----------
    rules : Game
        A game with ``objective = "average"``, or its form without a rate.

    Raises
    ------
    RulesError
        Play can go on without a duration, or best play doesn't return to its home.
    """
    game = rules if isinstance(rules, Average) else Average(rules)
    game, name = game.with_likely_home(), game.inner.name
    least = least_duration(game)
    reward = np.abs(game.inner_graph.action_reward).max()
    step = 1.0 + float(reward) / least
    high = [_cycle(game, step)]
    # the value of a cycle falls with the rate: wider steps bracket its zero
    while high[-1].value > 0:
        step *= 2
        if step > 1e15:
            raise RulesError(f"{name}: no average is an upper limit; are durations too small?")
        high = [_cycle(game, step)]
    low = [_cycle(game, -step)]
    while low[-1].value < 0:
        step *= 2
        low = [_cycle(game, -step)]
    # the value is at least 0 at the last low rate, and at most 0 at the last high one
    for _ in range(MOST_RATES):
        if abs(high[-1].value) <= high[-1].bound:
            return replace(game, rate=high[-1].rate)
        if low[-1].value <= low[-1].bound:
            return replace(game, rate=low[-1].rate)
        rate = _next_rate(low, high)
        if not low[-1].rate < rate < high[-1].rate:
            break
        cycle = _cycle(game, rate)
        if cycle.value > 0:
            # an infinite value has no line, and the two last rates of a side define its line
            low = [*low[-1:], cycle] if np.isfinite(low[-1].value) else [cycle]
        else:
            high = [*high[-1:], cycle]
    best = min(high[-1], low[-1], key=lambda cycle: abs(cycle.value))
    # Below the best average, play may go round for ever without the home. This is no fault where
    # the best cycle brings as much.
    if np.isinf(low[-1].value) and abs(best.value) > least * AS_GOOD * (1 + abs(best.rate)):
        raise RulesError(
            f"{name}: best play doesn't return to {_home(game)} again and again; {HOME}"
        )
    return replace(game, rate=best.rate)


def without_bound(game: Game | None) -> str:
    """Why the answer to a cycle has no error bound, and the remedy; empty for other games."""
    if not isinstance(game, Average):
        return ""
    return f"; best play may stay away from {_home(game)}: {HOME}"


def _home(game: Average) -> str:
    """The home in words, as in "position 2 (n=2)"."""
    graph = game.inner_graph
    return f"position {game.home} ({graph.state_text(game.home)})"


def _next_rate(low: list[Cycle], high: list[Cycle]) -> float:
    """A rate between the last low and the last high one.

    The value of a cycle is a convex function of the rate, and falls. The line through two low
    rates, or through two high ones, reaches 0 at the average or below. The line through a low rate
    and a high one reaches 0 at the average or above.
    """
    first, last = low[-1], high[-1]
    nearest = max((_zero(*pair) for pair in (low, high) if len(pair) == 2), default=-np.inf)
    if first.rate < nearest < last.rate:
        return nearest
    if not np.isfinite(first.value):
        return (first.rate + last.rate) / 2
    return _zero(first, last)


def _zero(one: Cycle, other: Cycle) -> float:
    """The rate at which the line through the values of two rates is 0; -inf if it never is."""
    slope = (other.value - one.value) / (other.rate - one.rate)
    return other.rate - other.value / slope if slope < 0 else -np.inf


def _cycle(game: Average, rate: float) -> Cycle:
    try:
        run = solve_and_certify(replace(game, rate=rate).derive())
    except EndlessPlay:
        return Cycle(rate, np.inf, 0.0)
    home = game.home
    return Cycle(rate, float(run.found.values[home]), float(run.certificate.bounds[home]))


def least_duration(game: Average) -> float:
    """A proved lower bound on the expected duration of a cycle.

    Raises
    ------
    RulesError
        It isn't positive, or play can't return.
    """
    found = _least(game, game.durations)
    if found > 0:
        return found
    name = game.inner.name
    if _least(game, np.ones(len(game.durations))) > 0:
        raise RulesError(
            f"{name}: a cycle of play may take no time; duration() is positive somewhere in every "
            "cycle"
        )
    raise RulesError(
        f"{name}: no play from the start is sure to come to {_home(game)}, and to it again and "
        f"again; {HOME}. If play comes by chance to one of several parts that it never leaves, "
        "there is no answer"
    )


def _least(game: Average, durations: NDArray[np.float64]) -> float:
    """A lower bound on the expected duration of a cycle; 0 if play may not come home."""
    try:
        run = solve_and_certify(game.cycle(durations, "minimize"))
    except EndlessPlay:
        return 0.0
    at_home = run.found.values[game.home] - run.certificate.bounds[game.home]
    return float(at_home) if np.isfinite([at_home, run.found.values[0]]).all() else 0.0


def average_of(solution: Solution) -> tuple[float, float]:
    """The best average and its error bound, by the value at home.

    The rewards of the graph are rounded. An error e of an action with the duration d changes an
    average by at most e / d.
    """
    game = solution.game
    assert isinstance(game, Average)
    at_home = float(solution.values[game.home])
    error = (abs(at_home) + float(solution.error_bounds[game.home])) / least_duration(game)
    return game.rate or 0.0, (error + _blur(game)) * (1 + 1e-12)


def _blur(game: Average) -> float:
    """The largest effect of the rounding of a reward on an average."""
    # an action without a duration has its reward at every rate, unrounded
    timed = game.durations > 0
    reward, duration = game.inner_graph.action_reward[timed], game.durations[timed]
    return float(np.max(4 * UNIT * (abs(game.rate or 0.0) + np.abs(reward) / duration)))


def with_home_of(game: Average, policy: Policy) -> Average:
    """The game with a home to which a policy returns from the start.

    The same game if the policy returns to its home, or if it comes to parts of the game that it
    never leaves, to different ones by chance.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    graph = game.inner_graph
    taken = (policy.probability > 0)[outcome_action(graph)] & (graph.outcome_weight > 0)
    source = graph.action_state[outcome_action(graph)][taken]
    target = graph.outcome_state[taken]
    edges = coo_array((np.ones(len(source)), (source, target)), [graph.n_states] * 2)
    reached = breadth_first_order(edges.tocsr(), 0, return_predecessors=False)
    part = connected_components(edges, connection="strong")[1]
    left = np.unique(part[source[part[source] != part[target]]])
    last = reached[~np.isin(part[reached], left)]
    last = last[last < graph.n_positions]
    if len(np.unique(part[last])) != 1 or game.home in last:
        return game
    return replace(game, home=int(last.min()))


def average_of_policy(game: Average, policy: Policy) -> tuple[float, float]:
    """The average of a policy and its error bound.

    A cycle brings the value at home, at the rate of the game, in its expected duration. The average
    is the rate and the ratio of both.
    """
    game = with_home_of(game, policy)
    home, graphs = game.home, (game.derive(), game.cycle(game.durations))
    runs = [solve_and_certify(take_seats(graph, [policy], [home]).graph) for graph in graphs]
    (value, bound), (time, off) = (
        (float(run.found.values[0]), float(run.certificate.bounds[0])) for run in runs
    )
    gain = value / time
    error = (bound + abs(gain) * off) / (time - off) if off < time else np.inf
    return (game.rate or 0.0) + gain, (error + _blur(game) + 4 * UNIT * abs(gain)) * (1 + 1e-12)
