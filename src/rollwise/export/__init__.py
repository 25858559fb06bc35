"""Games in other people's formats: model checkers, data tools, OpenSpiel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rollwise.answer.evaluation import two_sides
from rollwise.answer.references import AnyPolicy, Policies
from rollwise.answer.solution import Solution
from rollwise.derive.changed import throws_as_fields
from rollwise.errors import UsageError, another_kind, no_such
from rollwise.export.data import write_json, write_npz, write_parquet
from rollwise.export.models import differences, one_chooser, write_drn, write_prism, write_umb
from rollwise.export.programs import PROGRAMS, write_program
from rollwise.graph import StateGraph
from rollwise.machine.atomic_files import path_of, write_atomically
from rollwise.many.seats import Stakes

MODELS: dict[str, Callable[[StateGraph, Path], None]] = {
    "prism": write_prism,
    "drn": write_drn,
    "umb": write_umb,
}
DATA: dict[str, Callable[[Solution, Path], None]] = {
    "parquet": write_parquet,
    "json": write_json,
    "npz": write_npz,
}
PROGRAM_FILES = ("lp", "mps")


def export(
    solution: Solution,
    path: str | Path,
    form: str,
    against: AnyPolicy | None = None,
    program: str = PROGRAMS[0],
) -> list[str]:
    """Write a solved game of any number of players to a file, all at once or not at all.

    Parameters
    ----------
    form : {"prism", "drn", "umb", "parquet", "json", "npz", "lp", "mps"}
        Models hold the rules; data hold the rules and the answer; lp and mps hold a program with
        the answer as its solution; three or more players need `against`.
    against : str, callable or Policy, optional
        The policy of all players but the first, as in `rollwise.evaluate`. A model or a program
        then has one chooser (an MDP).
    program : {"linear-programming", "mixed-integer"}
        The program of lp and mps. With two players the first one may miss the values.

    Returns
    -------
    list of str
        How values of the file differ from those of the answer: of models with raised payoffs, or
        with endless play.

    Raises
    ------
    UsageError
        It isn't a solution; or the format can't hold this game, and the message names alternatives.
    PolicyError
        There is no such policy.
    OutputError
        The file can't be written.
    """
    if not isinstance(solution, Solution):
        raise another_kind("a solution is wanted, such as rollwise.solve(game)", solution)
    policies = Policies.of(solution, any_players=True)
    check_players(form, solution.title, solution.graph.players, against)
    plain = throws_as_fields(solution.graph)

    def written(write: Callable[[Any, Path], None], content: object) -> None:
        write_atomically(path_of(path), lambda place: write(content, place))

    plan = None if against is None else policies.find(against)
    if form in MODELS:
        model = one_chooser(plain, plan)
        written(MODELS[form], model)
        return differences(model, form)
    if form not in (*DATA, *PROGRAM_FILES):
        formats = [*MODELS, *DATA, *PROGRAM_FILES]
        raise UsageError(no_such("format", form, formats))
    if form in PROGRAM_FILES:
        graph, note = plain, ""
        if plan is not None:
            several = plain.players > 2
            graph = two_sides(plain, None, plan).graph if several else one_chooser(plain, plan)
            note = f"All players but the first (seat 0) play {plan.name}"
            if several:  # x is a chance to win, or from -1 to 1
                low, span = Stakes.of(plain)
                a, b = (span / 2, low + span / 2) if graph.is_score else (span, low)
                scale = "x" if (a, b) == (1, 0) else f"{a:g} x + {b:g}"
                note += f"; where it moves, its result is {scale}"
        written(lambda graph, place: write_program(graph, place, form, program, note), graph)
        return []
    if against is not None:
        raise UsageError(
            "a policy to play against is for models and programs "
            f"({', '.join([*MODELS, *PROGRAM_FILES])})"
        )
    written(DATA[form], solution if plain is solution.graph else replace(solution, space=plain))
    return []


def check_players(form: str, title: str, players: int, against: object) -> None:
    """Refuse a program of three or more players without a policy of all but the first.

    Raises
    ------
    UsageError
    """
    if players > 2 and form in PROGRAM_FILES and against is None:
        raise UsageError(
            f"{title} is a game for {players}, and {form} holds a program for one player or two: "
            f"with --against POLICY (in Python against=) all but the first play a policy; the "
            f"formats {', '.join([*MODELS, *DATA])} take more"
        )


__all__ = [
    "check_players",
    "export",
    "one_chooser",
    "write_drn",
    "write_json",
    "write_npz",
    "write_parquet",
    "write_prism",
    "write_program",
    "write_umb",
]
