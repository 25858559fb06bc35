"""``rollwise advise``: what to do in one position."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    number_or_none,
    print_json,
    print_table,
    read_game,
    read_state,
    solve_or_load,
)
from rollwise.cli.methods import (
    DEFAULT,
    EpsilonOption,
    MaybeMethodOption,
    SolverOption,
    TimeLimitOption,
    method_options,
    tell_unfinished,
    unfinished,
)
from rollwise.cli.score_options import (
    ChaseOption,
    ContestOption,
    TiesOption,
    as_played,
)

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution


@app.command("advise")
def advise(
    game: GameArgument,
    parameters: ParametersArgument = None,
    state: Annotated[
        str,
        typer.Option(metavar="FIELD=N,...", help="The position, as in banked=50,rival=50,turn=20."),
    ] = ...,  # type: ignore[assignment]
    chase: ChaseOption = False,
    contest: ContestOption = False,
    ties: TiesOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    method: MaybeMethodOption = None,
    epsilon: EpsilonOption = None,
    time_limit: TimeLimitOption = None,
    solver: SolverOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Say what each action is worth in a position, and what a wrong one costs."""
    options = method_options(
        method or DEFAULT, epsilon=epsilon, time_limit=time_limit, solver=solver
    )
    chosen = as_played(read_game(game, parameters), chase=chase, contest=contest, ties=ties)
    position = read_state(state)
    solution = solve_or_load(chosen, load, max_states, method=method, options=options)
    advice = solution.advise(position)
    is_score = solution.is_score
    if unfinished(solution):
        tell_unfinished(solution, solution.find(position))
        raise typer.Exit(1)
    exact, exact_actions = _fractions(solution, solution.find(position))
    if json:
        actions = []
        for row, fractions in zip(advice.actions, exact_actions, strict=True):
            entry = {
                "action": row.action,
                "value": number_or_none(row.value),
                "win_probability": row.win_probability,
                "error_bound": number_or_none(row.error_bound),
                "cost": number_or_none(row.regret),
                "win_probability_cost": None if is_score else row.regret / 2,
                "best": row.best,
                **fractions,
            }
            actions.append(entry)
        print_json(
            {
                "game": solution.graph.game,
                "parameters": dict(solution.graph.parameters),
                "state": advice.state,
                "value": number_or_none(advice.value),
                "win_probability": advice.win_probability,
                "error_bound": number_or_none(advice.error_bound),
                **exact,
                "actions": actions,
            }
        )
        return
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column("")
    shown.add_column("action")
    shown.add_column("expected score" if is_score else "win probability", justify="right")
    shown.add_column("cost", justify="right")
    printed, sure = advice.as_printed()
    for cells in printed:
        shown.add_row(*cells)
    print_table(shown)
    for name, text in exact.items():
        typer.echo(f"{name.removesuffix('_exact').replace('_', ' ')} exactly: {text}")
    typer.echo(sure)


def _fractions(solution: Solution, state: int) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The value of a state and of its actions as text, where the method found fractions."""
    graph = solution.graph
    n_actions = int(graph.action_indptr[state + 1] - graph.action_indptr[state])
    if solution.run is None or solution.run.fractions is None:
        return {}, [{}] * n_actions
    from rollwise.methods.exact import action_fractions, fraction_text

    def both(value: Fraction) -> dict[str, str]:
        chance = {} if solution.is_score else {"win_probability_exact": (1 + value) / 2}
        return {name: fraction_text(x) for name, x in {"value_exact": value, **chance}.items()}

    fractions = solution.run.fractions
    return both(fractions[state]), [both(x) for x in action_fractions(graph, fractions, state)]
