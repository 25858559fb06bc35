"""Games that people have on their tables, against programs that share nothing with the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from test_seats_games import cant_stop

import rollwise
from rollwise import PASS, Chase, bits, build, solve
from rollwise.games.cant_stop import CantStop, CantStopForTwo
from rollwise.games.einstein import Einstein
from rollwise.games.hog import Hog
from rollwise.games.ludo import Ludo
from rollwise.games.pass_the_pigs import THROWS, PassThePigs
from rollwise.games.pickomino import Pickomino
from rollwise.games.red_light import RedLight
from rollwise.games.risk import Risk
from rollwise.games.royal_ur import SIT_OUT, WEIGHTS, Race, RoyalUr, meets
from rollwise.games.ship_captain_crew import ShipCaptainCrew
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.snakes_and_ladders import BOARDS, SnakesAndLadders
from rollwise.games.threes import Hand, Threes
from rollwise.games.zombie_dice import GO_ON, Turn, ZombieDice
from rollwise.words import Narrator


def hog_by_hand(most: int, target: int) -> float:
    """The chance of Hog's first player, by sweeps over both scores until nothing changes."""
    faces = np.array([0, 0, 1, 1, 1, 1, 1]) / 6
    scores = np.zeros((most, 6 * most + 1))  # the chances of the points of so many dice
    dice = np.array([1.0])
    for n in range(most):
        dice = np.convolve(dice, faces)
        scores[n, : len(dice)] = dice
    nothing = 1 - scores.sum(axis=1)
    chance = np.ones((target, target + 6 * most + 1))  # of who doesn't move

    def something(mine: int, theirs: int) -> np.ndarray:
        return scores @ chance[theirs, mine : mine + 6 * most + 1]

    for total in range(2 * target - 2, -1, -1):
        for mine in range(max(0, total - target + 1), total // 2 + 1):
            theirs = total - mine
            first, second = something(mine, theirs), something(theirs, mine)
            here, there, before = 0.5, 0.5, 0.0
            while here != before:
                before = here
                here = float((first + nothing * (1 - there)).max())
                there = float((second + nothing * (1 - here)).max())
            chance[mine, theirs], chance[theirs, mine] = 1 - here, 1 - there
    return 1 - float(chance[0, 0])


@pytest.mark.parametrize("most", [1, 4, 10])
def test_hog_by_hand(most):
    solution = solve(Hog(target=30, dice=most))
    assert abs(solution.win_probability - hog_by_hand(most, 30)) < 1e-12


# The chances of two pigs as they are published, by points; the last is a pig out.
PIGS = {
    1: 0.213005,
    5: 0.406224,
    10: 0.078484,
    15: 0.027834,
    20: 0.062288,
    25: 0.00042,
    40: 0.0009,
    60: 0.000049,
    0: 0.210796,
}


def test_two_pigs_land_as_published():
    assert {points: weight / 1e6 for weight, points in THROWS} == PIGS
    assert sum(weight for weight, _ in THROWS) == 1_000_000


def test_pass_the_pigs_by_hand():
    """Sweeps over the chance to win of who moves, at any points, until nothing changes."""
    target = 12
    win = np.full((target, target, target), 0.5)  # banked, rival, turn
    change = 1.0
    while change > 1e-15:
        before = win.copy()
        for banked in range(target):
            for rival in range(target):
                for turn in range(target - banked):
                    throw = PIGS[0] * (1 - win[rival, banked, 0])
                    for points, chance in list(PIGS.items())[:-1]:
                        more = turn + points
                        over = banked + more >= target
                        throw += chance * (1.0 if over else win[banked, rival, more])
                    hold = 1 - win[rival, banked + turn, 0] if turn else 0.0
                    win[banked, rival, turn] = max(throw, hold)
        change = float(np.abs(win - before).max())
    assert abs(solve(PassThePigs(target)).win_probability - win[0, 0, 0]) < 1e-12


def throws_by_hand(board: dict[int, int], beyond: str) -> float:
    """The mean number of throws, by one linear system over all squares of the board."""
    matrix, ones = np.eye(101), np.ones(101)
    ones[100] = 0
    for square in range(100):
        for face in range(1, 7):
            to = square + face
            if to > 100:
                to = {"stays": square, "bounces": 200 - to, "ends": 100}[beyond]
            matrix[square, board.get(to, to)] -= 1 / 6
    return float(np.linalg.solve(matrix, ones)[0])


@pytest.mark.parametrize("beyond", ["stays", "bounces", "ends"])
@pytest.mark.parametrize("board", BOARDS)
def test_snakes_and_ladders_by_hand(board, beyond):
    solution = solve(SnakesAndLadders(board, beyond))
    assert abs(solution.value - throws_by_hand(BOARDS[board], beyond)) < 1e-9


ZOMBIES = {"g": "bbbffs", "y": "bbffss", "r": "bffsss"}  # brains, feet, shotguns
CUP = "ggggggyyyyrrr"


@cache
def thrown(hand: str) -> dict[tuple[str, str, int], int]:
    """In how many ways the dice come to show brains, feet (their colours) and shotguns."""
    ways: Counter[tuple[str, str, int]] = Counter()
    for faces in product(*(ZOMBIES[die] for die in hand)):
        sorts = ["".join(d for d, f in zip(hand, faces, strict=True) if f == k) for k in "bf"]
        ways[(*sorts, faces.count("s"))] += 1
    return ways


@cache
def drawn(cup: str, brains: str, feet: str) -> dict[tuple[str, str, str], int]:
    """In how many ways three dice come to be in hand: the hand, the cup, and the brains left."""
    if len(cup) < 3 - len(feet):
        cup, brains = "".join(sorted(cup + brains)), ""
    ways: Counter[tuple[str, str, str]] = Counter()
    for taken in combinations(range(len(cup)), 3 - len(feet)):
        hand = "".join(sorted(feet + "".join(cup[die] for die in taken)))
        left = "".join(die for place, die in enumerate(cup) if place not in taken)
        ways[hand, left, brains] += 1
    return ways


def zombie_turns(goal: int) -> float:
    """The mean number of turns of a zombie who plays well, by sweeps over dice of letters."""
    turns = [0.5] * goal + [0.0]
    found: dict[tuple[int, int, str, str, str, int], float] = {}

    def going_on(eaten: int, count: int, cup: str, brains: str, feet: str, shots: int) -> float:
        mean, total = 0.0, 0
        for (hand, left, kept), ways in drawn(cup, brains, feet).items():
            worth = 0.0
            for (more, again, shot), likely in thrown(hand).items():
                here = (eaten, count + len(more), left, "".join(sorted(kept + more)), again)
                worth += likely * after(*here, shots + shot)
            mean += ways * worth / 6**3
            total += ways
        return mean / total

    def after(eaten: int, count: int, cup: str, brains: str, feet: str, shots: int) -> float:
        if shots >= 3:
            return turns[eaten]
        if eaten + count >= goal:
            return 0.0
        state = (eaten, count, cup, brains, feet, shots)
        if state not in found:
            found[state] = turns[eaten]  # three feet lead back to it
            going = going_on(*state)
            found[state] = min(going, turns[eaten + count]) if count else going
        return found[state]

    for eaten in range(goal - 1, -1, -1):
        change = 1.0
        while change > 1e-13:
            before, last = turns[eaten], dict(found)
            for state in last:
                going = going_on(*state)
                found[state] = min(going, turns[eaten + state[1]]) if state[1] else going
            turns[eaten] = 1 + going_on(eaten, 0, CUP, "", "", 0)
            moved = [abs(found[state] - last.get(state, 0.0)) for state in found]
            change = max(abs(turns[eaten] - before), *moved)
        found.clear()
    return turns[0]


def test_zombie_dice_by_hand():
    assert abs(solve(ZombieDice(2)).value - zombie_turns(2)) < 1e-11


def letters(*counts: int) -> str:
    return "".join(die * n for die, n in zip("gyr", counts, strict=True))


@pytest.mark.parametrize(
    "turn",
    [
        Turn(0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 4, 3),
        Turn(0, 2, 0, 1, 0, 1, 1, 1, 0, 4, 2, 2),
        Turn(0, 9, 0, 0, 1, 0, 5, 2, 2, 1, 1, 0),  # exactly as many in the cup as are needed
        Turn(0, 10, 0, 0, 1, 0, 5, 3, 2, 1, 0, 0),  # one too few: the brains go back
        Turn(0, 12, 0, 0, 0, 0, 6, 4, 2, 0, 0, 0),
        Turn(0, 3, 0, 1, 1, 1, 2, 0, 1, 3, 3, 0),  # feet alone: nothing is drawn
    ],
)
def test_zombies_draw_from_the_cup(turn):
    feet, brains, cup = letters(*turn[3:6]), letters(*turn[6:9]), letters(*turn[9:])
    found = {}
    for weight, _, after in ZombieDice().outcomes(turn, GO_ON):
        if weight:
            assert after[:3] == (turn.eaten, turn.brains, 1)
            found[letters(*after[3:6]), letters(*after[9:]), letters(*after[6:9])] = weight
    expected = {
        tuple("".join(sorted(part, key="gyr".index)) for part in key): ways
        for key, ways in drawn(cup, brains, feet).items()
    }
    assert found == expected


def cant_stop_by_hand(n: int, k: int) -> float:
    """The fewest turns of Can't Stop for one: for each board, the fixed point of a turn."""
    lengths = {c: k + 2 * min(c - 2, 2 * n - c) for c in range(2, 2 * n + 1)}
    splits = Counter(
        tuple(sorted({tuple(sorted((t[0] + t[i], sum(t) - t[0] - t[i]))) for i in (1, 2, 3)}))
        for t in product(range(1, n + 1), repeat=4)
    )

    def climb(bank, run, column):
        run = {**run, column: run.get(column, bank.get(column, 0)) + 1}
        return run if len(run) <= 3 and run[column] <= lengths[column] else None

    def moves(bank, run, split):
        for one, other in split:
            alone = [climb(bank, run, one), climb(bank, run, other)]
            both = None if alone[0] is None else climb(bank, alone[0], other)
            yield from [m for m in alone if m is not None] if both is None else [both]

    @cache
    def board(key):
        bank = dict(key)

        def turn(lost):
            @cache
            def rest(key):
                run, mean = dict(key), 0.0
                for split, ways in splits.items():
                    worth = 1 + lost
                    found = list(moves(bank, run, split))
                    if found:
                        worth = min(after(move) for move in found)
                    mean += ways / n**4 * worth
                return mean

            def after(run):
                there = {**bank, **run}
                if sum(there[c] == lengths[c] for c in there) >= 3:
                    return 1.0
                return min(
                    1 + board(tuple(sorted(there.items()))), rest(tuple(sorted(run.items())))
                )

            return rest(())

        turns, before = 1.0, 0.0
        while abs(turns - before) > 1e-14:
            before, turns = turns, turn(turns)
        return turns

    return board(())


@pytest.mark.parametrize(("sides", "shortest"), [(2, 1), (2, 2)])
def test_cant_stop_by_hand(sides, shortest):
    solution = solve(CantStop(sides=sides, shortest=shortest))
    assert abs(solution.value - cant_stop_by_hand(sides, shortest)) < 1e-12


def box_by_hand(tiles: int, one_die: str, once: str) -> Fraction:
    """The least mean of what is left in the box, by the tiles that are open."""

    @cache
    def left(open_tiles: frozenset[int]) -> Fraction:
        if not open_tiles:
            return Fraction(0)
        few = sum(open_tiles) <= 6 if once == "low" else max(open_tiles) <= 6
        numbers = {"never": (2,), "may": (1, 2), "must": (1,)}[one_die if few else "never"]
        return min(mean(open_tiles, n) for n in numbers)

    def mean(open_tiles: frozenset[int], dice: int) -> Fraction:
        throws = [sum(faces) for faces in product(range(1, 7), repeat=dice)]
        return sum(after(open_tiles, throw) for throw in throws) / Fraction(len(throws))

    @cache
    def after(open_tiles: frozenset[int], throw: int) -> Fraction:
        sets = [c for n in range(1, 5) for c in combinations(sorted(open_tiles), n)]
        best = [left(open_tiles - set(c)) for c in sets if sum(c) == throw]
        return min(best, default=Fraction(sum(open_tiles)))

    return left(frozenset(range(1, tiles + 1)))


@pytest.mark.parametrize("once", ["low", "shut"])
@pytest.mark.parametrize("one_die", ["never", "may", "must"])
def test_shut_the_box_by_hand(one_die, once):
    solution = solve(ShutTheBox(tiles=8, one_die=one_die, once=once))
    assert abs(solution.value - box_by_hand(8, one_die, once)) < 1e-12


def test_shut_the_box_as_published():
    assert abs(box_by_hand(9, "never", "low") - 11.157508444203) < 1e-12
    assert abs(box_by_hand(9, "must", "low") - 11.021120546223) < 1e-12


# ---- can't Stop for two, Ship Captain Crew, Ludo and a shut box, against programs by hand


@pytest.mark.parametrize(("shortest", "columns"), [(1, 1), (1, 2)])
def test_cant_stop_for_two_by_hand(shortest, columns):
    solution = solve(CantStopForTwo(sides=2, shortest=shortest, columns=columns))
    chances = cant_stop(2, 2, shortest, columns)[((),) * 2, 0]
    assert solution.error_bound < 1e-12
    assert abs(solution.win_probability - chances[0]) < 1e-12


def ship_by_hand(tries: int, worth) -> float:
    """What Ship, Captain and Crew is worth, by all throws of dice that differ."""

    @cache
    def throw(found, kept, left):
        mean = 0.0
        for faces in product(range(1, 7), repeat=5 - found - len(kept)):
            rest, crew = list(faces), found
            for face in (6, 5, 4):
                if crew == 6 - face and face in rest:
                    rest.remove(face)
                    crew += 1
            choices = [()]
            mine = 0.0
            if crew == 3:
                cargo = (*kept, *rest)
                mine = worth(sum(cargo))
                choices += [(die,) for die in cargo]
            if left > 1:
                ahead = [throw(crew, keep, left - 1) for keep in choices]
                mine = max(mine, *ahead)
            mean += mine
        return mean / 6 ** (5 - found - len(kept))

    return throw(0, (), tries)


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_ship_captain_crew_by_hand(tries):
    assert abs(solve(ShipCaptainCrew(tries)).value - ship_by_hand(tries, float)) < 1e-11


def ludo_by_hand(pieces: int, track: int, sides: int, exact: bool) -> float:
    """The first player's chance in Ludo, by sweeps; a piece is how far it has gone."""
    start = ((0,) * pieces,) * 2
    win = {start: 0.4}

    def passed(mine, theirs):
        return 1 - win.setdefault((theirs, mine), 0.4)

    def after(mine, theirs, piece, face):
        """My chance once a piece has moved; None where it can't."""
        to = 1 if piece == 0 else piece + face
        if (piece == 0 and face < sides) or piece > track or (exact and to > track + 1):
            return None
        to = min(to, track + 1)
        if to <= track and to in mine:
            return None
        moved = list(mine)
        moved[moved.index(piece)] = to
        mine = tuple(sorted(moved))
        if to <= track:
            place = (to + track // 2) % track
            met = [p for p in theirs if 0 < p <= track and p % track == place]
            theirs = tuple(sorted(0 if p in met else p for p in theirs))
        if min(mine) > track:
            return 1.0
        return win.setdefault((mine, theirs), 0.4) if face == sides else passed(mine, theirs)

    change = 1.0
    while change > 1e-14:
        known, change = len(win), 0.0
        for mine, theirs in list(win):
            chance = 0.0
            for face in range(1, sides + 1):
                found = [after(mine, theirs, piece, face) for piece in set(mine)]
                moves = [worth for worth in found if worth is not None]
                chance += max(moves) if moves else passed(mine, theirs)
            change = max(change, abs(chance / sides - win[mine, theirs]))
            win[mine, theirs] = chance / sides
        change += len(win) - known
    return win[start]


@pytest.mark.parametrize(
    ("pieces", "track", "sides", "exact"),
    [(1, 2, 2, False), (1, 8, 6, False), (2, 4, 3, True), (2, 6, 6, False), (3, 4, 4, False)],
)
def test_ludo_by_hand(pieces, track, sides, exact):
    solution = solve(Ludo(pieces, track, sides, exact))
    assert solution.error_bound < 1e-11
    assert abs(solution.win_probability - ludo_by_hand(pieces, track, sides, exact)) < 1e-12


@pytest.mark.parametrize(
    ("tiles", "one_die", "published"),
    [(9, "never", 0.071432), (9, "must", 0.097614), (10, "never", 0.0404380)],
)
def test_the_chance_to_shut_the_box(tiles, one_die, published):
    solution = solve(Chase(ShutTheBox(tiles, one_die), target=0))
    assert abs(solution.win_probability - published) < 5e-7


# ---- red Light, Risk, EinStein and a throw of binary dice, against programs that share nothing


def red_light_by_hand(target: int, greens: int, reds: int, komi: int) -> float:
    """The first player's chance, by sweeps over all positions until nothing changes."""
    shape = target, target + komi, target, greens + 1, reds + 1
    win = np.zeros(shape)  # never holding wins nothing
    change = 1.0
    while change > 1e-15:
        before = win.copy()
        for mine, theirs, turn, green, red in np.ndindex(*shape):
            if red == 0 or mine + turn >= target or theirs >= target:
                continue
            bag = (greens, reds) if red == 1 else (green, red - 1)
            draw = red * (1 - win[theirs, mine, 0, *bag])
            if green:
                over = mine + turn + 1 == target
                draw += green * (1.0 if over else win[mine, theirs, turn + 1, green - 1, red])
            hold = 1 - win[theirs, mine + turn, 0, green, red] if turn else 0.0
            win[mine, theirs, turn, green, red] = max(draw / (green + red), hold)
        change = float(np.abs(win - before).max())
    return float(win[0, komi, 0, greens, reds])


@pytest.mark.parametrize("given", [(3, 3, 2, 0), (4, 4, 2, 1), (4, 2, 1, 1)])
def test_red_light_by_hand(given):
    solution = solve(RedLight(*given))
    assert abs(solution.win_probability - red_light_by_hand(*given)) < 1e-12


@cache
def duels(attacking: int, defending: int) -> list[int]:
    """Of each throw, how many armies the defender loses."""
    found = []
    for mine in product(range(6), repeat=attacking):
        for theirs in product(range(6), repeat=defending):
            won = max(mine) > max(theirs)
            if min(attacking, defending) == 2:
                won += sorted(mine)[-2] > sorted(theirs)[-2]
            found.append(int(won))
    return found


def risk_by_hand(attackers: int, defenders: int, prize: int | None) -> Fraction:
    """The chance to win the land, or the best payoff with a prize and the right to stop."""

    @cache
    def best(mine: int, theirs: int) -> Fraction:
        if mine == 0:
            return Fraction(0 if prize is None else -theirs)
        if theirs == 0:
            return Fraction(1 if prize is None else mine + prize)
        throws = duels(min(mine, 3), min(theirs, 2))
        at_stake = min(mine, theirs, 2)
        after = [best(mine - at_stake + won, theirs - won) for won in range(at_stake + 1)]
        attack = sum(throws.count(won) * worth for won, worth in enumerate(after))
        attack = Fraction(attack) / len(throws)
        return attack if prize is None else max(attack, Fraction(mine - theirs))

    return best(attackers, defenders)


@pytest.mark.parametrize("armies", [(10, 10), (3, 7), (6, 2), (1, 1)])
def test_risk_by_hand(armies):
    land = solve(Risk(*armies, result="land"))
    assert abs(land.win_probability - float(risk_by_hand(*armies, None))) < 1e-12
    for prize in (0, 3):
        assert abs(solve(Risk(*armies, prize)).value - float(risk_by_hand(*armies, prize))) < 1e-12


def einstein_by_hand(size: int, rows: int) -> Fraction:
    """The first player's chance, on a board of rows and columns that doesn't turn round."""
    homes = [(row - right, right) for row in range(rows) for right in range(row + 1)]
    far, corner = [(size - 1 - c, size - 1 - r) for r, c in homes], (size - 1, size - 1)

    @cache
    def chance(mine, theirs, step):
        """Of who moves by this step towards the goal, all pieces on the board by number."""
        if not mine or not theirs:
            return Fraction(bool(mine))
        goal = corner if step == 1 else (0, 0)
        total = Fraction(0)
        for thrown in range(1, len(homes) + 1):
            low = [n for n, _ in mine if n <= thrown][-1:]
            high = [n for n, _ in mine if n >= thrown][:1]
            total += max(
                after(mine, theirs, step, goal, n, (r + dr * step, c + dc * step))
                for n, (r, c) in mine
                if n in low + high
                for dr, dc in ((0, 1), (1, 0), (1, 1))
                if 0 <= r + dr * step < size and 0 <= c + dc * step < size
            )
        return total / len(homes)

    def after(mine, theirs, step, goal, number, to):
        if to == goal:
            return Fraction(1)
        left = [(n, at) for n, at in mine if n != number and at != to]
        other = tuple((n, at) for n, at in theirs if at != to)
        return 1 - chance(other, tuple(sorted([*left, (number, to)])), -step)

    return chance(tuple(enumerate(homes, 1)), tuple(enumerate(far, 1)), 1)


@pytest.mark.parametrize(("size", "rows"), [(2, 1), (3, 1), (3, 2)])
def test_einstein_by_hand(size, rows):
    solution = solve(Einstein(size, rows))
    assert abs(solution.win_probability - float(einstein_by_hand(size, rows))) < 1e-12


def test_binary_dice_and_counted_dice_are_drawn_as_they_lie():
    for path, dice in (("finkel", 4), ("blitz", 4), ("masters", 3)):
        narrator = Narrator(build(RoyalUr(1, path)), game := RoyalUr(1, path))
        for _, throw in game.throws(game.start()):
            marks = [cell.numbers[0] for cell in narrator.throw_cells([throw])]
            assert len(marks) == dice
            assert sum(marks) == (0 if path == "masters" and throw == 4 else throw)
    cells = Narrator(build(Pickomino(3)), Pickomino(3)).throw_cells([0, 2, 0, 0, 0, 1])
    assert [cell.numbers[0] for cell in cells] == [2, 2, 6]


# ---- threes: the rules, the source's tables, and the published mean without refusing


# Seed 004, "The Value Function" (rolling first): simulated, right to about one decimal.
SEED_VALUES = {
    (1, 0): 3,
    (2, 1): 6,
    (2, 0): 4,
    (3, 1): 7,
    (3, 0): 4.8,
    (4, 1): 7,
    (4, 0): 5.3,
    (5, 1): 7,
    (5, 0): 5.6,
}


def before_roll(dice: int, take_two: int = 0) -> Hand:
    return Hand(dice, take_two, 0, 0, 0, 0, 0, 0)


@cache
def naive_value(dice: int, take_two: bool, skip: bool) -> Fraction:
    """Expected points of so many dice, whichever are taken: every roll, every subset."""
    if dice == 0:
        return Fraction(0)
    total = Fraction(0)
    for roll in product((0, 1, 2, 4, 5, 6), repeat=dice):
        worths = [
            sum(taken) + naive_value(dice - n, False, skip)
            for n in range(2 if take_two else 1, dice + 1)
            for taken in set(combinations(roll, n))
        ]
        if skip and not take_two and dice > 1:
            worths.append(naive_value(dice, True, skip))
        total += min(worths)
    return total / 6**dice


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("dice", [1, 2, 3, 4])
def test_taking_other_dice_than_the_lowest_is_never_better(dice, skip):
    # The naive value lets any subset be taken; the rule sheet only the lowest.
    solution = solve(Threes(dice=dice, skip=skip))
    for left in range(1, dice + 1):
        for take_two in (0, 1) if skip and left > 1 else (0,):
            s = solution.find(before_roll(left, take_two))
            exact = naive_value(left, bool(take_two), skip)
            assert abs(Fraction(float(solution.values[s])) - exact) <= solution.error_bounds[s]


def test_the_nine_rows_of_the_source():
    table = solve(Threes()).table("to_roll > 0")
    rows = {(row["to_roll"], row["take_two"]): row["value"] for row in table.to_dicts()}
    assert rows.keys() == SEED_VALUES.keys()
    for key, value in SEED_VALUES.items():
        assert abs(rows[key] - value) < 0.1
    assert 5.6 < rows[5, 0] < 5.7


def test_five_dice_without_refusing_give_the_published_mean():
    # icepool, notebooks/stack_exchange/game_of_threes.ipynb
    solution = solve(Threes(skip=False))
    published = Fraction(504205555, 80621568)
    assert float(published) == 6.253978525944819
    assert abs(Fraction(solution.value) - published) <= solution.error_bound < 1e-11


# ---- what the Royal Game of Ur says of its moves, against its own rules


PATHS = ("finkel", "blitz", "masters")


def moves(game: RoyalUr) -> Iterator[tuple[Race, int, int]]:
    """Some positions, with throws and moves."""
    graph = rollwise.build(game)
    for fields in graph.states[: graph.n_positions : 61].tolist():
        s = Race(*fields[:4])
        for _, throw in game.throws(s):
            for k in game.actions(s, throw):
                yield s, throw, k


def captures(game: RoyalUr, s: Race, square: int) -> int:
    """How many of 16 throws let the mover capture what the other has on a square of its path."""
    weights = [(weight, throw) for weight, throw in game.throws(s)]
    found = 0
    for weight, throw in weights:
        for k in game.actions(s, throw):
            to = k + throw
            if k != SIT_OUT and to <= 16 and meets(game.path == "finkel", to) == square:
                found += weight
                break
    return found * 16 // sum(weight for weight, _ in weights)


@pytest.mark.parametrize("path", PATHS)
def test_danger_and_aims_count_the_throws_that_hit(path: str) -> None:
    game, compared = RoyalUr(pieces=3, path=path), 0
    assert sum(WEIGHTS[path]) == 16
    for s, throw, k in moves(game):
        told = game.action_features(s, throw, k)
        ((_, then, after),) = game.outcomes(s, throw, k)
        on = bits.members(after.theirs if then == PASS else after.mine)
        if then != PASS or k == SIT_OUT or k + throw not in on:
            assert k != SIT_OUT or told["danger"] == told["aims"] == 0
            continue
        compared += 1
        assert told["danger"] == (captures(game, after, k + throw) if told["shared"] else 0)
        before = bits.members(s.theirs)
        assert told["captures"] == (len(tuple(bits.members(after.mine))) < len(tuple(before)))
        assert (told["sends_back"] > 0) == told["captures"]
    assert compared > 100
