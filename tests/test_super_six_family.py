"""The versions of Super Six against a twin with real holes, and the game far from its end."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, NamedTuple

import naive
import pytest

from rollwise import AGAIN, PASS, WIN, Game, build, parameter, solve
from rollwise.games.super_six import STOP, THROW, SuperSix
from rollwise.graph import ARRAYS
from rollwise.methods import run_method

pytestmark = pytest.mark.slow

PHASES = ("middle", "begin", "first", "second")  # in the order of the field `forced`

ONE_EACH = [
    {},
    {"holes": 3},
    {"holes": 2},
    {"bottom": True},
    {"may_stop": 0},
    {"take_all": True},
    {"one_each": True},
]
TOGETHER = [
    {"bottom": True, "take_all": True, "one_each": True},
    {"holes": 5, "may_stop": 0, "take_all": True, "one_each": True},
    {"holes": 3, "bottom": True, "may_stop": 0},
]
ALWAYS = [{"may_stop": 2}, {"may_stop": 2, "holes": 3, "one_each": True, "take_all": True}]


class Table(NamedTuple):
    full: frozenset[int]  # which holes hold a stick
    mine: int
    theirs: int
    phase: str


def twin(
    sticks: int,
    holes: int = 6,
    bottom: bool = False,
    may_stop: int = 1,
    take_all: bool = False,
    one_each: bool = False,
) -> dict[Table, list[naive.Move]]:
    """The recursion of a version, face by face, with every hole for itself."""

    def throw(at: Table) -> naive.Move:
        constant, after = Fraction(0), {}
        then_begins = "second" if at.phase == "first" else "begin"
        for face in range(1, holes + 1):
            swallowed = face == holes and not bottom
            sign = -1
            if face in at.full:
                taken = at.full if take_all else {face}
                hand = at.mine + len(taken)
                table = Table(at.full - taken, at.theirs, hand, then_begins)
            elif at.mine == 1:
                constant += Fraction(1, holes)
                continue
            else:
                full = at.full if swallowed else at.full | {face}
                if at.phase in ("first", "second"):
                    table = Table(full, at.theirs, at.mine - 1, then_begins)
                else:
                    sign, table = 1, Table(full, at.mine - 1, at.theirs, "middle")
            after[table] = after.get(table, 0) + Fraction(sign, holes)
        return naive.Move(THROW, constant, after)

    first = "first" if one_each else "begin"
    pending = [Table(frozenset(), sticks // 2, sticks - sticks // 2, first)]
    moves: dict[Table, list[naive.Move]] = {}
    while pending:
        at = pending.pop()
        if at in moves:
            continue
        moves[at] = [throw(at)]
        if (at.phase == "middle" and may_stop > 0) or (at.phase == "begin" and may_stop == 2):
            passed = Table(at.full, at.theirs, at.mine, "begin")
            moves[at].append(naive.Move(STOP, Fraction(0), {passed: Fraction(-1)}))
        pending += [table for move in moves[at] for table in move.coefficients]
    return moves


def number(solution, at: Table) -> int:
    return solution.find((len(at.full), at.mine, at.theirs, PHASES.index(at.phase)))


def ident(given: dict) -> str:
    return " ".join(f"{k}={v}" for k, v in given.items()) or "as published"


@pytest.mark.parametrize("given", [*ONE_EACH, *TOGETHER], ids=ident)
def test_exact_fractions_against_a_lid_with_real_holes(given):
    small = {"holes": 4, **given}
    truth = naive.exact_values(twin(5, **small))
    solution = solve(SuperSix(sticks=5, **small))
    exact = run_method(solution.graph, "exact").fractions
    for at, value in truth.items():
        s = number(solution, at)
        assert exact[s] == value
        bound = Fraction(solution.error_bounds[s].item())
        assert abs(Fraction(solution.values[s].item()) - value) <= bound


@pytest.mark.parametrize("given", ALWAYS, ids=ident)
def test_players_who_never_throw_draw(given):
    """As if each move ended the game in a draw with a tiny chance (Everett 1957)."""
    small = {"holes": 3, **given}
    goes_on = 1 - Fraction(1, 10**9)
    moves = {
        at: [
            m._replace(coefficients={t: goes_on * c for t, c in m.coefficients.items()})
            for m in options
        ]
        for at, options in twin(5, **small).items()
    }
    truth = naive.exact_values(moves)
    solution = solve(SuperSix(sticks=5, **small))
    off = [abs(solution.values[number(solution, at)] - float(v)) for at, v in truth.items()]
    assert max(off) < 1e-7
    stands_off = [at for at, v in truth.items() if abs(v) < 1e-7 and at.phase == "begin"]
    assert any(len(at.full) >= 2 for at in stands_off) == ("take_all" in given)


@pytest.mark.needs_jit
@pytest.mark.parametrize("given", [*ONE_EACH, *TOGETHER, *ALWAYS], ids=ident)
def test_interpreted_and_compiled(given):
    game = SuperSix(sticks=11, **given)
    interpreted, compiled = (build(game, mode=mode) for mode in ("interpreted", "compiled"))
    for name in ARRAYS:
        assert getattr(interpreted, name).tobytes() == getattr(compiled, name).tobytes(), name
    assert interpreted.content_hash == compiled.content_hash


class Six(NamedTuple):
    lid: int
    mine: int
    theirs: int
    forced: int


@dataclass(frozen=True)
class Published(Game):
    """The published rules, as the rule sheet had them before it had versions."""

    sticks: int = parameter(10)
    name: ClassVar = "super-six"
    action_names: ClassVar = ("throw", "stop")

    def start(self) -> Six:
        return Six(0, self.sticks // 2, self.sticks - self.sticks // 2, 1)

    def roots(self) -> Iterator[Six]:
        for lid in range(6):
            for mine in range(1, self.sticks - lid):
                for theirs in range(1, self.sticks - lid - mine + 1):
                    yield Six(lid, mine, theirs, 0)
                    yield Six(lid, mine, theirs, 1)

    def actions(self, s: Six) -> Iterator[int]:
        yield THROW
        if s.forced == 0:
            yield STOP

    def outcomes(self, s: Six, action: int) -> Iterator[tuple[int, int, Six]]:
        if action == STOP:
            yield 1, PASS, Six(s.lid, s.theirs, s.mine, 1)
        else:
            yield s.lid, PASS, Six(s.lid - 1, s.theirs, s.mine + 1, 1)
            if s.mine == 1:
                yield 6 - s.lid, WIN, s
            else:
                yield 5 - s.lid, AGAIN, Six(s.lid + 1, s.mine - 1, s.theirs, 0)
                yield 1, AGAIN, Six(s.lid, s.mine - 1, s.theirs, 0)

    def progress(self, s: Six) -> int:
        return self.sticks - s.lid - s.mine - s.theirs


@pytest.mark.parametrize("sticks", [2, 3, 9, 14])
def test_the_published_rules_give_the_same_graph_as_before(sticks):
    before, now = (build(kind(sticks), mode="interpreted") for kind in (Published, SuperSix))
    for name in ARRAYS:
        assert getattr(before, name).tobytes() == getattr(now, name).tobytes(), name
    assert before.content_hash == now.content_hash
    assert now.title == f"super-six sticks={sticks}"


@pytest.fixture
def study(monkeypatch):
    """Modules of the case studies."""
    studies = Path(__file__).parent.parent / "docs" / "case-studies"
    monkeypatch.syspath_prepend(str(studies))
    return importlib.import_module


def test_the_worth_of_the_lid_by_faces(study):
    """The equation of the game far from its end, written down by hand for the published rules."""
    far = study("super_six_limit").limit_of(SuperSix())
    throw = [far.worth[lid, 1] for lid in range(6)]
    choose = [max(w, -w) for w in throw]
    for lid in range(6):
        total = Fraction(0)
        for face in range(1, 7):
            if face == 6:
                total += 1 + choose[lid]
            elif face <= lid:  # full
                total += -1 - throw[lid - 1]
            else:
                total += 1 + choose[lid + 1]
        assert throw[lid] == total / 6
    assert far.stops == (3, 4, 5)
    assert [far.visits[lid] for lid in range(6)] == [
        Fraction(math.comb(5, k), 32) for k in range(6)
    ]
