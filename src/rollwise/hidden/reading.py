"""The rules of a game with hidden information or simultaneous choices, read into positions.

Rules are functions of the full state, written from the view of the mover. A position deals
(`deal`), lets one player move (`actions`) or lets both choose at once (`together`). The mover
sees all fields of a state except those that `hidden` names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.compiled.cache_key import require_certain
from rollwise.builders.limits import LESS_IF_GROWING, what_grows
from rollwise.builders.rules import YIELDED as OF_RULES
from rollwise.builders.rules import instead_of
from rollwise.errors import RulesError, TooManyStates, UsageError, spelled
from rollwise.faults import shown, whole
from rollwise.game import Game, has_many, outcomes_rule, require_game
from rollwise.graph.layout import field_words
from rollwise.graph.naming import state_text
from rollwise.hidden.positions import (
    DEAL,
    ENDED,
    MOVE,
    TOGETHER,
    Positions,
    named_fields,
    objects,
    visible_part,
)
from rollwise.machine.endless import running, watched
from rollwise.numbers.printed import how_many
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

ON = (AGAIN, PASS)
ALLOWED = (AGAIN, PASS, WIN, LOSE, DRAW)
YIELDED = {
    "deal": "(weight, next_state), or return () where all is dealt",
    "together": "two lists of actions, or return () where one player chooses",
    **OF_RULES,
}
LIMIT = 2_000_000  # positions, unless a limit is given
SMALL = 20_000  # positions after which growing fields are looked for
MOST = 1 << 61
AT_ONCE = 1_000  # positions between two reports of progress


def require_class(game: Game, players: int = 2) -> None:
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
    if has_many(game):
        raise UsageError(
            f"{name}: hidden information and simultaneous choices are for at most two players, not "
            f"{game.players}; fix the policies of the others in the rules, and write the rest as a "
            "game for one (players = 1)"
        )
    if game.has_throws:
        raise RulesError(
            f"{name}: throws() can't be hidden; write the throw in deal(s) or outcomes()"
        )
    if game.players == 1 and type(game).together is not Game.together:
        raise RulesError(f"{name}: together() is for two players, and this game has one")
    if game.players != players:
        solver = "rollwise.solve" if game.players == 1 else "rollwise.hidden.solve"
        raise UsageError(
            f"{name}: this function is for games of {how_many(players, 'player')}, and this one is "
            f"for {game.players}: {solver}(game) solves it"
        )
    if players == 1:
        return
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
    *,
    players: int = 2,
) -> Positions:
    """Read the rules of a game, from the start on.

    Parameters
    ----------
    limit : int, optional
        The most positions, 2,000,000 unless given, or 200,000 if a field grows without an end in
        sight. A warning names that field.
    progress : callable, optional
        Called with a stage and the number of positions read so far.
    players : int
        1 or 2: a game for as many is read.

    Raises
    ------
    RulesError
        Rules that break the contract; the message names state and action.
    TooManyStates, UsageError
    """
    require_class(game, players)
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
        first_choice, first_outcome, rows = [0], [0], list[tuple[Any, Any, int, int, int]]()
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
        weights, payoffs, targets, turns, thens = zip(*rows, strict=True)
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
            objects(thens),
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
        if self.game.players == 1 and is_whole:
            if code != AGAIN and not is_over(code):
                fault = f"{then_text(code)} in a game of one player, which goes on with AGAIN"
                self._refuse(state, words, fault)
            return code  # ends are checked with the game of beliefs
        if code not in ALLOWED and not is_skip(code) and not is_payoff(code):
            told = then_text(code) if code == END or says_of_seats(code) else shown(then)
            allowed = ", ".join(THEN_NAMES[one] for one in ALLOWED)
            self._refuse(state, words, f"unknown `then` {told} (allowed: {allowed}, payoff(x))")
        return code

    def _outcomes(
        self, state: Any, words: str, rows: list[Any]
    ) -> list[tuple[Any, Any, int, int, int]]:
        """Weight, payoff, target, turn and `then` of each outcome; equal outcomes are one."""
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
                found.append((weight, points, ENDED, 0, then))
                continue
            if type(after) is not type(self.states[0]):
                self._refuse(state, words, f"{shown(after)} isn't a state")
            turn = int(then) if then in ON else int(seats_on(then, 2))
            found.append((weight, 0, self._number(after), turn, then))
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
