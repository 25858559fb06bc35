"""The certificate of a solution, written from its claims."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.answer.verify import claims_of
from rollwise.builders import Progress
from rollwise.errors import UsageError
from rollwise.graph import NO_THROW, StateGraph
from rollwise.proofs.certificate_files import Summary, write_certificate
from rollwise.proofs.check_rules import Claims


def save_certificate(
    solution: Solution, path: str | Path, progress: Progress | None = None
) -> Summary:
    """Write the certificate of a solution: the game, its values and their bounds.

    Raises
    ------
    UsageError
        Play may go on forever, or the solution hasn't all positions or no bounds.
    """
    game = solution.game
    if game is None:
        raise UsageError("a certificate is about a game, and this solution is of a graph alone")
    return write_certificate(game, claims_about(solution), path, progress)


def claims_about(solution: Solution) -> Claims:
    """What a solution claims about all positions."""
    if solution.game is not None and solution.game.players > 2:
        return claims_of(solution.equilibrium)
    space = solution.space
    rows, index = space.states[: space.n_positions], np.arange(space.n_positions)
    if isinstance(space, StateGraph) and space.throws is None and space.throw_names:
        throws = [k for k, name in enumerate(space.field_names) if name in space.throw_names]
        index = np.flatnonzero(space.states[:, throws[0]] == NO_THROW)  # of a derived game
        rows = np.delete(space.states[index], throws, axis=1)
    places = list(map(tuple, rows.tolist()))
    values, bounds = solution.values[index].tolist(), solution.error_bounds[index].tolist()
    return Claims(
        {position: (value,) for position, value in zip(places, values, strict=True)},
        {position: (bound,) for position, bound in zip(places, bounds, strict=True)},
    )
