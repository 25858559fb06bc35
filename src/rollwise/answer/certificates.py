"""The certificate of a solution, written from its claims."""

from __future__ import annotations

from pathlib import Path

from rollwise.answer.solution import Solution
from rollwise.answer.verify import claims_of
from rollwise.builders import Progress
from rollwise.errors import UsageError
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
    n = solution.space.n_positions
    places = list(map(tuple, solution.space.states[:n].tolist()))
    values, bounds = solution.values[:n].tolist(), solution.error_bounds[:n].tolist()
    return Claims(
        {position: (value,) for position, value in zip(places, values, strict=True)},
        {position: (bound,) for position, bound in zip(places, bounds, strict=True)},
    )
