"""Solitaire games with hidden fields: the game of beliefs has the value of the rules themselves."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import pytest
from cli_runner import output, play, refusal, run
from test_rounds import Lanterns, seeded

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, WIN, Game, boards, parameter, payoff, policy
from rollwise import hidden as games_of_two
from rollwise.builders import limits
from rollwise.errors import EndlessPlay, RulesError, TooManyStates, UsageError
from rollwise.hidden import beliefs
from rollwise.then import is_over, payoff_of

PLAIN = {WIN: 1, LOSE: -1, END: 0, payoff(0): 0}


class Show(NamedTuple):
    prize: int
    chosen: int
    open: int


class MontyHall(Game):
    """Choose one of three doors. The host opens another one; then stay or switch."""

    players = 1
    action_names = ("door 1", "door 2", "door 3", "stay", "switch")

    def start(self):
        return Show(0, 0, 0)

    def deal(self, s):
        if not s.prize:
            for door in (1, 2, 3):
                yield 1, s._replace(prize=door)

    def hidden(self, s):
        return "prize"

    def actions(self, s):
        return (3, 4) if s.chosen else (0, 1, 2)

    def outcomes(self, s, action):
        if action < 3:
            for door in (1, 2, 3):
                if door not in (s.prize, action + 1):
                    yield 1, AGAIN, Show(s.prize, action + 1, door)
        else:
            last = s.chosen if action == 3 else 6 - s.chosen - s.open
            yield 1, WIN if last == s.prize else LOSE, s

    @policy
    def always_stay(self, s):
        """Stay, whatever the prize; a policy can't see it."""
        assert s.prize == 0
        return 3 if s.chosen else 0


class Ear(NamedTuple):
    tiger: int
    left: int
    heard: int


class Tiger(Game):
    """Listen for a point, or open one of two doors: 10 points, or 100 less for the tiger."""

    moves: int = parameter(5)
    right: Fraction = parameter(Fraction(17, 20))
    players = 1
    objective = "maximize"
    action_names = ("listen", "open left", "open right")

    def start(self):
        return Ear(2, self.moves, 2)

    def deal(self, s):
        if s.tiger == 2:
            yield 1, s._replace(tiger=0)
            yield 1, s._replace(tiger=1)

    def hidden(self, s):
        return "tiger"

    def actions(self, s):
        return (0, 1, 2)

    def reward(self, s, action):
        return -1 if action == 0 else -100 if action - 1 == s.tiger else 10

    def outcomes(self, s, action):
        if s.left == 1:
            yield 1, END, s
        elif action == 0:
            yield self.right, AGAIN, Ear(s.tiger, s.left - 1, s.tiger)
            yield 1 - self.right, AGAIN, Ear(s.tiger, s.left - 1, 1 - s.tiger)
        else:
            yield 1, AGAIN, Ear(2, s.left - 1, 2)


def tiger_value(moves: int, p: float = 0.5, right: float = 0.85) -> float:
    """The value of the tiger by its own recursion, for the chance p that it is on the left."""
    if moves == 0:
        return 0.0
    left, again = p * right, (1 - p) * (1 - right)
    listened = -1.0
    for mass, part in ((left + again, left), (1 - left - again, p - left)):
        listened += mass * tiger_value(moves - 1, part / mass, right)
    opened = max(10 - 110 * p, 10 - 110 * (1 - p)) + tiger_value(moves - 1, 0.5, right)
    return max(listened, opened)


@dataclass(frozen=True)
class Lamps(Lanterns):
    """Positions drawn at random, for one player who sees a label of each."""

    players: int = 1
    paid: bool = False

    @property
    def objective(self):
        return "maximize" if self.paid and self.players == 1 else "win"

    def reward(self, s, action):
        return (s.number + action) % 3 if self.paid else 0

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            on = AGAIN if then in (AGAIN, PASS) else then
            if self.paid and is_over(then):
                on = END if self.players == 1 else payoff(0)
            yield weight, on, after


def drawn_lamps(seed: int, players: int = 1) -> Lamps:
    draws = seeded(seed)
    labels, deals = draws.choice((1, 2, 4)), draws.choice((0.1, 0.4))
    return Lamps(seed, draws.randint(4, 11), labels, deals, players, seed % 2 == 1)


def best(game: Game, bag: dict) -> Fraction:
    """The value of the rules for a player who knows the chance of each state of a bag."""
    while dealt := [state for state in bag if list(game.deal(state))]:
        for state in dealt:
            share, rows = bag.pop(state), list(game.deal(state))
            total = sum(weight for weight, _ in rows)
            for weight, after in rows:
                bag[after] = bag.get(after, 0) + share * Fraction(weight, total)
    worth, alike = Fraction(0), {}
    for state, share in bag.items():
        seen = [x for n, x in state._asdict().items() if n not in game.hidden(state)]
        alike.setdefault(tuple(seen), {})[state] = share
    for part in alike.values():
        worths = []
        for action in game.actions(next(iter(part))):
            gain, after = Fraction(0), {}
            for state, share in part.items():
                rows = list(game.outcomes(state, action))
                total = sum(weight for weight, _, _ in rows)
                gain += share * Fraction(game.reward(state, action))
                for weight, then, new in rows:
                    chance = share * Fraction(weight, total)
                    if is_over(then):
                        gain += chance * Fraction(PLAIN[then] if then in PLAIN else payoff_of(then))
                    else:
                        after[new] = after.get(new, 0) + chance
            worths.append(gain + (best(game, after) if after else 0))
        worth += max(worths)
    return worth


def test_switching_wins_two_games_of_three():
    solution = rollwise.solve(MontyHall())
    assert abs(solution.value - 1 / 3) <= solution.error_bound < 1e-14


@pytest.mark.parametrize("moves", [1, 2, 3, 5, 9])
def test_the_tiger_has_the_value_of_its_own_recursion(moves):
    solution = rollwise.solve(Tiger(moves=moves))
    assert solution.value == pytest.approx(tiger_value(moves), abs=1e-10)


def test_drawn_games_have_the_value_of_the_rules():
    sizes = []
    for seed in range(150):
        game = drawn_lamps(seed)
        solution = rollwise.solve(game)
        sizes.append(solution.graph.n_states)
        truth = best(game, {game.start(): Fraction(1)})
        off = abs(Fraction(solution.value) - truth)
        assert off <= Fraction(solution.error_bound) < Fraction(1, 10**10), seed
    assert max(sizes) > 25


def test_drawn_games_have_the_value_of_a_game_of_two_in_which_one_moves():
    """Linear programs over histories, which know no beliefs, find the same."""
    for seed in range(40):
        solution = rollwise.solve(drawn_lamps(seed))
        answer = games_of_two.solve(drawn_lamps(seed, players=2))
        room = solution.error_bound + answer.error_bound + 1e-12
        assert abs(solution.value - answer.value) <= room, seed


def test_points_have_their_true_distribution():
    """A reward that depends on hidden fields is paid apart, and the player doesn't see it."""
    lines = output("distribution", f"{__file__}:Tiger", "--policy", "optimal", "--json")
    found = {row["value"]: row["probability"] for row in json.loads(lines)["policies"][0]["rows"]}
    # the door is opened last, unless both sounds came equally often; each sound is wrong in 15 %
    assert found == {
        -104: pytest.approx(4 * 0.85 * 0.15**3 + 0.15**4),
        -5: pytest.approx(6 * (0.85 * 0.15) ** 2),
        6: pytest.approx(0.85**4 + 4 * 0.85**3 * 0.15),
    }
    solution = rollwise.solve(Tiger())
    mean = sum(points * chance for points, chance in found.items())
    assert mean == pytest.approx(solution.value, abs=1e-9)


class Shop(NamedTuple):
    worn: int
    age: int


class Machine(Game):
    """A machine wears out unseen, and then half its work is spoiled. A repair takes two days."""

    players = 1
    objective = "average"
    action_names = ("work", "repair")

    def start(self):
        return Shop(0, 0)

    def hidden(self, s):
        return "worn"

    def actions(self, s):
        return (0, 1) if s.age < 40 else (1,)

    def reward(self, s, action):
        return 0 if action else Fraction(1, 2) if s.worn else 1

    def duration(self, s, action):
        return 2 if action else 1

    def outcomes(self, s, action):
        if action:
            yield 1, AGAIN, self.start()
        elif s.worn:
            yield 1, AGAIN, Shop(1, s.age + 1)
        else:
            yield 9, AGAIN, Shop(0, s.age + 1)
            yield 1, AGAIN, Shop(1, s.age + 1)


def test_play_without_an_end_has_its_best_average():
    def rate(days: int) -> float:
        good = sum(0.9**day for day in range(days))
        return (good + (days - good) / 2) / (days + 2)

    best_rate, days = max((rate(days), days) for days in range(1, 41))
    solution = rollwise.solve(Machine())
    assert solution.game.parameters["rate"] == pytest.approx(best_rate)
    by_age = solution.table()["action"].to_list()
    assert by_age == ["work"] * days + ["repair"] * (41 - days)
    told = output("solve", f"{__file__}:Machine")
    assert f"average in the long run: {best_rate:.12f}" in told


def test_forms_take_games_of_beliefs():
    """Each of two players listens to a tiger of their own; the better score wins."""
    told = output("solve", f"{__file__}:Tiger", "moves=2", "as=contest")
    # both listen, then open: the first is right in 85 %, and so is the second, who then ties
    assert f"1            {100 * 0.85 * (1 - 0.85 / 2):.4f} %" in told
    chase = json.loads(output("solve", f"{__file__}:Tiger", "moves=1", "as=chase", "target=10",
                              "--json"))  # fmt: skip
    # the first player opens a door; after a wrong one the other is 100 points ahead, and listens
    assert chase["win_probability"] == pytest.approx(1 / 2)


def test_a_sight_of_several_at_the_start_is_dealt():
    class Hand(NamedTuple):
        card: int
        colour: int

    class Guess(Game):
        players = 1

        def start(self):
            return Hand(0, 0)

        def deal(self, s):
            if not s.card:
                for card in range(1, 6):
                    yield 1, Hand(card, 1 + (card > 2))

        def hidden(self, s):
            return ("card",)

        def actions(self, s):
            return range(1, 6)

        def outcomes(self, s, action):
            yield 1, WIN if action == s.card else LOSE, s

    solution = rollwise.solve(Guess())
    assert solution.win_probability == pytest.approx(2 / 5)
    assert solution.table()["action"].to_list()[0] == "deal"


def test_numbers_of_beliefs_are_in_the_order_of_their_averages():
    words = Tiger(moves=4).with_beliefs().table.words
    beliefs_alone = [word for word in words if "points" not in word]
    chances = [float(word.removeprefix("0:").partition("%")[0]) for word in beliefs_alone]
    assert len(chances) == 7
    assert chances == sorted(chances, reverse=True)


def test_chances_of_beliefs_are_told():
    game = Tiger(moves=2).with_beliefs()
    assert game.beliefs[0] == {"0": Fraction(17, 20), "1": Fraction(3, 20)}
    found = json.loads(output("table", f"{__file__}:Tiger", "moves=2", "--json"))
    assert found["rows"][0]["belief"] == 0
    assert found["beliefs"]["0"] == {"0": "17/20", "1": "3/20"}
    assert set(found["beliefs"]) == {str(row["belief"]) for row in found["rows"]}
    paid = Tiger(moves=1).with_beliefs()
    assert paid.beliefs[paid.table.numbers_of_words["10_points"]] == {}  # the game is over


def test_words_of_beliefs_are_typed_as_they_are_printed():
    """A certain belief isn't a number alone, which is typed for the number of a belief."""
    machine = f"{__file__}:Machine"
    words = Machine().with_beliefs().table.words
    assert words[:2] == ["0:100%", "0:90%/1:10%"]
    by_word = output("advise", machine, "--state", "age=1,belief=0:90%/1:10%")
    assert by_word == output("advise", machine, "--state", "age=1,belief=1")
    tiger = f"{__file__}:Tiger"
    paid = output(
        "advise", tiger, "moves=1", "--state", "left=1,heard=2,belief=\N{MINUS SIGN}100_points"
    )
    assert "points" in paid

    class Signed(MontyHall):
        def start(self):
            return Show(-5, 0, 0)

        def deal(self, s):
            if s.prize == -5:
                yield 3, s._replace(prize=-1)
                yield 1, s._replace(prize=2)

        def actions(self, s):
            return (0,)

        def outcomes(self, s, action):
            yield 1, WIN if s.prize < 0 else LOSE, s

    assert Signed().with_beliefs().table.words == ["\N{MINUS SIGN}1:75%/2:25%"]


def test_a_limit_on_states_is_raised():
    with pytest.raises(
        TooManyStates, match=r"more than 20 states .*; or allow more with max_states=N"
    ):
        rollwise.solve(Tiger(), max_states=20)
    assert rollwise.solve(Tiger(), max_states=47).graph.n_states == 47
    refused = refusal("solve", f"{__file__}:Tiger", "--max-states", "20")
    assert "allow more with --max-states N" in refused


class Discounted(Tiger):
    discount = Fraction(9, 10)


def test_a_discount_is_applied_once():
    worth = dict.fromkeys(range(-9, 10), 0.0)
    for _ in range(5):
        new = {}
        for d in range(-6, 7):
            p = 0.85**d / (0.85**d + 0.15**d)
            left = p * 0.85 + (1 - p) * 0.15
            listened = -1 + 0.9 * (left * worth[d + 1] + (1 - left) * worth[d - 1])
            opened = max(10 - 110 * p, 10 - 110 * (1 - p)) + 0.9 * worth[0]
            new[d] = max(listened, opened)
        worth |= new
    assert rollwise.solve(Discounted()).value == pytest.approx(worth[0], abs=1e-9)


def test_chances_that_are_no_whole_numbers_are_rounded_and_say_so():
    short, long = (rollwise.solve(Tiger(moves=moves)) for moves in (9, 20))
    assert short.game.rounding == ""
    assert long.game.rounding == "chances were rounded to doubles"
    assert long.value == pytest.approx(tiger_long(20), abs=1e-9)
    told = output("solve", f"{__file__}:Tiger", "moves=20")
    assert "  chances were rounded to doubles: bounds are for the rounded ones\n" in told
    assert "rounding" in json.loads(output("solve", f"{__file__}:Tiger", "moves=20", "--json"))


def tiger_long(moves: int) -> float:
    """As `tiger_value`, by the difference of both sounds, which tells the belief."""
    worth = dict.fromkeys(range(-moves - 2, moves + 3), 0.0)
    for _ in range(moves):
        new = {}
        for d in range(-moves - 1, moves + 2):
            p = 0.85**d / (0.85**d + 0.15**d)
            left = p * 0.85 + (1 - p) * 0.15
            listened = -1 + left * worth[d + 1] + (1 - left) * worth[d - 1]
            new[d] = max(listened, 10 - 110 * p + worth[0], 10 - 110 * (1 - p) + worth[0])
        worth |= new
    return worth[0]


class Told(Tiger):
    """A tiger with words, some of which would tell its door."""

    def describe(self, s):
        return f"the tiger is at {s.tiger}" if s.left > 1 else "the last move"

    def action_text(self, s, action):
        return f"walk to {s.tiger}" if action == 1 else "wait"

    action_names = ()

    def cells(self, s):
        return ((boards.tile(str(s.tiger)), boards.tile(str(s.left))),)

    def show(self, s):
        return f"tiger {s.tiger}, {s.left} left"

    @policy
    def always_left(self, s):
        """Open the left door."""
        return 1


def test_words_tell_nothing_hidden():
    game = Told(moves=2).with_beliefs()
    first = game.start()
    last = next(state for state in game.table.states if state.left == 1)
    assert game.describe(first) == "left 2, heard 2, belief 0:50%/1:50%"
    assert game.describe(last).startswith("the last move; 0:")
    assert game.action_text(first, 0) == "wait"
    assert game.action_text(first, 1) == ""  # the number is the name
    # a board has hidden fields as they are at the start
    assert [cell.text for cell in game.cells(first)[0]] == ["2", "2"]
    assert game.show(last) == "tiger 2, 1 left"


def test_policies_play_on_where_points_are_paid():
    told = json.loads(
        output("evaluate", f"{__file__}:Told", "moves=2", "--policy", "always-left", "--json")
    )
    assert told["value"] == pytest.approx(-90)  # twice 10 or -100 points


def test_large_games_of_beliefs_are_interpreted_whole(monkeypatch):
    monkeypatch.setattr(limits, "MAX_STATES_INTERPRETED", 20)
    assert rollwise.solve(Tiger()).graph.n_states == 47


def test_games_of_beliefs_are_copied_and_made_anew():
    assert copy.copy(Tiger(moves=2).with_beliefs()).start() == (2, 2, 1)
    game = MontyHall().with_beliefs()
    again = pickle.loads(pickle.dumps(rollwise.solve(Tiger(moves=2)).game))
    assert again.parameters == {"moves": 2, "right": "17/20"}
    assert not game.is_hidden
    assert type(Tiger().with_beliefs())(moves=3).start().left == 3


FAULTS = ("name", "menu", "passes", "deals-return", "goes-on")


@dataclass(frozen=True)
class Faulty(MontyHall):
    """Rules with faults."""

    fault: str = parameter("name", among=FAULTS)

    def deal(self, s):
        if self.fault == "deals-return" and s.open == 5:
            yield 1, s._replace(open=6)
        elif self.fault == "deals-return" and s.open == 6:
            yield 1, s._replace(open=5)
        else:
            yield from super().deal(s)

    def hidden(self, s):
        return ("price",) if self.fault == "name" else ("prize",)

    def actions(self, s):
        if self.fault == "menu" and s.chosen:
            return (3, 4) if s.prize == 1 else (3,)
        return super().actions(s)

    def outcomes(self, s, action):
        if self.fault == "passes":
            yield 1, PASS, s._replace(chosen=1)
        elif self.fault == "deals-return":
            yield 1, AGAIN, s._replace(open=5)
        elif self.fault == "goes-on":
            yield 2, AGAIN, s
            yield s.prize, AGAIN, s._replace(open=1)
        else:
            yield from super().outcomes(s, action)


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("name", RulesError, "hidden\\(\\) names 'price'; the fields are prize, chosen, open"),
        ("menu", RulesError, "the actions depend on fields that are hidden from the mover: in "),
        ("passes", RulesError, "PASS in a game of one player, which goes on with AGAIN"),
        ("deals-return", EndlessPlay, "deals can return to prize=1, chosen=0, open="),
        ("goes-on", TooManyStates, "more than 500 states with the beliefs about hidden fields"),
    ],
)
def test_faults_are_named(fault, error, words, monkeypatch):
    monkeypatch.setattr(beliefs, "LIMIT", 500)
    with pytest.raises(error, match=words):
        rollwise.solve(Faulty(fault=fault))


def test_the_name_of_the_belief_is_taken():
    class Box(NamedTuple):
        ball: int
        belief: int

    class Boxes(MontyHall):
        def start(self):
            return Box(0, 0)

        def deal(self, s):
            return ()

        def hidden(self, s):
            return "ball"

        def actions(self, s):
            return (3,)

        def outcomes(self, s, action):
            yield 1, WIN, s

    with pytest.raises(RulesError, match="the state has a field 'belief'"):
        rollwise.solve(Boxes())


def test_games_of_one_choose_alone():
    class Both(MontyHall):
        def together(self, s):
            return (3,), (4,)

    with pytest.raises(RulesError, match=r"together\(\) is for two players"):
        Both().with_beliefs()

    class Together(Game):
        players = 1

        def start(self):
            return Show(0, 0, 0)

        def together(self, s):
            return (3,), (4,)

        def outcomes(self, s, both):
            yield 1, WIN, s

    with pytest.raises(RulesError, match=r"together\(\) is for two players, and this game has one"):
        rollwise.solve(Together())
    with pytest.raises(UsageError, match=r"game.with_beliefs\(\) is the same game"):
        rollwise.build(MontyHall())


@pytest.mark.slow
def test_commands_take_games_of_beliefs(tmp_path):
    monty = f"{__file__}:MontyHall"
    assert "66.6667 %" in output("solve", monty)
    table = output("table", monty, "--where", "chosen == 1 and open == 2")
    assert "1:33.33%/3:66.67%" in table
    state = "chosen=1,open=2,belief=1:33.33%/3:66.67%"
    assert "switch" in output("advise", monty, "--state", state)
    wrong = refusal("advise", monty, "--state", "chosen=1,open=2,belief=x")
    assert "belief is a number or " in wrong
    assert "33.3333 %" in output("evaluate", monty, "--policy", "always-stay")
    assert "every play ends" in output("check", monty)
    saved = tmp_path / "monty.parquet"
    output("solve", monty, "--save", str(saved))
    for exact in ((), ("--exact",)):
        assert "verified, without a solver" in output("verify", *exact, str(saved), monty)
    assert "Always switch." in output("thumb", monty, "--seed", "1")
    told = play(tmp_path, monty, "--seed", "3", typed="door 1 / switch")
    assert "belief 1:33.33%/3:66.67%" in told.stdout
    page = tmp_path / "monty.html"
    output("page", monty, "--out", str(page))
    assert "Monty Hall" in page.read_text()
    assert run("export", monty, "--to", "prism", "--out", str(tmp_path / "m.prism")).returncode == 0
