"""The versions of Super Six against a twin with real holes, and the game far from its end."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import naive
import pytest

from rollwise import build, solve
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
@pytest.mark.parametrize("given", [*TOGETHER, ALWAYS[1]], ids=ident)
def test_interpreted_and_compiled(given):
    game = SuperSix(sticks=11, **given)
    interpreted, compiled = (build(game, mode=mode) for mode in ("interpreted", "compiled"))
    for name in ARRAYS:
        assert getattr(interpreted, name).tobytes() == getattr(compiled, name).tobytes(), name
    assert interpreted.content_hash == compiled.content_hash
