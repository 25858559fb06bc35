"""The view of a graph, and choices of all states at once, held against plain loops."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import naive
import numpy as np
import pytest
from graphs import assemble, ending_graphs
from hypothesis import given
from hypothesis import strategies as st
from little_games import ALL

from rollwise import build, solve
from rollwise.errors import UnknownState, UsageError
from rollwise.game import Game
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph.choices import (
    Ahead,
    actions_of,
    are_best,
    chances,
    costs,
    first_actions,
    first_best,
    first_of_each_state,
    fold_actions,
    fold_outcomes,
    has_choice,
    in_order,
    outcome_action,
    outcomes_of,
)
from rollwise.graph.layout import StateLayout
from rollwise.then import AGAIN, DRAW, LOSE, PASS, WIN

pytestmark = pytest.mark.kernels

GAMES = [*ALL[:6], Pig(9), SuperSix(6), Threes(3)]
ENDINGS = {WIN: "win", LOSE: "lose", DRAW: "draw"}


def told_by_rules(game: Game, state, label: int) -> Counter:
    """What can come of an action by the rules, and how likely: ending, pass, next state."""
    found: Counter = Counter()
    ways = naive.expand_action(game, state, label)
    total = sum(weight for weight, _, _ in ways)
    for weight, then, after in ways:
        if then in (AGAIN, PASS):
            found[None, then == PASS, after] += weight / total
        else:
            found[ENDINGS.get(then, "end"), False, None] += weight / total
    return found


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_view_says_what_the_rules_say(game):
    view, layout = build(game).view, StateLayout.of(game)
    told = naive.explore(game)
    assert {layout.state(state.fields) for state in view} == set(told)
    for state in view:
        here = layout.state(state.fields)
        assert state.labels == list(told[here])
        for action in state.actions:
            assert action.reward == game.reward(here, action.label)
            found: Counter = Counter()
            for outcome in action.outcomes:
                after = outcome.next_state
                what = (outcome.ending, outcome.passes, after and layout.state(after.fields))
                found[what] += outcome.exact_chance
            assert found == told_by_rules(game, here, action.label)
            assert sum(action.exact_chances) == 1


@given(ending_graphs(n_border=2, weights=st.one_of(st.integers(1, 9), st.floats(0.1, 9))))
def test_elements_stand_for_their_numbers(graph):
    actions = outcomes = 0
    for s, state in enumerate(graph.view):
        assert state.index == s
        assert graph.states[state].tolist() == list(state.fields)
        assert state.is_choice == (len(state.actions) > 1) == has_choice(graph)[s]
        for action in state.actions:
            assert action.index == actions
            assert action.state == state
            assert action == graph.view.action(actions)
            assert action.distinct_name == state.action_names[action.index - state.actions[0].index]
            assert graph.action_reward[action] == action.reward
            weights = []
            for number, outcome in enumerate(action.outcomes):
                assert (outcome.index, outcome.number) == (outcomes, number)
                assert outcome.action is action
                assert outcome == action.outcome(number)
                assert graph.outcome_weight[outcome] == outcome.weight
                assert graph.outcome_passes[outcome] == outcome.passes
                assert graph.outcome_payoff[outcome] == outcome.payoff
                assert graph.outcome_state[outcome] == outcome.target
                assert outcome.is_over == (outcome.ending is not None) == (outcome.target < 0)
                inside = 0 <= outcome.target < graph.n_states
                assert (outcome.next_state is not None) == inside
                weights.append(outcome.weight)
                outcomes += 1
            assert action.weights == weights
            total = sum(Fraction(weight) for weight in weights)
            assert action.exact_chances == [Fraction(weight) / total for weight in weights]
            assert action.chances == pytest.approx([float(c) for c in action.exact_chances])
            assert [o.chance for o in action.outcomes] == action.chances
            assert [o.exact_chance for o in action.outcomes] == action.exact_chances
            actions += 1
    assert (actions, outcomes) == (graph.n_actions, graph.n_outcomes)


@given(ending_graphs(n_border=2))
def test_all_states_at_once(graph):
    """What is found for a whole graph is what loops over the view find."""
    view = graph.view
    actions = [action for state in view for action in state.actions]
    outcomes = [outcome for action in actions for outcome in action.outcomes]
    assert outcome_action(graph).tolist() == [outcome.action.index for outcome in outcomes]
    assert chances(graph).tolist() == pytest.approx([outcome.chance for outcome in outcomes])
    numbers = np.arange(graph.n_actions)
    assert fold_actions(graph, np.maximum, numbers).tolist() == [s.action_range[-1] for s in view]
    weights = fold_outcomes(graph, np.add, graph.outcome_weight)
    assert weights.tolist() == [action.total for action in actions]
    some = np.arange(graph.n_states)[::-2]
    found, counts = actions_of(graph, some)
    assert found.tolist() == [a for s in some for a in view[s].action_range]
    assert counts.tolist() == [len(view[s].action_range) for s in some]
    after, counts = outcomes_of(graph, found)
    assert after.tolist() == [k for a in found for k in view.action(a).outcome_range]
    assert counts.tolist() == [len(view.action(a).outcome_range) for a in found]


@given(ending_graphs(), st.data())
def test_costs_and_the_first_best(graph, data):
    """Values are whole numbers and halves, so that many actions tie."""
    worth = st.integers(-4, 4).map(lambda x: x / 2)
    values = np.array([data.draw(worth) for _ in range(graph.n_actions)])
    off = np.array([data.draw(st.sampled_from([0.0, 0.25, 1.0])) for _ in range(graph.n_actions)])
    nothing = np.zeros(graph.n_actions), np.zeros(graph.n_states), np.ones(graph.n_states)
    cost = costs(graph, values)
    best = are_best(graph, Ahead(values, off, *nothing))
    first = first_of_each_state(graph, best)
    taken = first_best(graph, best)
    larger = graph.objective != "minimize"
    for state in graph.view:
        known = {action: values[action] for action in state.actions}
        top = (max if larger else min)(known.values())
        assert [cost[a] for a in known] == [abs(top - value) for value in known.values()]
        if larger:
            least = max(value - off[a] for a, value in known.items())
            near = [a for a, value in known.items() if value + off[a] >= least]
        else:
            most = min(value + off[a] for a, value in known.items())
            near = [a for a, value in known.items() if value - off[a] <= most]
        assert [a for a in known if best[a]] == near
        assert first[state] == near[0].index
        assert best[taken[state]]


def test_of_equal_actions_the_one_that_ends_play_is_taken():
    """To stay is as good as to act, but not for ever."""
    stay, end = (0.0, [(1, AGAIN, 0)]), (0.0, [(1, DRAW, None)])
    graph = assemble([[stay, end]], endless="draw")
    assert first_best(graph, np.ones(2, np.bool_)).tolist() == [1]
    assert first_best(graph, np.array([True, False])).tolist() == [0]


def test_a_way_out_of_waiting_leads_to_the_end():
    """It may lead to states whose first good action comes back."""
    stay, on = (0.0, [(1, AGAIN, 0)]), (0.0, [(1, AGAIN, 1)])
    back, end = (0.0, [(1, AGAIN, 0)]), (0.0, [(1, DRAW, None)])
    graph = assemble([[stay, on], [back, end]], endless="lose")
    good, best = np.array([True, False, True, True]), np.ones(4, np.bool_)
    assert first_best(graph, good, best).tolist() == [1, 3]
    # both states have no good way out
    good = np.array([True, False, True, False])
    assert first_best(graph, good, best).tolist() == [1, 3]
    # there is none at all
    assert first_best(graph, good, np.array([True, True, True, False])).tolist() == [0, 2]


AHEAD = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), min_size=5, max_size=5)


@given(AHEAD, st.data())
def test_play_goes_on_for_ever_only_where_no_best_action_can_end_it(ahead, data):
    """Each action leads to one of five states, or is the end."""
    ways = [
        (1, AGAIN, 0),
        (1, PASS, 1),
        (1, AGAIN, 2),
        (1, PASS, 3),
        (1, AGAIN, 4),
        (1, DRAW, None),
    ]
    graph = assemble([[(0.0, [ways[to]]) for to in targets] for targets in ahead], endless="lose")
    n = graph.n_actions
    best = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    best[first_actions(graph)] = True
    good = best & np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    good |= best & ~fold_actions(graph, np.logical_or, good)[graph.action_state]
    taken = first_best(graph, good, best)
    assert best[taken].all()
    policy = np.isin(np.arange(n), taken)

    def can_end(state, allowed):
        """Whether play from a state may end; and the states that it may come to."""
        met, ends = [state], False
        for s in met:
            for action in graph.view[s].actions:
                for outcome in action.outcomes if allowed[action] else ():
                    ends |= outcome.is_over
                    if not outcome.is_over and outcome.target not in met:
                        met.append(outcome.target)
        return ends, met

    for s in range(graph.n_states):
        ends, met = can_end(s, policy)
        assert ends or not all(can_end(t, best)[0] for t in met)


def test_finding_states_and_actions():
    view = build(Pig(9)).view
    state = view.find({"banked": 3, "rival": 0, "turn": 2})
    assert state == view.find((3, 0, 2)) == view[state.index]
    assert state.named == {"banked": 3, "rival": 0, "turn": 2}
    assert str(state) == "banked=3, rival=0, turn=2"
    assert state.action_names == ["roll", "hold"]
    assert state.labels == [0, 1]
    assert state.find_action("hold") == state.find_action(1) == state.actions[1]
    assert str(state.actions[1]) == "hold"
    assert "Action" in repr(state.actions[1])
    assert len({*view, *view}) == len(view)
    assert state != state.actions[0]
    with pytest.raises(UnknownState):
        view.find((30, 0, 2))
    with pytest.raises(UsageError, match="roll, hold"):
        state.find_action("jump")
    with pytest.raises(IndexError, match="no state"):
        view[len(view)]


@pytest.mark.parametrize("most", [3, 9, 40, 2**20, 2**40])
def test_states_stand_in_the_order_of_their_fields(most):
    draw = np.random.default_rng(most)
    for rows in (draw.integers(-most, most, (200, 3)), np.array(list(np.ndindex(4, 3, 2)))[::-1]):
        order = in_order(rows)
        assert sorted(order.tolist()) == list(range(len(rows)))
        assert rows[order].tolist() == sorted(rows.tolist())


def test_conditions_calculate_beyond_32_bits():
    """Fields have 32 bits; a product of some may have more."""
    table = solve(Pig(target=12)).table("banked * 1000000000 * 4 > rival * 1000000000")
    rows = solve(Pig(target=12)).table()
    expected = rows.filter(4 * rows["banked"].cast(int) > rows["rival"])
    assert table.equals(expected)
