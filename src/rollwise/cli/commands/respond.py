"""``rollwise respond``: the best response to a policy, and its gain."""

from __future__ import annotations

import typer

from rollwise.cli.app import app
from rollwise.cli.commands.evaluate import print_worth
from rollwise.cli.common import read_game, read_state
from rollwise.cli.options import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    PolicyOption,
    PositionOption,
    also_for_many,
)
from rollwise.cli.printing import print_json
from rollwise.cli.progress import Progress
from rollwise.documents.answers import response_document
from rollwise.numbers.printed import certified


@app.command("respond")
@also_for_many("to", "max_states", "json")
def respond(
    game: GameArgument,
    parameters: ParametersArgument = None,
    to: PolicyOption = ...,  # type: ignore[assignment]
    state: PositionOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Find the best response to a policy, and its gain."""
    from rollwise.answer import kept
    from rollwise.answer.evaluation import best_response

    chosen = read_game(game, parameters)
    position = None if state is None else read_state(state, chosen)
    with Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        graph = policies.graph
        s = 0 if position is None else graph.find(position)
        progress("responding", 0, None)
        found = best_response(policies, to, starts=[s])
    document = response_document(graph, found, s)
    if json:
        print_json(document)
        return
    where = ", ".join(f"{name}={value}" for name, value in document["state"].items())
    exploitability = certified(max(document["exploitability"], 0.0), found.exploitability_bound(s))
    typer.echo(f"best response to {found.against}, at {where}")
    print_worth(document, graph)
    counts = "" if graph.is_score else " (a win counts 1, a loss -1)"
    typer.echo(
        f"  exploitability {exploitability.number} (certified ± {exploitability.bound}): its "
        f"winnings a game{counts}, on average over the seats"
    )
