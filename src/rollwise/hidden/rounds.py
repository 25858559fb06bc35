"""The rounds of a game with hidden fields, found among its positions.

After a fresh throw nothing earlier matters, if both players know of it: the rest is a game of its
own, with one value. So rounds are solved from the last to the first, and a round ends with the
values of the rounds after it. Rounds that can return to each other are solved together (see
`cycles`). This is exact for games in which one player gains the loss of the other: both can play
the optimal strategy of a round, whatever happened before.

Both players must know the round that they play. They remember their own sights and actions. A
position begins a round if the last choice of a player and the present sight always tell the round
that began between the two, if any, and its first mover.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.lotteries import Components

NONE = -1  # no round began


def candidates(
    is_choice: NDArray[np.bool_],
    sights: NDArray[np.int64],
    first: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The positions that may begin a round: deals, and choices of a mover who sees everything.

    Such a choice must be worth a round: several outcomes lead there, or players didn't know all.

    Parameters
    ----------
    is_choice : (n,) bool
        Where a player moves; elsewhere chance does.
    first : (n + 1,) int64
        The first outcome of each position.
    """
    n = len(sights)
    is_sure = np.bincount(sights)[sights] == 1
    on = targets >= 0
    sources, targets = np.repeat(np.arange(n), np.diff(first))[on], targets[on]
    gathers = np.bincount(targets, minlength=n) > 1
    gathers[targets[~is_sure[sources]]] = True
    found: NDArray[np.bool_] = is_sure & (gathers | ~is_choice)
    found[0] = True
    return found


def beginnings(
    is_choice: NDArray[np.bool_],
    sights: NDArray[np.int64],
    first_choice: NDArray[np.int64],
    first_outcome: NDArray[np.int64],
    targets: NDArray[np.int64],
    turns: NDArray[np.int8],
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The positions that begin a round, and an order of all positions.

    Without any beginning there is one round, in which play may return.

    Parameters
    ----------
    all
        As in `rollwise.hidden.positions.Positions`.

    Returns
    -------
    begins : (n,) bool
    order : (n,) int64
        Each position comes after all that can follow it, unless play can return.
    """
    first = first_outcome[first_choice]
    whole = Components.of(first, targets.astype(np.int32))
    may_return = has_circles(whole, first, targets)
    found = candidates(is_choice, sights, first, targets)
    nothing = np.zeros(len(found), bool), whole.order.astype(np.int64)
    lists = [part.tolist() for part in (is_choice, sights, first_choice, first_outcome)]
    lists += [targets.tolist(), turns.tolist()]
    component = np.repeat(np.arange(len(whole)), np.diff(whole.indptr))[whole.position]
    # a position that players may not know of begins no round; without it others may be unknown
    while may_return or found.sum() > 1:
        # an outcome leads out of a round where another one begins
        within = np.where((targets >= 0) & ~found[targets], targets, NONE).astype(np.int32)
        parts = Components.of(first, within)
        if may_return and has_circles(parts, first, within):
            return nothing
        order = np.lexsort((parts.position, component))
        unknown = _unknown(found.tolist(), may_return, order.tolist(), *lists)
        if unknown == {0}:  # a return to the start must be known too
            return nothing
        if not unknown:
            return found, order
        found[list(unknown - {0})] = False
    return found, nothing[1]


def has_circles(parts: Components, first: NDArray[np.int64], targets: NDArray[Any]) -> bool:
    """Whether play can return to a position."""
    sources = np.repeat(np.arange(len(parts.order)), np.diff(first))
    return len(parts) < len(parts.order) or bool((sources == targets).any())


def _unknown(
    begins: list[bool],
    may_return: bool,
    order: list[int],
    is_choice: list[bool],
    sights: list[int],
    first_choice: list[int],
    first_outcome: list[int],
    targets: list[int],
    turns: list[int],
) -> set[int]:
    """The beginnings of rounds that some player may not know of at the next choice.

    Of each position and each player (0: its mover) the pairs "last round that began, next sight" of
    this player are listed. A round is ``2 * position + player``, and a pair is one number.
    """
    width = max(sights) + 1
    known: dict[frozenset[int], frozenset[int]] = {}  # equal sets are one
    nobody: frozenset[int] = frozenset()
    after: tuple[list[frozenset[int]], ...] = tuple([nobody] * len(order) for _ in range(2))
    # by last choice (sight and number), or by player for the first choice
    lasts: dict[tuple[int, int], frozenset[int]] = {}

    def one(pairs: frozenset[int]) -> frozenset[int]:
        return known.setdefault(pairs, pairs)

    def note(last: tuple[int, int], pairs: frozenset[int]) -> None:
        """Add the pairs after a last choice, of which several positions may have the same."""
        if (others := lasts.setdefault(last, pairs)) is not pairs:
            lasts[last] = one(others | pairs)

    def from_choice(choice: int, player: int) -> frozenset[int]:
        """The pairs after a choice, of the mover or of the other player."""
        begin, end = first_outcome[choice], first_outcome[choice + 1]
        if end == begin + 1:
            return after[player ^ turns[begin]][targets[begin]] if targets[begin] >= 0 else nobody
        return one(
            nobody.union(
                *(
                    after[player ^ turns[k]][targets[k]]
                    for k in range(begin, end)
                    if targets[k] >= 0
                )
            )
        )

    def one_pass() -> bool:
        """List the pairs of all positions, and whether some of them are new."""
        is_new = False
        # the last positions first: all that can follow is known, unless play can return
        for place in order:
            choices = range(first_choice[place], first_choice[place + 1])
            for player in (0, 1):
                if is_choice[place] and player == 0:
                    for k, choice in enumerate(choices):
                        note((sights[place], k), from_choice(choice, 0))
                    pairs = frozenset([sights[place]])  # NONE with this sight
                else:
                    pairs = nobody.union(*{from_choice(choice, player) for choice in choices})
                if begins[place]:
                    # the round is the last one, unless a later round has begun
                    shift = (2 * place + player + 1) * width
                    pairs = frozenset(pair + shift if pair < width else pair for pair in pairs)
                pairs = one(pairs)
                is_new |= pairs is not after[player][place]
                after[player][place] = pairs
        return is_new

    # sets only grow, so the passes come to an end
    while one_pass() and may_return:
        pass
    for player in (0, 1):
        note((NONE, player), after[player][0])
    # two different rounds with the same last choice and the same next sight are unknown
    unknown: set[int] = set()
    for pairs in set(lasts.values()):
        found: dict[int, int] = {}
        for pair in pairs:
            number, sight = pair // width - 1, pair % width
            if (other := found.setdefault(sight, number)) != number:
                unknown.update(key >> 1 for key in (number, other) if key != NONE)
    return unknown


def reached(
    root: int, begins: NDArray[np.bool_], first: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The positions of a round in ascending order, its first position before them."""
    found, stack = {root}, [root]
    # depth first, up to the beginnings of other rounds
    while stack:
        place = stack.pop()
        for target in targets[first[place] : first[place + 1]].tolist():
            if target >= 0 and target not in found and not begins[target]:
                found.add(target)
                stack.append(target)
    return np.array([root, *sorted(found - {root})], np.int64)


def numbers_in(places: NDArray[np.int64], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each wanted number in a list of different numbers."""
    order = np.argsort(places)
    return order[np.searchsorted(places, wanted, sorter=order)].astype(np.int64)
