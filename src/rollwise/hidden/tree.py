"""Positions unfolded into two trees of information sets, one for each player, and their payoffs.

A player has perfect recall. An information set is the list of all earlier sights and actions of a
player, with the present sight. A sequence is an information set with one of its actions, and
sequence 0 is the empty one. The payoff of the first player is bilinear in the realization weights
x and y of sequences: the sum of ``payoffs * x[rows] * y[columns]`` (Koller, Megiddo and von
Stengel 1996). Chance is part of the payoffs.

Histories with the same position and the same two sequences have the same future. They are one
node, and the chances of their paths add up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, RulesError, TooManyStates, spelled
from rollwise.graph.lotteries import Components, spans
from rollwise.hidden.positions import DEAL, ENDED, Positions

LIMIT = 60_000_000  # nodes of the tree, unless a limit is given
ROUNDS = (
    "a game is solved round by round where both players know of a fresh throw and the state keeps "
    "only what still counts (see 'Rounds' in docs/bluffing.md)"
)


@dataclass(frozen=True, eq=False)
class Seat:
    """The information sets and sequences of one player. Parents have smaller numbers.

    Attributes
    ----------
    parents : (n_sets,) int64
        The player's last sequence before each information set.
    first : (n_sets + 1,) int64
        The first sequence of each set. The sequences of set k are first[k] to first[k + 1] - 1.
    examples : (n_sets,) int64
        A position of each information set.
    numbers : dict
        The information set by the last sequence and the sight.
    """

    parents: NDArray[np.int64]
    first: NDArray[np.int64]
    examples: NDArray[np.int64]
    numbers: dict[tuple[int, int], int]

    @property
    def n_sequences(self) -> int:
        """The number of sequences, with the empty one."""
        return int(self.first[-1])

    def set_of(self, sequence: int) -> int:
        """The information set of a sequence other than 0."""
        return int(np.searchsorted(self.first, sequence, "right")) - 1


@dataclass(frozen=True, eq=False)
class Tree:
    """A game in sequence form.

    Attributes
    ----------
    seats : (Seat, Seat)
    rows, columns : (n,) int64
        Sequences of the first and of the second player.
    payoffs, masses : (n,) float64 or object
        The payoff of the first player times the chance, and the chance that play ends there.
    extents : (n,) float64 or object
        The sum of absolute payoffs times their chances, of which `payoffs` has the sum.
    exits : (n,) int64
        ``2 * k + player`` where round ``exits[k]`` of `Positions` begins, with this player as its
        first mover; else -1.
    nodes, depth : int
        The histories, with equal ones merged, and the length of the longest.
    terms : int
        The payoffs before those of equal pairs were added up.
    """

    positions: Positions
    seats: tuple[Seat, Seat]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    payoffs: NDArray[Any]
    masses: NDArray[Any]
    extents: NDArray[Any]
    exits: NDArray[np.int64]
    nodes: int
    depth: int
    terms: int

    def paying(self, values: NDArray[Any], less: float = 0.0) -> Tree:
        """The tree, where the rounds that follow have these values for the first player.

        Parameters
        ----------
        values : (2 * n_exits,) float64 or object
            As `exits` counts.
        less : float
            Taken from all payoffs. Where a round has this value nothing is left, without rounding.
        """
        if not len(values):
            return self
        payoffs, extents, leaves = self.payoffs.copy(), self.extents.copy(), self.exits >= 0
        if less:
            payoffs -= less * self.masses
            extents += abs(less) * self.masses
        left = values - less if less else values  # fractions stay fractions
        payoffs[leaves] = self.masses[leaves] * left[self.exits[leaves]]
        extents[leaves] = abs(payoffs[leaves])
        return replace(self, payoffs=payoffs, extents=extents)

    def in_doubles(self) -> Tree:
        """The tree with doubles, if it has fractions."""
        if self.payoffs.dtype != object:
            return self
        names = ("payoffs", "masses", "extents")
        return replace(self, **{name: getattr(self, name).astype(np.float64) for name in names})


class _Sets:
    """The information sets of one player, numbered as they are met."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        numbers: dict[Any, int] = {}
        self.menus = np.array([numbers.setdefault(m, len(numbers)) for m in positions.menus])
        self.numbers: dict[tuple[int, int], int] = {}
        self.parents: list[int] = []
        self.first = [1]
        self.examples: list[int] = []

    def enter(self, places: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first sequence of the information set of each node."""
        sights = self.positions.sights[places]
        width = len(self.positions.states) + 1
        # all nodes of this depth at once: equal pairs of sequence and sight are one set
        keys, index, inverse = np.unique(
            last * width + sights, return_index=True, return_inverse=True
        )
        sets = np.empty(len(keys), np.int64)
        for k, (sequence, sight, place) in enumerate(
            zip(last[index].tolist(), sights[index].tolist(), places[index].tolist(), strict=True)
        ):
            number = self.numbers.setdefault((sequence, sight), len(self.parents))
            if number == len(self.parents):
                self.parents.append(sequence)
                self.examples.append(place)
                self.first.append(self.first[-1] + len(self.positions.menus[place][0]))
            sets[k] = number
        sets = sets[inverse]
        examples = np.array(self.examples)[sets]
        for node in np.flatnonzero(self.menus[examples] != self.menus[places])[:1].tolist():
            refuse_menus(self.positions, int(examples[node]), int(places[node]))
        return np.array(self.first)[sets]

    def done(self) -> Seat:
        parents, first, examples = (
            np.array(part, np.int64) for part in (self.parents, self.first, self.examples)
        )
        return Seat(parents, first, examples, self.numbers)


def refuse_menus(positions: Positions, *pair: int) -> NoReturn:
    """Raise the error that the actions depend on hidden fields, for two positions."""
    one, other = (
        f"{positions.text(place)} they are "
        + ", ".join(positions.action_name(a, place) for a in positions.menus[place][0])
        for place in pair
    )
    raise RulesError(
        f"{positions.title}: the actions depend on fields that are hidden from the mover: in "
        f"{one}; in {other}; the mover can't tell these apart"
    )


COUNT = "count the rounds in a field, and end the game"


def check_ends(
    positions: Positions,
    what: str = "with hidden fields every round must end",
    remedy: str = f"return to a throw or choice of which both players know, or {COUNT}",
) -> None:
    """Refuse play that can return to a position; `what` names the need of an end.

    Raises
    ------
    EndlessPlay
    """
    first = positions.first_outcome[positions.first_choice]
    found = Components.of(first, positions.targets.astype(np.int32))
    loops = found.order[found.indptr[:-1]][np.diff(found.indptr) > 1].tolist()
    sources = np.repeat(np.arange(len(positions.states)), np.diff(first))
    loops += sources[sources == positions.targets].tolist()
    for place in loops[:1]:
        if positions.kinds[place] == DEAL:
            remedy = f"deal(s) yields nothing where all is dealt; otherwise {remedy}"
        raise EndlessPlay(
            f"{positions.title}: play can return to the position {positions.text(place)}; {what}: "
            f"{remedy}"
        )


def unfold(positions: Positions, exact: bool = False, limit: int | None = None) -> Tree:
    """Unfold positions into information sets.

    Parameters
    ----------
    exact : bool
        Whether payoffs are fractions (dtype object); else they are doubles.
    limit : int, optional
        The most nodes.

    Raises
    ------
    RulesError, EndlessPlay, TooManyStates
    """
    check_ends(positions)
    limit = limit or LIMIT
    number: Any = object if exact else np.float64
    chances = positions.chances(exact)
    ends = positions.payoffs.astype(number)
    rewards = positions.rewards.astype(number)
    pays = bool(np.any(rewards != 0))
    sets = _Sets(positions), _Sets(positions)
    place, turn = np.zeros(1, np.int64), np.zeros(1, np.int64)
    last = np.zeros((2, 1), np.int64)
    weight = np.ones(1, number)
    leaves: list[tuple[NDArray[Any], ...]] = []
    nodes, depth = 0, 0
    # one depth of the tree at a time, all its nodes in arrays
    while len(place):
        nodes, depth = nodes + len(place), depth + 1
        if nodes > limit:
            more = spelled(python="max_states=N", command_line="--max-states N")
            raise TooManyStates(
                f"{positions.title} has more than {limit:,} histories",
                f"; take fewer dice, cards or sides, or allow more with {more}; {ROUNDS}",
            )
        base = last.copy()  # the sequence of the first action; for the player who doesn't choose, 0
        moves = positions.kinds[place] != DEAL
        for seat in (0, 1):
            mine = moves & (turn == seat)
            if mine.any():
                base[seat, mine] = sets[seat].enter(place[mine], last[seat, mine])
        count = np.diff(positions.first_choice)[place]
        node = np.repeat(np.arange(len(place)), count)
        choice = spans(positions.first_choice[place], count)
        within = choice - positions.first_choice[place[node]]
        after = base[:, node]
        # the mover's sequence goes on by the action; the other player's stays
        for seat in (0, 1):
            after[seat] += np.where(moves[node] & (turn[node] == seat), within, 0)
        sign = np.where(turn[node] == 0, 1, -1)
        # a reward on the way is a leaf of its own, with no mass of chance
        if pays and (given := rewards[choice] != 0).any():
            amount = weight[node][given] * rewards[choice[given]] * sign[given]
            no_round = np.full(len(amount), -1)
            leaves.append((*after[:, given], no_round, amount, amount * 0, abs(amount)))
        count = np.diff(positions.first_outcome)[choice]
        edge = spans(positions.first_outcome[choice], count)
        source = np.repeat(np.arange(len(choice)), count)
        after, sign = after[:, source], sign[source]
        weight, turn = weight[node[source]] * chances[edge], turn[node[source]]
        over = positions.targets[edge] < 0
        worth = weight[over] * ends[edge[over]] * sign[over]
        # ENDED gives -1, and the round k that begins 2 k or 2 k + 1
        mover = turn[over] ^ positions.turns[edge[over]]
        entered = np.maximum(2 * (ENDED - 1 - positions.targets[edge[over]]) + mover, -1)
        leaves.append((*after[:, over], entered, worth, weight[over], abs(worth)))
        on = ~over
        place, turn = positions.targets[edge[on]], turn[on] ^ positions.turns[edge[on]]
        last, weight = after[:, on], weight[on]
        place, turn, last, weight = _merged(place, turn, last, weight)
    seats = sets[0].done(), sets[1].done()
    rows, columns, exits, *numbers = (np.concatenate(part) for part in zip(*leaves, strict=True))
    # leaves with the same pair of sequences and the same next round add up to one entry
    width = 2 * len(positions.exits or ()) + 1
    keys = (rows * seats[1].n_sequences + columns) * width + exits + 1
    entries, inverse = np.unique(keys, return_inverse=True)
    payoffs, masses, extents = (added(inverse, part, len(entries)) for part in numbers)
    pairs, exits = entries // width, entries % width - 1
    rows, columns = np.divmod(pairs, seats[1].n_sequences)
    return Tree(
        positions, seats, rows, columns, payoffs, masses, extents, exits, nodes, depth, len(keys)
    )


def added(keys: NDArray[np.int64], numbers: NDArray[Any], length: int) -> NDArray[Any]:
    """The sum of the numbers of each key from 0 to length - 1."""
    if numbers.dtype != object:
        return np.bincount(keys, numbers, length)
    sums = np.zeros(length, object)
    np.add.at(sums, keys, numbers)
    return sums


def _merged(
    place: NDArray[Any], turn: NDArray[Any], last: NDArray[Any], weight: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """Nodes with the same position and sequences as one, with the sum of their chances."""
    if len(place) < 2:
        return place, turn, last, weight
    columns = np.stack([2 * place + turn, *last])
    order = np.lexsort(columns)
    columns = columns[:, order]
    new = np.concatenate([[True], (columns[:, 1:] != columns[:, :-1]).any(axis=0)])
    sums = np.add.reduceat(weight[order], np.flatnonzero(new))
    columns = columns[:, new]
    return columns[0] >> 1, columns[0] & 1, columns[1:], sums
