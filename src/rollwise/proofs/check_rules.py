"""The exact check: the claims of an answer, proved on the rule sheet itself.

It runs the rules as ordinary Python and computes with fractions. It reads no graph and no compiled
code, so the builders, the compiler and rounding need no trust. Role 0 has the turn,
role 1 has the next one, and so on. U(s, i) is the claimed upper bound on the payoff of role i. A
claim v ± b for the mover means U(s, 0) = v + b and U(s, 1) = b - v. With one player role 1 never
moves.

1. *No turn raises U on average*, if role 0 takes its best action. The other roles
   face their worst action (two players) or the mixture of the profile (more). Play
   that ends therefore brings role i at most U(s, i) on average (Shapley 1953; Condon 1992).
2. *Play ends*: each action of each position may end it, or may lead to a position where this is
   proved already. Otherwise the opponents of a role must force an end, or returns to positions
   with U at or above the worth of endless play. They may only take actions that do not raise U.
   For points, if an upper bound is proved, a turn or an action worth less than U serves as
   an end: repeating such turns loses without limit, since U is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import Any, NamedTuple

from rollwise.dice import Pool
from rollwise.game import Game, outcomes_rule
from rollwise.numbers.shares import UnknownPayoff, brought
from rollwise.numbers.unknown import Unknown
from rollwise.then import DRAW, END, LOSE, WIN, is_over, payoff_of, seats_on

Position = tuple[int, ...]  # the numbers of a state, with tuples flattened
Node = tuple[Any, int]  # a state and a role
NAMED = {WIN: 1.0, LOSE: -1.0, DRAW: 0.0, END: 0.0}
WORTH = {"draw": 0, "lose": 1}  # worth of endless play that both sides prolong, in an upper bound


class Action(NamedTuple):
    """An action, with its reward and its ``(weight, then, next state)``.

    `at` has the throw and, in a pool, the rolls left.
    """

    at: tuple[Any, ...]
    label: int
    reward: int | Fraction
    outcomes: list[tuple[int | Fraction, int, Any]]


class Chance(NamedTuple):
    """Weights, and the choice behind each: actions and, in a pool, dice to throw again."""

    weights: list[int | Fraction]
    choices: list[list[Any]]
    label: tuple[int, ...] = ()  # the kept dice


@dataclass(frozen=True)
class Claims:
    """The claims of an answer about each position.

    Attributes
    ----------
    values, bounds : mapping of Position to sequence of float
        A number for the mover; for three or more players one for each seat, from the mover on.
    gains : mapping, optional
        Three or more players: the largest gain of each seat from leaving the profile.
    profile : callable, optional
        Three or more players: ``profile(state, *at)`` gives the probability of each action, by its
        label.
    """

    values: Mapping[Position, Sequence[float]]
    bounds: Mapping[Position, Sequence[float]]
    gains: Mapping[Position, Sequence[float]] | None = None
    profile: Callable[..., Mapping[Any, float]] | None = None


def check_rules(game: Game, claims: Claims) -> str:
    """Prove the claims about all reachable positions; the first error, or an empty string."""
    sheet = {}
    for state, turn in turns(game):
        place, sheet[state] = numbers_of(game, state), turn
        if place not in claims.values:
            return f"no claim is made about {state}"
        if not all(0 <= bound < float("inf") for bound in claims.bounds[place]):
            return f"no bound is claimed for {state}"
    for kind in ("above",) if game.players <= 2 else ("above", "below", "leaving"):
        roles = Roles(game, claims, kind, sheet)
        for node in roles.nodes:
            excess = roles.ahead(node)[0] - roles.upper(node)
            if excess > 0:
                return f"the bound of {node[0]} is too small by {float(excess):.1e}"
        for node in roles.unending():
            return f"it isn't shown that play ends from {node[0]}"
    return ""


class Roles:
    """Upper bounds of one kind. With three or more players, "above" and "below" enclose the
    values of the profile, and "leaving" bounds the payoff of a seat that leaves it."""

    def __init__(self, game: Game, claims: Claims, kind: str, sheet: dict[Any, Chance]) -> None:
        self.game, self.claims, self.kind, self.sheet = game, claims, kind, sheet
        self.n, self.many = max(game.players, 2), game.players > 2
        self.sign = -1 if game.objective == "minimize" or kind == "below" else 1
        self.nodes: list[Node] = [(s, role) for s in reversed(sheet) for role in range(self.n)]
        self.known: dict[Node, Fraction] = {}
        self.points = game.objective != "win"

    def upper(self, node: Node) -> Fraction:
        """U of a state and a role."""
        if node not in self.known:
            self.known[node] = self._upper(node)
        return self.known[node]

    def _upper(self, node: Node) -> Fraction:
        place, seat = numbers_of(self.game, node[0]), node[1] if self.many else 0
        value = self.sign * Fraction(self.claims.values[place][seat])
        bound = Fraction(self.claims.bounds[place][seat])
        if self.kind == "leaving" and self.claims.gains is not None:
            return value - bound + Fraction(self.claims.gains[place][seat])
        return (value if node[1] == seat else -value) + bound

    def ahead(self, node: Node, shown: Any = (), room: Fraction | None = None) -> Any:
        """The mean of U after a turn, and whether the turn may end play or reach a node `shown`.

        Opponents may take any action. With `room` they try to force this, by an action within
        `room` of the worst.
        """
        known: dict[int, tuple[Fraction, bool]] = {}  # by identity: pools share their choices

        def turn(chance: Chance) -> tuple[Fraction, bool]:
            if id(chance) not in known:
                parts = [choice(ways) for ways in chance.choices]
                total = sum(w * part[0] for w, part in zip(chance.weights, parts, strict=True))
                mean = Fraction(total) / sum(chance.weights)
                known[id(chance)] = mean, any(hit for _, hit in parts)
            return known[id(chance)]

        def choice(ways: list[Any]) -> tuple[Fraction, bool]:
            if id(ways) not in known:
                known[id(ways)] = self._choose(node, ways, [one(way) for way in ways], room)
            return known[id(ways)]

        def one(way: Any) -> tuple[Fraction, bool]:
            return turn(way) if isinstance(way, Chance) else self._after(way, node[1], shown)

        return turn(self.sheet[node[0]])

    def _choose(self, node: Node, ways: Any, parts: Any, room: Any) -> tuple[Fraction, bool]:
        surely = all(hit for _, hit in parts)
        if self.many and (node[1] or self.kind != "leaving") and self.claims.profile is not None:
            # The seats keep to the profile; only one that leaves it chooses, where it moves.
            mixture = self.claims.profile(node[0], *ways[0].at)
            chances = [Fraction(mixture.get(way.label, 0.0)) for way in ways]
            total = sum(c * worth for c, (worth, _) in zip(chances, parts, strict=True))
            return total / sum(chances), surely
        if node[1] == 0:
            most = max(worth for worth, _ in parts)
            # For points, an action that is worth less than the best one serves as an end.
            return most, surely or (self.points and all(hit or w < most for w, hit in parts))
        least = min(worth for worth, _ in parts)
        if room is None:
            return least, surely
        return least, any(hit for worth, hit in parts if worth <= least + room)

    def _after(self, action: Action, role: int, shown: Any) -> tuple[Fraction, bool]:
        side = -self.sign if role and not self.many else self.sign
        worth, hit = Fraction(0), False
        for weight, then, state in action.outcomes:
            if is_over(then):
                payoff = NAMED[then] if then in NAMED else payoff_of(then)
                share = brought(payoff, self.n)[role] if self.many else Fraction(payoff)
                worth, hit = worth + weight * side * share, True
            else:
                node = state, (role - seats_on(then, self.n)) % self.n
                worth, hit = worth + weight * self.upper(node), hit or node in shown
        return side * action.reward + worth / sum(w for w, _, _ in action.outcomes), hit

    def unending(self) -> list[Node]:
        """The nodes without a proof that endless play cannot beat U."""
        shown: set[Node] = set()
        # The nodes from which play ends whatever the players do.
        left = self._extend(shown, self.nodes, force=False)
        worth = WORTH.get(self.game.endless)
        if not left or self.many or (worth is None and not self.points):
            return left
        if worth is not None:
            shown.update(node for node in left if self.upper(node) >= worth)
        # From the others the opponents force an end, or a return to these nodes.
        while True:
            left = self._extend(shown, left, force=True)
            stays = self._stays(left, shown) if self.game.endless == "lose" else set()
            if not stays:
                return left
            shown |= stays

    def _extend(self, shown: set[Node], left: list[Node], force: bool) -> list[Node]:
        """Repeatedly add the nodes with turns to shown nodes; return the remaining nodes."""
        while True:
            before, left = len(left), [node for node in left if node not in shown]
            for node in left:
                room = None
                if force:  # an action may raise U by its part of the slack of the turn
                    rerolls = depth(self.sheet[node[0]])
                    room = (self.upper(node) - self.ahead(node)[0]) / rerolls
                ahead, ends = self.ahead(node, shown, room)
                if ends or (self.points and node[1] == 0 and ahead < self.upper(node)):
                    shown.add(node)
            left = [node for node in left if node not in shown]
            if len(left) == before:
                return left

    def _stays(self, left: list[Node], shown: set[Node]) -> set[Node]:
        """Nodes where role 0 can only prolong its own turn forever, which loses."""
        kept = {node for node in left if node[1] == 0 and self.upper(node) >= -1}
        # A node is lost if one of its actions can't reach a shown node and may pass the turn or
        # lead to a node outside.
        while True:
            lost = {
                node
                for node in kept
                for action in actions_in(self.sheet[node[0]])
                if not self._after(action, 0, shown)[1]
                and any(seats_on(t, self.n) or (s, 0) not in kept for _, t, s in action.outcomes)
            }
            if not lost:
                return kept
            kept -= lost


def turns(game: Game) -> Iterator[tuple[Any, Chance]]:
    """Each position reachable from the start and the roots, and the turn from there."""
    seen = dict.fromkeys([game.start(), *game.roots()])
    queue = list(seen)
    for state in queue:
        turn = turn_of(game, state)
        yield state, turn
        for action in actions_in(turn):
            for _, then, after in action.outcomes:
                if not is_over(then) and after not in seen:
                    seen[after] = None
                    queue.append(after)


def turn_of(game: Game, state: Any) -> Chance:
    """The whole turn from a state by the rules."""
    if not game.has_throws:
        return Chance([1], [list(choice_of(game, state))])
    thrown = game.throws(state)
    throws = list(thrown)
    if not isinstance(throws[0], Pool):
        kept = [(exact(w), plain(throw)) for w, throw in throws if w]
        return Chance([w for w, _ in kept], [list(choice_of(game, state, t)) for _, t in kept])
    pool, reads = throws[0], game.reads_rolls_left

    def ways_to_end(left: int) -> dict[Any, list[Any]]:
        seen = (left,) if reads else ()
        found = {t: choice_of(game, state, t, *seen) for _, t in pool.throws}
        return {t: [way._replace(at=(t, left)) for way in ways] for t, ways in found.items()}

    ends = ways_to_end(0)
    choices: dict[Any, list[Any]] = dict(ends)
    # From the last throw back: `choices` are those after a throw with one roll fewer left.
    for left in range(1, pool.rerolls + 1):
        again = {}
        if reads or game.players > 2:  # a profile mixes anew after each throw
            ends = ways_to_end(left)
        for kept_dice in pool.keeps:
            after = pool.after(kept_dice)
            weights = [exact(w) for w, _ in after]
            again[kept_dice] = Chance(weights, [choices[t] for _, t in after], kept_dice)
        parts = {t: [k for k in pool.kept_from(t) if len(k) < pool.n] for t in ends}
        choices = {t: [*ends[t], *map(again.__getitem__, parts[t])] for t in ends}
    return Chance([exact(w) for w, _ in pool.throws], [choices[t] for _, t in pool.throws])


def choice_of(game: Game, state: Any, *throw: Any) -> Iterator[Action]:
    """The actions of a state, after a throw if the game has throws."""
    outcomes = outcomes_rule(game)
    for label in game.actions(state, *throw):
        given = outcomes(state, *throw, label)
        rows = [(exact(weight), whole(then), s) for weight, then, s in given if weight]
        yield Action(throw, index(label), exact(game.reward(state, *throw, label)), rows)


def ways_in(turn: Chance) -> Iterator[Any]:
    """The actions and chances of a turn, each once."""
    seen = {id(turn): turn}
    queue: list[Any] = [turn]
    for chance in queue:
        for ways in chance.choices:
            for way in ways:
                if id(way) not in seen:
                    seen[id(way)] = way
                    queue += [way] if isinstance(way, Chance) else []
                    yield way


def actions_in(turn: Chance) -> list[Action]:
    return [way for way in ways_in(turn) if isinstance(way, Action)]


def depth(turn: Chance) -> int:
    """The largest number of choices in a turn."""
    after = (way for ways in turn.choices for way in ways if isinstance(way, Chance))
    return 1 + max(map(depth, after), default=0)


def exact(number: Any) -> Any:
    """A weight or a reward without rounding."""
    if isinstance(number, Unknown):
        return number
    return Fraction(number) if isinstance(number, float | Fraction) else index(number)


def whole(then: Any) -> Any:
    """A `then` as a plain number; an unknown payoff stays as it is."""
    return then if isinstance(then, UnknownPayoff) else int(then)


def plain(throw: Any) -> Any:
    """A throw in the form expected by the rules: a whole number, or a tuple of them."""
    return tuple(map(int, throw)) if hasattr(throw, "__len__") else int(throw)


def numbers_of(game: Game, state: Any) -> Position:
    """The numbers of a state, as far as the game uses them, with tuples flattened."""
    named = zip(state._fields, state, strict=True)
    fields = (field for name, field in named if game.column_names.get(name) != "")
    parts = (field if isinstance(field, tuple) else (field,) for field in fields)
    return tuple(int(number) for part in parts for number in part)
