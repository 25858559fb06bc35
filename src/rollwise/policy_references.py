"""Policies as they are typed: named, optimal, learned, mixed, or from a file."""

from __future__ import annotations

import re
from pathlib import Path

from rollwise.errors import PolicyError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.policies import Policy, find_policy

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
    from rollwise.certified import solve_and_certify
    from rollwise.solution import Solution

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
