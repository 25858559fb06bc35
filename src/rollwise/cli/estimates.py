"""What ``solve`` prints of estimated values: how well, from which draws, and the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from rollwise.cli.common import about_draws
from rollwise.numbers.printed import certified, chance, estimated

if TYPE_CHECKING:
    from rollwise.graph import StateGraph


def print_estimate(start: str, document: dict[str, Any], graph: StateGraph) -> None:
    """The value of the start, as the document of a solution has it."""
    found = document["estimate"]
    true_value, bound = found["true_value"], found["true_bound"]
    if not graph.is_score:
        what = f"the mover at the start ({start}) wins with probability"
        scale, worth, truth = 0.5, document["win_probability"], chance(true_value, bound)
    else:
        what = f"{graph.view.worth_name} from the start ({start}):"
        scale, worth, truth = 1.0, document["value"], certified(true_value, bound)
    error, off = scale * found["standard_error"], scale * found["true_error"]
    number = estimated(worth, error)
    draws = about_draws(graph.has_draws)
    typer.echo(f"  {what} {number.number} (estimated ± {number.bound}, a standard error{draws})")
    own, inherited = (
        estimated(0.0, scale * found[name]).bound for name in ("own_error", "inherited_error")
    )
    typer.echo(
        f"  {own} from its own draws and {inherited} inherited from other estimates, whose squares "
        "add up"
    )
    distance = f", {off / error:+.2f} standard errors" if error else ""
    typer.echo(
        f"  the truth is {truth.number} (certified ± {truth.bound}): off by {off:+.1e}{distance}"
    )
    typer.echo(
        f"  {found['entries']:,} entries (actions with several outcomes), each drawn "
        f"{found['samples']:,} times, seed {found['seed']}"
    )
    errors = found["in_standard_errors"]
    if errors["states"]:
        typer.echo(
            f"  true errors of {errors['states']:,} states that were drawn, in standard errors: "
            f"mean {errors['mean']:+.2f}, root mean square {errors['root_mean_square']:.2f}, "
            f"{100 * errors['within_two']:.0f} % within 2"
        )
