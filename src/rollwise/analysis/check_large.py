"""What `check` can say of a game that is too large for one graph: it looks at a sample.

The sample is what games come to in which every action is equally likely, and games played by the
policies that are written beside the rules.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.findings import Report, look_at_progress, oddities
from rollwise.builders import Progress
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import compare_some, positions_at_once, some_states
from rollwise.errors import PolicyError, RollwiseError, RulesDiffer, RulesError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.simulate.turn_by_turn import (
    MOST_TURNS,
    PlayedGames,
    play_turn_by_turn,
    policy_play,
    random_play,
)
from rollwise.words import word_faults

SEED = 1
GAMES, OF_POLICY = 100, 20
MOST_COMPARED = 20  # positions whose rules are run both ways
LARGE = "the game is too large for that"


def check_large(report: Report, game: Game, progress: Progress | None = None) -> None:
    """Add to a report what a sample of the positions of a game shows."""
    try:
        random = np.random.default_rng(SEED)
        played = play_turn_by_turn(game, random_play(game, random), GAMES, SEED, progress=progress)
        rows = _chosen(played, Rules(game))
        graph, border = some_states(Rules(game), rows, closed=True)
    except RollwiseError as error:
        report.add("error", "rules", str(error))
        return
    n, after = len(rows), graph.n_states - graph.n_positions
    more = f", {after:,} states after a throw there" if after else ""
    report.add(
        "ok",
        "rules",
        f"looked at in {n:,} of the {len(played.positions):,} positions that {GAMES} games came "
        f"to, all actions equally likely (seed {SEED}){more}: each has an action, each action an "
        "outcome, all weights are in order",
    )
    _compare(report, game, rows)
    _look_for_oddities(report, graph, border)
    _look_for_the_end(report, played)
    _try_policies(report, game)
    look_at_progress(report, game, graph, border)
    for text in word_faults(game, graph):
        report.add("error", "words", text)
    for topic in ("reachable states", "actions that are never right"):
        report.add("note", topic, f"not looked for: {LARGE}")


def _chosen(played: PlayedGames, rules: Rules) -> NDArray[np.int32]:
    """Positions of all kinds, the start first: as many as fit into a graph."""
    n = len(played.positions)
    places = np.unique(np.linspace(0, n - 1, min(n, positions_at_once(rules))).astype(int))
    return np.asarray(played.positions[places])


def _compare(report: Report, game: Game, rows: NDArray[np.int32]) -> None:
    topic = "interpreted and compiled"
    places = np.unique(np.linspace(0, len(rows) - 1, MOST_COMPARED).astype(int))
    try:
        because = compare_some(Rules(game), rows[places])
    except RulesDiffer as error:
        report.add("error", topic, str(error))
        return
    if because:
        report.add("warning", "compiling", f"{game.name}: {because}")
    else:
        report.add("ok", topic, f"the rules do the same both ways ({len(places)} states compared)")


def _look_for_oddities(report: Report, graph: StateGraph, border: NDArray[np.int32]) -> None:
    odd = oddities(graph, border)
    for text in odd:
        report.add("note", "fields", f"in the positions looked at, {text}")
    if not odd:
        report.add("ok", "fields", "every field takes more than one value")


def _look_for_the_end(report: Report, played: PlayedGames) -> None:
    broken_off = played.n - int(played.over.sum())
    if broken_off:
        report.add(
            "note",
            "endless play",
            f"{broken_off} of the {played.n} games weren't over after {MOST_TURNS:,} positions",
        )
    else:
        mean = f"after {played.lengths.mean():.1f} {played.unit} on average"
        report.add("ok", "endless play", f"each of the {played.n} games came to its end, {mean}")


def _try_policies(report: Report, game: Game) -> None:
    for name in game.policies():
        random = np.random.default_rng(SEED)
        try:
            play_turn_by_turn(game, policy_play(game, name, random), OF_POLICY, SEED)
        except (PolicyError, RulesError) as error:
            report.add("error", "policies", str(error))
        else:
            report.add("ok", "policies", f"{name} has an action wherever {OF_POLICY} games came to")
