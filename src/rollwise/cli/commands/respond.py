"""``rollwise respond``: the best response to a policy, and its gain."""

from __future__ import annotations

from rollwise.cli.apart import answered_apart
from rollwise.cli.app import app
from rollwise.cli.common import policies_of, read_game, read_state, refuse_with_seats
from rollwise.cli.options import GameArgument, ParametersArgument, PolicyOption, PositionOption
from rollwise.cli.printing import render
from rollwise.cli.progress import Progress
from rollwise.documents.answers import response_document, seats_response_document
from rollwise.game import Game, has_many


@app.command("respond")
def respond(
    game: GameArgument,
    parameters: ParametersArgument = None,
    to: PolicyOption = ...,  # type: ignore[assignment]
    state: PositionOption = None,
) -> None:
    """Find the best response to a policy, and its gain."""
    from rollwise.answer.evaluation import best_response
    from rollwise.graph.policies import ties_in_play

    chosen = read_game(game, parameters)
    if answered_apart(chosen, "respond", to, state=state):
        return
    if has_many(chosen):
        refuse_with_seats(chosen, state=state)
        _print_seats(chosen, to)
        return
    position = None if state is None else read_state(state, chosen)
    with Progress() as progress:
        policies = policies_of(chosen, progress)
        graph = policies.graph
        s = 0 if position is None else graph.find(position)
        progress("responding", 0, None)
        opponent = policies.find(to)
        response = best_response(policies, opponent, starts=[s])
        # the response to an optimal policy has the value of the game; that to a mixture hasn't
        resting = None
        if opponent.mixes:
            resting = ties_in_play(graph, opponent, response.response, start=s)
    render(response_document(graph, response, s, resting))


def _print_seats(game: Game, to: str) -> None:
    """Print the best result of one seat against one policy of all others."""
    from rollwise.answer.evaluation import ADVERSARIES, ALLIES, respond_to, respond_to_all

    with Progress() as progress:
        policies = policies_of(game, progress, any_players=True)
        policy = None if to in (ADVERSARIES, ALLIES) else policies.find(to)
    if policy is None:
        response = respond_to_all(policies.graph, to)
    else:
        response = respond_to(policies.graph, policy)
    render(seats_response_document(policies.graph, response))
