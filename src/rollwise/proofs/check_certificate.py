"""The check of a certificate file, in whole numbers. ``docs/certificates.md`` describes the format.

It is the check that ``verified/Checker.v`` defines and ``verified/Soundness.v`` proves to be right.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from rollwise.errors import RefusedFile

MAGIC = "rollwise-certificate 1"
LONGEST = 1 << 26  # bytes of a line
LONGEST_FAULT = 300  # letters of a message
DIGITS = 100_000  # of a number
EACH = 500  # positions between two reports of progress
MOST = {"players": 1000, "positions": 2 * 10**9, "rows": 10**6}
PLAIN = b"0123456789- end="  # the characters of claims and moves
UNIT = re.compile(r"1/([1-9][0-9]*)")
ASSIGNMENT = re.compile(r" (?=[^ =]+=)")

Progress: TypeAlias = Callable[[str, int, int | None], None]


class Way(NamedTuple):
    """An action: its share in the table, the row of its rewards, and its outcomes.

    An outcome is ``(weight, seats, to)``. If the game ends, ``seats`` is -1 and ``to`` is a row.
    """

    share: int
    reward: int
    outcomes: list[tuple[int, int, int]]


class Position(NamedTuple):
    """The moves of a position, and the total weights of outcomes and of shares."""

    lot: int
    mixed: int
    throws: list[tuple[int, list[Way]]]


class Certificate:
    """The head and the claims of a certificate. `positions` reads the moves.

    Attributes
    ----------
    game : str
        Its name and its parameters.
    players, n, most, height, range : int
    zero_sum : bool
    unit : Fraction
    rows : list of list of int
        Payoffs or rewards, a number for each role.
    endless : list of int or None
        The worth of endless play to each role; None if play ends whatever the players do.
    rank, lower, upper, state : list
        Of each position. A position within a turn has no state: None.
    """

    def __init__(self, file: BinaryIO, *, claims: bool = True) -> None:
        self.file, self.line, self.sums = file, 0, hashlib.sha256()
        if self._read() != MAGIC:
            raise self.refused("it isn't a certificate of version 1")
        self.game = self._named("game")
        self.players = self._whole("players")
        zero_sum = self._named("zero-sum")
        self.zero_sum = zero_sum == "yes"
        if zero_sum not in ("yes", "no") or (self.zero_sum and self.players != 2):
            raise self.refused("zero-sum is yes or no, and yes is for two players")
        self.endless: list[int] | None = None
        word, _, rest = self._read().partition(" ")
        if word == "endless":
            self.endless = self._numbers(rest.split(" "))
            if len(self.endless) != 2 or not self.zero_sum:
                raise self.refused("endless has two numbers, and is for two players and zero-sum")
            word, _, rest = self._read().partition(" ")
        unit = UNIT.fullmatch(rest)
        if word != "unit":
            raise self.refused("the word unit is expected")
        if unit is None:
            raise self.refused("the unit is 1/N, with a whole number N from 1 on")
        self.unit = Fraction(1, self._number(unit[1]))
        self.fields = self._named("fields").split(" ")
        self.n, self.most, self.height, self.range = map(
            self._whole, ("positions", "most", "height", "range")
        )
        if not (self.players and self.n and self.most and self.height):
            raise self.refused("players, positions, most and height are at least 1")
        self.rows: list[list[int]] = []
        self.rank: list[list[int]] = []
        self.lower: list[list[int]] = []
        self.upper: list[list[int]] = []
        self.state: list[tuple[int, ...] | None] = []
        if claims:
            self._read_claims()

    def _read_claims(self) -> None:
        """Read the rows and the claims about all positions."""
        for _ in range(self._whole("rows")):
            row = self._numbers(self._plain().split(" "))
            if len(row) != self.players:
                raise self.refused("a row has a number for each role")
            self.rows.append(row)
        self._exactly("claims")
        for _ in range(self.n):
            claim, equals, state = self._plain().partition(" = ")
            numbers = self._numbers(claim.removesuffix("" if equals else " -").split(" "))
            self.state.append(tuple(self._numbers(state.split(" "))) if equals else None)
            n_ranks = 1 if self.endless is None else 2
            if len(numbers) != n_ranks + 2 * self.players:
                raise self.refused("a claim has a rank and two bounds for each role")
            if not equals and not claim.endswith(" -"):
                raise self.refused("the numbers of the state are missing")
            if equals and len(self.state[-1] or ()) != len(self.fields):
                raise self.refused("a state has a number for each field")
            self.rank.append(numbers[:n_ranks])
            self.lower.append(numbers[n_ranks : n_ranks + self.players])
            self.upper.append(numbers[n_ranks + self.players :])
        self._exactly("moves")

    def positions(self) -> Iterator[Position]:
        """The moves of each position, in order; the checksum of the file at the end.

        Raises
        ------
        RefusedFile
        """
        for _ in range(self.n):
            words = iter(self._plain().split(" "))
            position = self._position(words)
            if next(words, None) is not None:
                raise self.refused("the line is too long")
            yield position
        found = self.sums.hexdigest()
        if self._read() != f"sha256 {found}" or self.file.read(1):
            raise self.refused("the checksum is wrong: the file is damaged")

    def _position(self, words: Iterator[str]) -> Position:
        try:
            lot, mixed = int(next(words)), int(next(words))
            throws = []
            for _ in range(int(next(words))):
                weight, ways = int(next(words)), []
                for _ in range(int(next(words))):
                    share, reward, size = (int(word) for word in islice(words, 3))
                    ways.append(Way(share, reward, [self._outcome(words) for _ in range(size)]))
                throws.append((weight, ways))
        except (StopIteration, ValueError, RuntimeError):
            raise self.refused("whole numbers are missing") from None
        return Position(lot, mixed, throws)

    def _outcome(self, words: Iterator[str]) -> tuple[int, int, int]:
        weight, seats, to = islice(words, 3)
        if seats != "end" and int(seats) < 0:
            raise ValueError(seats)
        return int(weight), -1 if seats == "end" else int(seats), int(to)

    @cached_property
    def payoffs(self) -> list[tuple[Fraction, ...]]:
        """The rows, without a unit."""
        return [tuple(number * self.unit for number in row) for row in self.rows]

    @cached_property
    def n_states(self) -> int:
        """The number of positions that are states; the others follow them."""
        return sum(state is not None for state in self.state)

    @property
    def has_gains(self) -> bool:
        """Whether the upper bounds are those of a deviation from a profile of several roles."""
        return self.players > 1 and not self.zero_sum

    @property
    def widest(self) -> Fraction:
        """The largest distance between the ends of a claim.

        One player's value lies between the two bounds. In a zero-sum game the lower end is
        the negative upper bound of the opponent.
        """
        if self.zero_sum:
            return max(map(sum, self.upper)) * self.unit
        pairs = zip(self.upper, self.lower, strict=True)
        return max(u - v for pair in pairs for u, v in zip(*pair, strict=True)) * self.unit

    @property
    def title(self) -> tuple[str, dict[str, str]]:
        """The name of the game and its parameters, as text."""
        name, *typed = ASSIGNMENT.split(self.game)
        return name, dict(part.split("=", 1) for part in typed)

    def refused(self, why: str) -> RefusedFile:
        return RefusedFile(f"line {self.line}: {' '.join(why.split())[:LONGEST_FAULT]}")

    def _read(self) -> str:
        line = self.file.readline(LONGEST)
        self.line += 1
        if not line.endswith(b"\n"):
            raise self.refused("it ends too early")
        # The last line has the checksum of all others.
        if not line.startswith(b"sha256 "):
            self.sums.update(line)
        try:
            text = line[:-1].decode()
        except UnicodeDecodeError:
            text = "\0"
        if not text.isprintable():
            raise self.refused("it isn't text")
        return text

    def _plain(self) -> str:
        """A line of numbers."""
        text = self._read()
        if not text.isascii() or text.encode().translate(None, PLAIN):
            raise self.refused("whole numbers are expected")
        return text

    def _named(self, name: str) -> str:
        word, blank, rest = self._read().partition(" ")
        if word != name or not blank:
            raise self.refused(f"the word {name} is expected")
        return rest

    def _exactly(self, name: str) -> None:
        if self._read() != name:
            raise self.refused(f"the word {name} is expected")

    def _whole(self, name: str) -> int:
        number = self._number(self._named(name))
        if not 0 <= number <= MOST.get(name, number):
            raise self.refused(f"{name} is too large or less than 0")
        return number

    def _number(self, word: str) -> int:
        if not word.isascii() or not word.removeprefix("-").isdecimal() or len(word) > DIGITS:
            raise self.refused(f"a whole number of at most {DIGITS:,} digits is expected")
        return int(word)

    def _numbers(self, words: list[str]) -> list[int]:
        try:
            return list(map(int, words))
        except ValueError:
            raise self.refused("whole numbers are expected") from None


@contextlib.contextmanager
def long_numbers() -> Iterator[None]:
    """Within this context, numbers of up to `DIGITS` digits are read and written."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(DIGITS)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def check_certificate(
    path: str | Path,
    also: Callable[[Certificate, int, Position], str] | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Check every claim of a certificate.

    Parameters
    ----------
    also : callable, optional
        A further check of each position, by its number. It returns a fault, or an empty string.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Raises
    ------
    RefusedFile
        The file is damaged, or a claim isn't proved: with its line and its position.
    """
    with Path(path).open("rb") as file, long_numbers():
        if progress is not None:
            progress("reading the claims", 0, None)
        certificate = Certificate(file)
        for number, position in enumerate(certificate.positions()):
            fault = _fault(certificate, number, position)
            fault = fault or (also(certificate, number, position) if also else "")
            if fault:
                where = " ".join(map(str, certificate.state[number] or ()))
                raise certificate.refused(
                    f"position {number} ({where or 'within a turn'}): {fault}"
                )
            if progress is not None and not number % EACH:
                progress("checking positions", number, certificate.n)
    return certificate


def _fault(c: Certificate, number: int, p: Position) -> str:
    """The first fault of a position; empty without a fault."""
    total, lower, upper = sum(weight for weight, _ in p.throws), c.lower[number], c.upper[number]
    if not _is_well_formed(c, p, total):
        return "its weights, shares or targets are impossible"
    if not all(0 <= rank < c.height for rank in c.rank[number]):
        return "its rank is too large or too small"
    if any(abs(bound) > c.range for bound in (*lower, *upper)):
        return "a bound is larger than the range"
    if c.endless is not None and [-bound for bound in reversed(upper)] != lower:
        return "its lower bounds aren't the opponent's upper ones"
    for role in range(len(c.rank[number])):
        is_quiet = c.endless is not None and upper[role] >= c.endless[role]
        if not is_quiet and not any(_all_descend(c, number, role, ways) for _, ways in p.throws):
            return "it isn't shown that play ends"
    # Means are multiplied by their totals, so that all numbers are whole.
    scale = total * p.mixed * p.lot
    for role in range(c.players):
        high = low = 0
        for weight, ways in p.throws:
            above = [_ahead(c, p, c.upper, role, way) for way in ways]
            below = [_ahead(c, p, c.lower, role, way) for way in ways]
            # The mover may take any action, and the others face the table.
            by_table = sum(way.share * a for way, a in zip(ways, above, strict=True))
            high += weight * (by_table if role else p.mixed * max(above))
            low += weight * sum(way.share * b for way, b in zip(ways, below, strict=True))
        if high > scale * upper[role]:
            return f"role {role} may get more than its upper bound"
        if c.endless is None and low < scale * lower[role]:
            return f"role {role} may get less than its lower bound"
    return ""


def _is_well_formed(c: Certificate, p: Position, total: int) -> bool:
    if not (p.lot > 0 and p.mixed > 0 and total > 0 and p.lot * total <= c.most):
        return False
    return all(
        weight > 0
        and sum(way.share for way in ways) == p.mixed
        and all(_is_action(c, p, way) for way in ways)
        for weight, ways in p.throws
    )


def _is_action(c: Certificate, p: Position, way: Way) -> bool:
    rows = [way.reward, *(to for _, seats, to in way.outcomes if seats < 0)]
    return (
        way.share >= 0
        and sum(weight for weight, _, _ in way.outcomes) == p.lot
        and all(0 <= row < len(c.rows) for row in rows)
        and not (c.zero_sum and any(sum(c.rows[row][:2]) for row in rows))
        and all(
            weight > 0 and (seats == -1 or (0 <= seats < c.players and 0 <= to < c.n))
            for weight, seats, to in way.outcomes
        )
    )


def _all_descend(c: Certificate, number: int, role: int, ways: list[Way]) -> bool:
    """Whether each action may end the game or lead to a smaller rank.

    With endless play these are the ranks of a role that leaves the table; the others follow it.
    """
    rank = c.rank[number][role]
    return all(
        any(
            seats < 0 or c.rank[to][0 if c.endless is None else (role - seats) % 2] < rank
            for _, seats, to in way.outcomes
        )
        for way in ways
        if way.share or not role
    )


def _ahead(c: Certificate, p: Position, bounds: list[list[int]], role: int, way: Way) -> int:
    """The claim about an action, times `Position.lot`."""
    total = p.lot * c.rows[way.reward][role]
    for weight, seats, to in way.outcomes:
        total += weight * (
            c.rows[to][role] if seats < 0 else bounds[to][(role - seats) % c.players]
        )
    return total


def is_certificate(path: Path) -> bool:
    """Whether a file begins as a certificate does, of whichever version."""
    begin = MAGIC.encode().rstrip(b"0123456789")
    try:
        # reading would wait for the writer of a pipe, and a device may have no end
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(begin)) == begin
    except OSError:
        return False


def head_of(path: Path) -> Certificate:
    """The first lines of a certificate, without its claims."""
    try:
        with path.open("rb") as file, long_numbers():
            return Certificate(file, claims=False)
    except RefusedFile as error:
        raise RefusedFile(f"{path} is refused: {error}") from None
