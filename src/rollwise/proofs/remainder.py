"""The proof that play stops where a field is large, for rules without an end.

Some fields rise without a limit, and the rest of the game is all positions with one of them at its
cap or above. There an action *leaves* if each of its outcomes ends the game or leads out of the
rest. W(s) is the value of leaving by the best such action; where none is allowed, play goes on by
the best action until one is. The proof runs the rules once for all larger numbers of a field
(`rollwise.numbers.unknown`), and splits cases where they differ. It shows in every position:

1. *To go on is worth at most W*: reward + mean of U ahead <= W, with U = W in the rest and the
   claimed upper bounds elsewhere. So U is a supersolution of the whole game (optimal stopping:
   Chow, Robbins and Siegmund, "Great Expectations", 1971), and leaving reaches W.
2. *Play ends*: to go on may end the game soon, or may lead where leaving surely leads, or (one
   player, for points) costs some amount each time.
3. W has a lower bound. With 2, the mean of U over plays not yet ended doesn't fall below 0 in the
   limit, so that no play beats U.

Therefore the game without actions other than leaving ones in the rest has the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, lcm
from typing import Any

from rollwise.game import Game
from rollwise.graph import sign_of
from rollwise.graph.layout import field_words
from rollwise.graph.naming import in_fields
from rollwise.numbers.shares import UnknownPayoff
from rollwise.numbers.unknown import (
    Doubt,
    Undecided,
    Unfollowed,
    Unknown,
    question_of_type,
    replace_unknown,
)
from rollwise.proofs.check_rules import (
    NAMED,
    Action,
    Chance,
    Claims,
    Position,
    numbers_of,
    turn_of,
    ways_in,
)
from rollwise.then import is_over, payoff_of, seats_on

MOST_CASES = 20_000
MOST_FORCED = 30  # moves before an action that leaves
MOST_FOLLOWED = 20_000  # positions reached by such moves
MOST_AHEAD = 2  # moves before an end that may come


class Unproved(Exception):
    """The rest can't be proved.

    Attributes
    ----------
    certain : bool, optional
        Whether the rules were run for all larger numbers of a field.
    """

    certain: bool | None = None


class WorthMore(Unproved):
    """To go on is worth more than to leave.

    Attributes
    ----------
    cap : int or None
        The number that the field should have at least; None if no number helps.
    """

    def __init__(self, message: str, field: int, cap: int | None) -> None:
        super().__init__(message)
        self.field, self.cap = field, cap


@dataclass(frozen=True)
class Rest:
    """The positions of a game with a field at its cap or above.

    Attributes
    ----------
    game : Game
        All rules.
    caps, least : mapping of int to int
        For each rising field, by its index among the numbers of a state: its cap, and a number
        below which it never falls.
    slopes : mapping of (int, int) to Fraction
        Of two rising fields: the second is at least this number of times as far above its least
        number as the first.
    proved : mapping of int to int
        The least caps that were proved.
    """

    game: Game
    caps: Mapping[int, int]
    least: Mapping[int, int]
    slopes: Mapping[tuple[int, int], Fraction]
    proved: Mapping[int, int]

    def named(self, numbers: Mapping[int, int]) -> dict[str, int]:
        """Numbers of rising fields by the names of the fields."""
        names = names_of(self.game.start())
        return {names[field]: number for field, number in numbers.items()}

    def margins(self, numbers: Sequence[Any]) -> list[Any]:
        """Numbers from 0, if rising fields are as large as `least` and `slopes` say."""
        above = {k: numbers[k] - least for k, least in self.least.items()}
        return [*above.values(), *(above[j] - k * above[i] for (i, j), k in self.slopes.items())]

    def allows(self, numbers: Sequence[Any], before: Sequence[Any] | None = None) -> bool:
        """Whether rising fields are as large as `least` and `slopes` say; or, if that is undecided,
        whether they stay so after a position."""
        for k, margin in enumerate(self.margins(numbers)):
            try:
                fine = margin >= 0
            except Undecided:
                if before is None:
                    raise
                fine = margin - self.margins(before)[k] >= 0
            if not fine:
                return False
        return True

    def corners(self, own: int) -> Iterator[dict[int, Any]]:
        """The rising fields where one of them is at its cap or above, in unknowns."""
        slopes = {j: slope for (i, j), slope in self.slopes.items() if i == own}
        period = lcm(*(slope.denominator for slope in slopes.values()))
        # The numbers of the own field from its cap on, a remainder at a time: multiples by a slope
        # then have whole coefficients.
        for first in range(self.caps[own], self.caps[own] + period):
            over = first - self.least[own] + period * Unknown.named(own)
            yield {
                own: self.least[own] + over,
                **{
                    j: self.least[j] + at_least(k * over) + Unknown.named(j)
                    for j, k in slopes.items()
                },
            }

    def holds(self, state: Any) -> bool:
        """Whether a position is in the rest."""
        numbers, undecided = flat(state), None
        for field, cap in self.caps.items():
            try:
                if numbers[field] >= cap:
                    return True
            except Undecided as depends:
                undecided = depends
        if undecided is not None:
            raise undecided
        return False

    def leaves(self, outcomes: Iterable[tuple[Any, Any, Any]]) -> bool:
        """Whether each outcome ends the game or leads out of the rest."""
        return all(ends(then) or not self.holds(state) for _, then, state in outcomes)

    def pattern(self, numbers: Iterable[Any]) -> Position:
        """The numbers of a position, with 0 in the place of rising fields."""
        rising = [0 if k in self.caps else number for k, number in enumerate(numbers)]
        if any(isinstance(number, Unknown) for number in rising):
            raise Unfollowed("a field that depends on another one without a limit")
        return tuple(rising)

    def text(self, numbers: Iterable[Any]) -> str:
        """Positions in words: ``from pot=20 on (lives=2)``."""
        named = list(zip(names_of(self.game.start()), numbers, strict=True))
        rising = [_first_of(name, n) for name, n in named if isinstance(n, Unknown)]
        known = {name: n for name, n in named if not isinstance(n, Unknown)}
        words = in_fields(known, known.values(), field_words(self.game))
        others = ", ".join(f"{name}={word}" for name, word in words.items())
        if not rising:
            return f"in {others}"
        return f"from {' and '.join(rising)} on{f' ({others})' * bool(others)}"


def _first_of(name: str, number: Unknown) -> str:
    """The least of unknown numbers, and the next if a step is known: ``pot=10, 20, ...``."""
    first, (step, *more) = number.parts.get((), 0), [n for p, n in number.parts.items() if p]
    return f"{name}={first}" if more or step == 1 else f"{name}={first}, {first + step}, ..."


def flat(state: Any) -> list[Any]:
    """The numbers of a state, with tuples flattened."""
    parts = (field if isinstance(field, tuple) else (field,) for field in state)
    return [number for part in parts for number in part]


def shaped(like: Any, numbers: Iterable[Any]) -> Any:
    """A state of these numbers, of the shape of another one."""
    left = iter(numbers)
    parts = (tuple(next(left) for _ in f) if isinstance(f, tuple) else next(left) for f in like)
    return type(like)(*parts)


def names_of(state: Any) -> list[str]:
    """The names of the numbers of a state."""
    return [
        name if not isinstance(field, tuple) else f"{name}.{k}"
        for name, field in zip(state._fields, state, strict=True)
        for k in range(len(field) if isinstance(field, tuple) else 1)
    ]


def at_least(number: Any) -> Any:
    """The least whole number from a number on, whose unknowns have whole coefficients."""
    if not isinstance(number, Unknown):
        return ceil(number)
    return Unknown({**number.parts, (): ceil(number.parts.get((), 0))})


def ends(then: Any) -> bool:
    """Whether a `then`, of a payoff that may be unknown, ends the game."""
    return isinstance(then, UnknownPayoff) or is_over(then)


def prove_rest(
    rest: Rest, patterns: Iterable[Position], upper: Callable[[Any, bool], Fraction]
) -> None:
    """Prove that leaving is best in the whole rest.

    Parameters
    ----------
    rest : Rest
    patterns : iterable of tuple
        The patterns of the positions that are reached by leaving the rest as soon as possible.
    upper : callable
        ``upper(state, passes)``: an upper bound on the value of a position outside, to the player
        who moved before. Of a game to minimize: on the negative value.

    Raises
    ------
    WorthMore, Unproved
    """
    if name := question_of_type(type(rest.game)):
        raise Unproved(f"the rules use {name}()")
    seen = dict.fromkeys(patterns)
    queue, cases = list(seen), 0
    for pattern in queue:
        for own in rest.caps:
            boxes = [
                [corner.get(k, number) for k, number in enumerate(pattern)]
                for corner in rest.corners(own)
            ]
            while boxes:
                box, cases = boxes.pop(), cases + 1
                if cases > MOST_CASES:
                    raise Unproved("the rules tell too many cases apart")
                try:
                    found = _Box(rest, upper, box, own).proved()
                except Undecided as depends:
                    # The answer differs within the box. It is split: the unknown is 0 or at least
                    # 1, or it has one of the remainders by the period.
                    u, period = depends.unknown, depends.period
                    step = Unknown.named(u) * period
                    parts = [0, step + 1] if period == 1 else [step + k for k in range(period)]
                    boxes += [[replace_unknown(n, u, part) for n in box] for part in parts]
                    continue
                except Unfollowed as error:
                    raise Unproved(f"the rules use a number without a limit in {error}") from None
                except Unproved as fault:
                    if fault.certain is None:
                        fault.certain = isinstance(box[own], Unknown)
                    raise
                except Exception as error:  # of the rules, which may be made for small numbers
                    raise Unproved(f"the rules fail {rest.text(box)}: {error}") from None
                queue += [pattern for pattern in found if pattern not in seen]
                seen.update(found)


def upper_bound(rest: Rest, claims: Claims, state: Any, passes: bool) -> Fraction:
    """The claimed upper bound on the value of a position outside; see `prove_rest`."""
    place = numbers_of(rest.game, state)
    if place not in claims.values:
        raise Unproved(f"no claim is made about {state}")
    value = Fraction(claims.values[place][0])
    value *= -1 if passes else int(sign_of(rest.game.objective))
    return value + Fraction(claims.bounds[place][0])


def check_rest(rest: Rest, states: Iterable[Any], claims: Claims) -> str:
    """Prove a rest with the claims about the positions of the capped game; the fault, or empty.

    Parameters
    ----------
    states : iterable
        The positions of the capped game.
    """
    patterns = set()
    for state in states:
        numbers = flat(state)
        if not rest.allows(numbers):
            return f"{state} is below the least numbers of rising fields"
        if rest.holds(state):
            patterns.add(rest.pattern(numbers))
    try:
        prove_rest(rest, sorted(patterns), partial(upper_bound, rest, claims))
    except Unproved as fault:
        return str(fault)
    return ""


def _key(number: Any) -> Any:
    """A number that may be unknown, as a part of a dictionary's key."""
    return frozenset(number.parts.items()) if isinstance(number, Unknown) else number


def _turn_of(game: Game, state: Any) -> Chance:
    """A turn by the rules, which must not catch the exceptions of unknown numbers."""
    before = Doubt.raised
    turn = turn_of(game, state)
    if Doubt.raised > before:
        raise Unfollowed("a try")
    return turn


class _Box:
    """Positions of the rest that differ in rising fields only."""

    def __init__(self, rest: Rest, upper: Callable[..., Any], box: list[Any], own: int) -> None:
        self.rest, self.game, self.box, self.own, self.upper = rest, rest.game, box, own, upper
        self.sign = int(sign_of(rest.game.objective))
        self.state = shaped(self.game.start(), box)
        self.forced = 0
        self.known: dict[int, Any] = {}  # by the identity of a turn
        self.turns: dict[tuple[Any, ...], Chance] = {}  # of positions that follow

    def proved(self) -> dict[Position, None]:
        """Prove a box; return the patterns of next positions in the rest."""
        turn, found = _turn_of(self.game, self.state), dict[Position, None]()
        chances = [turn, *(way for way in ways_in(turn) if isinstance(way, Chance))]
        for ways in {id(ways): ways for chance in chances for ways in chance.choices}.values():
            kept = self._kept(ways)
            best = self._best(kept)
            # Positions that an allowed action surely leads to; to go on may lead there, too.
            goals = [
                way.outcomes[0][2]
                for way in kept
                if isinstance(way, Action) and len(way.outcomes) == 1
                if not ends(way.outcomes[0][1])
            ]
            for way in ways:
                if isinstance(way, Chance):
                    continue
                for _, then, state in way.outcomes:
                    if not ends(then) and self.rest.holds(state):
                        numbers = flat(state)
                        if not self.rest.allows(numbers, self.box):
                            raise Unproved(f"a field falls again {self._text()}")
                        found[self.rest.pattern(numbers)] = None
                if not any(way is one for one in kept):
                    self._compare(way, best - self._worth(way), goals)
        worth = self._turn(turn)
        if isinstance(worth, Unknown) and worth.least is None:
            raise Unproved(f"the value of stopping falls without a limit {self._text()}")
        return found

    def _text(self) -> str:
        """The positions in words."""
        return self.rest.text(self.box)

    def _compare(self, action: Action, margin: Any, goals: list[Any]) -> None:
        """Require that an action costs something, or nothing and may end the game."""
        least = margin.least if isinstance(margin, Unknown) else margin
        if least is not None and least >= 0:
            points = self.game.players == 1 and self.game.objective != "win"
            if (least > 0 and points) or self._may_end(action, goals, MOST_AHEAD):
                return
            if not points:
                raise Unproved(f"play may go on for ever {self._text()} without a loss")
        names = self.game.action_names
        named = dict(names) if isinstance(names, Mapping) else dict(enumerate(names))
        name = named.get(action.label, str(action.label))
        message = f"{self._text()}, the action {name} is worth at least as much as stopping"
        raise WorthMore(message, self.own, self._cap(margin, least))

    def _may_end(self, way: Any, goals: list[Any], moves: int) -> bool:
        """Whether play may end within some moves after an action, or lead to one of the goals."""
        if isinstance(way, Chance):
            return any(
                all(self._may_end(one, goals, moves) for one in ways) for ways in way.choices
            )
        return any(
            ends(then)
            or (not self.rest.holds(state) and state in goals)
            or (
                moves > 0
                and self.rest.holds(state)
                and self._may_end(_turn_of(self.game, state), goals, moves - 1)
            )
            for _, then, state in way.outcomes
        )

    def _cap(self, margin: Any, least: Any) -> int | None:
        """A larger cap, if the margin rises with the own field."""
        here = self.box[self.own]
        if not isinstance(here, Unknown):
            return int(here) + 1
        start, slope = int(here.parts[()]), here.parts[(self.own,)]
        if not isinstance(margin, Unknown) or least is None:
            return None
        rises = margin.parts.get((self.own,), 0)
        if rises > 0:
            # The margin is at least `least` plus `rises` times the unknown: from this number on it
            # isn't negative.
            return start + int(slope * -(least // rises))
        return 2 * start + 1 if any(self.own in powers for powers in margin.parts) else None

    def _kept(self, ways: list[Any]) -> list[Any]:
        """The ways of a choice that the capped game allows."""
        leaving = [way for way in ways if isinstance(way, Chance) or self.rest.leaves(way.outcomes)]
        return leaving if any(isinstance(way, Action) for way in leaving) else ways

    def _best(self, ways: list[Any]) -> Any:
        return max(self._turn(w) if isinstance(w, Chance) else self._worth(w) for w in ways)

    def _turn(self, turn: Chance) -> Any:
        """W at the beginning of a turn, or of the rest of one."""
        if id(turn) not in self.known:
            worths = [self._best(self._kept(ways)) for ways in turn.choices]
            total = sum(w * worth for w, worth in zip(turn.weights, worths, strict=True))
            self.known[id(turn)] = total * Fraction(1, sum(turn.weights))
        return self.known[id(turn)]

    def _worth(self, action: Action) -> Any:
        total = sum(weight * self._ahead(then, s) for weight, then, s in action.outcomes)
        return self.sign * action.reward + total * Fraction(
            1, sum(w for w, _, _ in action.outcomes)
        )

    def _ahead(self, then: Any, state: Any) -> Any:
        if isinstance(then, UnknownPayoff):
            return self.sign * then.points
        if is_over(then):
            payoff = NAMED[then] if then in NAMED else payoff_of(then)
            return self.sign * Fraction(payoff)
        passes = bool(seats_on(then, max(self.game.players, 2)))
        if not self.rest.holds(state):
            self.rest.pattern(flat(state))
            return self.upper(state, passes)
        if passes:
            raise Unproved(f"the turn passes while a field rises, {self._text()}")
        self.forced += 1
        if self.forced > MOST_FORCED:
            raise Unproved(f"no action stops within {MOST_FORCED} moves {self._text()}")
        # Several ways often lead to one position, and its turn is looked at once.
        place = tuple(_key(number) for number in flat(state))
        try:
            if place not in self.turns:
                if len(self.turns) == MOST_FOLLOWED:
                    raise Unproved(f"more than {MOST_FOLLOWED:,} positions follow {self._text()}")
                self.turns[place] = _turn_of(self.game, state)
            return self._turn(self.turns[place])
        finally:
            self.forced -= 1
