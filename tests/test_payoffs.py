"""Games for stakes: any payoff at the end, and points that the mover gains from the other."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from little_games import Fortune
from stakes import Alone, Collect, Counted, Ends, Gammons, Pays, Thrown

import rollwise
import rollwise.simulate
from rollwise import PASS, payoff
from rollwise.errors import EndlessPlay, RulesError
from rollwise.machine.switches import jit_disabled

MODES = ["interpreted"] if jit_disabled() else ["interpreted", "compiled"]
GAMES = [Gammons(), Gammons(length=7, gammon=0.25), Collect(), Collect(chips=5, bust=100), Thrown()]


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
    truth = naive.exact_values(naive.moves_of_game(game))
    found = rollwise.solve(game, method=name, options=options)
    assert found.is_score
    assert found.win_probability is None
    assert found.status == "certified"
    graph, kind = found.graph, type(game.start())
    values = np.array([float(truth[kind(*s)]) for s in graph.states.tolist()])
    near = 1e-6 if name in ("linear-programming", "mixed-integer") else 1e-10
    scale = float(np.max(np.abs(values)))
    off = np.abs(found.values[graph.positions] - values)
    assert np.max(off) <= near * scale
    assert np.all(off <= found.error_bounds[graph.positions] + 2.0**-52 * scale)
    lower, upper = (bound[graph.positions] for bound in found.bounds)
    assert np.all(lower - 2.0**-50 * scale <= values)
    assert np.all(values <= upper + 2.0**-50 * scale)
    if name == "exact":
        assert found.run.fractions[0] == truth[game.start()]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_simulated_payoffs_are_the_exact_ones(game):
    match = rollwise.simulate.simulate(game, "random", "optimal", games=20_000, seed=3)
    assert match.win_rate is None
    assert not match.disagreements()
    for side in match.sides:
        assert side.score.exact is not None
        assert abs(side.score.mean - side.score.exact) < 5 * side.score.standard_error
    exact = rollwise.evaluate(game, "random", "optimal", starts=[0])
    both = (float(exact.values[0]) + float(exact.values_second[0])) / 2
    assert match.payoff.exact == pytest.approx(both, abs=1e-12)
    found = rollwise.simulate.tournament(game, ["random", "optimal"])
    assert found.both[0, 1] == pytest.approx(both, abs=1e-12)
    assert found.both[1, 0] == pytest.approx(-both, abs=1e-12)


def test_endless_play_with_rewards_has_a_remedy_that_works():
    """`endless` is for games without rewards, so it isn't advised."""

    class Stalling(Pays):
        def actions(self, s):
            return (0,)

        def reward(self, s, action):
            return 1.0

        def outcomes(self, s, action):
            yield 1, PASS, s

    with pytest.raises(EndlessPlay, match="away there, or count the turns in the state$"):
        rollwise.solve(Stalling())


def test_a_payoff_is_told_in_full():
    graph = rollwise.build(Fortune())
    told = {outcome.ending_text for action in graph.view[0].actions for outcome in action.outcomes}
    assert told == {"win 25000000175", "win 4000000028", "draw"}
