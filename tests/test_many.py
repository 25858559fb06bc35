"""Games of three or more players: equilibria, and what is proved of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import run

import rollwise
from rollwise.analysis.learning import learn_seats
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluate_seats import (
    ADVERSARIES,
    ALLIES,
    evaluate_seats,
    respond_to,
    respond_to_all,
)
from rollwise.answer.references import Policies
from rollwise.answer.seats_solution import SeatsSolution
from rollwise.errors import (
    EndlessPlay,
    ForMorePlayers,
    PolicyError,
    RulesError,
    SolutionFileError,
    UsageError,
)
from rollwise.game import DRAW, LOSE, PASS, WIN, Game, is_over, payoff_of, seats_on, won_by
from rollwise.games import create, find
from rollwise.games.knock_out import KnockOut
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.graph.policies import Policy
from rollwise.learn import Learner
from rollwise.many.proving import prove_profile
from rollwise.many.seats import build_seats, seen_from
from rollwise.numbers.shares import shares_of
from rollwise.simulate.seats import simulate_seats, tournament_of_many

EXAMPLES = Path(__file__).parent.parent / "examples"
WHO_STOPS = f"{EXAMPLES}/who_stops.py:WhoStops"
LCR = "left-center-right"


class Steps(NamedTuple):
    steps: tuple[int, ...]


@dataclass(frozen=True)
class ThrownRace(Game):
    """Throw a die of two sides, then walk so far, or one step; the first to come to 3 wins."""

    players: ClassVar[int] = 3
    action_names: ClassVar = ("step", "walk")

    def start(self):
        return Steps((0, 0, 0))

    def throws(self, s):
        yield 1, 1
        yield 1, 2

    def actions(self, s, throw):
        yield 1
        if throw > 1:
            yield 0

    def outcomes(self, s, throw, action):
        mine = s.steps[0] + (throw if action else 1)
        if mine >= 3:
            yield 1, WIN, s
        else:
            yield 1, PASS, Steps((*s.steps[1:], mine))


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


@pytest.mark.parametrize("version", ["", "one_each", "take_all", "bottom"])
def test_super_six_with_two_players_is_super_six(version):
    version = {version: True} if version else {}
    found = rollwise.equilibrium(SuperSix(6, **version))
    known = rollwise.solve(SuperSix(6, **version))
    assert found.win_probabilities[0] == pytest.approx(known.win_probability, abs=1e-12)


def test_a_policy_a_seat_with_two_is_what_evaluate_says():
    table = Policies.of(Pig(12))
    seated = [table.find(name) for name in ("hold-at-20", "random")]
    there = rollwise.evaluate(Pig(12), "hold-at-20", "random")
    found = evaluate_seats(table.graph, seated)
    assert found.win_probabilities[0] == pytest.approx(there.win_probability[0], abs=1e-12)
    assert found.error_bound < 1e-12


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
    roll, hold = SeatsSolution.of(found).actions_at(s)
    assert roll.values[0] == pytest.approx(hold.values[0], abs=1e-12)
    assert roll.values[1] - hold.values[1] > 0.001  # the others aren't indifferent
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


@pytest.mark.parametrize("reference", ["pig", WHO_STOPS])
def test_the_proof_encloses_what_certified_solvers_find(reference):
    """The game as it is to one seat, solved and certified as any other game for one."""
    values = {"target": 7, "sides": 3, "players": 3} if reference == "pig" else {}
    found = rollwise.equilibrium(game_of(reference, **values))
    graph, chance = found.graph, found.policy.probability
    rng = np.random.default_rng(1)
    off = found.values + rng.choice([0, 0, 1e-9, -1e-7], found.values.shape)
    other = rng.random(graph.n_actions)
    mixed = other / np.add.reduceat(other, graph.action_indptr[:-1])[graph.action_state]
    for profile, guess in ((chance, found.values), (chance, off), (mixed, found.values)):
        bounds, gains = prove_profile(graph, np.clip(guess, 0, 1), profile)
        others = [profile] * 3
        worth, best = (
            solve_and_certify(seen_from(graph, 0, [first, *others[1:]]))
            for first in (profile, None)
        )
        error = worth.certificate.bound + best.certificate.bound
        assert error < 1e-11
        for mover in range(3):
            k = -mover % 3
            part = slice(mover * graph.n_states, (mover + 1) * graph.n_states)
            have, could = worth.found.values[part], best.found.values[part]
            assert np.all(np.abs(have - np.clip(guess, 0, 1)[:, k]) <= bounds[:, k] + error)
            assert np.all(could - have <= gains[:, k] + error)
        assert gains.max() < 1.1


def test_bounds_that_are_too_small_are_not_proved(monkeypatch):
    found = solved(WHO_STOPS)
    monkeypatch.setattr("rollwise.many.proving.AT_HAND", 1)
    monkeypatch.setattr("rollwise.many.proving.WIDER", (0.5,))
    bounds, gains = prove_profile(found.graph, found.values + 1e-6, found.policy.probability)
    assert np.isinf(bounds).all()
    assert np.isinf(gains).all()


def test_endless_games_are_refused():
    class Endless(game_of(WHO_STOPS).__class__):
        def outcomes(self, s, action):
            yield 1, PASS, s

    with pytest.raises(EndlessPlay, match="round=0"):
        rollwise.equilibrium(Endless())


@pytest.mark.parametrize("patience", [2, 3, 10, 40])
def test_quantal_responses_alone_lead_to_an_equilibrium(patience, monkeypatch):
    wanted = solved(WHO_STOPS, ("patience", patience))
    monkeypatch.setattr("rollwise.many.mixing.ROUNDS", 0)
    found = rollwise.equilibrium(game_of(WHO_STOPS, patience=patience))
    assert not found.unsettled
    assert found.deviation_gain < 1e-12
    assert found.worth == pytest.approx(wanted.worth, abs=1e-12)
    assert found.policy.probability == pytest.approx(wanted.policy.probability, abs=1e-9)


def test_a_bad_profile_has_its_gain_told(monkeypatch):
    """What is printed of a profile that is no equilibrium: the gain, and which components."""
    monkeypatch.setattr("rollwise.many.mixing.ROUNDS", 0)
    monkeypatch.setattr("rollwise.many.mixing.limit_of_quantal_responses", lambda _: None)
    found = rollwise.equilibrium(game_of(WHO_STOPS))
    assert found.unsettled == (0,)
    assert sorted(found.policy.probability) == [0, 1]
    assert 0.01 < found.deviation_gain < 1


def chain_of_lcr(n, each):
    """Who wins Left Center Right, from a dense system over chips and the seat to move."""
    start = ((each,) * n, 0)
    number, rows = {start: 0}, []
    waiting = [start]
    while waiting:
        chips, seat = here = waiting.pop()
        row: dict = {}
        thrown = min(chips[seat], 3)
        for faces in product("LRCKKK", repeat=thrown):
            after = list(chips)
            for face in faces:
                after[seat] -= face != "K"
                after[(seat + 1) % n] += face == "L"
                after[(seat - 1) % n] += face == "R"
            having = [k for k in range(n) if after[k]]
            key = ("won", having[0]) if len(having) == 1 else (tuple(after), (seat + 1) % n)
            if len(having) > 1 and key not in number:
                number[key] = len(number)
                waiting.append(key)
            row[key] = row.get(key, 0) + 6.0**-thrown
        rows.append((number[here], row))
    matrix, right = np.eye(len(number)), np.zeros((len(number), n))
    for i, row in rows:
        for key, p in row.items():
            if key[0] == "won":
                right[i, key[1]] += p
            else:
                matrix[i, number[key]] -= p
    return np.linalg.solve(matrix, right)[0]


@pytest.mark.parametrize(("n", "each"), [(3, 1), (3, 2), (4, 1)])
def test_left_center_right_is_its_chain(n, each):
    found = solved(LCR, ("players", n), ("chips", each))
    assert found.win_probabilities == pytest.approx(chain_of_lcr(n, each), abs=1e-12)
    assert found.error_bound < 1e-12


def test_simulated_shares_are_the_exact_ones():
    found = solved(WHO_STOPS)
    table = Policies.of(SeatsSolution.of(found), any_players=True)
    seated = [table.find(name) for name in ("optimal", "random", "optimal")]
    exact = evaluate_seats(found.graph, seated)
    played = simulate_seats(found.graph, seated, games=4000, seed=1)
    for rate, error, p in zip(
        played.win_rates, played.standard_errors, exact.win_probabilities, strict=True
    ):
        assert 0 < error < 0.01
        assert abs(rate - p) < 5 * error
    assert simulate_seats(found.graph, seated, games=4000, seed=1) == played
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


def test_against_all_others():
    """With two it is the game itself; with three the least that one can be made to have."""
    two = respond_to_all(build_seats(Pig(8)), ADVERSARIES)
    known = rollwise.solve(Pig(8)).win_probability
    assert two.best == pytest.approx((known, 1 - known), abs=1e-12)
    graph = build_seats(Pig(5, 3, players=3))
    found = respond_to_all(graph, ADVERSARIES)
    assert found.error_bound < 1e-12
    alone = seen_from(graph, 0, [None] * 3)
    worth = np.zeros(alone.n_states)
    weight = alone.outcome_weight / np.add.reduceat(
        alone.outcome_weight, alone.outcome_indptr[:-1]
    ).repeat(np.diff(alone.outcome_indptr))
    mine = np.arange(alone.n_states) < graph.n_states
    for _ in range(300):
        after = np.where(alone.outcome_state < 0, alone.outcome_payoff, worth[alone.outcome_state])
        actions = np.add.reduceat(weight * after, alone.outcome_indptr[:-1])
        most = np.maximum.reduceat(actions, alone.action_indptr[:-1])
        worth = np.where(mine, most, np.minimum.reduceat(actions, alone.action_indptr[:-1]))
    least = worth.reshape(3, -1)[[0, 2, 1], 0]
    assert found.best == pytest.approx(least, abs=1e-12)
    equilibrium = rollwise.equilibrium(Pig(5, 3, players=3)).win_probabilities
    assert np.all(np.array(found.best) < np.array(equilibrium) + 1e-12)


def test_who_wins():
    assert won_by(0) == WIN
    for seats in ((), (-1,), (16,), ("a",)):
        with pytest.raises(ValueError, match="names no winners"):
            won_by(*seats)


@pytest.mark.parametrize(
    ("then", "shares"),
    [(LOSE, (0, 0.5, 0.5)), (DRAW, (1 / 3,) * 3), (won_by(0, 2), (0.5, 0, 0.5))],
)
def test_endings(then, shares):
    class Once(game_of(WHO_STOPS).__class__):
        def outcomes(self, s, action):
            yield 1, then, s

    assert rollwise.equilibrium(Once()).win_probabilities == pytest.approx(shares, abs=1e-14)


def test_endings_that_name_no_seat_are_refused():
    class Once(game_of(WHO_STOPS).__class__):
        def outcomes(self, s, action):
            yield 1, rollwise.payoff(8), s

    with pytest.raises(RulesError, match=r"can end with payoff\(8\)"):
        build_seats(Once())


def test_what_is_for_two_refuses():
    solution = rollwise.solve(Pig(5, players=3))
    for game in (Pig(5, players=3), solution):
        with pytest.raises(ForMorePlayers, match="rollwise.solve"):
            rollwise.distribution(game)
        with pytest.raises(ForMorePlayers, match="is a game for 3"):
            rollwise.best_response(game, "random")
    with pytest.raises(UsageError, match="without a method"):
        rollwise.solve(Pig(5, players=3), method="exact")
    with pytest.raises(UsageError, match="needs several"):
        rollwise.equilibrium(game_of("threes"))


def printed(*words):
    result = run(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout


def refusal(*words):
    result = run(*words)
    assert result.returncode == 2
    return result.stderr


def test_commands():
    pig = ("pig", "players=3", "target=4")
    document = json.loads(printed("solve", *pig, "--json"))
    assert document["players"] == 3
    assert document["deviation_gain"] < 1e-12
    first = document["win_probabilities"][0]
    assert f"seat 1: {first}"[:18] in printed("solve", *pig)
    state = ("--state", "banked=0,rivals=(0,0),turn=2")
    advice = json.loads(printed("advise", *pig, *state, "--json"))
    assert [row["action"] for row in advice["actions"]] == ["roll", "hold"]
    assert sum(advice["actions"][1]["win_probabilities"]) == pytest.approx(1, abs=1e-12)
    assert "hold" in printed("advise", *pig, *state)
    rows = json.loads(printed("table", *pig, "--where", "turn == 2", "--json"))["rows"]
    assert {row["turn"] for row in rows} == {2}
    assert printed("table", *pig, "--csv").startswith("banked,rivals.0,rivals.1,turn,action")
    assert "win_probability.2" in printed("table", *pig, "--limit", "3")
    shares = json.loads(printed("evaluate", *pig, "--policy", "optimal", "--json"))
    assert shares["win_probabilities"][0] == pytest.approx(first, abs=1e-12)
    response = json.loads(printed("respond", *pig, "--to", "random", "--json"))
    assert response["best_responses"][0] > response["win_probabilities"][0] + 0.05
    assert "seat 3 wins with" in printed("respond", *pig, "--to", "adversaries")
    assert "instead of" in printed("respond", *pig, "--to", "hold-at-20")
    assert "seat 3, random" in printed("evaluate", *pig, "--policy", "hold-at-20,hold-at-20,random")
    played = json.loads(
        printed("simulate", *pig, "--policy", "random", "--games", "50", "--seed", "1", "--json")
    )
    assert sum(played["win_rates"]) == pytest.approx(1)
    assert "exactly" in printed("simulate", *pig, "--policy", "random", "--games", "50")


def test_commands_refuse():
    pig = ("pig", "players=3", "target=4")
    assert "is a game for 3" in refusal("export", *pig, "--to", "json")
    assert "is a game for 3" in refusal("compare", *pig)
    assert "--method isn't for games of three" in refusal(
        "solve", *pig, "--method", "value-iteration"
    )
    assert "--against isn't for games" in refusal(
        "evaluate", *pig, "--policy", "random", "--against", "random"
    )
    assert "no policy 'best'" in refusal("evaluate", *pig, "--policy", "best")


def test_with_allies_a_seat_has_the_most_there_is():
    graph = build_seats(Pig(5, 3, players=3))
    most, least = respond_to_all(graph, ALLIES), respond_to_all(graph, ADVERSARIES)
    equal = rollwise.equilibrium(Pig(5, 3, players=3)).win_probabilities
    assert np.all(np.array(most.best) > np.array(equal) + 0.01)
    assert np.all(np.array(least.best) < np.array(equal) + 1e-12)
    assert most.error_bound < 1e-12
    # who waits for a friend's stop is the last one of it, and so is who moves second of three
    waits = respond_to_all(build_seats(game_of(WHO_STOPS)), ALLIES)
    assert waits.best[0] == pytest.approx(0.9 * 0.6 + 0.1 / 3, abs=1e-12)


# ---- shares


@pytest.mark.parametrize("parts", [(2, 1, 0), (0, 0, 7), (65_535, 1, 0), (1, 1, 1)])
def test_parts_of_a_win(parts):
    then = rollwise.shared(*parts)

    class Once(game_of(WHO_STOPS).__class__):
        def outcomes(self, s, action):
            yield 1, then, s

    expected = np.array(parts) / sum(parts)
    assert rollwise.equilibrium(Once()).win_probabilities == pytest.approx(expected, abs=1e-15)


def test_parts_of_many_and_none():
    assert shares_of(payoff_of(rollwise.shared(*range(8), *range(8))), 16)[7] == 7 / 56
    assert shares_of(payoff_of(rollwise.shared(1, 2)), 3) == ()  # of two seats, not of three
    assert shares_of(payoff_of(won_by(3)), 3) == ()
    for parts in ((), (1,), (0, 0, 0), (1, -1), (1, 2.5), (1 << 16, 0, 0)):
        with pytest.raises(ValueError, match="are no shares"):
            rollwise.shared(*parts)


# ---- files


def test_an_equilibrium_is_saved_and_proved_anew(tmp_path):
    found = solved(WHO_STOPS)
    place = tmp_path / "stops.parquet"
    SeatsSolution.of(found).save(place)
    again = rollwise.load(place, game_of(WHO_STOPS)).equilibrium
    assert np.array_equal(again.values, found.values)
    assert np.array_equal(again.policy.probability, found.policy.probability)
    assert again.deviation_gain == found.deviation_gain
    with pytest.raises(SolutionFileError, match="isn't installed"):
        rollwise.load(place)
    with pytest.raises(SolutionFileError, match="was saved for who-stops patience=10"):
        rollwise.load(place, game_of(WHO_STOPS, patience=11))
    data = bytearray(place.read_bytes())
    data[40] ^= 1
    place.write_bytes(data)
    with pytest.raises(SolutionFileError, match="damaged"):
        rollwise.load(place, game_of(WHO_STOPS))


def test_a_throw_before_the_choice_is_saved_too(tmp_path):
    solution = rollwise.solve(ThrownRace())
    solution.save(tmp_path / "race.parquet")
    found, again = solution.equilibrium, rollwise.load(tmp_path / "race.parquet", ThrownRace())
    again = again.equilibrium
    assert np.array_equal(again.values, found.values)
    assert again.deviation_gain < 1e-12
    thrown = solution.table(throws=True)[solution.graph.throw_names[0]]
    assert thrown.null_count() == solution.graph.n_positions  # nothing is thrown yet
    assert solution.table()[solution.graph.throw_names[0]].null_count() == 0


def test_searches_from_other_starts_end_in_equilibria():
    one = solved("pig", ("target", 6), ("players", 3))
    for seed in range(3):
        other = rollwise.equilibrium(Pig(6, players=3), seed=seed)
        assert other.deviation_gain < 1e-12
        assert other.values == pytest.approx(one.values, abs=1e-9)


def test_commands_save_and_load(tmp_path):
    pig, place = ("pig", "players=3", "target=4"), str(tmp_path / "pig.parquet")
    first = json.loads(printed("solve", *pig, "--save", place, "--json"))["win_probabilities"]
    assert json.loads(printed("table", *pig, "--load", place, "--json"))["players"] == 3
    state = ("--state", "banked=0,rivals=(0,0),turn=0")
    advice = json.loads(printed("advise", *pig, *state, "--load", place, "--json"))
    assert advice["win_probabilities"] == first
    assert printed("evaluate", *pig, "--policy", place)  # the file is a policy too
    assert (
        "was saved for pig target=4"
        in run("table", "pig", "players=3", "target=5", "--load", place).stderr
    )


def test_a_tournament_is_all_seatings():
    table = Policies.of(Pig(4, players=3), any_players=True)
    seated = [table.find(name) for name in ("random", "hold-at-20")]
    found = tournament_of_many(table.graph, seated)
    got, tables = np.zeros(2), np.zeros(2)
    for seating in product((0, 1), repeat=3):
        shares = evaluate_seats(table.graph, [seated[i] for i in seating]).win_probabilities
        for i, share in zip(seating, shares, strict=True):
            if len(set(seating)) > 1:
                got[i] += share
                tables[i] += 1
    assert found.results == pytest.approx(got / tables, abs=1e-12)
    assert np.diag(found.among) == pytest.approx(1 / 3, abs=1e-12)
    alone = [
        evaluate_seats(table.graph, np.roll([seated[1], seated[0], seated[0]], k).tolist())
        for k in range(3)
    ]
    mean = np.mean([shares.win_probabilities[k] for k, shares in enumerate(alone)])
    assert found.among[1, 0] == pytest.approx(mean, abs=1e-12)
    with pytest.raises(UsageError, match="each entered once"):
        tournament_of_many(table.graph, [seated[0], seated[0]])
    many = [Policy(str(i), seated[0].probability) for i in range(11)]
    with pytest.raises(UsageError, match="1,331 ways"):
        tournament_of_many(table.graph, many)


def test_a_tournament_is_printed():
    entered = ("tournament", "pig", "players=3", "target=4", "--policies", "random,optimal")
    document = json.loads(printed(*entered, "--json"))
    assert document["results"][1] > 1 / 3 > document["results"][0]
    lines = printed(*entered).splitlines()
    assert lines[0].endswith("8 seatings")
    assert lines[2].startswith("optimal")
    assert "--workers isn't for games of three" in refusal(*entered, "--workers", "2")


@pytest.mark.parametrize(("players", "target"), [(2, 10), (3, 5), (3, 10), (4, 5)])
def test_the_table_of_the_page(players, target):
    page = (EXAMPLES.parent / "docs" / "many-seats.md").read_text()
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {players} | {target} |"))
    shares = [float(cell) for cell in line.split("|")[3 : 3 + players]]
    found = rollwise.equilibrium(Pig(target, players=players))
    assert shares == pytest.approx(found.win_probabilities, abs=6e-10)
    assert f"| {found.graph.n_states:,} | {len(found.mixing)} |" in line


def test_self_play_comes_near_the_equilibrium():
    game = KnockOut(distinct=True, players=3)
    graph = build_seats(game)
    few, many = (learn_seats(graph, games, explore=10.0, seed=3) for games in (5, 2_000))
    assert max(few.gains) > 0.05
    assert max(many.gains) < 1e-12
    best = rollwise.equilibrium(game)
    assert many.response.win_probabilities == pytest.approx(best.win_probabilities, abs=1e-12)
    again = learn_seats(graph, 2_000, explore=10.0, seed=3)
    assert np.array_equal(again.policy.probability, many.policy.probability)
    # where everybody must mix, what is learned for certain is no equilibrium
    assert max(learn_seats(build_seats(game_of(WHO_STOPS)), 500, seed=1).gains) > 0.05
    with pytest.raises(UsageError, match="at least 1"):
        learn_seats(graph, 0)


def test_what_self_play_counts():
    """In a game without a choice the means are the certified shares."""
    graph = build_seats(game_of(LCR, players=3, chips=1))
    learner = Learner(graph, method="monte-carlo", seed=1)
    learner.play(4_000)
    learned = learner.result()
    assert learned.visits[0] >= 4_000
    values = solved(LCR, ("players", 3), ("chips", 1)).values[:, 0]
    often = learned.visits > 500
    assert often.sum() > 2
    assert np.abs(learned.values - values)[often].max() < 0.12


def test_learning_is_printed():
    pig = ("learn", "pig", "players=3", "target=4", "--games", "200", "--seed", "1")
    document = json.loads(printed(*pig, "--json"))
    assert document["games"] == 200
    assert len(document["gains"]) == 3
    assert "seat 3 wins with probability" in printed(*pig)
    assert "--compare isn't for games of three" in refusal(*pig, "--compare")
    refused = refusal(*pig, "--resume", "kept.npz")
    assert "begin anew with the same --seed and more --games" in refused


def test_games_in_two_parts_are_those_of_one():
    """So a run with more games of the same seed begins with the same games."""
    graph, found = build_seats(Pig(4, players=3)), []
    for parts in ((700,), (300, 400)):
        learner = Learner(graph, explore=10.0, method="monte-carlo", seed=1)
        for games in parts:
            learner.play(games)
        found.append(learner.arrays())
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])
    assert found[0]["sums"][:, 0].sum() > 700


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
    with pytest.raises(UsageError, match="evaluated exactly, from the start"):
        rollwise.evaluate(Pig(8), ["optimal", "random"], starts=[3])
    with pytest.raises(ForMorePlayers, match="is a game for 3"):
        rollwise.evaluate(solution, "optimal")


def test_best_responses_of_two_and_three():
    found, pair = (
        rollwise.best_responses(Pig(8), "random"),
        rollwise.best_response(Pig(8), "random"),
    )
    assert found.best[0] == pair.win_probability[0]
    assert found.best[1] == pair.win_probability_second[0]
    assert found.win_probabilities == rollwise.evaluate(Pig(8), ["random"]).win_probabilities
    three = rollwise.best_responses(Pig(5, players=3), "random")
    first = rollwise.evaluate(Pig(5, players=3), ["random"]).win_probabilities
    assert three.win_probabilities == pytest.approx(first, abs=1e-14)
    assert all(best > got for best, got in zip(three.best, first, strict=True))
