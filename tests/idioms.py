"""Rules as newcomers write them: idioms, each a part of a rule sheet that gives a number."""

from __future__ import annotations

# The head of the rule sheet. `@@` stands for the statements of an idiom, which set `x`.
SHEET = '''
import functools
import itertools
import math
from collections import Counter
from enum import Enum, IntEnum
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

import rollwise
from rollwise import LOSE, PASS, WIN, Game, dice, payoff, payoffs, shared, won_by
from helpers import SQUARES, double

GOAL = 30
POINTS = {1: 10, 5: 5}
NAMED = {"low": 1, "high": 3}
PAIRS = {1: (1, 0), 2: (0, 1)}
LISTED = [4, 1, 3]
LONG = [k * k for k in range(80)]
GRID = [[1, 2, 3], [4, 5, 6]]
LUCKY = {2, 5}
FACES = (1, 2, 3, 4, 5, 6)
UNEVEN = ((1, 2), (3,), (4, 5, 6))
SIDES = {0: ((1, 1), (2, 1), (3, 1)), 1: ((1, 1), (3, 2))}
triple = lambda n: 3 * n


class Colour(Enum):
    RED = 1
    BLUE = 2


class Kind(IntEnum):
    LOW = 1
    HIGH = 2


class State(NamedTuple):
    place: int
    board: tuple = (0, 0, 0)
    turn: int = 0
    idiom: int = 0

    def doubled(self):
        return 2 * self.place

    def plus(self, n, by=1):
        return self.doubled() // 2 + n * by

    def cells(self):
        for cell in self.board:
            yield cell

    def moved(self):
        return self._replace(place=self.place + 1)

    @property
    def is_late(self):
        return self.place > 2

    @property
    def total(self):
        return sum(self.cells()) + self.is_late


def far(state):
    return state.total + state.plus(2)


class Numbers:
    low = 2


def step(n, by=1):
    return n + by


def steps(n):
    return step(step(n))


def faces(n):
    for face in range(1, n + 1):
        yield face


def all_faces(n):
    yield from faces(n)
    yield from (7, 8)


def few(n):
    if n > 2:
        return (1, 2, 3)
    return (n, 1)


def add(*numbers):
    total = 0
    for number in numbers:
        total += number
    return total


def largest(*numbers):
    return max(numbers)


def scaled(n, *, by):
    return n * by


def adder(k):
    def add_k(n):
        return n + k

    return add_k


add_five = adder(5)


@functools.cache
def kept(n):
    return n * n


def tally(numbers):
    counts = {}
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    return counts


def counted(numbers):
    found = Counter(numbers)
    return found


def between(low, middle, high):
    return low + 3 * middle + 9 * high


def is_full(board):
    return all(cell > 0 for cell in board)


class Own(Game):
    """A game for idioms."""

    sizes = (1, 2, 4)
    rows: ClassVar = ((1, 2), (5,))
    weights: ClassVar = [3, 2, 1]
    prices: ClassVar = {1: 2, 2: 5}
    players = 2

    def start(self):
        return State(0, (1, 0, 2), 0)

    def actions(self, s):
        return range(2)

    def twice(self, n):
        return 2 * n

    def alike(self, numbers):
        return Counter(numbers)

    @staticmethod
    def still(n):
        return n

    @classmethod
    def smallest(cls):
        return 1

    @property
    def goal(self):
        return 12

    def outcomes(self, s, action):
        board = s.board
        @@
        then = WIN if s.place >= 6 else PASS
        yield 1, then, State(min(s.place + 1, 9), s.board, x, s.idiom)
        yield 2, then, State(min(s.place + 2, 9), s.board[1:] + s.board[:1], 0)
'''

# Its neighbour, helpers.py.
HELPERS = """
SQUARES = [0, 1, 4, 9, 16]


def half(n):
    return n // 2


def double(n):
    return half(4 * n)
"""

HEAD = SHEET.partition("    def outcomes(")[0]
METHOD = """
    def idiom_@k(self, s, action):
        board = s.board
        @@
        return x
"""
ALL = """
    def roots(self):
        for idiom in range(@n):
            yield State(0, (1, 0, 2), 0, idiom)

    def outcomes(self, s, action):
        x = 0
@choice
        then = WIN if s.place >= 6 else PASS
        yield 1, then, State(min(s.place + 1, 9), s.board, x, s.idiom)
"""


def sheet_of(idioms: list[str]) -> str:
    """A rule sheet with a method for each idiom; a play from each root uses one of them."""
    methods = [
        METHOD.replace("@k", str(k)).replace("@@", idiom.replace("\n", "\n        "))
        for k, idiom in enumerate(idioms)
    ]
    choice = "\n".join(
        f"        if s.idiom == {k}:\n            x = self.idiom_{k}(s, action)"
        for k in range(len(idioms))
    )
    last = ALL.replace("@n", str(len(idioms))).replace("@choice", choice)
    return HEAD + "".join(methods) + last


COMPILED = [
    # plain helpers
    "x = step(s.place)",
    "x = step(s.place, by=3)",
    "x = steps(s.place)",
    "x = double(s.place)",
    "x = triple(s.place)",
    "x = add_five(s.place)",
    "x = kept(s.place)",
    "x = 1 if is_full(board) else 0",
    "x = self.twice(s.place)",
    "x = self.still(s.place)",
    "x = add(s.place, 1, 2)",
    "x = add(*board) + largest(*board) + largest(s.place, 2)",
    "x = scaled(s.place, by=2)",
    "x = 0\nfor face in all_faces(6):\n    x += face",
    "def square(n):\n    return n * n\nx = square(s.place)",
    # constants
    "x = LISTED[s.place % 3]",
    "x = LONG[s.place]",
    "x = SQUARES[s.place % 5]",
    "x = GRID[s.place % 2][1]",
    "x = POINTS.get(s.place, 1)",
    "x = POINTS[1] if 1 in POINTS else 0",
    "x = sum(POINTS.values())",
    "x = 1 if s.place in LUCKY else 0",
    "x = 1 if s.place in LISTED else 0",
    "x = len(LISTED)",
    "x = sum(a * b for a, b in zip(LISTED, board))",
    "x = self.sizes[s.place % 3]",
    "x = self.weights[s.place % 3]",
    "x = self.prices.get(s.place, 0)",
    "x = Own.sizes[1] + Numbers.low",
    "x = max(FACES) + GOAL",
    "x = Kind.HIGH + 1 if s.place == Kind.LOW else 0",
    # tuples
    "x = board.count(0)",
    "x = board.index(0) if 0 in board else 7",
    "k = s.place % 3\nx = sum(board[:k])",
    "k = s.place % 3\nafter = board[:k] + (9,) + board[k + 1:]\nx = after[k]",
    "k = s.place % 3\nx = State(0, board[:k] + (9,) + board[k + 1:]).board[k]",
    "x = State(0, tuple(cell + 1 for cell in board), 0).board[2]",
    "x = tuple(sorted(board))[0]",
    "x = sorted(board, reverse=True)[0]",
    "new = list(board)\nnew[s.place % 3] = 5\nx = State(0, tuple(new), 1).board[0]",
    "first, *rest = board\nx = first + rest[1]",
    "first, second, third = board\nx = third",
    "both = (*board, 4)\nx = both[3]",
    "x = s._replace(place=4).place",
    "x = State(place=2).turn",
    "x = board[-1]",
    "x = 1 if board == (1, 0, 2) else 0",
    # numbers
    "x = sum(board)",
    "x = sum(1 for cell in board if cell == 0)",
    "x = sum(cell * cell for cell in board)",
    "x = max(board) - min(board)",
    "x = max(cell + 1 for cell in board)",
    "x = 1 if any(cell == 0 for cell in board) else 0",
    "x = 1 if all(board) else 0",
    "x = 1 if any(board) else 0",
    "x = max([s.place, 3])",
    "x = min((cell for cell in board if cell > 5), default=8)",
    "x = math.comb(s.place, 2)",
    "x = s.place.bit_count()",
    "x = abs(s.place - 3) + divmod(s.place, 2)[1] + round(2.5)",
    "x = len([cell for cell in board if cell])",
    "x = len({cell for cell in board})",
    "x = len(set(board))",
    "x = 1 if 0 < s.place < 3 else 0",
    "x = int(s.place > 2) + bool(board[0])",
    "if (y := s.place + 1) > 2:\n    x = y\nelse:\n    x = 0",
    "match s.place:\n    case 1 | 2:\n        x = 4\n    case _:\n        x = 5",
    # dice
    "x = 0\nfor a, b in itertools.product(range(1, 7), repeat=2):\n    if a == b:\n        x += 1",
    "x = 0\nfor throw in itertools.product(FACES, FACES, FACES):\n    x += throw[0] == throw[2]",
    "x = 0\nfor a, b in itertools.combinations(board, 2):\n    x += a * b",
    "x = 0\nfor ways, total in dice.total(2, 6):\n    x += ways * (total == 7)",
    "x = [total for ways, total in dice.total(2, 6)][3]",
    "x = max(total for ways, total in dice.total(2, 6) if total < 11)",
    "x = 0\nfor i, cell in enumerate(board):\n    x += i * cell",
    "x = 0\nfor cell in reversed(board):\n    x = x * 3 + cell",
    "x = 0\nwhile x < 5:\n    x += 2",
    "x = won_by(1) % 7 + shared(2, 1, 0) % 5",
    "x = won_by(s.place % 3) % 7",
    "x = payoff(3) % 5",
    "x = self.goal",
    "x = self.smallest()",
    "x = sum(a * b for a, b in POINTS.items())",
    "x = 0\nfor a, (b, c) in PAIRS.items():\n    x += a * b - c",
    "x = NAMED['high'] + NAMED['low']",
    "x = Kind.HIGH",
    "x = len((1, 2) if s.place else (1,))",
    "x = 0\nfor n in few(s.place):\n    x += n",
    "x = won_by(*[k for k, cell in enumerate(board) if cell]) % 7",
    "x = payoffs(*[cell - 1 for cell in board]) % 7 + shared(*[2, 1, 0]) % 5",
    "x = 0\nfor kind in Kind:\n    x += kind",
    "x = (State(s.place > 1) if s.turn else s._replace(turn=s.place > 2)).place",
    "x = len(list(Kind)) + sum(2 * kind for kind in Kind) + (*Kind, 4)[1]",
    # keys, counts and the first of several
    "x = max(range(3), key=lambda k: board[k])",
    "x = max(board, key=lambda cell: (cell == 2, cell))",
    "x = sorted(range(3), key=lambda k: -board[k])[0]",
    "x = sorted([1, 2, 3, 4, 5], key=lambda k: k % 2, reverse=True)[s.place % 5]",
    "x = sorted(board, key=step)[0] + min(board, key=self.twice)",
    "x = next((k for k, cell in enumerate(board) if cell == 9), -1)",
    "x = next(k for k, cell in enumerate(board) if cell == 0)",
    "counts = Counter(board)\nx = counts[0] + 4 * counts[7] + max(counts.values()) + len(counts)",
    "counts = Counter(board)\ncounts[9] += 3\nx = max(counts, key=lambda k: (counts[k], k))",
    "counts = Counter()\nfor cell in board:\n    counts[cell] += 2\nx = counts[2] + counts[8]",
    "x = sum(k * n for k, n in Counter(cell % 2 for cell in board).items())",
    "x = sorted(Counter(board).items())[0][0]",
    "x = Counter(board)[9] + 2 * (1 in Counter(board).values()) + (1 in Counter(board).keys())",
    "x = counted(board)[9] + 2 * self.alike(board)[0] + len(self.alike(board))",
    "counts = counted(board)\ncounts[9] += 3\nx = counts[9] + counts[8]",
    "counts = dict()\nfor cell in board:\n    counts[cell] = counts.get(cell, 0) + 1\n"
    "x = (counts.get(9) or 3) + counts.get(0, 5)",
    "x = between(*sorted(board)) + between(s.place, *board[1:]) + between(*(2, 1, 3))",
    "x = between(*(cell % 2 for cell in board)) + self.twice(*sorted(board)[:1])",
    "x = max(tally(board).values()) + sum(tally(board).values()) + sum(self.prices.values())",
    "x = sum(faces(s.place))",
    "x = math.prod(cell + 1 for cell in board) + math.factorial(4)",
    "x = LISTED.index(3) + FACES.index(s.place % 6 + 1)",
    "x = sum(1 for _ in itertools.combinations(range(4), 2))",
    "x = (3, 4)[s.place > 1]",
    "x = Kind.HIGH.value + (Kind(1 + s.place % 2) == Kind.LOW)",
    "x = sum(self.prices[k] for k in self.prices) + max(self.prices)",
    # patterns of tuples
    """match s.place, board[0]:
    case 0, 1:
        x = 4
    case (p, 1 | 2) if p > 2:
        x = p + 20
    case (Kind.LOW | Kind.HIGH, _):
        x = 5
    case (_, first):
        x = first + 10""",
    """match board:
    case (0, *_):
        x = 1
    case [first, _, last] if first == last + 1:
        x = first
    case (1, *_, 2) | (2, _, _):
        x = 7
    case _:
        x = 3""",
    """match board:
    case (1, 0 as zero, last):
        x = last + zero
    case _:
        x = 9""",
    """match s.place % 3, (s.turn, board):
    case 0, (_, (1, _, n)):
        x = n
    case 1, (turn, cells):
        x = turn + len(cells) + 4
    case both:
        x = both[0] + both[1][1][2]""",
    """match s:
    case State(place=0 | 1, turn=0):
        x = 4
    case State(place, (1, *_), turn) if place > turn + 3:
        x = place + turn
    case State(board=(_, _, last), idiom=1 | 12):
        x = last + 1
    case State():
        x = 2""",
    # methods and properties of states
    "x = s.doubled() + s.plus(2) + s.plus(3, by=2)",
    "x = sum(s.cells()) + max(cell + s.total for cell in s.cells())",
    "x = s.moved().moved().place if s.is_late else s.total",
    "x = State(s.place, board).total + far(s)",
    "x = sorted(range(3), key=lambda k: s.plus(-k))[0] + (s.is_late and not s.moved().is_late)",
    # tuples of several lengths
    "x = UNEVEN[s.place % 3][0] + len(UNEVEN) + UNEVEN[-1][2]",
    "x = sum(n for row in UNEVEN for n in row) + max(len(row) for row in UNEVEN)",
    "a, b = UNEVEN[0]\nx = a * b + (UNEVEN[1] + board)[3]",
    "x = 0\nfor row, cell in zip(UNEVEN, board):\n    x += row[0] * cell",
    "x = sum(weight for weight, face in SIDES[s.place % 2])",
    "x = self.rows[s.place % 2][0] + (s.place in UNEVEN[s.place % 3])",
]
