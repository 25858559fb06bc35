"""Games with hidden dice and with simultaneous choices: answers, proofs and refusals."""

from __future__ import annotations

import json
import math
import pickle
import random
import re
import tomllib
import warnings
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

import naive_hidden as naive
import numpy as np
import pytest
from cli_runner import output
from little_games import Lanes, Riddle

import rollwise
from rollwise import AGAIN, DRAW, END, LOSE, PASS, WIN, Game, payoff
from rollwise.builders import growth
from rollwise.cli import hidden_games
from rollwise.cli.streams import ASKED
from rollwise.documents.hidden import HiddenPlayed
from rollwise.errors import (
    EndlessPlay,
    PolicyError,
    RulesError,
    TooManyStates,
    UnknownState,
    UsageError,
)
from rollwise.export.efg import efg
from rollwise.games import available
from rollwise.games.kuhn_poker import KuhnPoker
from rollwise.games.leduc_poker import LeducPoker
from rollwise.games.liars_dice import Cups, LiarsDice
from rollwise.games.rock_paper_scissors_dice import RockPaperScissorsDice
from rollwise.games.simultaneous import SimultaneousHog, SimultaneousPig
from rollwise.hidden import answer as answers
from rollwise.hidden import program, reading, solve, solving
from rollwise.hidden.check import bounds, open_bounds
from rollwise.hidden.learning import simulate
from rollwise.hidden.reading import read
from rollwise.hidden.regret import minimize_regret_openly, open_game
from rollwise.hidden.tree import unfold
from rollwise.page.hidden import data_of
from rollwise.then import is_over

KNOWN = tomllib.loads((Path(__file__).parent / "answers.toml").read_text())["hidden"]
GAMES = available(hidden=True)


class Node(NamedTuple):
    number: int
    mine: int
    theirs: int
    secret: int  # the last action of the other player, where it isn't seen


seeded = partial(random.Random)  # rules that name a generator of random numbers are refused


@dataclass(frozen=True)
class Drawn(Game):
    """Rules drawn at random: a tree of numbered nodes with private cards and unseen actions."""

    seed: int = 0
    depth: int = 3

    def draws(self, *what):
        return seeded(repr((self.seed, *what)))

    def start(self):
        return Node(0, 0, 0, 0)

    def deal(self, s):
        if s.mine == 0:
            for mine in (1, 2):
                for theirs in (1, 2):
                    yield self.draws("deal", mine, theirs).randint(1, 3), Node(1, mine, theirs, 0)

    def hidden(self, s):
        return ("theirs", "secret") if self.draws("seen", s.number).random() < 0.5 else ("theirs",)

    def actions(self, s):
        yield from range(1 + self.draws("menu", s.number).randint(0, 1))

    def reward(self, s, action):
        return self.draws("reward", s.number).choice((0, 0, 1)) * action

    def outcomes(self, s, action):
        seen = self.draws("goes on", s.number, action)
        for k in range(seen.randint(1, 2)):
            after = 2 * s.number + (k if self.draws("same", s.number).random() < 0.5 else action)
            if after.bit_length() > self.depth:
                yield k + 1, payoff(self.draws("end", s, action, k).randint(-3, 3)), s
            elif self.draws("again", s.number).random() < 0.3:
                yield k + 1, AGAIN, Node(after, s.mine, s.theirs, s.secret)
            else:
                yield k + 1, PASS, Node(after, s.theirs, s.mine, action)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 6, 7, 8, 9, 10])  # few pure strategies
def test_drawn_games_have_the_value_and_the_ranges_of_all_pure_strategies(seed):
    game = Drawn(seed)
    sets = naive.information_sets(game)
    value = naive.value_of(naive.payoff_matrix(game))
    answer = solve(game)
    assert abs(answer.value - value) <= answer.error_bound + 1e-8
    ((part, _),) = answer.parts
    assert [len(seat.parents) for seat in part.tree.seats] == list(map(len, sets))
    ranges = naive.ranges(game)
    found = {(one.seat, one.before, one.text): answer.ranges(one) for one in answer.situations()}
    expected = {}
    for one in answer.situations():
        ends = ranges[one.seat, memory_of(answer, one)]
        is_wide = None not in ends and max(high - low for low, high in ends) > 1e-5
        expected[one.seat, one.before, one.text] = ends if is_wide else []
    for key, ends in expected.items():
        assert found[key] == [pytest.approx(pair, abs=1e-5) for pair in ends], key


def memory_of(answer, situation):
    """The earlier sights and actions, and the present sight, as in `naive_hidden`."""
    seat, number, parts = answer.parts[0][0].tree.seats[situation.seat], situation.number, []
    while True:
        position = int(seat.examples[number])
        parts.insert(0, tuple(answer.positions.visible(position).items()))
        last = int(seat.parents[number])
        if last == 0:
            return tuple(parts)
        number = seat.set_of(last)
        menu = answer.positions.menus[int(seat.examples[number])][0]
        parts.insert(0, menu[last - int(seat.first[number])])


def test_kuhn_poker_has_the_known_family_of_strategies():
    """Kuhn (1950): bet a with a jack, 3a with a king, call a + 1/3 with a queen; a up to 1/3."""
    answer = solve(KuhnPoker())
    ranges = {(one.seat, one.text, one.before): answer.ranges(one) for one in answer.situations()}
    first = {card: ranges[0, f"mine={card}, passed=0, bet=0", ""] for card in (1, 2, 3)}
    assert first[1][1] == pytest.approx((0, 1 / 3), abs=1e-6)
    assert first[2] == []
    assert first[3][1] == pytest.approx((0, 1), abs=1e-6)
    call = ranges[0, "mine=2, passed=1, bet=1", "passed=0, bet=0: check"]
    assert call[1] == pytest.approx((1 / 3, 2 / 3), abs=1e-6)
    assert not any(ends for (seat, _, _), ends in ranges.items() if seat == 1)
    # against a player who calls and bets at random, bluffs gain: a = 1/3 gets most
    low, high = answer.payoff_range(("optimal", "random"))
    assert answer.evaluate(("optimal", "random"))[0] == pytest.approx(low, abs=1e-6)
    assert high == pytest.approx(1 / 6, abs=1e-6)
    assert answer.payoff_range(("random", "optimal")) is None


@dataclass(frozen=True)
class HighStakes(KuhnPoker):
    stake: int = 10**6

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            worth = {WIN: 1, LOSE: -1}.get(then, 2 if s.mine > s.theirs else -2)
            yield weight, then if then == PASS else payoff(worth * self.stake), after


@dataclass(frozen=True)
class LowStakes(HighStakes):
    stake: float = 1e-9


@pytest.mark.parametrize("stake", [50, 1000, 10**6, 10**12])
def test_roundings_of_high_stakes_are_no_range(stake):
    answer = solve(HighStakes(stake=stake))
    assert answer.low == answer.high == Fraction(-stake, 18)
    assert answer.payoff_range(("random", "optimal")) is None
    low, high = answer.payoff_range(("optimal", "random"))
    assert high == pytest.approx(stake / 6, rel=1e-6)
    assert low == pytest.approx(stake / 18, rel=1e-6)


@pytest.mark.parametrize(
    ("stake", "lost", "payoff"), [(1e-9, "0.000000000458", "-1e-09"), (1e15, "458333", "-1e+15")]
)
def test_losses_and_payoffs_have_the_digits_of_the_stake(stake, lost, payoff, capsys, monkeypatch):
    monkeypatch.setattr(ASKED, "json", False)
    game = LowStakes(stake=stake)
    hidden_games.evaluate(game, "random", None)
    hidden_games.evaluate(game, "optimal", None)
    hidden_games.advise(game, "mine=1,bet=1", None)
    told = capsys.readouterr().out
    assert f"random loses {lost}" in told
    assert "optimal loses nothing to an expert" in told
    assert re.search(rf"fold +1(00 %)? +{re.escape(payoff)} +0 ", told)


class Suit(IntEnum):
    CUPS = 0
    PENTACLES = 1


class Peeked(NamedTuple):
    mine: int
    theirs: int
    is_seen: bool
    suit: Suit = Suit.PENTACLES


class Peek(Game):
    """Look at the other die, or not, and guess which is higher. Stakes are tiny."""

    def start(self):
        return Peeked(0, 0, False)

    def deal(self, s):
        if not s.mine:
            yield from ((1, Peeked(a, b, False)) for a in (1, 2, 3) for b in (1, 2, 3))

    def hidden(self, s):
        return () if s.is_seen else ("theirs",)

    def actions(self, s):
        return (0, 1) if s.is_seen else (0, 1, 2)

    def outcomes(self, s, action):
        if action == 2:
            yield 1, AGAIN, s._replace(is_seen=True)
        else:
            yield 1, payoff(2e-9 if (s.mine > s.theirs) == action else -1e-9), s


def test_a_page_has_the_digits_of_the_stake_and_one_word_for_a_truth_value():
    data = data_of(solve(Peek()), [])
    assert data["stake"] == 2e-9
    worths = {worth for row in data["sets"][0][0].values() for worth in row[2]}
    assert {-1e-9, 1e-9, 2e-9} <= worths
    words = {row[1][1] for board in data["boards"] for row in board if row[0][1] == "is seen"}
    assert words == {"false", "true"}
    (suit,) = {tuple(row[1][:2]) for board in data["boards"] for row in board[3:]}
    assert suit == ("label", "pentacles")  # which is too long for a tile


def test_costs_of_choices_have_the_digits_of_the_stake():
    told = HiddenPlayed.on(
        LowStakes(), against="optimal", seat="first", payoff=-1e-9, lost=5e-10, seed=1, stake=2e-9
    )
    assert "cost 0.00000000050 against" in "".join(map(str, told.blocks()))


def test_regrets_are_minimized_to_a_part_of_the_stake(monkeypatch):
    monkeypatch.setattr(solving, "MOST_FOR_PROGRAM", 0)
    low, high = solve(HighStakes(stake=1)), solve(HighStakes(stake=2**20))
    assert low.iterations == high.iterations


def test_the_stages_of_a_solution_are_reported():
    stages = list[str]()
    solve(KuhnPoker(), progress=lambda stage, *_: stages.append(stage))
    assert stages == [
        "reading the rules",
        "listing all histories",
        "solving the linear program",
        "looking for an answer in fractions",
    ]


def test_hidden_is_asked_once_in_a_position(monkeypatch):
    answer, asked = solve(LiarsDice(sides=3)), list[Cups]()
    answer = replace(answer, positions=replace(answer.positions))
    monkeypatch.setattr(LiarsDice, "hidden", lambda self, s: asked.append(s) or ("theirs",))
    assert len(list(answer.situations())) > len(answer.positions.states)
    assert len(asked) == len(set(asked))
    monkeypatch.undo()
    again = pickle.loads(pickle.dumps(answer))  # with the fields that it knows
    assert again.positions.visible(3) == answer.positions.visible(3)


class Halved(KuhnPoker):
    """Half of the moves that don't end the game end it with a draw."""

    discount = Fraction(1, 2)


class HalvedByHand(KuhnPoker):
    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            if is_over(then):
                yield 2 * weight, then, after
            else:
                yield weight, then, after
                yield weight, DRAW, s


def test_a_discount_ends_hidden_games_too():
    found, expected = solve(Halved()), solve(HalvedByHand())
    assert found.low == expected.low
    assert found.high == expected.high
    assert found.low != solve(KuhnPoker()).low


def test_simultaneous_choices_have_ranges_too():
    answer = solve(Same())
    mover, other = answer.situations()
    assert answer.ranges(mover) == [pytest.approx((0.0, 1.0), abs=1e-6)] * 3
    assert answer.ranges(other) == []
    text = output("table", f"{__file__}:Same")
    assert "roll: 0 to 100 %" in text


class Only(NamedTuple):
    number: int


class Same(Game):
    """The mover's choice makes no difference."""

    action_names = ("roll", "hold", "wait")

    def start(self):
        return Only(0)

    def together(self, s):
        return (0, 1, 2), (0, 1)

    def outcomes(self, s, pair):
        yield 1, payoff(pair[1]), s


@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_are_those_of_all_pure_responses(seed):
    """For random strategies, which are no answer: by the matrix of pure ones where it is small."""
    game = Drawn(seed, depth=2)
    tree = unfold(read(game), exact=True)
    draws = random.Random(seed)
    strategies = []
    for seat in tree.seats:
        shares = np.array([Fraction(draws.randint(0, 3)) for _ in range(seat.n_sequences)], object)
        shares[0] = Fraction(1)
        for begin, end in zip(seat.first[:-1], seat.first[1:], strict=True):
            shares[begin] += 1
            shares[begin:end] /= sum(shares[begin:end])
        strategies.append(shares)
    low, high = bounds(tree, tuple(strategies))
    sets = naive.information_sets(game)
    numbers = [dict(zip(one, range(len(one)), strict=True)) for one in sets]

    def respond(responder, sign):
        """The best payoff of one seat over all its pure strategies."""
        best = None
        for chosen in np.ndindex(*map(len, sets[responder].values())):

            def choose(who, memory, actions, chosen=chosen):
                if who == responder:
                    return [(1, actions[chosen[numbers[who][memory]]])]
                return zip(share_of(tree, strategies, who, memory), actions, strict=True)

            worth = sign * naive.plays(game, choose)
            best = worth if best is None else max(best, worth)
        return sign * best

    assert low == respond(1, -1)
    assert high == respond(0, 1)
    rounded = tuple(part.astype(float) for part in strategies)
    least, most = bounds(unfold(read(game)), rounded)
    assert least <= low <= least + 1e-12
    assert most - 1e-12 <= high <= most


def share_of(tree, strategies, who, memory):
    """The shares of the set of a memory: sights and actions in turn."""
    seat, last = tree.seats[who], 0
    for k, part in enumerate(memory):
        if k % 2 == 0:
            sights = [
                int(tree.positions.sights[p])
                for p, kind in enumerate(tree.positions.kinds)
                if kind == 1 and naive.sight(tree.positions.game, tree.positions.states[p]) == part
            ]
            number = next(seat.numbers[last, s] for s in sights if (last, s) in seat.numbers)
            menu = tree.positions.menus[seat.examples[number]][0]
        else:
            last = int(seat.first[number]) + menu.index(part)
    return strategies[who][seat.first[number] : seat.first[number + 1]]


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: f"{k['game']} {k.get('parameters', '')}")
def test_answers_known_from_elsewhere(known):
    found = solve(GAMES[known["game"]](**known.get("parameters", {})))
    text = known["value"]
    if "/" in text and known.get("exact"):
        assert found.low == found.high == Fraction(text)
    digits = len(text.partition(".")[2])
    slack = 0.0 if "/" in text else 0.5 / 10**digits
    assert abs(found.value - float(Fraction(text))) <= found.error_bound + slack + 1e-15
    assert found.error_bound < 1e-7


def test_open_play_gives_the_value_of_the_linear_program():
    for game in (KuhnPoker(), LiarsDice(sides=3, wild="none"), LiarsDice(sides=2, dice=2)):
        openly = open_game(read(game))
        found = minimize_regret_openly(openly, 1e-4, 2000, math.inf)
        exact = solve(game).value
        assert found.low <= exact <= found.high <= found.low + 2e-4
        assert (found.low, found.high, found.rounding) == open_bounds(openly, found.sums)
    assert open_game(read(LeducPoker(ranks=2))) is None


def test_choices_seen_in_part_are_no_open_play():
    """Each message may come from both coins. A node for each choice would tell the coin."""
    assert open_game(read(Riddle())) is None
    assert solve(Riddle()).value == 0


def test_strategies_of_a_proof_add_up_to_one():
    tree = unfold(read(KuhnPoker()))
    for exact, off in ((False, 1e-13), (True, Fraction(1, 10**30))):
        tree = unfold(read(KuhnPoker()), exact=exact)
        kind = object if exact else float
        good = tuple(np.array([1] + [Fraction(1, 2)] * 12, kind) for _ in range(2))
        low, high = bounds(tree, good)
        assert low < -1 / 18 < high
        good[0][1] += off
        with pytest.raises(ValueError, match="add up to 1"):
            bounds(tree, good)


def test_the_bounds_of_open_play_are_those_of_the_tree():
    """The average strategy of few iterations, as strategies of the tree."""
    game = LiarsDice(sides=3)
    positions = read(game)
    openly = open_game(positions)
    found = minimize_regret_openly(openly, 1e-9, 5, math.inf)
    one = answers.OpenAnswer(positions, found.low, found.high, "", {}, open=openly, found=found)
    tree = unfold(positions)
    strategies = [np.ones(seat.n_sequences) for seat in tree.seats]

    def fill(memories, seat, position):
        side = tree.seats[seat]
        situation = one.at(memories[seat][0], seat, 0, position)
        number = side.numbers[memories[seat][1], int(positions.sights[position])]
        begin = int(side.first[number])
        strategies[seat][begin : begin + len(situation.actions)] = situation.probabilities
        for k, choice in enumerate(positions.choices(position)):
            ((_, _, target, _),) = positions.outcomes(choice)
            if target >= 0:
                after = list(memories)
                memory = one.remember(memories[seat][0], seat, position, k)
                after[seat] = (memory, begin + k)
                fill(after, 1 - seat, target)

    for _, _, target, _ in positions.outcomes(0):
        fill([(None, 0), (None, 0)], 0, target)
    low, high = bounds(tree, tuple(strategies))
    assert low == pytest.approx(found.low, abs=1e-12)
    assert high == pytest.approx(found.high, abs=1e-12)


@pytest.mark.large
def test_two_dice_each_are_proved_to_a_thousandth():
    """No other program's value is known. The proof is that of the small games."""
    found = solve(LiarsDice(dice=2))
    assert found.error_bound <= 1e-3
    assert found.n_histories == 2**24


def test_regrets_give_the_value_of_the_linear_program():
    game = LeducPoker(ranks=2)
    found = solve(game, tolerance=1e-3)
    assert found.method == "regret minimization"
    assert found.error_bound <= 1e-3
    assert found.low <= solve(game).value <= found.high


def test_a_small_tolerance_is_met_by_the_linear_program():
    assert solve(KuhnPoker(), tolerance=1e-12).is_exact
    assert "-1/18 (exact)" in output("solve", "kuhn-poker", "--tolerance", "1e-12")


class Round(NamedTuple):
    number: int
    side: int


@dataclass(frozen=True)
class Together(Game):
    """Simultaneous choices drawn at random, with rewards, passes and cycles."""

    seed: int = 0

    def start(self):
        return Round(0, 0)

    def together(self, s):
        draw = seeded(repr((self.seed, s)))
        return () if draw.random() < 0.2 else (range(draw.randint(1, 4)), range(draw.randint(1, 3)))

    def actions(self, s):
        return range(2)

    def reward(self, s, action):
        return seeded(repr((self.seed, s, action))).randint(-1, 1)

    def outcomes(self, s, action):
        draw = seeded(repr((self.seed, action, s)))
        yield 1, draw.choice((WIN, LOSE, DRAW, payoff(3))), s
        for _ in range(draw.randint(0, 2)):
            yield 1, draw.choice((AGAIN, PASS)), Round(draw.randint(0, 3), draw.randint(0, 1))


@pytest.mark.parametrize("seed", range(12))
def test_simultaneous_games_have_the_value_of_naive_sweeps(seed):
    found = solve(Together(seed))
    assert found.error_bound < 1e-11
    assert found.value == pytest.approx(naive.stochastic_value(Together(seed), 90), abs=1e-7)
    for seat in (0, 1):  # nobody gains against optimal play, and each policy is worth its chances
        worth = found.best_response("optimal", seat)[0]
        assert worth == pytest.approx((1 - 2 * seat) * found.value, abs=1e-10)
    value, _ = found.evaluate(("random", "optimal"))
    assert value <= found.value + 1e-10
    mean, error, _ = simulate(found.with_policies(("random", "optimal")), 4000, 1)
    assert abs(mean - value) <= 5 * error


def test_three_dice_that_beat_each_other():
    """By hand: a die is chosen in proportion to the edge between the other two."""
    (mover, other) = solve(GAMES["rock-paper-scissors-dice"]()).find({"mine": 0})
    for situation in (mover, other):
        assert situation.probabilities == pytest.approx([3 / 13, 7 / 13, 3 / 13])
        assert situation.values == pytest.approx([0, 0, 0])


class Towers(NamedTuple):
    mine: tuple[int, int]
    theirs: tuple[int, int]
    secret: tuple[int]


class Assault(Game):
    """Both choose a tower of the other at the same time; the first hit decides."""

    def start(self):
        return Towers((1, 1), (1, 1), (0,))

    def together(self, s):
        return (0, 1), (0, 1)

    def outcomes(self, s, actions):
        a, b = actions
        if sum(s.mine) + sum(s.theirs) < 4:
            yield 1 + (a == b), WIN, s
            yield 2, LOSE, s
        else:
            yield 1, AGAIN, s._replace(theirs=(1 - a, a))
            yield 1, AGAIN, s._replace(mine=(1 - b, b))


class Ambush(Assault):
    """The same with one mover, who can't see a number."""

    together = Game.together

    def hidden(self, s):
        return ("secret",)

    def deal(self, s):
        return [(1, s._replace(secret=(k,))) for k in (1, 2)] if s.secret == (0,) else ()

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        return super().outcomes(s, (action, s.secret[0] - 1))


@pytest.mark.parametrize("game", [Assault(), Ambush()], ids=lambda game: game.name)
def test_numbers_of_a_tuple_are_asked_as_in_other_games(game):
    found = solve(game)
    whole = found.find({"mine": (0, 1), "theirs": (1, 1)})
    alone = found.find({"mine.0": 0, "theirs.1": 1})
    assert [one.text for one in alone] == [one.text for one in whole]
    assert {tuple(one.sees["mine"]) for one in alone} == {(0, 1)}
    assert len(found.find({"theirs.1": 0})) < len(found.find({}))
    with pytest.raises(UnknownState, match=r"no field 'mine\.2'; the fields are mine, theirs"):
        found.find({"mine.2": 0})
    seen = found.positions.example
    with pytest.raises(UnknownState, match=f"no player ever sees .* example {re.escape(seen)}"):
        found.find({"mine.0": 7})


def test_seats_are_alike_where_both_choose_at_once():
    for game in (SimultaneousHog(target=8, dice=2), SimultaneousPig(target=4)):
        found = solve(game)
        assert abs(found.value) <= found.error_bound < 1e-12


def test_policies_see_no_hidden_field():
    class Peeks(KuhnPoker):
        @rollwise.policy
        def peek(self, s):
            """Bet and call with the better card."""
            return 2 * s.bet + (s.mine > s.theirs)

    found = solve(Peeks())
    assert found.evaluate(("peek", "peek"))[0] == pytest.approx(0)  # bet and call: their card is 0
    with pytest.raises(PolicyError, match="no policy 'peak'; did you mean peek"):
        found.evaluate(("peak", "peek"))


@pytest.mark.parametrize("name", ["kuhn-poker", "rock-paper-scissors-dice"])
def test_policies_and_seats_are_two(name):
    found = solve(GAMES[name]())
    for names in (("optimal",), "optimal", ("optimal",) * 3, (0, 1)):
        for ask in (found.evaluate, found.with_policies):
            with pytest.raises(UsageError, match=f"{name}.*one for each player, as in"):
                ask(names)
    for seat in (7, -1, "first"):
        with pytest.raises(UsageError, match=f"{name}.*seat is 0 for the first player or 1"):
            found.best_response("random", seat)
    assert found.evaluate(["optimal", "random"]) == found.evaluate(("optimal", "random"))


def test_evaluation_is_that_of_all_plays():
    found = solve(LiarsDice(sides=3))
    value, bound = found.evaluate(("honest", "random"))

    def choose(mover, memory, actions):
        if mover:
            return [(Fraction(1, len(actions)), action) for action in actions]
        state = found.positions.states[1]._replace(theirs=(0,), **dict(memory[-1]))
        return [(1, found.game.honest(state))]

    assert abs(value - float(naive.plays(found.game, choose))) <= bound


@pytest.mark.parametrize(
    ("name", "parameters", "known"),
    [
        ("kuhn-poker", {}, "kuhn_poker"),
        ("leduc-poker", {}, "leduc_poker"),
        ("liars-dice", {"sides": 3, "wild": "highest"}, "liars_dice(dice_sides=3)"),
        ("liars-dice", {"sides": 2, "dice": 2, "other_dice": 1, "wild": "none"}, None),
        ("hidden-wheel", {"steps": 3}, None),
        ("dice-goofspiel", {"cards": 2, "sides": 2}, None),
    ],
)
def test_open_spiel_finds_the_same_exploitability(name, parameters, known):
    """Of even chances: in OpenSpiel's own game, or in the file that it reads."""
    pyspiel = pytest.importorskip("pyspiel")
    game = GAMES[name](**parameters)
    found = solve(game)
    spiel = pyspiel.load_game(known) if known else pyspiel.load_efg_game(efg(found.positions))
    gain = pyspiel.nash_conv(spiel, pyspiel.UniformRandomPolicy(spiel))
    ours = [found.best_response("random", seat)[0] for seat in (0, 1)]
    assert sum(ours) == pytest.approx(gain)


def test_numbers_of_games_won_or_lost_say_their_unit():
    """`solve` prints chances to win there."""
    for line in ("advise {}", "evaluate {} --policy random", "respond {} --to random"):
        told = output(*line.format("rock-paper-scissors-dice").split())
        assert "a win counts 1, a loss -1" in told


def test_payoffs_say_nothing_of_wins():
    for line in ("advise {}", "evaluate {} --policy random", "respond {} --to random"):
        words = line.format("kuhn-poker").split()
        assert "a win counts" not in output(*words)
        assert json.loads(output(*words, "--json"))["unit"] == "payoff"


class Ante(KuhnPoker):
    """A first action that costs a part of a chip, so that numbers are doubles."""

    def reward(self, s, action):
        return -0.125 * action


def test_a_file_has_doubles_as_gambit_reads_them():
    pyspiel = pytest.importorskip("pyspiel")
    found = solve(Ante())
    assert not found.positions.is_exact
    spiel = pyspiel.load_efg_game(efg(found.positions))
    gain = pyspiel.nash_conv(spiel, pyspiel.UniformRandomPolicy(spiel))
    ours = [found.best_response("random", seat)[0] for seat in (0, 1)]
    assert sum(ours) == pytest.approx(gain)


@dataclass(frozen=True)
class Leaks(Game):
    """The actions tell the other die."""

    def start(self):
        return Lanes(0, 0)

    def deal(self, s):
        for die in (1, 2) if s.mine == 0 else ():
            yield 1, Lanes(1, die)

    def hidden(self, s):
        return ("theirs",)

    def actions(self, s):
        yield from range(s.theirs)

    def outcomes(self, s, action):
        yield 1, WIN, s


def test_rules_that_leak_are_refused_with_both_situations():
    message = (
        "leaks: the actions depend on fields that are hidden from the mover: in mine=1, theirs=1 "
        "they are 0; in mine=1, theirs=2 they are 0, 1; the mover can't tell these apart"
    )
    with pytest.raises(RulesError, match=re.escape(message)):
        solve(Leaks())


def changed(**rules):
    """Leaks with other rules."""
    return type("Changed", (Leaks,), {"actions": lambda self, s: (0,), **rules})()


@pytest.mark.parametrize(
    ("game", "error", "says"),
    [
        (
            changed(players=3),
            UsageError,
            "for at most two players, not 3; fix the policies of the others",
        ),
        (changed(players=1), UsageError, "for 1: rollwise.solve(game) solves it"),
        (changed(objective="maximize"), UsageError, "gains the loss of the other"),
        (changed(hidden=lambda self, s: ("his",)), RulesError, "hidden() names 'his'; the fields"),
        (changed(hidden=lambda self, s: None), RulesError, "hidden() names None; the fields"),
        (changed(actions=lambda self, s: ()), RulesError, "a player has no action"),
        (changed(together=lambda self, s: ()), RulesError, "don't go together; let one player"),
        (changed(throws=lambda self, s: [(1, 1)]), RulesError, "throws() can't be hidden"),
        (changed(deal=lambda self, s: [(1, s)]), EndlessPlay, "deal(s) yields nothing where all"),
        (changed(start=lambda self: Lanes(0, "")), RulesError, "the field theirs of a state is ''"),
        (changed(outcomes=lambda self, s, a: [(1, PASS, Lanes(1, [2]))]), RulesError, "is [2]; "),
        (changed(outcomes=lambda self, s, a: [(1, PASS, Lanes(1, 1.5))]), RulesError, "is 1.5; "),
        (changed(outcomes=lambda self, s, a: [(1, PASS, Lanes(1, []))]), RulesError, "tuple(...)"),
        (changed(outcomes=lambda self, s, a: None), RulesError, "gives None; it should yield (wei"),
        (changed(outcomes=lambda self, s, a: [(1, "win", s)]), RulesError, "`then` 'win' (all"),
        (changed(outcomes=lambda self, s, a: [(1, END, s)]), RulesError, "`then` END (allowed"),
        (changed(outcomes=lambda self, s, a: [(1, True, s)]), RulesError, "`then` True (allowed"),
        (
            changed(outcomes=lambda self, s, a: [(1, 77, s)]),
            RulesError,
            "unknown `then` 77 (allowed",
        ),
        (changed(actions=lambda self, s: None), RulesError, "gives None; it should yield the numb"),
        (changed(actions=lambda self, s: ["go"]), RulesError, "the action 'go' isn't a whole numb"),
        (changed(deal=lambda self, s: None), RulesError, "should yield (weight, next_state), or"),
        (changed(reward=lambda self, s, a: None), RulesError, "reward() gives None (it is a numbe"),
        (changed(deal=lambda self, s: [1]), RulesError, "deal() must yield (weight, next_state)"),
        (changed(outcomes=lambda self, s, a: [(-1, WIN, s)]), RulesError, "weight -1 is negative"),
        (changed(outcomes=lambda self, s, a: [(1, WIN)]), RulesError, "must be (weight, then"),
        (changed(outcomes=lambda self, s, a: [(0, WIN, s)]), RulesError, "no outcomes"),
        (changed(outcomes=lambda self, s, a: [(1, PASS, 3)]), RulesError, "3 isn't a state"),
        (changed(outcomes=lambda self, s, a: [(1, PASS, s)]), EndlessPlay, "can return to the"),
        (changed(outcomes=lambda self, s, a: 1 / 0), RulesError, "division by zero"),
        (
            changed(outcomes=lambda self, s, a: [(random.randint(1, 2), WIN, s), (1, LOSE, s)]),
            RulesError,
            "outcomes() draws with random.randint; rules are without chance",
        ),
    ],
)
def test_refusals_name_the_remedy(game, error, says):
    with pytest.raises(error, match=re.escape(says)):
        solve(game)


def test_the_room_of_these_games_needs_no_import():
    """The refusal of `rollwise.solve` names it."""
    with pytest.raises(UsageError, match=r"rollwise\.hidden\.solve\(game\) solves it"):
        rollwise.solve(KuhnPoker())
    assert rollwise.__getattr__("hidden").solve is solve


class Rung(NamedTuple):
    mine: int
    theirs: int
    number: int


class Ladder(Leaks):
    """Open moves with a million histories, if the last position didn't go back."""

    def actions(self, s):
        return (0, 1, 2) if s.number < 40 else (0, 1)

    def start(self):
        return Rung(0, 0, 0)

    def deal(self, s):
        if s.mine == 0:
            yield from ((1, Rung(mine, theirs, 0)) for mine in (1, 2) for theirs in (1, 2))

    def outcomes(self, s, action):
        after = s.number + (-1 if s.number >= 40 else (0, 1, 3)[action])
        yield 1, PASS if action else WIN, Rung(s.theirs, s.mine, after)


def test_a_large_game_of_open_moves_that_goes_round_is_refused():
    """Its walk would leave its stack."""
    with pytest.raises(EndlessPlay, match="can return to the position"):
        solve(Ladder())


def test_one_list_of_actions_is_none_for_two_players():
    game = type("Single", (Same,), {"together": lambda self, s: (0, 1)})()
    with pytest.raises(RulesError, match="must give two lists of actions"):
        solve(game)


def test_outcomes_of_simultaneous_choices_take_a_pair():
    class Apart(Together):
        def outcomes(self, s, mine, theirs):
            yield 1, WIN, s

    with pytest.raises(RulesError, match=re.escape("as a pair, the mover's first: outcomes(self")):
        solve(Apart())


def test_endless_rounds_are_refused():
    class Stalls(Together):
        def outcomes(self, s, action):
            yield 1, AGAIN, s

    with pytest.raises(EndlessPlay, match="can go on for ever from number=0, side=0"):
        solve(Stalls())


def test_limits_are_kept():
    for limit in (10, 100):
        with pytest.raises(TooManyStates, match=f"more than {limit}"):
            solve(LiarsDice(sides=3), max_states=limit)


def test_a_growing_field_is_named_and_lowers_the_limit(monkeypatch):
    @dataclass(frozen=True)
    class Banks(Game):
        cap: int = 0  # none

        def start(self):
            return Cups((1,), (2,), 0)

        def together(self, s):
            return range(2), range(2)

        def outcomes(self, s, pair):
            yield 1, WIN if pair[0] == pair[1] else LOSE, s
            higher = s.bid + 1 + pair[0]
            yield 1, AGAIN, s._replace(bid=min(higher, self.cap or higher))

    monkeypatch.setattr(reading, "SMALL", 100)
    monkeypatch.setattr(reading, "LIMIT", 10_000)
    stages = []
    with (
        pytest.warns(growth.GrowthWarning, match="the field bid grows: it rises to"),
        pytest.raises(TooManyStates, match=r"more than 1,000 positions; the field bid goes"),
    ):
        read(Banks(), progress=lambda *stage: stages.append(stage))
    assert [done for _, done, _ in stages] == [0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(Banks(cap=5_000)).states) == 5_001
        assert len(read(Banks(cap=50)).states) == 51


def test_given_policies_prove_no_more_than_their_best_responses_leave():
    for game in (KuhnPoker(), RockPaperScissorsDice()):
        answer = solve(game)
        other = answer.with_policies(("random", "optimal"))
        assert other.low < answer.low - 0.05
        assert other.low <= answer.value <= other.high
        assert "gains by another strategy (proved" not in str(other)
        assert answer.with_policies(("optimal", "optimal")).low == answer.low


class Row(NamedTuple):
    bids: tuple[int, ...]


@dataclass(frozen=True)
class Rows(Game):
    """Bids in a row, without a field of one number; a bid leads to so many states."""

    width: int

    def start(self):
        return Row((0, 0))

    def together(self, s):
        return range(1), range(1)

    def outcomes(self, s, pair):
        yield 1, WIN, s
        for more in range(self.width):
            yield 1, AGAIN, Row((s.bids[0] + 1, self.width * s.bids[1] + more))


@pytest.mark.parametrize("width", [1, 2])
def test_games_without_a_field_of_one_number_end_at_the_limit(width, monkeypatch):
    monkeypatch.setattr(reading, "SMALL", 100)
    monkeypatch.setattr(reading, "LIMIT", 2_000)
    with pytest.raises(TooManyStates, match="more than 2,000 positions; allow more with max"):
        read(Rows(width))


def test_the_lowered_limit_ends_a_search_that_is_beyond_it(monkeypatch):
    @dataclass(frozen=True)
    class Wide(Rows):
        def start(self):
            return Node(0, 0, 0, 0)

        def outcomes(self, s, pair):
            yield 1, WIN, s
            for k in range(self.width):
                yield 1, AGAIN, s._replace(number=s.number + 1, mine=k)

    monkeypatch.setattr(reading, "SMALL", 100)
    monkeypatch.setattr(reading, "LIMIT", 1_000)
    with (
        pytest.warns(growth.GrowthWarning, match="the field number grows"),
        pytest.raises(TooManyStates, match="more than 100 positions; the field number goes"),
    ):
        read(Wide(50))


def test_chances_to_win_say_what_a_draw_counts():
    half = "; a draw is half a win)"
    for command in ("evaluate", "simulate"):
        told = output(command, "dice-goofspiel", "cards=2", "sides=2", "--policy", "optimal")
        assert half in told
        assert half not in output(command, "rock-paper-scissors-dice", "--policy", "optimal")


def test_a_range_that_no_optimal_strategy_reaches_takes_one_linear_program(monkeypatch):
    answer = solve(LiarsDice(sides=3))
    programs, least = list[int](), program.Face._least
    monkeypatch.setattr(
        program.Face,
        "_least",
        lambda face, cost, parent: programs.append(parent) or least(face, cost, parent),
    )
    n_avoided = 0
    for situation in answer.situations():
        programs.clear()
        if answer.ranges(situation):
            assert len(programs) >= 2 * len(situation.names)
        elif len(programs) == 1:
            n_avoided += 1
            assert programs == [0]
            assert situation.reach < program.RAREST
    assert n_avoided > 20
