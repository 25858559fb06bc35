"""Certificate files: a game and its proved claims in whole numbers, for other programs to check.

The rule sheet is read as ordinary Python, by `rollwise.proofs.check_rules`. A turn with a pool of
dice becomes several positions: one for each set of kept dice, and one for each throw of the others.
``docs/certificates.md`` describes the format. ``verified/`` has a checker whose correctness is
proved in Coq; `check_certificate` is the same check in Python.
"""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, isfinite, lcm
from operator import mul
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from rollwise.errors import NotConverged, UsageError
from rollwise.game import Game
from rollwise.graph.layout import field_words
from rollwise.graph.naming import in_fields, state_text, title_of
from rollwise.graph.view import sign_of
from rollwise.machine.atomic_files import path_of, write_atomically
from rollwise.numbers.shares import brought
from rollwise.proofs.check_certificate import (
    EACH,
    MAGIC,
    Certificate,
    Position,
    Progress,
    long_numbers,
)
from rollwise.proofs.check_rules import NAMED, Action, Chance, Claims, actions_in, numbers_of, turns
from rollwise.then import is_over, payoff_of, seats_on

Row: TypeAlias = tuple[Fraction, ...]  # a number for each role, the mover first
Units: TypeAlias = tuple[int, ...]  # the same in units of a certificate


class Outcome(NamedTuple):
    """An outcome with its weight. It ends the game with a row of payoffs, or leads on."""

    weight: Any
    row: Row | None
    seats: int = 0
    to: Any = None


class Way(NamedTuple):
    """An action: its name, the rewards of the roles, its outcomes, and the kept dice."""

    action: Action | None
    reward: Row
    outcomes: list[Outcome]
    kept: tuple[int, ...] = ()


Throws: TypeAlias = list[tuple[Any, list[Way]]]
Moves: TypeAlias = list[tuple[Fraction, list[Any]]]


class Summary(NamedTuple):
    """The size of a certificate, and the number of moves in which play may end."""

    positions: int
    height: int
    n_bytes: int


@dataclass
class _Sheet:
    """The positions of a game in the order of a certificate: states, then parts of turns."""

    game: Game
    endless: bool = False  # a second role, which never moves, is added to a game of one player
    numbers: dict[Any, int] = field(default_factory=dict)
    rows: dict[Any, Row] = field(default_factory=dict)  # of payoffs and rewards, each once
    n_parts: int = 0

    def __post_init__(self) -> None:
        self.players = 2 if self.endless else self.game.players
        self.sign = int(sign_of(self.game.objective))

    def positions(self) -> Iterator[tuple[Any, list[Throws]]]:
        """Each state with its positions: its own, and those within its turn."""
        self.n_parts = 0
        for state in (self.game.start(), *self.game.roots()):
            self.numbers.setdefault(state, len(self.numbers))
        for state, turn in turns(self.game):  # which lists the states in this order
            for action in actions_in(turn):
                for _, then, after in action.outcomes:
                    if not is_over(then):
                        self.numbers.setdefault(after, len(self.numbers))
            yield state, self._positions_of(turn)

    def _positions_of(self, turn: Chance) -> list[Throws]:
        parts: dict[int, int] = {}
        jobs: list[Any] = [turn]

        def part(job: Any) -> tuple[str, int]:
            if id(job) not in parts:
                parts[id(job)] = self.n_parts
                self.n_parts += 1
                jobs.append(job)
            return "part", parts[id(job)]

        def way(one: Any) -> Way:
            if isinstance(one, Action):
                return self._way(one)
            return Way(None, self._row(0), [Outcome(1, None, 0, part(one))], one.label)

        found: list[Throws] = []
        # `jobs` grows while it is walked: a part joins it at its first use, and once only.
        for job in jobs:
            if job is turn:
                pairs = zip(turn.weights, turn.choices, strict=True)
                found.append([(weight, list(map(way, ways))) for weight, ways in pairs])
            elif isinstance(job, Chance):
                # The dice that aren't kept fall: one action, with a choice as each outcome.
                pairs = zip(job.weights, job.choices, strict=True)
                outcomes = [Outcome(weight, None, 0, part(ways)) for weight, ways in pairs]
                found.append([(1, [Way(None, self._row(0), outcomes)])])
            else:
                found.append([(1, list(map(way, job)))])
        return found

    def _way(self, action: Action) -> Way:
        if action.reward and self.players > 2:
            raise UsageError("a certificate has no points for three players or more")
        return Way(action, self._row(action.reward), list(map(self._outcome, action.outcomes)))

    def _outcome(self, outcome: Any) -> Outcome:
        weight, then, state = outcome
        if is_over(then):
            payoff = NAMED[then] if then in NAMED else payoff_of(then)
            return Outcome(weight, self._row(payoff, is_end=True))
        seats = seats_on(then, max(self.players, 2))
        return Outcome(weight, None, seats, ("state", self.numbers[state]))

    def _row(self, payoff: Any, is_end: bool = False) -> Row:
        if (payoff, is_end) not in self.rows:
            first = self.sign * Fraction(payoff) if self.players < 3 else Fraction(0)
            row = (first, -first)[: self.players]
            if self.players > 2:
                row = brought(payoff, self.players) if is_end else (first,) * self.players
            self.rows[payoff, is_end] = row
        return self.rows[payoff, is_end]

    def claimed(self, claims: Claims, state: Any) -> list[Sequence[Any]]:
        """The values of a state, their bounds, and any gains: a number for each seat."""
        place = numbers_of(self.game, state)
        if place not in claims.values:
            raise UsageError(f"no claim is made about {_state_text(self.game, state)}")
        if not all(map(isfinite, (*claims.values[place], *claims.bounds[place]))):
            where = _state_text(self.game, state)
            raise UsageError(f"a certificate has finite numbers, and the value of {where} has none")
        gains = [] if claims.gains is None else [claims.gains[place]]
        return [claims.values[place], claims.bounds[place], *gains]

    def bounds(self, claims: Claims, state: Any, unit: int) -> tuple[Units, Units]:
        """Lower and upper bounds of a state, a number of units for each role."""

        def units(number: Any) -> int:
            over, under = number.as_integer_ratio()
            return int(over) * (unit // int(under))

        values, bounds, *gains = (list(map(units, row)) for row in self.claimed(claims, state))
        values = [self.sign * value for value in values]
        lower = tuple(v - b for v, b in zip(values, bounds, strict=True))
        if gains:
            return lower, tuple(low + gain for low, gain in zip(lower, gains[0], strict=True))
        upper = tuple(v + b for v, b in zip(values, bounds, strict=True))
        if self.players == 1:
            return lower, upper
        return (lower[0], -upper[0]), (upper[0], -lower[0])


class _Shape:
    """The targets of some positions, in four arrays: throws, actions, outcomes."""

    def __init__(self) -> None:
        self.throws, self.actions = array("q", [0]), array("q", [0])
        self.outcomes, self.target = array("q", [0]), array("q")

    def add(self, throws: Throws) -> None:
        for _, ways in throws:
            for way in ways:
                for one in way.outcomes:
                    # Parts have numbers behind all states, which aren't counted yet; -1 is the end.
                    kind, number = one.to if one.row is None else ("end", -1)
                    self.target.append(-2 - number if kind == "part" else number)
                self.outcomes.append(len(self.target))
            self.actions.append(len(self.outcomes) - 1)
        self.throws.append(len(self.actions) - 1)


def _ranks(shapes: Sequence[_Shape], n_states: int) -> Any:
    """The rank of each position: a number of moves in which play may end. (n,) int64; -1: none."""
    parts = [[np.array(a)[:-1] for a in (s.throws, s.actions, s.outcomes)] for s in shapes]
    sizes = [
        [0, 0, 0],
        [len(shapes[0].actions) - 1, len(shapes[0].outcomes) - 1, len(shapes[0].target)],
    ]
    throws, actions, outcomes = (
        np.concatenate([part[k] + size[k] for part, size in zip(parts, sizes, strict=True)])
        for k in range(3)
    )  # fmt: skip
    target = np.concatenate([np.array(shape.target) for shape in shapes])
    target = np.where(target < -1, n_states - 2 - target, target)
    rank = np.full(len(throws) + 1, -1)
    rank[-1] = 0  # the end
    for height in range(len(throws)):
        # After one of the throws, each action may end play or lead to a smaller rank.
        some = np.logical_or.reduceat(rank[target] >= 0, outcomes)
        every = np.logical_and.reduceat(some, actions)
        new = np.flatnonzero(np.logical_or.reduceat(every, throws) & (rank[:-1] < 0))
        if not len(new):
            break
        rank[new] = height
    return rank[:-1]


def _whole(weights: Iterable[Any]) -> list[int]:
    """Weights as whole numbers in the same proportion."""
    given = list(weights)
    if all(type(weight) is int for weight in given):
        return given
    parts = list(map(Fraction, given))
    scale = lcm(*(part.denominator for part in parts))
    return [int(part * scale) for part in parts]


class _Writer:
    """Writes the claims and the moves of all positions, in units of 1/`unit`."""

    def __init__(self, sheet: _Sheet, claims: Claims, unit: int, n_states: int) -> None:
        self.sheet, self.claims, self.unit, self.n_states = sheet, claims, unit, n_states
        self.players, self.n = sheet.players, n_states + sheet.n_parts
        self.rows: dict[tuple[int, ...], int] = {(0,) * sheet.players: 0}
        self.in_units = {id(row): self.units(row) for row in sheet.rows.values()}
        self.lower: list[Any] = [None] * self.n
        self.upper: list[Any] = [None] * self.n
        self.most = self.range = 1
        self.endless: list[int] | None = None

    def number(self, to: tuple[str, int]) -> int:
        return to[1] if to[0] == "state" else self.n_states + to[1]

    def units(self, row: Row) -> Units:
        return tuple(int(self.unit * part) for part in row)

    def claim(self, bounds: list[Any], role: int, one: Outcome) -> int:
        """The claim about an outcome, for a role: its payoff or its bound."""
        if one.row is not None:
            return self.in_units[id(one.row)][role]
        claims = bounds[self.number(one.to)]
        if claims is None:
            raise ValueError(f"the bounds of {one.to} are asked for before they are noted")
        found: int = claims[(role - one.seats) % self.players]
        return found

    def ahead(self, bounds: list[Any], role: int, way: Way) -> Fraction:
        """The mean of the claims about an action."""
        total = sum(one.weight * self.claim(bounds, role, one) for one in way.outcomes)
        mean: Fraction = Fraction(total) / sum(one.weight for one in way.outcomes)
        return self.in_units[id(way.reward)][role] + mean

    def note(self, state: Any, number: int) -> None:
        """Note the claims about a state."""
        self.lower[number], self.upper[number] = self.sheet.bounds(self.claims, state, self.unit)

    def note_parts(self, state: Any, at: int, found: list[Throws]) -> None:
        """Note the bounds of the positions within a turn, which have numbers from `at` on."""
        # Each throw of a pool leaves fewer, so that a part leads to parts of higher numbers only.
        # The last one comes first; `claim` checks that.
        for k in range(len(found) - 1, 0, -1):
            if self.players > 2:
                self.note_mixed(state, at + k - 1, found[k])
            else:
                self.note_part(at + k - 1, found[k])

    def note_mixed(self, state: Any, number: int, throws: Throws) -> None:
        """`note_part` for three or more players, who keep to the profile."""
        ((_, ways),) = throws
        shares = self._shares(state, ways)

        def worth(bounds: list[Any], role: int, best: bool) -> Fraction:
            worths = [self.ahead(bounds, role, way) for way in ways]
            mixed = sum(map(mul, shares, worths), Fraction(0)) / sum(shares)
            return max(worths) if best else mixed

        roles = range(self.players)
        self.lower[number] = tuple(floor(worth(self.lower, j, False)) for j in roles)
        self.upper[number] = tuple(ceil(worth(self.upper, j, j == 0)) for j in roles)

    def note_part(self, number: int, throws: Throws) -> None:
        """Note bounds of a position within a turn, rounded outward. Its targets come first."""
        ((_, ways),) = throws
        low = floor(max(self.ahead(self.lower, 0, way) for way in ways))
        high = ceil(max(self.ahead(self.upper, 0, way) for way in ways))
        self.lower[number] = (low, -high)[: self.players]
        self.upper[number] = (high, -low)[: self.players]

    def moves(self, state: Any, throws: Throws, table: Sequence[int] | None = None) -> str:
        """The line of a position: its throws, actions and outcomes.

        Parameters
        ----------
        table : sequence of int, optional
            The action of the table after each throw.
        """
        shares = [self._shares(state, ways) for _, ways in throws]
        if table is not None:
            pairs = zip(table, throws, strict=True)
            shares = [[int(k == best) for k in range(len(ways))] for best, (_, ways) in pairs]
        # All shares of a choice get the total `mixed`, and all weights of an action the total
        # `lot`.
        mixed = lcm(*map(sum, shares))
        weights = [
            [_whole(one.weight for one in way.outcomes) for way in ways] for _, ways in throws
        ]
        lot = lcm(*(sum(ws) for group in weights for ws in group))
        chances = _whole(weight for weight, _ in throws)
        self.most = max(self.most, lot * sum(chances))
        words = [lot, mixed, len(throws)]
        for (_, ways), chance, group, share in zip(throws, chances, weights, shares, strict=True):
            words += [chance, len(ways)]
            for way, ws, part in zip(ways, group, share, strict=True):
                words += [part * (mixed // sum(share)), self._row(way.reward), len(ws)]
                for one, w in zip(way.outcomes, ws, strict=True):
                    words += [w * (lot // sum(ws)), *self._target(one)]
        return " ".join(map(str, words))

    def _shares(self, state: Any, ways: list[Way]) -> list[int]:
        """Weights of the actions in the table: the profile, or the best lower bound."""
        first = ways[0].action
        if self.claims.profile is not None and first is not None:
            mixture = self.claims.profile(state, *first.at)
            labels = (way.action.label if way.action else way.kept for way in ways)
            return _whole(mixture.get(label, 0.0) for label in labels)
        if len(ways) == 1:
            return [1]
        worth = [self.ahead(self.lower, 0, way) for way in ways]
        best = worth.index(max(worth))
        return [int(k == best) for k in range(len(ways))]

    def _row(self, row: Row) -> int:
        return self.rows.setdefault(self.in_units[id(row)], len(self.rows))

    def _target(self, one: Outcome) -> tuple[Any, int]:
        if one.row is not None:
            return "end", self._row(one.row)
        return one.seats, self.number(one.to)


def write_certificate(
    game: Game, claims: Claims, path: str | Path, progress: Progress | None = None
) -> Summary:
    """Write the certificate of a game.

    Parameters
    ----------
    claims : Claims
        Proved claims about all states. The file repeats them and isn't a proof until it is checked.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Raises
    ------
    UsageError
        Endless play has no proved worth, or a state has no claim.
    NotConverged
        Play isn't shown to end where a player leaves the table.
    """
    told = progress or (lambda *_: None)
    sheet, states, parts = _Sheet(game), _Shape(), _Shape()
    for number, (_, found) in enumerate(sheet.positions()):
        if not number % EACH:
            told("certificate: reading the rules", number, len(claims.values))
        for k, throws in enumerate(found):
            (parts if k else states).add(throws)
    n_states = len(sheet.numbers)
    ranks = _ranks((states, parts), n_states)
    endless = np.flatnonzero(ranks < 0)
    if len(endless):
        states_by_number = list(sheet.numbers)
        sheet = _Sheet(game, endless=True)
        if game.players > 2 or worths_of_endless(game) is None:
            raise UsageError(
                "a certificate is for games that end whatever the players do, and play may go on "
                f"forever from {_place(game, states_by_number, int(endless[0]))}"
            )
        for _ in sheet.positions():
            pass  # which fills `rows` and `numbers`
    writer = _Writer(sheet, claims, _unit(sheet, claims), n_states)
    for state, number in sheet.numbers.items():
        writer.note(state, number)
    plan = None
    if len(endless):
        plan = _Plan(writer)
        ranks = plan.ranks()
    with (
        tempfile.TemporaryFile("w+") as own,
        tempfile.TemporaryFile("w+") as within,
        long_numbers(),
    ):
        at = n_states
        for number, (state, found) in enumerate(sheet.positions()):
            if not number % EACH:
                told("certificate: writing positions", number, n_states)
            if plan is None:
                writer.note_parts(state, at, found)
            for k, throws in enumerate(found):
                # In the file the parts of all states follow the last state, so they wait in a file
                # of their own.
                place = at + k - 1 if k else number
                table = None if plan is None else plan.table[place]
                print(writer.moves(state, throws, table), file=within if k else own)
            at += len(found) - 1
        told("certificate: writing the file", 0, None)
        return _put_together(writer, ranks, (own, within), path_of(path))


def _state_text(game: Game, state: Any) -> str:
    fields = in_fields(fields_of(game), numbers_of(game, state), field_words(game))
    return state_text(fields)


def _place(game: Game, states: Sequence[Any], number: int) -> str:
    """A position in words; those within a turn follow the states."""
    return _state_text(game, states[number]) if number < len(states) else "a throw"


def _unit(sheet: _Sheet, claims: Claims) -> int:
    """The number of units in 1."""
    unit = 1
    for state in sheet.numbers:
        for row in sheet.claimed(claims, state):
            unit = lcm(unit, *(int(number.as_integer_ratio()[1]) for number in row))
    unit = lcm(unit, *(part.denominator for row in sheet.rows.values() for part in row))
    # room for the rounding of bounds within turns with a pool of dice
    return unit * (2**32 if sheet.n_parts else 1)


def worths_of_endless(game: Game, most: Fraction = Fraction(0)) -> tuple[Fraction, Fraction] | None:
    """The worth of endless play in the upper bounds of both roles; None without any.

    Where points count, endless play of one player costs without bound: no less than `most`.
    """
    if game.objective != "win":
        return (-most, most) if game.players == 1 else None
    lost = Fraction(-1), Fraction(1)
    worths = {"draw": (Fraction(0),) * 2, "lose": lost if game.players == 1 else (Fraction(1),) * 2}
    return worths.get(game.endless)


class _Plan:
    """Ranks and a table that end play, or bring it to positions that are worth endless play.

    The node (i, j) is the position i while role j leaves the table. It has rank 0 if the upper
    bound of j is at least the worth of endless play to j.
    """

    def __init__(self, writer: _Writer) -> None:
        sheet = writer.sheet
        self.writer = writer
        positions: list[Throws] = [[] for _ in range(writer.n)]
        at = writer.n_states
        for number, (state, found) in enumerate(sheet.positions()):
            writer.note_parts(state, at, found)
            positions[number] = found[0]
            positions[at : at + len(found) - 1] = found[1:]
            at += len(found) - 1
        self.positions = positions
        most = max(abs(x) for row in writer.upper for x in row)
        worths = worths_of_endless(sheet.game, Fraction(most, writer.unit))
        assert worths is not None
        writer.endless = [int(worth * writer.unit) for worth in worths]
        self.rank = [
            [0 if row[role] >= writer.endless[role] else -1 for role in (0, 1)]
            for row in writer.upper
        ]
        self.worths = [
            [[writer.ahead(writer.upper, 1, way) for way in ways] for _, ways in throws]
            for throws in positions
        ]
        self.table = [[row.index(min(row)) for row in rows] for rows in self.worths]
        self.allowed = [self._room(number) for number in range(writer.n)]

    def _room(self, number: int) -> Fraction:
        """By how much an action of the table may be worse than the best one."""
        weights = [Fraction(weight) for weight, _ in self.positions[number]]
        pairs = zip(weights, self.worths[number], strict=True)
        least: Fraction = sum((w * min(row) for w, row in pairs), Fraction(0)) / sum(weights)
        upper: int = self.writer.upper[number][1]
        return upper - least

    def _leads(self, way: Way, role: int, height: int) -> bool:
        for one in way.outcomes:
            if one.row is not None:
                return True
            if 0 <= self.rank[self.writer.number(one.to)][(role - one.seats) % 2] < height:
                return True
        return False

    def _descends(self, number: int, role: int, height: int) -> bool:
        for t, (_, ways) in enumerate(self.positions[number]):
            # Role 0 may take any action here. Role 1 leaves the table elsewhere, so the table's
            # action counts. One throw is enough, and its action may use the whole room.
            leads = [self._leads(way, role, height) for way in ways]
            if not role and all(leads):
                return True
            row, room = self.worths[number][t], self.allowed[number]
            good = [k for k, x in enumerate(row) if leads[k] and x - min(row) <= room]
            if role and good:
                self.table[number][t] = good[0]
                return True
        return False

    def _fault(self, number: int, role: int) -> str:
        """A node without a rank, in words."""
        writer, game = self.writer, self.writer.sheet.game
        who = "the opponent" if role else "the mover" if game.players > 1 else "the player"
        assert writer.endless is not None
        worth, bound = (x / writer.unit for x in (writer.endless[role], writer.upper[number][role]))
        either = ", whoever keeps it up" if game.players > 1 and worth else ""
        where = _place(game, list(writer.sheet.numbers), number)
        return (
            f"{game.name} has no certificate: play from {where} isn't shown to end if {who} leaves "
            f"the table; a certificate counts endless play as {worth:g} for {who}{either}, more "
            f"than the upper bound {bound:.6g}"
        )

    def ranks(self) -> list[list[int]]:
        """The ranks of both roles in every position.

        Raises
        ------
        NotConverged
        """
        left = [(i, j) for i, row in enumerate(self.rank) for j in (0, 1) if row[j] < 0]
        height = 1
        # The nodes of one height are found together: each leads to smaller ranks.
        while left:
            new = [node for node in left if self._descends(*node, height)]
            if not new:
                raise NotConverged(self._fault(*left[0]))
            for number, role in new:
                self.rank[number][role] = height
            left, height = [node for node in left if self.rank[node[0]][node[1]] < 0], height + 1
        return self.rank


def _put_together(writer: _Writer, ranks: Any, moves: Sequence[IO[str]], path: Path) -> Summary:
    game, bounds = writer.sheet.game, zip(writer.lower, writer.upper, strict=True)
    sums = hashlib.sha256()
    most = max((abs(x) for row in (*writer.lower, *writer.upper) for x in row), default=0)
    all_ranks = [rank if isinstance(rank, list) else [rank] for rank in list(ranks)]
    height = int(max(map(max, all_ranks), default=0)) + 1

    def lines() -> Iterator[str]:
        yield MAGIC
        yield f"game {title_of(game.name, game.parameters)}"
        yield f"players {writer.players}"
        yield f"zero-sum {'yes' if writer.players == 2 else 'no'}"
        if writer.endless is not None:
            yield f"endless {' '.join(map(str, writer.endless))}"
        yield f"unit 1/{writer.unit}"
        yield f"fields {' '.join(fields_of(game))}"
        yield f"positions {writer.n}"
        yield f"most {writer.most}"
        yield f"height {height}"
        yield f"range {most}"
        yield f"rows {len(writer.rows)}"
        for row in writer.rows:
            yield " ".join(map(str, row))
        yield "claims"
        states = iter(writer.sheet.numbers)
        for number, (rank, (lower, upper)) in enumerate(zip(all_ranks, bounds, strict=True)):
            place = ["-"]
            if number < writer.n_states:
                place = ["=", *map(str, numbers_of(game, next(states)))]
            yield " ".join([*map(str, (*rank, *lower, *upper)), *place])
        yield "moves"
        for spool in moves:
            spool.seek(0)
            for line in spool:
                yield line.rstrip("\n")

    def write(place: Path) -> None:
        with place.open("wb") as file:
            for line in lines():
                text = f"{line}\n".encode()
                sums.update(text)
                file.write(text)
            file.write(f"sha256 {sums.hexdigest()}\n".encode())

    write_atomically(path, write)
    return Summary(writer.n, height, path.stat().st_size)


def same_game(game: Game) -> Callable[[Certificate, int, Position], str]:
    """A check whether the positions of a certificate are those of a rule sheet, in order."""
    expected: Iterator[tuple[Any, Throws]] = iter(())

    def compare(c: Certificate, number: int, position: Position) -> str:
        nonlocal expected
        if not number:
            expected = _in_order(_Sheet(game, endless=c.endless is not None))
        state, throws = next(expected, (None, None))
        if throws is None:
            return "the rule sheet has fewer positions"
        is_last = number == c.n - 1
        if is_last and next(expected, None) is not None:
            return "the rule sheet has more positions"
        if not number and (fault := _other_head(c, game)):
            return fault
        here = None if state is None else numbers_of(game, state)
        if here != c.state[number]:
            return f"the rule sheet has {state or 'a throw'} here"
        mine = _plain_moves(throws, lambda to: to[1] if to[0] == "state" else c.n_states + to[1])
        return "" if mine == _moves_of(c, position) else "the rule sheet has other moves here"

    return compare


def _other_head(c: Certificate, game: Game) -> str:
    """The first difference between the first lines of a certificate and a game."""
    title = title_of(game.name, game.parameters)
    if c.game != title:
        return f"the certificate is of {c.game}, and not of {title}"
    roles = game.players if c.endless is None else max(game.players, 2)
    if c.players != roles or c.zero_sum != (roles == 2):
        return "the rule sheet has another number of players"
    if c.endless is not None:
        worths = worths_of_endless(game, c.range * c.unit)
        if worths is None or tuple(worth * c.unit for worth in c.endless) != worths:
            return "the rule sheet has another worth of endless play"
    return "" if c.fields == fields_of(game) else "the rule sheet has other fields"


def _plain_moves(throws: Throws, number: Callable[[Any], int]) -> Moves:
    """The moves of a rule sheet, in fractions."""
    chances = [Fraction(weight) for weight, _ in throws]
    return [
        (chance / sum(chances), [
            (tuple(way.reward), [
                (Fraction(one.weight) / sum(o.weight for o in way.outcomes),
                 *((one.seats, number(one.to)) if one.row is None else (-1, tuple(one.row))))
                for one in way.outcomes
            ])
            for way in ways
        ])
        for chance, (_, ways) in zip(chances, throws, strict=True)
    ]  # fmt: skip


def _moves_of(c: Certificate, position: Position) -> Moves:
    """The moves of a position of a certificate, in fractions."""
    total = sum(weight for weight, _ in position.throws)
    return [
        (Fraction(weight, total), [
            (c.payoffs[way.reward], [
                (Fraction(w, position.lot), seats, c.payoffs[to] if seats < 0 else to)
                for w, seats, to in way.outcomes
            ])
            for way in ways
        ])
        for weight, ways in position.throws
    ]  # fmt: skip


def _in_order(sheet: _Sheet) -> Iterator[tuple[Any, Throws]]:
    """The positions in the order of a certificate: all states, then all positions within turns."""
    for state, found in sheet.positions():
        yield state, found[0]
    for _, found in sheet.positions():
        yield from ((None, throws) for throws in found[1:])


def fields_of(game: Game) -> list[str]:
    """The names of the numbers of a state, as `numbers_of` lists them."""
    start, names = game.start(), []
    for name, value in zip(start._fields, start, strict=True):
        shown = game.column_names.get(name, name)
        if shown:
            is_tuple = isinstance(value, tuple)
            names += [f"{shown}.{k}" for k in range(len(value))] if is_tuple else [shown]
    return names
