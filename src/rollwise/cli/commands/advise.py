"""``rollwise advise``: what to do in one position."""

from __future__ import annotations

from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    ParametersArgument,
    number_or_none,
    print_json,
    print_table,
    read_game,
    read_state,
    solve_or_load,
)
from rollwise.cli.score_options import ChaseOption, ChaseTiesOption, as_chase
from rollwise.errors import UsageError


@app.command("advise")
def advise(
    game: GameArgument,
    parameters: ParametersArgument = None,
    state: Annotated[
        str,
        typer.Option(metavar="FIELD=N,...", help="The position, as in banked=50,rival=50,turn=20."),
    ] = ...,  # type: ignore[assignment]
    chase: ChaseOption = False,
    ties: ChaseTiesOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
) -> None:
    """Say what each action is worth in a position, and what a wrong one costs."""
    chosen = read_game(game, parameters)
    if ties is not None and not chase:
        raise UsageError("--ties goes with --chase")
    if chase:
        chosen = as_chase(chosen, None, ties, need_target=False)
    position = read_state(state)
    solution = solve_or_load(chosen, load, max_states)
    advice = solution.advise(position)
    is_score = solution.is_score
    if json:
        actions = []
        for row in advice.actions:
            entry = {
                "action": row.action,
                "value": row.value,
                "win_probability": row.win_probability,
                "cost": row.regret,
                "win_probability_cost": None if is_score else row.regret / 2,
                "best": row.best,
            }
            actions.append(entry)
        print_json(
            {
                "game": solution.graph.game,
                "parameters": dict(solution.graph.parameters),
                "state": advice.state,
                "value": advice.value,
                "win_probability": advice.win_probability,
                "error_bound": number_or_none(advice.error_bound),
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
    for row in advice.actions:
        worth = f"{row.value:.10g}" if is_score else f"{row.win_probability:.10f}"
        cost = row.regret if is_score else row.regret / 2
        shown.add_row("→" if row.best else "", row.action, worth, "" if row.best else f"{cost:.6f}")
    print_table(shown)
    bound = advice.error_bound if is_score else advice.error_bound / 2
    typer.echo(f"certified ± {bound:.1e}; the cost is against the best action, marked →")
