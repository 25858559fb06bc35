"""Games of three or more players: equilibria, and what is proved of them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal, run

import rollwise
from rollwise.analysis.distributions import distribution
from rollwise.analysis.handicap import handicap
from rollwise.analysis.losses import difference
from rollwise.answer.advice import advise
from rollwise.answer.evaluation import evaluate_seats, respond_to
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.answer.verify import claims_of
from rollwise.derive.derived_game import with_methods
from rollwise.documents.simulated import seats_match_document
from rollwise.errors import EndlessPlay, ForMorePlayers, PolicyError, UnknownState, UsageError
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.games.knock_out import KnockOut
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.graph.policies import Policy
from rollwise.many import finding
from rollwise.many.proving import prove_profile
from rollwise.many.seats import seen_from
from rollwise.methods import run_method
from rollwise.numbers.shares import brought
from rollwise.proofs.check_rules import check_rules
from rollwise.simulate.seats import simulate_seats
from rollwise.then import PASS, WIN, is_over, payoff_of, seats_on, shared, shared_by, won_by

EXAMPLES = Path(__file__).parent.parent / "examples"
WHO_STOPS = f"{EXAMPLES}/who_stops.py:WhoStops"


def game_of(reference, **values):
    return create(find(reference), {name: str(value) for name, value in values.items()})


@cache
def solved(reference, *values):
    return rollwise.equilibrium(game_of(reference, **dict(values)))


def naive_equilibrium(game, sweeps=400):
    """Best choices over and over, by the rules alone: values by state, seen from the mover."""
    n, start = game.players, game.start()
    values, waiting = {start: np.full(n, 1 / n)}, [start]
    while waiting:
        s = waiting.pop()
        for a in game.actions(s):
            for ways, then, after in game.outcomes(s, a):
                if ways and not is_over(then) and after not in values:
                    values[after] = np.full(n, 1 / n)
                    waiting.append(after)

    def worth(s, a):
        total, got = 0, np.zeros(n)
        for ways, then, after in game.outcomes(s, a):
            total += ways
            if not ways:
                continue
            if is_over(then):
                got[next(seat for seat in range(n) if won_by(seat) == then)] += ways
            else:
                got += ways * np.roll(values[after], seats_on(then, n))
        return got / total

    for _ in range(sweeps):
        before = {s: value.copy() for s, value in values.items()}
        for s in values:
            values[s] = max((worth(s, a) for a in game.actions(s)), key=lambda got: got[0])
        if max(np.abs(values[s] - before[s]).max() for s in values) < 1e-15:
            return values
    raise AssertionError("it goes round")


@pytest.mark.parametrize(
    "game",
    [
        Pig(5, players=3),
        Pig(5, 3, must_bank=True, players=3),
        Pig(4, players=4),
        Pig(3, 4, players=5),
        SuperSix(7, players=3),
        KnockOut(distinct=True, players=4),
        LeftCenterRight(1, players=3),
        SuperSix(7, one_each=True, take_all=True, players=4),
    ],
    ids=lambda game: f"{game.name}-{game.players}",
)
def test_it_is_what_a_naive_program_finds(game):
    naive, found = naive_equilibrium(game), rollwise.equilibrium(game)
    for s, value in naive.items():
        assert found.values[found.graph.find(s)] == pytest.approx(value, abs=1e-12)
    assert found.deviation_gain < 1e-12
    assert found.error_bound < 1e-12
    assert not found.unsettled
    assert sum(found.win_probabilities) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("must_bank", [False, True])
def test_with_two_players_it_is_the_value_of_the_game(must_bank):
    found = rollwise.equilibrium(Pig(9, must_bank=must_bank))
    known = rollwise.solve(Pig(9, must_bank=must_bank))
    for s in range(known.graph.n_states):
        banked, rival, turn = known.graph.row(s)
        values = found.values[found.graph.find((banked, rival, turn))]
        assert values[0] == pytest.approx((1 + known.values[s]) / 2, abs=1e-12)


def test_who_stops_mixes_as_two_equations_say():
    """Waiting brings the mover what stopping does, and the second seat's worth says how often."""
    found = solved(WHO_STOPS)
    goes_on = 0.9
    last = (0.35 - 0.1 / 3) / goes_on
    after_a_wait = goes_on * 0.35 + 0.1 / 3
    stops = (after_a_wait - (1 - 0.35 - last)) / (after_a_wait - 0.05)
    assert found.win_probabilities == pytest.approx((0.35, 1 - 0.35 - last, last), abs=1e-13)
    assert found.policy.probability[1] == pytest.approx(stops, abs=1e-12)
    assert stops == pytest.approx(271 / 1611, abs=1e-15)  # as docs/many-seats.md has it
    assert (len(found.mixing), found.mixing_components) == (1, 1)
    assert found.deviation_gain < 1e-12


def test_pig_with_three_sides_mixes_and_nobody_gains(monkeypatch):
    monkeypatch.setattr("rollwise.builders.limits.SMALL", 50_000)  # compiling takes longer
    found = solved("pig", ("target", 14), ("sides", 3), ("players", 3))
    graph, values, chance = found.graph, found.values, found.policy.probability
    (s,) = found.mixing
    assert graph.state_text(s) == "banked=0, rivals=(0, 0), turn=5"
    roll, hold = advise(Solution.of_equilibrium(found), s).actions
    assert roll.seats[0] == pytest.approx(hold.seats[0], abs=1e-12)
    assert roll.seats[1] - hold.seats[1] > 0.001  # the others aren't indifferent
    assert found.deviation_gain < 1e-11
    # one seat's best response by plain sweeps over all positions, whoever is to move
    alone = seen_from(graph, 0, [None, chance, chance])
    best = np.concatenate([values[:, 0], values[:, 2], values[:, 1]])
    weight = alone.outcome_weight / np.add.reduceat(
        alone.outcome_weight, alone.outcome_indptr[:-1]
    ).repeat(np.diff(alone.outcome_indptr))
    for _ in range(300):
        after = np.where(alone.outcome_state < 0, alone.outcome_payoff, best[alone.outcome_state])
        worth = np.add.reduceat(weight * after, alone.outcome_indptr[:-1])
        best = np.maximum.reduceat(worth, alone.action_indptr[:-1])
    assert np.abs(best.reshape(3, -1) - values[:, [0, 2, 1]].T).max() < 1e-11


def test_endless_games_are_refused():
    class Endless(game_of(WHO_STOPS).__class__):
        def outcomes(self, s, action):
            yield 1, PASS, s

    with pytest.raises(EndlessPlay, match="round=0"):
        rollwise.equilibrium(Endless())


def test_simulated_shares_are_the_exact_ones():
    found = solved(WHO_STOPS)
    table = Policies.of(Solution.of_equilibrium(found), any_players=True)
    seated = [table.find(name) for name in ("optimal", "random", "optimal")]
    exact = evaluate_seats(found.graph, seated)
    played = simulate_seats(found.graph, seated, games=4000, seed=1)
    for rate, error, p in zip(
        played.win_rates, played.standard_errors, exact.win_probabilities, strict=True
    ):
        assert 0 < error < 0.01
        assert abs(rate - p) < 5 * error
    assert simulate_seats(found.graph, seated, games=4000, seed=1) == played
    counts = [simulate_seats(found.graph, seated, games=400, seed=seed).moves for seed in range(40)]
    assert played.moves_standard_error == pytest.approx(np.std(counts) / 10**0.5, rel=0.5)
    shown = dataclasses.replace(played, exact=exact)
    told = "\n".join(seats_match_document(shown).blocks())
    assert re.search(r"\(estimated; exact \S+ %, certified ± \S+ % before rounding\)", told)
    assert re.search(r"\S+ ± \S+ moves in a game \(estimated\)", told)
    with pytest.raises(UsageError, match="2 policies were given"):
        evaluate_seats(found.graph, seated[:2])
    with pytest.raises(PolicyError, match="no policy 'best'"):
        table.find("best")


def test_best_responses():
    """To the equilibrium nobody has a better one; to another policy all have."""
    found = solved(WHO_STOPS)
    same = respond_to(found.graph, found.policy)
    assert same.best == pytest.approx(found.win_probabilities, abs=1e-12)
    assert same.win_probabilities == pytest.approx(found.win_probabilities, abs=1e-12)
    always_stop = Policies(found.graph, found.game).find(lambda s: 1)
    response = respond_to(found.graph, always_stop)
    assert response.win_probabilities == pytest.approx((0.35, 0.05, 0.6), abs=1e-12)
    # the first seat waits, and is the last one of a stop
    assert response.best == pytest.approx((0.9 * 0.6 + 0.1 / 3, 0.05, 0.6), abs=1e-12)
    assert response.error_bound < 1e-12


# ---- shares


@pytest.mark.parametrize("parts", [(2, 1, 0), (0, 0, 7), (65_535, 1, 0), (1, 1, 1)])
def test_parts_of_a_win(parts):
    then = rollwise.shared(*parts)

    class Once(game_of(WHO_STOPS).__class__):
        def outcomes(self, s, action):
            yield 1, then, s

    expected = np.array(parts) / sum(parts)
    assert rollwise.equilibrium(Once()).win_probabilities == pytest.approx(expected, abs=1e-15)


# ---- files


def test_one_function_evaluates_seats_of_two_and_three():
    """A list has a policy for each seat; of two it says what `evaluate` of a pair says."""
    pair = rollwise.evaluate(Pig(8), "optimal", "random")
    shares = rollwise.evaluate(Pig(8), ["optimal", "random"])
    assert shares.win_probabilities[0] == pair.win_probability[0]
    assert sum(shares.win_probabilities) == pytest.approx(1, abs=1e-15)
    solution = rollwise.solve(Pig(5, players=3))
    everybody = rollwise.evaluate(solution, ["optimal"])
    assert everybody.policies == ("optimal",) * 3
    assert everybody.win_probabilities == pytest.approx(solution.equilibrium.worth, abs=1e-13)
    alone = rollwise.evaluate(game_of("threes", dice=2), ["optimal"])
    best = rollwise.solve(game_of("threes", dice=2))
    assert abs(alone.win_probabilities[0] - best.value) <= alone.error_bound + best.error_bound
    with pytest.raises(UsageError, match="3 seats, and 2 policies"):
        rollwise.evaluate(solution, ["optimal", "random"])
    with pytest.raises(UsageError, match="give a list with a policy for each seat"):
        rollwise.evaluate(solution, "optimal")
    with pytest.raises(UsageError, match="evaluated exactly"):
        rollwise.evaluate(Pig(8), ["optimal", "random"], method="iterative")
    with pytest.raises(ForMorePlayers, match="is a game for 3"):
        rollwise.evaluate(solution, "optimal")
    with pytest.raises(ForMorePlayers, match="for 3: this is for one player; `rollwise distrib"):
        distribution(solution)


# ---- what people look at in games of three or more: pictures, reports, ties, other equilibria


KING_MAKER, STANDOFF = f"{EXAMPLES}/king_maker.py:KingMaker", f"{EXAMPLES}/standoff.py:Standoff"


@pytest.fixture(scope="module")
def pig():
    return rollwise.solve(Pig(14, 3, players=3))


def test_a_report_tells_the_edge_once(tmp_path, pig):
    """As a bar, with the claims below it."""
    place = tmp_path / "pig.html"
    pig.report(place)
    told = re.sub(r"<[^>]+>", " ", place.read_text(encoding="utf-8"))
    edge = told[told.rindex("Who has the edge") :].partition("shared win counts in part")[2][:400]
    assert edge.count("seat 1") == 1
    assert "certified" in edge
    assert "no player gains more than" in edge
    assert "build" not in edge


# ---- ties


def test_the_range_over_all_ties():
    found = rollwise.equilibrium(create(find(KING_MAKER), {}))
    ties = found.ties
    assert (ties.positions, ties.mattering, ties.largest) == (1, 1, 1.0)
    walked = 9 / 16  # nobody has won when the third is asked
    assert ties.lowest == pytest.approx((1 / 4, 3 / 16, 0), abs=1e-14)
    assert ties.highest == pytest.approx((1 / 4 + walked, 3 / 16 + walked, 0), abs=1e-14)
    assert "seat 1 25.0000 % to 81.2500 %" in ties.text(payoffs=False)
    bound = re.search(r"± (\S+) % before", ties.text(payoffs=False))
    assert float(bound[1]) == pytest.approx(100 * ties.error_bound, rel=0.1)
    assert ties.matters


class Points(NamedTuple):
    step: int
    first: int  # points of the first two players
    second: int


@dataclass(frozen=True)
class Favour(Game):
    """Two throw for a point, a third gives one away; then those with the most may share, or not."""

    players: ClassVar = 3
    action_names: ClassVar = ("to the first", "to the second")

    def start(self) -> Points:
        return Points(0, 0, 0)

    def actions(self, s: Points) -> Iterator[int]:
        yield 0
        if s.step == 2:
            yield 1

    def outcomes(self, s: Points, action: int) -> Iterator[tuple[int, int, Points]]:
        if s.step < 2:
            yield 1, PASS, Points(s.step + 1, s.first + (s.step == 0), s.second + (s.step == 1))
            yield 2, PASS, Points(s.step + 1, s.first, s.second)
        else:
            first, second = s.first + (action == 0), s.second + (action == 1)
            yield 3, shared_by((0, first >= second, second >= first)), s
            yield 1, PASS, Points(0, 0, 0)


def test_ties_by_every_way_to_break_them():
    """Each pure way to choose among what is equally good, evaluated as a chain."""
    found = rollwise.equilibrium(Favour())
    graph, ties = found.graph, found.ties
    free = [s for s in range(graph.n_states) if np.diff(graph.action_indptr)[s] > 1]
    assert ties.positions == len(free) == 4
    assert ties.matters
    shares = []
    for way in product((0, 1), repeat=len(free)):
        chance = np.zeros(graph.n_actions)
        chance[graph.action_indptr[:-1]] = 1.0
        chance[graph.action_indptr[free]] = 1.0 - np.array(way)
        chance[graph.action_indptr[free] + 1] = way
        shares.append(evaluate_seats(graph, [Policy("a way", chance)]).win_probabilities)
    assert ties.error_bound < 1e-12
    assert ties.lowest == pytest.approx(np.min(shares, axis=0), abs=1e-12)
    assert ties.highest == pytest.approx(np.max(shares, axis=0), abs=1e-12)


def test_claims_are_bounded_by_their_distance_from_the_proved_values():
    found = solved("pig", ("target", 6), ("players", 3))
    graph, chance = found.graph, found.policy.probability
    one, other = prove_profile(graph, chance), prove_profile(graph, chance, found.values - 1e-6)
    assert one.bounds.max() < 1e-13
    assert one.gains.max() < 1e-12
    assert np.all(other.bounds >= 1e-6)
    assert other.bounds.max() < 1.001e-6
    assert np.all(other.gains >= 1e-6)
    assert other.gains.max() < 2.001e-6


@pytest.mark.parametrize("game", ["pig", "who stops", "favour"])
def test_small_layers_prove_the_same_as_large_ones(game, monkeypatch):
    found = {
        "pig": lambda: solved("pig", ("target", 8), ("players", 3)),
        "who stops": lambda: solved(WHO_STOPS),  # mixes
        "favour": lambda: rollwise.equilibrium(Favour()),
    }[game]()
    graph, chance = found.graph, found.policy.probability
    whole = prove_profile(graph, chance)
    monkeypatch.setattr("rollwise.many.alone.PIECE", 5)
    apart = prove_profile(graph, chance)
    assert apart.values == pytest.approx(whole.values, abs=1e-15)
    assert np.all(apart.bounds < 2 * whole.bounds + 1e-15)
    assert np.all(apart.gains < 2 * whole.gains + 1e-15)


class Turn(NamedTuple):
    number: int


@dataclass(frozen=True)
class Waiting(Game):
    """Three players pass the turn on, by one seat or two, and seldom somebody wins."""

    rare: int = 10**7
    players: ClassVar = 3
    action_names: ClassVar = ("one", "one too", "two")

    def start(self) -> Turn:
        return Turn(0)

    def actions(self, s: Turn) -> Iterator[int]:
        yield from range(3)

    def outcomes(self, s: Turn, action: int) -> Iterator[tuple[int, int, Turn]]:
        yield 2 * self.rare, PASS, Turn((s.number + 1 + action // 2) % 4)
        yield 1, won_by(action // 2), s
        yield 1, shared(1, 1, 0), s


def test_slow_play_is_proved_from_each_seat():
    """By sweeps it would take some 10^8 of them."""
    quick, slow = rollwise.equilibrium(Waiting(10)), rollwise.equilibrium(Waiting(10**7))
    assert quick.error_bound < 1e-13
    assert slow.error_bound < 1e-7
    assert slow.deviation_gain < 1e-7
    assert not slow.faults
    for found in (quick, slow):
        assert not check_rules(found.game, claims_of(found))
        # the end gives 3/4 to the mover and 1/4 to the next one, who is the next mover
        ends = 1 / (1 + found.game.rare)
        matrix = np.eye(3) - (1 - ends) * np.roll(np.eye(3), 1, axis=0)
        known = np.linalg.solve(matrix, ends * np.array([0.75, 0.25, 0.0]))
        assert found.values[0] == pytest.approx(known, abs=1e-7)
        assert found.ties.positions == 4
        assert found.ties.lowest == pytest.approx(found.worth, abs=1e-7)
        assert found.ties.highest == pytest.approx(found.worth, abs=1e-7)


# ---- other equilibria, and time


def standoffs():
    """The equilibria of a standoff, by its equations: how likely one stops, and the values.

    With q the chance to wait, v = q (0.9 S v + 0.1/3) + (1 - q) (0.3, 0.5, 0.2), where S hands the
    last seat's value to the mover.
    """
    shift = np.roll(np.eye(3), 1, axis=0)  # (S v)[k] = v[k - 1]
    stop = np.array([0.3, 0.5, 0.2])

    def values(q):
        return np.linalg.solve(np.eye(3) - 0.9 * q * shift, q * 0.1 / 3 + (1 - q) * stop)

    def gain(q):  # of waiting
        return 0.9 * values(q)[2] + 0.1 / 3 - 0.3

    assert gain(0) < 0 < gain(1)
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gain(middle) < 0 else (low, middle)
    return [values(0.0), values(1.0), values(low)]


def test_all_three_equilibria_of_a_standoff():
    first = rollwise.equilibrium(create(find(STANDOFF), {}))
    known = standoffs()
    others = first.others(6, seed=1)
    assert others.components == 1
    assert others.unsettled == 0
    profiles = [first, *(other.found for other in others.others)]
    assert len(profiles) == 3
    for profile in profiles:
        assert profile.deviation_gain < 1e-12
        distances = [np.abs(profile.values[0] - values).max() for values in known]
        assert min(distances) < 1e-12
        known.pop(int(np.argmin(distances)))
    assert not known
    assert all(other.differing == 1 and other.first == 0 for other in others.others)
    with pytest.raises(UsageError, match="at least 1"):
        first.others(0)


def test_no_other_equilibrium_is_found(pig):
    others = pig.equilibrium.others(2, seed=5)
    assert others.others == ()
    assert others.components == 1  # that which mixes has all its supports tried
    done = run("solve", WHO_STOPS, "--set", "starts=2", "--set", "seed=7")
    assert "from 2 other starts (seed 7), and all supports of opposed decisions in 1 comp" in (
        done.stdout
    )
    assert "no other was found; this doesn't prove that there is none" in done.stdout
    assert "goes with --set starts" in refusal("solve", WHO_STOPS, "--set", "seed=7")
    assert "no option 'starts'" in refusal("solve", "pig", "target=5", "--set", "starts=2")


def test_time_ends_a_search():
    """What was found by then is proved, and says what can be gained."""
    game = Pig(14, 3, players=3)
    found = rollwise.equilibrium(game, time_limit=1e-9)
    assert found.timed_out
    assert len(found.unsettled) > 10
    assert 0.01 < found.deviation_gain < 1
    assert found.error_bound < 1e-12  # first actions everywhere, and their worth
    roll = Policies(found.graph, game).find(lambda s: 0)
    shares = evaluate_seats(found.graph, [roll]).win_probabilities
    assert found.win_probabilities == pytest.approx(shares, abs=1e-12)
    with pytest.raises(UsageError, match="must be positive"):
        rollwise.equilibrium(game, time_limit=0)
    command = ("solve", "pig", "players=3", "target=14", "sides=3", "--set", "time_limit=1e-9")
    done = run(*command)
    assert done.returncode == 1
    assert "a profile, not an equilibrium" in done.stdout
    assert "time ended the search: in " in done.stderr
    assert "as at banked=" in done.stderr
    document = json.loads(run(*command, "--json").stdout)
    assert document["timed_out"]
    assert document["unsettled_components"] >= len(document["unsettled"]) > 10
    assert not json.loads(run(*command[:-1], "time_limit=600", "--json").stdout)["timed_out"]


# ---- head starts, distributions and changes of rules, each against a naive program


def played_out(game, start, owner, mine, theirs, sweeps=600):
    """How likely a player wins, by plain sweeps over the rules alone.

    The player is `owner` seats after the first mover. `mine` and `theirs` are functions from
    states to the chances of actions.
    """
    n, values, waiting = game.players, {}, [(start, owner)]

    def after(s, seat, a):
        every = [(ways, then, t) for ways, then, t in game.outcomes(s, a) if ways]
        total = sum(ways for ways, _, _ in every)
        for ways, then, t in every:
            at = None if is_over(then) else (t, (seat - seats_on(then, n)) % n)
            yield ways / total, float(then == won_by(seat)) if at is None else 0.0, at

    ways_on = {}
    while waiting:
        s, seat = at = waiting.pop()
        if at in ways_on:
            continue
        chances = (mine if seat == 0 else theirs)(s)
        ways_on[at] = [
            (chance * p, won, t) for a, chance in chances.items() for p, won, t in after(s, seat, a)
        ]
        waiting += [t for _, _, t in ways_on[at] if t is not None]
    values = dict.fromkeys(ways_on, 0.0)
    for _ in range(sweeps):
        values = {
            at: sum(p * (won if t is None else values[t]) for p, won, t in ways)
            for at, ways in ways_on.items()
        }
    return values[start, owner]


def moves_of(solution, name):
    """A policy as a function from states to the chances of actions."""
    policy = Policies.of(solution, any_players=True).find(name)
    graph = solution.graph

    def moves(s):
        state = graph.view[graph.find(s)]
        chances = policy.probability[list(state.action_range)].tolist()
        return {a: p for a, p in zip(state.labels, chances, strict=True) if p}

    return moves


def begun(game, seat, points):
    """The start of Pig with points in the bank of a seat."""
    banked, *rivals = [points if k == seat else 0 for k in range(game.players)]
    return game.start()._replace(banked=banked, rivals=tuple(rivals))


@pytest.mark.parametrize("names", [("optimal", "optimal"), ("random", "optimal")])
def test_a_head_start_of_a_seat_is_worth_what_a_naive_program_finds(names):
    solution = rollwise.solve(Pig(6, 4, players=3))
    found = handicap(solution, "banked", [0, 2, 3, 4], *names)
    assert (found.field, found.others) == ("banked", ("rivals.0", "rivals.1"))
    assert found.even == pytest.approx(1 / 3, abs=1e-15)
    mine, theirs = (moves_of(solution, name) for name in names)
    for head in found.heads:
        for seat, worth in enumerate(head.seats):
            start = begun(solution.game, seat, head.points)
            by_hand = played_out(solution.game, start, seat, mine, theirs)
            assert worth.value == pytest.approx(by_hand, abs=1e-12)
            assert worth.bound < 1e-12
        assert head.mean.value == pytest.approx(sum(one.value for one in head.seats) / 3)


def test_a_head_start_that_no_play_reaches_is_that_of_a_game_with_this_start():
    (head,) = handicap(Pig(5, players=3), "banked", [1]).heads
    for seat, worth in enumerate(head.seats):
        start = begun(Pig(5, players=3), seat, 1)
        ahead = with_methods(Pig(5, players=3), start=lambda self, start=start: start)
        naive = naive_equilibrium(ahead)[start][seat]
        assert worth.value == pytest.approx(naive, abs=1e-12)


def test_the_fields_of_a_head_start_are_asked_for():
    with pytest.raises(UsageError, match=r"Give 3 fields, .* as in turn,FIELD,FIELD=0\.\.20"):
        handicap(Pig(4, players=3), "turn", [1])


@pytest.mark.parametrize("names", ["optimal", "random", "optimal,random,hold-at-20"])
def test_the_results_of_the_seats_are_what_a_naive_program_finds(names):
    solution = rollwise.solve(Pig(5, players=3))
    typed = ("pig", "players=3", "target=5", "--policy", names, "--json")
    entries = json.loads(output("distribution", *typed))["policies"]
    assert [entry["seat"] for entry in entries] == [1, 2, 3]
    given = names.split(",") * (1 if "," in names else 3)
    shares = rollwise.evaluate(solution, given).win_probabilities
    for entry, share in zip(entries, shares, strict=True):
        chances = {row["value"]: row["probability"] for row in entry["rows"]}
        assert set(chances) == {0, 1}
        assert chances[1] == pytest.approx(share, abs=1e-12)
        assert abs(entry["mean"] - share) <= entry["mean_bound"] + 1e-12
    if len(set(given)) == 1:
        moves, start = moves_of(solution, names), solution.game.start()
        naive = [played_out(solution.game, start, seat, moves, moves) for seat in range(3)]
        assert shares == pytest.approx(naive, abs=1e-12)


def test_a_change_of_rules_for_three():
    """The old policy in one seat of the new game, where the others play its equilibrium."""
    old, new = (rollwise.solve(Pig(8, sides, players=3)) for sides in (3, 2))
    found = difference(old, new)
    new_moves, start = moves_of(new, "optimal"), new.game.start()
    old_moves = moves_of(old, "optimal")

    def carried(s):
        try:
            return old_moves(s)
        except UnknownState:
            return new_moves(s)

    best = naive_equilibrium(new.game)[start]
    for seat, loss in enumerate(found.loss.losses):
        got = played_out(new.game, start, seat, carried, new_moves)
        assert loss == pytest.approx(best[seat] - got, abs=1e-12)
        assert loss >= -found.loss.error_bound - new.equilibrium.deviation_gain
    assert found.loss.loss == pytest.approx(sum(found.loss.losses) / 3, abs=1e-15)
    assert found.loss.error_bound < 1e-12
    assert found.loss.loss > 0
    assert len(found.changed) == 16


def test_two_players_may_have_policies_of_their_own():
    value = rollwise.evaluate(Pig(6), "optimal", "random").values[0]
    typed = ("distribution", "pig", "target=6", "--policy", "optimal,random")
    (entry,) = json.loads(output(*typed, "--json"))["policies"]
    assert entry["mean"] == pytest.approx(value, abs=1e-12)
    assert output(*typed, "--csv").splitlines()[0] == 'value,"optimal,random"'


def results_played_out(game, moves):
    """The chance of each result of each seat, followed from move to move by the rules alone."""
    n, now = game.players, {(game.start(), 0): 1.0}
    results = [Counter() for _ in range(n)]
    while now:
        later = Counter()
        for (s, mover), p in now.items():
            for a, chance in moves[mover](s).items():
                every = list(game.outcomes(s, a))
                total = sum(ways for ways, _, _ in every)
                for ways, then, t in every:
                    q = p * chance * ways / total
                    if not is_over(then):
                        later[t, (mover + seats_on(then, n)) % n] += q
                        continue
                    paid = 1.0 if then == WIN else payoff_of(then)
                    for k, share in enumerate(brought(paid, n)):
                        results[(mover + k) % n][float(share)] += q
        now = {at: p for at, p in later.items() if p}
    return results


def test_a_shared_win_is_a_result_of_its_own():
    solution = rollwise.solve(game_of("threes", dice=2, players=3))
    names = ["optimal", "random", "take-one"]
    typed = ("threes", "dice=2", "players=3", "--policy", ",".join(names))
    entries = json.loads(output("distribution", *typed, "--json"))["policies"]
    naive = results_played_out(solution.game, [moves_of(solution, name) for name in names])
    for entry, chances in zip(entries, naive, strict=True):
        assert {0, 0.5, 1} < set(chances)
        assert {row["value"]: row["probability"] for row in entry["rows"]} == pytest.approx(chances)
    said = output("distribution", *typed)
    assert said.splitlines()[0].split("  ")[-3:] == [
        f"{n}, seat {k}" for k, n in enumerate(names, 1)
    ]
    assert "0.333333 (shared)" in said
    assert "ties: " in said.splitlines()[-1]
    assert said.count("ties: ") == 1  # of all seats


def test_the_values_of_movers_are_no_game_for_two():
    """Neither a method nor a certificate takes them as such."""
    solution = rollwise.solve(Pig(5, players=3))
    with pytest.raises(UsageError, match="a value for each of 3 seats"):
        rollwise.certify(solution.graph, solution.values)
    with pytest.raises(ForMorePlayers, match="best_responses is for each seat"):
        rollwise.best_response(solution, "random")
    with pytest.raises(UsageError, match="a value for each of 3 seats"):
        run_method(solution.graph, "value-iteration")


def test_sweeps_go_on_where_the_call_before_ended(monkeypatch):
    """A call of a few sweeps is followed by others until a component settles."""
    monkeypatch.setattr(finding, "settle_component", None)  # isn't needed
    found = []
    for sweeps in (1, 2_000):
        monkeypatch.setattr(finding, "SWEEPS", sweeps)
        solution = rollwise.solve(LeftCenterRight(chips=2, players=3))
        found.append(solution.values)
    np.testing.assert_allclose(*found, rtol=0, atol=1e-12)
