"""Facts and sentences of several documents: a game's name, a state, ties, a value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from rollwise.game import Game
from rollwise.graph.naming import state_text
from rollwise.numbers.printed import certified, chance, how_many

if TYPE_CHECKING:
    from rollwise.answer.layered_states import LayeredStates
    from rollwise.graph import StateGraph


def game_head(of: StateGraph | Game) -> dict[str, Any]:
    """The first keys of a document about a game."""
    name = of.name if isinstance(of, Game) else of.game
    more = {"players": of.players} if of.players > 2 else {}
    return {"game": name, "parameters": dict(of.parameters), **more}


def sizes(graph: StateGraph | LayeredStates) -> dict[str, int]:
    """The size of a graph."""
    return {"states": graph.n_states, "actions": graph.n_actions, "outcomes": graph.n_outcomes}


def state_fields(graph: StateGraph, state: int) -> dict[str, int]:
    """The fields of a state by name."""
    return graph.view[state].named


def number_or_none(value: float | None) -> float | None:
    """A number as JSON knows it: infinities and NaN become null."""
    return None if value is None or not math.isfinite(value) else value


def sizes_text(of: Any) -> str:
    """The size of a document's graph: "3 states, 4 actions, 6 outcomes"."""
    return ", ".join(
        how_many(getattr(of, f"{one}s"), one) for one in ("state", "action", "outcome")
    )


def about_draws(has_draws: bool) -> str:
    """The words behind a chance to win where games can be drawn."""
    return "; a draw is half a win" if has_draws else ""


def place_text(state: Mapping[str, int]) -> str:
    """A state in words: ``board=(0, 2, 1), rival=0``."""
    return state_text(list(state), state.values())


def seconds_text(seconds: Mapping[str, float], kept_from: str | UnsetType = UNSET) -> str:
    """The run time of each stage, and the origin of a kept answer."""
    kept = f"kept from {kept_from}, " if kept_from else ""
    return kept + ", ".join(f"{name} {spent:.2f} s" for name, spent in seconds.items())


def worth_lines(
    place: str, value: float, bound: float | None, *, name: str, draws: bool
) -> Iterator[str]:
    """The certified value of the start, in two lines.

    Parameters
    ----------
    name : str
        The name of a value; see `rollwise.graph.view.worth_name`.
    """
    worth = certified(value, bound)
    if bound is None or not math.isfinite(bound):
        yield f"  {name} from the start ({place}): unknown, without a proved bound"
    elif name != "win probability":
        yield f"  {name} from the start ({place}): {worth.number} ({worth.sure})"
    else:
        wins = chance(value, bound)
        sure = f"{wins.sure}{about_draws(draws)}"
        yield f"  the mover at the start ({place}) wins {wins.number} ({sure})"
        yield f"  value {worth.number} ({worth.sure} in every state)"


def undecided_lines(states: int | UnsetType) -> Iterator[str]:
    """The number of states with an undecided best action, if there are any."""
    if states:
        yield (
            f"in {how_many(states, 'state')} several actions may be best within the error "
            "bounds (advise gives their costs); the optimal policy takes one of them"
        )
