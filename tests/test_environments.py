"""Environments: other people's checkers, exact transitions, and the same games everywhere."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_games import RandomTable, Spot
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import spsolve
from small_games import SMALL
from stakes import Collect, Gammons
from throwing import Runners

from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game
from rollwise.answer.evaluation import evaluate, evaluate_seats
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.answer.solve import solve
from rollwise.environments.arena import Arena, mean_reward, policy_of
from rollwise.environments.single import GameEnv, Transitions
from rollwise.environments.vector import GameVectorEnv
from rollwise.errors import EndlessPlay, ForMorePlayers, PolicyError, RollwiseError, UsageError
from rollwise.games import available
from rollwise.games.craps import Craps
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.threes import Threes
from rollwise.games.yahtzee import Yahtzee
from rollwise.graph.policies import Policy
from rollwise.machine.switches import jit_disabled

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from rollwise.environments.aec import GameAECEnv, env  # noqa: E402
from rollwise.environments.aec import env as env_of_agents  # noqa: E402

KINDS = [  # two players, points, a pool of dice, throws before choices, and a contest at points
    ("pig", None),
    ("threes", None),
    ("yahtzee", None),
    ("royal-ur", None),
    ("threes", "shared"),
]


def options(name: str, contest: str | None) -> dict[str, object]:
    form = {} if contest is None else {"as": "contest", "ties": contest}
    return {"game": name, **form, **SMALL.get(name, {})}


@pytest.mark.parametrize(
    ("name", "contest", "seat"),
    [*((*kind, "either") for kind in KINDS), ("pig", None, "first"), ("pig", None, "second")],
)
def test_gymnasiums_checker(name, contest, seat):
    from gymnasium.utils.env_checker import check_env

    identity = f"rollwise/{available()[name].__name__}-v0"
    given = {k: v for k, v in options(name, contest).items() if k != "game"}
    made = gymnasium.make(identity, opponent="random", seat=seat, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(made.unwrapped)
        gymnasium.utils.passive_env_checker.check_observation_space(made.observation_space)


@pytest.mark.parametrize(("name", "contest"), KINDS)
def test_pettingzoos_api_test(name, contest, capsys):
    from pettingzoo.test import api_test, seed_test

    made = env(**options(name, contest))
    if len(made.possible_agents) == 2:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            api_test(made, num_cycles=200)
            seed_test(lambda: env(**options(name, contest)), num_cycles=20)
    else:
        play_alone(GameAECEnv(**options(name, contest)))


def play_alone(made: GameAECEnv) -> None:
    made.reset(seed=1)
    for _ in made.agent_iter(10_000):
        observation, _, over, _, _ = made.last()
        made.step(None if over else int(observation["action_mask"].argmax()))
    assert not made.agents


@pytest.mark.parametrize(("name", "contest"), KINDS)
def test_transitions_are_distributions_and_what_happens(name, contest):
    made = GameEnv(**options(name, contest), opponent="random", seat="either")
    table, generator = made.P, np.random.default_rng(1)
    assert made.initial_state_distrib.sum() == pytest.approx(1, abs=1e-12)
    for episode in range(20):
        _, info = made.reset(seed=episode)
        assert made.initial_state_distrib[info["state"]] > 0
        over = False
        while not over:
            state = info["state"]
            action = int(generator.choice(np.flatnonzero(info["action_mask"])))
            rows = table[state][action]
            assert sum(p for p, _, _, _ in rows) == pytest.approx(1, abs=1e-12)
            _, reward, over, _, info = made.step(action)
            after = len(table) - 1 if over else info["state"]
            assert any(
                (t, end) == (after, over) and r == pytest.approx(reward) for _, t, r, end in rows
            )


@pytest.mark.parametrize(("name", "contest"), KINDS)
def test_vectors_draw_from_the_exact_transitions(name, contest):
    made = GameVectorEnv(**options(name, contest), num_envs=4000, opponent="random", seat="either")
    generator = np.random.default_rng(1)
    _, infos = made.reset(seed=3)
    expected = GameEnv(
        **options(name, contest), opponent="random", seat="either"
    ).initial_state_distrib
    counts = np.bincount(infos["state"], minlength=len(expected))
    assert np.abs(counts / 4000 - expected).max() < 0.04
    table = Transitions(made.arena, -1.0)
    done = np.zeros(4000, bool)
    for _ in range(12):
        before, mask = infos["state"], infos["action_mask"]
        noise = generator.random(mask.shape) * mask
        actions = np.where(done, 0, noise.argmax(axis=1))
        observations, rewards, ended, truncated, infos = made.step(actions)
        assert not truncated.any()
        for i in np.flatnonzero(~done)[:60]:
            rows = table[int(before[i])][int(actions[i])]
            after = len(table) - 1 if ended[i] else int(infos["state"][i])
            assert any(
                (t, end) == (after, ended[i]) and r == pytest.approx(rewards[i])
                for _, t, r, end in rows
            )
        alive = ~ended
        assert (observations[alive] == made.arena.observations[infos["state"][alive]]).all()
        assert (rewards[done] == 0).all()
        done = ended


@pytest.mark.parametrize(
    "wrong", [{"seat": "third"}, {"opponent": "nobody"}, {"sides": 1}, {"colour": 3}, {"as": "x"}]
)
def test_wrong_use(wrong):
    with pytest.raises(RollwiseError):
        GameEnv(**({"game": "pig", "target": 20} | wrong))


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")
def test_three_agents_share_one_win(capsys):
    from pettingzoo.test import api_test

    api_test(env("pig", target=5, players=3), num_cycles=100)
    assert "Passed" in capsys.readouterr().out
    made = GameAECEnv("pig", target=5, players=3, render_mode="ansi")
    assert made.possible_agents == ["player_0", "player_1", "player_2"]
    rng, wins = np.random.default_rng(1), np.zeros(3)
    for seed in range(300):
        made.reset(seed=seed)
        movers = []
        for agent in made.agent_iter():
            observation, reward, over, _, _ = made.last()
            if over:
                wins[int(agent[-1])] += reward
                made.step(None)
                continue
            movers += [agent] if movers[-1:] != [agent] else []
            made.step(rng.choice(np.flatnonzero(observation["action_mask"])))
        assert movers == [f"player_{k % 3}" for k in range(len(movers))]
        assert f"{movers[-1]} wins" in made.render()
    assert wins.sum() == 300
    table = Policies.of(Pig(5, players=3), any_players=True)
    exact = evaluate_seats(table.graph, [table.find("random")]).win_probabilities
    assert np.abs(wins / 300 - exact).max() < 5 * 0.5 / 300**0.5
    for kind in (GameEnv, GameVectorEnv):
        with pytest.raises(ForMorePlayers, match=r"game for 3: .* GameAECEnv, for PettingZoo"):
            kind("pig", target=5, players=3)


@pytest.mark.parametrize("make", [GameEnv, GameAECEnv, GameVectorEnv])
def test_an_unknown_way_of_rendering_is_refused(make):
    with pytest.raises(UsageError, match="render_mode is 'human'"):
        make("piglet", target=2, render_mode="human")


def test_the_notebooks_environment_of_pig():
    """Its actions are 0 hold and 1 roll, observations are tuples, the last has the final total."""
    options = {
        "target": 12,
        "must_bank": True,
        "opponent": "hold-at-20",
        "actions": ("hold", "roll"),
    }
    env = GameEnv("pig", observations="tuple", shows_end=True, seat="either", **options)
    assert env.action_names == ("hold", "roll")
    usual = GameEnv("pig", target=12, must_bank=True, opponent="hold-at-20")
    rewards, seen = set(), set()
    for seed in range(60):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            assert observation in env.observation_space
            banked, rival, turn = before = observation
            early = info["state"] >= env.graph.n_states  # over before the agent has moved
            usual_mask = usual.arena.masks[info["state"]].tolist()
            assert info["action_mask"].tolist() == usual_mask[:: 1 if early else -1]
            action = 0 if early or turn >= 5 or (turn and banked + turn >= 12) else 1
            observation, reward, over, _, info = env.step(action)
            seen.add(observation)
        rewards.add(reward)
        banked, rival, turn = observation
        assert observation in env.observation_space
        assert early is (before[0] < 0)
        if reward > 0:
            assert before[0] + before[2] == banked >= 12 > rival == before[1]
        else:
            assert rival >= 12 > banked
        assert turn == 0
    assert rewards == {1.0, -1.0}
    assert len(seen) > 30
    vector = GameVectorEnv("pig", 3, **options)
    vector.reset(seed=1)
    assert vector.step(np.zeros(3, np.int64))[1].tolist() == [-1.0] * 3  # nothing to hold yet
    assert env_names("pig", target=12, actions=("hold", "roll")) == ("hold", "roll")
    table, other = env.unwrapped.P, usual.unwrapped.P
    assert table[0][1] == other[0][0]
    with pytest.raises(UsageError, match=r"\['hold'\]; it must have each of roll, hold once"):
        GameEnv("pig", target=12, actions=("hold",))
    with pytest.raises(UsageError, match="position at the end"):
        GameEnv("craps", shows_end=True)
    with pytest.raises(UsageError, match="'array' or 'tuple'"):
        GameEnv("pig", target=12, observations="list")


def env_names(game, **options):
    return GameAECEnv(game, **options).action_names


# ---- what agents get: the mean reward of optimal play is the game's value, in every seat


SEATS = ("first", "second", "either")


@dataclass(frozen=True)
class Sudden(Game):
    """The first turn ends the game before the second player has moved, in any of three ways."""

    goes_on: int = 1

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 3  # numbers of actions that aren't ranks
        yield 5

    def outcomes(self, s, action):
        yield 2 if action == 3 else 3, WIN, s
        yield 1, DRAW, s
        yield 1 if s.place < 2 else 7, LOSE, s
        if s.place < 2:
            yield 2, AGAIN, Spot(s.place + 1)
            if self.goes_on:
                yield self.goes_on, PASS, Spot(s.place + 1)


KINDS_ENVIRONMENT: list[Game] = [
    Runners(3),
    Pig(12),
    Threes(dice=2),
    Threes(dice=2).contest(),
    HareAndTortoise(steps=4),
    RoyalUr(pieces=1),
    Yahtzee(boxes=1),
    Craps(),
    Sudden(),
    Sudden(goes_on=0),
    Collect(chips=5),
    Gammons(length=6),
]


@lru_cache
def optimum(game: Game) -> Solution:
    return solve(game)


def certified(solution: Solution, seat: str) -> float:
    """What the solution says that an agent gets by optimal play against optimal play."""
    value = float(solution.values[0])
    if solution.graph.players == 1:
        return -value if solution.graph.objective == "minimize" else value
    return {"first": value, "second": -value, "either": 0.0}[seat]


def ranks(arena: Arena, policy: Policy) -> np.ndarray:
    """The rank that a policy takes in each state of an environment."""
    taken = np.flatnonzero(policy.probability == 1.0)
    actions = np.zeros(arena.n_states, np.int64)
    actions[arena.graph.action_state[taken]] = np.searchsorted(
        arena.labels, arena.graph.action_label[taken]
    )
    return actions


def exact_mean(env: GameEnv, table: np.ndarray) -> float:
    """The expected reward of taking table[state], from P and nothing else."""
    p, start = env.P, env.initial_state_distrib
    assert start.sum() == pytest.approx(1, abs=1e-12)
    assert len(start) == len(p)
    place = {int(s): i for i, s in enumerate(np.flatnonzero(start))}
    queue, cells, reward = list(place), [], []
    for s in queue:
        rows = p[s][int(table[s])]
        reward.append(sum(chance * points for chance, _, points, _ in rows))
        for chance, t, _, over in rows:
            if over:
                continue
            if t not in place:
                place[t] = len(place)
                queue.append(t)
            cells.append((place[s], place[t], chance))
    n = len(queue)
    i, j, chance = np.array(cells or [(0, 0, 0.0)]).T
    matrix = csc_matrix((chance, (i.astype(int), j.astype(int))), shape=(n, n))
    values = np.atleast_1d(spsolve((identity(n) - matrix).tocsc(), np.array(reward)))
    return float(env.initial_reward + start[np.array(queue)] @ values)


def assert_near(returns: np.ndarray, value: float) -> None:
    error = returns.std(ddof=1) / len(returns) ** 0.5
    assert abs(returns.mean() - value) <= 4 * error + 1e-12


def test_actions_that_are_not_whole_are_refused():
    one, many = GameEnv(Craps()), GameVectorEnv(Craps(), num_envs=4)
    for taken, action in ((one, 0.7), (one, 1.0), (many, np.full(4, 0.7)), (many, np.ones(4))):
        taken.reset(seed=1)
        with pytest.raises(UsageError, match=r"isn't an action|must be whole numbers"):
            taken.step(action)
    many.step([0] * 4)


def test_the_policy_of_another_graph_has_no_mean_reward():
    env = GameEnv(Pig(target=8), opponent="optimal")
    with pytest.raises(UsageError, match="is of another game, pig target="):
        mean_reward(env, solve(Pig(target=5)).policy)


def test_a_policy_by_its_name_has_a_mean_reward():
    env = GameEnv(Pig(target=8), opponent="optimal")
    value = evaluate(Pig(target=8), "hold-at-20", "optimal").values[0]
    for policy in ("hold-at-20", Pig(target=8).hold_at_20):
        assert mean_reward(env, policy).value == pytest.approx(value)


def test_a_table_and_a_function_are_opponents():
    best = solve(Pig(target=8))
    for opponent in (best.table(), Pig(target=8).hold_at_20):
        env = GameEnv(Pig(target=8), opponent=opponent)
        assert mean_reward(env).value >= best.value - 1e-12


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("game", KINDS_ENVIRONMENT)
def test_exactly(game, seat):
    env, solution = GameEnv(game, seat=seat), optimum(game)
    best = ranks(env.arena, solution.policy)
    value = certified(solution, seat)
    assert exact_mean(env, best) == pytest.approx(value, rel=1e-9, abs=1e-9)
    for policy in (None, solution.policy):
        told = mean_reward(env, policy)
        assert abs(told.value - value) <= told.bound + solution.error_bound + 1e-15


@given(seed=st.integers(0, 10_000), seat=st.sampled_from(SEATS))
def test_exactly_for_any_rules(seed, seat):
    game = RandomTable(seed=seed)
    try:
        solution = solve(game)
    except EndlessPlay:
        return
    env = GameEnv(game, seat=seat)
    found = exact_mean(env, ranks(env.arena, solution.policy))
    assert found == pytest.approx(certified(solution, seat), abs=1e-9)


def play_vector(env, table: np.ndarray) -> np.ndarray:
    """The return of each game, the first of its environment."""
    _, info = env.reset(seed=11)
    returns, over = np.zeros(env.num_envs), np.zeros(env.num_envs, bool)
    while not over.all():
        _, reward, ended, truncated, info = env.step(table[info["state"]])
        assert not truncated.any()
        returns += np.where(over, 0.0, reward)
        over |= ended
    return returns


@pytest.mark.parametrize("game", KINDS_ENVIRONMENT)
def test_in_many_games_at_once(game):
    """From both seats; `test_exactly` has each of them."""
    env = GameVectorEnv(game, 100 if jit_disabled() else 20_000, seat="either")
    solution = optimum(game)
    returns = play_vector(env, ranks(env.arena, solution.policy))
    assert_near(returns, certified(solution, "either"))


def test_a_game_that_ends_before_the_agent_moves_is_seen_to_its_end():
    env = GameEnv(Sudden(goes_on=0), seat="second", render_mode="ansi", illegal_reward=-3.0)
    n = env.graph.n_states
    assert len(env.P) == n + 4
    assert env.arena.early_payoffs.tolist() == [1.0, 0.0, -1.0]
    lowest = env.graph.states.min(axis=0)
    seen = set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        payoff = env.arena.early_payoffs[info["state"] - n]
        assert (observation < lowest).all()
        assert info["action_mask"].tolist() == [1, 0] == env.action_masks().tolist()
        assert env.render().startswith("opponent ")
        assert f"over before the agent has moved: any action collects {payoff:+g}" in env.render()
        row = env.P[info["state"]]
        assert row == {0: [(1.0, n + 3, payoff, True)], 1: [(1.0, info["state"], -3.0, False)]}
        again, reward, over, _, _ = env.step(1)
        assert (again == observation).all()
        assert (reward, over) == (-3.0, False)
        _, reward, over, truncated, info = env.step(0)
        assert (reward, over, truncated) == (payoff, True, False)
        with pytest.raises(UsageError, match="the game is over"):
            env.step(0)
        seen.add(payoff)
    assert seen == {1.0, 0.0, -1.0}
    several = GameVectorEnv(Sudden(goes_on=0), 50, seat="second", illegal_reward=-3.0)
    observations, info = several.reset(seed=1)
    assert (observations < lowest).all()
    assert (info["state"] >= n).all()
    assert info["action_mask"].tolist() == [[1, 0]] * 50
    assert several.step(np.ones(50, np.int64))[1].tolist() == [-3.0] * 50
    _, rewards, over, _, info = several.step(np.zeros(50, np.int64))
    assert over.all()
    assert (rewards == several.arena.early_payoffs[info["state"] - n]).all()
    assert not info["action_mask"].any()


@dataclass(frozen=True)
class Waiting(Game):
    """Wait, and keep the turn, or end the game by a coin."""

    endless = "draw"

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        else:
            yield 1, WIN, s
            yield 1, PASS, s


def test_an_opponent_who_never_ends_a_turn_is_refused(monkeypatch):
    monkeypatch.setattr("rollwise.environments.single.MOST_MOVES", 100)
    graph = Policies.of(Waiting()).graph
    waits = Policy("waits", 1.0 - graph.action_label)
    env = GameEnv(Waiting(), waits)
    with pytest.raises(EndlessPlay, match="the opponent waits may never end its turn"):
        env.P[0]

    def play():
        for seed in range(50):
            env.reset(seed=seed)
            env.step(1)

    with pytest.raises(EndlessPlay, match="in the state place=0"):
        play()


@pytest.mark.parametrize("seat", ["first", "second"])
@pytest.mark.parametrize("kind", [GameEnv, GameVectorEnv])
def test_the_policy_of_another_game_is_no_opponent(kind, seat):
    for of, game in ((Pig(target=6), Pig(target=9)), (Pig(target=9), Pig(target=6))):
        with pytest.raises(PolicyError, match="is of another game, pig target="):
            kind(game, opponent=solve(of).policy, seat=seat)


def test_an_environment_in_play_can_be_pickled():
    """Also after it has told a game, with a state whose fields are tuples."""
    env = GameEnv("bear-off", checkers=2, render_mode="ansi")
    env.reset(seed=1)
    again = pickle.loads(pickle.dumps(env))
    assert again.render() == env.render()
    one, other = (each.step(int(np.flatnonzero(each.action_masks())[0])) for each in (env, again))
    assert one[1:4] == other[1:4]
    assert np.array_equal(one[0], other[0])


def test_an_illegal_action_ends_a_game_of_agents_at_its_reward():
    game = env("threes", dice=1, illegal_reward=-50.0)
    game.reset(seed=1)
    mask = game.observe(game.agent_selection)["action_mask"]
    game.step(int(np.flatnonzero(mask == 0)[0]))
    assert game.rewards["player_0"] == -50.0
    assert game.terminations["player_0"]


BARE = GameAECEnv("pig", target=6)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda env: GameEnv(None), "a game is wanted, such as .*, not a value of the type None"),
        (lambda env: GameVectorEnv(3), "a game is wanted, such as .*, not a value of the type int"),
        (lambda env: GameEnv("pig", opponent=None), "pig .* is a game for two, and opponent is No"),
        (lambda env: GameEnv("pig", actions="12"), "actions is '12'; it must be a sequence"),
        (lambda env: GameEnv("pig", illegal_reward="x"), "illegal_reward is 'x'; it must be a fin"),
        (lambda env: GameVectorEnv("pig", illegal_reward=np.nan), "illegal_reward is nan; it must"),
        (lambda env: env_of_agents("pig", illegal_reward=np.inf), "illegal_reward is inf; it must"),
        (lambda env: GameEnv("pig", actions=3), "actions is 3; it must be a sequence"),
        (lambda env: env.reset(seed=-1), "a seed is a whole number from 0, not -1"),
        (lambda env: BARE.reset(seed=-1), "a seed is a whole number from 0, not -1"),
        (lambda env: BARE.reset(seed=1.5), "a seed is a whole number from 0, not 1.5"),
        (lambda env: BARE.step(-1), "pig .*: -1 isn't an action; there are Discrete"),
        (lambda env: BARE.step("1"), "pig .*: '1' isn't an action"),
        (lambda env: BARE.step(None), "pig .*: None isn't an action"),
        (lambda env: BARE.step(1), "hold can't be done in the state .*; the legal .* 0 .roll"),
        (lambda env: policy_of(env, None), "pig .*: an agent is a function .* of the type NoneT"),
        (lambda env: policy_of(env, "optimal"), "type str; mean_reward.* takes a policy by its na"),
        (lambda env: policy_of(env, {0: 1}), "an agent is a function .* of the type dict"),
        (lambda env: policy_of(env, [0] * 3), r"this array has the shape \(3,\), and there are"),
        (lambda env: policy_of(env, lambda seen, masks: None), "pig .*: an agent gives ranks"),
        (lambda env: policy_of(3, np.zeros(3)), "an environment of rollwise is wanted"),
        (lambda env: mean_reward(gymnasium.make("CartPole-v1")), "an environment of rollwise is w"),
    ],
)
def test_misuse_is_told(ask, said):
    with pytest.raises(UsageError, match=said):
        ask(GameEnv("pig", target=6))


def test_an_agent_may_be_a_list_with_a_rank_for_each_state():
    env = GameEnv("pig", target=6)
    listed = policy_of(env, [0] * env.graph.n_states)
    asked = policy_of(env, lambda seen, masks: np.zeros(len(seen), np.int64))
    assert np.array_equal(listed.probability, asked.probability)
    assert "a" not in env.P


@pytest.mark.parametrize("most", [1, 3])
def test_many_environments_truncate_as_a_single_one_does(most):
    """Holding with nothing to hold changes nothing, so the steps alone end the games."""
    ways = [
        gymnasium.make_vec(
            "rollwise/Pig-v0", 2, mode, target=20, max_episode_steps=most, opponent="random"
        )
        for mode in ("vector_entry_point", "sync")
    ]
    for way in ways:
        way.reset(seed=1)
    for step in range(1, 10):
        one, other = (way.step(np.ones(2, np.int64)) for way in ways)
        for mine, theirs in zip(one[:4], other[:4], strict=True):
            assert mine.tolist() == theirs.tolist()
        assert one[3].all() == (step % (most + 1) == most)
        assert one[4]["action_mask"].tolist() == np.array(list(other[4]["action_mask"])).tolist()
    with pytest.raises(UsageError, match="max_episode_steps is 0; it must be at least 1"):
        GameVectorEnv("pig", max_episode_steps=0)


def test_a_game_that_ends_at_its_last_step_is_over_and_truncated():
    one = gymnasium.make("rollwise/Craps-v0", max_episode_steps=1)
    many = GameVectorEnv("craps", 50, max_episode_steps=1)
    many.reset(seed=1)
    _, _, over, truncated, _ = many.step(np.zeros(50, np.int64))
    assert truncated.all()
    assert 0 < over.sum() < 50
    one.reset(seed=1)
    assert one.step(0)[3]


def test_gymnasium_finds_all_about_rendering():
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_env(gymnasium.make("rollwise/Pig-v0", target=6, render_mode="ansi").unwrapped)
    assert not [one for one in told if "render" in str(one.message)]
