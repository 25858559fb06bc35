"""Chances of an action that don't add up to 1, as rules write them.

Weights with a fraction, none above 1, are meant as chances, be they floats or fractions. A graph
has whole numbers in the place of fractions, and weights times a discount. Rules that give fractions
or have a discount are therefore asked again.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.expand import without_fractions
from rollwise.builders.rules import Rules
from rollwise.game import Game
from rollwise.graph import KEEP, THROW, StateGraph
from rollwise.graph.lotteries import pointers
from rollwise.graph.naming import acting

OFF = 1e-9  # far above the roundings of a sum of chances
SAMPLE = 100  # lotteries by which rules with fractions are known
MOST_ASKED = 200_000  # lotteries of such rules
MOST_STATES = 200  # positions by layers


def chances_off(graph: StateGraph, game: Game | None = None, rules: Rules | None = None) -> str:
    """The first chances of an action that don't add up to 1; empty if all do.

    Parameters
    ----------
    game : Game, optional
        Its rules are asked for fractions, and for chances without the discount.
    rules : Rules, optional
        Those of the game, if they are at hand.
    """
    weight, indptr = graph.lotteries.weight, graph.lotteries.indptr
    if game is not None and game.made_from is game and game.derive() is None:
        weight, indptr = _as_written(graph, rules or Rules(game, any_players=True))
    off = lotteries_off(weight, indptr)
    action = np.flatnonzero(off[graph.action_lottery])
    if not len(action):
        return ""
    a = int(action[0])
    s, k = int(graph.action_state[a]), int(graph.action_lottery[a])
    total = float(weight[indptr[k] : indptr[k + 1]].sum())
    return off_text(graph.state_text(s), acting(graph.view.action(a).name), total)


def lotteries_off(weight: NDArray[Any], indptr: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the weights of each lottery are meant as chances, but don't add up to 1.

    Parameters
    ----------
    weight, indptr
        The weights of all lotteries, and their row pointers.
    """
    starts = indptr[:-1]
    if not np.issubdtype(weight.dtype, np.floating) or not len(weight):
        return np.zeros(len(starts), bool)
    total = np.add.reduceat(weight, starts)
    are_chances = np.maximum.reduceat(weight, starts) <= 1
    are_chances &= np.logical_or.reduceat(weight != np.rint(weight), starts)
    return np.asarray(are_chances & (np.abs(total - 1) > OFF))


def off_text(state: str, action: str, total: float) -> str:
    """The finding about chances of an action in a state, which add up to `total`."""
    return (
        f"the chances in the state {state} with {action} add up to {total:.6g}, not to 1; rollwise "
        "divides them by their sum"
    )


def chances_off_in(states: NDArray[np.int32], game: Game) -> str:
    """As `chances_off`, of positions spread over those of a game by layers.

    Parameters
    ----------
    states : (n, n_fields) int32
    """
    from rollwise.builders.some_states import some_states

    chosen = np.unique(np.linspace(0, len(states) - 1, MOST_STATES).astype(np.int64))
    graph, _ = some_states(Rules(game), states[chosen])
    return chances_off(graph, game)


def _as_written(graph: StateGraph, rules: Rules) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The weights of each lottery as the rules write them, and their row pointers.

    An action of each lottery tells them. Without a discount, rules that give no fraction in the
    first lotteries have written the weights of the graph.
    """
    game, weight, indptr = rules.game, graph.lotteries.weight, graph.lotteries.indptr
    label, found = graph.action_label, dict[int, NDArray[Any]]()
    first = np.full(len(indptr) - 1, -1)
    first[graph.action_lottery[::-1]] = np.arange(graph.n_actions)[::-1]
    is_own = (label != THROW) & ~(graph.has_pool & (label >= KEEP))
    has_fractions = game.applied_discount != 1
    lotteries = np.flatnonzero((first >= 0) & is_own[first])[:MOST_ASKED].tolist()
    for number, k in enumerate(lotteries):
        if number == SAMPLE and not has_fractions:
            break
        a = int(first[k])
        at = rules.situation(graph.row(int(graph.action_state[a])))
        written = [weight for weight, *_ in game.outcomes(at.state, *at.throw, int(label[a]))]
        has_fractions |= any(isinstance(weight, Fraction) for weight in written)
        found[k] = as_doubles(written)
    if not has_fractions:
        return weight, indptr
    each = [found.get(k, one) for k, one in enumerate(np.split(weight, indptr[1:-1]))]
    return np.concatenate(each), pointers([len(weights) for weights in each])


def as_doubles(written: Iterable[Any]) -> NDArray[Any]:
    """Weights as an array; fractions as whole numbers if their sum is one, else as doubles.

    Fractions that add up to a whole number are divided by it on purpose.
    """
    weights = [weight for weight in written if weight]
    fractions = any(isinstance(weight, Fraction) for weight in weights)
    total = sum(weights)
    if fractions and not (isinstance(total, Fraction) and total.denominator == 1):
        return np.array(list(map(float, weights)))
    return np.array(without_fractions(weights))
