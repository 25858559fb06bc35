"""Games with hidden fields whose rounds can return to each other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest
from cli_runner import output, run
from test_rounds import Lanterns, Place, seeded

from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game, parameter, payoff, policy
from rollwise.errors import EndlessPlay, RulesError
from rollwise.hidden import cycles, load, save, solve, solving, whole
from rollwise.hidden.answer import TreeAnswer
from rollwise.hidden.check import bounds
from rollwise.hidden.learning import learn, simulate
from rollwise.hidden.program import solve_program
from rollwise.hidden.reading import read
from rollwise.hidden.regret import uniform
from rollwise.hidden.tree import unfold


@cache
def drawn_rows(seed: int, n: int, labels: int, deals: float, back: float) -> list:
    """For each position its label, 0 for a deal, and the outcomes of each action."""
    draws = seeded(repr((seed, n, labels, deals)))
    kinds = [0 if draws.random() < deals else draws.randint(1, labels) for _ in range(n)]
    kinds[0] = draws.choice((0, labels + 1))
    menus = [1, *(draws.randint(1, 3) for _ in range(labels + 1))]
    returns = [k for k in range(n) if kinds[k] in (0, labels + 1)]

    def outcome(k, label):
        weight = draws.randint(1, 3)
        if label and draws.random() < back:
            return weight, draws.choice((AGAIN, PASS)), draws.choice(returns)
        if label and (k >= n - 3 or draws.random() < 0.3):
            return weight, payoff(draws.randint(-4, 4)), None
        after = min(n, k + draws.choice((1, 1, 2, 2, 3, 4)))
        return weight, draws.choice((AGAIN, PASS, PASS)), after

    return [
        (
            label,
            [[outcome(k, label) for _ in range(draws.randint(1, 3))] for _ in range(menus[label])],
        )
        for k, label in enumerate(kinds)
    ]


@dataclass(frozen=True)
class Returning(Lanterns):
    """Positions drawn at random, with returns. The mover sees a label."""

    back: float = 0.2
    endless = "draw"

    def rows(self, s):
        return drawn_rows(self.seed, self.n, self.labels, self.deals, self.back)[s.number]

    def reward(self, s, action):
        return 0


def drawn_game(seed: int) -> Returning:
    draws = seeded(seed)
    return Returning(
        seed, draws.randint(3, 7), draws.choice((2, 4, 8)), draws.choice((0.1, 0.4)),
        draws.choice((0.1, 0.2, 0.4)),
    )  # fmt: skip


class Counted(NamedTuple):
    number: int
    label: int
    left: int
    mover: int  # the first or the second player


@dataclass(frozen=True)
class Shortened(Game):
    """The same game with a hidden count of returns; after the last one a payoff ends it."""

    seed: int = 0
    returns: int = 4
    at_last: int = 0  # of the first player

    @property
    def inner(self):
        return drawn_game(self.seed)

    def start(self):
        return Counted(*self.inner.start(), self.returns, 0)

    def deal(self, s):
        for weight, after in self.inner.deal(Place(s.number, s.label)):
            yield weight, Counted(*after, s.left, s.mover)

    def hidden(self, s):
        return ("number", "left")

    def actions(self, s):
        return self.inner.actions(Place(s.number, s.label))

    def outcomes(self, s, action):
        for weight, then, after in self.inner.outcomes(Place(s.number, s.label), action):
            if then not in (AGAIN, PASS) or after.number > s.number:
                yield weight, then, Counted(*after, s.left, s.mover ^ (then == PASS))
            elif s.left:
                yield weight, then, Counted(*after, s.left - 1, s.mover ^ (then == PASS))
            else:
                yield weight, payoff(self.at_last * (1 - 2 * s.mover)), s

    @policy
    def first(self, s):
        """Always the first action."""
        return 0


def whole_bounds(game: Game) -> tuple[float, float]:
    """Bounds on the value from one tree of all plays."""
    tree = unfold(read(game), limit=300_000)
    return bounds(tree, solve_program(tree))


def solved_games(seeds: range) -> list:
    """The games of these seeds whose rounds can return, with their answers."""
    found = []
    for seed in seeds:
        try:
            answer = solve(drawn_game(seed))
        except EndlessPlay:  # within a round
            continue
        if answer.positions.may_return:
            found.append((seed, answer))
    return found


def test_values_are_between_those_of_shortened_games():
    """After four returns one player loses all: the game ends between the two, whoever it is."""
    games = solved_games(range(60))
    assert len(games) > 20
    narrow = 0
    for seed, answer in games:
        assert answer.error_bound < 1e-9
        low = whole_bounds(Shortened(seed, 4, -4))[0]
        high = whole_bounds(Shortened(seed, 4, 4))[1]
        assert answer.low <= high
        assert answer.high >= low
        narrow += high - low < 0.1
    assert narrow > 10
    assert sum(answer.may_go_on for _, answer in games) > 5


def test_policies_and_files_of_random_games(tmp_path):
    for seed, answer in solved_games(range(20)):
        for names in (("optimal", "random"), ("random", "random"), ("optimal", "optimal")):
            value, bound = answer.evaluate(names)
            assert bound < 1e-9
            mean, error, endless = simulate(answer.with_policies(names), 300, 1)
            assert answer.may_go_on or not endless
            assert abs(mean - value) <= 5 * error + 1e-9, (seed, names)
        for seat, most in ((0, answer.high), (1, -answer.low)):
            value, bound = answer.best_response("optimal", seat)
            assert value - bound <= most
            value, bound = answer.best_response("random", seat)
            assert value + bound >= (1 - 2 * seat) * answer.value - answer.error_bound
        save(answer, tmp_path / "answer.parquet")
        again = load(tmp_path / "answer.parquet", drawn_game(seed))
        assert (again.low, again.high) == (answer.low, answer.high)


class Purses(NamedTuple):
    mine: int
    theirs: int
    die: int
    other: int
    bet: int


class Match(Game):
    """Two purses of coins. Folds in turns can go on for ever."""

    coins: int = parameter(2, at_least=1)
    sides: int = parameter(3)
    endless = "draw"

    def start(self):
        return Purses(self.coins, self.coins, 0, 0, 0)

    def deal(self, s):
        if s.die == 0:
            for die in range(1, self.sides + 1):
                for other in range(1, self.sides + 1):
                    yield 1, s._replace(die=die, other=other)

    def hidden(self, s):
        return ("other",)

    def actions(self, s):
        if s.bet:
            return 2, 3
        return (0, 1) if min(s.mine, s.theirs) > 1 else (0,)

    def outcomes(self, s, action):
        if action == 1:
            yield 1, PASS, Purses(s.theirs, s.mine, s.other, s.die, 1)
            return
        ahead = (s.die > s.other) - (s.die < s.other)
        won = -1 if action == 2 else 2 * ahead if action == 3 else ahead
        mine, theirs = s.mine + won, s.theirs - won
        if mine == 0 or theirs == 0:
            yield 1, WIN if mine else LOSE, s
        elif s.bet:
            yield 1, AGAIN, Purses(mine, theirs, 0, 0, 0)
        else:
            yield 1, PASS, Purses(theirs, mine, 0, 0, 0)


class Limited(NamedTuple):
    mine: int
    theirs: int
    die: int
    other: int
    bet: int
    left: int


class LimitedMatch(Match):
    """The same with a draw after so many rounds, which both count: no round returns."""

    rounds: int = parameter(60)

    def start(self):
        return Limited(*super().start(), self.rounds)

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(Purses(*s[:5]), action):
            left = s.left - (after.die == 0)
            yield weight, DRAW if left < 0 else then, Limited(*after, max(left, 0))


@pytest.mark.parametrize("seed", [95, 490, 2725])
def test_values_that_short_games_do_not_come_near(seed):
    """A player waits for the last move of a short game, after which no answer counts."""
    answer = solve(drawn_game(seed))
    assert answer.may_go_on
    assert answer.error_bound < 1e-9


class Twin(NamedTuple):
    label: int
    number: int


class Twins(Game):
    """The start and another position look alike to their mover."""

    endless = "draw"

    def start(self):
        return Twin(1, 0)

    def hidden(self, s):
        return ("number",)

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        if s.label == 1:
            yield 1, AGAIN if action else PASS, Twin(2, 1)
            yield 1, payoff(s.number + action), s
        else:
            yield 1, PASS, Twin(1, 0)
            yield 1, PASS, Twin(1, 2)


@pytest.mark.parametrize("game", [Twins(), drawn_game(6), drawn_game(33)])
def test_a_return_of_which_a_player_does_not_know_is_refused(game):
    with pytest.raises(EndlessPlay, match="play can return to the position"):
        solve(game)


@pytest.mark.parametrize("seed", [99, 182])
def test_best_responses_that_may_wait_have_narrow_bounds(seed):
    answer = solve(drawn_game(seed))
    for name in ("random", "first"):
        for seat in (0, 1):
            assert answer.best_response(name, seat)[1] < 1e-9


def test_a_match_of_rough_strategies(monkeypatch):
    """A large tolerance changes nothing, but rounds too large for the program are rough."""
    fine = solve(Match(coins=4))
    rough = solve(Match(coins=4), tolerance=1e-4)
    assert (rough.low, rough.high) == (fine.low, fine.high)
    monkeypatch.setattr(solving, "MOST_FOR_PROGRAM", 0)
    answer = solve(Match(coins=4))
    assert answer.method == "regret minimization"
    assert answer.low <= fine.high
    assert answer.high >= fine.low
    assert 1e-9 < answer.error_bound < 1e-2


@pytest.mark.parametrize("coins", [2, 3])
def test_a_match_for_coins_is_the_limit_of_ever_longer_matches(coins):
    answer, longest = solve(Match(coins=coins)), solve(LimitedMatch(coins=coins, rounds=130))
    assert len(answer.parts) == 2 * coins - 1
    assert len(longest.parts) > 100
    assert answer.error_bound < 1e-11
    assert abs(answer.value - longest.value) < 1e-8
    assert coins == 2 or abs(answer.value) > 1e-3
    # a play comes to the first round at least once, and to all of them in all
    assert answer._entered[0].sum() > 1
    assert answer.evaluate(("random", "random"))[1] < 1e-9


class Coin(NamedTuple):
    mine: int
    other: int


class Wait(Game):
    """The mover takes a payoff, waits, or gives the choice to the other player."""

    gain: int = parameter(1)
    taking: float = parameter(1.0)  # the chance to get it
    endless = "draw"

    def start(self):
        return Coin(0, 0)

    def deal(self, s):
        if s.mine == 0:
            for other in (1, 2, 3):
                yield 1, Coin(1, other)

    def hidden(self, s):
        return ("other",)

    def actions(self, s):
        return 0, 1, 2  # wait first: it is as good as an act where it comes to the same value

    def outcomes(self, s, action):
        if action < 2:
            yield 1, (AGAIN, PASS)[action], Coin(0, 0)
        else:
            yield self.taking, payoff(self.gain * s.other), s
            if self.taking < 1:
                yield 1 - self.taking, PASS, Coin(0, 0)

    @policy
    def patient(self, s):
        """Wait for ever."""
        return 0


@pytest.mark.parametrize(
    ("gain", "taking", "value"), [(1, 1.0, 2.0), (-1, 1.0, 0.0), (1, 0.5, 2 / 3), (0, 1.0, 0.0)]
)
def test_a_wait_gains_nothing_by_itself(gain, taking, value):
    answer = solve(Wait(gain=gain, taking=taking))
    assert abs(answer.value - value) <= answer.error_bound
    assert answer.error_bound < 1e-9
    worth, bound = answer.evaluate(("patient", "random"))
    assert abs(worth) <= bound
    # against a patient player the best response acts if this pays
    worth, bound = answer.best_response("patient", 0)
    assert abs(worth - max(2 * gain, 0)) <= bound + 1e-9 if taking == 1 else worth >= value
    # two patient players never end a game
    assert simulate(answer.with_policies(("patient", "patient")), 9, 1) == (0.0, 0.0, 9)


def test_waiting_for_ever_proves_no_gain(monkeypatch):
    """By a fixed point alone a player who always waits would get any value."""
    game = Wait()
    positions = read(game)
    tree = unfold(positions.rounds[0].positions)
    assert len(positions.rounds) == 1
    patient = np.array([1.0, 1.0, 0.0, 0.0])  # the empty sequence, then wait, pass, take
    strategies = [(tree, (patient, np.ones(1)))]
    ((low, _),) = whole.prove_together(positions, [0], strategies, {}, True)
    assert -6 <= low <= 0
    step = partial(one_step, tree, patient)
    room = cycles._room(step, np.array([2.0]), -1, 3.0, True)
    assert room is None or room[0] >= 2
    assert cycles._room(step, np.array([2.0]), -1, 3.0, False)[0] < 1e-9


def one_step(tree, plan, values, side):
    """A step of a player who waits, alone in the game."""
    from scipy.sparse import csr_array

    paid = tree.paying(np.array([values[0], -values[0]]), values[0])
    return np.array([float((paid.payoffs * plan[paid.rows]).sum())]), csr_array([[1.0]])


class Toll(Match):
    """Each bet costs the other player a coin on the way: a reward."""

    def reward(self, s, action):
        return action == 1


class Ending(Toll):
    """Every round may be the last one."""

    endless = "forbidden"

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            yield 3 * weight, then, after
            if after.die == 0:
                yield weight, DRAW, after


class Counting(LimitedMatch):
    endless = "forbidden"

    def reward(self, s, action):
        return action == 1

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            yield 3 * weight, then, after
            if after.die == 0:
                yield weight, DRAW, after


def test_rewards_add_up_where_every_play_ends():
    answer, longest = solve(Ending()), solve(Counting())
    assert answer.positions.may_return
    assert not answer.may_go_on
    assert abs(answer.value - longest.value) < 1e-6
    assert abs(answer.value) > 0.1
    names = ("optimal", "random")
    low, high = answer.payoff_range(names) or (answer.evaluate(names)[0],) * 2
    assert low - 1e-6 <= answer.evaluate(names)[0] <= high + 1e-6


class Circle(Match):
    """Within a round the bet goes round and round."""

    def outcomes(self, s, action):
        if action == 3:
            yield 1, PASS, Purses(s.theirs, s.mine, s.other, s.die, 1)
        else:
            yield from super().outcomes(s, action)


class Forbidden(Match):
    endless = "forbidden"


class Losing(Match):
    endless = "lose"


@pytest.mark.parametrize(
    ("game", "error", "words"),
    [
        (
            Toll(coins=3),
            RulesError,
            r"has the reward 1, and the players can repeat it for ever; .*payoff\(x\)",
        ),
        (Circle(), EndlessPlay, "play can return to .* every round must end: return to a throw"),
        (Forbidden(coins=3), EndlessPlay, 'can go on for ever from mine=3.*endless = "draw"'),
        (Losing(coins=3), RulesError, "nobody alone keeps play up: count the rounds"),
    ],
)
def test_refusals_name_the_remedy(game, error, words):
    with pytest.raises(error, match=words):
        solve(game)


def test_learned_strategies_of_a_match_are_proved():
    answer, curve = learn(Match(), 4_000, 3)
    value = solve(Match()).value
    for point in curve:
        assert point.low <= value <= point.high
    assert curve[-1].exploitability < curve[0].exploitability / 2
    assert answer.method == "external sampling"


RULES = """
from dataclasses import dataclass
from test_returning_rounds import Match as Base

class Match(Base):
    name = "match"
"""


def test_commands_show_returning_rounds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "match.py").write_text(RULES)
    assert "5 rounds" in output("solve", "match.py", "coins=3")
    assert "a draw is half a win" in output("solve", "match.py", "coins=3")
    assert "say that endless play is a draw" in output("check", "match.py", "coins=3")
    text = output("table", "match.py", "coins=3", "--limit", "3")
    assert " times" in text
    assert "optimal too" not in text  # waiting may be as good as acting in one round
    rows = json.loads(output("table", "match.py", "coins=3", "--limit", "3", "--json"))["rows"]
    assert 0.9 < rows[0]["visits"] < 1
    assert rows[0]["reach"] is None
    assert "times" in output(
        "advise", "match.py", "coins=3", "--state", "mine=3,theirs=3,die=1,bet=0"
    )
    assert "visits" in output("table", "match.py", "--limit", "1", "--csv")
    output("solve", "match.py", "--save", "match.parquet")
    assert "verified" in output("verify", "match.parquet", "match.py")
    refused = run("export", "match.py", "--to", "efg", "--out", "match.efg")
    assert refused.returncode == 2
    assert "count the rounds in a field" in refused.stderr


def test_policies_are_worth_as_much_as_between_shortened_games():
    def whole(seed: int, at_last: int) -> TreeAnswer:
        tree = unfold(read(Shortened(seed, 4, at_last)), limit=100_000)
        found = tuple(uniform(seat) for seat in tree.seats)
        return TreeAnswer(tree.positions, 0, 0, "", {}, tree=tree, found=found)

    narrow = 0
    for seed, answer in solved_games(range(25)):
        low, high = whole(seed, -4), whole(seed, 4)
        for names in (("random", "random"), ("first", "random"), ("random", "first")):
            value, bound = answer.evaluate(names)
            ends = low.evaluate(names)[0], high.evaluate(names)[0]
            assert ends[0] - 1e-9 <= value <= ends[1] + 1e-9
            assert bound < 1e-9
            narrow += ends[1] - ends[0] < 0.1
        for seat, pair in ((0, (low, high)), (1, (high, low))):
            for name in ("random", "first"):
                value, bound = answer.best_response(name, seat)
                ends = tuple(one.best_response(name, seat)[0] for one in pair)
                assert ends[0] - 1e-9 <= value <= ends[1] + 1e-9
                assert bound < 1e-9
    assert narrow > 10
