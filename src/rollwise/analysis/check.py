"""A linter for rules: errors and oddities of a game."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.findings import (
    MOST_ASKED,
    Report,
    Steps,
    look_at_names,
    look_at_progress,
    look_for_oddities,
    nobody_passes,
    nothing_at_stake,
    of_one_name,
    reading_discount,
    unnamed,
)
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.builders import CompileWarning, Progress, build_with_report
from rollwise.builders.chances import chances_off
from rollwise.builders.contract import refuse_hidden
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import compare_some, positions_at_once, some_states
from rollwise.errors import (
    EndlessPlay,
    PolicyError,
    RollwiseError,
    RulesDiffer,
    RulesError,
    TooManyStates,
)
from rollwise.game import Game, require_game
from rollwise.graph import KEEP, StateGraph
from rollwise.graph.choices import has_choice
from rollwise.graph.endings import NO_END, describe, end_components, go_round, settle
from rollwise.graph.policies import reachable_states
from rollwise.many.seats import payoffs_of
from rollwise.numbers.printed import how_many
from rollwise.proofs.endless_play import endless_states
from rollwise.simulate.turn_by_turn import MOST_TURNS, play_turn_by_turn, policy_play, random_play
from rollwise.words import word_faults

# Interpreting this many states takes some seconds.
MOST_COMPARED = 100_000
MOST_TOLD = 12  # actions never right; with more kinds, bad ones are normal
SEED = 1
GAMES, OF_POLICY = 100, 20
FEW_COMPARED = 20  # positions with rules run both ways
LARGE = "the game is too large for that"


def check(game: Game, *, max_states: int | None = None, progress: Progress | None = None) -> Report:
    """Check the rules of a game for errors and oddities.

    Parameters
    ----------
    game : Game
    max_states : int, optional
        As in `rollwise.build`.

    Returns
    -------
    Report
        Faults of the rules are findings and raise no exception. A game too large for one graph
        is checked on a sample, with a note.

    Raises
    ------
    UsageError
        The game has hidden dice or simultaneous choices. ``rollwise check`` takes such games.
    """
    report = Report(require_game(game).name)
    if game.is_hidden:
        refuse_hidden(game)
    try:
        with _compile_warnings() as caught:
            graph, _ = build_with_report(
                game,
                max_states=max_states,
                progress=progress,
                any_players=True,
                ask_all_again=True,
            )
            if game.players > 2:
                payoffs_of(graph)  # an ending needs a payoff for each seat
    except TooManyStates as error:
        can_be_solved = game.players <= 2 and max_states is None and Rules(game).has_progress
        report.add("note" if can_be_solved else "error", "size", str(error))
        if game.players <= 2:
            check_large(report, game, progress)
        return report
    except RollwiseError as error:
        report.add("error", "rules", str(error))
        look_at_names(report, game.made_from)
        return report
    after = graph.n_states - graph.n_positions
    thrown = f", and {after:,} after a throw" if graph.throw_names else ""
    report.add(
        "ok",
        "rules",
        f"{how_many(graph.n_positions, 'state')}{thrown}, {how_many(graph.n_actions, 'action')} "
        f"and {how_many(graph.n_outcomes, 'outcome')}: each state has an action, each action an "
        "outcome, all weights are in order",
    )
    rules = game.made_from  # of a form these have been checked, unless it is that of an average
    is_own = rules is game or rules.objective == "average"
    if caught:
        report.add("warning", "compiling", caught[0])
    elif is_own and rules.derive() is None:  # a model's graph is made without its rules
        n = graph.n_positions
        chosen = np.random.default_rng().permutation(n)[:MOST_COMPARED]
        compare_builders(report, rules, graph.states[graph.positions[chosen]])
    if is_own:
        look_for_oddities(report, Steps.of_graph(graph, rules))
        report.add_if("warning", "chances", chances_off(graph, rules))
        report.add_if("note", "discount", reading_discount(rules))
        report.add_if("note", "names", unnamed(graph))
        for text in of_one_name(graph):
            report.add("note", "names", text)
        look_at_names(report, rules)
        report.add_if("warning", "turns", nobody_passes(graph))
    report.add_if("warning", "stakes", nothing_at_stake(graph))
    _look_for_unreachable(report, graph, getattr(game, "home", 0))
    if not _look_for_endless_play(report, game, graph):
        return report
    try:
        solution = Solution.of_graph(graph, game)
    except EndlessPlay as error:  # no value could be proved
        report.add("error", "endless play", str(error).removeprefix(f"{graph.title}: "))
        return report
    _look_for_useless_actions(report, solution)
    _try_policies(report, game, graph)
    look_at_progress(report, game, graph)
    for text in word_faults(game, graph):
        report.add("error", "words", text)
    return report


@contextmanager
def _compile_warnings() -> Iterator[list[str]]:
    """Collect compile warnings as texts; other warnings are shown at once."""
    show, messages = warnings.showwarning, list[str]()

    def kept(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if issubclass(category, CompileWarning):
            messages.append(str(message))
        else:
            show(message, category, *where)

    with warnings.catch_warnings():
        warnings.simplefilter("always", CompileWarning)
        warnings.showwarning = kept  # type: ignore[assignment]
        yield messages


def compare_builders(report: Report, game: Game, rows: NDArray[np.int32]) -> None:
    """Compare compiled and interpreted rules in some positions."""
    topic = "interpreted and compiled"
    try:
        because = compare_some(Rules(game, any_players=True), rows)
    except RulesDiffer as error:
        report.add("error", topic, str(error))
        return
    if because:
        report.add("warning", "compiling", f"{game.name}: {because}")
    else:
        compared = how_many(len(rows), "state")
        report.add("ok", topic, f"the rules do the same both ways ({compared} compared)")


def _look_for_unreachable(report: Report, graph: StateGraph, home: int) -> None:
    """Look for states that play doesn't come to; a cycle of endless play ends at its home."""
    every = np.ones((1, graph.n_actions))
    (reached,) = reachable_states(graph, every, np.array([0, home], np.int64))
    missed = (
        graph.positions[~reached[graph.positions]] if graph.has_pool else np.flatnonzero(~reached)
    )
    if len(missed):
        shown = "; ".join(graph.state_text(s) for s in missed[:3])
        report.add(
            "note",
            "reachable states",
            f"no play from the start comes to {len(missed):,} of the states that the roots "
            f"cover, for example {shown}",
        )
    else:
        report.add("ok", "reachable states", "play from the start can come to every state")


def _look_for_endless_play(report: Report, game: Game, graph: StateGraph) -> bool:
    """Whether every play ends, or has its worth if it doesn't; only then can it be solved."""
    topic = "endless play"
    is_endless = bool(len(endless_states(graph)))
    rules = game.made_from
    home = _home_text(game, graph) if rules.objective == "average" else ""
    if not is_endless:
        ends, who = "ends", "players do" if game.players > 1 else "player does"
        if home:
            ends = f"returns to {home}"
        elif rules.discount != 1:
            ends = "is ended by the discount"
        report.add("ok", topic, f"every play {ends}, whatever the {who}")
        return True
    found = end_components(graph)
    places = describe(graph, found.states, found.stays, shown=5)
    able = f"the player can keep away from {home} for ever" if home else go_round(graph.players)
    text = f"{able} in {how_many(len(found.states), 'state')}: {places}"
    if graph.players > 2:
        report.add("error", topic, f"{text}. A game for {graph.players} has to end")
        return False
    try:
        settled = settle(graph)
    except EndlessPlay as error:
        remedy = str(error).rpartition(". ")[2]
        report.add("error", topic, f"{text}. {remedy}")
        return False
    hopeless = np.flatnonzero(settled.place < 0)
    if 0 in hopeless:
        report.add("error", topic, f"{text}. {NO_END}")
        return False
    if graph.objective == "win":
        worth = {"draw": "a draw", "lose": "lost by whoever keeps it up"}[graph.endless]
        report.add("ok", topic, f"{text}. The rules say that endless play is {worth}")
    elif home:
        report.add(
            "ok",
            topic,
            f"{text}. Play for an average has no end; to stay away brings no better one",
        )
    else:
        report.add("ok", topic, f"{text}. Every round costs, so that no player gains by it")
    if len(hopeless):
        never = f"back to {home}" if home else "to an end, which costs without bound"
        report.add(
            "warning",
            topic,
            f"in {how_many(len(hopeless), 'state')} no player can be sure to bring play {never}: "
            f"{describe(graph, hopeless, found.stays, shown=5)}",
        )
    return True


def _home_text(game: Game, graph: StateGraph) -> str:
    """The position to which play returns in a game for an average, in words."""
    home = getattr(game, "home", 0)
    return graph.state_text(home) if home else "the start"


def _look_for_useless_actions(report: Report, solution: Solution) -> None:
    graph = solution.graph
    choices = has_choice(graph)[graph.action_state]
    topic = "actions that are never right"
    if not choices.any():
        report.add("note", "choices", "no state has a choice")
        return
    if graph.has_pool:
        choices = choices & (graph.action_label < KEEP)  # keeping dice is no label of the rules
    labels, kind = np.unique(graph.action_label[choices], return_inverse=True)
    names, named = np.unique(
        [graph.vocabulary.text(k) for k in labels.tolist()], return_inverse=True
    )
    kind = named[kind]  # several numbers may have one name
    often = np.bincount(kind)
    useless = np.flatnonzero(np.bincount(kind, solution.is_best[choices]) == 0)
    if len(useless):
        shown = np.sort(useless[np.argsort(-often[useless], kind="stable")[:MOST_TOLD]])
        texts = [f"{names[k]} (possible in {how_many(int(often[k]), 'state')})" for k in shown]
        more = f", and {len(useless) - len(shown):,} more" if len(useless) > len(shown) else ""
        report.add(
            "note" if more else "warning",
            topic,
            "never the best choice: " + ", ".join(texts) + more,
        )
    else:
        report.add("ok", topic, "each action is the best choice in some state")


def _try_policies(report: Report, game: Game, graph: StateGraph) -> None:
    names = list(game.policies())
    if not names:
        return
    if graph.n_states > MOST_ASKED:
        report.add(
            "note",
            "policies",
            f"not tried, since there are more than {MOST_ASKED:,} states: {', '.join(names)}",
        )
        return
    policies = Policies(graph, game)
    for name in names:
        try:
            policies.find(name)
        except (PolicyError, RulesDiffer) as error:
            report.add("error", "policies", str(error))
        else:
            report.add("ok", "policies", f"{name} has an action for every state")


def check_large(report: Report, game: Game, progress: Progress | None = None) -> None:
    """Add the findings about a sample of a game's positions to a report."""
    try:
        random = np.random.default_rng(SEED)
        played = play_turn_by_turn(game, random_play(game, random), GAMES, SEED, progress=progress)
        n = min(len(played.positions), positions_at_once(Rules(game)))
        places = np.unique(np.linspace(0, len(played.positions) - 1, n).astype(int))
        rows = np.asarray(played.positions[places])  # of all kinds, the start first
        graph, border = some_states(Rules(game), rows, closed=True)
    except RollwiseError as error:
        report.add("error", "rules", str(error))
        return
    n, after = len(rows), graph.n_states - graph.n_positions
    more = f", {how_many(after, 'state')} after a throw there" if after else ""
    report.add(
        "ok",
        "rules",
        f"looked at in {n:,} of the {len(played.positions):,} positions that {GAMES} games came "
        f"to, all actions equally likely (seed {SEED}){more}: each has an action, each action an "
        "outcome, all weights are in order",
    )
    places = np.unique(np.linspace(0, n - 1, FEW_COMPARED).astype(int))
    compare_builders(report, game, rows[places])
    look_for_oddities(report, Steps.of_graph(graph, game, border), in_part=True)
    report.add_if("warning", "chances", chances_off(graph, game))
    look_at_names(report, game)
    broken_off = played.n - int(played.over.sum())
    mean = f"after {played.lengths.mean():.1f} {played.unit} on average"
    report.add(
        "note" if broken_off else "ok",
        "endless play",
        f"{broken_off} of the {played.n} games weren't over after {MOST_TURNS:,} positions"
        if broken_off
        else f"each of the {played.n} games came to its end, {mean}",
    )
    _play_policies(report, game)
    look_at_progress(report, game, graph, border)
    for text in word_faults(game, graph):
        report.add("error", "words", text)
    for topic in ("reachable states", "actions that are never right"):
        report.add("note", topic, f"not looked for: {LARGE}")


def _play_policies(report: Report, game: Game) -> None:
    for name in game.policies():
        random = np.random.default_rng(SEED)
        try:
            play_turn_by_turn(game, policy_play(game, name, random), OF_POLICY, SEED)
        except (PolicyError, RulesError) as error:
            report.add("error", "policies", str(error))
        else:
            report.add("ok", "policies", f"{name} has an action wherever {OF_POLICY} games came to")
