"""Recorded games and scores: ``rollwise review``, ``drill``, ``exploit``, ``scores``, ``judge``.

``bet`` is for a moment of a contest, and ``many-dice`` has the scores of very many dice.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import (
    lay_table,
    policies_of,
    read_game,
    read_state,
    refuse,
    split_words,
)
from rollwise.cli.options import GameArgument, LoadOption, OptionalGameArgument, ParametersArgument
from rollwise.cli.printing import check_file, form_of, place_line, print_json, render, write_policy
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.derive.forms import split_form
from rollwise.documents.contests import bet_document
from rollwise.documents.scores import judged_document, many_dice_document, tested_scores_document
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.machine.atomic_files import write_text
from rollwise.numbers.printed import how_many
from rollwise.parameters import read_values

if TYPE_CHECKING:
    from rollwise.coach.game_record import Record
    from rollwise.coach.review import Drill
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.game import Game


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
    """Test recorded scores against the exact distribution.

    --policy POLICY  {POLICIES}
    --out FILE       Draw the scores over the exact ones: a .html, .png or .svg file.
    """
    from rollwise.analysis.distributions import distribution
    from rollwise.analysis.observed_scores import best_fit, goodness_of_fit
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.builders.contract import require_one_for
    from rollwise.coach.json_lines import made_scores
    from rollwise.graph.policies import ties_in_play
    from rollwise.plot import plot as draw
    from rollwise.plot import require_plotly
    from rollwise.plot.pages import check_target, write_figure

    asked = split_words(game, file, *(parameters or ()), files=1)
    chosen = asked.make_game()
    require_one_for("scores", chosen)
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
        # missing fields are 0, and those of a throw none
        others = (name for name in graph.field_names if name not in graph.throw_names)
        place = dict.fromkeys(others, 0) | read_state(state, contest.game)
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
            help="A CSV file, a row a choice: player, the fields of the state and its throw, and "
            "action (for Threes also rolled and taken).",
        ),
    ],
    parameters: ParametersArgument = None,
) -> None:
    """List the moves of a play that lost points or win probability.

    The contest of several players has the parameter ties: `judge threes FILE ties=first`.
    """
    from rollwise.analysis.observed_scores import judge as judge_plays
    from rollwise.analysis.observed_scores import read_plays
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

    --most N    Largest number of dice.
    --csv       Print comma-separated values.
    --out FILE  Write the table to a .csv file.
    """
    from rollwise.analysis.many_dice import many_dice as solve_many

    form_of(None, csv=csv)
    check_file("--out", out, ".csv")
    for word in parameters or ():
        name, _, value = word.partition("=")
        if name == "dice":
            raise UsageError(
                f"many-dice has a row for each number of dice: write --most {value} in the place "
                f"of {word}"
            )
    chosen = read_game(game, parameters)
    scores = solve_many(chosen, most)
    rows = scores.table()
    if out is not None:
        write_text(out, rows.write_csv())
    if csv:
        streams.write(rows.write_csv())
    else:
        render(many_dice_document(scores))


FileArgument = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="Games; docs/records.md says how they are written."),
]


class _Games(NamedTuple):
    """Recorded games with common rules."""

    path: Path
    records: list[Record]
    played: Game

    def lay(self, load: str | None) -> tuple[Table, list[Session]]:
        """The table, with the game solved, and the games played again on it."""
        from rollwise.coach.game_record import replay

        table = lay_table(self.played, load)
        return table, [replay(record, table) for record in self.records]


def _read_games(
    command: str, game: str | None, file: str | None, parameters: list[str] | None
) -> _Games:
    from rollwise.coach.game_record import agreed_game
    from rollwise.coach.json_lines import records_of

    asked = split_words(game, file, *(parameters or ()), files=1)
    records = records_of(asked.files[0], asked.kind, asked.values)
    typed = f"{command} {{game}} {{file}}"
    return _Games(asked.files[0], records, agreed_game(records, asked.kind, asked.values, typed))


@app.command("review")
def review(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    load: LoadOption = None,
) -> None:
    """Review played games: luck, skill and costly mistakes."""
    from rollwise.coach.review import review as review_games
    from rollwise.documents.played import review_document

    games = _read_games("review", game, file, parameters)
    table, sessions = games.lay(load)
    render(review_document(table, sessions, review_games(sessions)))


@app.command("drill")
def drill(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    player: str | None = None,
    limit: Annotated[int, typer.Option(min=1)] = 20,
    load: LoadOption = None,
) -> None:
    """Practise the positions misplayed in recorded games.

    --player NAME  The player whose mistakes count; else all people.
    --limit N      Largest number of positions, the worst first.
    """
    from rollwise.coach.review import Drill, questions
    from rollwise.documents.played import drill_document

    games = _read_games("drill", game, file, parameters)
    table, sessions = games.lay(load)
    seats = [seat for record in games.records for seat in record.seats]
    people = [name for name, policy in seats if policy in ("", "human")]
    players = people if player is None else [player]
    if player is not None and not any(player in session.names for session in sessions):
        raise UsageError(f"no player is called {player!r} in {games.path}")
    asked_positions = questions(sessions, players)[:limit]
    if ASKED.json:
        print_json(drill_document(table, asked_positions))
    else:
        _ask(Drill(table, asked_positions))


def _ask(drill: Drill) -> None:
    """Ask, and tell the tally at the end."""
    if drill.is_over:
        return typer.echo("no mistakes, and so no positions to drill")
    positions = how_many(len(drill.waiting), "position")
    typer.echo(f"{drill.table.graph.title}: {positions}; quit ends it")
    try:
        _ask_until_over(drill)
    finally:  # also after Ctrl-C
        typer.echo(f"{drill.right} right, {drill.wrong} wrong, {len(drill.waiting)} left")


def _ask_until_over(drill: Drill) -> None:
    """Ask until all is right, or the player quits."""
    from rollwise.documents.played import Figures

    table = drill.table
    figures = Figures.of(table.solution)
    while not drill.is_over:
        state = drill.waiting[0].state
        board = table.narrator.board(state)
        typer.echo(f"\n{board}\n" if board else "")
        typer.echo(table.narrator.position(state))
        numbered = table.graph.vocabulary.menus_are_numbered
        for number, action in enumerate(table.actions(state), start=1):
            name = table.graph.view.action(action).distinct_name
            typer.echo(f"  {number:>2}  {name}" if numbered else f"  {name}")
        try:
            text = input("> ").strip()
        except (EOFError, KeyboardInterrupt) as ending:
            typer.echo()  # after the prompt
            if isinstance(ending, KeyboardInterrupt):
                raise
            return
        if text in ("quit", "q"):
            return
        try:
            cost = drill.answer(table.action_at(state, text, in_menu=True))
        except UsageError as error:
            typer.echo(f"{error}, or quit")
            continue
        if cost:
            typer.echo(f"It costs {figures.cost_text(cost)}; better: {drill.best(state)}")
        else:
            typer.echo("Right.")


RISK, LIMIT, SEED = 0.01, 10, 1


@app.command("exploit")
def exploit(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    player: str | None = None,
    risk: Annotated[float, typer.Option(min=0)] = RISK,
    limit: Annotated[int, typer.Option(min=0)] = LIMIT,
    save: Path | None = None,
    load: LoadOption = None,
) -> None:
    """Learn the habits of an opponent, and how to beat them.

    --player NAME  The opponent; the only person unless given.
    --risk LOSS    Acceptable loss against the worst opponent: win probability, or points.
    --limit N      How many positions are listed.
    --save FILE    Keep the policy (.csv, .parquet).
    """
    from rollwise.analysis.exploit import exploit as find_response
    from rollwise.analysis.exploit import learn_friend
    from rollwise.documents.design import exploitation_document

    check_file("--save", save, ".csv", ".parquet")
    games = _read_games("exploit", game, file, parameters)
    name = _friend(games.records, player, games.path)
    table, sessions = games.lay(load)
    graph = table.graph
    if not table.is_whole:
        raise UsageError(
            f"{graph.title} is too large for exploit, which looks at all positions at once: "
            "`rollwise review` has the cost of each move"
        )
    policies = table.policies
    taken = _choices(sessions, name)
    with Progress() as progress:
        friend = learn_friend(policies, taken, seed=SEED)
        response = find_response(policies, friend, risk, seed=SEED, progress=progress)
        n = sum(name in session.names for session in sessions)
        document = exploitation_document(policies, name, n, risk, response, limit)
    if save is not None:
        write_policy(policies.graph, response.best.policy, save)
    render(document, *place_line("Saved to", save))


def _friend(records: list[Record], player: str | None, path: Path) -> str:
    """The name of the player to beat."""
    everybody = sorted({name for record in records for name in record.players})
    if player is not None:
        if player not in everybody:
            raise UsageError(
                f"no player is called {player!r} in {path}, but {', '.join(everybody)}"
            )
        return player
    machines = {
        name for record in records for name, policy in record.seats if policy not in ("", "human")
    }
    people = [name for name in everybody if name not in machines]
    if len(people) != 1:
        among = people or everybody
        raise UsageError(f"which opponent? Give --player NAME, one of {', '.join(among)}")
    return people[0]


def _choices(sessions: list[Session], name: str) -> Any:
    """Actions of a player at states with several legal actions."""
    import numpy as np

    return np.array(
        [
            entry.action
            for session in sessions
            for entry in session.accounts
            if entry.is_choice and session.names[entry.seat] == name
        ],
        np.int64,
    )
