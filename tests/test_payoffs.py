"""Games for stakes: any payoff at the end, and points that the mover gains from the other."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from stakes import Alone, Collect, Counted, Ends, Gammons, Pays

import rollwise
from rollwise import DRAW, LOSE, WIN, payoff
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
