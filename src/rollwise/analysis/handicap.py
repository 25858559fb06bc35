"""Head starts in points, or in moves, for an even game between two players or more.

One player begins with points. A position with such points is a position of the game itself: the
first mover has them in a field of his own, and a later mover has them in the first mover's view of
the others. The rules determine these fields: after a PASS, the next player sees in the first field
the number that the mover saw in the second one, and so on round the table.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rollwise.answer.certified import Certified
from rollwise.answer.evaluation import in_seats, ties_between
from rollwise.answer.references import IN_FILES, AnyPolicy, Policies, Subject
from rollwise.derive.derived_game import with_methods
from rollwise.errors import TooManyStates, UnknownState, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action
from rollwise.graph.layout import StateLayout
from rollwise.graph.policies import Ties, seat_payoffs
from rollwise.hooks import InWords
from rollwise.numbers.printed import in_runs

# States of a game with further starts: as many times those of the game, and at least so many.
ROOM, LEAST_ROOM = 10, 1_000_000


@dataclass(frozen=True)
class Head:
    """A head start, and its value to its owner.

    Attributes
    ----------
    points : int
    seats : tuple of Certified or None
        A win probability, or an expected payoff, moving first, second and so on; None for
        an unreachable position, without a value.
    """

    points: int
    seats: tuple[Certified | None, ...]

    @property
    def mean(self) -> Certified | None:
        """Over the seats."""
        known = [one for one in self.seats if one is not None]
        if len(known) < len(self.seats):
            return None
        mean = math.fsum(one.value for one in known) / len(known)
        worst = max(one.bound for one in known)
        return Certified(mean, worst + 2.0**-52 * max(1.0, abs(mean)))

    def of(self, seat: int | None) -> Certified | None:
        """The value of a seat, 0 for the first mover; without a seat the mean."""
        return self.mean if seat is None else self.seats[seat]


@dataclass(frozen=True, repr=False)
class Handicap(InWords):
    """The values of head starts.

    Attributes
    ----------
    field : str
        The field of the mover's points.
    others : tuple of str
        The fields of the others' points in the mover's view, in the order of the moves.
    policy, against : str
    heads : tuple of Head
    even : float
        The result of each seat in an even game: an equal part of the wins, or of the payoffs.
    apart : tuple of int
        The head starts with a position that no play reaches, solved as a start of its own.
    start : dict of str to int
        The same fields at the start of the game.
    ties : Ties or None
        The effect of the choice among equally good actions of an optimal policy.
    subject : StateGraph
        The game.
    """

    field: str
    others: tuple[str, ...]
    policy: str
    against: str
    heads: tuple[Head, ...]
    even: float
    apart: tuple[int, ...]
    start: dict[str, int]
    ties: Ties | None = None
    subject: StateGraph | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def seats(self) -> int:
        """Their number."""
        return 1 + len(self.others)

    def nearest(self, seat: int | None = None) -> Head | None:
        """The head start nearest to an even game.

        Parameters
        ----------
        seat : int, optional
            Of the player with it, 0 for the first mover; over the seats unless given.
        """
        worths = [(head, head.of(seat)) for head in self.heads]
        off = [(abs(worth.value - self.even), head) for head, worth in worths if worth is not None]
        return min(off, key=lambda pair: pair[0])[1] if off else None

    def is_within(self, seat: int | None = None) -> bool:
        """Whether an even game lies between two of the head starts, or is one of them."""
        reached = [worth for head in self.heads if (worth := head.of(seat)) is not None]
        low = min(worth.value - worth.bound for worth in reached)
        high = max(worth.value + worth.bound for worth in reached)
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
        For two players or more.
    field : str
        The mover's points; with commas those of the others after it, in the order of the moves:
        ``"banked,rival"``.
    points : sequence of int
        Head starts.
    policy, against : str, callable or Policy
        The policies of the player with the points, and of all others.

    Raises
    ------
    UsageError
        The game is for one, or its payoffs have no even result; there is no such field, or none for
        the other players; all of these positions are unreachable, or play from them comes to very
        many others.
    """
    policies = Policies.of(game, any_players=True)
    graph = policies.graph
    if graph.players == 1:
        raise no_rival(graph.game)
    fields, even = _fields(graph, field), _even(graph)
    if not points:
        raise UsageError("which head starts? Give some")
    rows = [[_start_with(graph, name, k) for name in fields] for k in points]
    starts = [[_state(graph, row) for row in by_seat] for by_seat in rows]
    apart = [k for k, by_seat in zip(points, starts, strict=True) if None in by_seat]
    of_rules = [isinstance(p, str) and not p.endswith(IN_FILES) for p in (policy, against)]
    rules = policies.game
    is_plain = rules is not None and rules.base_game is rules and rules.derive() is None
    # starts that no play comes to become roots of a new graph, for which named policies exist too
    if apart and all(of_rules) and rules is not None and is_plain:
        most = max(LEAST_ROOM, ROOM * graph.n_states)
        try:
            policies = _with_starts(rules, [row for by_seat in rows for row in by_seat], most)
        except TooManyStates:
            raise UsageError(
                f"{graph.title} has {graph.n_states:,} states, and play from the head starts "
                f"{fields[0]}={in_runs(apart)} comes to more than {most:,}; they are no positions "
                "of the game, or too far from it: choose others"
            ) from None
        graph = policies.graph
        starts = [[_state(graph, row) for row in by_seat] for by_seat in rows]
    places = [(s, seat) for row in starts for seat, s in enumerate(row) if s is not None]
    if not places:
        raise UsageError(
            f"{graph.title}: no play comes to a position like the start but for "
            f"{' or '.join(fields)}"
        )
    mine, theirs = policies.find(policy), policies.find(against)
    worth = dict(zip(places, in_seats(policies, mine, theirs, places), strict=True))
    heads = [
        Head(k, tuple(None if s is None else worth[s, seat] for seat, s in enumerate(row)))
        for k, row in zip(points, starts, strict=True)
    ]
    ties = ties_between(graph, mine, theirs, [state for state, _ in places])
    of_others, names = tuple(fields[1:]), (mine.name, theirs.name)
    own = graph.view[0].named
    start = {name: own[name] for name in fields}
    return Handicap(
        fields[0], of_others, *names, tuple(heads), even, tuple(apart), start, ties, graph
    )


def _even(graph: StateGraph) -> float:
    """The result of each seat in an even game: an equal part of what all get together."""
    if not graph.is_score:
        return 1.0 / graph.players
    occurs = np.isin(graph.ending_payoffs, graph.lotteries.payoff[graph.lotteries.over])
    totals = seat_payoffs(graph)[occurs].sum(axis=1)
    if totals.min() != totals.max():
        raise UsageError(
            f"{graph.title}: the payoffs of all seats add up to {totals.min():g} at one end and to "
            f"{totals.max():g} at another, so an even game has no certain payoff"
        )
    return float(totals[0] / graph.players)


def no_rival(game: str) -> UsageError:
    """The refusal of a head start in a game for one."""
    return UsageError(f"{game} is a game for one: there is no second player to give points to")


def _fields(graph: StateGraph, text: str) -> list[str]:
    """The field of the mover's points, and those of the others' in the mover's view."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in graph.field_names:
            parts = [field for field in graph.field_names if field.rpartition(".")[0] == name]
            if name and parts:
                raise UsageError(
                    f"{graph.game}: {name} is a tuple, and points are one number of it: write "
                    f"{parts[0]} (its numbers: {', '.join(parts)})"
                )
            raise UsageError(
                f"{graph.game} has no field {name!r} (its fields: {', '.join(graph.field_names)})"
            )
    seats = graph.players
    while len(names) < seats and (other := counterpart(graph, names[-1])) is not None:
        names.append(other)
    if len(names) != seats:
        first = text.split(",")[0].strip()
        raise UsageError(
            f"{graph.game}: in which fields does the mover see {first} of the others? Give "
            f"{seats} fields, those of the others in the order of their moves, as in "
            f"{','.join([first, *['FIELD'] * (seats - 1)])}=0..20 (its fields: "
            f"{', '.join(graph.field_names)})"
        )
    return names


def counterpart(graph: StateGraph, name: str) -> str | None:
    """The field in which the player before sees the number of a field; None if it isn't unique.

    A field of the mover's own leads to that of the next player, and so on round the table.
    """
    passing = np.flatnonzero((graph.outcome_passes == 1) & (graph.outcome_state >= 0))
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


def _with_starts(game: Game, rows: list[list[int]], most: int) -> Policies:
    """The game with these positions, and all that play reaches from them."""
    layout = StateLayout.of(game)
    starts = [*game.roots(), *(layout.state(row) for row in rows)]
    extended = with_methods(game, roots=lambda self: starts)
    return Policies.of(extended, any_players=True, max_states=most)
