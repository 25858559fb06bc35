"""The answer to a game of any size and any number of seats: values, best actions, error bounds.

Its positions are a graph, or are stored by layers in memory or in a folder. For a question about
some positions, `near` returns the answer on a graph with these positions, and their numbers there.
If all positions are one graph, it returns the answer itself.

The answer to a game of three or more players is an equilibrium. `values` are those of the mover,
and its `equilibrium` has the numbers of all seats and a policy that may mix actions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import ExpressionError, UsageError
from rollwise.game import Game, heading_of
from rollwise.graph import THROW, StateGraph, win_probability
from rollwise.graph.view import TIED, worth_name
from rollwise.hooks import HOOKS
from rollwise.machine.atomic_files import path_of
from rollwise.methods import DEFAULT
from rollwise.methods.result import MethodResult, Status, best_bounds
from rollwise.numbers.printed import (
    CHANCE_ROUNDING,
    Printed,
    certified,
    chance,
    estimated,
    estimated_chance,
)

if TYPE_CHECKING:
    import polars as pl
    from plotly.graph_objects import Figure

    from rollwise.answer.advice import Advice
    from rollwise.answer.certified import CertifiedResult
    from rollwise.answer.layered_states import LayeredStates
    from rollwise.answer.rows import Cells, Grid
    from rollwise.graph.choices import Ahead
    from rollwise.graph.policies import Policy
    from rollwise.machine.atomic_files import HtmlPage
    from rollwise.many.equilibrium import Equilibrium


FEW = 1000  # for so few states the best actions are found from these alone
MOST_BESIDE = 2_000  # positions of best play in which ways out of waiting are looked for
MOST_TURNS = 16  # in the cache
NO_EQUILIBRIUM = "no equilibrium"  # a status


class Choices(NamedTuple):
    """The actions of some states, one state after the other: see these arrays of `Solution`.

    Attributes
    ----------
    actions : (n,) int64
    values, regret : (n,) float64
    is_best : (n,) bool
    """

    actions: NDArray[np.int64]
    values: NDArray[np.float64]
    regret: NDArray[np.float64]
    is_best: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The values of a game, certified.

    Attributes
    ----------
    space : StateGraph or LayeredStates
        All positions: a graph, or by layers.
    game : Game or None
        The rules of the positions.
    run : MethodResult
        The result of the method: its name, history, bounds, fractions. Of a saved answer it has
        the method's name and status alone.
    values : (n_states,) float64
        Of the graph's states, or of the positions by layers, for the mover: 1 for a sure win
        and -1 for a sure loss, or the expected total of the rewards.
    error_bounds : (n_states,) float64
        ``|values[s] - true value| <= error_bounds[s]``, proved; infinite without a proof.
    tolerance : float or None
        The requested error bound.
    seconds : dict of float
        Time spent to ``compile``, ``build``, ``solve`` and ``certify``.
    proved : bool
        Whether the error bounds were proved, rather than read from an untrusted file.
    kept_from : str or None
        The time of the earlier run that found it, if any (see `rollwise.answer.kept`).
    profile : Equilibrium or None
        Of three or more players: see `equilibrium`.
    taken : (n_states,) int64 or None
        The actions to take, where a larger answer has chosen them: see `near`.
    """

    space: StateGraph | LayeredStates
    game: Game | None
    run: MethodResult
    values: NDArray[np.float64]
    error_bounds: NDArray[np.float64]
    tolerance: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    proved: bool = True
    kept_from: str | None = None
    profile: Equilibrium | None = None
    taken: NDArray[np.int64] | None = None

    @property
    def method(self) -> str:
        """The method that found the values."""
        return self.run.method

    @property
    def sweeps(self) -> int:
        """Number of sweeps over states with cycles."""
        return self.run.sweeps

    @property
    def converged(self) -> bool:
        """Whether the method reached its own criterion."""
        return self.run.converged

    @property
    def equilibrium(self) -> Equilibrium:
        """The policy of all seats, with their proved numbers.

        Raises
        ------
        UsageError
            The game is for one player or two.
        """
        if self.profile is None:
            raise UsageError(f"{self.title}: an equilibrium is for three or more players")
        return self.profile

    @property
    def is_whole(self) -> bool:
        """Whether all positions are one graph."""
        return isinstance(self.space, StateGraph)

    @property
    def is_small(self) -> bool:
        """Whether all positions are one graph, or soon can be: see `whole`."""
        return isinstance(self.space, StateGraph) or self.space.is_small

    @property
    def graph(self) -> StateGraph:
        """The graph of all positions.

        Raises
        ------
        UsageError
            The answer is by layers.
        """
        if isinstance(self.space, StateGraph):
            return self.space
        raise UsageError(
            f"{self.title} is kept by layers: whole() solves a small game again as one graph, and "
            "near() has the graph of some positions"
        )

    @property
    def start(self) -> int:
        """The number of the start."""
        return self.space.start

    @property
    def subject(self) -> StateGraph | Game:
        """The object with the name and the parameters of the game."""
        return self.space if isinstance(self.space, StateGraph) else self.space.game

    def whole(self) -> Solution:
        """The answer on one graph of all positions; a small game by layers is solved again.

        Raises
        ------
        UsageError
            It is too large for that.
        """
        return self if self.is_whole else self._solved_again

    @cached_property
    def _solved_again(self) -> Solution:
        from rollwise.builders import build

        space = self.space
        assert not isinstance(space, StateGraph)
        if not space.is_small:
            raise UsageError(
                f"{self.title} is too large for one graph, and this needs all positions at once: "
                "choose some of its positions, or take smaller parameters"
            )
        return Solution.of_graph(build(space.game), space.game)

    def near(self, states: NDArray[np.int64]) -> tuple[Solution, NDArray[np.int64]]:
        """The answer on a graph with some states, and their numbers there.

        In an answer by layers it is a graph of these positions and their turns. Play ends at other
        positions, with their known values.

        Parameters
        ----------
        states : (n,) int64
            Distinct numbers.
        """
        if isinstance(self.space, StateGraph):
            return self, states
        part = self._turns_at(self.space, states)
        return replace(part, taken=self._taken(part, states)), np.arange(len(states))

    def _turns_at(self, space: LayeredStates, states: NDArray[np.int64]) -> Solution:
        """The answer on a graph of some positions by layers and their turns."""
        graph, run = space.turns(states, self.values, self.error_bounds)
        return Solution.of_run(graph, self.game, run)

    def _taken(self, part: Solution, states: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The actions of an answer by layers in the graph of some positions and their turns.

        Of equally good actions they are those that lead out of waiting, which such a graph doesn't
        show. With throws the actions are found anew, from all positions of these layers to which
        best play can come; None where waiting does no harm, or where there are too many.
        """
        from rollwise.derive.derived_game import places_in
        from rollwise.graph.choices import (
            first_actions,
            first_best,
            first_of_each_state,
            keep_bounds,
            may_wait,
        )

        space, graph = self.space, part.graph
        assert not isinstance(space, StateGraph)
        if not space.has_throws:
            chosen = np.full(graph.n_states, -1)
            chosen[: len(states)] = space.actions[states]
            return first_of_each_state(graph, graph.action_label == chosen[graph.action_state])
        if not may_wait(graph, part.is_best):
            return None
        numbers, near = states, space.staying(graph, part.is_best, states)
        if not len(near):  # play leaves the layers at once
            return None
        while len(new := np.setdiff1d(near, numbers)):
            numbers = np.concatenate([numbers, new])
            if len(numbers) > MOST_BESIDE:
                return None
            turns = self._turns_at(space, new)
            near = space.staying(turns.graph, turns.is_best, states)
        together = self._turns_at(space, numbers)
        wide, fields = together.graph, len(space.field_names)
        # play that comes to one of these positions goes on there
        first = wide.n_states - wide.n_ends
        leads = np.arange(wide.n_states + 1)
        leads[-1] = -1
        places = places_in(wide.states[first:, :fields], wide.states[: len(numbers), :fields])
        leads[first:-1] = np.where(places < 0, leads[first:-1], places)
        linked = wide.with_arrays(outcome_state=leads[wide.outcome_state].astype(np.int32))
        best = together.is_best
        good = keep_bounds(wide, together.ahead, best)
        taken = first_best(linked, good, best, together.values) - first_actions(wide)
        taken = np.append(taken[:first], 0)  # the ends have one action
        return first_actions(graph) + taken[places_in(graph.rows, wide.rows[:first])]

    def near_rows(self, rows: NDArray[np.int32]) -> Solution:
        """As `near`, for positions given by their fields: (n, n_fields) int32."""
        return self.near(self.numbers_of(rows))[0]

    def numbers_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of positions, (n,) int64, given by their fields: (n, n_fields) int32.

        Raises
        ------
        UnknownState
        """
        return self.space.numbers_of(rows)

    def places_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of positions as in `numbers_of`; -1 for rows that are no positions."""
        return self.space.places_of(rows)

    def part(self, state: Sequence[Any] | Mapping[str, Any]) -> Solution:
        """The answer on a graph with a position and its turn: see `near`.

        Raises
        ------
        UnknownState
        """
        if isinstance(self.space, StateGraph):
            return self
        number = self.space.find(state)
        if number not in self._turns:
            part, _ = self.near(np.array([number]))
            if len(self._turns) >= MOST_TURNS:
                del self._turns[next(iter(self._turns))]
            self._turns[number] = part
        return self._turns[number]

    @cached_property
    def _turns(self) -> dict[int, Solution]:
        """A cache of turns, since play needs the same turn for each of its moves."""
        return {}

    def locate(
        self,
        state: Sequence[Any] | Mapping[str, Any],
        throw: int | Sequence[int] | None = None,
        rolls_left: int | None = None,
    ) -> tuple[Solution, int]:
        """The answer on a graph with a state, and the number of the state there.

        Parameters
        ----------
        state, throw, rolls_left
            As in `find`.

        Raises
        ------
        UnknownState
        """
        part = self.part(state)
        if part is not self:  # its fields by name, in their order
            state = part.graph.view[0].address["state"]
        return part, part.graph.find(state, throw, rolls_left)

    def part_where(self, where: str | None) -> Solution:
        """The answer on a graph with the positions chosen by a condition: see `near`.

        In an answer by layers only the parts of the condition about fields count:
        ``filled == 7 and throw.0 == 2`` chooses all positions with `filled` 7.

        Raises
        ------
        ExpressionError
            The condition can't be understood.
        UsageError
            It chooses none, or too many for one graph.
        """
        from rollwise.answer.filters import said_of

        space = self.space
        if isinstance(space, StateGraph):
            return self
        if self.is_small:
            return self.whole()
        said = where and said_of(self.condition(where), space.field_names)
        chosen = self.states_where(said)
        if not 0 < len(chosen) <= space.at_once:
            raise UsageError(
                f"{self.title} is too large for one graph: choose at most {space.at_once:,} of its "
                f"positions by their fields ({', '.join(space.field_names)}), as in --where "
                f'"{space.field_names[0]} == {space.states[-1, 0]}"; now there are {len(chosen):,}'
            )
        return self.near(chosen)[0]

    def condition(self, where: str) -> str:
        """A condition with numbers in place of the members of enumerations in the rules.

        Raises
        ------
        ExpressionError
        """
        from rollwise.answer.filters import numbered
        from rollwise.graph.layout import members_of

        if not isinstance(where, str):
            raise ExpressionError(
                f"a condition is a text such as '{self.space.field_names[0]} >= 3', and not of the "
                f"type {type(where).__name__}"
            )
        return where if self.game is None else numbered(where, members_of(self.game))

    def n_undecided(self, states: NDArray[np.int64]) -> int:
        """The number of states, among some, with bounds too wide to tell the best action."""
        if self.gave_up or self.space.players > 2 or not self.error_bound > TIED / 8:
            return 0
        part, places = self.near(states)
        return int(part.undecided[places].sum())

    @property
    def is_score(self) -> bool:
        """Whether values are expected scores or payoffs, rather than chances to win."""
        return self.objective != "win" or self.has_stakes

    @property
    def worth_name(self) -> str:
        """The name of a value; see `rollwise.graph.view.worth_name`."""
        return worth_name(self.objective, self.has_stakes)

    @property
    def value(self) -> float:
        """The value of the start."""
        return float(self.values[self.start])

    @property
    def win_probability(self) -> float | None:
        """The probability to win of the first or only player; None for a score.

        A draw is half a win.
        """
        return None if self.is_score else win_probability(self.value)

    @cached_property
    def error_bound(self) -> float:
        """The largest error bound of any value, proved; infinite if it leaves one value open.

        A value of a game of wins and losses is from -1 to 1 without any proof. A bound of points
        or payoffs larger than all of them leaves their sign open.
        """
        bound, sizes = float(self.error_bounds.max()), np.abs(self.values)
        widest = max(1.0, sizes.max()) if self.is_score else 1.0 + sizes.min()
        return bound if bound <= widest else float("inf")

    @property
    def largest_claim(self) -> float:
        """The error bound; of an equilibrium the larger of its bound and the gain of deviating."""
        if self.profile is None:
            return self.error_bound
        return max(self.profile.error_bound, self.profile.deviation_gain)

    @property
    def gave_up(self) -> bool:
        """Whether the method gave up; its values are then no answer."""
        answers = ("certified", "as saved", "tolerance missed", "not certified", "estimated")
        return self.status not in (*answers, NO_EQUILIBRIUM)

    @property
    def estimated(self) -> bool:
        """Whether the values are estimates, with standard errors and no bounds."""
        return self.run.estimated

    @classmethod
    def of_layers(
        cls,
        space: LayeredStates,
        values: NDArray[np.float64],
        error_bounds: NDArray[np.float64],
        seconds: Mapping[str, float],
        kept_from: str | None = None,
    ) -> Solution:
        """The answer for positions by layers."""
        about: dict[str, Any] = {"seconds": seconds, "kept_from": kept_from}
        run = MethodResult(DEFAULT, values, 0)
        return cls(space, space.game, run, values, error_bounds, **about)

    @classmethod
    def open(cls, folder: str | Path, game: Game) -> Solution:
        """The answer in a folder by `rollwise.solve_by_layers`, read in place.

        Raises
        ------
        SolutionFileError
            It contains no answer, or the answer of another game, or an unfinished one.
        """
        from rollwise.answer.layer_folder import open_folder
        from rollwise.answer.layered_states import LayeredStates

        began = time.perf_counter()
        stored = open_folder(path_of(folder), game)
        stored.require_whole()
        stored.require_rows(np.array([stored.start]))
        space = LayeredStates.of(
            game,
            stored.facts,
            stored.first_rows,
            states=stored.states,
            layers=stored.indptr,
            progress=stored.progress,
            actions=stored.actions,
            start=stored.start,
            require_rows=stored.require_rows,
        )
        seconds = {"read": time.perf_counter() - began}
        return cls.of_layers(space, stored.values, stored.error_bounds, seconds)

    @classmethod
    def of_graph(cls, graph: StateGraph, game: Game | None = None) -> Solution:
        """Solve and certify a graph.

        Raises
        ------
        UsageError
            It has three or more players, and the game isn't given.
        """
        from rollwise.answer.certified import solve_and_certify

        if graph.players > 2:
            from rollwise.many.equilibrium import equilibrium_on

            if game is None:
                raise UsageError(f"{graph.title}: give the game, and not its graph alone")
            return cls.of_equilibrium(equilibrium_on(graph, game, {}))
        return cls.of_run(graph, game, solve_and_certify(graph))

    @classmethod
    def of_run(
        cls,
        graph: StateGraph,
        game: Game | None,
        run: CertifiedResult,
        tolerance: float | None = None,
        seconds: Mapping[str, float] = MappingProxyType({}),
    ) -> Solution:
        """The result of a method on a graph, with its certificate.

        Parameters
        ----------
        seconds : dict of float
            Of the stages before.
        """
        found = run.found
        return cls(
            graph,
            game,
            found,
            found.values,
            run.certificate.bounds,
            tolerance,
            {**seconds, "solve": found.seconds, "certify": run.seconds},
        )

    @classmethod
    def of_equilibrium(cls, found: Equilibrium, kept_from: str | None = None) -> Solution:
        """The answer to a game of three or more players."""
        values = found.mover_values
        return cls(
            found.graph,
            found.game,
            MethodResult("equilibrium", values, 0),
            values,
            found.mover_bounds,
            seconds=found.seconds,
            kept_from=kept_from,
            profile=found,
        )

    @property
    def objective(self) -> str:
        return self.space.objective

    @property
    def has_stakes(self) -> bool:
        return self.space.has_stakes

    @property
    def status(self) -> str:
        """The status of the answer.

        ``certified``; ``as saved`` for unproved error bounds from a file; ``tolerance missed``
        for a `largest_claim` above the request; ``not certified`` without a proved bound;
        ``estimated`` for estimates with standard errors; ``no equilibrium`` if the search found
        none, and the bounds hold for its profile. If the method gave up, the status
        gives the reason (see `rollwise.methods.result.Status`); its values are then no answer,
        and only `bounds` are known.
        """
        if self.profile is not None and self.profile.unsettled:
            return NO_EQUILIBRIUM
        if not self.converged and self.run.status is not Status.STALLED:
            return str(self.run.status)
        if not np.isfinite(self.error_bound):
            return "not certified"
        if not self.proved:
            return "as saved"
        if self.tolerance is not None and self.largest_claim > self.tolerance:
            return "tolerance missed"
        return "certified"

    @property
    def is_final(self) -> bool:
        """Whether another run of the same method can't improve the answer."""
        if self.profile is not None:
            return not self.profile.timed_out
        return self.status == "certified"

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The best lower and upper bounds on the values: two arrays (n_states,) float64."""
        farthest = np.inf if self.is_score else 1.0
        return best_bounds(self.values, self.error_bounds, farthest, self.run)

    @property
    def win_probabilities(self) -> NDArray[np.float64] | None:
        """The mover's probability to win in every state, (n_states,); None for a score."""
        return None if self.is_score else win_probability(self.values)

    def seat_values(self, states: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
        """The values of all seats in some states, and their error bound.

        Returns
        -------
        values : (n, players) float64
            From the mover on.
        error_bound : float
            Proved.
        """
        if self.profile is not None:
            found = self.profile
            return found.as_values(found.values[states]), found.unit * found.error_bound
        mine = self.values[states]
        return np.stack([mine, -mine][: self.space.players], axis=1), self.error_bound

    @cached_property
    def action_values(self) -> NDArray[np.float64]:
        """The value of each action before optimal play: (n_actions,) float64."""
        return _action_values(self.graph, self.ahead)

    @cached_property
    def ahead(self) -> Ahead:
        """One look ahead: each action relative to its state, with error bounds."""
        from rollwise.graph.choices import look_ahead

        if self.profile is not None:
            return self.profile.ahead
        return look_ahead(self.graph, self.values, self.error_bounds)

    @cached_property
    def regret(self) -> NDArray[np.float64]:
        """The cost of each action against the best of its state: (n_actions,) float64, from 0."""
        from rollwise.graph.choices import costs

        return costs(self.graph, self.action_values)

    @cached_property
    def is_best(self) -> NDArray[np.bool_]:
        """Whether each action may be best, within the certified error: (n_actions,) bool."""
        from rollwise.graph.choices import are_best

        return are_best(self.graph, self.ahead)

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Whether the error bounds are too wide to tell the best action: (n_states,) bool."""
        if not self.error_bound > TIED / 8:  # saves a look at all actions
            return np.zeros(self.graph.n_states, np.bool_)
        from rollwise.graph.choices import undecided

        return undecided(self.graph, self.ahead, self.is_best)

    @cached_property
    def best_actions(self) -> NDArray[np.int64]:
        """The action to take in each state, as an index: (n_states,) int64.

        See `rollwise.graph.choices`. In an equilibrium it is the likeliest one.
        """
        from rollwise.graph.choices import first_best, keep_bounds

        if self.profile is not None:
            return self.profile.likeliest
        if self.taken is not None:
            return self.taken
        good = keep_bounds(self.graph, self.ahead, self.is_best)
        return first_best(self.graph, good, self.is_best, self.values)

    def choices_in(self, states: NDArray[np.int64]) -> Choices:
        """The values and costs of the actions of some states, computed for these states alone."""
        from rollwise.graph.choices import actions_of, are_best, costs

        part, ahead = self._look_at(states)
        values = _action_values(part, ahead)
        actions = actions_of(self.graph, states)[0]
        return Choices(actions, values, costs(part, values), are_best(part, ahead))

    def _look_at(self, states: NDArray[np.int64]) -> tuple[StateGraph, Ahead]:
        from rollwise.graph.choices import Ahead, actions_of, look_ahead, part_of

        part, beyond = part_of(self.graph, states)
        if self.profile is not None:
            actions, ahead = actions_of(self.graph, states)[0], self.ahead
            return part, Ahead(*(x[actions] for x in ahead[:3]), *(x[states] for x in ahead[3:]))
        here = self.values[states], self.error_bounds[states]
        return part, look_ahead(part, *here, self.values[beyond], self.error_bounds[beyond])

    def best_actions_in(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """``best_actions[states]``; for a few states computed from these alone."""
        from rollwise.graph.choices import (
            actions_of,
            are_best,
            first_of_each_state,
            keep_bounds,
            may_wait,
        )

        few = len(states) <= FEW and self.profile is None and self.taken is None
        if "best_actions" in vars(self) or not few:
            return self.best_actions[states]
        part, ahead = self._look_at(states)
        best = are_best(part, ahead)
        if may_wait(part, best):
            return self.best_actions[states]  # ways out may be long
        return actions_of(self.graph, states)[0][
            first_of_each_state(part, keep_bounds(part, ahead, best))
        ]

    @cached_property
    def policy(self) -> Policy:
        """The optimal policy: the first of the best actions everywhere, or the equilibrium's."""
        from rollwise.graph.choices import has_ties
        from rollwise.graph.policies import Policy

        if self.profile is not None:
            tied = has_ties(self.graph, self.is_best)
            tied[self.profile.mixing] = False  # where the equilibrium needs the mixture
            return replace(self.profile.policy, tied=tied)
        name = "best by estimates" if self.estimated else "optimal"
        return Policy.of_actions(self.graph, name, self.best_actions, self.is_best)

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return self.space.title

    @property
    def heading(self) -> str:
        """The game's name in headings."""
        if self.game is not None and self.game.name == type(self.game).name:
            return self.game.heading
        space = self.space
        return heading_of(space.game if isinstance(space, StateGraph) else space.game.name)

    @cached_property
    def policies_by_name(self) -> dict[str, Policy]:
        """The policies found so far: see `rollwise.answer.references.Policies`."""
        # `Policies` would refer back to this solution: large arrays would wait for the garbage
        # collector.
        return {}

    def __len__(self) -> int:
        """The number of positions with values, without those after a throw."""
        return self.space.n_positions

    def table(
        self, where: str | None = None, *, throws: bool = False, each_action: bool = False
    ) -> pl.DataFrame:
        """The strategy, a row for each state, in the order of the fields.

        Parameters
        ----------
        where : str, optional
            A condition in the names of the columns, such as
            ``"lid >= 3 and forced == 0"``.
        throws : bool
            In a game with throws: a row for each throw in each position, with its action.
            Otherwise a row for each position, before the throw.
        each_action : bool
            A column with the value of each action too (see `worth_by_action`).

        Returns
        -------
        polars.DataFrame
            A column for each field of the state (and of the throw), then ``action`` (null
            before a throw), ``value``, ``win_probability`` (null for a score) and
            ``error_bound`` (null for estimates); then the method's own columns, fractions as
            text. With three or more players a row for each action with positive probability: the
            fields, ``action`` and ``probability`` (null before a throw), the value of each seat
            from the mover on, ``error_bound`` and ``deviation_gain``.

        Raises
        ------
        ExpressionError
            The condition can't be understood.
        UsageError
            `throws` is true in a game without throws; or, with `throws` or `each_action`, the
            condition chooses too many positions of an answer by layers (see `part_where`).
        """
        # an answer by layers has no actions after throws
        solution = self.part_where(where) if throws or each_action else self
        states = solution.states_where(where, throws=throws)
        return solution.rows_of(states, throws=throws, each_action=each_action)

    def states_where(self, where: str | None = None, *, throws: bool = False) -> NDArray[np.int64]:
        """The states with a row in `table`, in its order; parameters and errors as there.

        With three or more players the actions with a row, in the order of the graph.
        """
        from rollwise.answer.rows import states_where

        return states_where(self, where, throws=throws)

    def rows_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> pl.DataFrame:
        """The rows of some states in the `table`; for a few states computed from these alone.

        Parameters
        ----------
        states : (n,) int64
            From `states_where`.
        """
        from rollwise.answer.rows import columns_of, frame_of

        columns = columns_of(self, states, throws=throws, each_action=each_action)
        return frame_of(columns, len(states), self.space.vocabulary)

    def cells_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> Cells:
        """The cells of `rows_of` as lists, without Polars, which takes longer to import."""
        from rollwise.answer.rows import cells_of, columns_of

        columns = columns_of(self, states, throws=throws, each_action=each_action)
        return cells_of(columns, len(states), self.space.vocabulary)

    def worth_by_action(self, states: NDArray[np.int64]) -> dict[str, list[float | None]]:
        """The value of each action in some states: a column for each action of the game.

        Returns
        -------
        dict of lists
            ``P_`` and the name of the action: the mover's probability to win after it. In a game
            for points or stakes ``value_`` and the name: the expected total. None for an illegal
            action. The error is at most the largest error bound of any state.

        Raises
        ------
        UsageError
            The values are estimates; or a state comes before a throw, and has no action yet.
        """
        from rollwise.answer.rows import worth_by_action

        self.require_answer("columns of actions")
        return worth_by_action(self, states)

    @property
    def action_bounds(self) -> dict[str, float]:
        """The error bound of each column of `worth_by_action`."""
        from rollwise.answer.rows import action_column

        bound = self.error_bound if self.is_score else self.error_bound / 2 + CHANCE_ROUNDING
        labels = [label for label in self.space.vocabulary.labels if label != THROW]
        return {action_column(self, label): bound for label in labels}

    def array(self, numbers: NDArray[Any] | None = None) -> NDArray[Any]:
        """A number of each position as an array with an axis for each field: ``V[i, j, k]``.

        Parameters
        ----------
        numbers : (n_states,), optional
            Win probabilities unless given, or values in a game for points or stakes.

        Raises
        ------
        UsageError
            See `rollwise.graph.by_fields.state_array`.
        """
        whole = self.whole()
        if numbers is None:
            chances = whole.win_probabilities
            numbers = whole.values if chances is None else chances
        return whole.graph.array(numbers)

    def grid(self, where: str | None = None, *, throws: bool = False) -> Grid:
        """The strategy as two matrices, of the best actions and of the values.

        Parameters
        ----------
        where : str, optional
            A choice of positions, as in `table`, with all fields but two constant.
        throws : bool
            Positions after a throw, in a game with throws.

        Raises
        ------
        UsageError
            The positions don't differ by two fields.
        """
        from rollwise.answer.rows import grid_of

        return grid_of(self.part_where(where), where, throws=throws)

    def fields_of(self, states: NDArray[np.int64], throws: bool) -> dict[str, NDArray[np.int32]]:
        """The columns of some states: their fields, and on request their throws."""
        return self.space.fields_of(states, throws)

    def action_column(self, actions: NDArray[np.int64]) -> pl.Series:
        """The names of actions, given by their indices: a column ``action``."""
        return self.graph.vocabulary.column(self.graph.action_label[actions])

    def find(
        self,
        state: Sequence[Any] | Mapping[str, Any],
        throw: int | Sequence[int] | None = None,
        rolls_left: int | None = None,
    ) -> int:
        """The number of a state, given by its fields in order or by name (and its throw).

        Raises
        ------
        UnknownState
        """
        if not isinstance(self.space, StateGraph) and throw is None:
            return self.space.find(state)
        return self.graph.find(state, throw, rolls_left)

    def advise(
        self,
        state: Sequence[Any] | Mapping[str, Any],
        throw: int | Sequence[int] | None = None,
        rolls_left: int | None = None,
    ) -> Advice:
        """The value of a state and the cost of each action there.

        Parameters
        ----------
        state : a state of the game, its fields in order, or a mapping by name
        throw : int or sequence of int, optional
            The throw, in a game with throws. Without it the advice covers each throw (see
            `Advice.throws`).
        rolls_left : int, optional
            The number of rerolls left, in a game with a pool of dice; unless given, the number
            after the first throw.

        Raises
        ------
        UnknownState
            The state is unreachable, or the throw is impossible there.
        """
        from rollwise.answer.advice import advise

        self.require_answer("advice")
        return advise(*self.locate(state, throw, rolls_left))

    def plot(self, kind: str = "policy", **choices: Any) -> Figure:
        """Draw the answer as a Plotly figure; a notebook displays it.

        Parameters
        ----------
        kind : str
            One of `rollwise.plot.KINDS`: policy, value, regret, surface, boxes, limit, graph,
            length, convergence, residual, error, scores, learning.
        **choices
            See `rollwise.plot.Choices`.

        Raises
        ------
        MissingExtra
            Plotly isn't installed.
        UsageError
            The kind makes no sense for this game, or a choice doesn't fit it.
        """
        self.require_answer("pictures")
        return HOOKS.plot(self, kind, **choices)

    def report(self, path: str | Path | None = None, *, rules: int = 0) -> HtmlPage:
        """A report of the whole answer on one page; a notebook displays it.

        Parameters
        ----------
        path : path, optional
            A file for the page, ending in .html.
        rules : int
            The number of scored rules of thumb for its cheat sheet; 0 for no cheat sheet.

        Raises
        ------
        MissingExtra
            Plotly isn't installed.
        UsageError, OutputError
            The name has another ending, or the file can't be written.
        """
        self.require_answer("a report")
        written: HtmlPage = HOOKS.report(self, path, rules=rules)
        return written

    def page(
        self,
        path: str | Path | None = None,
        *,
        policies: Sequence[str | Policy | Callable[..., Any]] = (),
        shows: Literal["play", "strategy"] = "play",
    ) -> HtmlPage:
        """A page that plays the game, coaches and shows the strategy, without a network.

        A notebook displays it.

        Parameters
        ----------
        path : path, optional
            A file for the page, ending in .html.
        policies : sequence of str, callable or Policy, optional
            Opponents besides the policies of the game: as `rollwise.evaluate` takes them,
            rules of thumb in files and mixtures included. Each has a name of its own.
        shows : str
            The first view: ``play`` or ``strategy``.

        Raises
        ------
        UsageError, OutputError
            The game is too large for a page, the name has another ending, or the file can't be
            written.
        PolicyError
            There is no such policy, or two have one name.
        """
        self.require_answer("a page")
        written: HtmlPage = HOOKS.page(self, path, policies=policies, shows=shows)
        return written

    def play(self) -> HtmlPage:
        """The game to play in a notebook, with its coach: see `page`."""
        return self.page()

    def explore(self) -> HtmlPage:
        """The strategy to explore in a notebook, as a map and in words: see `page`."""
        return self.page(shows="strategy")

    def save(self, path: str | Path) -> None:
        """Write the solution to a Parquet file, all at once or not at all (see `load`).

        The file holds values, bounds and actions, but not a method's own columns, such as
        fractions.

        Raises
        ------
        UsageError, OutputError
            The file has the ending of another kind, such as .csv, or can't be written.
        """
        from rollwise.answer.storage import save

        self.require_answer("a saved solution")
        save(self.whole(), path_of(path))

    def said_of(self, state: int) -> list[str]:
        """Further facts about a position, a line each."""
        return [] if self.profile is None else self.profile.said_of(state)

    def require_answer(self, what: str) -> None:
        """Refuse a request that needs an answer if the values are estimates.

        Raises
        ------
        UsageError
        """
        if self.estimated:
            raise UsageError(
                f"{self.title}: {what} can't be had of estimates by {self.method}; their "
                "table has all that they say"
            )

    def _repr_html_(self) -> str:
        """The notebook view: the value, and the beginning of the table."""
        return str(HOOKS.html(self))

    def __repr__(self) -> str:
        if self.profile is not None:
            return f"<Solution of {self.title}: {self.profile}>"
        number: Printed
        if self.estimated:
            error = float(self.run.columns["standard_error"][0])
            wins = self.win_probability
            number = (
                estimated(self.value, error) if wins is None else estimated_chance(wins, error / 2)
            )
        elif self.is_score:
            number = certified(self.value, self.error_bound)
        else:
            number = chance(self.value, self.error_bound)
        winner = "the player" if self.space.players == 1 else "the first player"
        what = self.worth_name if self.is_score else f"{winner} wins"
        if self.game is not None and self.game.made_from.objective == "average":
            from rollwise.answer.average import average_of

            what, number = "average in the long run", certified(*average_of(self))
        worth = f"{what} {number}"
        return f"<Solution of {self.title}: {worth} ({self.status})>"


def _action_values(graph: StateGraph, ahead: Ahead) -> NDArray[np.float64]:
    return ahead.gap + ahead.values[graph.action_state]
