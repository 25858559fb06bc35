"""Pictures of an answer: one table of kinds, each drawn by its own module in `kinds`.

A kind takes a solution with its graph, and no rules, so it works for every suitable game.
Otherwise it raises UsageError with the reason.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rollwise.errors import MissingExtra, RollwiseError, UsageError, entry

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from rollwise.answer.solution import Solution

INSTALL = "pip install 'rollwise[plot]'"


@dataclass(frozen=True)
class Kind:
    """A kind of picture.

    Attributes
    ----------
    about : str
        The content of the picture, in a few words.
    takes : tuple of str
        The accepted `Choices`.
    module : str
        A module in `kinds` with the function ``draw_KIND``; empty for a module of the kind's name
        with the function ``draw``. A slow kind has a function ``fit_KIND`` or ``fit`` too, which
        raises the same errors and draws nothing.
    """

    about: str
    takes: tuple[str, ...] = ()
    module: str = ""


KINDS = {
    "policy": Kind("the best action of each position", ("x", "y", "where"), "policy"),
    "value": Kind("the value of each position", ("x", "y", "where"), "amounts"),
    "regret": Kind(
        "the cost of the second-best action, or of a policy",
        ("x", "y", "where", "policy"),
        "amounts",
    ),
    "surface": Kind("the boundary of two actions in space", ("x", "y", "where", "policy")),
    "boxes": Kind("a few positions as boxes, with the best action", ("y", "where"), "policy"),
    "limit": Kind("the boundary of two actions as a map", ("x", "y", "where"), "limit"),
    "rivals": Kind("its change if two rivals trade places", ("x", "y", "where"), "limit"),
    "graph": Kind("a tiny game, or one decision", ("state",)),
    "turns": Kind("the number of turns of a game", ("policy",)),
    "convergence": Kind(
        "changes and true errors by sweep", ("methods", "policy", "theta"), "error"
    ),
    "residual": Kind("the residual of a method", ("x", "y", "where", "methods"), "error"),
    "error": Kind("the true error of a method", ("x", "y", "where", "methods"), "error"),
    "scores": Kind("the distribution of final scores", ("policy", "made")),
    "learning": Kind("the progress of a learner", ("x", "y", "games")),
}


OF_POSITIONS = ("policy", "value", "regret", "surface")  # which can be drawn of some positions
OF_MANY = (
    "policy",
    "value",
    "regret",
    "surface",
    "limit",
    "rivals",
    "turns",
)  # of three players or more


@dataclass(frozen=True)
class Choices:
    """Settings of a picture; None for defaults.

    Attributes
    ----------
    x, y : str
        Fields of the state along the axes.
    where : str
        A condition on the rows of `Solution.table`; only these states are drawn.
    policy : str or Policy
        A policy, or its name, to compare with or to evaluate.
    state : mapping of str to int
        A position.
    methods : tuple of str
        Names of methods.
    games : int
        Number of games of a learner.
    theta : float
        Stopping threshold for the sweeps of a policy's evaluation.
    made : tuple of int
        Final scores of people.
    """

    x: str | None = None
    y: str | None = None
    where: str | None = None
    policy: str | None = None
    state: Any = None
    methods: tuple[str, ...] | None = None
    games: int | None = None
    theta: float | None = None
    made: tuple[int, ...] | None = None


def require_plotly() -> None:
    """Raise unless Plotly is installed.

    Raises
    ------
    MissingExtra
        It isn't; the message is the command of its installation.
    """
    try:
        importlib.import_module("plotly.graph_objects")
    except ImportError:
        raise MissingExtra(f"pictures need Plotly: {INSTALL}") from None


def find_kind(name: str) -> Kind:
    """The kind of this name.

    Raises
    ------
    UsageError
        An unknown name; the message lists all names.
    """
    return entry("picture", name, KINDS)


def check_choices(kind: str, **choices: Any) -> Choices:
    """The choices for a kind, where it understands them all.

    Raises
    ------
    UsageError
        There is no such kind, or it doesn't take one of the choices.
    """
    takes = find_kind(kind).takes
    for name, value in choices.items():
        if value is not None and name not in takes:
            listed = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise UsageError(f"the picture {kind!r} has no choice {name!r} ({listed})")
    return Choices(**{name: value for name, value in choices.items() if value is not None})


def check_players(kind: str, title: str, players: int) -> None:
    """Raise unless a kind supports this number of players.

    Raises
    ------
    UsageError
        It isn't for three or more.
    """
    if players > 2 and kind not in OF_MANY:
        raise UsageError(
            f"{title}: the picture {kind!r} isn't for games of three or more players (these are: "
            f"{', '.join(OF_MANY)})"
        )


def drawn(answer: Solution, kind: str, where: str | None) -> Solution:
    """The answer on a graph with the positions that are drawn.

    Raises
    ------
    UsageError
        Of a large game the kind needs all positions, or too many are chosen.
    """
    return answer.part_where(where) if kind in OF_POSITIONS else answer.whole()


def plot(answer: Solution, kind: str, **choices: Any) -> Figure:
    """Draw an answer.

    Parameters
    ----------
    answer : Solution
    kind : str
        One of `KINDS`.
    **choices
        See `Choices`.

    Returns
    -------
    plotly.graph_objects.Figure
    Its ``layout.meta["narrow"]`` holds the changes for a narrow screen
    (see `rollwise.plot.pages`), and ``layout.meta["alt"]`` is its alternative text.

    Raises
    ------
    MissingExtra
        Plotly isn't installed.
    UsageError
        The kind makes no sense for this game, or a choice doesn't fit it.
    """
    figure: Figure = _done(["draw"], answer, kind, choices)
    return figure


def fits(answer: Solution, kind: str, **choices: Any) -> bool:
    """Whether `plot` draws an answer."""
    try:
        _done(["fit", "draw"], answer, kind, choices)
    except RollwiseError:
        return False
    return True


def _done(verbs: Sequence[str], answer: Solution, kind: str, choices: Mapping[str, Any]) -> Any:
    """The result of the first of these functions that the module of a kind has."""
    chosen = check_choices(kind, **choices)
    check_players(kind, answer.title, answer.space.players)
    require_plotly()
    solution = drawn(answer, kind, chosen.where)
    own = KINDS[kind].module
    module = importlib.import_module(f"rollwise.plot.kinds.{own or kind}")
    names = [f"{verb}_{kind}" if own else verb for verb in verbs]
    name = next(name for name in names if hasattr(module, name))
    return getattr(module, name)(solution, chosen)
