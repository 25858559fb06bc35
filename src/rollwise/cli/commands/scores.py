"""Scores and contests: ``rollwise scores``, ``bet``, ``judge`` and ``many-dice``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import policies_of, read_game, read_state, refuse, split_words
from rollwise.cli.options import GameArgument, ParametersArgument
from rollwise.cli.printing import check_file, form_of, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.derive.forms import split_form
from rollwise.documents.contests import bet_document
from rollwise.documents.scores import judged_document, many_dice_document, tested_scores_document
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.machine.atomic_files import write_text
from rollwise.parameters import read_values


@app.command("scores")
def scores(
    game: GameArgument,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="One score a line, or games saved by `play`.")
    ],
    parameters: ParametersArgument = None,
    policy: str = "optimal",
    out: Path | None = None,
) -> None:
    """Test made scores against the exact distribution.

    --policy POLICY  {POLICIES}
    --out FILE       Draw them over the exact distribution: a .html, .png or .svg file.
    """
    from rollwise.analysis.distributions import distribution
    from rollwise.analysis.observed_scores import best_fit, goodness_of_fit
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.coach.game_files import made_scores
    from rollwise.graph.policies import ties_in_play
    from rollwise.plot import plot as draw
    from rollwise.plot import require_plotly
    from rollwise.plot.pages import check_target, write_figure

    asked = split_words(game, file, *(parameters or ()), files=1)
    chosen = asked.make_game()
    if out is not None:
        require_plotly()
        check_target(out)
    policies = policies_of(chosen)
    made = made_scores(asked.files[0], policies)
    graph = policies.graph
    plan = policies.find(policy)
    expected = distribution(graph, plan)
    ties = ties_in_play(graph, plan)
    tested = goodness_of_fit(made, expected)
    # the scores are tested against the optimal policy with the best fit
    best = None
    if policy == "optimal" and ties is not None:
        best = best_fit(made, OptimalSet.of(policies.solution), expected)
    if out is not None:
        drawn = draw(policies.solution, "scores", policy=policy, made=tuple(made.tolist()))
        write_figure(drawn, out, f"{graph.title}: scores")
    document = tested_scores_document(graph, policy, tested, expected, ties, best)
    render(document, *([] if out is None else [f"wrote {out}"]))


@app.command("bet")
def bet(
    game: GameArgument,
    parameters: ParametersArgument = None,
    scores: str | None = None,
    state: str | None = None,
    pot: Annotated[float, typer.Option(min=0)] = 1.0,
) -> None:
    """Compute fair odds and stakes during a contest.

    The contest has the parameters players and ties: `bet threes players=3 ties=first`.

    --scores S,S,...  Final scores of the players before you.
    --state STATE     Where the next player's turn stands, his score so far included:
                      to_roll=2,...,score=3.
    --pot X           The sum of the fair stakes.
    """
    from rollwise.analysis.contest import Contest, solve_contest

    refuse("doesn't go with contests", max_states=ASKED.max_states)
    inner, own = _contest(find(game), read_values(parameters or ()))
    contest = Contest(create(find(game), inner), **own)
    finished = _read_scores(scores)
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solution = solve_contest(contest)
    graph = solution.scored.graph
    place = None
    if state is not None:
        fields = read_state(state, contest.game)
        unknown = [name for name in fields if name not in graph.field_names]
        if unknown:
            raise UsageError(f"a state here has the fields {', '.join(graph.field_names)}")
        place = tuple(fields.get(name, 0) for name in graph.field_names)
    render(bet_document(solution, finished, place, pot))


def _contest(kind: type[Game], values: Mapping[str, str]) -> tuple[dict[str, str], dict[str, Any]]:
    """The parameters of a game and of its contest."""
    form = values.get("as", "contest")
    if form != "contest":
        raise UsageError(f"{kind.name}: this is for contests; leave out as={form}")
    return split_form(kind, {"as": "contest", **values})


def _read_scores(text: str | None) -> tuple[int, ...]:
    """Scores as typed: ``7,5``."""
    if text is None or not text.strip():
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{text!r} isn't a list of scores such as 7,5") from None


@app.command("judge")
def judge(
    game: GameArgument,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A CSV file, a row a choice: player, and the fields of the state and action "
            "(for Threes also rolled and taken).",
        ),
    ],
    parameters: ParametersArgument = None,
) -> None:
    """List the moves of a play that lost points or win probability.

    The contest of several players has the parameter ties: `judge threes FILE ties=first`.
    """
    from rollwise.analysis.judge import judge as judge_plays
    from rollwise.analysis.judge import read_plays
    from rollwise.answer.kept import solve
    from rollwise.graph.policies import ties_in_play

    asked = split_words(game, file, *(parameters or ()), files=1)
    if asked.kind is None:
        raise UsageError("which game? `rollwise games` lists them")
    inner, own = _contest(asked.kind, asked.values)
    chosen, ties = create(asked.kind, inner), own.get("ties", "shared")
    solution = solve(chosen, max_states=ASKED.max_states)
    plays = read_plays(chosen, solution.graph, asked.files[0])
    rows = judge_plays(solution, plays, ties)
    ties_here = ties_in_play(solution.graph, solution.policy)
    render(judged_document(solution.graph, ties, plays, rows, ties_here))


@app.command("many-dice")
def many_dice(
    game: GameArgument,
    parameters: ParametersArgument = None,
    most: int = 5000,
    csv: bool = False,
    out: Path | None = None,
) -> None:
    """Compute the expected score for each number of dice.

    --most N    Up to so many dice.
    --csv       Print comma-separated values.
    --out FILE  Write the table to a .csv file.
    """
    from rollwise.analysis.many_dice import many_dice as solve_many

    form_of(None, csv=csv)
    check_file("--out", out, ".csv")
    chosen = read_game(game, parameters)
    scores = solve_many(chosen, most)
    rows = scores.table()
    if out is not None:
        write_text(out, rows.write_csv())
    if csv:
        streams.write(rows.write_csv())
    else:
        render(many_dice_document(chosen, scores))
