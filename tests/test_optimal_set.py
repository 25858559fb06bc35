"""All optimal policies together: against every one of them, one after the other, in fractions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, NamedTuple

import naive
import numpy as np
import pytest
from cli_runner import output
from graphs import ending_graphs
from hypothesis import given
from hypothesis import strategies as st
from little_games import Spot
from stakes import Collect, Thrown
from throwing import Runners, TwoBoxes

from rollwise import AGAIN, DRAW, END, PASS, WIN, Chase, Game, Solution, build, evaluate, solve
from rollwise.analysis.distributions import distribution
from rollwise.analysis.frontier import frontier
from rollwise.analysis.lengths import lengths
from rollwise.analysis.observed_scores import best_fit
from rollwise.analysis.second_aims import ranges, ranges_in, score_ranges, second_aims
from rollwise.answer.optimal_set import OptimalSet, ranges_against
from rollwise.answer.references import Policies
from rollwise.derive.by_score import by_score
from rollwise.derive.chase import WithScore
from rollwise.errors import PolicyError, UsageError
from rollwise.games.gamblers_problem import GamblersProblem
from rollwise.games.pig import Pig, Piglet
from rollwise.games.threes import Threes
from rollwise.graph.policies import Policy, ties_in_play


@dataclass(frozen=True)
class Fork(Game):
    """Take 5 for sure, or 0 or 10 by a coin, or go where nothing is to be chosen."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    action_names: ClassVar = ("sure", "coin", "poor")
    better: int = 0

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        if s.place == 0:
            yield 1
            yield 2

    def reward(self, s, action):
        if s.place == 1:
            return 10
        return 5 + self.better if s.place == 0 and action == 0 else 0

    def outcomes(self, s, action):
        if s.place == 0 and action == 1:
            yield 1, AGAIN, Spot(1)
        yield 1, END, s


class Coin(NamedTuple):
    tossed: int


@dataclass(frozen=True)
class Calls(Game):
    """Call either side of a coin: two players, and it makes no difference."""

    def start(self):
        return Coin(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1, WIN, s
        if s.tossed < 3:
            yield 1, PASS, Coin(s.tossed + 1)
        else:
            yield 1, DRAW, s


MOST_POLICIES = 3000


def optimal_moves(graph):
    """For each state that optimal play comes to, its optimal actions, in fractions."""
    moves = naive.moves_of_graph(graph)
    values = naive.exact_values(moves, smallest=graph.objective == "minimize")
    kept, queue = {}, [0]
    for s in queue:  # grows while it runs
        if s in kept:
            continue
        kept[s] = [
            int(graph.action_indptr[s]) + i
            for i, move in enumerate(moves[s])
            if naive.worth(move, values) == values[s]
        ]
        for a in kept[s]:
            queue += [t for t in next_states(graph, a) if t >= 0]
    return kept


def possible(graph, a):
    """The different outcomes of an action."""
    ways = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
    arrays = graph.outcome_state, graph.outcome_passes, graph.outcome_payoff
    return {tuple(array[k] for array in arrays) for k in ways}


def next_states(graph, a):
    return graph.outcome_state[graph.outcome_indptr[a] : graph.outcome_indptr[a + 1]].tolist()


def every_policy(kept):
    """All policies that take optimal actions, or None where there are too many."""
    count = np.prod([len(actions) for actions in kept.values()], dtype=float)
    if count > MOST_POLICIES:
        return None
    return [dict(zip(kept, chosen, strict=True)) for chosen in product(*kept.values())]


def expected(graph, policy, of_action, of_ending):
    """What a policy brings on average: exact, by linear equations."""
    moves = {}
    for s, a in policy.items():
        ways = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
        total = sum(int(graph.outcome_weight[k]) for k in ways)
        constant, coefficients = Fraction(of_action(a)), {}
        for k in ways:
            chance, t = Fraction(int(graph.outcome_weight[k]), total), int(graph.outcome_state[k])
            if t in policy:
                coefficients[t] = coefficients.get(t, 0) + chance
            else:
                constant += chance * of_ending(k)
        moves[s] = naive.Move(0, constant, coefficients)
    return naive.evaluate(moves)[0]


def restricted_pairs(graph):
    """Play of optimal actions unrolled by the score, and its policies."""
    kept = optimal_moves(graph)
    allowed = {a for actions in kept.values() for a in actions}
    scored = by_score(graph)
    pairs, queue = {}, [0]
    for s in queue:  # grows while it runs
        if s not in pairs:
            here = range(scored.graph.action_indptr[s], scored.graph.action_indptr[s + 1])
            pairs[s] = [a for a in here if int(scored.action[a]) in allowed]
            for a in pairs[s]:
                queue += [t for t in next_states(scored.graph, a) if t < scored.graph.n_states]
    return scored, every_policy(pairs)


def check_range(found, exact):
    assert found.least - found.error_bound <= min(exact) <= found.least + found.error_bound
    assert found.most - found.error_bound <= max(exact) <= found.most + found.error_bound
    assert found.error_bound < 1e-9


def check_counts(graph):
    """How often actions are taken, how many moves and draws there are: over every policy."""
    policies = every_policy(optimal_moves(graph))
    if policies is None:
        return
    solution = Solution.of_graph(graph)
    label = str(int(graph.action_label[-1]))

    def nothing(k):
        return 0

    def drawn(k):
        return int(graph.outcome_payoff[k] == 0)

    asked = {
        label: (lambda a: int(graph.action_label[a] == int(label)), nothing),
        "moves": (lambda a: 1, nothing),
        "rolls": (lambda a: int(len(possible(graph, a)) > 1), nothing),
    }
    if graph.has_draws:
        asked["draw"] = (nothing, drawn)
    for name, found in zip(asked, ranges(solution, list(asked)), strict=True):
        check_range(found, [expected(graph, policy, *asked[name]) for policy in policies])


whole = st.integers(-1, 1).map(float)


@pytest.mark.kernels
@given(ending_graphs(max_states=4, weights=st.integers(1, 2), points=whole))
def test_counts_against_every_optimal_policy(graph):
    check_counts(graph)


@pytest.mark.parametrize("game", [Threes(dice=2), Fork(), Calls()], ids=str)
def test_counts_in_games(game):
    check_counts(build(game))


@dataclass(frozen=True)
class Walk(Game):
    """A point for sure, or nothing or two by a coin, again and again: all play is as good."""

    length: int = 3
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "minimize"
    action_names: ClassVar = ("sure", "coin")

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        if s.place % 2 == 0:
            yield 1

    def outcomes(self, s, action):
        following = s.place + 2 - s.place % 2
        if s.place % 2 == 0 and action == 1:
            yield 1, AGAIN, Spot(s.place + 1)
        yield 1, AGAIN if following < 2 * self.length else END, Spot(following)

    def reward(self, s, action):
        return 2 if s.place % 2 else 1 - action


@pytest.mark.parametrize("game", [Threes(dice=2), Fork(), Walk(2)], ids=str)
def test_scores_against_every_optimal_policy_that_sees_the_score(game):
    graph = build(game)
    scored, policies = restricted_pairs(graph)
    assert policies is not None
    scores = scored.scores.tolist()
    mean = None

    def at(score):
        return lambda k: int(scores[scored.graph.outcome_state[k] - scored.graph.n_states] == score)

    rows = {}
    for score in scores:
        rows[score] = [
            expected(scored.graph, policy, lambda a: 0, at(score)) for policy in policies
        ]
    found = score_ranges(game)
    for score, exact in rows.items():
        if score in found.rows:
            check_range(found.rows[score], exact)
        else:
            assert set(exact) == {0}
    spreads = []
    for i in range(len(policies)):
        row = {score: rows[score][i] for score in scores}
        mean = sum(score * p for score, p in row.items())
        spreads.append(sum((score - mean) ** 2 * p for score, p in row.items()))
    check_range(found.variance, spreads)
    assert solve(game).value == pytest.approx(float(mean))


def test_second_aims_come_one_after_the_other():
    game = Walk(3)
    scored, policies = restricted_pairs(build(game))
    assert policies is not None
    graph = scored.graph
    scores = scored.scores.tolist()

    def coins(policy):
        return expected(graph, policy, lambda a: int(graph.action_label[a]), lambda k: 0)

    def zero(policy):
        return expected(
            graph,
            policy,
            lambda a: 0,
            lambda k: int(scores[graph.outcome_state[k] - len(graph.states)] <= 1),
        )

    both = [(zero(policy), -coins(policy)) for policy in policies]
    found = second_aims(game, ["score<=1", "least:coin"])
    assert found.aims == ("most score<=1", "least coin")
    chance, tosses = max(both)
    assert found.values[0].value == pytest.approx(float(chance), abs=1e-12)
    assert found.values[1].value == pytest.approx(float(-tosses), abs=1e-12)
    row = found.distribution()
    assert row.at_most(1) == pytest.approx(float(chance), abs=1e-12)
    other_way = second_aims(game, ["most:coin", "score<=1"])
    most = max((-tosses, chance) for chance, tosses in both)
    assert [one.value for one in other_way.values] == pytest.approx([float(x) for x in most])


@pytest.mark.needs_jit
def test_the_figures_of_threes():
    solution = solve(Threes())
    zero, five = ranges(solution, ["score=0", "score<=5"])
    win = ranges(solution, ["win:win-or-tie"])[0]
    assert (round(100 * zero.least, 3), round(100 * zero.most, 3)) == (1.316, 1.663)
    assert (round(100 * five.least, 2), round(100 * five.most, 2)) == (52.97, 54.75)
    second = sorted((100 * (1 - win.least), 100 * (1 - win.most)))
    assert [round(x, 3) for x in second] == [58.857, 59.205]


def test_the_winner_of_a_tie_is_in_the_name_of_an_aim():
    text = output("optimal", "threes", "dice=2", "--range", "win", "--range", "win:first")
    assert [line.split("from")[0].strip() for line in text.splitlines() if "win" in line] == [
        "win:",
        "win:first:",
    ]
    assert "then most win:first: " in output("optimal", "threes", "dice=2", "--then", "win:first")
    assert text.splitlines()[-1].count("%") == 3


def test_the_frontier_of_wins_and_moves_against_every_policy():
    game = GamblersProblem(capital=2, goal=5)
    graph, found = build(game), frontier(game, "most:moves", tolerance=0.0)
    means, moves = ([corner[i] for corner in found.corners][::-1] for i in (0, 1))
    n, rows = graph.n_states, []  # of each action the chances of the next states, and of a win
    for state in graph.view:
        rows.append(np.zeros((len(state.actions), n + 1)))
        for row, action in zip(rows[-1], state.actions, strict=True):
            for outcome in action.outcomes:
                if not outcome.is_over:
                    row[outcome.target] += outcome.chance
                elif outcome.payoff > 0:
                    row[n] += outcome.chance
    picks = np.array(list(product(*(range(len(row)) for row in rows))))
    chain = np.stack([row[picks[:, s]] for s, row in enumerate(rows)], axis=1)
    right = np.stack([chain[..., n], np.ones(picks.shape)], axis=-1)
    every = np.linalg.solve(np.eye(n) - chain[..., :n], right)[:, 0]
    known = every[every[:, 0] >= means[0]]
    assert np.all(known[:, 1] <= np.interp(known[:, 0], means, moves) + found.gap + 1e-9)
    for corner in zip(means, moves, strict=True):
        assert np.isclose(every, corner).all(axis=1).any()
    assert len(means) == len(set(found.corners)) > 2


def test_a_frontier_of_one_corner_has_no_neighbours():
    text = output("frontier", "threes", "dice=3")
    assert text.endswith("; this policy is best at both (certified)\n")
    text = output("frontier", "gamblers-problem", "capital=3", "goal=8", "--aim", "most:moves")
    assert text.endswith(" beyond the line between two neighbours (certified)\n")


def test_the_frontier_against_every_policy():
    game = Threes(dice=2)
    graph = build(game)
    scored = by_score(graph)
    choices = {
        s: list(range(scored.graph.action_indptr[s], scored.graph.action_indptr[s + 1]))
        for s in range(scored.graph.n_states)
    }
    found = frontier(game, "score<=3", tolerance=0.0)
    assert found.corners[0].mean == pytest.approx(solve(game).value)
    best = solve(Chase(game, 3))
    assert found.corners[-1].value == pytest.approx((1 + best.value) / 2)
    means = [corner.mean for corner in found.corners]
    chances = [corner.value for corner in found.corners]
    assert means == sorted(means)
    assert chances == sorted(chances)
    random = np.random.default_rng(1)
    scores = scored.scores
    for _ in range(200):
        policy = {s: int(random.choice(actions)) for s, actions in choices.items()}

        def ending(k, of):
            return Fraction(int(of(scores[scored.graph.outcome_state[k] - len(choices)])))

        mean = expected(scored.graph, policy, lambda a: 0, lambda k: ending(k, lambda x: x))
        chance = expected(scored.graph, policy, lambda a: 0, lambda k: ending(k, lambda x: x <= 3))
        if float(mean) <= means[-1]:
            assert float(chance) <= np.interp(float(mean), means, chances) + found.gap + 1e-12
        assert float(chance) <= chances[-1] + 1e-12


# ---- policies of second aims in files, and games with the points made so far in their states


SOLITAIRE = [Walk(3), Threes(dice=3), Threes(dice=4, skip=False)]


def saved(game: Game, aim: str, place):
    """The policy of an aim, written to a file, and the certified value of the aim."""
    solution = solve(game)
    found = second_aims(solution, [aim])
    found.table(solution).write_csv(place)
    return found.values[0]


@pytest.mark.parametrize("game", SOLITAIRE, ids=str)
@pytest.mark.parametrize("aim", ["variance", "most:variance", "most:score<=3"])
def test_a_saved_policy_reaches_its_aim(game, aim, tmp_path):
    worth = saved(game, aim, tmp_path / "aim.csv")
    scored = WithScore(game)
    policies = Policies.of(scored)
    reference = str(tmp_path / "aim.csv")
    result = evaluate(policies, reference)
    assert float(result.values[0]) == pytest.approx(solve(game).value, abs=1e-9)
    made = distribution(policies, reference)
    reached = made.at_most(3) if "score" in aim else made.sd**2
    assert reached == pytest.approx(worth.value, abs=1e-9)
    with pytest.raises(PolicyError, match="looks at the points made so far"):
        Policies.of(game).find(reference)


def test_where_the_score_counts_for_nothing_it_is_a_policy_of_the_game(tmp_path):
    """How long a play takes doesn't rest on points, so the file has the game's own fields."""
    for aim in ("moves", "least:moves"):
        worth = saved(Threes(dice=3), aim, tmp_path / "aim.csv")
        policies = Policies.of(Threes(dice=3))
        made = distribution(
            policies, str(tmp_path / "aim.csv"), points=np.ones(policies.graph.n_outcomes, np.int64)
        )
        assert made.mean == pytest.approx(worth.value, abs=1e-9)


def test_a_saved_policy_of_a_game_for_two(tmp_path):
    solution = solve(Pig(target=12))
    second_aims(solution, ["most:roll"]).table(solution).write_parquet(tmp_path / "roll.parquet")
    result = evaluate(Pig(target=12), str(tmp_path / "roll.parquet"))
    assert float(result.values[0]) == pytest.approx(solution.value, abs=1e-9)
    assert evaluate(Pig(target=12), "optimal", str(tmp_path / "roll.parquet"))


@pytest.mark.parametrize(
    "game", [TwoBoxes(2), Thrown(length=5), Runners(2).cube(1)], ids=lambda game: game.name
)
def test_a_saved_policy_of_a_game_with_throws(game, tmp_path):
    solution = solve(game)
    found = second_aims(solution, ["least:moves"])
    found.table(solution).write_csv(tmp_path / "moves.csv")
    policies = Policies.of(solution)
    policy = policies.find(str(tmp_path / "moves.csv"))
    assert float(evaluate(policies, policy).values[0]) == pytest.approx(solution.value, abs=1e-9)
    visits = lengths(solution.graph, policy).visits
    moves = visits[solution.graph.thrown_in].sum()  # a throw is none
    assert moves == pytest.approx(found.values[0].value, abs=1e-7)


# ---- figures that rest on which of several best actions is taken say so


TIES = "several actions are equally good; another optimal policy may have other figures"


def test_states_with_several_best_actions_are_counted():
    solution = solve(Fork())
    found = ties_in_play(solution.graph, solution.policy)
    assert (found.states, found.reached) == (1, 1)  # "sure" comes first, and ends the play
    solution = solve(Fork(better=1))
    assert ties_in_play(solution.graph, solution.policy) is None
    assert ties_in_play(solution.graph, Policy.uniform(solution.graph)) is None


def test_games_of_two():
    solution = solve(Calls())
    found = ties_in_play(solution.graph, solution.policy)
    assert (found.states, found.reached) == (4, 4)
    assert TIES in found.text
    exact = solve(Piglet(target=5))
    assert ties_in_play(exact.graph, exact.policy) is None


@pytest.mark.parametrize("game", [Collect(chips=3), Thrown(length=4), Piglet(target=3)], ids=str)
def test_ranges_against_a_policy_have_the_ends_of_all_optimal_policies(game):
    """Also where actions bring payments on the way."""
    solution = solve(game)
    graph, rival = solution.graph, Policies.of(solution).find("random")
    best = [[a for a in state.action_range if solution.is_best[a]] for state in graph.view]
    found = []
    for chosen in product(*best):
        one = Policy.of_actions(graph, "one", np.array(chosen))
        evaluation = evaluate(solution, one, rival)
        found.append((evaluation.values[0], evaluation.values_second[0]))
    for seat, values in enumerate(zip(*found, strict=True)):
        one = ranges_against(solution, rival)[seat]
        assert (one.least, one.most) == pytest.approx((min(values), max(values)), abs=1e-9)


def test_the_best_fit_is_the_same_without_impossible_scores():
    """Large distributions leave them out."""
    solution = solve(Fork())
    scores = np.array([0] * 20 + [5] * 30 + [10] * 14)
    expected = distribution(solution, "0.5*optimal+0.5*random")
    every = OptimalSet.of(solution)
    fits = [best_fit(scores, every, one) for one in (expected, expected.trimmed())]
    assert fits[0] == fits[1]
    assert len(expected.trimmed().values) < len(expected.values)


CONTEST = "threes dice=2 as=contest"
MIXED = "0.9*optimal+0.1*random"


@pytest.mark.parametrize(
    ("command", "depends"),
    [
        (f"distribution {CONTEST}", True),  # of draws
        (f"length {CONTEST}", True),
        (f"length {CONTEST} --policy random", False),
        (f"evaluate {CONTEST} --policy {MIXED}", True),
        (f"evaluate {CONTEST} --policy optimal --against optimal", False),
        (f"respond {CONTEST} --to {MIXED}", True),
        (f"respond {CONTEST} --to optimal", False),
        (f"handicap {CONTEST} --points score,rival=0..2 --against random", True),
        (f"handicap {CONTEST} --points score,rival=0..2", False),
        ("tune threes --vary dice=2,3 --for luck=2", True),
        ("tune threes --vary dice=2,3 --for value=2", False),
        (f"learn {CONTEST} --games 100 --seed 1 --against optimal", True),
        (f"learn {CONTEST} --games 100 --seed 1 --against random", False),
        ("diff threes dice=3 skip=true skip=false", True),
        ("diff threes dice=2 skip=false skip=true", False),
    ],
)
def test_figures_that_depend_on_the_choice_among_optimal_policies_say_so(command, depends):
    found = json.loads(output(*command.split(), "--json"))
    parts = [found, *found.get("policies", ()), *found.get("points", ())]
    parts += [found["against"]] if command.startswith("learn") else []
    marks = [part["equally_good"] for part in parts if "equally_good" in part]
    assert marks
    assert any(marks) == depends
    assert ("another optimal policy" in output(*command.split())) == depends


def test_payments_on_the_way_leave_no_draws():
    with pytest.raises(UsageError, match="payments on the way"):
        ranges(Collect(chips=3), ["draw"])


class Bet(Game):
    """Bet on heads or tails: to be right wins, and to be wrong draws."""

    players: ClassVar[int] = 1

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1, WIN if action == 0 else DRAW, s
        yield 1, DRAW if action == 0 else WIN, s


@pytest.mark.parametrize("aims", [["most:draw", "score=1"], ["score=1", "most:draw"]], ids=str)
def test_a_draw_counts_beside_an_aim_for_the_score(aims):
    """The points made so far are in the states then, and a draw is the score 0."""
    found = second_aims(Bet(), aims)
    assert [value.value for value in found.values] == pytest.approx([0.5, 0.5])
    assert ranges_in(found.policies, solve(Bet()), ["draw"])[0].most == pytest.approx(0.5)
