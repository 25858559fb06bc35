"""The codes of `then`: how play goes on after an outcome, or ends; and functions that give them.

A code of an outcome that goes on has the number of seats that the die moves on. An ending is a
payoff of the mover: the bits of a double, read as a whole number of 64 bits. The results of several
players are one double too (`rollwise.numbers.shares`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import index
from typing import Any, SupportsIndex, TypeVar

from rollwise.faults import shown
from rollwise.numbers.shares import (
    MOST_PLAYERS,
    SHARES_SCALE,
    SMALL,
    UnknownNumber,
    UnknownPayoff,
    code_of_payoffs,
    code_of_shares,
    code_of_winners,
    digit_bits,
    digits_of_seats,
    is_of_seats,
    is_payoffs,
    most_payoff,
    winners_of,
)

# Codes of `then`, from the mover's point of view.
AGAIN, PASS, WIN, LOSE, DRAW, END = range(6)
THEN_NAMES = ("AGAIN", "PASS", "WIN", "LOSE", "DRAW", "END")

# Any other payoff is a `then` too: the bits of a double, read as a whole number of 64 bits. Very
# small doubles are excluded: their bits would be the codes above, or typing errors for them.
# Payoffs of several seats are doubles below LEAST_PAYOFF and above the excluded ones.
LEAST_PAYOFF, MOST_PAYOFF = SMALL, 1e300
_PLAIN_PAYOFFS = {1.0: WIN, -1.0: LOSE, 0.0: DRAW}

# If the game goes on, a `then` has no other bits than these: the bit of PASS, or the 16 bits of a
# number of seats (see `skip`). As a whole number, every payoff is larger.
GOES_ON, SKIPS = 0xFFFF01, 0xFFFF00
MOST_SKIPPED = 32_767

Function = TypeVar("Function", bound=Callable[..., Any])

_RULES: dict[Callable[..., Any], Callable[..., Any]] = {}  # callee: compiled counterpart


def rule(function: Function) -> Function:
    """Mark a function of rollwise that compiled rules may call. Users' functions need no mark."""
    _RULES[function] = function
    return function


def interpreted_as(function: Callable[..., Any], other: Function) -> Function:
    """Let interpreted rules call a faster Python function in place of the compiled one.

    Both functions must give the same results.
    """
    _RULES[other] = function
    return other


def counterpart(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function that compiled rules call in place of one of rollwise's; None without any."""
    return _RULES.get(function)


@rule
def skip(seats: int) -> int:
    """The `then` that moves the die on by this number of seats.

    ``skip(2)`` leaves out the next player, ``skip(-1)`` is `PASS_BACK`, ``skip(1)`` is `PASS` and
    ``skip(0)`` is `AGAIN`. Seats are counted round the table: of three players ``skip(4)`` is the
    next. Write the next state from the view of the player with the die. The number alone is another
    `then`, as in ``2``, which is `WIN`.

    Raises
    ------
    ValueError
        The number isn't from -32,767 to 32,767.
    """
    if not -MOST_SKIPPED <= seats <= MOST_SKIPPED:
        raise ValueError("skip takes a whole number of seats from -32,767 to 32,767")
    if seats == 1:
        return PASS
    return (seats & 0xFFFF) << 8


PASS_BACK = skip(-1)


def payoff(points: float) -> int:
    """The `then` that ends the game with this payoff for the mover.

    ``yield 1, payoff(2), s`` wins a gammon and ``payoff(-2)`` loses one. ``payoff(1)``,
    ``payoff(-1)`` and ``payoff(0)`` are `WIN`, `LOSE` and `DRAW`. The other player gets the
    opposite. With three or more players see `won_by`, `shared` and `payoffs`.

    Raises
    ------
    ValueError
        The payoff isn't a finite number, or is too small to be intended.
    """
    if isinstance(points, UnknownNumber):
        return UnknownPayoff(points)  # type: ignore[return-value]  # only in a proof
    try:
        amount = float(points) if not isinstance(points, str) else math.nan
    except (TypeError, ValueError, OverflowError):
        amount = math.nan
    if amount in _PLAIN_PAYOFFS:
        return _PLAIN_PAYOFFS[amount]
    if not LEAST_PAYOFF <= abs(amount) <= MOST_PAYOFF:
        raise ValueError(
            f"payoff({shown(points)}) is none; a payoff is a finite number, such as payoff(2)"
        )
    return bits_of(amount)


def bits_of(amount: float) -> int:
    """The bits of a double, read as a whole number."""
    code: int = struct.unpack("<q", struct.pack("<d", amount))[0]
    return code


def won_by(*seats: int) -> int:
    """The `then` that ends a game of several players with a win for these seats.

    Seats are counted from the mover, in the order of their moves: 0 is the mover, 1 the next.
    Several winners share the win in equal parts. ``won_by(0)`` is `WIN`.

    Raises
    ------
    ValueError
        No seat is given, or an impossible one.
    """
    found = _whole_numbers(seats)
    if not found or not all(0 <= seat < MOST_PLAYERS for seat in found):
        raise ValueError(
            f"won_by{shown(seats)} names no winners; seats are whole numbers from 0, the mover"
        )
    return WIN if set(found) == {0} else bits_of(code_of_winners(found))


def _whole_numbers(numbers: Sequence[SupportsIndex]) -> tuple[int, ...] | None:
    """Numbers as Python's int, those of NumPy too; None where one isn't whole."""
    try:
        return tuple(map(index, numbers))
    except TypeError:
        return None


def shared(*parts: int) -> int:
    """The `then` that ends a game of several players with these shares of the win.

    Give a whole number for each seat, from the mover on, in the order of the moves. With
    ``shared(2, 1, 0)`` the mover has two thirds of the win and the next player one third. Shares
    can express ranks and stakes with a fixed sum.

    Raises
    ------
    ValueError
        The shares aren't at least two whole numbers from 0 to a maximum, or all are 0.
    """
    most = (1 << digit_bits(max(len(parts), 2))) - 1
    found = _whole_numbers(parts)
    fits = found and 2 <= len(found) <= MOST_PLAYERS and all(0 <= part <= most for part in found)
    if not found or not fits or not any(found):
        raise ValueError(
            f"shared{shown(parts)} are no shares; give a whole number from 0 to {most:,} for each "
            "seat, not all of them 0"
        )
    return bits_of(code_of_shares(found))


def payoffs(*numbers: int) -> int:
    """The `then` that ends a game of several players with these payoffs.

    Give a whole number for each seat, from the mover on, in the order of the moves. The sum may
    differ between ends: with ``payoffs(3, -1, 0)`` the mover gets 3 and the next player pays 1. The
    value of the game for a seat is then its expected payoff. In a game with `payoffs` a `WIN`
    counts 1 to the mover, and a shared win counts its shares. With three players the largest payoff
    is 32,767, with four 2,047, with six 127.

    Raises
    ------
    ValueError
        The payoffs aren't at least two whole numbers within the limit.
    """
    most = most_payoff(min(max(len(numbers), 2), MOST_PLAYERS))
    found = _whole_numbers(numbers)
    fits = found and 2 <= len(found) <= MOST_PLAYERS
    if not found or not fits or not all(-most <= number <= most for number in found):
        raise ValueError(
            f"payoffs{shown(numbers)} are none; give a whole number from -{most:,} to {most:,} for "
            "each seat (count in a smaller unit)"
        )
    return bits_of(code_of_payoffs(found))


def replaced(numbers: tuple[int, ...], place: int, number: int) -> tuple[int, ...]:
    """A copy of a tuple with another number at one index, such as a board after a move.

    Raises
    ------
    IndexError
        The index is out of range.
    """
    if not 0 <= place < len(numbers):
        raise IndexError(f"there is no place {place} in a tuple of {len(numbers)}")
    return (*numbers[:place], number, *numbers[place + 1 :])


@rule
def turned(numbers: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """A tuple with a number for each seat, rotated by so many seats: the view after `skip`."""
    for _ in range(seats % len(numbers)):
        numbers = numbers[1:] + numbers[:1]
    return numbers


@rule
def shared_by(winners: Sequence[int]) -> int:
    """The `then` that ends the game: ``shared_by((1, 0, 1))`` shares the win evenly.

    Unlike `won_by`, it may also be called in games of two players.

    Parameters
    ----------
    winners : sequence of int
        1 for each seat with a share of the win, from the mover on, and 0 for the others. All seats
        share if every number is 0.

    Raises
    ------
    ValueError
        A number is neither 1 nor 0.
    """
    code, last = 0, 0
    for seat in range(len(winners)):
        if not 0 <= winners[seat] <= 1:
            raise ValueError(
                "shared_by() takes a 1 or a 0 for each seat, from the mover on; won_by(*seats) "
                "takes the seats of the winners"
            )
        if winners[seat] != 0:
            code += 1 << seat
            last = seat
    if code == 1:
        return WIN
    if code == 0 or (len(winners) == 2 and code == 3):
        return DRAW
    if len(winners) == 2:
        return LOSE
    # the bits of a double: 1023 is for 1, of which this is 2^-SHARES_SCALE times the code
    return ((1023 - SHARES_SCALE + last) << 52) + ((code - (1 << last)) << (52 - last))


@rule
def next_in(numbers: tuple[int, ...], out: int) -> int:
    """Number of seats from the mover to the next player still in the game.

    The result is the number of players where all others are out.

    Parameters
    ----------
    numbers : tuple of int
        A number for each seat, from the mover on.
    out : int
        The number that marks a player as out.
    """
    for seat in range(1, len(numbers)):
        if numbers[seat] != out:
            return seat
    return len(numbers)


@rule
def last_left(numbers: tuple[int, ...], out: int) -> int:
    """The win of the last player still in the game, or AGAIN while there are several.

    Parameters
    ----------
    numbers, out
        As in `next_in`.
    """
    left, last = 0, 0
    for seat in range(len(numbers)):
        if numbers[seat] != out:
            left += 1
            last = seat
    if left > 1:
        return AGAIN
    winners = numbers
    for seat in range(len(numbers)):
        winners = replaced(winners, seat, 1 if left == 1 and seat == last else 0)
    return shared_by(winners)


@rule
def is_over(then: int) -> bool:
    """Whether the game is over after an outcome."""
    return bool(int(then) & ~GOES_ON)  # of NumPy's small whole numbers, too


def is_skip(then: int) -> bool:
    """Whether a `then` is a result of `skip` other than `AGAIN` and `PASS`."""
    return then != 0 and not then & ~SKIPS


def seats_on(then: Any, players: int) -> Any:
    """Number of seats that the die moves on, from 0, if the game goes on; also of an array."""
    if not getattr(then, "ndim", 0):
        then = int(then)  # NumPy's small whole numbers are too small
    return ((then >> 8) - (then >> 7 & 0x10000) + (then & 1)) % players


@lru_cache(1024)  # a game has few of them, in many outcomes
def round_the_table(then: int, players: int) -> int:
    """A `then` with the fewest seats: ``skip(4)`` of three players is PASS."""
    return then if is_over(then) else skip(seats_on(then, players))


def is_payoff(then: int) -> bool:
    """Whether a `then` is a result of `payoff` other than a win, a loss or a draw."""
    if not -(2**63) <= then < 2**63:
        return False
    amount = payoff_of(then)
    return LEAST_PAYOFF <= abs(amount) <= MOST_PAYOFF and amount not in _PLAIN_PAYOFFS


def says_of_seats(then: int) -> bool:
    """Whether a `then` is a result of `won_by`, `shared` or `payoffs` other than `WIN`."""
    return 0 <= then < 2**63 and is_of_seats(payoff_of(then))


def payoff_of(then: int) -> float:
    """The number whose bits a `then` without a name contains."""
    amount: float = struct.unpack("<d", struct.pack("<q", then))[0]
    return amount


def ending_points(then: int) -> float:
    """The payoff of an outcome that ends the game of one player or two; `END` pays 0."""
    plain = {WIN: 1.0, LOSE: -1.0, DRAW: 0.0, END: 0.0}
    return plain[then] if then in plain else payoff_of(then)


def then_text(then: int) -> str:
    """A `then` as rules write it: ``WIN`` or ``payoff(2)``."""
    if 0 <= then < len(THEN_NAMES):
        return THEN_NAMES[then]
    if is_skip(then):
        seats = seats_on(then, 1 << 16)
        return "PASS_BACK" if then == PASS_BACK else f"skip({(seats + 32768) % 65536 - 32768})"
    amount = payoff_of(then)
    if is_of_seats(amount):
        return _seats_text(amount)
    return f"payoff({int(amount) if amount.is_integer() else amount})"


def _seats_text(amount: float) -> str:
    """A call of `won_by`, `shared` or `payoffs` that gives this amount."""
    if winners := winners_of(amount):
        return f"won_by({', '.join(map(str, winners))})"
    name, numbers = "payoffs" if is_payoffs(amount) else "shared", digits_of_seats(amount)
    return f"{name}({', '.join(map(str, numbers))})"
