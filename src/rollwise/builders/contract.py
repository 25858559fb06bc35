"""The contract of the language: the kinds of games, outcomes and rewards that rules may have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from rollwise.errors import ForMorePlayers, RulesError, UsageError, spelled
from rollwise.faults import shown
from rollwise.game import Game, has_many, require_game
from rollwise.graph.naming import title_of
from rollwise.numbers.shares import MOST_PLAYERS
from rollwise.then import (
    AGAIN,
    DRAW,
    END,
    LOSE,
    PASS,
    THEN_NAMES,
    WIN,
    is_payoff,
    is_skip,
    says_of_seats,
    skip,
    then_text,
)

# The commands for one player, and what there is for more.
FOR_ONE = {
    "frontier": "optimal has second aims among equally good actions, and certify has the loss of a "
    "policy",
    "scores": "distribution has the results of each player",
}


def more_states() -> str:
    """Advice on how to allow more states."""
    return spelled(python="max_states=N", command_line="--max-states N")


def require_two(game: Game) -> None:
    """Reject a game of three or more players.

    Raises
    ------
    ForMorePlayers
    """
    if has_many(game):
        refuse_many(title_of(game.name, game.parameters), game.players, game)


def refuse_many(title: str, players: int, game: Any) -> NoReturn:
    """Raise the error that a feature does not support three or more players."""
    raise ForMorePlayers(
        f"{title} is a game for {players}: this is for one player or two; "
        + spelled(
            python="rollwise.solve(game) finds an equilibrium of it",
            command_line="`rollwise solve` finds an equilibrium of it",
        ),
        game,
    )


def require_one_for(command: str, game: Game) -> None:
    """Reject a game of several players in a command that has no meaning for it.

    Raises
    ------
    UsageError
    """
    if game.players > 1:
        title = title_of(game.name, game.parameters)
        raise UsageError(f"{title}: {command} is for one player; {FOR_ONE[command]}")


def refuse_hidden(game: Game) -> NoReturn:
    """Raise the error that a feature does not support hidden dice or simultaneous choices."""
    if game.players == 1:
        raise UsageError(
            f"{title_of(game.name, game.parameters)} has hidden fields; rollwise.solve(game) "
            "solves it, and game.with_beliefs() is the same game for other functions"
        )
    raise UsageError(
        f"{title_of(game.name, game.parameters)} has hidden dice or simultaneous choices; "
        + spelled(
            python="rollwise.hidden.solve(game) solves it",
            command_line="solve, verify, check, table, advise, evaluate, respond, simulate, learn, "
            "play, page, report and export --to efg take such games",
        )
    )


@dataclass(frozen=True, eq=False)
class Contract:
    """The kind of a game, and the outcomes and rewards that its rules may give.

    Raises
    ------
    RulesError
        The attributes of the game break the contract.
    ForMorePlayers
        It is for three or more players, without `any_players`.
    UsageError
        It has hidden dice or simultaneous choices.
    """

    game: Game
    any_players: bool = False

    def __post_init__(self) -> None:
        game = require_game(self.game)
        game.validate()
        if type(game.players) is not int or not 1 <= game.players <= MOST_PLAYERS:
            raise self.fault(
                f"players is {shown(game.players)}; it must be from 1 to {MOST_PLAYERS}"
            )
        if game.is_hidden:
            refuse_hidden(game)
        if not self.any_players:
            require_two(game)
        if game.objective not in ("win", "maximize", "minimize", "average"):
            raise self.fault(
                f"objective is {shown(game.objective)}; it must be 'win', "
                "'maximize', 'minimize' or 'average'"
            )
        may_go_on = game.endless != "forbidden"
        fault = ""
        if game.players >= 2 and game.objective != "win":
            fault = f"the objective {game.objective!r} is for solitaire games (players = 1)"
        elif game.endless not in ("forbidden", "draw", "lose"):
            fault = (
                f"endless is {game.endless!r}; it must be 'forbidden', 'draw' or 'lose' (the "
                "worth of endless play)"
            )
        elif game.objective != "win" and may_go_on:
            fault = (
                f"endless = {game.endless!r} is for games that are won or lost; in a game for "
                "points endless play loses without bound, or is refused"
            )
        elif game.players > 2 and may_go_on:
            fault = (
                f"endless = {game.endless!r} is for games of one or two players; with more, every "
                "play has to end: count the turns in the state"
            )
        if fault:
            raise self.fault(fault)

    def fault(self, what: str) -> RulesError:
        """The error about something in the rules, with the name of the game."""
        return RulesError(f"{self.game.name}: {what}")

    @cached_property
    def allowed_thens(self) -> tuple[int, ...]:
        """The allowed values of `then` in a game of this kind."""
        if self.game.objective == "average":
            return (AGAIN,)
        if self.game.objective != "win":
            return (AGAIN, END)
        if self.game.players == 1:
            return (AGAIN, WIN, LOSE, DRAW)
        return (AGAIN, PASS, WIN, LOSE, DRAW)

    @property
    def allowed_text(self) -> str:
        """The allowed values of `then`, as a list in words."""
        named = [THEN_NAMES[code] for code in self.allowed_thens]
        named += ["payoff(x)"] if self.payoffs_allowed else []
        return ", ".join(named)

    @property
    def payoffs_allowed(self) -> bool:
        """Whether the game may end with any payoff."""
        return self.game.objective == "win"

    @property
    def seats_allowed(self) -> bool:
        """Whether the game may end with a result for each of several seats."""
        return self.any_players and self.game.players > 2

    @property
    def rewards_allowed(self) -> bool:
        """Whether an action may bring points."""
        return self.game.objective != "win" or (
            self.game.players == 2 and self.game.endless == "forbidden"
        )

    @property
    def reward_error(self) -> str:
        """The error message for a forbidden reward."""
        if self.game.players == 2:
            return f"is for games without endless play, but endless is {self.game.endless!r}"
        if self.game.players > 2:
            return "is for games of one player or two"
        return (
            "is for the objectives 'maximize' and 'minimize' and for games of two players, but "
            "this is a solitaire game and the objective is 'win': WIN, LOSE or payoff(x) in "
            "outcomes() ends it with a result"
        )

    def allows(self, then: int) -> bool:
        """Whether a value of `then` is allowed in a game of this kind."""
        return (
            then in self.allowed_thens
            or (self.payoffs_allowed and is_payoff(then))
            or (self.seats_allowed and says_of_seats(then))
            or (PASS in self.allowed_thens and is_skip(then))
        )

    @cached_property
    def going_on(self) -> frozenset[int]:
        """The values of `then` that continue play, except jumps round the table."""
        if PASS not in self.allowed_thens:
            return frozenset({AGAIN})
        return frozenset(map(skip, range(-self.game.players, self.game.players + 1)))

    def then_error(self, then: Any) -> str:
        """The error message for a forbidden `then`."""
        is_whole = isinstance(then, int | np.integer) and not isinstance(then, bool)
        code = int(then) if is_whole else -1
        if says_of_seats(code):
            return (
                f"{then_text(code)} in a game that is solved for one player or two (allowed: "
                f"{self.allowed_text}; shared_by(winners) goes with any number of players)"
            )
        if 0 <= code < len(THEN_NAMES) or is_payoff(code) or is_skip(code):
            kinds = {1: "solitaire game", 2: "two-player game"}
            kind = kinds.get(self.game.players, f"game for {self.game.players}")
            hint = ""
            if is_payoff(code):
                hint = "; reward(s, action) gives points"
            elif self.game.objective == "average":
                hint = "; play has no end and goes on with AGAIN, as at self.start()"
            elif code == END and self.game.objective == "win":
                hint = '; a game for points has objective = "maximize" or "minimize"'
                if self.game.players > 1:
                    hint = "; END is for games of one player, for points"
            elif code in (WIN, LOSE, DRAW):
                hint = '; a game that is won or lost has objective = "win"'
            return (
                f"{then_text(code)} in a {kind} with the objective "
                f"{self.game.objective!r} (allowed: {self.allowed_text}{hint})"
            )
        other = ""
        if isinstance(then, bool):
            other = "; WIN if won else PASS makes one of a condition"
        elif isinstance(then, float) and self.payoffs_allowed:
            other = f"; payoff({then:g}) ends the game with that payoff"
        elif isinstance(then, tuple):
            other = "; `then` precedes the next state: (weight, then, next_state)"
        return f"unknown `then` {shown(then)} (allowed: {self.allowed_text}{other})"
