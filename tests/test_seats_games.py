"""Installed games for three and more, each beside a little program of its own.

These programs count seats from the first player on and never turn the table, so that they share
nothing with the rules but what people know.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_games import Spot

import rollwise
from rollwise import Game, dice, payoffs, shared, shared_by, skip, then, won_by
from rollwise.answer.evaluation import respond_to_all
from rollwise.derive.contest import Duel
from rollwise.documents.answers import seats_response_document
from rollwise.errors import RulesError
from rollwise.games.cant_stop import CantStop
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.knock_out import KnockOut
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.threes import Threes
from rollwise.kernels import lotteries, state_tables
from rollwise.many.seats import build_seats
from rollwise.numbers.shares import brought, most_payoff
from rollwise.then import (
    MOST_SKIPPED,
    bits_of,
    is_over,
    payoff_of,
    round_the_table,
    seats_on,
    then_text,
)

NEAR = 1e-12

# ---- Left Center Right: a linear system in fractions


def solved_exactly(rows: list[dict[int, Fraction]], right: list[list[Fraction]]) -> list[Fraction]:
    """The first unknown of ``x = rows x + right``, by elimination from the last one on."""
    for k in reversed(range(len(rows))):
        own = 1 - rows[k].pop(k, Fraction(0))
        rows[k] = {j: p / own for j, p in rows[k].items()}
        right[k] = [x / own for x in right[k]]
        for i in range(k):
            share = rows[i].pop(k, None)
            if share is not None:
                for j, p in rows[k].items():
                    rows[i][j] = rows[i].get(j, Fraction(0)) + share * p
                right[i] = [x + share * y for x, y in zip(right[i], right[k], strict=True)]
    return right[0]


def left_center_right(n: int, each: int) -> list[Fraction]:
    """Who wins, from a system over all chips and the seat to move, those without chips too."""
    start = ((each,) * n, 0)
    number, waiting = {start: 0}, [start]
    rows: dict[int, dict[int, Fraction]] = {}
    right: dict[int, list[Fraction]] = {}
    while waiting:
        chips, seat = here = waiting.pop()
        row, ends = {}, [Fraction(0)] * n
        thrown = min(chips[seat], 3)
        for faces in product("LRCKKK", repeat=thrown):
            after, p = list(chips), Fraction(1, 6**thrown)
            for face in faces:
                after[seat] -= face != "K"
                after[(seat + 1) % n] += face == "L"
                after[(seat - 1) % n] += face == "R"
            having = [k for k in range(n) if after[k]]
            if len(having) == 1:
                ends[having[0]] += p
                continue
            key = (tuple(after), (seat + 1) % n)
            if key not in number:
                number[key] = len(number)
                waiting.append(key)
            row[number[key]] = row.get(number[key], Fraction(0)) + p
        rows[number[here]], right[number[here]] = row, ends
    order = range(len(number))
    return solved_exactly([rows[i] for i in order], [right[i] for i in order])


@pytest.mark.parametrize(("players", "chips"), [(3, 1), (3, 2), (4, 1)])
def test_left_center_right_is_its_chain(players, chips):
    exact = left_center_right(players, chips)
    assert sum(exact) == 1
    found = rollwise.equilibrium(LeftCenterRight(chips, players=players))
    off = [abs(Fraction(x) - y) for x, y in zip(found.win_probabilities, exact, strict=True)]
    assert max(off) <= Fraction(found.error_bound)
    assert found.error_bound < NEAR
    assert len(found.mixing) == 0


# ---- Can't Stop: sweeps over all boards, as the table has them


def cant_stop(players: int, sides: int, shortest: int, columns: int) -> dict:
    """What each player has before each throw, by the boards of all and who is to move."""
    top = {c: shortest + 2 * min(c - 2, 2 * sides - c) for c in range(2, 2 * sides + 1)}
    pairs = [
        tuple({tuple(sorted((t[0] + t[i], sum(t) - t[0] - t[i]))) for i in (1, 2, 3)})
        for t in product(range(1, sides + 1), repeat=4)
    ]
    throws = Counter(map(tuple, map(sorted, pairs)))
    worth = {(((),) * players, 0): np.full(players, 1 / players)}

    def full(board: dict) -> int:
        return sum(board.get(c) == most for c, most in top.items())

    def stopped(boards: list, seat: int, mine: dict) -> np.ndarray:
        """What all have once the player has stopped with this board."""
        others = [{c: x for c, x in b.items() if mine.get(c) != top[c]} for b in boards]
        others[seat] = mine
        filled = [full(b) for b in others]
        if filled[seat] >= columns:
            return np.eye(players)[seat]
        if sum(filled) == len(top):
            shares = np.array(filled) == max(filled)
            return shares / shares.sum()
        key = tuple(tuple(sorted(b.items())) for b in others), (seat + 1) % players
        return worth.setdefault(key, np.full(players, 1 / players))

    def turn(boards: list, seat: int) -> np.ndarray:
        mine = boards[seat]
        closed = {c for b in boards for c in b if b[c] == top[c]}

        def up(run: dict, column: int) -> dict | None:
            steps = run.get(column, mine.get(column, 0)) + 1
            fine = column not in closed and steps <= top[column]
            return {**run, column: steps} if fine and len({**run, column: 0}) <= 3 else None

        def moved(run: dict, split: tuple) -> list[dict]:
            found = []
            for one, other in split:
                alone = [r for r in (up(run, one), up(run, other)) if r is not None]
                both = up(run, one) and up(up(run, one), other)
                found += [both] if both else alone
            return found

        @cache
        def thrown(run: tuple) -> np.ndarray:
            mean = np.zeros(players)
            for split, ways in throws.items():
                choices = [best(r) for r in moved(dict(run), split)]
                lost = stopped(boards, seat, mine)
                mean += ways / sides**4 * max(choices, key=lambda v: v[seat], default=lost)
            return mean

        def best(run: dict) -> np.ndarray:
            there = {**mine, **run}
            stop = stopped(boards, seat, there)
            gone = full(there) + sum(full(b) for b in boards) - full(mine) == len(top)
            if full(there) >= columns or gone:
                return stop
            return max(stop, thrown(tuple(sorted(run.items()))), key=lambda v: v[seat])

        return thrown(())

    change = 1.0
    while change > 1e-14:
        known, change = len(worth), 0.0
        for boards, seat in list(worth):
            after = turn(list(map(dict, boards)), seat)
            change = max(change, np.abs(after - worth[boards, seat]).max())
            worth[boards, seat] = after
        change += len(worth) - known
    return worth


@pytest.mark.parametrize(("players", "columns"), [(3, 2)])
def test_cant_stop_is_its_sweeps(players, columns):
    worth = cant_stop(players, 2, 1, columns)
    found = rollwise.equilibrium(CantStop(players=players, columns=columns))
    assert found.deviation_gain < NEAR
    assert not found.unsettled
    off = 0.0
    for (boards, seat), chances in worth.items():
        seen = [boards[(seat + k) % players] for k in range(players)]
        mine, *theirs = ([dict(b).get(c, 0) for c in (2, 3, 4)] for b in seen)
        here = found.values[found.graph.find((mine, [x for b in theirs for x in b], (0, 0, 0)))]
        off = max(off, np.abs(here - np.roll(chances, -seat)).max())
    assert len(worth) > 500
    assert off < 1e-10


# ---- Knock Out: who goes first, in closed form

WAYS = {6: 5, 7: 6, 8: 5, 9: 4}  # of 36


@cache
def last_left(numbers: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Who is the last one left, of those still in, from the mover on.

    The first to go is the one in place j with probability q_1 ... q_(j-1) p_j / (1 - q_1 ... q_n).
    """
    if len(numbers) == 1:
        return (Fraction(1),)
    n, spared, found = len(numbers), Fraction(1), [Fraction(0)] * len(numbers)
    out = [Fraction(WAYS[number], 36) for number in numbers]
    nobody = np.prod([1 - p for p in out])
    for j, p in enumerate(out):
        left = [*range(j + 1, n), *range(j)]  # who is still in, from the next mover on
        for seat, x in zip(left, last_left(tuple(numbers[k] for k in left)), strict=True):
            found[seat] += spared * p / (1 - nobody) * x
        spared *= 1 - p
    return tuple(found)


def chosen(players: int, distinct: bool, numbers: tuple[int, ...] = ()) -> tuple[Fraction, ...]:
    """What each seat has if all choose best, the later ones knowing what the earlier chose."""
    if len(numbers) == players:
        return last_left(numbers)
    free = [x for x in WAYS if not (distinct and x in numbers)]
    ahead = [chosen(players, distinct, (*numbers, x)) for x in free]
    return max(ahead, key=lambda worth: worth[len(numbers)])


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("distinct", [False, True])
def test_knock_out_is_its_closed_form(players, distinct):
    exact = chosen(players, distinct)
    found = rollwise.equilibrium(KnockOut(distinct, players=players))
    assert found.win_probabilities == pytest.approx([float(x) for x in exact], abs=NEAR)
    assert found.deviation_gain < NEAR


# ---- Threes: dynamic programming over what was made before


def threes(players: int, dice: int, skip: bool = True) -> tuple[float, ...]:
    """What each seat has: shares of the pot, seat by seat from the first on."""

    @cache
    def turn(seat, best, level):
        if seat == players:
            return tuple(float(k in level) / len(level) for k in range(players))
        return roll(dice, False, 0, seat, best, level)

    def over(points, seat, best, level):
        if best is None or points < best:
            return turn(seat + 1, points, (seat,))
        return turn(seat + 1, best, (*level, seat) if points == best else level)

    @cache
    def roll(n, two, points, seat, best, level):
        if n == 0:
            return over(points, seat, best, level)
        total, found = 0, np.zeros(players)
        for shown in combinations_with_replacement(range(1, 7), n):
            ways = len(set(permutations(shown)))
            worths = []
            lowest = sorted(0 if face == 3 else face for face in shown)
            for taken in range(n + 1):
                if taken == 0 and not (skip and not two and n > 1):
                    continue
                if two and taken == 1:
                    continue
                made = points + sum(lowest[:taken])
                worths.append(roll(n - taken, taken == 0, made, seat, best, level))
            best_one = max(worths, key=lambda worth: round(worth[seat], 13))
            found += ways * np.array(best_one)
            total += ways
        return tuple(found / total)

    return turn(0, None, ())


@pytest.mark.parametrize(
    ("players", "dice", "skip"), [(2, 2, True), (3, 1, True), (3, 2, True), (3, 2, False)]
)
def test_threes_for_the_pot_is_dynamic_programming(players, dice, skip):
    exact = threes(players, dice, skip)
    found = rollwise.equilibrium(Threes(dice, skip=skip, players=players))
    # the first has what is best for him, whatever is done where actions are equally good
    assert found.win_probabilities[-1] + sum(found.win_probabilities[:-1]) == pytest.approx(1)
    assert found.win_probabilities == pytest.approx(exact, abs=1e-11)
    assert found.deviation_gain < 1e-11


@pytest.mark.parametrize("dice", [1, 2, 3])
def test_threes_for_two_is_the_contest_at_it(dice):
    """A contest is made from the game for one; here the rules are written for two."""
    contest, found = rollwise.solve(Duel(Threes(dice))), rollwise.solve(Threes(dice, players=2))
    assert found.win_probability == pytest.approx(contest.win_probability, abs=NEAR)


# ---- dice blackjack


def blackjack(players: int, low: int, high: int, dice: int = 2) -> np.ndarray:
    """What each seat has, by plain recursion over totals; None is out."""

    @cache
    def worth(totals, seat):
        if totals[seat] is None:
            return worth(totals, (seat + 1) % players)
        if sum(total is not None for total in totals) == 1:
            return tuple(float(k == seat) for k in range(players))
        found = []
        for n in range(1, dice + 1):
            got = np.zeros(players)
            for faces in product(range(1, 7), repeat=n):
                total = totals[seat] + sum(faces)
                if low <= total <= high:
                    got[seat] += 1
                    continue
                after = [*totals]
                after[seat] = total if total < low else None
                got += worth(tuple(after), (seat + 1) % players)
            found.append(got / 6**n)
        return tuple(max(found, key=lambda got: round(got[seat], 13)))

    return np.array(worth((0,) * players, 0))


@pytest.mark.parametrize(("players", "low", "high"), [(2, 6, 7), (3, 5, 6), (3, 8, 9), (4, 4, 5)])
def test_dice_blackjack_is_plain_recursion(players, low, high):
    exact = blackjack(players, low, high)
    found = rollwise.equilibrium(DiceBlackjack(low=low, high=high, players=players))
    assert found.win_probabilities == pytest.approx(exact, abs=NEAR)
    assert found.deviation_gain < NEAR


# ---- compiled rules


@pytest.mark.parametrize(
    "game",
    [
        KnockOut(distinct=True, players=4),
        Threes(2, players=3),
        DiceBlackjack(low=4, high=5, players=4),
    ],
    ids=lambda game: f"{game.name}-{game.players}",
)
@pytest.mark.filterwarnings("error")
@pytest.mark.needs_jit
def test_compiled_and_interpreted_are_the_same(game):
    graphs = [build_seats(game, mode=mode) for mode in ("interpreted", "compiled")]
    assert graphs[0].content_hash == graphs[1].content_hash


# ---- `skip`, `PASS_BACK` and `payoffs`: what rules for several players say besides PASS and WIN


# ---- two players


def ends_with(seats, then):
    """A game of one move, with an end."""

    class Once(Game):
        players: ClassVar = seats
        ending: ClassVar = then

        def start(self):
            return Spot(0)

        def actions(self, s):
            yield 0

        def outcomes(self, s, action):
            yield 1, self.ending, s

    return Once()


@pytest.mark.parametrize("others", ["adversaries", "allies"])
@pytest.mark.parametrize(
    ("ending", "text"), [(payoffs(3, -1, 0), "gets on average 3"), (won_by(0), "wins 100")]
)
def test_the_best_result_against_all_others_has_the_unit_of_the_game(ending, text, others):
    graph = build_seats(ends_with(3, ending))
    found = seats_response_document(graph, respond_to_all(graph, others))
    assert f"seat 1 {text}" in "\n".join(map(str, found.blocks()))


@pytest.mark.needs_jit
@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (won_by(1), r"won_by\(1\)"),
        (won_by(0, 1), r"won_by\(0, 1\)"),
        (won_by(2, 5), r"won_by\(2, 5\)"),
        (shared(2, 1), r"shared\(2, 1\)"),
        (shared(0, 3, 1), r"shared\(0, 3, 1\)"),
        (payoffs(3, -1, 0), r"payoffs\(3, -1, 0\)"),
    ],
)
def test_what_says_of_each_seat_is_refused_for_one_and_two(mode, players, ending, text):
    with pytest.raises(RulesError, match=f"{text} in a game .* WIN, LOSE, DRAW, payoff"):
        rollwise.build(ends_with(players, ending), mode=mode)
    assert not rollwise.check(ends_with(players, ending)).passed


# ---- the numbers


@pytest.mark.parametrize("winners", [[1, 2], [0, 2], (2,)])
def test_winners_of_shared_by_are_no_seats(winners):
    """Seats as for `won_by`, read as flags, would give the win to others."""
    with pytest.raises(ValueError, match="a 1 or a 0 for each seat"):
        shared_by(winners)


@given(st.integers(-MOST_SKIPPED, MOST_SKIPPED), st.integers(2, 16))
def test_skips_go_round_the_table(seats, players):
    then = skip(seats)
    assert not is_over(then)
    assert seats_on(then, players) == seats % players
    assert round_the_table(then, players) == skip(seats % players)
    names = {0: "AGAIN", 1: "PASS", -1: "PASS_BACK"}
    assert then_text(then) == names.get(seats, f"skip({seats})")


@given(st.data(), st.integers(2, 16))
def test_payoffs_are_read_as_they_were_written(data, players):
    most = most_payoff(players)
    numbers = data.draw(st.lists(st.integers(-most, most), min_size=players, max_size=players))
    then = payoffs(*numbers)
    assert is_over(then)
    assert brought(payoff_of(then), players) == tuple(numbers)
    assert brought(payoff_of(then), players % 16 + 1) == ()
    assert bits_of(payoff_of(then)) == then
    assert then_text(then) == f"payoffs({', '.join(map(str, numbers))})"


class Number(NamedTuple):
    number: int


class NumPyIntegers(Game):
    """The first die, of NumPy's integers, names the seat that wins, or shares the win."""

    players = 3

    def start(self):
        return Number(0)

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        for ways, thrown in dice.faces(2, 3, 4):
            if action == 0:
                yield ways, won_by(thrown[0] - 1), s
            else:
                yield ways, shared(thrown[0], thrown[1], thrown[2] + 1), s


@pytest.mark.parametrize("whole", [int, np.int8, np.int64, np.uint8, np.array])
def test_seats_and_shares_may_be_any_whole_numbers(whole):
    assert won_by(whole(0)) == won_by(0)
    assert won_by(whole(1), whole(2)) == won_by(1, 2)
    assert shared(whole(2), 1, whole(0)) == shared(2, 1, 0)
    assert payoffs(whole(2), 1, whole(0)) == payoffs(2, 1, 0)
    faults = [(won_by, (whole(16),)), (won_by, (1.0,)), (shared, (1, 1.5)), (payoffs, ("1", 1))]
    for function, faulty in faults:
        with pytest.raises(ValueError, match="whole number"):
            function(*faulty)


def test_seats_from_throws_are_read_both_ways():
    built = [build_seats(NumPyIntegers(), mode=mode) for mode in ("interpreted", "compiled")]
    assert np.array_equal(*(graph.outcome_payoff for graph in built))


# ---- what people look at


def test_kernels_know_the_same_codes():
    """They are written twice, since kernels import no rules."""
    assert state_tables.GOES_ON == then.GOES_ON
    assert lotteries.SKIPS == then.SKIPS
    assert lotteries.MOST_PAYOFF == then.MOST_PAYOFF
