"""The learner of the source, literally and in bulk; workers, saving, and its company."""

from __future__ import annotations

import numpy as np
import pytest
import small_games
from hypothesis import given
from hypothesis import strategies as st
from little_games import Ladder
from naive_play import choice
from naive_play import learn as learn_naively

from rollwise.builders import build
from rollwise.errors import LearnerFileError, PolicyError, UsageError
from rollwise.games import available
from rollwise.games.craps import Craps
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig, Piglet
from rollwise.graph.policies import alias_cells
from rollwise.learn import METHODS, Learner, choice_probabilities, learn, read_game_record
from rollwise.learn.learner import round_after
from rollwise.numbers.randomness import stream

pytestmark = pytest.mark.kernels

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
GAME_2 = replay((3, 4), (5, 6), (3, 1), (4,))
GAME_3 = replay((3, 4), (1, 4), (2, 5), (3, 5), (1,))


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


def test_game_3_leaves_the_counts_of_the_source(graph):
    learner = Learner(graph, seed=0)
    learner.record(GAME_3)
    assert counted(learner) == {
        (0, 0, 2): (1, 0),
        (0, 7, 2): (0, 1),
        (7, 5, 2): (1, 0),
        (5, 14, 2): (0, 1),
        (14, 13, 1): (1, 0),
    }


def test_games_add_up(graph):
    learner = Learner(graph, seed=0)
    for game in (GAME_1, GAME_2, GAME_3):
        learner.record(game)
    assert learner.counts((0, 0), 2) == (1, 2, 0)
    assert learner.counts((0, 7), 2) == (1, 1, 0)
    assert learner.result().games == 3


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


@pytest.mark.parametrize(
    ("wins", "losses", "explore"),
    [([0, 0], [0, 0], 0), ([1], [0], -1), ([0, 0], [3, 1], 0), ([1], [1, 2], 1), ([], [], 1),
     ([-1], [0], 1), ([1], [1], float("nan"))],
)  # fmt: skip
def test_choices_that_cannot_be(wins, losses, explore):
    with pytest.raises(UsageError):
        choice_probabilities(wins, losses, explore)


def test_m_may_be_zero_once_something_was_won():
    assert choice_probabilities([3, 1], [1, 1], 0) == [1, 0]


@pytest.mark.parametrize("game", [SMALL, DiceBlackjack(sides=2, low=4, high=5, dice=3)])
def test_the_kernel_is_the_naive_learner(game):
    """Game by game the same counts, with choices by exact fractions in the twin."""
    graph = build(game)
    learner = Learner(graph, explore=7.5, seed=11)
    learner.play(300)
    naive = learn_naively(graph, alias_cells(graph), 300, 7.5, stream(11, 0))
    assert np.array_equal(wins_and_losses(learner), naive)


def test_the_same_for_a_game_with_turns_of_many_moves():
    graph = build(Piglet(target=4))
    learner = Learner(graph, explore=20, seed=2)
    learner.play(200)
    naive = learn_naively(graph, alias_cells(graph), 200, 20, stream(2, 0))
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


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_and_pieces_give_the_same(small, workers, monkeypatch):
    monkeypatch.setattr("rollwise.learn.learner.FIRST_ROUND", 50)
    one, other = (Learner(small, seed=4, workers=workers) for _ in range(2))
    one.play(800)
    for piece in (1, 123, 76, 600):
        other.play(piece)
    assert one.round_end == other.round_end > 800 - 800 // 8
    assert same(one, other)
    result = one.result()
    assert result.seen[0] == 800


def test_rounds_only_grow():
    ends = [0]
    while ends[-1] < 10**7:
        ends.append(round_after(ends[-1], 2))
    steps = np.diff(ends)
    assert np.all(np.diff(steps) >= 0)
    assert len(ends) < 100


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


def test_files_that_do_not_fit(tmp_path, small, graph):
    learner = Learner(small, seed=1)
    learner.play(10)
    path = tmp_path / "kept.npz"
    learner.save(path)
    with pytest.raises(LearnerFileError, match="was learned on dice-blackjack sides=3"):
        Learner.load(path, graph)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(LearnerFileError, match="damaged"):
        Learner.load(path, small)
    path.write_text("nothing")
    with pytest.raises(LearnerFileError, match="damaged"):
        Learner.load(path, small)
    with pytest.raises(LearnerFileError, match="no file"):
        Learner.load(tmp_path / "none.npz", small)


@pytest.mark.parametrize(
    "settings",
    [{"explore": 0}, {"explore": -1}, {"explore": float("nan")}, {"method": "guessing"},
     {"workers": 0}, {"seed": -1}, {"method": "q-learning", "workers": 2}],
)  # fmt: skip
def test_settings_that_cannot_be(small, settings):
    with pytest.raises(UsageError):
        Learner(small, **settings)


def test_no_games(small):
    with pytest.raises(UsageError):
        learn(small, 0)


@pytest.mark.parametrize(
    ("moves", "fault"),
    [
        ([(2, (0, 11))], "isn't over"),
        ([(3, (0, 11))], "3 can't be done here"),
        ([(2, (0, 13))], "can't lead"),
        ([(2, "win")], "can't end"),
        ([(2, "stop")], "no ending"),
        ([*GAME_1, (2, (0, 11))], "moves follow"),
        ([2], "isn't an action"),
        ([(2, {"mine": 0})], "no theirs"),
    ],
)
def test_games_that_the_rules_do_not_allow(graph, moves, fault):
    learner = Learner(graph, seed=0)
    with pytest.raises(UsageError, match=fault):
        learner.record(moves)
    assert counted(learner) == {}


def test_a_record_by_names():
    graph = build(Pig(target=4))
    record = read_game_record(
        graph,
        [("roll", {"banked": 0, "rival": 0, "turn": 3}), ("hold", (0, 3, 0)), ("roll", (3, 0, 0)),
         (0, "win")],
    )  # fmt: skip
    assert record.seats.tolist() == [0, 0, 1, 0]


def test_what_was_never_seen_is_minus_one(graph):
    result = learn(graph, 50, seed=3)
    unseen = result.seen == 0
    assert unseen.any()
    assert np.all(result.labels[unseen] == -1)
    assert np.all(result.estimates[unseen] == -1)
    assert result.grid(result.labels).shape == (15, 15)
    frame = result.table()
    assert frame.filter(frame["visits"] == 0)["action"].unique().to_list() == ["-1"]
    assert np.all(result.policy.probability.sum() == graph.n_states)


def test_counts_become_rates_and_errors(small):
    learner = Learner(small, seed=3)
    learner.play(400)
    result = learner.result()
    wins, losses = wins_and_losses(learner).T
    seen = wins + losses > 1
    rate = wins[seen] / (wins + losses)[seen]
    assert (1 + result.values[seen]) / 2 == pytest.approx(rate)
    error = np.sqrt(rate * (1 - rate) / ((wins + losses)[seen] - 1))
    assert result.standard_errors[seen] / 2 == pytest.approx(error, abs=1e-12)
    best = result.best_actions[0]
    assert result.values[best] == np.nanmax(result.values[: small.action_indptr[1]])


def test_what_later_games_show_alone(small):
    learner = Learner(small, seed=3)
    learner.play(300)
    early, before = learner.result(), wins_and_losses(learner)
    learner.play(500)
    late = learner.result().since(early)
    gained = wins_and_losses(learner) - before
    assert np.array_equal(late.visits, gained.sum(axis=1))
    some = late.visits > 1
    mean = (gained[some, 0] - gained[some, 1]) / late.visits[some]
    assert late.values[some] == pytest.approx(mean)
    assert late.standard_errors[some] == pytest.approx(
        np.sqrt(np.maximum(1 - mean**2, 0) / (late.visits[some] - 1)), abs=1e-7
    )


@pytest.mark.parametrize("method", list(METHODS))
def test_a_game_for_one_that_is_won_or_lost(method):
    result = learn(build(Craps()), 3000, seed=1, method=method)
    assert result.estimates[0] == pytest.approx(244 / 495, abs=0.15 if "q" in method else 0.04)


@pytest.mark.parametrize("method", list(METHODS))
def test_a_game_for_points(method):
    """Means of points; the learned policy is close to the best."""
    from rollwise.answer.evaluation import evaluate
    from rollwise.answer.solve import solve

    game = Ladder()
    graph = build(game)
    result = learn(graph, 3000, seed=1, method=method, explore=10)
    best = solve(game).value
    got = float(evaluate(graph, result.policy).values[0])
    assert got <= best + 1e-12
    assert got > 0.9 * best
    assert np.all(np.isnan(result.estimates[result.seen == 0]))


def test_ctrl_c_leaves_whole_games(small):
    import _thread

    learner = Learner(small, seed=1)

    def press(stage, done, total):
        if done >= 2048:
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        learner.play(10**9, progress=press)
    played = learner.games
    assert 2048 <= played < 10**9
    assert learner.result().seen[0] == played
    learner.play(10)
    other = Learner(small, seed=1)
    other.play(played + 10)
    assert same(learner, other)


def test_policies_that_do_not_fit(small):
    from rollwise.answer.references import Policies

    for reference in ("hold-at-20", "0.5*one-die+x", "0*one-die+0*random"):
        with pytest.raises(PolicyError):
            Policies(small, SMALL).find(reference)


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize(
    "name",
    sorted(
        set(available())
        - {"pig", "two-dice-pig", "hog", "pass-the-pigs", "zombie-dice"}
        - set(small_games.SMALL)
    ),
    ids=lambda name: name,
)
def test_every_learner_on_every_game(name, method):
    """Games are whole, and the estimate of the start is a possible value."""
    graph = build(available()[name]())
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
