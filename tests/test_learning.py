"""The learner of the source, literally and in bulk; workers, saving, and its company."""

from __future__ import annotations

import inspect
import json
import math
import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output
from hypothesis import given
from hypothesis import strategies as st
from little_games import Ladder, Spot
from naive import choice
from naive import learn as learn_naively
from small_games import small_game
from throwing import Runners, TwoBoxes

import rollwise
from rollwise import AGAIN, END, WIN, Game, payoff
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.errors import LearnerFileError, UsageError
from rollwise.games import find
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig
from rollwise.graph.policies import alias_cells
from rollwise.learn import METHODS, Learner, choice_probabilities, learn
from rollwise.numbers.randomness import stream
from rollwise.simulate.match import simulate

pytestmark = pytest.mark.kernels

# One player and two, won and for points, with choices before and after a throw, and without.
SHAPES = ("big-wheel", "cant-stop", "dice-blackjack", "drop-dead", "einstein", "first-orchard",
    "knucklebones", "pickomino", "snakes-and-ladders")  # fmt: skip
SMALL = DiceBlackjack(sides=3, low=6, high=7, dice=2)


@pytest.fixture(scope="module")
def graph():
    return build(DiceBlackjack())


@pytest.fixture(scope="module")
def small():
    return build(SMALL)


def replay(*rolls):
    """A game as the source tells it: the dice of each turn, players A and B in turns."""
    totals = [0, 0]
    moves = []
    for turn, dice in enumerate(rolls):
        player = turn % 2
        totals[player] += sum(dice)
        if totals[player] < 15:
            outcome = (totals[1 - player], totals[player])  # as the next player sees it
        else:
            outcome = "win" if totals[player] <= 17 else "lose"
        moves.append((len(dice), outcome))
    return moves


GAME_1 = replay((5, 6), (3, 4), (5, 5))


def wins_and_losses(learner):
    """(n_actions, 2), of a game without draws."""
    games, gained, decided = learner.arrays()["sums"].astype(int).T
    assert np.array_equal(games, decided)
    return np.stack([games + gained, games - gained], axis=1) // 2


def counted(learner):
    """All counts that aren't zero: {(X, Y, J): (wins, losses)}."""
    graph = learner.graph
    found = {}
    for a, (wins, losses) in enumerate(wins_and_losses(learner).tolist()):
        if wins or losses:
            state = graph.states[graph.action_state[a]].tolist()
            found[(*state, int(graph.action_label[a]))] = (wins, losses)
    return found


@pytest.mark.parametrize("workers", [1, 3])
def test_game_1_leaves_the_counts_of_the_source(graph, workers):
    learner = Learner(graph, seed=0, workers=workers)
    learner.record(GAME_1)
    assert counted(learner) == {(0, 0, 2): (0, 1), (11, 7, 2): (0, 1), (0, 11, 2): (1, 0)}
    assert learner.counts((0, 11), 2) == (1, 0, 0)


def test_the_sources_example_of_the_probabilities():
    found = choice_probabilities([0, 3, 1], [2, 1, 1], 4)
    assert [round(p, 4) for p in found] == [0.1481, 0.5556, 0.2963]


def test_the_sources_example_in_the_learner():
    """The same three counts at <2, 3>, put there by games, give the thresholds of the kernel."""
    graph = build(DiceBlackjack(dice=3))
    learner = Learner(graph, explore=4, seed=0)
    for action, ending, times in [(1, "lose", 2), (2, "win", 3), (2, "lose", 1), (3, "win", 1),
                                  (3, "lose", 1)]:  # fmt: skip
        for _ in range(times):
            a = int(graph.action_indptr[graph.find((2, 3))]) + action - 1
            learner.tallies[0].sums[a] += 1, 1 if ending == "win" else -1, 1
    learner.tallies[0].refresh()
    s = graph.find((2, 3))
    begin, end = graph.action_indptr[s], graph.action_indptr[s + 1]
    sums = learner.tallies[0].known.threshold[begin : end - 1] / 2**32
    assert sums == pytest.approx([0.14814815, 0.14814815 + 0.55555556], abs=1e-8)


counts = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=6)


@given(counts, st.floats(0.01, 1000))
def test_choice_probabilities_are_the_formula(pairs, explore):
    wins, losses = [w for w, _ in pairs], [x for _, x in pairs]
    found = choice_probabilities(wins, losses, explore)
    exact = choice(wins, losses, explore)
    # Rates that are equal as fractions are equal as floats, so ties break alike.
    assert found == pytest.approx([float(p) for p in exact], abs=1e-12)
    assert sum(found) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("game", [SMALL, DiceBlackjack(sides=2, low=4, high=5, dice=3)])
def test_the_kernel_is_the_naive_learner(game):
    """Game by game the same counts, with choices by exact fractions in the twin."""
    graph = build(game)
    learner = Learner(graph, explore=7.5, seed=11)
    learner.play(300)
    naive = learn_naively(graph, alias_cells(graph), 300, 7.5, stream(11, 0))
    assert np.array_equal(wins_and_losses(learner), naive)


def same(one, other):
    first, second = one.arrays(), other.arrays()
    return all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("method", list(METHODS))
def test_same_seed_same_counts(small, method):
    one, other = (Learner(small, seed=4, method=method) for _ in range(2))
    one.play(500)
    for piece in (1, 99, 400):
        other.play(piece)
    assert same(one, other)
    third = Learner(small, seed=5, method=method)
    third.play(500)
    assert not same(one, third)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("game", [SMALL, Ladder()], ids=["blackjack", "ladder"])
def test_a_saved_learner_goes_on_as_if_it_had_never_stopped(tmp_path, game, workers, monkeypatch):
    monkeypatch.setattr("rollwise.learn.learner.FIRST_ROUND", 40)
    graph = build(game)
    unbroken = Learner(graph, seed=9, workers=workers)
    unbroken.play(700)
    first = Learner(graph, seed=9, workers=workers)
    first.play(333)
    first.save(tmp_path / "kept.npz")
    second = Learner.load(tmp_path / "kept.npz", build(game))
    assert second.games == 333
    second.play(367)
    assert same(unbroken, second)


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize("name", SHAPES)
def test_every_learner_on_games_of_every_shape(name, method):
    """Games are whole, and the estimate of the start is a possible value."""
    graph = build(small_game(name))
    result = learn(graph, 30, seed=1, method=method)
    assert result.seen[0] >= 30
    labels = result.labels[result.seen > 0]
    assert np.isin(labels, graph.action_label).all()
    if not result.is_score:
        assert 0 <= result.estimates[0] <= 1
    thrown = graph.n_states - graph.n_positions  # states after a throw, where one chooses
    assert len(result.table()) == (thrown or graph.n_states)
    if result.standard_errors is not None:
        learner = Learner(graph, seed=1, method=method)
        learner.play(30)
        assert np.array_equal(learner.result().visits, result.visits)


def test_games_of_three_players_are_recorded_by_seat():
    """A recorded game leaves the sums that its moves and its winner give."""
    graph = Policies.of(Pig(target=4, sides=3, players=3), any_players=True).graph
    learner, rng = Learner(graph, seed=0), np.random.default_rng(5)
    expected = np.zeros((graph.n_actions, 3))
    for _ in range(20):
        state, seat, moves, path = graph.view[0], 0, [], []
        while True:
            action = list(state.actions)[rng.integers(len(state.actions))]
            outcome = list(action.outcomes)[rng.integers(len(action.outcomes))]
            path.append((action.index, seat))
            if outcome.is_over:
                moves.append((action.label, "win" if len(moves) % 2 else {"payoffs": [1, 0, 0]}))
                break
            state = graph.view[outcome.target]
            moves.append((action.label, state.fields))
            seat = (seat + outcome.seats_on) % 3
        learner.record(moves)
        for a, mover in path:
            points = float(mover == seat)
            expected[a] += 1, points, points**2
    assert np.array_equal(learner.tallies[0].sums[:, :3], expected)
    with pytest.raises(UsageError, match="'lose' is no ending"):
        learner.record([(0, "lose")])
    for payoffs in (None, ["x", 0, 0]):
        with pytest.raises(UsageError, match="is no ending"):
            learner.record([(0, {"payoffs": payoffs})])


def test_estimates_of_three_players_are_shares_of_the_win():
    """The estimate of the start is the first seat's share of the games by self-play."""
    graph = Policies.of(Pig(target=4, sides=3, players=3), any_players=True).graph
    result = learn(graph, 400, seed=2)
    action = result.best_actions[0]
    assert result.estimates[0] == result.values[action]
    assert result.estimate_errors[0] == result.standard_errors[action]
    assert 0 <= result.estimates.max() <= 1
    with pytest.raises(UsageError, match="Q-learning is for one or two"):
        Learner(graph, method="q-learning")


def test_the_table_of_a_learner_keeps_fields_of_the_same_name():
    """A game for points may have a field `score`: its numbers aren't replaced by estimates."""
    game = TwoBoxes(2).with_score()
    graph = build(game)
    table = learn(graph, 200, seed=1).table()
    assert "score" in graph.columns
    assert set(table["score"].to_list()) <= set(graph.rows[:, graph.columns.index("score")])
    assert table.columns[-4:] == ["score_", "standard_error", "action_visits", "visits"]


def test_the_table_of_a_learner_has_no_throw_in_a_choice_before_it():
    graph = build(Runners(2).cube(1))
    table = learn(graph, 200, seed=1).table()
    assert table["throw"].null_count() > 0
    assert table["throw"].drop_nulls().min() >= 0


class Step(NamedTuple):
    n: int


@dataclass(frozen=True)
class Sure(Game):
    """Two moves with points, the more the larger the action; nothing is thrown."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Step(0)

    def actions(self, s):
        yield from (0, 1)

    def outcomes(self, s, action):
        yield 1, (END if s.n else AGAIN), Step(1)

    def reward(self, s, action):
        return 0.1 + action


@dataclass(frozen=True)
class Won(Game):
    """The first player wins at once."""

    def start(self):
        return Step(0)

    def actions(self, s):
        yield from (0, 1)

    def outcomes(self, s, action):
        yield 1, WIN, s


def test_equal_results_have_no_error_of_zero():
    """Points have an unknown one; wins and losses the one of a single game that differs."""
    sure = learn(build(Sure()), 1000, seed=1)
    first, last = sure.graph.view
    assert (sure.estimate_errors[first.index] > 0).all()  # the second move varies
    assert sure.estimates[last.index] == pytest.approx(1.1)
    assert np.isnan(sure.estimate_errors[last.index])
    won = learn(build(Won()), 1000, seed=1)
    visits = won.visits[won.best_actions[0]]
    assert won.estimates[0] == 1
    assert won.estimate_errors[0] == pytest.approx(1 / visits)
    # simulations say the same
    (side,) = simulate(rollwise.solve(Won()), "optimal", games=50, seed=1).sides
    assert side.win_rate.standard_error == pytest.approx(1 / 50)
    (side,) = simulate(rollwise.solve(Sure()), "optimal", games=50, seed=1).sides
    assert math.isnan(side.score.standard_error)
    assert math.isnan(side.turns.estimate.standard_error)


def test_texts_of_equal_results_have_no_plus_or_minus(tmp_path):
    source = inspect.getsource
    head = "from __future__ import annotations\nfrom typing import ClassVar, NamedTuple\n"
    head += "from dataclasses import dataclass\nfrom rollwise import AGAIN, END, Game\n"
    (tmp_path / "sure.py").write_text(head + source(Step) + "\n" + source(Sure))
    told = output("simulate", "sure.py", "--policy", "optimal", "--games", "50", cwd=tmp_path)
    assert "score 2.200000 (the same in every game: error unknown)" in told
    assert "moves 2.000000 (the same in every game" in told
    assert "interval" not in told
    asked = ("simulate", "sure.py", "--policy", "optimal", "--games", "50", "--json")
    score = json.loads(output(*asked, cwd=tmp_path))["sides"][0]["score"]
    assert (score["standard_error"], score["interval_95"]) == (None, [None, None])
    told = output("learn", "sure.py", "--games", "500", cwd=tmp_path)
    assert "without a standard error: a single game, or the same in every game" in told


def test_later_games_of_a_run_have_errors_of_their_own():
    """The spread of a part is what the sums of the whole leave."""
    learner = Learner(build(Sure()), seed=3)
    learner.play(300)
    earlier = learner.result()
    learner.play(300)
    late = learner.result().since(earlier)
    assert np.isnan(late.estimate_errors[1])
    assert 0 < late.estimate_errors[0] < 0.1


@pytest.mark.parametrize("workers", [1, 2])
def test_standard_errors_take_the_visits_of_one_game_together(workers):
    """In craps a point is thrown for several times in a game, and each time the game ends alike."""
    solution = rollwise.solve(find("craps")())
    graph = solution.graph
    off = []
    for seed in range(20):
        learner = Learner(graph, seed=seed, workers=workers)
        learner.play(2000)
        earlier = learner.result()
        learner.play(8000)
        for learned in (learner.result(), learner.result().since(earlier)):
            exact = solution.values[graph.action_state]
            off.append((learned.values - exact) / learned.standard_errors)
    spread = np.sqrt((np.array(off) ** 2).mean(axis=0))
    assert (spread > 0.5).all()
    assert (spread < 1.6).all()  # 2.5 if each visit counted for itself


def test_a_game_of_distinct_positions_keeps_no_sums_by_game(graph):
    assert Learner(graph).result().by_game is None
    assert Learner(build(find("craps")())).result().by_game is not None


def test_a_learner_of_another_game_names_both_as_they_are_typed(tmp_path):
    Learner(build(Pig(target=3)), seed=1).save(tmp_path / "pig.npz")
    with pytest.raises(LearnerFileError, match=r"target=3 .*must_bank=false, not on pig target=4"):
        Learner.load(tmp_path / "pig.npz", build(Pig(target=4)))


@dataclass(frozen=True)
class SmallStakes(Game):
    players: int = 1

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, payoff(2e-7), s
        yield 2, payoff(5e-7), s


def test_small_payoffs_are_printed_with_their_digits(tmp_path):
    result = str(learn(build(SmallStakes()), 300, seed=1))
    assert re.search(r"0\.00000040\d", result)
