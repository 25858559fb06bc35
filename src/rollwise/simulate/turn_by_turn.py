"""Games of a game that is too large for one graph: all at once, turn by turn.

Before each turn the graph of the positions is made that the games have come to, and of no others.
So play needs no answer, and little memory; an answer by layers gives the best play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.rules import Rules
from rollwise.builders.some_states import positions_at_once, some_states
from rollwise.errors import PolicyError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, first_actions, has_choice, is_throw, outcomes_of
from rollwise.graph.policies import chances_of
from rollwise.numbers.randomness import draw_one
from rollwise.play.steps import Stepper
from rollwise.thumb.features import Features
from rollwise.thumb.language import Rule

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution

MOST_TURNS = 2_000  # positions that a game comes to before it is broken off

Ints = NDArray[np.int64]


class Turn(NamedTuple):
    """The turns of some positions, which are the first states of a graph.

    Attributes
    ----------
    graph : StateGraph
    border : (n, n_fields) int32
        The positions that they lead to.
    first : int
        The number of the first of these in the graph.
    act : callable
        Which actions are taken in some states: (n,) int64 for (n,) int64.
    """

    graph: StateGraph
    border: NDArray[np.int32]
    first: int
    act: Callable[[Ints], Ints]


Player = Callable[[NDArray[np.int32]], Turn]  # of positions, (n, n_fields) int32


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """What came of games.

    Attributes
    ----------
    seed : int
    over : (games,) bool
        Whether a game ended. Those that came to `MOST_TURNS` positions were broken off.
    gains : (games,) float64
        The points of the player, or what the first player got; so far, where it isn't over.
    unit : {"turns", "rolls"}
    lengths : (games,) int64
        How many of them. Rolls are moves of which more than one thing can come.
    moves : (games,) int64
        How many choices were made; a throw before a choice is none.
    positions : (n, n_fields) int32
        That games came to: the start first, then those most often come to.
    visits : (n,) int64
        How often, in all games together.
    """

    seed: int
    over: NDArray[np.bool_]
    gains: NDArray[np.float64]
    unit: str
    lengths: Ints
    moves: Ints
    positions: NDArray[np.int32]
    visits: Ints

    @property
    def n(self) -> int:
        """How many games were played."""
        return len(self.over)

    @property
    def mean(self) -> float:
        """The mean of the gains."""
        return float(self.gains.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean; infinite for a single game."""
        return float(self.gains.std(ddof=1) / np.sqrt(self.n)) if self.n > 1 else np.inf


def best_play(answer: Solution) -> Player:
    """Who takes the first of the best actions."""

    def turn(rows: NDArray[np.int32]) -> Turn:
        solution = answer.near_rows(rows)
        graph, fields = solution.graph, rows.shape[1]
        ends = graph.positions[len(rows) :]
        first = int(ends[0]) if len(ends) else graph.n_states
        return Turn(graph, graph.states[first:, :fields], first, lambda s: solution.best_actions[s])

    return turn


def random_play(game: Game, random: np.random.Generator) -> Player:
    """Who takes every action of a state equally likely."""
    rules = Rules(game)

    def turn(rows: NDArray[np.int32]) -> Turn:
        graph, border = some_states(rules, rows)

        def act(states: Ints) -> Ints:
            actions, counts = actions_of(graph, states)
            place = np.cumsum(counts) - counts + random.integers(0, counts)
            return np.asarray(actions[place])

        return Turn(graph, border, graph.n_states, act)

    return turn


def policy_play(game: Game, name: str, random: np.random.Generator) -> Player:
    """Who plays a policy that is written beside the rules.

    Raises
    ------
    PolicyError
        There is no such policy; or, as games are played, it gives what is no action.
    """
    policies = game.policies()
    if name not in policies:
        raise PolicyError(f"{game.name} has no policy {name!r} (its policies: {list(policies)})")
    rules, function = Rules(game), policies[name]
    fault = rules.policy_fault(function)
    if fault:
        raise PolicyError(fault)

    def turn(rows: NDArray[np.int32]) -> Turn:
        graph, border = some_states(rules, rows)
        asked = chances_of(graph, game, name, lambda *at: function(game, *at))

        def act(states: Ints) -> Ints:
            taken = []
            for s in states.tolist():
                chances = asked(graph.view[s])
                taken.append(list(chances)[draw_one(list(chances.values()), random)])
            return np.array(taken, np.int64)

        return Turn(graph, border, graph.n_states, act)

    return turn


def rule_play(game: Game, path: str) -> Player:
    """Who plays the rule of thumb in a file.

    Raises
    ------
    PolicyError
        It can't be read, or doesn't fit the game.
    """
    rules = Rules(game)
    sample = _with_choices(rules)
    rule = Rule.load(path, sample, game, Features(sample, game, constant=True))

    def turn(rows: NDArray[np.int32]) -> Turn:
        graph, border = some_states(rules, rows)
        choice = has_choice(graph)
        if graph.has_pool:  # whose features are tables: all of them at once
            whole = rule.actions(graph, Features(graph, game, constant=True))
            return Turn(graph, border, graph.n_states, lambda states: whole[states])

        def act(states: Ints) -> Ints:
            asked = np.unique(states[choice[states]])
            if not len(asked):
                return first_actions(graph)[states].astype(np.int64)
            features = Features(graph, game, constant=True, among=asked)
            return rule.actions(graph, features)[states]

        return Turn(graph, border, graph.n_states, act)

    return turn


def _with_choices(rules: Rules) -> StateGraph:
    """The turns of the start, or of the nearest positions after it that have a choice."""
    rows = np.array([rules.layout.numbers(rules.start)], np.int32)
    graph, border = some_states(rules, rows)
    for _ in range(MOST_TURNS):
        if has_choice(graph).any() or not len(border):
            break
        graph, border = some_states(rules, border)
    return graph


def play_turn_by_turn(
    game: Game,
    player: Player,
    games: int,
    seed: int,
    against: Player | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> PlayedGames:
    """Play games from the start.

    Parameters
    ----------
    player : callable
        Who moves first: `best_play`, `random_play`, `policy_play` or `rule_play`.
    seed : int
        Of the dice; what comes of it depends on nothing else, but for the player's own.
    against : callable, optional
        Who moves second; the same player unless given.
    """
    rules = Rules(game)
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    start = np.array(rules.layout.numbers(rules.start), np.int32)
    play = _Play(games, game.players == 2, random)
    at = np.repeat(start[None], games, 0)
    live = np.arange(games)
    size = positions_at_once(rules)
    seen: dict[tuple[int, ...], int] = {tuple(start.tolist()): 0}
    for _ in range(MOST_TURNS):
        if not len(live):
            break
        if progress is not None:
            progress("playing", games - len(live), games)
        going = []
        for mover, mine in _movers(player, against, play.first_moves(live)):
            rows, place = np.unique(at[mine], axis=0, return_inverse=True)
            place = place.reshape(-1)
            for row, often in zip(rows.tolist(), np.bincount(place).tolist(), strict=True):
                seen[tuple(row)] = seen.get(tuple(row), 0) + often
            for begin in range(0, len(rows), size):
                here = np.flatnonzero((begin <= place) & (place < begin + size))
                turn = mover(rows[begin : begin + size])
                who, states = play.one_turn(turn, live[mine][here], place[here] - begin)
                going.append((who, turn.border[states - turn.first]))
        live = np.concatenate([who for who, _ in going])
        at = np.concatenate([rows for _, rows in going])
    over = np.ones(games, np.bool_)
    over[live] = False
    first, *others = seen.items()
    positions = [first, *sorted(others, key=lambda pair: (-pair[1], pair[0]))]
    return PlayedGames(
        seed,
        over,
        play.gains,
        "turns" if play.of_two else "rolls",
        play.lengths,
        play.moves,
        np.array([row for row, _ in positions], np.int32),
        np.array([often for _, often in positions], np.int64),
    )


def _movers(
    player: Player, against: Player | None, first: NDArray[np.bool_]
) -> list[tuple[Player, Ints]]:
    """Who moves in which games."""
    if against is None:
        return [(player, np.arange(len(first)))]
    seats = ((player, np.flatnonzero(first)), (against, np.flatnonzero(~first)))
    return [(mover, games) for mover, games in seats if len(games)]


class _Play:
    """Games under way: what the first player has, who moves, and how long they last."""

    def __init__(self, games: int, of_two: bool, random: np.random.Generator) -> None:
        self.gains, self.lengths = np.zeros(games), np.zeros(games, np.int64)
        self.moves = np.zeros(games, np.int64)
        self.of_two = of_two
        self._sign, self._random = np.ones(games), random

    def first_moves(self, games: Ints) -> NDArray[np.bool_]:
        """In which games it is the first player's move."""
        return np.asarray(self._sign[games] > 0)

    def one_turn(self, turn: Turn, games: Ints, states: Ints) -> tuple[Ints, Ints]:
        """Play until all games have left the graph or are over; which go on, and where."""
        left: list[tuple[Ints, Ints]] = []
        graph, stepper = turn.graph, Stepper(turn.graph, self._random)
        while len(games):
            actions = turn.act(states)
            step = stepper.step(actions)
            self.gains[games] += self._sign[games] * step.gained
            rolls = outcomes_of(graph, actions)[1] > 1
            self.lengths[games] += step.passes | step.is_over if self.of_two else rolls
            self.moves[games] += ~is_throw(graph)[actions]
            self._sign[games[step.passes]] *= -1
            games, states = games[~step.is_over], step.state[~step.is_over]
            gone = states >= turn.first
            left.append((games[gone], states[gone]))
            games, states = games[~gone], states[~gone]
        return np.concatenate([g for g, _ in left]), np.concatenate([s for _, s in left])
