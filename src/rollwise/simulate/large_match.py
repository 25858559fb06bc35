"""Simulated games between policies in a game too large for one graph, turn by turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.errors import EndlessPlay, UsageError
from rollwise.game import Game
from rollwise.graph import win_probability
from rollwise.machine.interrupts import held_back
from rollwise.numbers.printed import CHANCE_ROUNDING
from rollwise.numbers.randomness import check_seed, derived_seed, fresh_seed
from rollwise.play.games import Games
from rollwise.simulate.results import Counts, Match, Side, side_of, warn_of_disagreements
from rollwise.simulate.turn_by_turn import (
    MOST_TURNS,
    PlayedGames,
    Player,
    best_play,
    play_turn_by_turn,
    policy_play,
    random_play,
    rule_play,
)

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
    """Play games between policies, as `rollwise.simulate` does, without a graph of all states.

    Parameters
    ----------
    game : Game
    policy, against : str
        ``optimal``, ``random``, a policy of the rules, or a rule of thumb in a file (``.json``).
        `against` as in `rollwise.simulate`.
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
        raise UsageError(f"{game.name} is a game for one: there is no opponent")
    against = None if against == policy else against
    names = [policy] if against is None else [policy, against]
    if games < len(names):
        raise UsageError(f"games is {games}; it must be at least {len(names)}")
    seed = fresh_seed() if seed is None else check_seed(seed)
    best = answer() if "optimal" in names else None
    blocks = _played(game, names, games, seed, best, progress)
    stakes = game.objective == "win" and any(
        not np.isin(played.gains, (-1.0, 0.0, 1.0)).all() for _, played in blocks
    )
    for_points = game.objective != "win" or stakes or (best is not None and best.has_stakes)
    sides = []
    for first in range(len(names)):
        counts = Counts(for_points)
        for _, played in (block for block in blocks if block[0] == first):
            counts.add(_as_games(played, game, for_points))
        other = names[1 - first] if len(names) == 2 else policy
        side = side_of(counts, names[first], other if game.players == 2 else "", for_points)
        sides.append(side if best is None or len(names) == 2 else _with_best(side, best))
    done = sum(side.games for side in sides)
    note = "no exact figures" + (" but the value" if best is not None and against is None else "")
    notes = (f"{note}: {BY_TURNS}",)
    match = Match(policy, against or policy, done, games, seed, tuple(sides), notes)
    warn_of_disagreements(match)
    return match


def _played(
    game: Game,
    names: list[str],
    games: int,
    seed: int,
    best: Solution | None,
    progress: Callable[[str, int, int | None], None] | None,
) -> list[tuple[int, PlayedGames]]:
    """Blocks of games, and for each block the policy that moved first."""
    blocks: list[tuple[int, PlayedGames]] = []
    seats, done = len(names), 0
    left = [(games + seats - 1 - first) // seats for first in range(seats)]
    with held_back() as interrupt:
        while any(left) and not (interrupt.asked and len(blocks) >= seats):
            first = len(blocks) % seats
            size = min(BLOCK, left[first])
            left[first] -= size
            if not size:
                break
            own = derived_seed(seed, len(blocks))
            random = np.random.default_rng(
                own
            )  # of the players; `play_turn_by_turn` has the dice's
            players = [_player(game, name, best, random) for name in names]
            second = players[1 - first] if seats == 2 else None
            played = play_turn_by_turn(game, players[first], size, own, second)
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
    alone = game.players != 2
    return Games(
        np.zeros(played.n, np.int8) if alone else np.sign(played.gains).astype(np.int8),
        np.ones(played.n, np.int32) if alone else played.lengths.astype(np.int32),
        played.moves.astype(np.int32),
        played.gains if for_points else np.empty(0),
    )


def _with_best(side: Side, best: Solution) -> Side:
    """A side with the value of best play beside the simulated one."""
    if side.win_rate is not None:
        off = float(best.error_bounds[best.start]) / 2 + CHANCE_ROUNDING
        exact = win_probability(best.value)
        return replace(side, win_rate=replace(side.win_rate, exact=exact, exact_bound=off))
    assert side.score is not None
    exact, off = best.value, float(best.error_bounds[best.start])
    return replace(side, score=replace(side.score, exact=exact, exact_bound=off))
