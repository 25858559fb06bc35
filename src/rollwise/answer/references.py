"""Policies as they are typed: named, optimal, learned, mixed, or from a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import PolicyError, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.machine.parquet_files import read_parquet

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\*(.+)")


def resolve_policy(graph: StateGraph, game: Game, reference: str) -> Policy:
    """A policy by what is typed for it.

    Parameters
    ----------
    reference : str
        - ``optimal``: the game is solved for it;
        - a name, or a table in a .csv or .parquet file, as `find_policy` takes them (a
          solution that was saved is such a table);
        - a path ending in ``.npz``: what a saved learner has learned;
        - ``0.9*optimal+0.1*random``: a mixture, which draws one of its parts anew
          at every decision. The weights are divided by their sum.

    Raises
    ------
    PolicyError
        There is no such policy, or it doesn't fit the game.
    LearnerFileError
        The learner's file is damaged or belongs to other rules.
    """
    if _PART.fullmatch(reference):
        return _mixture(graph, game, reference)
    if reference == "optimal" and "optimal" not in game.policies():
        return _optimal(graph)
    if reference.endswith(".npz"):
        from rollwise.learn import Learner

        learned = Learner.load(reference, graph).result().policy
        return Policy(Path(reference).name, learned.probability)
    return find_policy(graph, game, reference)


def _optimal(graph: StateGraph) -> Policy:
    from rollwise.answer.certified import solve_and_certify
    from rollwise.answer.solution import Solution

    found, certificate, _ = solve_and_certify(graph)
    return Solution(graph, None, found.method, found.values, certificate.bounds).policy


def _mixture(graph: StateGraph, game: Game, reference: str) -> Policy:
    parts = []
    for text in reference.split("+"):
        match = _PART.fullmatch(text.strip())
        if match is None:
            raise PolicyError(
                f"{reference!r} isn't a mixture; write weight*policy+weight*policy, as in "
                "0.9*optimal+0.1*random"
            )
        weight, name = float(match[1]), match[2]
        parts.append((weight, resolve_policy(graph, game, name)))
    total = sum(weight for weight, _ in parts)
    if not 0 < total < float("inf"):
        raise PolicyError(
            f"the weights of {reference!r} add up to {total:g}; it must be a number > 0"
        )
    probability = sum(weight / total * part.probability for weight, part in parts)
    tied = [part.tied for _, part in parts if part.tied is not None]
    return Policy(reference, probability, tied[0] if tied else None)  # type: ignore[arg-type]


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
    if game.base_game is not game:  # its policies are those of the game it is made from
        inner = game.base_graph(graph)
        blind = find_policy(inner, game.base_game, reference)
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
    from rollwise.builders.compiled.questions import ask
    from rollwise.builders.compiled.reasons import NotCompilable
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
