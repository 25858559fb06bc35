"""Policies: what to do in every state, as one probability for each action of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import PolicyError, UsageError
from rollwise.faults import PASSED_ON, fault_text
from rollwise.game import DerivedGame, Game
from rollwise.graph import StateGraph
from rollwise.parquet_files import read_parquet

StateFunction = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Policy:
    """A policy on a graph.

    Attributes
    ----------
    name : str
    probability : (n_actions,) float64
        How likely each action is taken in its state; adds up to 1 in each state.
    tied : (n_states,) bool, optional
        Of an optimal policy: where another action is as good as the one that is taken,
        as far as the certified error can tell.
    """

    name: str
    probability: NDArray[np.float64] = field(repr=False)
    tied: NDArray[np.bool_] | None = field(default=None, repr=False)

    @classmethod
    def of_actions(
        cls,
        graph: StateGraph,
        name: str,
        actions: NDArray[Any],
        best: NDArray[np.bool_] | None = None,
    ) -> Policy:
        """The policy that takes ``actions[s]``, an index into the actions, in state s.

        Parameters
        ----------
        best : (n_actions,) bool, optional
            Of an optimal policy: which actions are equally good.
        """
        probability = np.zeros(graph.n_actions)
        probability[actions] = 1.0
        tied = None
        if best is not None:
            tied = np.add.reduceat(best.astype(np.int64), graph.action_indptr[:-1]) > 1
        return cls(name, probability, tied)

    @classmethod
    def uniform(cls, graph: StateGraph) -> Policy:
        """Every action of a state equally likely."""
        counts = np.diff(graph.action_indptr)
        return cls("random", 1.0 / np.repeat(counts, counts))

    @classmethod
    def of_function(
        cls, graph: StateGraph, game: Game, name: str, function: StateFunction
    ) -> Policy:
        """A policy given as a function of the state.

        Parameters
        ----------
        function : callable
            Takes a state of the game and gives an action, or a mapping of
            actions to weights for a policy that mixes them. Where the mover has
            no choice it is not asked.

        Raises
        ------
        PolicyError
            It fails, or gives what is no action there; names the state.
        """
        state_type = type(game.start())
        probability = np.zeros(graph.n_actions)
        labels = graph.action_label.tolist()
        indptr = graph.action_indptr.tolist()
        for s, fields in enumerate(graph.states.tolist()):
            begin, end = indptr[s], indptr[s + 1]
            if end - begin == 1:
                probability[begin] = 1.0
                continue
            try:
                answer = function(state_type(*fields))
                mixed = answer if isinstance(answer, Mapping) else {answer: 1.0}
                chances = {index(label): float(weight) for label, weight in mixed.items()}
            except PASSED_ON:
                raise
            except BaseException as error:
                raise PolicyError(
                    f"{graph.game}: the policy {name} fails in the state "
                    f"{graph.state_text(s)}: {fault_text(error)}"
                ) from error
            total = sum(chances.values())
            for label, weight in (chances or {-1: 0.0}).items():
                if label not in labels[begin:end] or not weight >= 0 or not 0 < total < np.inf:
                    named = graph.action_names.get(label, str(label)) if chances else "no action"
                    may = ", ".join(graph.action_text(a) for a in range(begin, end))
                    raise PolicyError(
                        f"{graph.game}: the policy {name} gives {named} (weight {weight}) in the "
                        f"state {graph.state_text(s)}, where the actions are {may}"
                    )
                probability[labels.index(label, begin, end)] = weight / total
        return cls(name, probability)


def reached_by(graph: StateGraph, policy: Policy, start: int = 0) -> NDArray[np.bool_]:
    """Which states play comes to from a state, where all play one policy: (n_states,) bool."""
    from rollwise.kernels.occupancy import mark_reached

    reached = np.zeros(graph.n_states, np.bool_)
    mark_reached(
        graph.action_indptr,
        graph.outcome_indptr,
        graph.outcome_state,
        policy.probability,
        start,
        reached,
    )
    return reached


class Ties(NamedTuple):
    """How far the figures of an optimal policy rest on which of several best actions it takes.

    Values don't; how scores are spread, how long games last, and how it does against others
    who aren't optimal may.

    Attributes
    ----------
    states : int
        States that play comes to in which several actions are equally good.
    reached : int
        All states that play comes to.
    """

    states: int
    reached: int

    @property
    def text(self) -> str:
        """That in one line."""
        return (
            f"ties: in {self.states:,} of the {self.reached:,} states that play comes to, several "
            "actions are equally good; another optimal policy may have other figures"
        )


def ties_in_play(graph: StateGraph, *policies: Policy | None, start: int = 0) -> Ties | None:
    """The ties of optimal policies that play can come to from a state; None if there are none.

    Parameters
    ----------
    policies : Policy or None
        Those at play; who moves may follow any of them.
    """
    given = [policy for policy in policies if policy is not None]
    tied = [policy.tied for policy in given if policy.tied is not None]
    if not tied:
        return None
    together = Policy("any", np.sum([policy.probability for policy in given], axis=0))
    reached = reached_by(graph, together, start)
    states = int(np.sum(reached & np.logical_or.reduce(tied)))
    return Ties(states, int(reached.sum())) if states else None


def find_policy(graph: StateGraph, game: Game, reference: str) -> Policy:
    """A policy by its name, or from a table in a CSV or Parquet file.

    Parameters
    ----------
    reference : str
        ``random``, a policy written beside the rules, or a path that ends in
        ``.csv`` or ``.parquet``: one row a state, the fields and ``action`` (by
        name or number), and ``probability`` where it mixes.

    Raises
    ------
    PolicyError
        There is no such policy, or it doesn't fit the game.
    """
    if reference.endswith((".csv", ".parquet")):
        return _from_file(graph, Path(reference))
    if reference == "random":
        return Policy.uniform(graph)
    functions = game.policies()
    if reference not in functions:
        known = ", ".join([*functions, "random"])
        raise PolicyError(
            f"{graph.game} has no policy {reference!r} (its policies: {known}; a table of yours "
            "is a path ending in .csv or .parquet)"
        )
    if isinstance(game, DerivedGame):  # its policies are those of the inner game
        inner = game.inner_graph
        blind = find_policy(inner, game.inner, reference)
        return Policy(reference, blind.probability[inner_actions(graph, inner)])
    function = functions[reference]
    compiled = _of_compiled_function(graph, game, reference, function)
    if compiled is not None:
        return compiled
    return Policy.of_function(graph, game, reference, lambda s: function(game, s))


def inner_actions(graph: StateGraph, inner: StateGraph) -> NDArray[np.int64]:
    """The action of the inner game's graph that each action of a derived one stands for."""
    parts = graph.states[:, : len(inner.field_names)]
    rows = np.concatenate([inner.states, parts])
    _, number = np.unique(rows, axis=0, return_inverse=True)
    place = np.empty(int(number.max()) + 1, np.int64)
    place[number[: inner.n_states]] = np.arange(inner.n_states)
    state = place[number[inner.n_states :]][graph.action_state]
    step = np.arange(graph.n_actions) - graph.action_indptr[graph.action_state]
    return np.asarray(inner.action_indptr[state] + step)


def _of_compiled_function(
    graph: StateGraph, game: Game, name: str, function: Callable[[Any, Any], Any]
) -> Policy | None:
    """A policy asked in compiled code; None where that isn't worthwhile, or fails."""
    from rollwise.builders import SMALL, jit_disabled

    choices = np.flatnonzero(np.diff(graph.action_indptr) > 1)
    if len(choices) <= SMALL or jit_disabled():
        return None
    from rollwise.builders.questions import ask
    from rollwise.builders.reasons import NotCompilable
    from rollwise.builders.rules import Rules
    from rollwise.kernels import questions

    rules = Rules(game)
    if rules.field_names != graph.field_names:
        return None
    try:
        answers, failed = ask(rules, function, graph.states[choices])
    except NotCompilable:  # it may mix actions, or do what only Python can
        return None
    probability = np.zeros(graph.n_actions)
    if failed >= 0 or not questions.take_answers(
        graph.action_indptr, graph.action_label, answers, probability
    ):
        return None  # interpreted, it tells what is wrong
    return Policy(name, probability)


def _from_file(graph: StateGraph, path: Path) -> Policy:
    import polars as pl

    try:
        frame = pl.read_csv(path) if path.suffix == ".csv" else read_parquet(path)
    except FileNotFoundError:
        raise PolicyError(f"there is no file {path}") from None
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PolicyError(f"{path} can't be read as a table: {reason}") from error
    missing = [name for name in (*graph.field_names, "action") if name not in frame.columns]
    if missing:
        raise PolicyError(
            f"{path} has no column {missing[0]!r}; a policy for {graph.game} has the columns "
            f"{', '.join(graph.field_names)}, action (and probability where it mixes)"
        )
    rows: dict[tuple[int, ...], dict[str, float]] = {}
    has_probability = "probability" in frame.columns
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        try:
            fields = tuple(index(row[name]) for name in graph.field_names)
            weight = float(row["probability"]) if has_probability else 1.0
        except (TypeError, ValueError):
            raise PolicyError(f"{path}, row {number}: {row} isn't a state and an action") from None
        action = _as_written(row["action"])
        try:
            graph.vocabulary.require(action)
        except UsageError as error:
            raise PolicyError(f"{path}, row {number}: {error}") from None
        rows.setdefault(fields, {})[action] = weight

    probability = np.zeros(graph.n_actions)
    for s, fields in enumerate(map(tuple, graph.states.tolist())):
        begin, end = int(graph.action_indptr[s]), int(graph.action_indptr[s + 1])
        chances = rows.get(fields)
        if chances is None:
            if end - begin > 1:
                raise PolicyError(f"{path} has no row for the state {graph.state_text(s)}")
            probability[begin] = 1.0
            continue
        total = sum(chances.values())
        for action, weight in chances.items():
            if not weight >= 0 or not 0 < total < np.inf:
                raise PolicyError(
                    f"{path} gives {action} the probability {weight} in the state "
                    f"{graph.state_text(s)}"
                )
            try:
                probability[graph.find_action(s, action)] += weight / total
            except UsageError as error:
                raise PolicyError(f"{path}, in the state {graph.state_text(s)}: {error}") from None
    return Policy(path.name, probability)


def _as_written(action: Any) -> str:
    """An action of a table as text: whether 3 is a number or a name, the game knows."""
    is_whole = isinstance(action, float) and action.is_integer()
    return str(int(action) if is_whole else action)
