"""What an ending brings each of several players, in one number.

`rollwise.won_by`, `rollwise.shared` and `rollwise.payoffs` write the number, which rules yield as a
payoff, and `brought` reads it. 1 is a win of the mover, -1 a loss (the others share), 0 a draw (all
share). Winners who share evenly are the bits of a whole number below 2^16. Other shares are the
digits of one from 2^49 on: it is 2^48 times the number of seats, plus a whole number for each
seat, of 48 bits together. Payoffs are the same, each plus half of what its digits can be, times
2^-1040: no payoff of a game for two is so small. Doubles hold all of these exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ldexp

BITS = 48  # of the digits together
MOST_WINNERS = 16
SCALE = 1040  # payoffs are 2^-1040 times a whole number
SMALLEST, SMALL = 1e-300, 1e-290  # what they lie between


def digit_bits(players: int) -> int:
    """How many bits a seat has for its part."""
    return BITS // players


def most_payoff(players: int) -> int:
    """How large a payoff of a seat may be."""
    return (1 << digit_bits(players) - 1) - 1


def code_of_winners(seats: Sequence[int]) -> int:
    """The number of an even share."""
    return sum(1 << seat for seat in set(seats))


def code_of_parts(parts: Sequence[int]) -> int:
    """The number of shares that are as these whole numbers, from the mover on."""
    bits = digit_bits(len(parts))
    return (len(parts) << BITS) + sum(part << k * bits for k, part in enumerate(parts))


def code_of_payoffs(numbers: Sequence[int]) -> float:
    """The number of payoffs, from the mover on."""
    half = most_payoff(len(numbers)) + 1
    return ldexp(code_of_parts([number + half for number in numbers]), -SCALE)


def is_payoffs(payoff: float) -> bool:
    """Whether it is the number of payoffs, one a seat."""
    return SMALLEST <= payoff < SMALL


def brought(payoff: float, players: int) -> tuple[Fraction, ...]:
    """What each seat has, from the mover on: its share of a win, or its payoff.

    Empty where the number says nothing of so many seats.
    """
    if is_payoffs(payoff):
        code = int(ldexp(payoff, SCALE))
        half = most_payoff(code >> BITS) + 1
        numbers = digits_of(code)
        return tuple(Fraction(n - half) for n in numbers) if len(numbers) == players else ()
    parts = _parts(payoff, players)
    total = sum(parts)
    return tuple(Fraction(part, total) for part in parts) if total else ()


def shares_of(payoff: float, players: int) -> tuple[float, ...]:
    """The same as floats."""
    return tuple(map(float, brought(payoff, players)))


def digits_of(code: int) -> list[int]:
    """The whole numbers that `code_of_parts` put together."""
    players = code >> BITS
    bits = digit_bits(players)
    return [code >> seat * bits & (1 << bits) - 1 for seat in range(players)]


def _parts(payoff: float, players: int) -> list[int]:
    if payoff in (-1.0, 0.0):
        return [int(seat > 0 or payoff == 0.0) for seat in range(players)]
    if payoff < 0.0 or not float(payoff).is_integer():
        return []
    code = int(payoff)
    if code < 1 << MOST_WINNERS:
        return [code >> seat & 1 for seat in range(players)] if code >> players == 0 else []
    return digits_of(code) if code >> BITS == players else []
