"""The answer to a game with hidden fields, made of those to its rounds, and folds over the rounds.

A fold goes from the last rounds to the first: each round ends with the values of the rounds after
it. Rounds that can return to each other are folded together (see `cycles`). A game that never
begins anew is one round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import NotConverged
from rollwise.hidden import cycles
from rollwise.hidden.answer import (
    MOST_FOR_RANGES,
    Answer,
    OpenAnswer,
    Situation,
    Strategies,
    TreeAnswer,
)
from rollwise.hidden.check import Outcome, bounds, check_strategy, may_go_on, outcome
from rollwise.hidden.positions import Positions, Round
from rollwise.hidden.program import NARROW
from rollwise.hidden.tree import Tree

Part = TreeAnswer | OpenAnswer
LONGEST = 512  # bits of a fraction that an earlier round pays

# For a round, its first mover, the values of the rounds that follow it and a number less, as
# `Tree.paying` takes them, and a side: the result of `check.outcome`.
Worth = Callable[[int, int, NDArray[Any], float, int], Outcome]


@dataclass(frozen=True, eq=False, repr=False)
class HiddenAnswer(Answer):
    """The answer to a game with hidden fields.

    Attributes
    ----------
    parts : list of pairs
        For each round the strategies if the first player of the game is its mover, and if the
        second one is. Optimal strategies are the same.
    may_go_on : bool
        Whether play can go on for ever, as a draw.
    """

    parts: list[tuple[Part, Part]] = field(kw_only=True, repr=False)
    may_go_on: bool = field(kw_only=True, repr=False, default=False)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The round that begins at a position."""
        return {int(one.places[0]): k for k, one in enumerate(self.positions.rounds)}

    @cached_property
    def _local(self) -> list[dict[int, int]]:
        """By round, the numbers of its positions in the round."""
        return [
            {place: k for k, place in enumerate(one.places.tolist())}
            for one in self.positions.rounds
        ]

    @property
    def n_situations(self) -> int:
        return sum(part.n_situations for part, _ in self.parts)

    @property
    def n_histories(self) -> int:
        return sum(part.n_histories for part, _ in self.parts)

    @cached_property
    def _entered(self) -> NDArray[np.float64]:
        """How often play comes to each round on average, with each player as its mover."""
        found = np.zeros((len(self.parts), 2))
        found[0, 0] = 1.0
        # a group comes before those that follow it, so what enters it from outside is complete
        for group in reversed(self.positions.groups):
            arrived = found[group].ravel()
            after: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
            for k in group:
                exits = np.array(self.positions.rounds[k].positions.exits, np.int64)
                for mover, part in enumerate(self.parts[k]):
                    chances = np.broadcast_to(part.exit_chances.reshape(-1, 2), (len(exits), 2))
                    # the first player of the round is player `mover` of the game
                    after.append((exits, chances[:, :: 1 - 2 * mover]))
            if self.positions.returns(group):
                arrived = _visits(group, after, arrived)
                found[group] = arrived.reshape(-1, 2)
            for often, (exits, chances) in zip(arrived.tolist(), after, strict=True):
                on = ~np.isin(exits, group) & (often > 0)
                np.add.at(found, exits[on], often * chances[on])
        return found

    def _placed(self, number: int, one: Situation) -> Situation:
        """A situation of a round as one of the game."""
        place = int(self.positions.rounds[number].places[one.position])
        reach = one.reach * float(self._entered[number].sum())
        return replace(one, position=place, reach=reach, round=number)

    def situations(self, wanted: Mapping[str, Any] | None = None) -> Iterator[Situation]:
        for k, (part, _) in enumerate(self.parts):
            for one in part.situations(wanted):
                yield self._placed(k, one)

    # the memory of a player: the round, the round's first mover, and the memory within the round

    def enter(self, memory: Any, position: int, mover: int) -> Any:
        number = self._numbers.get(position)
        return memory if number is None else (number, mover, None)

    def at(self, memory: Any, seat: int, side: int, position: int) -> Situation:
        number, first, inner = memory
        part, place = self.parts[number][first], self._local[number][position]
        return self._placed(number, part.at(inner, seat ^ first, side, place))

    def remember(self, memory: Any, seat: int, position: int, index: int) -> Any:
        number, first, inner = memory
        part, place = self.parts[number][first], self._local[number][position]
        return number, first, part.remember(inner, seat ^ first, place, index)

    # ---- folds over the rounds, the last ones first

    def _fold(self, worth: Worth, *, proved: bool = True) -> tuple[float, float]:
        """The first player's payoff, and its bound (see `fold_group`)."""
        found = np.zeros((len(self.parts), 2, 2))
        for group in self.positions.groups:
            fold_group(self.positions, group, worth, found, self.may_go_on, proved=proved)
        value, bound = found[0, 0].tolist()
        return value, bound

    def _strategies(self, names: tuple[str, str]) -> list[tuple[Any, Any]]:
        """By round and mover, the strategies of the round's mover and of the other player."""
        return [
            (pair[0].strategies(names), pair[1].strategies((names[1], names[0])))
            for pair in self.parts
        ]

    def _evaluate(self, strategies: list[tuple[Any, Any]]) -> tuple[float, float]:
        return self._fold(
            lambda k, mover, values, less, side: (
                self.parts[k][mover].paying(values, less).outcome(strategies[k][mover], None, side)
            )
        )

    def _best_response(self, seat: int, strategies: list[tuple[Any, Any]]) -> tuple[float, float]:
        def worth(k: int, mover: int, values: NDArray[Any], less: float, side: int) -> Outcome:
            part = self.parts[k][mover].paying(values, less)
            return part.outcome(strategies[k][mover], seat ^ mover, side)

        value, bound = self._fold(worth)
        return (1 - 2 * seat) * value, bound

    def with_policies(self, names: tuple[str, str]) -> HiddenAnswer:
        strategies, parts = self._strategies(names), [list(pair) for pair in self.parts]

        def worth(k: int, mover: int, values: NDArray[Any], less: float, side: int) -> Outcome:
            part = self.parts[k][mover].paying(values)
            # the last call of a round has the values of the answer
            parts[k][mover] = part.playing(strategies[k][mover])
            return part.paying(values, less).outcome(strategies[k][mover], None, side)

        self._fold(worth, proved=False)
        return replace(self, parts=[(a, b) for a, b in parts], **self._proved_by(names))

    def unending(self, responder: int | None = None) -> NDArray[np.bool_] | None:
        if not self.may_go_on:
            return None
        ends = np.zeros((len(self.parts), 2), bool)  # by round and mover
        links = list[tuple[tuple[int, int], tuple[int, int]]]()
        for k, pair in enumerate(self.parts):
            after = exits_of(self.positions.rounds[k])
            for mover, part in enumerate(pair):
                assert isinstance(part, TreeAnswer)  # rounds that return have lists of histories
                free = None if responder is None else responder ^ mover
                over, begin = part.may_follow(free)
                ends[k, mover] = over
                links += [
                    ((k, mover), (after[n // 2], n % 2 ^ mover))
                    for n in np.flatnonzero(begin).tolist()
                ]
        # play can end where a round can follow in which it can
        while new := [one for one, next_one in links if ends[next_one] and not ends[one]]:
            ends[tuple(zip(*new, strict=True))] = True
        found = np.zeros((len(self.positions.states), 2), bool)
        for k, one in enumerate(self.positions.rounds):
            found[one.places[0]] = ~ends[k]
        return found

    @property
    def work_of_ranges(self) -> int:
        # where players can wait for ever, not all optimal strategies of a round are optimal
        works = [part.work_of_ranges for part, _ in self.parts]
        return 0 if self.may_go_on or not min(works) else max(works)

    def ranges(self, situation: Situation) -> list[tuple[float, float]]:
        return self.parts[situation.round][0].ranges(situation)

    def payoff_range(self, names: tuple[str, str]) -> tuple[float, float] | None:
        if names.count("optimal") != 1 or not 0 < self.work_of_ranges <= MOST_FOR_RANGES:
            return None
        seat, strategies = names.index("optimal"), self._strategies(names)

        def end(is_high: bool) -> float:
            def worth(k: int, mover: int, values: NDArray[Any], less: float, side: int) -> Outcome:
                part = self.parts[k][mover]
                assert isinstance(part, TreeAnswer)  # no others have ranges
                ends = part.range_of(seat ^ mover, strategies[k][mover], values)
                # the most of one player is the least of the other
                return ends[is_high ^ bool(mover)] - less, 0.0, part.exit_chances

            return self._fold(worth, proved=False)[0]

        low, high = end(False), end(True)
        scale = max(1.0, self.positions.stake)
        return (low, high) if high - low > NARROW * scale else None


def _visits(
    group: Sequence[int],
    after: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
    arrived: NDArray[np.float64],
) -> NDArray[np.float64]:
    """How often play comes to the rounds of a group, by mover; NaN if it may stay for ever.

    Parameters
    ----------
    after
        Of each round and mover the next rounds, and their chances by mover.
    arrived : (2 * len(group),) float64
        How often play comes there from outside.
    """
    place = {k: i for i, k in enumerate(group)}
    links: list[tuple[int, int, float]] = []
    for source, (exits, shares) in enumerate(after):
        for e, pair in zip(exits.tolist(), shares.tolist(), strict=True):
            if e in place:
                links += [(2 * place[e] + mover, source, pair[mover]) for mover in (0, 1)]
    chances = cycles.matrix(links, len(arrived))
    found = cycles.solved(chances, arrived)
    return np.full(len(arrived), math.nan) if found is None else found


def fold_group(
    positions: Positions,
    group: Sequence[int],
    worth: Worth,
    found: NDArray[Any],
    may_go_on: bool,
    *,
    proved: bool = True,
) -> None:
    """Find the payoffs of the game's first player in the rounds of a group, and their bounds.

    Parameters
    ----------
    worth : callable
        For a round, its first mover, the values of the rounds that follow it and a number less, as
        `Tree.paying` takes them, and a side: the result of `check.outcome`.
    found : (n_rounds, 2, 2) float64
        By round and first mover, the payoff and its bound. Those of later groups are known.
    proved : bool
        Whether bounds are looked for where play can return.

    Raises
    ------
    NotConverged
    """
    exits = {k: list(exits_of(positions.rounds[k])) for k in group}
    units = [(k, mover) for k in group for mover in (0, 1)]

    def after(k: int, mover: int) -> NDArray[np.float64]:
        """The values of the rounds that follow, for the mover, and their bounds."""
        pairs = found[exits[k]][:, :: 1 - 2 * mover].reshape(-1, 2)
        return pairs * (1 - 2 * mover, 1)

    if not positions.returns(group):
        for k, mover in units:
            values, errors = after(k, mover).T
            value, bound, _ = worth(k, mover, values, 0.0, 0)
            found[k, mover] = (1 - 2 * mover) * value, bound + errors.max(initial=0.0)
        return
    place = {k: i for i, k in enumerate(group)}

    def step(values: NDArray[np.float64], side: int) -> tuple[NDArray[Any], Any]:
        found[group, :, 0] = values.reshape(-1, 2)
        changes, links = np.empty(len(units)), list[tuple[int, int, float]]()
        for number, (k, mover) in enumerate(units):
            sign = 1 - 2 * mover
            own, errors = after(k, mover).T
            # the bounds of later groups; those of this one are 0 here
            own = own + sign * side * errors
            change, _, chances = worth(k, mover, own, sign * values[number], sign * side)
            changes[number] = sign * change
            for e, pair in zip(exits[k], chances.reshape(-1, 2).tolist(), strict=True):
                if e in place:
                    links += [(number, 2 * place[e] + (mover ^ m), pair[m]) for m in (0, 1)]
        return changes, cycles.matrix(links, len(units))

    found[group, :, 1], scale = 0.0, positions.stake
    if proved:
        values, bounds = cycles.enclosed(step, len(units), scale, positions.title, may_go_on)
        if bounds is None:
            if positions.has_rewards:
                raise NotConverged(f"{positions.title}: no bounds of its rounds are proved")
            bounds = abs(values) + scale  # no payoff is larger
    else:
        values = cycles.settle(step, len(units), scale, positions.title, slowly=may_go_on)
        bounds = np.zeros(len(units))
    found[group, :, 0], found[group, :, 1] = values.reshape(-1, 2), bounds.reshape(-1, 2)


def exits_of(one: Round) -> tuple[int, ...]:
    """The numbers of the rounds that can follow a round."""
    return one.positions.exits or ()


def both_of(values: Sequence[Any], number: Any = np.float64) -> NDArray[Any]:
    """The values of rounds for the first player of a round before them, by their movers."""
    return np.array([x for value in values for x in (value, -value)], number)


def values_of(parts: Sequence[Part]) -> list[Any]:
    """The values that rounds pay to earlier ones: fractions, unless these are long."""
    return [
        part.low if part.is_exact and part.low.denominator.bit_length() <= LONGEST else part.value
        for part in parts
    ]


def ends_of(parts: Sequence[Part]) -> list[tuple[Any, Any]]:
    """The bounds of rounds, for an earlier round."""
    return [(part.low, part.high) for part in parts]


def together(
    positions: Positions,
    parts: Sequence[tuple[Part, Part]],
    seconds: dict[str, float],
    **facts: Any,
) -> HiddenAnswer:
    """The answer with these rounds; the bounds of the first one are those of the game."""
    first = parts[0][0]
    facts = {
        "method": " and ".join(sorted({part.method for part, _ in parts})),
        "iterations": sum(part.iterations for part, _ in parts),
        **facts,
    }
    return HiddenAnswer(
        positions, first.low, first.high, seconds=seconds, parts=list(parts), **facts
    )


def proved(
    positions: Positions, trees: Sequence[Tree], found: Sequence[Strategies], **facts: Any
) -> HiddenAnswer:
    """The answer with given strategies in all rounds, and the bounds that they prove.

    Parameters
    ----------
    trees : sequence of Tree
        Of the rounds; the values of rounds that follow may be missing.
    found : sequence of pairs
        The strategies of both players in each round.

    Raises
    ------
    ValueError
        Probabilities are negative or don't add up to 1.
    """
    rounds, goes_on, parts = positions.rounds, may_go_on(positions), dict[int, TreeAnswer]()
    for group in positions.groups:
        if positions.returns(group):
            inner = [(trees[k], found[k]) for k in group]
            proofs = prove_together(positions, group, inner, parts, goes_on)
        else:
            (k,) = group
            after = [parts[e] for e in exits_of(rounds[k])]
            proofs = [bounds(trees[k], found[k], ends_of(after))]
        for k, (low, high) in zip(group, proofs, strict=True):
            parts[k] = TreeAnswer(
                rounds[k].positions, low, high, "", {}, tree=trees[k], found=found[k]
            )
    # now all rounds have values
    for k, one in enumerate(rounds):
        values = values_of([parts[e] for e in exits_of(one)])
        both = both_of(values, trees[k].payoffs.dtype)
        parts[k] = replace(parts[k], positions=one.worth(values), tree=trees[k].paying(both))
    pairs = [(parts[k], parts[k]) for k in range(len(rounds))]
    return together(positions, pairs, {}, may_go_on=goes_on, **facts)


def prove_together(
    positions: Positions,
    group: Sequence[int],
    inner: Sequence[tuple[Tree, Strategies]],
    parts: Mapping[int, Part],
    goes_on: bool,
) -> list[tuple[float, float]]:
    """The bounds that strategies prove in rounds that can return to each other.

    The best responses of the second player to the strategies of the first give the least that the
    first one gets, as the mover of each round and as the other player.

    Parameters
    ----------
    inner : sequence of pairs
        The tree and the strategies of each round of the group.
    parts : mapping
        The answers to all later rounds.
    """
    found = np.zeros((len(positions.rounds), 2, 2))
    for k, part in parts.items():
        low, high = (float(end) for end in (part.low, part.high))
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        found[k, :, 0] = low, -high
    for tree, strategies in inner:
        for seat, strategy in zip(tree.seats, strategies, strict=True):
            check_strategy(seat, strategy)
    place = {k: i for i, k in enumerate(group)}

    def worth(k: int, mover: int, values: NDArray[Any], less: float, side: int) -> Outcome:
        tree, strategies = inner[place[k]]
        return outcome(tree.paying(values, less), strategies, 1 - mover, side)

    fold_group(positions, group, worth, found, goes_on)
    least, other = (found[group, mover, 0] - found[group, mover, 1] for mover in (0, 1))
    return list(zip(least.tolist(), np.maximum(least, -other).tolist(), strict=True))
