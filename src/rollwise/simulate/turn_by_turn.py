"""Simulated games of a game too large for one graph: all games at once, turn by turn.

Before each turn a graph is made for the present positions of the games, and no others.
Play needs no answer and little memory. For best play it needs an answer by layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import Certified
from rollwise.answer.solution import Solution
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import positions_at_once, some_states
from rollwise.errors import EndlessPlay, PolicyError, no_opponent
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import (
    actions_of,
    first_actions,
    has_choice,
    has_ties,
    is_roll,
    is_throw,
)
from rollwise.graph.policies import Ties, chances_of
from rollwise.machine.interrupts import held_back
from rollwise.numbers.given import whole_number
from rollwise.numbers.randomness import derived_seed, draw_one, seed_of
from rollwise.play.games import Games, Stepper
from rollwise.simulate.match import Counts, Match, side_of, warn_of_disagreements
from rollwise.thumb.features import Features
from rollwise.thumb.language import Rule

MOST_TURNS = 2_000  # positions that a game comes to before it is broken off

Ints = NDArray[np.int64]


class Turn(NamedTuple):
    """The turns of some positions, which are the first states of a graph.

    Attributes
    ----------
    graph : StateGraph
    border : (n, n_fields) int32
        The positions at the end of these turns.
    first : int
        The number of the first of these in the graph.
    act : callable
        The actions taken in some states: (n,) int64 for (n,) int64.
    tied : (n_states,) bool, optional
        Of an optimal player: whether another action is as good as its own.
    """

    graph: StateGraph
    border: NDArray[np.int32]
    first: int
    act: Callable[[Ints], Ints]
    tied: NDArray[np.bool_] | None = None


class StatesMet:
    """The states that games come to, and those of them with ties of an optimal player."""

    def __init__(self) -> None:
        # The graphs of turns number states anew, so that states are known by hashes of their rows.
        self._reached: set[int] = set()
        self._tied: set[int] = set()

    def add(self, turn: Turn, states: Ints) -> None:
        """Note some states of a turn's graph."""
        states = np.unique(states)
        self._reached.update(_hashes(turn.graph, states))
        if turn.tied is not None:
            self._tied.update(_hashes(turn.graph, states[turn.tied[states]]))

    @property
    def ties(self) -> Ties | None:
        """The ties met; None if there are none."""
        return Ties(len(self._tied), len(self._reached)) if self._tied else None


def _hashes(graph: StateGraph, states: Ints) -> Iterator[int]:
    """A number for each of some states, the same in all graphs of a game."""
    rows = np.ascontiguousarray(graph.rows_at(states), np.int32)
    return map(hash, rows.view(np.dtype((np.void, 4 * rows.shape[1]))).ravel().tolist())


Player = Callable[[NDArray[np.int32]], Turn]  # of positions, (n, n_fields) int32


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """Results of games.

    Attributes
    ----------
    seed : int
    over : (games,) bool
        Whether a game ended. Games with `MOST_TURNS` positions were broken off.
    gains : (games,) float64
        The points of the player, or the first player's result; of unfinished games so far.
    unit : {"turns", "rolls", "moves"}
    lengths : (games,) int64
        Number of these units, as in `rollwise.analysis.lengths`.
    moves : (games,) int64
        Number of choices; a throw before a choice is none.
    positions : (n, n_fields) int32
        Positions of the games: the start first, then the most frequent ones.
    visits : (n,) int64
        Number of visits, in all games together.
    has_stakes : bool
        Whether a game of wins and losses has other payoffs or points in these positions.
    """

    seed: int
    over: NDArray[np.bool_]
    gains: NDArray[np.float64]
    unit: str
    lengths: Ints
    moves: Ints
    positions: NDArray[np.int32]
    visits: Ints
    has_stakes: bool

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
    """A player that takes the first of the best actions."""

    def turn(rows: NDArray[np.int32]) -> Turn:
        solution = answer.near_rows(rows)
        graph, fields = solution.graph, rows.shape[1]
        first = graph.n_states - graph.n_ends
        border, tied = graph.states[first:, :fields], has_ties(graph, solution.is_best)
        return Turn(graph, border, first, lambda s: solution.best_actions[s], tied)

    return turn


def random_play(game: Game, random: np.random.Generator) -> Player:
    """A player that takes every action of a state with equal probability."""
    rules = Rules(game)

    def turn(rows: NDArray[np.int32]) -> Turn:
        graph, border = some_states(rules, rows)

        def act(states: Ints) -> Ints:
            actions, counts = actions_of(graph, states)
            index = np.cumsum(counts) - counts + random.integers(0, counts)
            return np.asarray(actions[index])

        return Turn(graph, border, graph.n_states, act)

    return turn


def policy_play(game: Game, name: str, random: np.random.Generator) -> Player:
    """A player with a policy written beside the rules.

    Raises
    ------
    PolicyError
        There is no such policy; or, during play, it gives an illegal action.
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
    """A player with the rule of thumb in a file.

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
        if graph.has_pool:  # its features are tables of all positions at once
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
    """The turns of the start, or of the nearest positions after it with a choice."""
    rows = np.array([rules.layout.numbers(rules.start)], np.int32)
    graph, border = some_states(rules, rows)
    # the features of a rule need a choice to be read
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
    met: StatesMet | None = None,
) -> PlayedGames:
    """Play games from the start.

    Parameters
    ----------
    player : callable
        The first player: `best_play`, `random_play`, `policy_play` or `rule_play`.
    seed : int
        Of the dice; apart from the players' own randomness the result depends only on it.
    against : callable, optional
        The second player, by default the same one.
    met : StatesMet, optional
        Notes the states of these games, too.
    """
    rules = Rules(game)
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    start = np.array(rules.layout.numbers(rules.start), np.int32)
    play = _Play(games, game.players == 2, random, met)
    at = np.repeat(start[None], games, 0)
    live = np.arange(games)
    size = positions_at_once(rules)
    seen: dict[tuple[int, ...], int] = {tuple(start.tolist()): 0}
    # one turn of all games at a time
    for _ in range(MOST_TURNS):
        if not len(live):
            break
        if progress is not None:
            progress("playing", games - len(live), games)
        going = []
        for mover, mine in _movers(player, against, play.first_moves(live)):
            # games in the same position share its graph
            rows, index = np.unique(at[mine], axis=0, return_inverse=True)
            index = index.reshape(-1)
            for row, often in zip(rows.tolist(), np.bincount(index).tolist(), strict=True):
                seen[tuple(row)] = seen.get(tuple(row), 0) + often
            for begin in range(0, len(rows), size):
                here = np.flatnonzero((begin <= index) & (index < begin + size))
                turn = mover(rows[begin : begin + size])
                who, states = play.one_turn(turn, live[mine][here], index[here] - begin)
                going.append((who, turn.border[states - turn.first]))
        live = np.concatenate([who for who, _ in going])
        at = np.concatenate([rows for _, rows in going])
    over = np.ones(games, np.bool_)
    over[live] = False
    first, *others = seen.items()
    positions = [first, *sorted(others, key=lambda pair: (-pair[1], pair[0]))]
    unit = "turns" if play.of_two else "rolls" if play.has_rolls else "moves"
    return PlayedGames(
        seed,
        over,
        play.gains,
        unit,
        play.moves if unit == "moves" else play.lengths,
        play.moves,
        np.array([row for row, _ in positions], np.int32),
        np.array([often for _, often in positions], np.int64),
        play.has_stakes,
    )


def _movers(
    player: Player, against: Player | None, first: NDArray[np.bool_]
) -> list[tuple[Player, Ints]]:
    """The players to move, and their games."""
    if against is None:
        return [(player, np.arange(len(first)))]
    seats = ((player, np.flatnonzero(first)), (against, np.flatnonzero(~first)))
    return [(mover, games) for mover, games in seats if len(games)]


class _Play:
    """Games in progress: the first player's results, the mover, and the lengths."""

    def __init__(
        self, games: int, of_two: bool, random: np.random.Generator, met: StatesMet | None
    ) -> None:
        self.gains, self.lengths = np.zeros(games), np.zeros(games, np.int64)
        self.moves = np.zeros(games, np.int64)
        self.of_two, self.has_stakes, self.has_rolls = of_two, False, False
        self._sign, self._random, self._met = np.ones(games), random, met

    def first_moves(self, games: Ints) -> NDArray[np.bool_]:
        """The games in which the first player is to move."""
        return np.asarray(self._sign[games] > 0)

    def one_turn(self, turn: Turn, games: Ints, states: Ints) -> tuple[Ints, Ints]:
        """Play until no game is in the graph; the unfinished games and their positions."""
        left: list[tuple[Ints, Ints]] = []
        graph, sign = turn.graph, self._sign[games]
        self.has_stakes |= graph.has_stakes
        stepper, rolls = Stepper(graph, self._random), is_roll(graph)
        self.has_rolls |= bool(rolls.any())
        for move in stepper.play(lambda states, _: turn.act(states), states, turn.first):
            if self._met is not None:
                self._met.add(turn, move.state)
            who = games[move.game]
            self.gains[who] += sign[move.game] * move.gained
            turn_ends = move.turn_ends | move.is_over
            self.lengths[who] += turn_ends if self.of_two else rolls[move.action]
            self.moves[who] += ~is_throw(graph)[move.action]
            self._sign[who[move.turn_ends]] *= -1
            # states from `turn.first` on are the border: the game waits there for the next graph
            gone = move.after >= turn.first
            left.append((who[gone], move.after[gone]))
        return np.concatenate([g for g, _ in left]), np.concatenate([s for _, s in left])


BLOCK = 2_500  # games that are played at once
BY_TURNS = "games are played turn by turn"


def simulate_large(
    game: Game,
    policy: str,
    against: str | None = None,
    *,
    games: int,
    seed: int | None = None,
    answer: Callable[[], Solution],
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Match:
    """Play games between policies, as `simulate` does, without a graph of all states.

    Parameters
    ----------
    game : Game
    policy, against : str
        ``optimal``, ``random``, a policy of the rules, or a rule of thumb in a file (``.json``).
        `against` as in `simulate`.
    games : int
        At least 1, or 2 between two policies.
    seed : int, optional
        By default a new one. The result depends only on it.
    answer : callable
        Returns the answer by layers, for ``optimal``.
    progress : callable, optional
        Called now and then as ``progress("playing", games, total)``.

    Returns
    -------
    Match
        After Ctrl-C, of the blocks of games finished by then.

    Raises
    ------
    UsageError, PolicyError
        Too few games; a policy that doesn't fit; an opponent in a solitaire game.
    EndlessPlay
        A game reaches more than 2,000 positions.
    """
    if against is not None and game.players != 2:
        raise no_opponent(game.name)
    against = None if against == policy else against
    names = [policy] if against is None else [policy, against]
    games = whole_number("games", games, len(names))
    seed = seed_of(seed)
    # a policy of the rules with this name goes before the answer
    solves = "optimal" in names and "optimal" not in game.policies()
    best = answer() if solves else None
    met = None if best is None else StatesMet()
    blocks = _played(game, names, games, seed, best, progress, met)
    stakes = any(played.has_stakes for _, played in blocks)
    for_points = game.objective != "win" or stakes or (best is not None and best.has_stakes)
    sides = []
    for first in range(len(names)):
        counts = Counts(for_points)
        for _, played in (block for block in blocks if block[0] == first):
            counts.add(_as_games(played, game, for_points))
        other = names[1 - first] if len(names) == 2 else policy
        side = side_of(counts, names[first], other if game.players == 2 else "", for_points)
        if best is not None and len(names) == 1:
            side = side.beside(Certified(best.value, float(best.error_bounds[best.start])))
        sides.append(side)
    done = sum(side.games for side in sides)
    note = "no exact figures" + (" but the value" if best is not None and against is None else "")
    notes = (f"{note}: {BY_TURNS}",)
    ties = None if met is None else met.ties
    match = Match(
        policy, against or policy, done, games, seed, tuple(sides), notes, ties, subject=game
    )
    warn_of_disagreements(match)
    return match


def _played(
    game: Game,
    names: list[str],
    games: int,
    seed: int,
    best: Solution | None,
    progress: Callable[[str, int, int | None], None] | None,
    met: StatesMet | None,
) -> list[tuple[int, PlayedGames]]:
    """Blocks of games, and for each block the policy that moved first."""
    blocks: list[tuple[int, PlayedGames]] = []
    seats, done = len(names), 0
    left = [(games + seats - 1 - first) // seats for first in range(seats)]
    with held_back() as interrupt:
        while any(left) and not (interrupt.asked and len(blocks) >= seats):
            first = len(blocks) % seats
            # the seats take turns to begin, so that they are even when Ctrl-C comes
            size = min(BLOCK, left[first])
            left[first] -= size
            if not size:
                break
            own = derived_seed(seed, len(blocks))
            # of the players; `play_turn_by_turn` has the dice's
            random = np.random.default_rng(own)
            players = [_player(game, name, best, random) for name in names]
            second = players[1 - first] if seats == 2 else None
            played = play_turn_by_turn(game, players[first], size, own, second, met=met)
            if not played.over.all():
                raise EndlessPlay(
                    f"{game.name}: {int((~played.over).sum()):,} of {size:,} games came to more "
                    f"than {MOST_TURNS:,} positions"
                )
            blocks.append((first, played))
            done += size
            if progress is not None:
                progress("playing", done, games)
        interrupt.asked = False  # the finished games are the answer
    return blocks


def _player(game: Game, name: str, best: Solution | None, random: np.random.Generator) -> Player:
    """The player for a policy, by its name."""
    if name == "optimal" and best is not None:
        return best_play(best)
    if name == "random" and name not in game.policies():
        return random_play(game, random)
    if name.endswith(".json"):
        return rule_play(game, name)
    return policy_play(game, name, random)


def _as_games(played: PlayedGames, game: Game, for_points: bool) -> Games:
    """Games as they are counted."""
    return Games(
        np.sign(played.gains).astype(np.int8) * (game.objective == "win"),
        played.lengths.astype(np.int32) if game.players == 2 else np.ones(played.n, np.int32),
        played.moves.astype(np.int32),
        played.gains if for_points else np.empty(0),
    )
