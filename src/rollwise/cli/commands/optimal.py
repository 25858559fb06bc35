"""Figures under optimal policies: ``rollwise optimal``, ``distribution`` and ``frontier``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.answer import kept
from rollwise.answer.solve import goes_by_layers
from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import (
    policies_of,
    read_game,
    read_state,
    refuse,
    refuse_with_seats,
    tell_of_cycles,
)
from rollwise.cli.options import GameArgument, ParametersArgument
from rollwise.cli.printing import check_file, end_if, form_of, render, write_rows
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.optimal import frontier_document, optimal_document
from rollwise.documents.scores import (
    Distributions,
    distribution_document,
    distributions_document,
    reached_document,
)
from rollwise.errors import UsageError
from rollwise.game import Game, has_many
from rollwise.graph.naming import title_of
from rollwise.methods import DEFAULT

if TYPE_CHECKING:
    from rollwise.analysis.distributions import Distribution
    from rollwise.analysis.reaching import Reach
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy


@app.command("optimal")
def optimal(
    game: GameArgument,
    parameters: ParametersArgument = None,
    then: list[str] | None = None,
    range_of: Annotated[list[str] | None, typer.Option("--range")] = None,
    against: str | None = None,
    exact: bool = False,
    save: Path | None = None,
) -> None:
    """Show where optimal policies differ: ranges and second aims.

    --then AIM        A second aim among optimal policies: {AIMS} least:AIM asks for the least; give
                      it again for a third aim.
    --range QUANTITY  The least and the most of this under optimal policies: {AIMS}
    --against POLICY  The range of optimal policies' values against this opponent.
    --exact           Decide ties between actions in fractions.
    --save FILE       Write the policy chosen by --then to a .csv or .parquet file, for use as a
                      policy. A policy that depends on the points made so far is for the game with
                      as=score.
    """
    from rollwise.analysis.second_aims import ranges_in, second_aims
    from rollwise.answer.optimal_set import OptimalSet, ranges_against
    from rollwise.answer.references import Policies

    if save is not None:
        if not then:
            raise UsageError("--save goes with --then, which picks a policy")
        check_file("--save", save, ".csv", ".parquet")
    chosen = read_game(game, parameters)
    if has_many(chosen):
        proved = "ties are those within the proved bounds, since its values are no fractions"
        refuse_with_seats(chosen, proved, exact=exact)
        refuse_with_seats(chosen, "evaluate --policy P,Q,Q has such results", against=against)
    tell_of_cycles(chosen)
    with Progress() as progress:
        solution = kept.solve(
            chosen,
            method="exact" if exact else DEFAULT,
            any_players=True,
            max_states=ASKED.max_states,
            progress=progress.listener,
        )
        progress("the optimal policies", 0, None)
        every = OptimalSet.of(solution)
        aims = second_aims(solution, then or ())
        left = aims.policies if then else every
        found = ranges_in(left, solution, range_of or ())
        worth = None
        if against is not None:
            worth = ranges_against(solution, Policies.of(solution).find(against))
    if save is not None:
        write_rows(aims.table(solution), save.suffix.lstrip("."), save)
    versus = None if against is None or worth is None else (against, worth)
    document = optimal_document(solution, every, aims, found, versus)
    needs = " (a policy with as=score)" if aims.policies.scores is not None else ""
    said = [] if save is None else [f"Saved to {save}{needs}."]
    render(document, *said)
    end_if(not document.is_proved, "not certified: not every bound was proved")


@app.command("distribution")
def distribution(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: list[str] | None = None,
    count: str | None = None,
    state: str | None = None,
    then: list[str] | None = None,
    range_of_all: Annotated[bool, typer.Option("--range")] = False,
    simulate: Annotated[int, typer.Option(min=0, max=10**9)] = 0,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    given: str | None = None,
    reach: str | None = None,
    exact: bool = False,
    csv: bool = False,
) -> None:
    """Compute the distribution of the final score.

    --policy POLICY    A policy of all players, one for each, P,Q, or chase-7 for the best chance of
                       7; optimal unless given; give it again for several side by side.
    --count ACTION     Count this action instead of the score.
    --state STATE      Only the points made after this state.
    --then AIM         A second aim among optimal policies: {AIMS} least:AIM asks for the least;
                       give it again for a third aim.
    --range            Print the least and the most of all optimal policies.
    --simulate GAMES   Games to simulate beside it.
    --seed N           Seed of the simulation; 1 unless given.
    --given CONDITION  Only among plays with such a number, "score>=5", or with such a position at
                       some time: "turn >= 20".
    --reach N,N,...    Print the best chance of at least each score instead, also of a game
                       too large for one graph: 250,300 or 100..400..50.
    --exact            Print exact fractions.
    --csv              Print comma-separated values.
    """
    from rollwise.analysis.contest import distribution_of_chase
    from rollwise.analysis.distributions import exact_distribution
    from rollwise.analysis.observed_scores import simulated_scores
    from rollwise.analysis.second_aims import score_ranges, second_aims
    from rollwise.answer.evaluation import one_each
    from rollwise.answer.references import names_in
    from rollwise.derive.by_score import require_final_score
    from rollwise.graph.policies import ties_in_play

    form_of(None, csv=csv)
    if not simulate:
        refuse("goes with --simulate GAMES", seed=seed)
    seed = 1 if seed is None else seed
    chosen = read_game(game, parameters)
    if count is None:
        require_final_score(chosen)
    tell_of_cycles(chosen)
    if chosen.players > 1:
        title = title_of(chosen.name, chosen.parameters)
        why = f"is for one player, and {title} has {chosen.players}"
        refuse(why, count=count, state=state, then=then, range=range_of_all, exact=exact)
        refuse(why, simulate=simulate or None, reach=reach)
    if reach is not None:
        why = "doesn't go with --reach"
        refuse(why, policy=policy, count=count, state=state, then=then, range=range_of_all)
        refuse(why, simulate=simulate or None, exact=exact, csv=csv, given=given)
        _print_reach(chosen, reach)
        return
    policies = policies_of(chosen)
    graph = policies.graph
    place = 0 if state is None else graph.find(read_state(state, chosen))
    entries = []
    others = {"count": count, "state": state, "simulate": simulate or None, "exact": exact}
    if given is not None:
        refuse("doesn't go with --given", simulate=simulate or None, exact=exact)
        others["given"] = given
    if then:
        save = "`rollwise optimal --then AIM --save FILE` keeps its policy, for --policy FILE"
        refuse(f"doesn't go with --then; {save}", **others)
    if range_of_all:
        refuse("doesn't go with --range", csv=csv, **others)
    references = policy or ["optimal"]
    for reference in references:
        chase = re.fullmatch(r"chase-(\d+)", reference)
        if chase is not None:
            refuse(f"doesn't go with --policy {reference}", **others)
            chased, ties = distribution_of_chase(graph, int(chase[1]))
            entries.append(distribution_document(reference, chased, ties))
            continue
        with Progress() as progress:
            progress(f"the distribution under {reference}", 0, None)
            names = names_in(reference)
            plans = one_each(graph, [policies.find(name) for name in names])
            results = _results(chosen, graph, plans, given, place, count)
        # a game of two that is won or lost has one chance to win; draws and payoffs, and the wins
        # of further seats, may come more often
        plan, alike = plans[0], len(set(plans)) == 1
        fixed = graph.players == 2 and given is None and alike
        fixed &= not (graph.has_draws or graph.is_score or plan.mixes)
        resting = None if fixed else ties_in_play(graph, *plans, start=place)
        fractions = exact_distribution(graph, plan, count=count, state=place) if exact else None
        for seat, (found, share) in enumerate(results, 1):
            played = None
            if simulate:
                played = simulated_scores(
                    graph, plan, found, count=count, games=simulate, seed=seed, state=place
                )
            # each seat of a list has its own policy
            own = names[seat - 1] if len(names) == len(results) else reference
            others_too = own != reference and len(references) > 1
            entries.append(
                distribution_document(
                    f"{own} of {reference}" if others_too else own,
                    found,
                    resting,
                    seat=seat if len(results) > 1 else None,
                    fractions=fractions,
                    simulated=played,
                    given=share,
                )
            )
    if then:
        best = second_aims(policies, then)
        entries.append(distribution_document(best.name, best.distribution(), None))
    ranges = score_ranges(policies) if range_of_all else None
    document = distributions_document(graph, place, count, entries, ranges, given)
    if csv:
        _write_csv(document)
    else:
        render(document)


def _results(
    game: Game,
    graph: StateGraph,
    plans: Sequence[Policy],
    given: str | None,
    state: int,
    count: str | None,
) -> list[tuple[Distribution, float | None]]:
    """The distribution of the result of each seat, and the probability of the condition."""
    from rollwise.analysis.chain import distribution_given, followed, seats_with_results
    from rollwise.analysis.second_aims import condition_of, is_of_score
    from rollwise.answer.filters import numbered
    from rollwise.graph.layout import members_of

    results: list[tuple[Distribution, float | None]] = []
    for seat in seats_with_results(graph):
        on_the_way = given is not None and not is_of_score(given)
        play = followed(graph, plans, seat, settles=not on_the_way)
        if given is not None and on_the_way:
            event = numbered(given, members_of(game))
            results.append(distribution_given(play, event, state=state, count=count))
            continue
        found = play.distribution(state=state, count=count)
        results.append((found, None) if given is None else found.given(condition_of(given)))
    return results


def _print_reach(game: Game, text: str) -> None:
    """Print the best chance of each score or better."""
    from rollwise.analysis.tuning import values_of

    try:
        scores = [int(score) for score in values_of(f"reach={text}")[1]]
    except ValueError:
        raise UsageError(f"--reach {text}: write whole numbers, 250,300 or 100..400..50") from None
    with Progress() as progress:
        chances = _reached(game, scores, progress)
    render(reached_document(game, scores, chances))


def _reached(game: Game, scores: list[int], progress: Progress) -> Reach:
    """The best chances of scores, by layers where one graph may be too large."""
    from rollwise.analysis.reaching import best_chances
    from rollwise.builders.rules import Rules

    in_layers = game.players == 1 and goes_by_layers(game, ASKED.max_states)
    if in_layers and Rules(game).pool is None:
        in_layers = kept.policies_in_one_graph(game, other_way=True, progress=progress) is None
    return best_chances(
        game, scores, in_layers=in_layers, max_states=ASKED.max_states, progress=progress
    )


def _write_csv(document: Distributions) -> None:
    import csv

    values, columns = document.columns()
    rows = zip(values, *(one.cells for one in columns), strict=True)
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["value", *(one.head for one in columns)])
    lines.writerows(rows)
    streams.write(text.getvalue())


@app.command("frontier")
def frontier(
    game: GameArgument,
    parameters: ParametersArgument = None,
    aim: str = "",
) -> None:
    """Find the best second aim for each value of the first.

    --aim AIM  The second aim: win (a contest with an opponent who plays next and knows the score;
               win:first, win:win-or-tie), score<=N, least:moves, most:rolls, draw or an action.
               Unless given win, or least:moves of a game that is won or lost.
    """
    from rollwise.analysis.frontier import frontier as find_frontier
    from rollwise.builders.contract import require_one_for

    chosen = read_game(game, parameters)
    require_one_for("frontier", chosen)
    tell_of_cycles(chosen)
    with Progress() as progress:
        solution = policies_of(chosen).solution
        progress("the frontier", 0, None)
        corners = find_frontier(solution, aim)
    render(frontier_document(corners))
