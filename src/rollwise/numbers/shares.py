"""What an ending brings each of three or more players: shares of one win, in one number.

`rollwise.won_by` and `rollwise.shared` write the number, which rules yield as a payoff, and
`shares_of` reads it: 1 is a win of the mover, -1 a loss (the others share), 0 a draw (all share).
Winners who share evenly are the bits of a whole number below 2^16. Other shares are the digits of
one from 2^49 on: it is 2^48 times the number of seats, plus a whole number for each seat, of 48
bits together. Doubles hold all of these exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

BITS = 48  # of the digits together
MOST_WINNERS = 16


def digit_bits(players: int) -> int:
    """How many bits a seat has for its part."""
    return BITS // players


def code_of_winners(seats: Sequence[int]) -> int:
    """The number of an even share."""
    return sum(1 << seat for seat in set(seats))


def code_of_parts(parts: Sequence[int]) -> int:
    """The number of shares that are as these whole numbers, from the mover on."""
    bits = digit_bits(len(parts))
    return (len(parts) << BITS) + sum(part << k * bits for k, part in enumerate(parts))


def shares_of(payoff: float, players: int) -> tuple[float, ...]:
    """The share of each seat, from the mover on; empty where the number says none."""
    parts = _parts(payoff, players)
    total = sum(parts)
    return tuple(part / total for part in parts) if total else ()


def _parts(payoff: float, players: int) -> list[int]:
    if payoff in (-1.0, 0.0):
        return [int(seat > 0 or payoff == 0.0) for seat in range(players)]
    if payoff < 0.0 or not float(payoff).is_integer():
        return []
    code = int(payoff)
    if code < 1 << MOST_WINNERS:
        return [code >> seat & 1 for seat in range(players)] if code >> players == 0 else []
    if code >> BITS != players:
        return []
    bits = digit_bits(players)
    return [code >> seat * bits & (1 << bits) - 1 for seat in range(players)]
