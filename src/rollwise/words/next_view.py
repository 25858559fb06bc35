"""How the next player sees the fields of a position: my score is a "rival" there.

Rules don't name the fields exchanged at a PASS. The numbers of players who don't move are mostly
carried over exactly, each to the field in which the next player sees it. So ways in which fields
may go round the table are compared by the numbers that they carry over. Two independent fields
agree by chance, and two constant ones always, so a share of agreement is measured beyond that of
independent fields with the same frequencies: Cohen's kappa.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, permutations

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph

SAMPLE = 4096  # number of passes examined
EQUAL = 1e-9  # difference of shares that counts as none
LEAST = 0.25  # share of numbers carried over beyond chance, by different fields
LEAST_OF_PARTS = 0.1  # the same, by the parts of a tuple
FEWEST = 2  # passes carried over beyond chance
NEARER = 0.75  # of the distance between fields in place, at most


def as_next_sees(graph: StateGraph) -> tuple[int, ...]:
    """The field of each number as the next player sees it.

    The parts of a tuple stay together: as a whole it changes places with another one, or it has
    an equal part for each player, and these go round. Fields stay in place where no way round the
    table carries over more of their numbers.

    Returns
    -------
    tuple of int
        For field i before a PASS, its field in the state after it, if its value hasn't changed.
        -1 for a field without a place in the next player's view, or written anew at each PASS:
        whose turn it is, or the marks of a board on which 1 is mine and 2 is theirs.
    """
    seen = list(range(len(graph.field_names)))
    passes = np.flatnonzero((graph.outcome_passes == 1) & (graph.outcome_state >= 0))
    passes = passes[graph.outcome_state[passes] < graph.n_states]
    if not len(passes):
        return tuple(seen)
    passes = passes[:: max(1, len(passes) // SAMPLE)]
    actions = np.searchsorted(graph.outcome_indptr, passes, side="right") - 1
    shown = Passes(
        graph.fields[graph.action_state[actions]], graph.fields[graph.outcome_state[passes]]
    )
    wholes = _wholes(graph)
    claims = [_claim(shown, way) for way in _ways(shown, wholes, graph.players)]
    claims += [_claim_of_marks(shown, whole, graph.players) for whole in wholes]
    taken: set[int] = set()
    for claim in sorted(filter(None, claims), key=lambda claim: claim.rank):
        if taken.isdisjoint(claim.seen):
            taken |= claim.seen.keys()
            for field, place in claim.seen.items():
                seen[field] = place
    return tuple(seen)


@dataclass(frozen=True, eq=False)
class Passes:
    """The fields of positions before and after turns passed.

    Attributes
    ----------
    before, after : (passes, fields) int32
    """

    before: NDArray[np.int32]
    after: NDArray[np.int32]

    @cached_property
    def agree(self) -> NDArray[np.float64]:
        """The share of passes in which field i before equals field j after."""
        pairs = self.before[:, :, None] == self.after[:, None, :]
        return np.asarray(pairs.mean(axis=0))

    @cached_property
    def room(self) -> NDArray[np.float64]:
        """The share of passes in which these would differ if they were independent."""
        both = np.stack([self.before, self.after])
        numbers, codes = np.unique(both, return_inverse=True)
        codes = codes.reshape(both.shape)
        n, fields = self.before.shape
        often = np.zeros((2, fields, len(numbers)))
        for side in range(2):
            for field in range(fields):
                often[side, field] = np.bincount(codes[side, :, field], minlength=len(numbers)) / n
        return np.asarray(np.maximum(1 - often[0] @ often[1].T, 0))

    @cached_property
    def carried(self) -> NDArray[np.float64]:
        """The share of passes that carry over field i to field j, beyond chance; 0 if less."""
        return np.asarray(np.maximum(self.agree - 1 + self.room, 0))

    def share(self, block: list[int], places: list[int]) -> float:
        """The share of numbers carried over to these places, of those that would differ."""
        carried, room = (x[block, places].sum() for x in (self.carried, self.room))
        return float(carried / max(room, EQUAL))

    @cached_property
    def apart(self) -> NDArray[np.float64]:
        """The mean distance of field i before from field j after; inf if one is constant."""
        before, after = (np.asarray(side, np.float64) for side in (self.before, self.after))
        apart = np.stack([np.abs(after - column[:, None]).mean(axis=0) for column in before.T])
        apart[before.std(axis=0) == 0] = np.inf
        apart[:, after.std(axis=0) == 0] = np.inf
        return apart


@dataclass(frozen=True)
class Way:
    """A way in which fields may go round the table at a PASS.

    Attributes
    ----------
    blocks : list of list of int
        The fields of each player in the order of the table. In a tuple the mover is the first.
    places : list of list of int
        Where the next player sees each of them; -1 if nowhere.
    """

    blocks: list[list[int]]
    places: list[list[int]]
    is_of_parts: bool

    @property
    def seen(self) -> dict[int, int]:
        """The place of each field."""
        return dict(zip(chain(*self.blocks), chain(*self.places), strict=True))


@dataclass(frozen=True)
class Claim:
    """Places that fields have in the next player's view, and the evidence for them.

    Attributes
    ----------
    share : float
        Of the numbers of players who don't move, those carried over beyond chance: the mean of
        these players. 0 without evidence of this kind.
    more : float
        Numbers that a pass carries over, more than with the fields in place.
    """

    seen: dict[int, int]
    share: float = 0.0
    more: float = 0.0

    @property
    def rank(self) -> tuple[float, float]:
        """The best claim has the lowest rank."""
        return -round(self.share, 9), -round(self.more, 9)


def _wholes(graph: StateGraph) -> list[list[int]]:
    """The numbers of each field of the rules: the parts of a tuple are one field."""
    wholes: dict[str, list[int]] = defaultdict(list)
    for f, name in enumerate(graph.field_names):
        if name not in graph.throw_names:  # a throw is nobody's
            wholes[name.partition(".")[0]].append(f)
    return list(wholes.values())


def _ways(shown: Passes, wholes: Sequence[list[int]], players: int) -> Iterator[Way]:
    """All ways in which the fields of the players may go round the table."""
    for whole in wholes:
        if len(whole) % players == 0:
            yield from _both_ways(_split(whole, players), is_of_parts=True)
        # a tuple of the other players, and a field of the mover, or none
        if players > 2 and len(whole) % (players - 1) == 0:
            others = _split(whole, players - 1)
            gone = [-1] * len(others[0])
            yield Way(others, [gone, *others[:-1]], is_of_parts=True)
            for own in wholes:
                if own is not whole and len(own) == len(gone):
                    yield from _both_ways([own, *others])
    for n in sorted(set(map(len, wholes))):
        alike = [whole for whole in wholes if len(whole) == n]
        if players > 2:  # with many fields there are too many cycles to try all
            alike = [whole for whole in alike if _is_linked(shown, whole, alike)]
        for blocks in permutations(alike, players):
            if blocks[0] == min(blocks):
                yield from _both_ways(list(blocks))


def _is_linked(shown: Passes, whole: list[int], others: Sequence[list[int]]) -> bool:
    """Whether a field carries over from another one, or to it."""
    pairs = [
        pair for other in others if other != whole for pair in ((whole, other), (other, whole))
    ]
    return any(shown.share(*pair) >= LEAST_OF_PARTS for pair in pairs)


def _split(whole: Sequence[int], parts: int) -> list[list[int]]:
    each = len(whole) // parts
    return [list(whole[k : k + each]) for k in range(0, len(whole), each)]


def _both_ways(blocks: list[list[int]], *, is_of_parts: bool = False) -> Iterator[Way]:
    """The blocks go round in either direction; two players may sit on two sides of a board."""
    there, back = [*blocks[-1:], *blocks[:-1]], [*blocks[1:], *blocks[:1]]
    yield Way(blocks, there, is_of_parts)
    if len(blocks) > 2:
        yield Way(blocks, back, is_of_parts)
    elif len(blocks[0]) > 1:
        yield Way(blocks, [block[::-1] for block in there], is_of_parts)


def _claim(shown: Passes, way: Way) -> Claim | None:
    """The claim of a way round the table; None if fields in place carry over as much."""
    stays = float(sum(shown.carried[f, f] for f in way.seen))
    pairs = [pair for pair in zip(way.blocks, way.places, strict=True) if -1 not in pair[1]]
    carried = float(sum(shown.carried[block, places].sum() for block, places in pairs))
    if carried <= stays + EQUAL:
        no_evidence = max(carried, stays) < EQUAL
        return Claim(way.seen) if no_evidence and _is_likelier(shown, way) else None
    # the mover's own numbers, the least carried over, are mostly new ones
    shares = sorted(shown.share(*pair) for pair in pairs)[len(pairs) == len(way.blocks) :]
    share = float(np.mean(shares))
    least = LEAST_OF_PARTS if way.is_of_parts else LEAST
    is_seen = share >= least and len(shown.before) * carried >= FEWEST
    return Claim(way.seen, share, carried - stays) if is_seen else None


def _is_likelier(shown: Passes, way: Way) -> bool:
    """Whether a way round fits better than fields in place, where nothing varied is carried over.

    In a tuple the mover is the first, and constant numbers of the others are carried over. Where
    each move changes the numbers of all players, these are nearer to the former ones.
    """
    if -1 in way.seen.values():
        return False
    if way.is_of_parts:
        others = [(f, way.seen[f]) for block in way.blocks[1:] for f in block]
        if sum(shown.agree[f, to] - shown.agree[f, f] for f, to in others) > EQUAL:
            return True
    moved = sum(shown.apart[f, to] for f, to in way.seen.items())
    return bool(moved <= NEARER * sum(shown.apart[f, f] for f in way.seen) < np.inf)


def _claim_of_marks(shown: Passes, whole: list[int], players: int) -> Claim | None:
    """The claim that numbers change sides, so that no field has a place.

    These are the marks of a board, a number that says whose turn it is, or the lead of the mover,
    which becomes the lead of the other player with the opposite sign.
    """
    stays, claims = shown.carried[whole, whole].sum(), []
    orders = [whole, whole[::-1]] if players == 2 else [whole]
    if len(whole) % players == 0:
        orders += [list(chain(*way.places)) for way in _both_ways(_split(whole, players))]
    for places in orders:
        before, after = shown.before[:, whole], shown.after[:, places]
        renamed = before.copy()
        for mark, next_mark in _followers(before, after, players).items():
            renamed[before == mark] = next_mark
        # a single field has too few numbers for any other rule than one without exceptions
        sides = [(renamed, LEAST if len(whole) > 1 else 1 - EQUAL)]
        sides += [(-before, LEAST)] if players == 2 else []
        for changed, least in sides:
            there = Passes(changed, after)
            carried, room = (np.diagonal(x).sum() for x in (there.carried, there.room))
            more, share = carried - stays, carried / max(room, EQUAL)
            if more > EQUAL and share >= least and len(before) * carried >= FEWEST:
                claims.append(Claim(dict.fromkeys(whole, -1), float(share), float(more)))
    return min(claims, key=lambda claim: claim.rank, default=None)


def _followers(before: NDArray[np.int32], after: NDArray[np.int32], players: int) -> dict[int, int]:
    """The marks that change sides, each with its next one: 1 becomes 2, and 2 becomes 1.

    The marks of a board are those of all players, so they form cycles of one mark for each. A
    cycle counts if more numbers agree with it than without.
    """
    same, counts = np.unique(np.stack([before.ravel(), after.ravel()]), axis=1, return_counts=True)
    ways = {(v, w): count for (v, w), count in zip(same.T.tolist(), counts.tolist(), strict=True)}
    if players == 2:  # a mark changes sides as often in each direction, a counter in one
        ways = {(v, w): min(count, ways.get((w, v), 0)) for (v, w), count in ways.items()}
    follows: dict[int, int] = {}
    followers: set[int] = set()
    for v, w in sorted(ways, key=lambda pair: (-ways[pair], pair)):
        if v not in follows and w not in followers:
            follows[v] = w
            followers.add(w)
    found: dict[int, int] = {}
    for v in follows:
        cycle = [v]
        while (w := follows.get(cycle[-1], v)) not in cycle:
            cycle.append(w)
        if len(cycle) == players and min(cycle) == v and follows.get(cycle[-1]) == v:
            least = min(ways[mark, follows[mark]] for mark in cycle)
            if players * least > sum(ways.get((mark, mark), 0) for mark in cycle):
                found |= {mark: follows[mark] for mark in cycle}
    return found
