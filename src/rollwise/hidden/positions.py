"""The positions of a game with hidden fields or simultaneous choices, and its rounds, in arrays.

A position deals, lets one player move or lets both choose at once. It is written from the view of
the mover. The mover sees all fields of a state but the hidden ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.boards import Board
from rollwise.errors import PolicyError, RulesError
from rollwise.faults import shown
from rollwise.game import Game
from rollwise.graph.layout import field_words
from rollwise.graph.lotteries import Components, pointers, spans
from rollwise.graph.naming import in_fields, state_text, title_of
from rollwise.hidden import rounds
from rollwise.machine.endless import running

DEAL, MOVE, TOGETHER = range(3)
ENDED = -1  # the target of an outcome that ends the game
KNOWN = 50_000  # positions whose visible fields are held in memory


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """The positions of a game that play can reach, the start first.

    A choice is an action of the mover, a pair of simultaneous actions, or a deal. The choices of
    position s are ``first_choice[s]`` to ``first_choice[s + 1] - 1``, and the outcomes of a choice
    lie likewise in `first_outcome`. Pairs are ordered by the mover's action, then the other's.

    Attributes
    ----------
    states : list
    kinds : (n,) int8
        DEAL, MOVE or TOGETHER.
    menus : list of tuple
        The actions of the mover, and those of the other player where both choose; else empty.
    sights : (n,) int64
        The same number for positions that look alike to their mover.
    rewards : (n_choices,) object
        Numbers of Python, for the mover.
    weights, payoffs : (n_outcomes,) object
        Numbers of Python. A payoff is the mover's, and 0 where the game goes on.
    targets : (n_outcomes,) int64
        A position, ENDED, or ``ENDED - 1 - k`` where round ``exits[k]`` begins.
    turns : (n_outcomes,) int8
        1 where the target is written from the view of the other player.
    thens : (n_outcomes,) object
        The codes of the rules by which play goes on or ends.
    is_exact : bool
        Whether all weights, payoffs and rewards are whole numbers or fractions.
    exits : tuple of int, optional
        Of a round the numbers of the rounds that can follow it; None for a whole game. The payoffs
        of outcomes that lead there are the values of these rounds (`Round.worth`).
    """

    game: Game
    states: list[Any]
    kinds: NDArray[np.int8]
    menus: list[tuple[tuple[int, ...], ...]]
    sights: NDArray[np.int64]
    rewards: NDArray[Any]
    first_choice: NDArray[np.int64]
    first_outcome: NDArray[np.int64]
    weights: NDArray[Any]
    payoffs: NDArray[Any]
    targets: NDArray[np.int64]
    turns: NDArray[np.int8]
    thens: NDArray[Any]
    is_exact: bool
    exits: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return f"<{len(self.states):,} positions of {self.title}>"

    @property
    def title(self) -> str:
        """The game and its parameters."""
        return title_of(self.game.name, self.game.parameters)

    @property
    def is_hidden(self) -> bool:
        """Whether some player can't see everything."""
        return type(self.game).hidden is not Game.hidden

    def text(self, position: int) -> str:
        """A full state in words."""
        return state_text(named_fields(self.game, self.states[position]))

    @cached_property
    def _known(self) -> dict[int, dict[str, Any]]:
        return {}

    def visible(self, position: int) -> dict[str, Any]:
        """The fields that the mover sees in a position."""
        # many situations have one position: of Liar's Dice as many as there are paths of bids
        if (sees := self._known.get(position)) is None:
            sees = visible_part(self.game, self.states[position])
            if len(self._known) < KNOWN:
                self._known[position] = sees
        return sees

    @cached_property
    def stake(self) -> float:
        """The largest payoff or reward, without its sign."""
        return float(max(map(abs, (*self.payoffs, *self.rewards))))

    @property
    def has_rewards(self) -> bool:
        """Whether some choice has a reward."""
        return bool(np.any(self.rewards != 0))

    @property
    def example(self) -> str:
        """The fields that a player sees at the first choice, in words."""
        return state_text(self.visible(int(np.argmax(self.kinds != DEAL))))

    def seen(self, position: int) -> Any:
        """The state as its mover sees it: hidden fields are as the round began."""
        state, sees = self.states[position], self.visible(position)
        start = self.states[self._beginnings[position]]
        return state._replace(**{f: getattr(start, f) for f in state._fields if f not in sees})

    @cached_property
    def _beginnings(self) -> NDArray[np.int64]:
        """The first position of a round of each position."""
        found = np.zeros(len(self.states), np.int64)
        for one in self.rounds if self.exits is None else ():
            found[one.places] = one.places[0]
        return found

    @cached_property
    def rounds(self) -> list[Round]:
        """The rounds of the game: the first one, then each before those that follow it.

        Rounds of which play can return to each other are in any order.
        """
        begins, order = np.zeros(len(self.states), bool), np.arange(len(self.states))
        if self.is_hidden:
            begins, order = rounds.beginnings(
                self.kinds != DEAL, self.sights, self.first_choice, self.first_outcome,
                self.targets, self.turns,
            )  # fmt: skip
        roots = [0, *(place for place in order[::-1].tolist() if begins[place] and place)]
        numbers = np.full(len(self.states), ENDED, np.int64)
        numbers[roots] = np.arange(len(roots))
        return [self._round(root, begins, numbers) for root in roots]

    @cached_property
    def groups(self) -> list[list[int]]:
        """The numbers of the rounds, the last ones first; rounds that can return are together."""
        exits = [one.positions.exits or () for one in self.rounds]
        first = pointers(np.array([len(part) for part in exits], np.int64))
        targets = np.array([e for part in exits for e in part], np.int32)
        found = Components.of(first, targets)
        return [sorted(part.tolist()) for part in np.split(found.order, found.indptr[1:-1])]

    def returns(self, group: Sequence[int]) -> bool:
        """Whether play can return to a round of a group."""
        return len(group) > 1 or group[0] in (self.rounds[group[0]].positions.exits or ())

    @cached_property
    def may_return(self) -> bool:
        """Whether some rounds can return."""
        return any(map(self.returns, self.groups))

    @cached_property
    def about_rounds(self) -> list[dict[str, Any]]:
        """By round the fields with which it begins, of those that differ between rounds."""
        fields = [named_fields(self.game, self.states[one.places[0]]) for one in self.rounds]
        names = [name for name in fields[0] if len({one[name] for one in fields}) > 1]
        return [{name: one[name] for name in names} for one in fields]

    def _round(self, root: int, begins: NDArray[np.bool_], numbers: NDArray[np.int64]) -> Round:
        """The round that begins at a position; `numbers` are those of all rounds."""
        if not begins[0] or (begins.sum() == 1 and not (self.targets == root).any()):
            return Round(np.arange(len(self.states)), replace(self, exits=()))
        first = self.first_outcome[self.first_choice]
        places = rounds.reached(root, begins, first, self.targets)
        counts = np.diff(self.first_choice)[places]
        choices = spans(self.first_choice[places], counts)
        sizes = np.diff(self.first_outcome)[choices]
        outcomes = spans(self.first_outcome[choices], sizes)
        targets = self.targets[outcomes].copy()
        on = targets >= 0
        leaves = on & begins[np.where(on, targets, 0)]
        exits = np.unique(numbers[targets[leaves]])
        within = on & ~leaves
        targets[within] = rounds.numbers_in(places, targets[within])
        targets[leaves] = ENDED - 1 - np.searchsorted(exits, numbers[targets[leaves]])
        sub = replace(
            self,
            states=[self.states[place] for place in places.tolist()],
            kinds=self.kinds[places],
            menus=[self.menus[place] for place in places.tolist()],
            sights=np.unique(self.sights[places], return_inverse=True)[1].ravel(),
            rewards=self.rewards[choices],
            first_choice=pointers(counts),
            first_outcome=pointers(sizes),
            weights=self.weights[outcomes],
            payoffs=self.payoffs[outcomes],
            targets=targets,
            turns=self.turns[outcomes],
            thens=self.thens[outcomes],
            exits=tuple(exits.tolist()),
        )
        return Round(places, sub)

    def cells(self, position: int, *, whole: bool = False) -> Board:
        """The board of a position as its mover sees it, or as a whole; empty without a board."""
        state = self.states[position] if whole else self.seen(position)
        where = f"{self.game.name}: cells({state_text(named_fields(self.game, state))})"
        with running(RulesError, where):
            return self.game.cells(state)

    def action_by(self, name: str, position: int, side: int) -> int:
        """The action of a policy of the rules; `side` is 1 for the other of two who both choose.

        Raises
        ------
        PolicyError
        """
        sees = self.visible(position)
        policy, place = type(self.game).policies()[name], state_text(sees)
        actions = self.menus[position][side]
        with running(PolicyError, f"{self.game.name}: the policy {name} at {place}"):
            given = (self.seen(position), *(() if self.is_hidden else (side,)))
            action = policy(self.game, *given)
        if action not in actions:
            raise PolicyError(
                f"{self.game.name}: the policy {name} takes action {action!r} at {place}; "
                f"the actions are {', '.join(map(str, actions))}"
            )
        return action

    def policy_fault(self, name: str) -> str:
        """The first fault of a policy of the rules, in all that a player may see; else empty."""
        try:
            for position in np.unique(self.sights, return_index=True)[1].tolist():
                for side, menu in enumerate(self.menus[position]):
                    if menu:
                        self.action_by(name, position, side)
        except PolicyError as error:
            return str(error)
        return ""

    def told(self) -> dict[int, str]:
        """By sights, the words of `describe` for the mover; none that tell a hidden part."""
        if type(self.game).describe is Game.describe:
            return {}
        words: dict[int, set[str]] = {}
        for kind, sight, state in zip(self.kinds, self.sights.tolist(), self.states, strict=True):
            if kind == MOVE:
                words.setdefault(sight, set()).add(self.game.describe(state))
        return {sight: min(found) for sight, found in words.items() if len(found) == 1}

    def action_name(self, action: int, position: int) -> str:
        """The name of an action."""
        return action_name(self.game, action, self.states[position])

    def choice_text(self, choice: int, position: int) -> str:
        """A choice of a position in a sentence: a deal, an action, or the actions of both."""
        if not self.menus[position]:
            return "deal()"
        actions = list(product(*self.menus[position]))[choice - self.first_choice[position]]
        names = [self.action_name(action, position) for action in actions]
        return f"the action{'s' * (len(names) - 1)} {' and '.join(names)}"

    def choices(self, position: int) -> range:
        """The numbers of the choices of a position."""
        return range(*self.first_choice[position : position + 2].tolist())

    def chances(self, exact: bool = False) -> NDArray[Any]:
        """The chance of each outcome: doubles, or fractions (dtype object)."""
        weights = self.weights if exact else self.weights.astype(np.float64)
        totals = np.add.reduceat(weights, self.first_outcome[:-1])
        totals = np.repeat(totals, np.diff(self.first_outcome))
        return weights / totals if not exact else objects(map(Fraction, weights, totals))

    def outcomes(self, choice: int) -> list[tuple[Any, float, int, int]]:
        """The outcomes of a choice: weight, payoff, target and turn."""
        part = slice(*self.first_outcome[choice : choice + 2].tolist())
        columns = (self.weights, self.payoffs, self.targets, self.turns)
        return list(zip(*(column[part].tolist() for column in columns), strict=True))


@dataclass(frozen=True, eq=False)
class Round:
    """A part of a game that begins anew.

    Attributes
    ----------
    places : (n,) int64
        The positions of the whole game, the first one first.
    positions : Positions
        Those of the round.
    """

    places: NDArray[np.int64]
    positions: Positions

    def worth(self, values: Sequence[Any]) -> Positions:
        """The positions, where a round that begins pays its value.

        Parameters
        ----------
        values : sequence of float or Fraction
            The value of each round in `exits`, for its first mover.
        """
        game = self.positions
        if not game.exits:
            return game
        payoffs, leaves = game.payoffs.copy(), game.targets < ENDED
        entered = (ENDED - 1 - game.targets[leaves]).tolist()
        signs = (1 - 2 * game.turns[leaves].astype(int)).tolist()
        payoffs[leaves] = objects(sign * values[k] for k, sign in zip(entered, signs, strict=True))
        is_exact = game.is_exact and all(isinstance(value, Fraction) for value in values)
        return replace(game, payoffs=payoffs, is_exact=is_exact)


def named_fields(game: Game, state: Any) -> dict[str, Any]:
    """The fields of a state by name, with members of enumerations as such."""
    return in_fields(state._fields, state, field_words(game))


def visible_part(game: Game, state: Any) -> dict[str, Any]:
    """The fields of a state that the mover sees, by name."""
    fields = named_fields(game, state)
    with running(RulesError, lambda: f"{game.name}: hidden({state_text(fields)})"):
        given: Any = game.hidden(state)
        is_one = isinstance(given, str) or not isinstance(given, Iterable)
        unseen = (given,) if is_one else tuple(given)
    for name in unseen:
        if name not in state._fields:
            raise RulesError(
                f"{game.name}: hidden() names {shown(name)}; the fields are "
                f"{', '.join(state._fields)}, and () hides none"
            )
    return {name: field for name, field in fields.items() if name not in unseen}


def action_name(game: Game, action: int, state: Any) -> str:
    """The name of an action: of `action_names`, of `action_text`, or its number."""
    names = game.action_names
    named = dict(enumerate(names)) if not hasattr(names, "get") else names
    return str(named.get(action) or game.action_text(state, action) or action)


def policy_names(game: Game) -> list[str]:
    """The policies of a game by name."""
    return ["optimal", "random", *type(game).policies()]


def objects(items: Iterable[Any]) -> NDArray[Any]:
    """An array of Python objects."""
    listed = list(items)
    found = np.empty(len(listed), object)
    found[:] = listed
    return found
