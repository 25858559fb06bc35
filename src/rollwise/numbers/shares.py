"""The results of an ending for several players, in one number.

`rollwise.won_by`, `rollwise.shared` and `rollwise.payoffs` write the number, rules yield it as a
payoff, and `brought` reads it. 1 is a win of the mover, -1 a loss (the others share), 0 a draw (all
share). Evenly sharing winners are the bits of a whole number below 2^16. Other shares are the
digits of one from 2^49 on: it is 2^48 times the number of seats, plus a whole number for each
seat, of 48 bits together. Both are times 2^-1018. Payoffs are digits too, each plus half of the
range of its digits, times 2^-1040. Payoffs of games for two are larger than all of these, so that
the two can't be confused. Doubles hold all of them exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ldexp
from typing import Any

BITS = 48  # of the digits together
MOST_PLAYERS = 16
SCALE = 1040  # payoffs are 2^-1040 times a whole number
SHARES_SCALE = 1018  # shares are 2^-1018 times one
SMALLEST, SMALL = 2.0**-1018, 1e-290  # bounds of all of them


class UnknownNumber:
    """The base of numbers that stand for many in a proof: see `rollwise.numbers.unknown`."""

    __slots__ = ()


class UnknownPayoff:
    """The `then` of an outcome that ends the game with an unknown payoff."""

    def __init__(self, points: Any) -> None:
        self.points = points


def seat_names(players: int) -> list[str]:
    """The names of the seats in the view of the mover."""
    return ["the mover", "the next", *(f"{k} after" for k in range(2, players))]


def digit_bits(players: int) -> int:
    """How many bits a seat has for its part."""
    return BITS // players


def most_payoff(players: int) -> int:
    """How large a payoff of a seat may be."""
    return (1 << digit_bits(players) - 1) - 1


def code_of_winners(seats: Sequence[int]) -> float:
    """The number of an even share."""
    code = sum(1 << seat for seat in set(seats))
    return 1.0 if code == 1 else ldexp(code, -SHARES_SCALE)


def code_of_shares(parts: Sequence[int]) -> float:
    """The number of shares, from the mover on."""
    return ldexp(code_of_parts(parts), -SHARES_SCALE)


def code_of_parts(parts: Sequence[int]) -> int:
    """Whole numbers from 0, from the mover on, as the digits of one."""
    bits = digit_bits(len(parts))
    return (len(parts) << BITS) + sum(part << k * bits for k, part in enumerate(parts))


def code_of_payoffs(numbers: Sequence[int]) -> float:
    """The number of payoffs, from the mover on."""
    half = most_payoff(len(numbers)) + 1
    return ldexp(code_of_parts([number + half for number in numbers]), -SCALE)


def is_payoffs(payoff: Any) -> Any:
    """Whether it is the number of payoffs, one a seat; of an array, too."""
    least = 2.0 ** (BITS + 1 - SCALE)
    return (least <= payoff) & (payoff < MOST_PLAYERS * least)


def is_of_seats(payoff: float) -> bool:
    """Whether it says something of each of several seats."""
    return SMALLEST <= payoff < SMALL


def winners_of(payoff: float) -> list[int]:
    """The evenly sharing winners; none for a number of another kind."""
    code = int(ldexp(payoff, SHARES_SCALE)) if is_of_seats(payoff) else 0
    return [seat for seat in range(MOST_PLAYERS) if code >> seat & 1 and code < 1 << MOST_PLAYERS]


def digits_of_seats(payoff: float) -> list[int]:
    """The parts of a share, or the payoffs, from the mover on."""
    if not is_payoffs(payoff):
        return _digits_of(int(ldexp(payoff, SHARES_SCALE)))
    code = int(ldexp(payoff, SCALE))
    half = most_payoff(code >> BITS) + 1
    return [digit - half for digit in _digits_of(code)]


def brought(payoff: float, players: int) -> tuple[Fraction, ...]:
    """The result of each seat, from the mover on: its share of a win, or its payoff.

    Empty if the number isn't for this number of seats.
    """
    if is_payoffs(payoff):
        numbers = digits_of_seats(payoff)
        return tuple(map(Fraction, numbers)) if len(numbers) == players else ()
    parts = _parts(payoff, players)
    total = sum(parts)
    return tuple(Fraction(part, total) for part in parts) if total else ()


def shares_of(payoff: float, players: int) -> tuple[float, ...]:
    """The same as floats."""
    return tuple(map(float, brought(payoff, players)))


def _digits_of(code: int) -> list[int]:
    """The whole numbers combined by `code_of_parts`."""
    players = code >> BITS
    bits = digit_bits(players)
    return [code >> seat * bits & (1 << bits) - 1 for seat in range(players)]


def _parts(payoff: float, players: int) -> list[int]:
    if payoff in (-1.0, 0.0, 1.0):
        return [int((seat == 0) == (payoff == 1.0) or payoff == 0.0) for seat in range(players)]
    if not is_of_seats(payoff):
        return []
    if winners := winners_of(payoff):
        fits = winners[-1] < players
        return [int(seat in winners) for seat in range(players)] if fits else []
    digits = digits_of_seats(payoff)
    return digits if len(digits) == players else []
