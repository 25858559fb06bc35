"""``rollwise scores``: a person's scores, tested against a policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    POLICIES,
    GameArgument,
    JsonOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    split_words,
    tell_ties,
)
from rollwise.documents.parts import ties_document
from rollwise.documents.scores import tested_scores_document
from rollwise.numbers.printed import certified, estimated

if TYPE_CHECKING:
    from rollwise.analysis.distributions import Distribution
    from rollwise.analysis.observed_scores import BestFit, GoodnessOfFit


@app.command("scores")
def scores(
    game: GameArgument,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="One score a line, or games that `play` kept."),
    ],
    parameters: ParametersArgument = None,
    policy: Annotated[str, typer.Option(metavar="POLICY", help=POLICIES)] = "optimal",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw them over the exact distribution: a .html, .png or .svg file.",
        ),
    ] = None,
    json: JsonOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Test scores that were really made against the exact distribution of a policy."""
    from rollwise.analysis.distributions import distribution
    from rollwise.analysis.observed_scores import best_fit, goodness_of_fit
    from rollwise.answer import kept
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.coach.made_scores import made_scores
    from rollwise.graph.policies import ties_in_play
    from rollwise.plot import plot as draw
    from rollwise.plot import require_plotly
    from rollwise.plot.pages import check_target, write_figure

    asked = split_words(game, file, *(parameters or ()), files=1)
    chosen = asked.make_game()
    if out is not None:
        require_plotly()
        check_target(out)
    policies = kept.policies(chosen)
    made = made_scores(asked.files[0], policies)
    graph = policies.graph
    plan = policies.find(policy)
    expected = distribution(graph, plan)
    ties = ties_in_play(graph, plan)
    tested = goodness_of_fit(made, expected)
    # of several optimal policies the one that fits best is the one to test against
    best = None
    if policy == "optimal" and ties is not None:
        best = best_fit(made, OptimalSet.of(policies.solution), expected)
    if out is not None:
        drawn = draw(policies.solution, "scores", policy=policy, made=tuple(made.tolist()))
        write_figure(drawn, out, f"{graph.title}: scores")
    if json:
        print_json(tested_scores_document(graph, policy, tested, ties, best))
        return
    _print(policy, tested, expected)
    tell_ties(ties_document(ties))
    _tell_verdict(tested, best)
    if out is not None:
        typer.echo(f"wrote {out}")


def _print(policy: str, tested: GoodnessOfFit, expected: Distribution) -> None:
    mean = estimated(tested.mean, tested.standard_error)
    typer.echo(
        f"{tested.games:,} scores: mean {mean} (standard error), standard deviation "
        f"{tested.sd:.4f} (estimated)"
    )
    typer.echo(
        f"{policy}: mean {certified(expected.mean, expected.mean_bound)}, standard deviation "
        f"{certified(expected.sd, expected.sd_bound)} (certified)"
    )


def _tell_verdict(tested: GoodnessOfFit, best: BestFit | None) -> None:
    typer.echo(
        f"mean: {tested.z:+.2f} standard errors off; so far or farther by chance in "
        f"{tested.p_mean:.1%} of cases"
    )
    if tested.cells > 1:
        typer.echo(
            f"shape: chi-square {tested.chi_square:.2f} over {tested.cells} cells; so much or more "
            f"by chance in {tested.p_shape:.1%} of cases"
        )
    p_shape, whom = tested.p_shape, "this policy"
    if best is not None:
        p_shape, whom = best.p_shape, "optimal play"
        typer.echo(
            f"  of all optimal policies the best fit has {best.chi_square:.2f}; none is below "
            f"{best.least:.2f}, and so much or more comes by chance in {p_shape:.1%} of cases"
        )
    differs = tested.p_mean < 0.05 or p_shape < 0.05
    typer.echo(
        f"The scores {'differ from' if differs else 'are what one expects of'} {whom}"
        f"{'' if differs else ', as far as so many games can tell'} (5% level)."
    )
