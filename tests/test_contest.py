"""Contests and betting, against brute force over whole strategies' payoffs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from throwing import TwoBoxes

import rollwise
from rollwise import solve
from rollwise.analysis.betting import advise_double
from rollwise.analysis.contest import TIES, Contest, solve_blind_contest, solve_contest
from rollwise.analysis.distributions import distributions
from rollwise.derive.by_score import by_score
from rollwise.games.threes import Threes
from rollwise.graph.choices import has_choice
from rollwise.graph.policies import Policy

FACES = (0, 1, 2, 4, 5, 6)


def best(dice: int, take_two: bool, score: int, worth, skip: bool) -> tuple[Fraction, dict]:
    """The largest expected worth of the final score, and how likely each one then is."""
    total, spread = Fraction(0), {}
    for roll in product(FACES, repeat=dice):
        roll = sorted(roll)
        choices = []
        for n in range(dice + 1):
            if (n == 0 and not (skip and not take_two and dice > 1)) or (take_two and n == 1):
                continue
            points = score + sum(roll[:n])
            if n == dice:
                choices.append((worth(points), {points: Fraction(1)}))
            else:
                choices.append(kept(dice - n, n == 0, points, worth, skip))
        value, ends = max(choices, key=lambda choice: choice[0])
        total += value
        for points, p in ends.items():
            spread[points] = spread.get(points, 0) + p
    ways = 6**dice
    return total / ways, {points: p / ways for points, p in spread.items()}


@cache
def kept(dice, take_two, score, worth, skip):
    return best(dice, take_two, score, worth, skip)


def brute_force(players: int, ties: str, dice: int, skip: bool) -> list[Fraction]:
    """Each player's share of the prize, by the definition: scores so far, not summaries."""

    def prize(scores: tuple[int, ...]) -> list[Fraction]:
        winners = [i for i, score in enumerate(scores) if score == min(scores)]
        if ties == "first":
            winners = winners[:1]
        if ties == "win-or-tie":
            winners = winners[-1:]
        return [Fraction(i in winners, len(winners)) for i in range(players)]

    @cache
    def shares(scores: tuple[int, ...]) -> tuple[Fraction, ...]:
        if len(scores) == players:
            return tuple(prize(scores))
        me = len(scores)

        @cache
        def worth(points: int) -> Fraction:
            return shares((*scores, points))[me]

        _, ends = best(dice, False, 0, worth, skip)
        found = [Fraction(0)] * players
        for points, p in ends.items():
            for i, share in enumerate(shares((*scores, points))):
                found[i] += p * share
        return tuple(found)

    return list(shares(()))


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("players", "dice", "skip"), [(2, 2, True), (2, 2, False), (3, 1, True)])
def test_against_brute_force(players, dice, skip, ties):
    found = solve_contest(Contest(Threes(dice=dice, skip=skip), players, ties))
    for mine, exact in zip(
        found.probabilities, brute_force(players, ties, dice, skip), strict=True
    ):
        assert abs(Fraction(float(mine)) - exact) <= found.error_bound


def test_a_double_with_one_die():
    """With one die the second player's turn is one roll: everything can be done by hand."""
    solved = solve_contest(Contest(Threes(dice=1), 2))
    shares = {0: Fraction(1, 12), 1: Fraction(1, 4), 2: Fraction(5, 12), 4: Fraction(7, 12)}
    for score, share in shares.items():
        advice = advise_double(solved, (score,))
        equity = 2 * share - 1
        assert advice.accepted == pytest.approx(float(2 * equity), abs=1e-12)
        assert advice.offer == (equity > 0)
        assert advice.value == pytest.approx(float(max(equity, min(1, 2 * equity))), abs=1e-12)
    # 5 points to beat: 3 in 4 to win is 0.5 of equity, and twice that is just 1
    advice = advise_double(solved, (5,))
    assert advice.accepted == pytest.approx(1, abs=1e-12)
    assert advice.accept
    assert advice.value == pytest.approx(1, abs=1e-12)
    # The second player gets 1 for 6 points (11 in 12), which the first would decline.
    assert not advise_double(solved, (6,)).accept
    # The first player's rolls leave him with 5/6, 1/2, 1/6, -1/3, -1 and -1.
    first = [Fraction(5, 6), Fraction(1, 2), Fraction(1, 6), Fraction(-1, 3), -1, -1]
    assert advise_double(solved).value == pytest.approx(float(sum(first) / 6), abs=1e-12)


@pytest.mark.parametrize("ties", ["shared", "first", "win-or-tie"])
def test_doubles_of_a_contest_are_those_of_the_doubling_cube(ties):
    game = Threes(dice=3)
    solved = solve_contest(Contest(game, 2, ties))
    answer = solve(game.contest(ties=ties).cube(limit=2, opening=True))
    cube = answer.game
    start = cube.inner.start()
    for finished, inner in [((), start), *(((n,), start._replace(rival=n)) for n in (0, 3, 8))]:
        advice = advise_double(solved, finished)
        waits, offers = answer.advise(cube.begun(inner, cube.first_stake)).actions
        assert advice.no_offer == pytest.approx(waits.value, abs=1e-10)
        assert min(advice.accepted, 1.0) == pytest.approx(offers.value, abs=1e-10)
        assert advice.offer == (offers.best and not waits.best)


# ---- a contest of two at the same time: its equilibrium against all policies there are


def wins(one, other):
    """How often a score of the one distribution (a dict) is fewer than one of the other."""
    return sum(
        p * q * (1 if a < b else 0.5 if a == b else 0)
        for a, p in one.items()
        for b, q in other.items()
    )


def every_distribution(game):
    """The final scores of every policy that looks at the points made so far."""
    graph = by_score(rollwise.build(game)).graph
    choices = np.flatnonzero(has_choice(graph))
    ranges = [graph.view[s].action_range for s in choices.tolist()]
    found = set()
    for actions in product(*ranges):
        chosen = np.array([graph.view[s].action_range[0] for s in range(graph.n_states)])
        chosen[choices] = actions
        policy = Policy.of_actions(graph, "one", chosen)
        ends = {}
        arrive(graph, policy, 0, 1.0, ends)
        found.add(tuple(sorted(ends.items())))
    return [dict(ends) for ends in found]


def arrive(graph, policy, state, chance, ends):
    """Follow a policy to the scores it ends with, which stand in the last field."""
    for action in graph.view[state].actions:
        taken = policy.probability[action.index]
        for outcome in action.outcomes if taken else ():
            ahead = chance * taken * outcome.chance
            if outcome.target < graph.n_states:
                arrive(graph, policy, outcome.target, ahead, ends)
            else:
                place = outcome.target - graph.n_states
                ends[place] = round(ends.get(place, 0.0) + ahead, 12)


def test_no_policy_beats_the_mixture():
    """Places stand for scores, the best first, so that the fewer is the better one."""
    game = TwoBoxes()
    found = solve_blind_contest(game)
    assert found.mean < found.for_mean.mean
    scores = list(found.scored.scores)
    mixed = {}
    for part in found.parts:
        for value, p in zip(part.scores.values, part.scores.probabilities, strict=True):
            mixed[scores.index(value)] = mixed.get(scores.index(value), 0.0) + part.weight * p
    every = every_distribution(game)
    best = [wins(ends, mixed) for ends in every]
    assert len(every) > 100
    assert max(best) <= 0.5 + found.gain + 1e-9
    mean = {
        scores.index(v): p
        for v, p in zip(found.for_mean.values, found.for_mean.probabilities, strict=True)
    }
    assert max(wins(ends, mean) for ends in every) == pytest.approx(found.against_mean.value)


def test_the_response_to_the_mean_wins_what_it_says():
    """Against somebody who plays for the mean and isn't seen, by another way through the scores."""
    game = Threes(dice=4)
    found, solution = solve_blind_contest(game), rollwise.solve(game)
    row = distributions(solution.graph, solution.policy).of(0)
    blind = dict(zip(row.values.tolist(), row.probabilities.tolist(), strict=True))
    mean = dict(zip(found.for_mean.values, found.for_mean.probabilities, strict=True))
    assert wins(mean, blind) == pytest.approx(0.5, abs=1e-12)
    parts = [
        dict(zip(part.scores.values, part.scores.probabilities, strict=True))
        for part in found.parts
    ]
    against = sum(
        part.weight * wins(mean, ends) for part, ends in zip(found.parts, parts, strict=True)
    )
    assert against == pytest.approx(found.mean_against.value, abs=1e-9)
