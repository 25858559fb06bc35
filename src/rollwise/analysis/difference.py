"""Effects of a change of rules: on the value, on the strategy, and on players of the old one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.losses import Loss, loss_of
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.derive.derived_game import places_in
from rollwise.errors import UsageError
from rollwise.graph.choices import first_of_each_state, fold_actions, has_choice
from rollwise.graph.policies import Policy, Ties, reached_by, ties_in_play

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Difference:
    """Answers of two games with the same fields, side by side.

    Attributes
    ----------
    old, new : Solution
    in_both : int
        States in both games, with a choice in the new one.
    changed : (n,) int64
        States of the new game where no best action of the old game is best: first the states
        reached by the old strategy in self-play, the costliest first.
    in_play : int
        Number of reached states among these.
    before, after : (n,) int64
        The best action of each in the old game and in the new one: actions of the new graph.
    costs : (n,) float64
        The loss of the old strategy in each: win probability, or points.
    carried : Policy
        The old strategy in the new game. In states without such a state or action in the old
        game it plays the new optimum.
    loss : Loss
        The loss of the old strategy in the new game.
    ties : Ties or None
        The effect of the choice among the equally good actions of the old game.
    """

    old: Solution
    new: Solution
    in_both: int
    changed: Ints = field(repr=False)
    in_play: int
    before: Ints = field(repr=False)
    after: Ints = field(repr=False)
    costs: NDArray[np.float64] = field(repr=False)
    carried: Policy = field(repr=False)
    loss: Loss
    ties: Ties | None


def difference(old: Solution, new: Solution) -> Difference:
    """Compare the answers to two games.

    Raises
    ------
    UsageError
        Their positions have other fields, or one is played for points and the other to win.
    """
    one, two = old.graph, new.graph
    if one.columns != two.columns:
        raise UsageError(
            f"a position of {one.game} is {', '.join(one.columns)}, and one of {two.game} is "
            f"{', '.join(two.columns)}: games can be compared whose positions have the same fields"
        )
    if (one.players, one.objective) != (two.players, two.objective):
        raise UsageError(
            f"{one.title} and {two.title} aren't played for the same: one for "
            f"{one.view.worth_name} by {one.players}, the other for {two.view.worth_name} by "
            f"{two.players}"
        )
    state = places_in(two.rows, one.rows)
    # an action of the new game matches one of the old game by state and label
    partners = places_in(
        np.column_stack([state[two.action_state], two.action_label]),
        np.column_stack([one.action_state, one.action_label]),
    )
    there = partners >= 0
    best_before = np.zeros(two.n_actions, bool)
    best_before[there] = old.is_best[partners[there]]
    both = (state >= 0) & has_choice(two)
    kept = fold_actions(two, np.logical_or, best_before & new.is_best)
    carried, is_old = _carried(old, new, partners)
    costs = fold_actions(two, np.add, carried.probability * new.regret)
    costs *= 1.0 if two.is_score else 0.5  # from values to chances
    changed = np.flatnonzero(both & ~kept & is_old)
    reached = reached_by(two, carried)[changed]
    changed = changed[np.lexsort((-costs[changed], ~reached))]
    tied = None
    if old.policy.tied is not None:
        tied = is_old & (state >= 0) & old.policy.tied[state]
    old_ones = Policy(carried.name, carried.probability, tied)
    # against an optimal player of the new game, as `loss` has it
    others = [Policy(new.policy.name, new.policy.probability)] * (two.players == 2)
    return Difference(
        old,
        new,
        int(both.sum()),
        changed,
        int(reached.sum()),
        first_of_each_state(two, carried.probability > 0)[changed],
        new.best_actions[changed],
        costs[changed],
        carried,
        loss_of(Policies.of(new), carried),
        ties_in_play(two, old_ones, *others),
    )


def _carried(old: Solution, new: Solution, partners: Ints) -> tuple[Policy, NDArray[np.bool_]]:
    """The old strategy in the new game, and the states covered by it."""
    graph = new.graph
    there = partners >= 0
    probability = np.zeros(graph.n_actions)
    probability[there] = old.policy.probability[partners[there]]
    total = fold_actions(graph, np.add, probability)
    whole = np.abs(total - 1) < 1e-12
    probability = np.where(whole[graph.action_state], probability, new.policy.probability)
    return Policy(f"the best of {old.graph.title}", probability), whole
