"""``rollwise length``: the fewest and the most moves of a game, and chances within some turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import policies_of, read_game, refuse, tell_of_cycles
from rollwise.cli.options import GameArgument, ParametersArgument
from rollwise.cli.printing import end_if, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.played import length_document, within_document
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.analysis.length_range import LengthRange
    from rollwise.game import Game


@app.command("length")
def length(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: str = "optimal",
    within: Annotated[int | None, typer.Option(min=1)] = None,
    best: bool = False,
    by_layer: bool = False,
    time_limit: float | None = None,
) -> None:
    """Compute fewest and most expected moves, or chances by turn.

    Moves are counted from the start. A throw before a choice is no move.

    --policy P            Policy of all players; with --within also one for each, P,Q. {POLICIES}
    --within K            The chances that the game is over, and won by each player, within 1 to K
                          turns of all players (moves of one).
    --best                With --within: also the first player's best chance.
    --by-layer            One layer at a time, where the rules have a progress(s): how short and how
                          long the game can be, if all want the same.
    --time-limit SECONDS  With --by-layer: seconds of search; open positions then keep their proved
                          bounds.
    """
    from rollwise.analysis.length_range import length_range_by_layer
    from rollwise.answer.references import names_in

    chosen = read_game(game, parameters)
    tell_of_cycles(chosen)
    if within is not None:
        refuse("doesn't go with --within", by_layer=by_layer, time_limit=time_limit)
        _print_within(chosen, policy, within, best)
        return
    refuse("goes with --within K", best=best)
    if len(names_in(policy)) > 1:
        raise UsageError("--policy P,Q, one for each player, goes with --within K")
    if by_layer and policy != "optimal":
        raise UsageError("--policy goes without --by-layer, which follows no policy")
    if time_limit is not None and not by_layer:
        raise UsageError("--time-limit goes with --by-layer")
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"--time-limit is {time_limit:g}; it must be more than 0")
    with Progress() as progress:
        if by_layer:
            lengths = length_range_by_layer(
                chosen,
                max_states=ASKED.max_states,
                time_limit=time_limit,
                progress=progress,
            )
        else:
            lengths = _found(chosen, policy, progress)
    render(length_document(chosen, lengths))
    unsettled = " and ".join(
        lengths.words(one) for one in lengths.lengths if one.unsettled is not None
    )
    why = "stopped: " if lengths.stopped else "time ended the search: " if lengths.timed_out else ""
    reason = f"{why}the moves haven't settled where {unsettled}; the bounds are proved"
    end_if(unsettled, reason, 130 if lengths.stopped else 1)


def _print_within(game: Game, policy: str, turns: int, best: bool) -> None:
    """Print the chances within each number of turns."""
    from rollwise.analysis.lengths import within
    from rollwise.answer.references import names_in
    from rollwise.graph.policies import ties_in_play

    with Progress() as progress:
        policies = policies_of(game, any_players=True)
        graph, plans = policies.graph, [policies.find(name) for name in names_in(policy)]
        curve = within(graph, plans, turns, best=best, progress=progress)
    ties = ties_in_play(graph, *plans) if graph.players < 3 else None
    render(within_document(graph, plans, curve, ties))


def _found(game: Game, policy: str, progress: Progress) -> LengthRange:
    """The range of the number of moves, by layers where the game is too large for one graph."""
    from rollwise.analysis.length_range import length_range, length_range_by_layer
    from rollwise.answer import kept
    from rollwise.answer.solve import goes_by_layers

    in_layers = policy == "optimal" and goes_by_layers(game, ASKED.max_states)
    policies = kept.policies_in_one_graph(
        game, other_way=in_layers, any_players=True, max_states=ASKED.max_states, progress=progress
    )
    if policies is None:
        return length_range_by_layer(game, progress=progress)
    return length_range(policies, policy, progress=progress)
