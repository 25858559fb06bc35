"""Games for stakes: any payoff at the end, and points that the mover gains from the other."""

from __future__ import annotations

import json
import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from check_exactly import check_exactly
from cli_runner import output
from graphs import assemble, ending_graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from stakes import Alone, Collect, Counted, Ends, Gammons, Layered, Pays, Thrown

import rollwise
import rollwise.simulate
from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, payoff
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.references import Policies
from rollwise.errors import RulesError, UsageError
from rollwise.export import export
from rollwise.game import is_over, is_payoff, payoff_of, then_text
from rollwise.learn import learn
from rollwise.machine.switches import jit_disabled
from rollwise.methods import run_method

STAKES = Path(__file__).parent / "stakes.py"

MODES = ["interpreted"] if jit_disabled() else ["interpreted", "compiled"]
GAMES = [
    Gammons(),
    Gammons(length=7, gammon=0.25),
    Collect(),
    Collect(chips=5, bust=100),
    Thrown(),
]


def test_codes_of_payoffs():
    assert (payoff(1), payoff(-1), payoff(0), payoff(-0.0)) == (WIN, LOSE, DRAW, DRAW)
    for points in (2, -2, 0.5, 100, -1e300, 1e-290, np.int64(3), True + 1):
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
        for weight, *thrown in game.throws(s) if isinstance(game, Thrown) else [(1,)]:
            actions = []
            for a in game.actions(s, *thrown):
                ways = list(game.outcomes(s, *thrown, a))
                actions.append((Fraction(game.reward(s, *thrown, a)), ways))
                todo += [t for _, then, t in ways if not is_over(then)]
            states[s].append((weight, actions))
    values = dict.fromkeys(states, Fraction(0))
    plain = {WIN: 1, LOSE: -1, DRAW: 0}

    def worth(then, t):
        if is_over(then):
            return Fraction(plain.get(then) if then in plain else payoff_of(then))
        return -values[t] if then == PASS else values[t]

    def mean(ways):
        return sum(w * worth(then, t) for w, then, t in ways) / sum(w for w, _, _ in ways)

    for _ in range(sweeps):
        before = dict(values)
        for s, throws in states.items():
            best = [w * max(reward + mean(ways) for reward, ways in acts) for w, acts in throws]
            values[s] = sum(best) / sum(w for w, _ in throws)
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


def test_nothing_says_that_somebody_wins_with_a_probability(tmp_path):
    for game, state in ((Gammons(), (3, 5)), (Collect(), (5, 4))):
        solution = rollwise.solve(game)
        assert solution.table()["win_probability"].is_null().all()
        assert "expected payoff" in repr(solution)
        assert "expected payoff" in solution.advise(state)._repr_html_()
        assert all(row.win_probability is None for row in solution.advise(state).actions)
        solution.report(tmp_path / "report.html")
        assert "chance to win" not in (tmp_path / "report.html").read_text().lower()


@pytest.mark.parametrize("name", ["Gammons", "Collect"])
def test_commands_say_expected_payoff(name):
    game = f"{STAKES}:{name}"
    for arguments in (
        ("solve", game, "--no-cache"),
        ("evaluate", game, "--policy", "random"),
        ("respond", game, "--to", "random"),
        ("optimal", game, "--against", "random"),
    ):
        told = output(*arguments)
        assert "expected payoff" in told
        assert "win" not in told.replace("what it wins a game", "")
    told = json.loads(output("evaluate", game, "--policy", "random", "--json"))
    assert not [key for key in told if key.startswith("win_probability")]
    told = json.loads(output("solve", game, "--json"))
    assert told["win_probability"] is None
    assert "payoffs over both seats" in output("tournament", game, "--policies", "optimal,random")


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


@pytest.mark.parametrize("method", ["counts", "q-learning"])
@pytest.mark.parametrize("game", [Gammons(length=4), Collect(chips=3)], ids=str)
def test_learners_learn_payoffs(game, method):
    graph = rollwise.build(game)
    learned = learn(graph, 20_000, seed=1, method=method, explore=1000.0)
    assert learned.is_score
    truth = rollwise.solve(game)
    off = np.abs(learned.values - truth.action_values)
    last = [
        a
        for a in range(graph.n_actions)
        if (graph.outcome_state[slice(*graph.outcome_indptr[a : a + 2])] < 0).all()
    ]
    often = [a for a in last if learned.visits[a] > 300]
    assert often
    assert off[often].max() < 0.25 * np.abs(truth.values).max()


@pytest.mark.parametrize("seat", ["first", "second", "either"])
@pytest.mark.parametrize("game", [Gammons(length=6), Collect(chips=4), Thrown(4)], ids=str)
def test_environments_pay_payoffs(game, seat):
    pytest.importorskip("gymnasium")
    from rollwise.environments.agents import mean_reward
    from rollwise.environments.single import GameEnv
    from rollwise.environments.vector import GameVectorEnv

    graph = rollwise.build(game)
    policies = Policies(graph, game)
    random = policies.find("random")
    env = GameEnv(game, opponent="random", seat=seat)
    exact = mean_reward(env, random)
    generator = np.random.default_rng(5)

    def chosen(mask):
        return int(generator.choice(np.flatnonzero(mask)))

    totals = []
    for number in range(1500):
        _, info = env.reset(seed=number)
        over, total = False, 0.0
        while not over:
            _, reward, over, _, info = env.step(chosen(info["action_mask"]))
            total += reward
        totals.append(total)
    error = np.std(totals) / len(totals) ** 0.5
    assert abs(np.mean(totals) - exact.value) < 5 * error

    many = GameVectorEnv(game, num_envs=500, opponent="random", seat=seat)
    _, infos = many.reset(seed=7)
    sums, games, running = [], 0, np.zeros(500)
    done = np.zeros(500, np.bool_)
    while games < 3000:
        actions = [0 if done[i] else chosen(infos["action_mask"][i]) for i in range(500)]
        _, rewards, done, _, infos = many.step(np.array(actions))
        running += rewards
        sums += running[done].tolist()
        games += int(done.sum())
        running[done] = 0.0
    assert abs(np.mean(sums) - exact.value) < 5 * np.std(sums) / len(sums) ** 0.5


@pytest.mark.parametrize("game", [Gammons(length=6), Collect(chips=4), Thrown(4)], ids=str)
def test_transition_tables_hold_payoffs(game):
    pytest.importorskip("gymnasium")
    from rollwise.environments.agents import mean_reward
    from rollwise.environments.single import GameEnv

    env = GameEnv(game, opponent="random", seat="first")
    table = env.P
    values = np.zeros(len(table))
    for _ in range(60):
        for s in range(len(table)):
            legal = np.flatnonzero(env.arena.masks[s]) if s < env.arena.n_states else [0]
            values[s] = max(
                sum(
                    p * (reward + (0 if over else values[t]))
                    for p, t, reward, over in table[s][int(a)]
                )
                for a in legal
            )
    assert values[0] == pytest.approx(mean_reward(env).value, abs=1e-9)


def test_an_agent_for_each_player_gets_payoffs():
    pytest.importorskip("pettingzoo")
    from rollwise.environments.aec import GameAECEnv

    for game in (Gammons(length=6), Collect(chips=4), Thrown(4)):
        env = GameAECEnv(game)
        generator = np.random.default_rng(2)
        totals = []
        for number in range(50):
            env.reset(seed=number)
            totals.append(dict.fromkeys(env.possible_agents, 0.0))
            for agent in env.agent_iter():
                observation, reward, over, _, _ = env.last()
                totals[-1][agent] += reward
                legal = np.flatnonzero(observation["action_mask"])
                env.step(None if over else int(generator.choice(legal)))
        assert all(total["player_0"] == -total["player_1"] for total in totals)
        assert any(abs(total["player_0"]) not in (0, 1) for total in totals)


@pytest.mark.parametrize("game", [Gammons(), Collect(), Thrown()], ids=str)
def test_luck_and_skill_add_up_to_the_payoff(game):
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table

    table = Table.lay(game)
    graph, random = table.graph, table.policies.find("random")
    for seed in range(20):
        session = Session(table, ("A", "B"), (random, random), seed=seed)
        while not session.is_over:
            session.choose(session.machine_choice())
            session.roll()
        ledger = session.ledger(0)
        assert abs(ledger.discrepancy) < 1e-12
        gained = 0.0
        for entry in session.accounts:
            outcome = graph.view.action(entry.action).outcome(entry.outcome)
            sign = 1 if entry.seat == 0 else -1
            gained += sign * (graph.view.action(entry.action).reward)
            gained += sign * (outcome.payoff if outcome.is_over else 0.0)
        assert ledger.result == pytest.approx(gained)


@pytest.mark.skipif(jit_disabled(), reason="layers need compiled rules")
def test_layers_know_stakes():
    whole = rollwise.solve(Layered())
    found = rollwise.solve_by_layers(Layered())
    assert found.is_score
    assert found.win_probability is None
    assert found.value == pytest.approx(whole.value, abs=1e-12)


def test_a_saved_solution_for_stakes_is_verified(tmp_path):
    place = tmp_path / "gammons.parquet"
    rollwise.solve(Gammons()).save(place)
    assert not rollwise.verify(place, Gammons()).fault
    assert not rollwise.verify(place, Gammons(), exact=True).fault


@pytest.mark.slow
@pytest.mark.parametrize("form", ["prism", "drn"])
def test_storm_gives_the_same_payoff(tmp_path, form):
    stormpy = pytest.importorskip("stormpy")
    game = Gammons(length=6)
    solution = rollwise.solve(game)
    against = Policies(solution.graph, game).find("random")
    path = tmp_path / f"model.{form}"
    export(solution, path, form, against)
    query = 'R{"payoff"}max=? [F "finished"]'
    properties = stormpy.parse_properties(query)
    if form == "prism":
        model = stormpy.build_model(stormpy.parse_prism_program(str(path)), properties)
    else:
        model = stormpy.build_model_from_drn(str(path))
    found = stormpy.model_checking(model, properties[0]).get_value(0)
    ours = float(rollwise.best_response(solution.graph, against).values[0])
    assert found - 3 == pytest.approx(ours, abs=1e-6)
    assert f"// {' ' * (form == 'prism')}" in path.read_text()
    assert f"{query}, less 3" in path.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("game", [Gammons(length=5), Collect(chips=3)], ids=str)
def test_open_spiel_pays_the_same(game):
    pyspiel = pytest.importorskip("pyspiel")
    value_iteration = pytest.importorskip("open_spiel.python.algorithms.value_iteration")
    from rollwise.export.open_spiel import register

    loaded = pyspiel.load_game(register(game))
    values = value_iteration.value_iteration(loaded, -1, 1e-11, cyclic_game=True)
    start = str(loaded.new_initial_state())
    assert values[start] == pytest.approx(rollwise.solve(game).value, abs=1e-6)


def test_players_who_pay_each_other_are_no_prism(tmp_path):
    with pytest.raises(UsageError, match="gain points from each other"):
        export(rollwise.solve(Collect()), tmp_path / "model.prism", "prism")


def test_moves_are_told_with_their_payoff():
    for game, told in ((Gammons(), "loses 0.5"), (Collect(), "gains 1")):
        lines = []
        for seed in range(20):
            lines += rollwise.simulate.tell(game, "random", seed=seed)
        assert any(told in move.text for move in lines)


@settings(max_examples=60, deadline=None)
@given(ending_graphs(kinds=((2, "win"), (1, "win"))), st.integers(0, 2**32), st.booleans())
def test_certificates_hold_whatever_is_paid(graph, seed, in_points):
    pytest.importorskip("flint")
    random = np.random.default_rng(seed)
    over = graph.outcome_state < 0
    payoff = np.where(over, random.choice([-100.0, -1.0, 0.0, 0.25, 3.0, 1e6], len(over)), 0.0)
    reward = np.zeros(graph.n_actions)
    if in_points and graph.players == 2:
        reward = random.choice([0.0, -7.5, 40.0], graph.n_actions)
    paid = graph.with_arrays(outcome_payoff=payoff, action_reward=reward)
    truth = run_method(paid, "exact").fractions
    for method, options in (
        ("strategy-iteration", {}),
        ("value-iteration", {"epsilon": 1e-3}),
        ("modified-policy-iteration", {}),
        ("policy-iteration", {}),
    ):
        found, certificate, _ = solve_and_certify(paid, method=method, options=options)
        pairs = zip(found.values.tolist(), certificate.bounds.tolist(), truth, strict=True)
        for value, bound, true in pairs:
            assert np.isfinite(bound)
            assert abs(Fraction(value) - true) <= Fraction(bound)
        assert check_exactly(paid, found.values, certificate.bounds).holds
    sound = run_method(paid, "value-iteration", sound=True, epsilon=1e-3)
    for low, high, true in zip(sound.lower.tolist(), sound.upper.tolist(), truth, strict=True):
        assert Fraction(low) <= true <= Fraction(high)


@pytest.mark.parametrize(("endless", "worth"), [("draw", 0.0), ("lose", -1.0)])
def test_endless_play_keeps_its_worth_beside_payoffs(endless, worth):
    graph = assemble(
        [[(0.0, [(1, AGAIN, 0)]), (0.0, [(1, WIN, None)])]], players=1, endless=endless
    )
    for paid in (-3.0, -0.5, 3.0):
        found, certificate, _ = solve_and_certify(
            graph.with_arrays(outcome_payoff=np.array([0.0, paid]))
        )
        assert found.values[0] == max(worth, paid)
        assert certificate.bound < 1e-12
