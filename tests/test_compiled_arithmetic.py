"""What compiled rules answer: as Python does, or an error or a warning; never otherwise."""

from __future__ import annotations

import enum
import linecache
import math
import re
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from rollwise import AGAIN, END, Game
from rollwise.builders import build_with_report
from rollwise.errors import RulesDiffer, UsageError
from rollwise.graph import StateGraph

pytestmark = pytest.mark.needs_jit

SMALL = np.array([100, 3], np.int8)
BYTES = np.array([200, 3], np.uint8)
WIDE = np.array([2**62, 5])
SHORT = np.int32(2**31 - 1)
BIG = np.int64(2**62)
TRUTHS = np.array([True, False])
FACES = (1, 2, 5)


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 7


class Place(NamedTuple):
    x: int
    y: int


def twice(n):  # type: ignore[no-untyped-def]
    return 2 * n


# As Python has it, compiled: x goes from 0 to 70, y from 0 to 1008.
SAME = """
s.x + s.y
s.x - s.y
s.x * s.y * 1000
-s.x
abs(-s.x) + abs(s.x - 5)
(7 - s.x) // 3
(7 - s.x) % 3
(7 - s.x) // -3
(7 - s.x) % -3
divmod(7 - s.x, 3)[1]
s.x / 3
s.x / 7 * 21
s.x ** 2
s.x ** 3 - s.y ** 2
(-2) ** (s.x % 60)
2 ** (s.x % 62)
0 ** s.x
1 ** -s.x if s.x == 0 else 1
pow(s.x, 3)
0.5 ** s.x * 1000
(s.x * 1.1) ** 2
(s.x * 1.1) ** 0.5 * 100
1.5 ** -s.x * 1000
1 << (s.x % 60)
-1 << (s.x % 60)
s.x >> 1
1 >> s.x
-5 >> s.x
(s.x & 6) | (s.y ^ 3)
~s.x
1e16 * s.x
math.floor(s.x * 0.1 + 0.05)
math.ceil(s.x * 0.1 - 0.05)
math.trunc(-s.x * 0.3)
int(-s.x * 0.3)
round(s.x * 0.5)
round(s.x / 8, 2) * 100
math.sqrt(s.x) * 100
math.exp(s.x * 0.1) * 100
math.log(s.x + 1) * 1000
math.sin(s.x) * 100
math.gcd(s.x, 12)
min(s.x, 2.5) * 2
max(s.x, 3, s.y)
sum((s.x, s.y, 5))
sum([f for f in FACES if f > 1])
len("abc" * s.x)
ord("a") + s.x
FACES[s.x % 3] + FACES[-1]
s.x if s.x > 3 else s.y
(s.x > 3) + (s.y > 2)
(s.x > 3) * 5
-(s.x > 3)
(s.x > 3) and (s.y > 2)
not s.x
3 < s.x < 9
s.x in FACES
s.x == 3.0
Colour.BLUE + s.x
Colour.RED * s.x
(Colour.RED == 1) + 0
twice(twice(s.x))
SMALL[s.x % 2] - 5
SMALL[1] * 2 + s.x % 20
SHORT - s.x
int(SMALL[s.x % 2]) - 3
int(SHORT) + s.x
TRUTHS[s.x % 2] * 3
BIG - s.x
WIDE.sum() + s.x
WIDE[s.x % 2] - 4
2**62 - s.x
9007199254740993 % (s.x + 1)
float(s.x) * 3
hash(s.x)
bool(s.x) + 0
(s.x < 3.5) + (2.0 != s.x)
(s.y >= s.x * 1.0) + (True == 1.0)
max(2.5, s.x, 7)
s.x if s.x > 3 else 0.5
"""

# Python has another answer than 64 bits do.
BEYOND = """
2 ** s.x
2 ** -s.x * 1000
pow(2, s.x)
pow(2, -s.x) * 1000
s.x ** 40
1 << s.x
(s.x + 1) << 60
s.x * s.x * 10 ** 17
s.x * 2 ** 62
3 ** 40 * (s.x + 1)
2 ** 62 + 2 ** 61 * s.x
-(2 ** 62) - 2 ** 62 - s.x
int(1e19) + s.x
int(1e18 * s.x)
round(1e18 * s.x)
math.floor(1e18 * s.x)
sum((s.x, 2 ** 62, 2 ** 62))
(2 ** 60 + s.x) / 3
SMALL[s.x % 2] * 3
SMALL[s.x % 2] + 50
SMALL[s.x % 2] + SMALL[0]
SMALL[1] - 100 - 50
2 ** 70 % (s.x + 2)
BYTES[1] - 5 + s.x
BYTES[s.x % 2] * 2
SHORT + s.x
SHORT * SHORT
BIG * 2 + s.x
WIDE[s.x % 2] * 4
~(s.x > 3)
round(2.675 * s.x, 2) * 1000
TRUTHS[0] + TRUTHS[s.x % 2]
(2 ** 53 + s.x % 2 == 2.0 ** 53) + 0
(2.0 ** 53 < 2 ** 53 + s.x % 2) + 0
(2 ** 53 + 1 + s.x) / 3 * 4
min(2 ** 53 + s.x, 1e300)
2 ** 53 + s.x if s.x > 3 else 0.5
sum(map(lambda k: k * 2 ** 62, (s.x, 1)))
"""


# Numbers beyond 64 bits that the rules name.
NEITHER = """
10 ** 19 * s.x
10 ** 19 % (s.x + 1)
10 ** 19 - s.x
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def game_of(expressions: list[str]) -> Any:
    """A game that goes where one of the expressions says; which one is a parameter."""
    branches = "".join(
        f"        {'el' * (i > 0)}if self.which == {i}:\n            n = int({line}) % 1009\n"
        for i, line in enumerate(expressions)
    )
    source = (
        "class Sums(Game):\n"
        "    which: int = 0\n"
        "    players = 1\n"
        "    objective = 'maximize'\n"
        "    def start(self):\n        return Place(0, 0)\n"
        "    def actions(self, s):\n        yield 0\n"
        f"    def outcomes(self, s, action):\n        n = 0\n{branches}"
        "        if s.x >= 70:\n            yield 1, END, s\n"
        "        else:\n            yield 1, AGAIN, Place(s.x + 1, n)\n"
        "            yield 2, AGAIN, Place(s.x + 2, 0)\n"
    )
    file = f"<sums {hash(source)}>"  # as cells of notebooks are kept
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {**globals(), "AGAIN": AGAIN, "END": END, "math": math}
    scope["__annotations__"] = {}
    exec(compile(source, file, "exec", dont_inherit=True), scope)
    return dataclass(frozen=True)(scope["Sums"])


def graph_of(game: Game, mode: Any) -> StateGraph:
    with np.errstate(all="ignore"):
        return build_with_report(game, mode=mode)[0]


def compiled_and_plain(game: Game) -> tuple[str, str | None]:
    """The hash of the graph as interpreted, and as compiled; None where that is refused."""
    plain = graph_of(game, "interpreted").content_hash
    try:
        return plain, graph_of(game, "compiled").content_hash
    except (UsageError, RulesDiffer) as refused:
        error = refused
    if isinstance(error, RulesDiffer):
        assert error.exit_code == 1
        assert re.search(r"in the state x=\d+, y=\d+", str(error))
        assert "--mode interpreted" in str(error)
    return plain, None


QUICK = 12  # of the lines, one of so many is tried by the quick tests


def tried(all_lines: str) -> list[Any]:
    """Each line with the game that it is in: one of some quick ones, and one of the others."""
    found, every = [], lines(all_lines)
    for quick in (True, False):
        chosen = [line for i, line in enumerate(every) if (i % QUICK == 0) is quick]
        game = cache(partial(game_of, chosen))
        marks = () if quick else pytest.mark.slow
        params = enumerate(chosen)
        found += [pytest.param(game, which, marks=marks, id=line) for which, line in params]
    return found


@pytest.mark.parametrize(("game", "which"), tried(SAME))
def test_compiled_arithmetic_is_pythons(game, which):
    plain, compiled = compiled_and_plain(game()(which))
    assert compiled == plain


@pytest.mark.parametrize(("game", "which"), tried(BEYOND))
def test_what_goes_beyond_64_bits_is_refused(game, which):
    _, compiled = compiled_and_plain(game()(which))
    assert compiled is None


@pytest.mark.slow
@pytest.mark.parametrize("line", lines(NEITHER))
def test_what_compiled_rules_take_for_a_float_is_interpreted(line):
    with pytest.raises(UsageError, match="64 bits"):
        graph_of(game_of([line])(), "compiled")
