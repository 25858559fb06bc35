"""Questions about games of several seats, each beside plain sweeps over the rules."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal, run

import rollwise
from rollwise.analysis.balance import balance
from rollwise.analysis.chain import greedy, measure_skill
from rollwise.analysis.compare_methods import compare_methods, of_one_seat
from rollwise.analysis.distance import distance_of_policy
from rollwise.analysis.exploit import differences, exploit, learn_friend
from rollwise.analysis.lengths import within
from rollwise.analysis.second_aims import ranges, second_aims
from rollwise.analysis.tuning import amount_of
from rollwise.answer.evaluation import respond_to_all
from rollwise.answer.optimal_set import OptimalSet
from rollwise.answer.references import Policies
from rollwise.builders.contract import FOR_ONE
from rollwise.export import export
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.games.pig import Pig
from rollwise.graph.packed import anchors
from rollwise.numbers.shares import brought
from rollwise.then import (
    PASS,
    PASS_BACK,
    WIN,
    is_over,
    payoff_of,
    payoffs,
    seats_on,
    shared_by,
    skip,
)

EXAMPLES = Path(__file__).parent.parent / "examples"


class Tracks(NamedTuple):
    mine: int
    others: tuple[int, ...]


@dataclass(frozen=True)
class Relay(Game):
    """Four runners: a sure step, or a leap that may fail. Ties at the end share."""

    players: ClassVar[int] = 4
    action_names: ClassVar = ("step", "leap")

    def start(self):
        return Tracks(0, (0, 0, 0))

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        for ways, steps in ((1, 1),) if action == 0 else ((2, 0), (3, 2)):
            mine, others = s.mine + steps, s.others
            if mine >= 3:
                yield ways, shared_by((True, *(k == 2 for k in others))), s
            else:
                yield ways, PASS, Tracks(others[0], (*others[1:], mine))


@dataclass(frozen=True)
class Turnabout(Game):
    """Three players throw a die: 1 gives it back, 2 leaves out the next player; a lazy throw is
    half as far, and always passes.
    """

    players: ClassVar[int] = 3
    action_names: ClassVar = ("throw", "lazy")

    def start(self):
        return Tracks(0, (0, 0))

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        for face in (1, 2, 3):
            mine = s.mine + (face if action == 0 else 1)
            next_one, last = s.others
            if mine >= 4:
                yield 1, WIN, s
            elif action == 1 or face == 3:
                yield 1, PASS, Tracks(next_one, (last, mine))
            else:
                yield 1, PASS_BACK if face == 1 else skip(2), Tracks(last, (mine, next_one))


def game_of(reference, **values):
    return create(find(reference), {name: str(value) for name, value in values.items()})


GAMES = {
    "pig": lambda: Pig(6, players=3),
    "super-six": lambda: game_of("super-six", players=3, sticks=4),
    "threes": lambda: game_of("threes", players=3, dice=2),
    "relay": Relay,
    "turnabout": Turnabout,
}


NAMES = [pytest.param(k, marks=[pytest.mark.slow] if k == "threes" else []) for k in GAMES]


@cache
def solved(name):
    return rollwise.solve(GAMES[name]())


def moves_of(solution, name):
    """A policy as a function from states to the chances of actions."""
    policy, graph = Policies.of(solution, any_players=True).find(name), solution.graph

    def moves(s):
        state = graph.view[graph.find(s)]
        chances = policy.probability[list(state.action_range)].tolist()
        return {a: p for a, p in zip(state.labels, chances, strict=True) if p}

    return moves


def ways_on(game, s, a):
    """The outcomes of an action: chance, seats on or results from the mover on, next state."""
    every = [one for one in game.outcomes(s, a) if one[0]]
    total = sum(ways for ways, _, _ in every)
    for ways, then, after in every:
        over = is_over(then)
        told = brought(1.0 if then == WIN else payoff_of(then), game.players) if over else None
        yield ways / total, told, seats_on(then, game.players), after


def swept(game, moves, paid=np.asarray, each=None, sweeps=1000):
    """Sums over play of all seats from every state with every seat to move, by plain sweeps.

    ``moves`` has a function for each seat, from states to the chances of actions. The sums are
    the results of the seats, from the first on, or `paid` of them from the mover on, with `each`
    (of a state and a seat) added on the way.
    """
    n, steps, waiting = game.players, {}, [(game.start(), seat) for seat in range(game.players)]
    while waiting:
        s, seat = at = waiting.pop()
        if at in steps:
            continue
        steps[at] = [
            (chance * p, None if told is None else np.roll(paid(np.array(told, float)), seat),
             (after, (seat + on) % n))
            for a, chance in moves[seat](s).items()
            for p, told, on, after in ways_on(game, s, a)
        ]  # fmt: skip
        waiting += [after for _, told, after in steps[at] if told is None]
    values = {at: np.zeros(n) for at in steps}
    for _ in range(sweeps):
        change = 0.0
        for at, ways in steps.items():
            found = sum(p * (values[after] if told is None else told) for p, told, after in ways)
            found = found if each is None else found + each(*at)
            change, values[at] = max(change, np.abs(found - values[at]).max()), found
        if change < 1e-14:
            break
    return values


def everywhere(game):
    """All states with all seats to move, whoever plays."""
    return swept(game, [lambda s: dict.fromkeys(game.actions(s), 1.0)] * game.players, sweeps=0)


# ---- the strategy as matrices


def test_a_grid_has_a_matrix_for_each_seat():
    where = "turn == 0 and rivals.1 == 3"
    typed = ("table", "pig", "players=3", "target=10", "--where", where)
    document = json.loads(output(*typed, "--grid", "--json"))
    rows = json.loads(output(*typed, "--json"))["rows"]
    assert (document["rows"], document["columns"]) == ("banked", "rivals.0")
    assert document["win_probability_grid"] == document["seat_grids"][0]
    cells = 0
    for row in rows:
        i = document["row_numbers"].index(row["banked"])
        j = document["column_numbers"].index(row["rivals.0"])
        names = document["action_names"]
        assert names[str(document["action_grid"][i][j])] == row["action"]
        assert document["probability_grid"][i][j] == row["probability"]
        for seat, grid in enumerate(document["seat_grids"]):
            assert grid[i][j] == row[f"win_probability.{seat}"]
        cells += 1
    assert cells == sum(x != -1 for row in document["action_grid"] for x in row) == len(rows)
    text = output(*typed, "--grid")
    assert "Win probability of the next in %, if all play the equilibrium (certified ±" in text


def test_a_grid_says_where_actions_are_mixed():
    typed = ("table", "pig", "players=3", "sides=3", "target=14", "--grid", "--where")
    mixed = "banked == 0 and turn == 5"
    text = output(*typed, mixed)
    assert "the equilibrium mixes actions; the likeliest is shown" in text


# ---- the value of policies in each position


@pytest.mark.parametrize("name", NAMES)
def test_the_value_of_policies_in_each_position(name):
    solution = solved(name)
    names, n = ("random", "optimal"), solution.graph.players
    for given in (["optimal"], [names[k % 2] for k in range(n)]):
        found = rollwise.evaluate(solution, given)
        seated = given if len(given) > 1 else given * n
        naive = swept(solution.game, [moves_of(solution, one) for one in seated])
        for (s, seat), results in naive.items():
            mover = seat if len(given) > 1 else 0
            values = found.values[mover, solution.graph.find(s)]
            assert values == pytest.approx(np.roll(results, -seat), abs=1e-9)
        assert np.nanmax(found.bounds) < 1e-11


def test_rows_of_each_seat_to_move():
    typed = ("evaluate", "pig", "players=3", "target=6", "--policy", "optimal,random,hold-at-20")
    rows = json.loads(output(*typed, "--table", "--json"))["rows"]
    assert {row["seat"] for row in rows} == {1, 2, 3}
    first = json.loads(output(*typed, "--json"))
    shares = [rows[0][f"win_probability.{seat}"] for seat in range(3)]
    assert shares == pytest.approx(first["win_probabilities"], abs=1e-14)
    place = {"banked": 3, "rivals.0": 2, "rivals.1": 0, "turn": 2}
    state = ",".join(f"{name}={number}" for name, number in place.items())
    there = json.loads(output(*typed, "--state", state, "--json"))
    (row,) = [row for row in rows if row["seat"] == 1 and place.items() <= row.items()]
    shares = [row[f"win_probability.{seat}"] for seat in range(3)]
    assert shares == pytest.approx(there["win_probabilities"], abs=1e-14)
    assert there["state"] == place
    alike = output("evaluate", "pig", "players=3", "target=6", "--policy", "optimal", "--table")
    assert "seat" not in alike.splitlines()[0].split()


def test_rows_of_two_seats_are_those_of_a_policy_against_another():
    typed = ("evaluate", "pig", "target=6", "--policy")
    rows = json.loads(output(*typed, "optimal,random", "--table", "--json"))["rows"]
    versus = json.loads(output(*typed, "optimal", "--against", "random", "--table", "--json"))
    first = [row["win_probability.0"] for row in rows if row["seat"] == 1]
    assert first == pytest.approx([row["win_probability"] for row in versus["rows"]], abs=1e-14)
    assert "--state is one position" in refusal(
        *typed, "random,random", "--table", "--state", "x=1"
    )


# ---- turns, luck, shared wins and skill


def passes(game, moves):
    """The chance that a turn ends in a state without the end of the game, for `swept`."""

    def each(s, seat):
        return sum(
            chance * p
            for a, chance in moves[seat](s).items()
            for p, told, on, _ in ways_on(game, s, a)
            if told is None and on % game.players
        )

    return each


def squared(told):
    return np.array(told, float) ** 2


@pytest.mark.parametrize("name", NAMES)
def test_turns_luck_and_shared_wins_are_those_of_plain_sweeps(name):
    solution = solved(name)
    game, start = solution.game, (solution.game.start(), 0)
    moves = [moves_of(solution, "optimal")] * game.players
    counted = swept(game, moves, lambda told: np.zeros(game.players), passes(game, moves))
    turns, bound = amount_of("turns", solution)
    assert turns == pytest.approx(1 + counted[start][0], abs=1e-9)
    assert bound < 1e-10
    mean, square = swept(game, moves)[start][0], swept(game, moves, squared)[start][0]
    assert amount_of("luck", solution)[0] == pytest.approx((square - mean**2) ** 0.5, abs=1e-9)
    shared = swept(game, moves, lambda told: np.full(game.players, float(max(told) < 1)))[start][0]
    assert amount_of("draws", solution)[0] == pytest.approx(shared, abs=1e-9)


@pytest.mark.parametrize("name", ["relay", "turnabout"])
def test_the_share_of_skill_is_that_of_plain_sweeps(name):
    solution = solved(name)
    policies = Policies.of(solution, any_players=True)
    levels = [policies.find("random"), greedy(policies), policies.find("optimal")]
    skill = measure_skill(policies, levels)
    game, n = solution.game, solution.graph.players
    moves = [moves_of(solution, level) for level in levels]
    results = [[swept(game, [a, *[b] * (n - 1)]) for b in moves] for a in moves]
    begun = (game.start(), 0)
    means = np.array([[of[begun][0] for of in row] for row in results])
    squares = [[swept(game, [a, *[b] * (n - 1)], squared)[begun][0] for b in moves] for a in moves]
    assert skill.means == pytest.approx(means, abs=1e-9)
    within = (np.array(squares) - means**2).mean()
    assert skill.share.value == pytest.approx(means.var() / (means.var() + within), abs=1e-9)
    for level, row in enumerate(results):
        over_seats = np.mean([row[-1][game.start(), seat][0] for seat in range(n)])
        assert skill.against_best[level] == pytest.approx(over_seats, abs=1e-9)


def test_a_greedy_player_is_best_if_all_moves_after_it_are_random():
    solution = solved("turnabout")
    game, n = solution.game, 3
    found = greedy(Policies.of(solution, any_players=True))
    values = swept(game, [moves_of(solution, "random")] * n)
    for s in {s for s, _ in values}:
        worths = {}
        for a in game.actions(s):
            worths[a] = sum(
                p * (told[0] if told is not None else values[after, on % n][0])
                for p, told, on, after in ways_on(game, s, a)
            )
        (taken,) = moves_of(solution, found)(s)
        assert worths[taken] == pytest.approx(max(worths.values()), abs=1e-12)


def test_tuning_a_game_of_three():
    points = json.loads(
        output("tune", "pig", "players=3", "--vary", "target=4..6", "--for", "max turns", "--json")
    )["points"]
    for point in points:
        solution = rollwise.solve(Pig(int(point["parameters"]["target"]), players=3))
        assert point["amount"] == amount_of("turns", solution)[0]
        assert amount_of("value", solution)[0] == solution.equilibrium.worth[0]


# ---- balance


def fought_out(game, moves, values):
    """Lead changes, comebacks and the turns of decisions, followed from move to move.

    ``values`` has the chances of all seats, by state and seat to move.
    """
    n = game.players

    def leader(chances):
        first, second = np.sort(chances)[:-3:-1]
        return int(np.argmax(chances)) if first - second > 1e-9 else None

    def seen(at, turn, last, low, since):
        chances = values[at]
        low = tuple(was or x <= 0.1 + 1e-9 for was, x in zip(low, chances, strict=True))
        high = [x >= 0.9 - 1e-9 for x in chances]
        since = tuple(
            (turn if t is None else t) if is_high else None
            for is_high, t in zip(high, since, strict=True)
        )
        lead = leader(chances)
        return at, last if lead is None else lead, low, since

    begun = seen((game.start(), 0), 0, None, (False,) * n, (None,) * n)
    now, changes, comebacks, decided = {(*begun, 1): 1.0}, 0.0, 0.0, Counter()
    while sum(now.values()) > 1e-12:
        later = Counter()
        for ((s, mover), last, low, since, turn), mass in now.items():
            for a, chance in moves(s).items():
                for p, told, on, after in ways_on(game, s, a):
                    q = mass * chance * p
                    if told is None:
                        at = after, (mover + on) % n
                        then = seen(at, turn, last, low, since)
                        later[(*then, turn + (on % n != 0))] += q
                    else:
                        results = np.roll(np.array(told, float), mover)
                        then = (None, leader(results), low, since)
                        if results.max() == 1:
                            k = int(np.argmax(results))
                            comebacks += q * low[k]
                            decided[turn if since[k] is None else since[k]] += q
                    lead = last if then[1] is None else then[1]
                    changes += q * (last is not None and lead != last)
        now = later
    return changes, comebacks, decided


@pytest.mark.parametrize("name", ["pig", "relay", "turnabout"])
def test_the_course_of_a_game_is_that_of_plain_play(name):
    solution = solved(name)
    game, moves = solution.game, moves_of(solution, "optimal")
    found = balance(solution, evaluations=0)
    values = swept(game, [moves] * game.players)
    changes, comebacks, decided = fought_out(game, moves, values)
    assert found.drama.lead_changes.value == pytest.approx(changes, abs=1e-9)
    assert found.drama.comebacks.value == pytest.approx(comebacks, abs=1e-9)
    for turn, chance in enumerate(found.drama.decided.chance):
        assert chance == pytest.approx(decided[turn], abs=1e-9)
    assert found.seats == pytest.approx(values[game.start(), 0], abs=1e-9)
    assert found.turns.value == amount_of("turns", solution)[0]
    lead = found.seats[0] - 1 / game.players
    assert found.edge == pytest.approx(lead / amount_of("luck", solution)[0], abs=1e-12)


def test_balance_for_three_in_words():
    typed = ("balance", "pig", "players=3", "target=6", "--evaluations", "20")
    text, document = output(*typed), json.loads(output(*typed, "--json"))
    share = 100 * document["win_probabilities"][2]
    assert f"seat 3           wins {share:.4f}"[:-1] in text
    assert document["rules"][0]["text"] == "Always roll."
    assert "no player gains more than" in text
    assert "All play an equilibrium, which need not be the only one" in text


def test_mixtures_of_an_equilibrium_are_no_ties():
    who_stops = f"{EXAMPLES}/who_stops.py:WhoStops"
    assert (
        json.loads(output("balance", who_stops, "--evaluations", "0", "--json"))["equally_good"]
        is None
    )


# ---- beating a friend among several


def worst_sweeps(game, mine, sweeps=1000):
    """The least result of a policy in each seat, if all others together try to hold it down."""
    n, values = game.players, dict.fromkeys(everywhere(game), 0.0)
    for _ in range(sweeps):
        change = 0.0
        for (s, seat), before in values.items():
            worths = {
                a: sum(
                    p * (told[-seat % n] if told is not None else values[after, (seat + on) % n])
                    for p, told, on, after in ways_on(game, s, a)
                )
                for a in game.actions(s)
            }
            found = min(worths.values())
            if seat == 0:
                found = sum(chance * worths[a] for a, chance in mine(s).items())
            values[s, seat], change = found, max(change, abs(found - before))
        if change < 1e-14:
            break
    return [values[game.start(), seat] for seat in range(n)]


@pytest.mark.parametrize("name", ["relay", "turnabout"])
def test_a_friend_in_all_other_seats_is_beaten_within_the_risk(name):
    solution = solved(name)
    policies, game = Policies.of(solution, any_players=True), solution.game
    n = game.players
    random = np.random.default_rng(3)
    friend = learn_friend(policies, random.integers(0, solution.graph.n_actions, 40))
    found = exploit(policies, friend, 0.05)
    best, safest = found.best, found.optimal
    theirs = moves_of(solution, friend.mean())
    for one in (best, safest):
        mine = moves_of(solution, one.policy)
        values = swept(game, [mine, *[theirs] * (n - 1)])
        gained = np.mean([values[game.start(), seat][0] for seat in range(n)])
        assert one.gain.value == pytest.approx(gained, abs=1e-9)
        guarantee = np.mean(respond_to_all(solution.graph, "adversaries").best)
        worst = np.mean(worst_sweeps(game, mine))
        assert one.risk.value == pytest.approx(guarantee - worst, abs=1e-9)
        assert one.promise.value <= one.gain.value + 1e-12
    assert best.risk.value <= 0.05
    assert safest.risk.value <= safest.risk.bound
    _, _, gains = differences(policies, found)
    assert sum(gains) == pytest.approx(best.gain.value - safest.gain.value, abs=1e-9)


def test_exploit_reads_the_games_of_three(tmp_path):
    games = tmp_path / "three.game"
    games.write_text(
        "@game pig target=6 players=3\n\n"
        "Bob: roll 2, hold\nAnn: roll 1\nCid: roll 4, roll 1\nBob: roll 3, hold\nAnn: roll 6\n\n"
        "Ann: roll 1\nBob: roll 3, hold\nCid: roll 2, roll 1\nAnn: roll 5, roll 6\n"
    )
    text = output("exploit", str(games), "--player", "Bob", "--risk", "0.2")
    assert "3 choices of Bob in 2 games" in text
    assert "as learned, played by all others" in text
    assert "the safest play" in text


# ---- certify: the gain by a deviation, and values from elsewhere


def best_sweeps(game, moves, free, mine, sweeps=1000):
    """The result of a seat by state and seat to move, where all but a free one keep to moves."""
    n, values = game.players, dict.fromkeys(everywhere(game), 0.0)
    for _ in range(sweeps):
        change = 0.0
        for (s, seat), before in values.items():
            worths = {
                a: sum(
                    p * (told[(mine - seat) % n] if told else values[after, (seat + on) % n])
                    for p, told, on, after in ways_on(game, s, a)
                )
                for a in game.actions(s)
            }
            found = max(worths.values())
            if seat != free:
                found = sum(chance * worths[a] for a, chance in moves[seat](s).items())
            values[s, seat], change = found, max(change, abs(found - before))
        if change < 1e-14:
            break
    return values


@pytest.mark.parametrize("name", ["pig", "relay", "turnabout"])
@pytest.mark.parametrize("alike", [True, False])
def test_the_loss_of_policies_is_the_gain_of_a_seat_that_deviates(name, alike):
    solution = solved(name)
    game, graph, n = solution.game, solution.graph, solution.graph.players
    given = ["random"] * n if alike else ["optimal", "random", "optimal", "random"][:n]
    policies = Policies.of(solution, any_players=True)
    found = distance_of_policy(policies, given[0] if alike else given)
    moves = [moves_of(solution, one) for one in given]
    losses = np.zeros(graph.n_states)
    for seat in range(n):
        has, best = (best_sweeps(game, moves, k, seat) for k in (None, seat))
        for (s, _), loss in {at: best[at] - has[at] for at in best}.items():
            losses[graph.find(s)] = max(losses[graph.find(s)], loss)
    assert found.high == pytest.approx(losses, abs=1e-9)
    assert found.low == pytest.approx(losses, abs=1e-9)
    assert distance_of_policy(policies, "optimal").high.max() < 1e-10


def test_values_of_several_seats(tmp_path):
    typed, place = ("pig", "players=3", "sides=3", "target=14"), tmp_path / "values.csv"
    place.write_text(output("table", *typed, "--csv"))  # positions that mix have a row an action
    certify = ("certify", *typed, "--values", str(place), "--json")
    assert json.loads(output(*certify, "--claim", "1e-12"))["is_met"]
    lines = place.read_text().splitlines()
    row, column = lines[7].split(","), lines[0].split(",").index("win_probability.1")
    row[column] = str(float(row[column]) + 0.01)
    place.write_text("\n".join([*lines[:7], ",".join(row), *lines[8:]]))
    found = json.loads(output(*certify))
    assert found["largest_error"] == pytest.approx(0.01, abs=1e-12)
    assert found["seat"] == 1
    assert found["deviation_gain"] < 1e-12
    place.write_text("\n".join([lines[0].replace("win_probability.2", "x"), *lines[1:]]))
    assert "it has no column win_probability.2" in refusal(*certify[:-1])


# ---- optimal policies, and methods


def extreme_count(game, options, count, best):
    """The least or the largest count of a play, with any of some actions in each state."""
    values = {s: 0.0 for s, _ in everywhere(game)}
    for _ in range(1000):
        change = 0.0
        for s, before in values.items():
            values[s] = best(
                count(a) + sum(p * values[t] for p, told, _, t in ways_on(game, s, a) if not told)
                for a in options(s)
            )
            change = max(change, abs(values[s] - before))
        if change < 1e-14:
            break
    return values[game.start()]


@pytest.mark.parametrize("name", ["relay", "turnabout"])
def test_all_ways_to_break_ties(name):
    solution = solved(name)
    game, graph, best = solution.game, solution.graph, solution.is_best
    assert solution.policy.tied.any()
    assert len(solution.equilibrium.mixing) == 0

    def options(s):
        return [graph.action_label[a] for a in graph.view[graph.find(s)].action_range if best[a]]

    lazy = game.action_names[1]
    for one, count in zip(
        ranges(solution, ["moves", lazy]), (lambda a: 1.0, lambda a: float(a == 1)), strict=True
    ):
        least, most = (extreme_count(game, options, count, end) for end in (min, max))
        assert (one.least, one.most) == pytest.approx((least, most), abs=1e-9)
    aims = second_aims(solution, [f"least:{lazy}"])
    assert aims.values[0].value == pytest.approx(least, abs=1e-9)
    assert least < most
    chosen = moves_of(solution, aims.policy_of(solution))
    counted = swept(game, [chosen] * game.players, np.zeros_like, lambda s, _: chosen(s).get(1, 0))
    assert counted[game.start(), 0][0] == pytest.approx(least, abs=1e-9)


def test_a_part_of_a_set_moves_the_die_by_as_many_seats():
    policies = OptimalSet.of(solved("turnabout"))
    whole = policies.with_only(np.ones(policies.graph.n_actions, np.bool_)).graph
    assert set(policies.graph.outcome_passes.tolist()) == {0, 1, 2}
    assert whole.outcome_passes.tolist() == policies.graph.outcome_passes.tolist()


@dataclass(frozen=True)
class Auction(Game):
    """Three players: pay 2 for a chance to be paid 9, or pass; the third pass ends the game."""

    players: ClassVar[int] = 3

    def start(self):
        return Tracks(0, (0, 0))

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        if action:
            yield 1, payoffs(7, -3, -4), s
            yield 2, payoffs(-2, 1, 1), s
        elif s.mine == 2:
            yield 1, payoffs(0, 0, 1), s
        else:
            yield 1, PASS, Tracks(s.mine + 1, (0, 0))


@pytest.mark.parametrize("form", ["lp", "mps"])
def test_programs_of_one_seat_among_others(tmp_path, form):
    """HiGHS reads the programs; the scale of the first seat's result is in the head."""
    highspy = pytest.importorskip("highspy")
    place = tmp_path / f"program.{form}"
    for game, start in ((Pig(5, players=3), "0_0_0_0_0"), (Pig(9), "0_0_0_0"),
                        (Relay(), "0_0_0_0_0"), (Auction(), "0_0_0_0")):  # fmt: skip
        solution = rollwise.solve(game)
        (best, *_) = rollwise.best_responses(solution, "random").best
        for program in ("linear-programming", "mixed-integer"):
            export(solution, place, form, "random", program)
            scale = re.search(r"result is (\S+) x \+ (\S+)", place.read_text())
            solver = highspy.Highs()
            solver.setOptionValue("output_flag", False)
            solver.readModel(str(place))
            solver.run()
            x = solver.getSolution().col_value[solver.getLp().col_names_.index(f"x_{start}")]
            a, b = (1, 0) if scale is None else map(float, scale.groups())
            assert a * x + b == pytest.approx(best, abs=1e-5)
    with pytest.raises(rollwise.RollwiseError, match="with --against POLICY"):
        export(rollwise.solve(Auction()), place, form)


@pytest.mark.parametrize("name", ["relay", "turnabout"])
def test_the_best_chance_in_time_among_others_who_keep_to_a_policy(name):
    """By the definition, from turn to turn."""
    solution = solved(name)
    game, n = solution.game, solution.graph.players
    others = moves_of(solution, "random")

    @cache
    def chance(s, mover, left):
        def worth(a):
            return sum(
                p * (told[-mover % n] if told is not None
                     else left > 1 and chance(after, (mover + on) % n, left - 1))
                for p, told, on, after in ways_on(game, s, a)
            )  # fmt: skip

        if mover == 0:
            return max(map(worth, game.actions(s)))
        return sum(p * worth(a) for a, p in others(s).items())

    random = Policies.of(solution, any_players=True).find("random")
    found = within(solution.graph, [random], 6, best=True)
    expected = [chance(game.start(), 0, turns) for turns in range(1, 7)]
    assert found.best == pytest.approx(expected, abs=1e-12)


def test_a_tolerance_of_an_equilibrium(tmp_path):
    game = Pig(5, players=3)
    assert rollwise.solve(game, tolerance=1e-9, mode="interpreted").status == "certified"
    missed = rollwise.solve(game, tolerance=1e-17)
    assert missed.status == "tolerance missed"
    assert missed.largest_claim == max(
        missed.equilibrium.error_bound, missed.equilibrium.deviation_gain
    )
    missed.save(tmp_path / "missed.parquet")
    assert rollwise.load(tmp_path / "missed.parquet").status == "tolerance missed"
    typed = ("solve", "pig", "players=3", "target=5", "--tolerance")
    assert "an equilibrium" in output(*typed, "1e-9")
    assert "tolerance missed: the error bound is" in run(*typed, "1e-17").stderr


def test_mixtures_stay_as_they_are(tmp_path):
    who_stops, place = f"{EXAMPLES}/who_stops.py:WhoStops", tmp_path / "policy.csv"
    typed = ("optimal", who_stops, "--range", "wait", "--then", "moves", "--save", str(place))
    document = json.loads(output(*typed, "--json"))
    solution = rollwise.solve(create(find(who_stops), {}))
    wait = solution.policy.probability[0]
    moves = 1 / (1 - wait * 0.9)
    for end in (document["ranges"][0]["least"], document["ranges"][0]["most"]):
        assert end == pytest.approx(wait * moves, abs=1e-12)
    policy = Policies.of(solution, any_players=True).find(str(place))
    assert policy.probability == pytest.approx(solution.policy.probability, abs=1e-15)
    assert document["deviation_gain"] < 1e-12
    assert "isn't for games of three or more" in refusal("optimal", who_stops, "--exact")


def test_methods_agree_on_the_game_of_one_seat():
    standoff = create(find(f"{EXAMPLES}/standoff.py:Standoff"), {})
    for game in (Pig(5, players=3), Relay(), standoff):  # wins, halves and thirds of a win
        found = rollwise.solve(game)
        alone, parts = of_one_seat(found)
        rows, _ = compare_methods(
            alone, ["value-iteration", "policy-iteration", "exact"], parts=parts
        )
        for row in rows:
            value = row.result.values[0] / parts
            assert value == pytest.approx(found.equilibrium.worth[0], abs=1e-9)
            assert row.optimal_policy
            assert row.error < 1e-9
    text = output("compare", "pig", "players=3", "target=4", "--methods", "value-iteration")
    assert "where all others play the equilibrium" in text
    text = output("compare", str(EXAMPLES / "who_stops.py"), "--methods", "exact")
    assert "exact: not run: the others mix actions in this equilibrium" in text


# ---- one policy in each seat, from any position


@pytest.mark.parametrize("to", ["random", "adversaries"])
def test_responses_and_results_from_a_position(to):
    solution, place = solved("pig"), {"banked": 0, "rivals.0": 2, "rivals.1": 3, "turn": 2}
    game, n = solution.game, 3
    s = game.start()._replace(banked=0, rivals=(2, 3), turn=2)
    typed = ("pig", "players=3", "target=6")
    state = ",".join(f"{name}={number}" for name, number in place.items())
    document = json.loads(output("respond", *typed, "--to", to, "--state", state, "--json"))
    assert document["state"] == place
    if to == "random":
        moves = [moves_of(solution, "random")] * n
        best = [best_sweeps(game, moves, k, k)[s, 0] for k in range(n)]
        assert document["best_responses"] == pytest.approx(best, abs=1e-9)
        evaluate = ("evaluate", *typed, "--policy", "optimal", "--against", to, "--state", state)
        found = json.loads(output(*evaluate, "--json"))["win_probabilities"]
        for seat in range(n):
            mixed = [moves_of(solution, "optimal" if k == seat else "random") for k in range(n)]
            by_hand = best_sweeps(game, mixed, None, seat)[s, 0]
            assert found[seat] == pytest.approx(by_hand, abs=1e-9)
        text = output(*evaluate)
        assert "random in all other seats" in text.splitlines()[0]
        within = output("length", *typed, "--within", "1", "--policy", "optimal,random,random")
        assert within.splitlines()[0].endswith(", policies optimal, random, random")
    else:
        first = respond_to_all(solution.graph, to, solution.graph.find(s)).best
        assert document["best_responses"] == list(first)
        text = output("respond", *typed, "--to", to)
        assert text.startswith("best results of each seat where all others are adversaries: pig ")
        assert sum(first) <= 1 + 1e-12


def test_the_anchors_of_a_page_are_the_first_positions_of_turns():
    """Values within a turn follow from these by looking ahead, for any number of seats."""
    graph = solved("turnabout").graph
    begun = (graph.outcome_passes != 0) & (graph.outcome_state >= 0)
    assert set(graph.outcome_passes[begun].tolist()) == {1, 2}
    assert set(graph.outcome_state[begun].tolist()) <= set(anchors(graph).tolist())
    assert len(anchors(solved("threes").graph)) < solved("threes").graph.n_states


def test_the_page_names_the_commands_for_one_player():
    page = (EXAMPLES.parent / "docs" / "many-seats.md").read_text(encoding="utf-8")
    assert f"{' and '.join(f'`{name}`' for name in FOR_ONE)} are for one player." in page


def test_solve_tells_whether_states_mix_actions():
    assert "no state mixes actions" in output("solve", "pig", "players=3", "target=5")
    assert "mix actions, in " in output("solve", f"{EXAMPLES}/who_stops.py")
