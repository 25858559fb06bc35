"""Head starts in points, or in moves, for an even game between two players.

One player begins with points. A position with such points is a position of the game itself: the
first mover has them in a field of his own, and the second mover has them in the mover's view of the
other. The rules determine this second field: after a PASS, the next player sees in one field the
number of the mover's other field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rollwise.answer.certified import Certified
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import IN_FILES, AnyPolicy, Policies, Subject
from rollwise.derive.derived_game import with_methods
from rollwise.errors import UnknownState, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action
from rollwise.graph.layout import StateLayout
from rollwise.graph.policies import Ties, ties_in_play
from rollwise.hooks import InWords
from rollwise.simulate.match import certified_at


@dataclass(frozen=True)
class Head:
    """A head start, and its value to its owner.

    Attributes
    ----------
    points : int
    first, second : Certified or None
        A win probability, or an expected payoff, moving first and moving second; None for
        an unreachable position, without a value.
    """

    points: int
    first: Certified | None
    second: Certified | None

    @property
    def mean(self) -> Certified | None:
        """Over the seats."""
        if self.first is None or self.second is None:
            return None
        middle = (self.first.value + self.second.value) / 2
        return Certified(middle, max(self.first.bound, self.second.bound) + 2.0**-52)


@dataclass(frozen=True, repr=False)
class Handicap(InWords):
    """The values of head starts.

    Attributes
    ----------
    field, other : str
        The field of the mover's points, and the field of the other's in the mover's view.
    policy, against : str
    heads : tuple of Head
    even : float
        The result of an even game: 1/2, or 0.
    apart : tuple of int
        The head starts with a position that no play reaches, solved as a start of its own.
    ties : Ties or None
        The effect of the choice among equally good actions of an optimal policy.
    subject : StateGraph
        The game.
    """

    field: str
    other: str
    policy: str
    against: str
    heads: tuple[Head, ...]
    even: float
    apart: tuple[int, ...]
    ties: Ties | None = None
    subject: StateGraph | None = dataclasses.field(default=None, repr=False)

    def nearest(self, which: str) -> Head | None:
        """The head start nearest to an even game.

        Parameters
        ----------
        which : {"first", "second", "mean"}
            For a first mover with it, for a second mover with it, or over the seats.
        """
        reached = [head for head in self.heads if getattr(head, which) is not None]
        return min(
            reached,
            key=lambda head: abs(float(getattr(head, which).value) - self.even),
            default=None,
        )

    def is_within(self, which: str) -> bool:
        """Whether an even game lies between two of the head starts, or is one of them."""
        amounts = [getattr(head, which) for head in self.heads]
        reached = [amount for amount in amounts if amount is not None]
        low = min(amount.value - amount.bound for amount in reached)
        high = max(amount.value + amount.bound for amount in reached)
        return bool(low <= self.even <= high)


def handicap(
    game: Subject,
    field: str,
    points: Sequence[int],
    policy: AnyPolicy = "optimal",
    against: AnyPolicy = "optimal",
) -> Handicap:
    """The values of head starts to a player.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For two.
    field : str
        The mover's points; with a comma the other player's after it: ``"banked,rival"``.
    points : sequence of int
        Head starts.
    policy, against : str, callable or Policy
        The policies of the player with the points, and of the other one.

    Raises
    ------
    UsageError
        The game is for one; there is no such field, or none for the other player; all of these
        positions are unreachable.
    """
    policies = Policies.of(game)
    graph = policies.graph
    if graph.players != 2:
        raise UsageError(f"{graph.game} is a game for one: there is no second player")
    mine, theirs = _fields(graph, field)
    if not points:
        raise UsageError("which head starts? Give some")
    rows = [(_start_with(graph, mine, k), _start_with(graph, theirs, k)) for k in points]
    pairs = [(_state(graph, one), _state(graph, two)) for one, two in rows]
    apart = [k for k, pair in zip(points, pairs, strict=True) if None in pair]
    of_rules = [isinstance(p, str) and not p.endswith(IN_FILES) for p in (policy, against)]
    rules = policies.game
    is_plain = rules is not None and rules.base_game is rules and rules.derive() is None
    # starts that no play comes to become roots of a new graph, for which named policies exist too
    if apart and all(of_rules) and rules is not None and is_plain:
        policies = _with_starts(rules, [row for pair in rows for row in pair])
        graph = policies.graph
        pairs = [(_state(graph, one), _state(graph, two)) for one, two in rows]
    starts = list(dict.fromkeys(s for pair in pairs for s in pair if s is not None))
    if not starts:
        raise UsageError(
            f"{graph.title}: no play comes to a position like the start but for {mine} or {theirs}"
        )
    one, two = policies.find(policy), policies.find(against)
    evaluation = evaluate(policies, one, two, starts=starts)
    scored = graph.is_score
    heads = [
        Head(
            k,
            *(
                None if s is None else certified_at(evaluation, s)[seat].shown(is_score=scored)
                for seat, s in enumerate(pair)
            ),
        )
        for k, pair in zip(points, pairs, strict=True)
    ]
    even = 0.0 if scored else 0.5
    # between optimal players each position has one value, whichever of their policies they play
    ties = None if one is two and not one.mixes else ties_in_play(graph, one, two, start=starts)
    return Handicap(mine, theirs, one.name, two.name, tuple(heads), even, tuple(apart), ties, graph)


def _fields(graph: StateGraph, text: str) -> tuple[str, str]:
    """The field of the mover's points, and the field of the other's in the mover's view."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in graph.field_names:
            raise UsageError(
                f"{graph.game} has no field {name!r} (its fields: {', '.join(graph.field_names)})"
            )
    if len(names) == 2:
        return names[0], names[1]
    other = None if len(names) > 2 else counterpart(graph, names[0])
    if other is None:
        raise UsageError(
            f"{graph.game}: which field is the other player's {names[0]}? Give both, as in "
            f"{names[0]},FIELD=0..20 (its fields: {', '.join(graph.field_names)})"
        )
    return names[0], other


def counterpart(graph: StateGraph, name: str) -> str | None:
    """The field of the other player's number in the mover's view; None where it isn't unique."""
    passing = np.flatnonzero(graph.outcome_passes & (graph.outcome_state >= 0))
    before = graph.fields[graph.action_state[outcome_action(graph)[passing]]]
    after = graph.fields[graph.outcome_state[passing]]
    column = after[:, graph.field_names.index(name)]
    same = np.flatnonzero((before == column[:, None]).all(axis=0))
    named = [graph.field_names[k] for k in same if graph.field_names[k] != name]
    distinguishes = len(passing) > 0 and len(np.unique(column)) > 1
    return named[0] if distinguishes and len(named) == 1 else None


def _start_with(graph: StateGraph, field: str, points: int) -> list[int]:
    """The fields of the start with another number in one of them."""
    fields = list(graph.view[0].fields)
    fields[graph.field_names.index(field)] = points
    return fields


def _state(graph: StateGraph, fields: list[int]) -> int | None:
    """The state with these fields; None if it is unreachable."""
    try:
        return graph.find(fields)
    except UnknownState:
        return None


def _with_starts(game: Game, rows: list[list[int]]) -> Policies:
    """The game with these positions, and all that play reaches from them."""
    layout = StateLayout.of(game)
    starts = [*game.roots(), *(layout.state(row) for row in rows)]
    return Policies.of(with_methods(game, roots=lambda self: starts))
