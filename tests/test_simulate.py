"""Simulated games: exactly as many as asked for, as the exact figures say, and told."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output
from little_games import Ladder, Spot
from naive import Xoshiro
from scipy.stats import chi2
from stakes import Collect, Ends, Gammons

from rollwise import AGAIN, DRAW, END, LOSE, WIN, Game, payoff
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.documents.simulated import match_document
from rollwise.errors import UsageError
from rollwise.games.craps import Craps
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.frozen_lake import FrozenLake
from rollwise.games.knock_out import KnockOut
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.pig import Pig, Piglet
from rollwise.games.threes import Threes
from rollwise.graph.layout import StateLayout
from rollwise.graph.policies import Policy
from rollwise.many.seats import build_seats
from rollwise.numbers.randomness import stream
from rollwise.play.games import PlayTable
from rollwise.simulate import simulate, tell, tournament
from rollwise.simulate.seats import simulate_seats
from rollwise.simulate.turn_by_turn import simulate_large
from rollwise.then import is_over, seats_on, won_by

pytestmark = pytest.mark.kernels

BLACKJACK = DiceBlackjack(sides=4, low=8, high=9, dice=2)


def policies(game, *names):
    graph = build(game)
    return graph, *(Policies(graph, game).find(name) for name in names)


def cheap(games):
    """Fewer games where every one is interpreted."""
    from rollwise.machine.switches import jit_disabled

    return games // 20 if jit_disabled() else games


@dataclass(frozen=True)
class Toss(Game):
    """There is nothing to choose, so every policy plays alike."""

    def start(self):
        return Cell(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 2, WIN, s
        yield 1, LOSE, s


class Cell(NamedTuple):
    place: int


def test_a_single_game_is_told_without_a_plural_and_without_an_infinite_error():
    """And a game for one, of one turn, without its number of turns."""
    told = output("simulate", "threes", "dice=2", "--policy", "optimal", "--games", "1")
    assert "optimal: 1 game\n" in told
    assert "(a single game: error unknown)" in told
    assert "inf" not in told
    assert "turns" not in told
    assert "turns" in output("simulate", "piglet", "target=2", "--games", "2", "--policy", "random")


def test_a_game_for_points_has_no_wins_and_no_opponent():
    typed = ("threes", "dice=2", "--policy", "optimal", "--games", "4", "--json")
    found = json.loads(output("simulate", *typed))
    assert found["against"] is None
    side = found["sides"][0]
    assert [side[key] for key in ("wins", "draws", "losses")] == [None] * 3
    assert sum(count for _, count in side["scores"]) == 4


def test_policies_that_play_alike_have_the_names_that_were_typed():
    match = simulate(Toss(), "random", "optimal", games=4)
    assert (match.policy, match.against) == ("random", "optimal")
    assert [(side.first, side.second, side.games) for side in match.sides] == [
        ("random", "optimal", 2),
        ("optimal", "random", 2),
    ]
    assert len(simulate(Toss(), "random", "random", games=4).sides) == 1


def test_every_game_begun_is_played_and_the_result_repeats():
    graph, one, all_dice = policies(BLACKJACK, "one-die", "all-dice")
    first = simulate(graph, one, all_dice, games=2001, seed=3)
    assert [side.games for side in first.sides] == [1001, 1000]
    assert sum(side.wins + side.draws + side.losses for side in first.sides) == 2001
    again = simulate(graph, one, all_dice, games=2001, seed=3, workers=3)
    assert first == again
    assert simulate(graph, one, all_dice, games=2001, seed=4) != first


def test_the_kernel_is_a_naive_walk():
    """One game at a time through the graph, with the same random numbers."""
    graph, policy = policies(BLACKJACK, "0.5*one-die+0.5*all-dice")
    table = PlayTable.of(graph, policy)
    words = stream(8, 0)
    random = Xoshiro(words)
    for _ in range(100):
        games = table.play(1, words)
        here, moves, passes, code = table.starts[0], 0, 0, 0
        while code >= 0:
            node = int(table.nodes[here])
            place, count, even, move = node >> 28, (node >> 2) & 0x3FFFFFF, node & 2, node & 1
            bits = random.draw()
            cell = place + ((bits >> 32) * count >> 32)
            codes, thresholds, others = table.cells
            code = int(codes[cell])
            if not even and bits & 0x7FFFFFFF >= thresholds[cell]:
                code = int(others[cell])
            moves += move
            if code >= 0:
                here, passes = code >> 1, passes + (code & 1)
        assert games.moves[0] == moves
        assert games.turns[0] == passes + 1
        assert games.payoff[0] == (1 if code == -3 else -1) * (-1) ** passes


@pytest.mark.parametrize(
    ("game", "names"),
    [
        (BLACKJACK, ("one-die", "all-dice")),
        (BLACKJACK, ("0.3*optimal+0.7*random", "optimal")),
        (Piglet(target=5), ("hold-at-2", "random")),
        (Piglet(target=5), ("random",)),
        (Craps(), ("random",)),
        (Ladder(), ("random",)),
        (Ladder(), ("optimal",)),
    ],
)
def test_simulated_figures_agree_with_the_exact_ones(game, names):
    graph, *entered = policies(game, *names)
    match = simulate(graph, *entered, games=cheap(60_000), seed=1)
    assert match.disagreements() == []
    for side in match.sides:
        for _, estimate in side.estimates():
            assert estimate.exact is not None
            assert estimate.exact_bound < 1e-10
            low, high = estimate.interval_at(1 - 7e-6)
            assert low - 1e-9 <= estimate.exact <= high + 1e-9
            low, high = estimate.interval
            assert low <= estimate.mean <= high


def test_scores_fall_as_the_exact_distribution_says():
    """Chi-square of a solitaire score with few values against its exact distribution."""
    game = Ladder(top=4)
    graph, policy = policies(game, "random")
    n = cheap(100_000)
    side = simulate(graph, policy, games=n, seed=2).sides[0]
    exact = {}

    def walk(s, points, chance):
        begin, end = int(graph.action_indptr[s]), int(graph.action_indptr[s + 1])
        for a in range(begin, end):
            outcomes = range(int(graph.outcome_indptr[a]), int(graph.outcome_indptr[a + 1]))
            total = sum(graph.outcome_weight[k] for k in outcomes)
            for k in outcomes:
                share = chance * policy.probability[a] * graph.outcome_weight[k] / total
                made, t = points + graph.action_reward[a], int(graph.outcome_state[k])
                if t < 0 or share < 1e-12:
                    exact[made] = exact.get(made, 0) + share
                else:
                    walk(t, made, share)

    walk(0, 0.0, 1.0)
    expected = np.array([n * exact[score] for score in sorted(exact)])
    got = np.array([side.scores.get(score, 0) for score in sorted(exact)])
    assert got.sum() == side.games == n
    often = expected >= 5
    statistic = ((got - expected)[often] ** 2 / expected[often]).sum()
    assert statistic < chi2.ppf(0.9999, max(int(often.sum()) - 1, 1))


def test_a_told_game_is_one_that_the_rules_allow():
    game = Pig(target=20)
    graph, policy = policies(game, "hold-at-20")
    moves = tell(graph, policy, seed=4)
    assert moves == tell(graph, policy, seed=4)
    state, seat, turn = game.start(), 1, 1
    layout = StateLayout.of(game)
    for move in moves:
        assert layout.state(list(move.state.values())) == state
        assert (move.seat, move.turn) == (seat, turn)
        action = game.action_names.index(move.action)
        followers = {t for _, _, t in game.outcomes(state, action)}
        if move.next_state is not None:
            state = layout.state(list(move.next_state.values()))
            assert state in followers
        if move.outcome == "pass":
            seat, turn = 3 - seat, turn + 1
    assert moves[-1].outcome == "win"
    assert moves[-1].text.endswith("wins")


@pytest.mark.parametrize(
    "game",
    [Pig(target=9, players=3), KnockOut(players=4), LeftCenterRight(players=3, chips=1)],
    ids=lambda game: game.name,
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_told_game_of_many_goes_round_the_table_as_the_rules_say(game, seed):
    n, graph = game.players, build_seats(game)
    names = ["random"] * (n - 1) + ["first"]
    first = Policy.of_actions(graph, "first", graph.action_indptr[:-1])
    seated = [*map(Policies(graph, game).find, names[:-1]), first]
    moves = tell(graph, seated, seed=seed)
    assert moves == tell(graph, seated, seed=seed)
    layout, turn, seats = StateLayout.of(game), 1, {0}
    state = game.start()
    for move in moves:
        seat = move.seat - 1
        assert seat in seats
        assert (move.turn, move.policy) == (turn, names[seat])
        assert layout.state(list(move.state.values())) == state
        action = graph.view.find(move.state).find_action(move.action)
        outcomes = [(then, t) for ways, then, t in game.outcomes(state, action.label) if ways]
        if move.next_state is not None:
            state = layout.state(list(move.next_state.values()))
            on = {seats_on(then, n) for then, t in outcomes if not is_over(then) and t == state}
            seats = {(seat + k) % n for k in on}
            assert (move.outcome == "pass") is (on != {0})
            turn += move.outcome == "pass"
    winners = {(seat + k) % n for k in range(n) for then, _ in outcomes if won_by(k) == then}
    assert moves[-1].next_state is None
    assert moves[-1].text[-6:] in {f"{'ABCD'[winner]} wins" for winner in winners}


@pytest.mark.parametrize("what", [["--tell", "2"], ["--games", "200"]])
def test_games_of_three_are_played_by_a_saved_equilibrium(tmp_path, what):
    asked = ["pig", "players=3", "target=4"]
    output("solve", *asked, "--save", str(tmp_path / "saved.parquet"))
    played = ["simulate", *asked, "--policy", "optimal,random,optimal", "--seed", "2", *what]
    told = output(*played)
    assert told == output(*played, "--load", str(tmp_path / "saved.parquet"))
    assert ("A plays optimal, B plays random, C plays optimal" in told) is (what[0] == "--tell")


def test_a_policy_tells_all_seats_and_others_are_refused():
    game = Pig(target=4, players=3)
    assert tell(game, "random", seed=7) == tell(game, ["random"] * 3, seed=7)
    with pytest.raises(UsageError, match="has 3 seats, and 2 policies"):
        tell(game, "random", "random", seed=7)


@pytest.mark.parametrize("name", ["threes", "frozen-lake", "piglet"])
def test_tournaments_have_the_results_of_evaluate(name):
    """Alone against nobody, and against itself, a policy gets its value."""
    game = {"threes": Threes(dice=2), "frozen-lake": FrozenLake(), "piglet": Piglet()}[name]
    found = tournament(game, ["random", "optimal"])
    assert found.exact
    assert found.standings[0].policy == "optimal"
    for k, policy in enumerate(("random", "optimal")):
        value = evaluate(game, policy)
        expected = value.values[0] if game.objective != "win" else value.win_probability[0]
        (entry,) = [entry for entry in found.standings if entry.policy == policy]
        result = entry.result if found.first is None else found.first[k, k]
        assert result == pytest.approx(expected, abs=1e-9)


def test_three_players_are_in_tournaments_in_python_as_on_the_command_line():
    game, entered = Pig(players=3, target=6), ["optimal", "random"]
    told = output("tournament", "pig", "players=3", "target=6", "--policies", ",".join(entered))
    found = tournament(game, entered)
    assert found.exact
    assert str(found) in told
    assert not tournament(game, entered, games=60, seed=1, exact=False).exact
    with pytest.raises(UsageError, match="workers"):
        tournament(game, entered, workers=2)


@dataclass(frozen=True)
class FarPayoffs(Game):
    """A payoff, or one more, with even chances."""

    players: int = 2
    base: int = 10**8

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, payoff(self.base), s
        yield 1, payoff(self.base + 1), s


@pytest.mark.parametrize("players", [1, 2])
def test_payoffs_far_from_zero_have_the_error_of_their_spread(players):
    """The half of a unit that they differ from their mean is lost in a sum of their squares."""
    (side,) = simulate(FarPayoffs(players), "random", games=4000, seed=1).sides
    assert side.score.standard_error == pytest.approx(0.5 / 4000**0.5, rel=0.01)
    assert not side.score.disagrees
    if players == 2:
        played = simulate(FarPayoffs(), ["random", "optimal"], games=4000, seed=1)
        assert played.standard_errors == pytest.approx([0.5 / 4000**0.5] * 2, rel=0.01)
        assert played.win_rates[0] == pytest.approx(10**8 + 0.5, abs=0.05)


@dataclass(frozen=True)
class SurePayoff(FarPayoffs):
    def outcomes(self, s, action):
        yield 1, payoff(3), s


def test_equal_payoffs_of_each_seat_have_no_error():
    played = simulate(SurePayoff(), ["random", "optimal"], games=10, seed=1)
    assert played.win_rates == (3.0, -3.0)
    assert np.isnan(played.standard_errors).all()
    assert "gets on average 3.000000 (the same in every game: error unknown; exact" in str(played)


def test_tournaments_of_two_seeds_have_no_games_in_common(monkeypatch):
    used = set()

    def noted(graph, policies, *, games, seed):
        assert seed not in used
        used.add(seed)
        return simulate_seats(graph, policies, games=games, seed=seed)

    monkeypatch.setattr("rollwise.simulate.seats.simulate_seats", noted)
    for seed in (1, 2):
        tournament(
            Pig(players=3, target=3), ["hold-at-20", "random"], games=6, seed=seed, exact=False
        )
    assert len(used) == 2 * 8 * 3  # seeds, seatings, first movers


@pytest.mark.parametrize("players", [2, 3])
def test_a_tournament_says_its_stage_before_the_first_pair_is_played(players):
    game, calls = Pig(players=players, target=6), []
    tournament(game, ["optimal", "random"], progress=lambda *told: calls.append(told))
    begun = [(done, total) for stage, done, total in calls if stage in ("pairs", "seatings")]
    assert begun[0][0] == 0 < begun[0][1]


def test_simulated_tournaments_name_what_has_so_many_games():
    options = ("--policies", "random,optimal", "--no-exact", "--games", "10", "--seed", "1")
    assert "10 games a policy, seed 1" in output("tournament", "craps", *options)
    assert "10 games a pair, seed 1" in output("tournament", "piglet", *options)


@pytest.mark.parametrize("name", ["craps", "frozen-lake", "threes", "piglet"])
def test_games_played_turn_by_turn_have_the_same_figures(name):
    """Alone or against another, for points or for a win: as in one graph."""
    games = {"threes": Threes(dice=2), "frozen-lake": FrozenLake(), "piglet": Piglet(target=5)}
    game = games.get(name, Craps())
    exact = simulate(game, "random", games=10, seed=1).sides[0]
    n = cheap(4000)
    (side,) = simulate_large(game, "random", games=n, seed=1, answer=lambda: None).sides
    assert side.games == n
    figures = dict(exact.estimates())
    assert [each for each, _ in side.estimates()] == list(figures)
    for each, estimate in side.estimates():
        low, high = estimate.interval_at(1 - 7e-6)
        assert low - 1e-9 <= figures[each].exact <= high + 1e-9, each
    if side.win_rate is not None:
        assert (side.wins > 0) == (game.objective == "win")
        assert side.wins + side.draws / 2 == pytest.approx(n * side.win_rate.mean)


@pytest.mark.parametrize("game", [Collect(chips=3), Gammons(length=5), Piglet(target=5)], ids=str)
def test_two_players_with_a_policy_each_get_what_one_gets_against_the_other(game):
    """Of stakes and payments, too: a seat's gain is the loss of the other."""
    known = Policies.of(game)
    graph, pair = known.graph, [known.find(name) for name in ("optimal", "random")]
    evaluation = evaluate(known, *pair)
    gain = evaluation.values[0] if graph.is_score else evaluation.win_probability[0]
    exact = (gain, (0 if graph.is_score else 1) - gain)
    assert evaluate(known, pair).win_probabilities == pytest.approx(exact)
    played = simulate_seats(graph, pair, games=cheap(20_000), seed=1)
    for got, want, error in zip(played.win_rates, exact, played.standard_errors, strict=True):
        assert abs(got - want) < 5 * error


@pytest.mark.parametrize("name", ["Collect", "Gammons"])
def test_the_commands_name_the_payoffs_of_two_players_with_a_policy_each(name):
    sheet = f"{Path(__file__).parent / 'stakes.py'}:{name}"
    told = output("evaluate", sheet, "--policy", "optimal,random", "--json")
    found = json.loads(told)
    assert found["unit"] == "expected payoff"
    alone = output("evaluate", sheet, "--policy", "optimal", "--against", "random", "--json")
    gain = json.loads(alone)["value"]
    assert found["payoffs"] == pytest.approx([gain, -gain])
    options = ("--games", "300", "--seed", "1", "--json")
    told = output("simulate", sheet, "--policy", "optimal,random", *options)
    played = json.loads(told)
    assert played["unit"] == "expected payoff"
    assert played["payoffs"] == pytest.approx([gain, -gain])
    assert sum(played["payoff_means"]) == pytest.approx(0)


def test_a_payment_of_1_is_no_win_in_games_played_turn_by_turn_either():
    game = Ends(end=DRAW, points=1.0)
    sides = [
        simulate(game, "random", games=10, seed=1).sides[0],
        simulate_large(game, "random", games=10, seed=1, answer=lambda: None).sides[0],
    ]
    for side in sides:
        assert side.win_rate is None
        assert side.score.mean == 1


class Count(NamedTuple):
    left: int


@dataclass(frozen=True)
class Tenths(Game):
    """Three rewards of some tenths each, whose sums depend on their order in the last digit."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    more: float = 0.0

    def start(self):
        return Count(3)

    def actions(self, s):
        yield from range(4)

    def outcomes(self, s, action):
        yield 1, (AGAIN if s.left > 1 else END), Count(s.left - 1)

    def reward(self, s, action):
        return action / 10 + (self.more if s.left == 1 else 0.0)


def test_equal_scores_are_one_whatever_the_order_of_their_sum():
    graph = build(Tenths())
    (side,) = simulate(graph, "random", games=5_000, seed=1).sides
    assert list(side.scores) == pytest.approx([k / 10 for k in range(10)])
    assert sum(side.scores.values()) == 5_000


def test_different_scores_look_different():
    graph = build(Tenths(more=1e6))
    document = match_document(simulate(graph, "random", games=5_000, seed=1))
    rows = [line.split()[0] for line in map(str, document.blocks()) if line.endswith("#")]
    assert rows == [f"{1e6 + k / 10:.8g}" for k in range(10)]


def test_simulated_pairs_of_a_tournament_have_errors():
    words = ("tournament", "piglet", "--policies", "optimal,hold-at-2", "--games", "100")
    told = output(*words, "--seed", "1", "--no-exact")
    rows = [line for line in told.splitlines() if line.startswith(("optimal", "hold"))]
    # against the other policy, and against itself, where nothing is estimated
    assert all(len(re.findall(r"% ± \d", row)) == 1 for row in rows), told
    assert all(row.count("50.0000 %") == 1 for row in rows)
