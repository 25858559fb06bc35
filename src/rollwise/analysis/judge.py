"""A recorded play, judged move by move: the losses of its choices."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rollwise.analysis.contest import Contest, ContestSolution, solve_contest
from rollwise.analysis.observed_scores import text_of
from rollwise.answer.solution import Solution
from rollwise.derive.by_score import whole_points
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.words import Words


class Move(NamedTuple):
    """A state and an action as numbers of the graph, with their place in the file."""

    state: int
    action: int
    line: int


@dataclass(frozen=True)
class Play:
    """One player's turn.

    Attributes
    ----------
    player : str
    moves : tuple of Move
    score : int
        The final score.
    """

    player: str
    moves: tuple[Move, ...]
    score: int


class Judgement(NamedTuple):
    """The value of a choice.

    Attributes
    ----------
    player : str
    line : int
        Of the file.
    state, action, best : str
    points_lost : float
        Against the best for the mean score.
    chance : float or None
        The player's share of the prize before the choice, with best play from here on;
        None without a contest.
    chance_lost : float or None
        The loss of this share by the choice.
    best_chance : str or None
        The best action for the contest.
    """

    player: str
    line: int
    state: str
    action: str
    best: str
    points_lost: float
    chance: float | None
    chance_lost: float | None
    best_chance: str | None


def read_plays(game: Game, graph: StateGraph, path: Path) -> list[Play]:
    """Read plays from a CSV file, one row a choice.

    The columns are ``player`` (optional; rows of one player are consecutive) and either
    the fields of the state and ``action`` (its name or number), or columns read by the
    game itself (`Game.read_play`; for Threes ``rolled`` and ``taken``).

    Raises
    ------
    UsageError
        With the file, the line and the fault.
    """
    reader = csv.DictReader(text_of(path).splitlines())
    columns = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = columns
    groups: list[tuple[str, list[tuple[int, dict[str, str]]]]] = []
    for row in reader:
        named = {name: (value or "").strip() for name, value in row.items() if name is not None}
        player = named.get("player", "1")
        if not groups or groups[-1][0] != player:
            if any(player_before == player for player_before, _ in groups):
                raise UsageError(
                    f"{path}, line {reader.line_num}: player {player} comes up again; the rows of "
                    "a player stand together"
                )
            groups.append((player, []))
        groups[-1][1].append((reader.line_num, named))
    if not groups:
        raise UsageError(f"{path} holds no moves")
    written = (*graph.field_names, "action")
    if all(name in columns for name in written):
        reading: Any = partial(_from_fields, graph.field_names)
    elif game.play_columns and all(name in columns for name in game.play_columns):
        reading = Words(game).read_play
    else:
        ways = [", ".join(written)]
        if game.play_columns:
            ways.append(", ".join(game.play_columns))
        if any(column.startswith("@") for column in columns):
            raise UsageError(f"{path} holds games that `play` kept: see rollwise review")
        raise UsageError(
            f"{path} has the columns {', '.join(columns)}; a play of {game.name} has "
            f"{' or '.join(ways)} (and player, if there are several)"
        )
    return [_play(graph, path, player, rows, reading) for player, rows in groups]


def _from_fields(
    names: Sequence[str], rows: Sequence[Mapping[str, str]]
) -> Sequence[tuple[Any, int | str]]:
    plays = []
    for number, row in enumerate(rows):
        try:
            state = [int(row[name]) for name in names]
        except ValueError:
            raise ValueError(number, "this isn't a state and an action") from None
        plays.append((state, row["action"]))
    return plays


def _play(
    graph: StateGraph,
    path: Path,
    player: str,
    rows: list[tuple[int, dict[str, str]]],
    reading: Any,
) -> Play:
    try:
        written = reading([row for _, row in rows])
    except ValueError as error:
        number, reason = error.args if len(error.args) == 2 else (0, str(error))
        raise UsageError(f"{path}, line {rows[number][0]}: {reason}") from error
    if graph.objective == "win":
        raise UsageError(
            f"{graph.title} is won, lost or paid at its end, which a list of moves doesn't show; "
            "judge is for games with points for actions"
        )
    whole_points(graph)
    moves: list[Move] = []
    score = 0
    may_follow: set[int] | None = None
    for (line, _), (state, taken) in zip(rows, written, strict=True):
        where = f"{path}, line {line}"
        try:
            s = graph.find(state)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
        try:
            action = graph.view[s].find_action(taken).index
        except UsageError as error:
            raise UsageError(f"{where}: in the state {graph.state_text(s)} {error}") from error
        if may_follow is None:
            may_follow = _may_follow(graph, [0])
        if s not in may_follow:
            raise UsageError(f"{where}: this doesn't follow from the move before")
        may_follow = _may_follow(graph, _outcomes(graph, action))
        score += int(graph.action_reward[action])
        moves.append(Move(s, action, line))
    if not any(t < 0 for t in _outcomes(graph, moves[-1].action)):
        raise UsageError(f"{path}, line {rows[-1][0]}: the play isn't over yet")
    return Play(player, tuple(moves), score)


def _outcomes(graph: StateGraph, action: int) -> list[int]:
    return [outcome.target for outcome in graph.view.action(action).outcomes]


def _may_follow(graph: StateGraph, states: list[int]) -> set[int]:
    """The possible next states: these states, and states after moves without choice or points."""
    targets: set[int] = set()
    queue = [s for s in states if s >= 0]
    # moves without choice or points need no line in the file
    while queue:
        s = queue.pop()
        if s in targets:
            continue
        targets.add(s)
        first, *others = graph.view[s].actions
        if not others and first.reward == 0:
            queue += [t for t in _outcomes(graph, first.index) if t >= 0]
    return targets


def judge(solution: Solution, plays: Sequence[Play], ties: str | None = None) -> list[Judgement]:
    """Judge every choice by the mean score and, between players, by the chance to win.

    Parameters
    ----------
    solution : Solution
        Of the game.
    plays : the players' turns, in their order
    ties : str, optional
        The rule for ties of a contest (see `Contest`); given for a play judged as a contest.

    Returns
    -------
    list of Judgement
        One for each move with a choice.
    """
    contest: ContestSolution | None = None
    if ties is not None and len(plays) > 1:
        assert solution.game is not None
        contest = solve_contest(Contest(solution.game, len(plays), ties))
    graph = solution.graph
    rows = []
    finished: list[int] = []
    for play in plays:
        score = 0
        for move in play.moves:
            here = graph.view[move.state]
            if here.is_choice:
                chance = lost = best_chance = None
                called = dict(zip(here.action_range, here.action_names, strict=True))
                taken = called[move.action]
                fine = bool(solution.is_best[move.action])
                best = taken if fine else called[int(solution.best_actions[here])]
                if contest is not None:
                    state = (*here.fields, score)
                    advice = contest.advise(finished, state)
                    best_chance, chance = advice[0]
                    lost = max(chance - dict(advice)[taken], 0.0)
                    if lost < 1e-12:  # rounding only
                        best_chance, lost = taken, 0.0
                rows.append(
                    Judgement(
                        play.player,
                        move.line,
                        str(here),
                        taken,
                        best,
                        0.0 if fine else float(solution.regret[move.action]),
                        chance,
                        lost,
                        best_chance,
                    )
                )
            score += int(graph.action_reward[move.action])
        finished.append(play.score)
    return rows
