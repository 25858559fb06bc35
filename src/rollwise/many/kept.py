"""Equilibria that are kept between runs, as answers are: see `rollwise.answer.kept`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rollwise.answer.kept import Entry, graph_of, parts_of_graph
from rollwise.game import Game
from rollwise.graph.policies import Policy
from rollwise.many.equilibrium import Equilibrium, Progress, equilibrium_on
from rollwise.many.equilibrium import equilibrium as find_equilibrium
from rollwise.many.players import Players
from rollwise.many.seats import build_seats

KIND = "equilibrium"
ARRAYS = ("values", "error_bounds", "deviation_gains")


def equilibrium(
    game: Game,
    *,
    max_states: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """As `rollwise.equilibrium` gives it: kept, or found and then kept."""
    kept = _recalled(game, max_states)
    if kept is not None:
        return kept
    found = find_equilibrium(game, max_states=max_states, time_limit=time_limit, progress=progress)
    if not found.timed_out:
        _note(found)
    return found


def players(
    game: Game, *, max_states: int | None = None, progress: Progress | None = None
) -> Players:
    """Who can sit at the table; an equilibrium is found, or read, when somebody plays it."""
    kept = _recalled(game, max_states)
    if kept is not None:
        return kept.table
    began = time.perf_counter()
    graph = build_seats(game, max_states=max_states, progress=progress)
    seconds = {"build": time.perf_counter() - began}

    def find() -> Policy:
        found = equilibrium_on(graph, game, seconds, progress=progress)
        _note(found)
        return found.policy

    return Players(graph, game, find)


def _recalled(game: Game, max_states: int | None) -> Equilibrium | None:
    began = time.perf_counter()
    made_of: Callable[[dict[str, Any]], Equilibrium] = partial(_of_parts, game, began)
    found = Entry.of(game).recall(KIND, made_of)
    too_large = found is not None and found.graph.n_states > (max_states or found.graph.n_states)
    return None if too_large else found


def _of_parts(game: Game, began: float, parts: dict[str, Any]) -> Equilibrium:
    graph = graph_of(parts, game)
    values, bounds, gains = (parts[f"profile.{name}"] for name in ARRAYS)
    policy = Policy("optimal", parts["profile.probability"])
    shape = (graph.n_states, graph.players)
    if (
        any(array.shape != shape for array in (values, bounds, gains))
        or len(policy.probability) != graph.n_actions
    ):
        raise ValueError("an equilibrium of another graph")
    return Equilibrium(
        graph,
        game,
        policy,
        values,
        bounds,
        gains,
        tuple(parts["unsettled"]),
        {"read": time.perf_counter() - began},
        parts["kept_from"],
    )


def _note(found: Equilibrium) -> None:
    arrays, facts = parts_of_graph(found.graph, found.game)
    arrays |= {f"profile.{name}": getattr(found, name) for name in ARRAYS}
    arrays["profile.probability"] = found.policy.probability
    facts["unsettled"] = list(found.unsettled)
    facts["kept_from"] = time.strftime("%Y-%m-%d %H:%M")
    Entry.of(found.game).note(KIND, arrays, facts, sum(found.seconds.values()))
