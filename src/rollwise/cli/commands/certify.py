"""``rollwise certify``: the proved distance of given values or of a policy from the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import read_game
from rollwise.cli.options import (
    GameArgument,
    ParametersArgument,
)
from rollwise.cli.printing import end_if, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.distance import Certified
from rollwise.errors import UsageError


@app.command("certify")
def certify(
    game: GameArgument,
    parameters: ParametersArgument = None,
    values: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Values: .csv, .parquet, .json, .npy or .txt."),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="POLICY", help="A policy: a name or a file.")
    ] = None,
    claim: Annotated[
        float | None,
        typer.Option(metavar="X", help="A claimed precision; fail unless it is proved."),
    ] = None,
) -> None:
    """Measure the error of values or of a policy from elsewhere, proved."""
    from rollwise.analysis.distance import distance_of_policy, distance_of_values
    from rollwise.answer import kept

    if (values is None) == (policy is None):
        raise UsageError("give one of --values FILE and --policy POLICY")
    if claim is not None and not 0 <= claim < float("inf"):
        raise UsageError(f"--claim is {claim}; it must be a number from 0 on")
    chosen = read_game(game, parameters)
    with Progress() as progress:
        policies = kept.policies(chosen, max_states=ASKED.max_states, progress=progress)
        if values is not None:
            found = distance_of_values(policies, values)
        else:
            found = distance_of_policy(policies, policy or "")
    document = Certified.of_distance(found, "policy" if values is None else "values", claim)
    render(document)
    failed = claim is not None and document.is_met is not True
    end_if(failed, f"the claimed precision {claim} is not proved" if failed else "")
