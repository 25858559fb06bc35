"""Games for stakes: any payoff at the end, and points that the mover gains from the other."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from stakes import Alone, Collect, Counted, Ends, Gammons, Pays

import rollwise
from rollwise import DRAW, LOSE, PASS, WIN, payoff
from rollwise.errors import RulesError
from rollwise.game import is_over, is_payoff, payoff_of, then_text
from rollwise.machine.switches import jit_disabled

MODES = ["interpreted"] if jit_disabled() else ["interpreted", "compiled"]
GAMES = [Gammons(), Gammons(length=7, gammon=0.25), Collect(), Collect(chips=5, bust=100)]


def test_codes_of_payoffs():
    assert (payoff(1), payoff(-1), payoff(0), payoff(-0.0)) == (WIN, LOSE, DRAW, DRAW)
    for points in (2, -2, 0.5, 100, -1e300, 1e-300, np.int64(3), True + 1):
        code = payoff(points)
        assert type(code) is int
        assert struct.pack("<q", code) == struct.pack("<d", points)
        assert payoff_of(code) == points
        assert is_payoff(code)
        assert is_over(code)
    assert then_text(payoff(2)) == "payoff(2)"
    assert then_text(payoff(-0.5)) == "payoff(-0.5)"
    assert then_text(WIN) == "WIN"
    assert not any(is_payoff(code) for code in range(-9, 9))
    assert [is_over(code) for code in range(6)] == [False, False, True, True, True, True]


@pytest.mark.parametrize("points", [float("nan"), float("inf"), -1e301, 1e-301, "2", None, 10**400])
def test_what_is_no_payoff(points):
    with pytest.raises(ValueError, match="a payoff is a finite number, such as payoff\\(2\\)"):
        payoff(points)


@pytest.mark.parametrize("points", [float("nan"), float("inf"), 1e-310])
@pytest.mark.parametrize("mode", MODES)
def test_rules_with_no_payoff(points, mode):
    with pytest.raises(RulesError) as caught:
        rollwise.build(Pays(points), mode=mode)
    message = str(caught.value)
    assert "pays: outcomes() fails in the state steps=0 with the action 0" in message
    assert f"payoff({points}) is none; a payoff is a finite number" in message
    assert "\n" not in message


def test_a_text_is_no_payoff():
    with pytest.raises(RulesError, match="payoff\\('two'\\) is none"):
        rollwise.build(Pays("two"))


@pytest.mark.parametrize("mode", MODES)
def test_where_payoffs_and_rewards_are_refused(mode):
    def message(game):
        with pytest.raises(RulesError) as caught:
            rollwise.build(game, mode=mode)
        return str(caught.value)

    told = message(Counted(payoff(2)))
    assert "payoff(2) in a solitaire game with the objective 'maximize'" in told
    assert "reward(s, action) gives points" in told
    assert "the objective is 'win'" in message(Alone(points=2.0))
    assert "unknown `then` -1" in message(Ends(-1))
    assert "unknown `then` 6" in message(Ends(6))
    assert rollwise.build(Alone(payoff(2)), mode=mode).outcome_payoff.tolist() == [2]


@pytest.mark.skipif(jit_disabled(), reason="compiles")
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_compiled_as_interpreted(game):
    plain, compiled = (rollwise.build(game, mode=mode) for mode in MODES)
    assert plain.content_hash == compiled.content_hash


def test_payoffs_in_the_graph():
    graph = rollwise.build(Gammons())
    over = graph.outcome_state < 0
    assert set(graph.outcome_payoff[over]) == {3, 1, -0.5}
    assert set(graph.outcome_payoff[~over]) == {0}
    assert rollwise.build(Collect()).action_reward.max() == 9


def naive_values(game, sweeps=60):
    """Values by sweeps in fractions, from the rules alone: close to the true ones, and simple."""
    states, todo = {}, [game.start()]
    while todo:
        s = todo.pop()
        if s in states:
            continue
        states[s] = []
        for a in game.actions(s):
            ways = list(game.outcomes(s, a))
            states[s].append((Fraction(game.reward(s, a)), ways))
            todo += [t for _, then, t in ways if not is_over(then)]
    values = dict.fromkeys(states, Fraction(0))
    plain = {WIN: 1, LOSE: -1, DRAW: 0}

    def worth(then, t):
        if is_over(then):
            return Fraction(plain.get(then) if then in plain else payoff_of(then))
        return -values[t] if then == PASS else values[t]

    for _ in range(sweeps):
        before = dict(values)
        for s, actions in states.items():
            values[s] = max(
                reward + sum(w * worth(then, t) for w, then, t in ways) / sum(w for w, _, _ in ways)
                for reward, ways in actions
            )
        if before == values:
            return values
    raise AssertionError("these games end within a few moves")


METHODS = {
    "strategy-iteration": {},
    "policy-iteration": {},
    "modified-policy-iteration": {"epsilon": 0.0},
    "value-iteration": {"epsilon": 0.0},
    "interval": {"method": "value-iteration", "sound": True},
    "linear-programming": {"whole": False},
    "mixed-integer": {},
    "exact": {},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_every_method_against_the_naive_twin(game, method):
    options = dict(METHODS[method])
    name = options.pop("method", method)
    extra = {"linear-programming": "highspy", "mixed-integer": "pyscipopt", "exact": "flint"}
    if name in extra:
        pytest.importorskip(extra[name])
    truth = naive_values(game)
    found = rollwise.solve(game, method=name, options=options)
    assert found.is_score
    assert found.win_probability is None
    assert found.status == "certified"
    values = np.array([float(truth[type(game.start())(*s)]) for s in found.graph.states.tolist()])
    near = 1e-6 if name in ("linear-programming", "mixed-integer") else 1e-10
    scale = float(np.max(np.abs(values)))
    assert np.max(np.abs(found.values - values)) <= near * scale
    assert np.all(np.abs(found.values - values) <= found.error_bounds + 2.0**-52 * scale)
    lower, upper = found.bounds
    assert np.all(lower - 2.0**-50 * scale <= values)
    assert np.all(values <= upper + 2.0**-50 * scale)
    if name == "exact":
        assert found.run.fractions[0] == truth[game.start()]
