"""The rules of a game with hidden information or simultaneous choices, read into positions.

Rules are functions of the full state, written from the view of the mover. A position deals
(`deal`), lets one player move (`actions`) or lets both choose at once (`together`). The mover
sees all fields of a state except those that `hidden` names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rollwise.boards import Board
from rollwise.builders.compiled.cache_key import require_certain
from rollwise.builders.limits import LESS_IF_GROWING, what_grows
from rollwise.builders.rules import YIELDED as OF_RULES
from rollwise.builders.rules import instead_of
from rollwise.errors import PolicyError, RulesError, TooManyStates, UsageError, spelled
from rollwise.faults import shown, whole
from rollwise.game import Game, outcomes_rule, require_game
from rollwise.graph.layout import field_words
from rollwise.graph.lotteries import Components, pointers, spans
from rollwise.graph.naming import in_fields, state_text, title_of
from rollwise.hidden import rounds
from rollwise.machine.endless import running, watched
from rollwise.then import (
    AGAIN,
    DRAW,
    END,
    LOSE,
    PASS,
    THEN_NAMES,
    WIN,
    ending_points,
    is_over,
    is_payoff,
    is_skip,
    says_of_seats,
    seats_on,
    then_text,
)

DEAL, MOVE, TOGETHER = range(3)
ON = (AGAIN, PASS)
ALLOWED = (AGAIN, PASS, WIN, LOSE, DRAW)
YIELDED = {
    "deal": "(weight, next_state), or return () where all is dealt",
    "together": "two lists of actions, or return () where one player chooses",
    **OF_RULES,
}
ENDED = -1  # the target of an outcome that ends the game
LIMIT = 2_000_000  # positions, unless a limit is given
SMALL = 20_000  # positions after which growing fields are looked for
MOST = 1 << 61
AT_ONCE = 1_000  # positions between two reports of progress
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


def require_class(game: Game) -> None:
    """Refuse games that this room can't solve, in one line with an alternative.

    Raises
    ------
    UsageError, RulesError
    """
    require_game(game).validate()
    require_certain(game)
    name = game.name
    if not game.is_hidden:
        raise UsageError(
            f"{name} has neither hidden fields nor simultaneous choices: rollwise.solve(game) "
            "solves it"
        )
    if game.players != 2:
        others = (
            "fix the policies of the others in the rules, and write the rest as a game for one "
            "(players = 1): "
        )
        raise UsageError(
            f"{name}: hidden information and simultaneous choices are for two players, not "
            f"{game.players}; {others if game.players > 2 else ''}leave hidden numbers out of the "
            "state, and draw them in outcomes() when they count"
        )
    if game.objective != "win":
        raise UsageError(
            f"{name}: hidden information and simultaneous choices are for games in which one "
            f"player gains the loss of the other (objective = 'win'), not {game.objective!r}; "
            "write the difference of the points as payoff(mine - theirs)"
        )
    if game.endless not in ("forbidden", "draw"):
        raise RulesError(
            f"{name}: endless is {game.endless!r}; with hidden information or simultaneous choices "
            "it is 'forbidden' or 'draw', since nobody alone keeps play up: count the rounds in a "
            "field, and end the game with a payoff"
        )
    if game.has_throws:
        raise RulesError(
            f"{name}: throws() can't be hidden; write the throw in deal(s) or outcomes()"
        )
    if type(game).hidden is not Game.hidden and type(game).together is not Game.together:
        raise RulesError(
            f"{name}: hidden() and together() don't go together; let one player choose first, and "
            "keep the choice in a hidden field"
        )

    if type(game).together is not Game.together:
        for rule in ("outcomes", "reward"):
            try:
                inspect.signature(getattr(game, rule)).bind("s", "both")
            except TypeError:
                raise RulesError(
                    f"{name}: with together(s), {rule} takes both actions as a pair, the mover's "
                    f"first: {rule}(self, s, both)"
                ) from None


def read(
    game: Game,
    limit: int | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Positions:
    """Read the rules of a game, from the start on.

    Parameters
    ----------
    limit : int, optional
        The most positions, 2,000,000 unless given, or 200,000 if a field grows without an end in
        sight. A warning names that field.
    progress : callable, optional
        Called with a stage and the number of positions read so far.

    Raises
    ------
    RulesError
        Rules that break the contract; the message names state and action.
    TooManyStates, UsageError
    """
    require_class(game)
    return _Reading(game, limit, progress).run()


class _Reading:
    """A breadth-first walk over the states."""

    def __init__(
        self,
        game: Game,
        limit: int | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> None:
        self.game, self.limit, self.is_given = game, limit or LIMIT, limit is not None
        self.progress = progress or (lambda *_: None)
        self.outcomes = outcomes_rule(game)
        self.numbers: dict[Any, int] = {}
        self.states: list[Any] = []
        self.sights: dict[Any, int] = {}
        self.exact = True

    def run(self) -> Positions:
        game = self.game
        with running(RulesError, f"{game.name}: start()"):
            start = game.start()
        self.fields: Any = getattr(start, "_fields", None)
        if self.fields is None:
            raise RulesError(f"{game.name}: start() is {shown(start)}; a state is a NamedTuple")
        self._require_numbers(start)
        self._number(start)
        kinds, menus, sights = [], [], []
        rewards: list[Any] = []
        first_choice, first_outcome, rows = [0], [0], list[tuple[Any, Any, int, int]]()
        # breadth first: `_number` appends a new state to the list that is read here
        with watched():  # once for all rules
            for number, state in enumerate(_growing(self.states)):
                if number % AT_ONCE == 0:
                    self.progress("reading the rules", number, None)
                if number == SMALL:
                    self._look_for_growth()
                if len(self.states) > self.limit:
                    break
                kind, menu, choices = self._choices(state)
                kinds.append(kind)
                menus.append(menu)
                seen = tuple(visible_part(game, state).items()) if kind == MOVE else (kind, state)
                sights.append(self.sights.setdefault(seen, len(self.sights)))
                for words, ask, reward in choices:
                    rows += self._outcomes(state, words, ask)
                    rewards.append(self._number_of(reward, state, words))
                    first_outcome.append(len(rows))
                first_choice.append(len(rewards))
        if len(self.states) > self.limit:
            raise self._too_many()
        weights, payoffs, targets, turns = zip(*rows, strict=True)
        return Positions(
            game,
            self.states,
            np.array(kinds, np.int8),
            menus,
            np.array(sights, np.int64),
            objects(rewards),
            np.array(first_choice, np.int64),
            np.array(first_outcome, np.int64),
            objects(weights),
            objects(payoffs),
            np.array(targets, np.int64),
            np.array(turns, np.int8),
            self.exact,
        )

    def _number(self, state: Any) -> int:
        number = self.numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self._require_numbers(state)
            self.states.append(state)
        return number

    def _too_many(self) -> TooManyStates:
        """The error for more positions than the limit."""
        rows, names = self._rows(self.states)
        grows = what_grows(names, field_words(self.game), rows)
        more = spelled(python="max_states=N", command_line="--max-states N")
        return TooManyStates(
            f"{self.game.name} has more than {self.limit:,} positions{grows}",
            f"; allow more with {more}",
        )

    def _rows(self, states: list[Any]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """The fields with one number, of some states: (n_states, n_fields), and their names."""
        names = [f for f in self.fields if not isinstance(getattr(self.states[0], f), tuple)]
        columns = [[clipped(getattr(state, name)) for state in states] for name in names]
        shape = len(names), len(states)
        return np.array(columns, np.int64).reshape(shape).T, tuple(names)

    def _look_for_growth(self) -> None:
        """Warn of a field that grows, and lower the limit unless one was given."""
        from rollwise.builders.building import warn_of_growth
        from rollwise.builders.growth import Moves, endless_growth

        rows, names = self._rows(self.states[: LESS_IF_GROWING * SMALL])

        def numbers(state: Any) -> list[int]:
            return [clipped(getattr(state, name)) for name in names]

        def after(state: Any) -> list[Any]:
            _, _, choices = self._choices(state)
            return [
                next_state if then in ON or not is_over(then) else None
                for _, outcomes, _ in choices
                for _, then, next_state in outcomes
            ]

        parameters = self.game.parameters.values()
        moves = Moves(names, numbers, after)
        growth = endless_growth(moves, rows, parameters, self.states.__getitem__)
        if growth is not None:
            warn_of_growth(self.game, growth)
            if not self.is_given:
                self.limit //= LESS_IF_GROWING

    def _require_numbers(self, state: Any) -> None:
        """Refuse a state with a field that is neither a whole number nor a tuple of them."""
        for name, field in zip(self.fields, state, strict=False):
            try:
                list(map(whole, field if isinstance(field, tuple) else (field,)))
            except TypeError:
                raise RulesError(
                    f"{self.game.name}: the field {name} of a state is {shown(field)}; fields are "
                    f"whole numbers, or tuples of them{instead_of(field)}"
                ) from None

    def _refuse(self, state: Any, words: str, fault: str) -> NoReturn:
        where = state_text(named_fields(self.game, state))
        raise RulesError(f"{self.game.name}: {fault}, in the state {where}{words}")

    def _listed(self, state: Any, name: str, rule: Callable[..., Any], *more: Any) -> list[Any]:
        """The result of a rule of this name as a list."""

        def where() -> str:
            text = state_text(named_fields(self.game, state))
            return f"{self.game.name}: {name}({text}{''.join(f', {shown(m)}' for m in more)})"

        with running(RulesError, where):
            given: Iterable[Any] | None = rule(state, *more)
            if given is not None:
                return list(given)
        raise RulesError(f"{where()} gives None; it should yield {YIELDED[name]}")

    def _actions(self, state: Any, given: Iterable[Any]) -> tuple[int, ...]:
        actions: tuple[int, ...] = ()
        for action in given:
            try:
                actions += (whole(action),)
            except TypeError:
                self._refuse(
                    state,
                    "",
                    f"the action {shown(action)} isn't a whole number (names of actions belong in "
                    "action_names)",
                )
        if len(set(actions)) < len(actions) or min(actions, default=0) < 0:
            self._refuse(state, "", f"the actions are {actions}; they must differ and be from 0 on")
        if not actions:
            self._refuse(state, "", "a player has no action; a finished game ends by its outcome")
        return actions

    def _choices(self, state: Any) -> tuple[int, tuple[tuple[int, ...], ...], list[Any]]:
        """Kind, menu, and for each choice its words, its outcomes and its reward."""
        game = self.game
        if dealt := self._listed(state, "deal", game.deal):
            if not all(isinstance(row, tuple) and len(row) == 2 for row in dealt):
                self._refuse(state, "", "deal() must yield (weight, next_state)")
            return DEAL, (), [("", [(w, 0, after) for w, after in dealt], 0)]
        pair = self._listed(state, "together", game.together)
        if pair:
            if len(pair) != 2 or not all(isinstance(part, Iterable) for part in pair):
                self._refuse(
                    state, "", "together() must give two lists of actions, the mover's first"
                )
            menu = tuple(self._actions(state, actions) for actions in pair)
            typed: list[Any] = [(i, j) for i in menu[0] for j in menu[1]]
        else:
            menu = (self._actions(state, self._listed(state, "actions", game.actions)),)
            typed = list(menu[0])
        choices = []
        for action in typed:
            words = f", action {shown(action)}"
            with running(RulesError, f"{game.name}: reward{words}"):
                reward = game.reward(state, action)
            if reward is None:
                self._refuse(state, words, "reward() gives None (it is a number, 0 for no points)")
            outcomes = self._listed(state, "outcomes", self.outcomes, action)
            choices.append((words, outcomes, reward))
        return TOGETHER if pair else MOVE, menu, choices

    def _number_of(self, number: Any, state: Any, words: str) -> Any:
        """A number of the rules: a whole number or a fraction if it can be, else a double."""
        if type(number) is int or isinstance(number, Fraction):
            return number
        try:
            given = float(number)
        except (TypeError, ValueError, OverflowError):
            given = np.nan
        if not np.isfinite(given):
            self._refuse(state, words, f"{shown(number)} is no number")
        if given.is_integer():
            return int(given)
        self.exact = False
        return given

    def _then(self, then: Any, state: Any, words: str) -> int:
        """A `then` as Python's int; one that two players don't have is refused."""
        is_whole = isinstance(then, int | np.integer) and not isinstance(then, bool)
        code = int(then) if is_whole else -1
        if code not in ALLOWED and not is_skip(code) and not is_payoff(code):
            told = then_text(code) if code == END or says_of_seats(code) else shown(then)
            allowed = ", ".join(THEN_NAMES[one] for one in ALLOWED)
            self._refuse(state, words, f"unknown `then` {told} (allowed: {allowed}, payoff(x))")
        return code

    def _outcomes(self, state: Any, words: str, rows: list[Any]) -> list[tuple[Any, Any, int, int]]:
        """Weight, payoff, target and turn of each outcome; equal outcomes are one."""
        sums: dict[Any, Any] = {}
        for row in rows:
            if not isinstance(row, tuple) or len(row) != 3:
                self._refuse(state, words, "an outcome must be (weight, then, next_state)")
            weight, then, after = row[0], self._then(row[1], state, words), row[2]
            if type(weight) is not int:
                weight = self._number_of(weight, state, words)
            if weight < 0:
                self._refuse(state, words, f"the weight {weight} is negative")
            # equal outcomes add up to one
            if weight:
                key = (then, None if then not in ON and is_over(then) else after)
                try:
                    sums[key] = sums.get(key, 0) + weight
                except TypeError:  # no hash
                    self._require_numbers(after)
                    raise
        if not sums:
            self._refuse(state, words, "there are no outcomes with a positive weight")
        found = []
        for (then, after), weight in sums.items():
            if then not in ON and is_over(then):
                points = self._number_of(ending_points(then), state, words)
                found.append((weight, points, ENDED, 0))
                continue
            if type(after) is not type(self.states[0]):
                self._refuse(state, words, f"{shown(after)} isn't a state")
            turn = int(then) if then in ON else int(seats_on(then, 2))
            found.append((weight, 0, self._number(after), turn))
        return found


def clipped(number: Any) -> int:
    """A whole number of at most 2^61, and of at least -2^61."""
    return max(-MOST, min(int(number), MOST))


def _growing(items: list[Any]) -> Iterable[Any]:
    """The items of a list that grows while it is read."""
    done = 0
    while done < len(items):
        yield items[done]
        done += 1


def objects(items: Iterable[Any]) -> NDArray[Any]:
    """An array of Python objects."""
    listed = list(items)
    found = np.empty(len(listed), object)
    found[:] = listed
    return found
