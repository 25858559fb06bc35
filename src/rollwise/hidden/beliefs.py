"""Solitaire games with hidden fields, as games of their player's beliefs.

A belief is the chance of each combination of hidden numbers, given all that the player has seen and
done. It is all that the past tells about the future, so the game of beliefs has the same values and
no hidden fields (Åström 1965). Its states have the visible fields, and the number of a belief.
Everything that rollwise does with a solitaire game, it does with this one.

A reward that depends on hidden fields is paid by a move of its own after the action, which tells
nothing to the player. So points have their true distribution.

Chances are fractions, so that two ways to one belief are one state. A rounded number of the rules
counts as the fraction that it is. Chances of outcomes that are no whole numbers of 62 bits in
proportion are rounded to doubles, and answers say so.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import gcd, lcm
from typing import Any

from rollwise.builders import build
from rollwise.builders.contract import more_states
from rollwise.builders.expand import MAX_TOTAL_WEIGHT, without_fractions
from rollwise.derive.derived_game import with_methods
from rollwise.errors import EndlessPlay, RulesError, TooManyStates
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.layout import annotations_of, member_word
from rollwise.graph.typed import spread
from rollwise.hidden.positions import DEAL, Positions, named_fields
from rollwise.hidden.reading import read
from rollwise.hidden.tree import refuse_menus
from rollwise.machine import memory_limits
from rollwise.machine.endless import running
from rollwise.then import AGAIN, is_over

FIELD = "belief"
LIMIT = 200_000  # states, unless a limit is given
MINUS = "−"  # words of fields have no hyphens
SHOWN = 4  # combinations of hidden numbers in the words of a belief
OVER = -1  # in the place of a sight, where play ends
FORCED = "deal", "points"  # moves without a choice, with numbers after those of the rules

# a sight and one of its positions, or OVER and the code of an end
Target = tuple[int, int]
Row = tuple[int, list[tuple[Target, int]]]


@dataclass(frozen=True, slots=True)
class Node:
    """A state of the game of beliefs.

    Attributes
    ----------
    belief : tuple of (position, weight)
        Positions that look alike, and their relative chances. Empty before the first deal, and
        where points are paid.
    points : Fraction, optional
        The points that are paid here; None in other states.
    then, next : int
        What comes after the payment: the code of an end, or AGAIN and the number of a node.
    """

    belief: tuple[tuple[int, int], ...] = ()
    points: Fraction | None = None
    then: int = AGAIN
    next: int = 0

    @property
    def is_payment(self) -> bool:
        return self.points is not None


@dataclass(frozen=True, slots=True)
class Move:
    """An action in a node: its outcomes with the numbers of next nodes, its points, its time."""

    outcomes: list[tuple[float, int, int]]
    reward: float | Fraction = 0
    duration: float | Fraction = 1


def with_beliefs(game: Game, max_states: int | None = None) -> Game:
    """A solitaire game with hidden fields, as a game of what its player knows.

    Parameters
    ----------
    max_states : int, optional
        The most states; 200,000 unless given.

    Returns
    -------
    Game
        With the words and the parameters of the game. It is read at once: its rules look up states
        that play can reach.

    Raises
    ------
    RulesError, EndlessPlay, UsageError
        As of other games with hidden fields.
    TooManyStates
        There are too many beliefs.
    """
    walk = _Walk(read(game, players=1), max_states or memory_limits.most_states or LIMIT)
    walk.run()
    table = _Table(walk)
    same = ("action_text", "deed", "features", "action_features")
    kind = type(game)
    return with_methods(
        game,
        table=table,
        start=start,
        actions=actions,
        outcomes=outcomes,
        reward=reward,
        duration=duration if walk.is_timed else Game.duration,
        derive=derive,
        applied_discount=Fraction(1),
        added_members={FIELD: table.numbers_of_words},
        beliefs=property(lambda self: self.table.beliefs),
        action_names=table.action_names,
        rounding="chances were rounded to doubles" if walk.is_rounded else "",
        describe=describe if kind.describe is not Game.describe else Game.describe,
        cells=cells,
        show=show,
        policies=classmethod(lambda cls: _policies(table)),
        **{name: agreed(name) for name in same if getattr(kind, name) is not getattr(Game, name)},
        **{
            name: getattr(Game, name)
            for name in ("hidden", "roots", "progress", "told", "throw", "fallen")
        },
        __new__=lambda _, *given, **named: with_beliefs(kind(*given, **named)),
        __reduce__=lambda _: (with_beliefs, (game, max_states)),
    )


class _Walk:
    """A breadth-first walk over the beliefs of the player."""

    def __init__(self, positions: Positions, limit: int) -> None:
        self.positions, self.limit = positions, limit
        if not positions.is_exact:
            positions.weights[:] = list(map(Fraction, positions.weights))
        self.chances = positions.chances(exact=True)
        self.is_rounded, self.is_timed = False, positions.game.objective == "average"
        self.landings: dict[int, dict[Target, Fraction]] = {}
        self.after: dict[int, Row] = {}
        rewards = list(map(Fraction, positions.rewards))
        self.amounts = sorted(set(rewards))  # of points, and the number of that of each choice
        places = {amount: k for k, amount in enumerate(self.amounts)}
        self.points = [places[amount] for amount in rewards]
        self.nodes: list[Node] = []
        self.numbers: dict[Node, int] = {}
        self.moves: list[dict[int, Move]] = []
        last = max((a for menus in positions.menus for menu in menus for a in menu), default=0)
        self.deal, self.pay = last + 1, last + 2

    def run(self) -> None:
        """Find all nodes and their moves."""
        dealt = self._landing(0)
        shares: Any = without_fractions(dealt.values())
        outcomes = dict(zip(dealt, shares, strict=True))
        if len({sight for sight, _ in dealt}) > 1:  # a move of its own deals
            self._number(Node())
            self.moves.append({self.deal: Move(self._outcomes({None: outcomes}))})
        else:
            self._outcomes({None: outcomes})
        # `nodes` grows while it is read
        while len(self.moves) < len(self.nodes):
            node = self.nodes[len(self.moves)]
            if node.points is None:
                self.moves.append(self._menu(node))
            else:
                paid = Move([(1, node.then, node.next)], self._rounded(node.points))
                self.moves.append({self.pay: paid})

    def _menu(self, node: Node) -> dict[int, Move]:
        """The moves of a belief."""
        positions, (first, *others) = self.positions, (place for place, _ in node.belief)
        menu = positions.menus[first][0]
        for place in others:
            if positions.menus[place][0] != menu:
                refuse_menus(positions, first, place)
        total, found = sum(weight for _, weight in node.belief), {}
        for k, action in enumerate(menu):
            parts = [(w, int(positions.first_choice[place]) + k) for place, w in node.belief]
            after = [self._after(choice) for _, choice in parts]
            points = {self.points[choice] for _, choice in parts}
            # an average in the long run needs no more than the average of the points
            is_one, scale = len(points) == 1 or self.is_timed, lcm(*(ways for ways, _ in after))
            masses: dict[Any, dict[Target, int]] = {}
            # whole numbers: the chance of each target, times a scale, apart for different points
            for (weight, choice), (ways, rows) in zip(parts, after, strict=True):
                of_points = masses.setdefault(None if is_one else self.points[choice], {})
                factor = weight * (scale // ways)
                for target, number in rows:
                    of_points[target] = of_points.get(target, 0) + factor * number
            paid, time = Fraction(0), Fraction(1)
            if len(points) == 1:
                paid = self.amounts[points.pop()]
            elif is_one:
                amounts = (w * self.amounts[self.points[choice]] for w, choice in parts)
                paid = sum(amounts, paid) / total
            if self.is_timed:
                times = (w * self._duration(place, action) for place, w in node.belief)
                time = sum(times, Fraction(0)) / total
            found[action] = Move(self._outcomes(masses), self._rounded(paid), self._rounded(time))
        return found

    def _duration(self, place: int, action: int) -> Fraction:
        positions = self.positions
        with running(RulesError, f"{positions.game.name}: duration at {positions.text(place)}"):
            return Fraction(positions.game.duration(positions.states[place], action))

    def _rounded(self, number: Fraction) -> float | Fraction:
        """A number of the game: whole or a fraction, or a double if the rules have doubles."""
        if number.denominator == 1:
            return int(number)
        return number if self.positions.is_exact else float(number)

    def _after(self, choice: int) -> Row:
        """Where a choice leads, with deals after it: chances in whole numbers, and their sum."""
        if (known := self.after.get(choice)) is not None:
            return known
        positions = self.positions
        found: dict[Target, Fraction] = {}
        for k in range(*positions.first_outcome[choice : choice + 2].tolist()):
            then, chance = int(positions.thens[k]), self.chances[k]
            ends = {(OVER, then): Fraction(1)}
            landed = ends if is_over(then) else self._landing(int(positions.targets[k]))
            for target, share in landed.items():
                found[target] = found.get(target, Fraction(0)) + share * chance
        weights: Any = without_fractions(found.values())
        self.after[choice] = sum(weights), list(zip(found, weights, strict=True))
        return self.after[choice]

    def _landing(self, place: int) -> dict[Target, Fraction]:
        """The chances of the choices to which deals alone lead from a position."""
        positions = self.positions
        if positions.kinds[place] != DEAL:
            return {(int(positions.sights[place]), place): Fraction(1)}
        if place not in self.landings:
            self.landings[place] = found = dict[Target, Fraction]()
            choice = int(positions.first_choice[place])
            for outcome in range(*positions.first_outcome[choice : choice + 2].tolist()):
                after = self._landing(int(positions.targets[outcome]))
                if not after:  # its own deals aren't done
                    raise EndlessPlay(
                        f"{positions.title}: deals can return to {positions.text(place)}; deal(s) "
                        "yields nothing where all is dealt"
                    )
                for target, share in after.items():
                    found[target] = found.get(target, Fraction(0)) + share * self.chances[outcome]
        return self.landings[place]

    def _outcomes(
        self, masses: Mapping[int | None, Mapping[Target, int]]
    ) -> list[tuple[float, int, int]]:
        """The outcomes of a move, by the number of the points paid after it, if they differ."""
        beliefs: dict[int, dict[int, int]] = {}
        # a belief doesn't depend on the points, which the player doesn't see
        for of_points in masses.values():
            for (sight, place), mass in of_points.items():
                if sight != OVER:
                    alike = beliefs.setdefault(sight, {})
                    alike[place] = alike.get(place, 0) + mass
        numbers = {}
        for sight, alike in beliefs.items():
            places = sorted(alike)
            common = gcd(*alike.values())
            belief = tuple((place, alike[place] // common) for place in places)
            numbers[sight] = self._number(Node(belief))
        rows: dict[tuple[int, int], int] = {}
        for points, of_points in masses.items():
            after: dict[tuple[int, int], int] = {}
            for (sight, place), mass in of_points.items():
                on = (AGAIN, numbers[sight]) if sight != OVER else (place, 0)
                after[on] = after.get(on, 0) + mass
            for on, mass in after.items():
                if points is not None:
                    on = AGAIN, self._number(Node((), self.amounts[points], *on))
                rows[on] = mass  # other points lead to other nodes
        common = gcd(*rows.values())
        weights: list[Any] = [mass // common for mass in rows.values()]
        total = sum(weights)
        # rounded numbers of the rules stay rounded
        if total > MAX_TOTAL_WEIGHT or not self.positions.is_exact:
            self.is_rounded = True
            weights = [weight / total for weight in weights]
        return [(weight, *on) for weight, on in zip(weights, rows, strict=True)]

    def _number(self, node: Node) -> int:
        number = self.numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            if number >= self.limit:
                raise TooManyStates(
                    f"{self.positions.title} has more than {self.limit:,} states with the beliefs "
                    "about hidden fields",
                    "; count what the player sees in a field, and end the game or deal anew; or "
                    f"allow more with {more_states()}",
                )
            self.nodes.append(node)
        return number


class _Table:
    """The states of a game of beliefs, in which its rules look up their moves."""

    def __init__(self, walk: _Walk) -> None:
        self.walk, self.moves = walk, walk.moves
        self.graphs: dict[type[Game], StateGraph] = {}
        self.game, full = walk.positions.game, walk.positions.states[0]
        kind: Any = type(full)
        sights = [self._visible(node) for node in walk.nodes]
        names = [name for name in kind._fields if any(name in sees for sees in sights)]
        if FIELD in names:
            raise RulesError(
                f"{self.game.name}: the state has a field {FIELD!r}, and the chances of hidden "
                "fields need this name; call it something else"
            )
        hints = annotations_of(kind)
        fields = [*((name, hints.get(name, int)) for name in names), (FIELD, int)]
        made: Any = typing.NamedTuple
        state = made(kind.__name__, fields)
        # hidden fields are as at the start
        self.fulls = [full._replace(**sees) for sees in sights]
        numbers, self.words = self._named()
        self.numbers_of_words = {word: number for number, word in enumerate(self.words)}
        self.states = [
            state(*(getattr(seen, name) for name in names), number)
            for seen, number in zip(self.fulls, numbers, strict=True)
        ]
        self.places = {one: k for k, one in enumerate(self.states)}

    def _after_payment(self, node: Node) -> Node:
        """The node itself, or the one after a payment; the payment if it ends the game."""
        return self.walk.nodes[node.next] if node.is_payment and node.then == AGAIN else node

    def _visible(self, node: Node) -> dict[str, Any]:
        """The fields that the player sees in a node; of a payment those after it."""
        node = self._after_payment(node)
        if not node.belief:
            return {}
        state = self.walk.positions.states[node.belief[0][0]]
        return {
            name: getattr(state, name) for name in self.walk.positions.visible(node.belief[0][0])
        }

    @cached_property
    def action_names(self) -> dict[int, str]:
        """The names of the rules, and those of moves without a choice."""
        names: Any = self.game.action_names
        own = dict(names) if hasattr(names, "get") else dict(enumerate(names))
        forced = zip((self.walk.deal, self.walk.pay), FORCED, strict=True)
        return own | {action: name for action, name in forced if self._is_used(action)}

    def _is_used(self, action: int) -> bool:
        return any(action in menu for menu in self.moves)

    def move(self, state: Any, action: int) -> Move:
        """A move in a state."""
        return self.moves[self.places[state]][action]

    @cached_property
    def beliefs(self) -> dict[int, dict[str, Fraction]]:
        """By the number of a belief the chance of each combination of hidden numbers."""
        found = {}
        for state, node in zip(self.states, self.walk.nodes, strict=True):
            hidden, chances = self._key(self._after_payment(node))
            total = sum(weight for _, weight in chances)
            found[state[-1]] = {
                self._numbers(hidden, values): Fraction(weight, total) for values, weight in chances
            }
        return dict(sorted(found.items()))

    def _numbers(self, hidden: tuple[str, ...], values: tuple[Any, ...]) -> str:
        """A combination of hidden numbers: ``2+6``."""
        known = self.fulls[0]._replace(**dict(zip(hidden, values, strict=True)))
        fields = named_fields(self.game, known)
        texts = map(str, spread([fields[name] for name in hidden]))
        return "+".join(text.replace("-", MINUS) for text in texts)

    def _named(self) -> tuple[list[int], list[str]]:
        """The number of the belief of each node, and the words of all numbers.

        Beliefs about the same hidden numbers are in the order of their averages.
        """
        keys = list(map(self._key, self.walk.nodes))
        for k, node in enumerate(self.walk.nodes):
            if node.is_payment:
                after = keys[node.next] if node.then == AGAIN else node.then
                keys[k] = node.points, after
        plain = {
            key for key, node in zip(keys, self.walk.nodes, strict=True) if not node.is_payment
        }
        found = sorted(plain, key=_order)
        found += dict.fromkeys(key for key in keys if key not in plain)
        numbers = {key: number for number, key in enumerate(found)}
        words: dict[str, int] = {}
        for key, number in numbers.items():
            word = member_word(self._word(key))
            words[word if word not in words else f"{word}#{number}"] = number
        return [numbers[key] for key in keys], list(words)

    def _key(self, node: Node) -> Any:
        """The hidden fields of a belief, and the chances of their numbers."""
        states, names = self.walk.positions.states, type(self.fulls[0])._fields
        seen = self._visible(node)
        hidden = tuple(name for name in names if name not in seen) if node.belief else ()
        return hidden, tuple(
            sorted(
                (tuple(getattr(states[place], name) for name in hidden), weight)
                for place, weight in node.belief
            )
        )

    def _word(self, key: Any) -> str:
        """A belief in words, the hidden numbers in their order: ``0:71.43%/1:28.57%``.

        Of many combinations it has the likeliest. Several numbers are joined, as in ``2+6``.
        """
        if isinstance(key[0], Fraction):
            points, after = key
            paid = f"{points}_points".replace("-", MINUS)
            return f"{paid}/{self._word(after)}" if isinstance(after, tuple) else paid
        hidden, chances = key
        if not hidden:
            return "seen" if chances else "undealt"
        total = sum(weight for _, weight in chances)
        likeliest = sorted(chances, key=lambda pair: -pair[1])[:SHOWN]
        parts = []
        for values, weight in sorted(likeliest) if len(chances) <= SHOWN else likeliest:
            parts.append(f"{self._numbers(hidden, values)}:{_percent(weight, total)}%")
        return "/".join([*parts, *["..."] * (len(chances) > SHOWN)])

    def graph(self, game: Game) -> StateGraph:
        """The graph, built once for each class: another one may have other rewards."""
        kind: Any = type(game)
        if kind not in self.graphs:
            self.graphs[kind] = build(game, mode="interpreted", max_states=len(self.states))
        return self.graphs[kind]


def _order(key: Any) -> Any:
    """The place of a belief among others: by the averages of the hidden numbers."""
    hidden, chances = key
    total = sum(weight for _, weight in chances) or 1
    rows: Any = [(spread(values), weight) for values, weight in chances]
    means = [
        Fraction(sum(weight * numbers[k] for numbers, weight in rows), total)
        for k in range(len(rows[0][0]) if rows else 0)
    ]
    return len(hidden), hidden, means, chances


def _percent(weight: int, total: int) -> str:
    """A chance in percent, shown as 100 only if it is certain."""
    text = f"{100 * weight / total:.4g}"
    return ">0" if "e" in text else "<100" if text == "100" and weight < total else text


# The functions below become methods of the game of beliefs.


def start(self: Any) -> Any:
    """The first state."""
    return self.table.states[0]


def actions(self: Any, s: Any) -> tuple[int, ...]:
    """The actions of the rules."""
    return tuple(self.table.moves[self.table.places[s]])


def outcomes(self: Any, s: Any, action: int) -> Iterator[tuple[float, int, Any]]:
    """What the player may see after an action."""
    for weight, then, number in self.table.move(s, action).outcomes:
        yield weight, then, s if is_over(then) else self.table.states[number]


def reward(self: Any, s: Any, action: int) -> float | Fraction:
    """The points of an action."""
    return self.table.move(s, action).reward  # type: ignore[no-any-return]


def duration(self: Any, s: Any, action: int) -> float | Fraction:
    """The time of an action, on average over the belief."""
    return self.table.move(s, action).duration  # type: ignore[no-any-return]


def derive(self: Any) -> StateGraph:
    """The graph of these rules."""
    return self.table.graph(self)  # type: ignore[no-any-return]


def describe(self: Any, s: Any) -> str:
    """The words of the rules, where they tell nothing hidden, and the belief."""
    words, own = agreed("describe")(self, s), Game.describe(self, s)
    return own if words == own else f"{words}; {self.table.words[s.belief]}"


def cells(self: Any, s: Any) -> Any:
    """The board of the rules, where hidden fields are as at the start."""
    return self.table.game.cells(self.table.fulls[self.table.places[s]])


def show(self: Any, s: Any) -> str:
    """The picture of the rules, where hidden fields are as at the start."""
    return str(self.table.game.show(self.table.fulls[self.table.places[s]]))


def agreed(name: str) -> Callable[..., Any]:
    """A method for people, where it gives the same for all that may be hidden; else its default."""

    def told(self: Any, s: Any, *more: Any, **named: Any) -> Any:
        table = self.table
        method = partial(getattr(type(table.game), name), table.game)
        states = [
            table.walk.positions.states[place]
            for place, _ in table.walk.nodes[table.places[s]].belief
        ]
        found = [method(state, *more, **named) for state in states]
        if found and all(one == found[0] for one in found):
            return found[0]
        return getattr(Game, name)(self, s, *more, **named)

    return told


def _policies(table: _Table) -> dict[str, Callable[..., int]]:
    """The policies of the rules. They see hidden fields as they are at the start."""

    def blind(function: Callable[..., int]) -> Callable[..., int]:
        def ask(_: Game, s: Any) -> int:
            return function(table.game, table.fulls[table.places[s]])

        ask.__doc__ = function.__doc__
        return ask

    return {name: blind(function) for name, function in type(table.game).policies().items()}
