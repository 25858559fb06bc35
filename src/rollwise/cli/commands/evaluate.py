"""``rollwise evaluate`` and ``respond``: the value of a policy, and the best response to it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import replace

from rollwise.cli.app import app
from rollwise.cli.common import (
    policies_of,
    policy_or_only_one,
    read_game,
    read_state,
    refuse,
    refuse_with_seats,
    tell_of_cycles,
)
from rollwise.cli.options import (
    STDOUT,
    GameArgument,
    HistoryOption,
    OptionalPolicyOption,
    ParametersArgument,
    PolicyOption,
    PositionOption,
    answered_apart,
    check_history_path,
    print_sweep,
    typed_settings,
    write_history,
)
from rollwise.cli.printing import (
    SHOWN,
    CsvOption,
    OutOption,
    WhereOption,
    form_of,
    print_rows,
    render,
    tell_rows,
)
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.answers import (
    Evaluated,
    against_document,
    evaluation_document,
    response_document,
    seats_response_document,
    shares_document,
    strategy_rows,
    with_rows,
)
from rollwise.documents.model import as_number, encode
from rollwise.errors import UsageError
from rollwise.game import Game, has_many
from rollwise.methods import Setting
from rollwise.words import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from rollwise.answer.evaluation import Evaluation, Shares
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy

THETA, ORDER = 1e-10, "reversed"
IterativeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="With iterative: theta, stop when a sweep changes all win probabilities by less "
        f"({THETA:g}); order: reversed, forward, breadth-first, components or synchronous; "
        "max_sweeps; time_limit.",
    ),
]
SETTINGS = {
    name: Setting(name, kind, default, about)
    for name, kind, default, about in (
        ("theta", float, THETA, "stop when a sweep changes all win probabilities by less"),
        ("order", str, ORDER, "of a sweep"),
        ("max_sweeps", int, None, "the values after so many sweeps; with theta, give up then"),
        ("time_limit", float, None, "seconds"),
    )
}


@app.command("evaluate")
def evaluate(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: OptionalPolicyOption = None,
    against: str | None = None,
    method: str | None = None,
    settings: IterativeOption = None,
    history: HistoryOption = None,
    state: PositionOption = None,
    table: bool = False,
    where: WhereOption = None,
    out: OutOption = None,
    csv: CsvOption = False,
) -> None:
    """Compute the exact value of a policy.

    --against Q    The policy of each other player; P unless given.
    --method TEXT  exact (linear systems, certified; the default) or iterative (sweeps; the default
                   with an option of it).
    --table        The value of the policy in each position, a row each.
    """
    if table:
        refuse("is one position, and --table has all; --where picks some", state=state)
    else:
        refuse("goes with --table", where=where, out=out, csv=csv)
    form = form_of(out, csv=csv)
    from rollwise.answer.evaluation import ties_between
    from rollwise.methods.result import Status

    iterative = {"set": settings, "history": history}
    given_method = {"method": method}
    method = _method(method, **iterative)
    options = typed_settings(settings, SETTINGS, "the method iterative")
    if history == STDOUT:
        options["on_sweep"] = print_sweep
    check_history_path(history)
    chosen = read_game(game, parameters)
    policy = policy_or_only_one(chosen, policy)
    given = {"state": state, "table": table, "method": None if method == "exact" else method}
    if answered_apart(chosen, "evaluate", policy, against, **given, **iterative):
        return
    if has_many(chosen) or "," in policy:
        sweeps = "--policy P --against Q has it"
        if has_many(chosen):
            sweeps = "results are certified, and compare measures sweeps on the game of one seat"
        refuse_with_seats(chosen, sweeps, **given_method, **iterative)
    if "," in policy:
        refuse("doesn't go with a policy for each seat", against=against)
    if state is not None or table:
        tell_of_cycles(chosen)
    position = None if state is None else read_state(state, chosen)
    if has_many(chosen) or "," in policy:
        _tell_seats(chosen, (policy, against), position, where, form, out, table=table)
        return
    graph, s, mine, theirs, evaluation = _evaluated(
        chosen, (policy, against), position, all_states=table, method=method, **options
    )
    if history is not None:
        write_history(history, evaluation.history)
    finished = evaluation.status is Status.CONVERGED
    resting = None if mine is None else ties_between(graph, mine, theirs, s)
    average = evaluation.average
    if average is None and chosen.made_from.objective == "average" and finished and state is None:
        from rollwise.answer.average import average_of_policy

        assert mine is not None
        average = average_of_policy(chosen, mine)  # type: ignore[arg-type]
    order = options.get("order", ORDER)
    document = evaluation_document(graph, evaluation, s, resting, order, average)
    # so many sweeps and no more were asked for, and not a threshold
    counted = "max_sweeps" in options and "theta" not in options
    iterate = evaluation.status is Status.SWEEP_LIMIT and counted
    if table:
        assert mine is not None
        rows = _rows(chosen, graph, [mine], evaluation, where)
        _tell_rows(chosen, rows, form, out, document)
    elif ASKED.json or finished or iterate:
        render(document)
    if not (finished or iterate):
        _tell_unfinished(evaluation)
        raise typer.Exit(1)


def _evaluated(
    game: Game,
    names: tuple[str, str | None],
    position: dict[str, Any] | None,
    *,
    all_states: bool,
    method: str,
    **options: Any,
) -> tuple[StateGraph, int, Policy | None, Policy | None, Evaluation]:
    """The graph, the position, both policies, and the evaluation of the first policy.

    A rule of thumb of a large game is followed turn by turn, from the start, without a policy.
    """
    from rollwise.answer import kept
    from rollwise.answer.evaluation import evaluate

    with Progress() as progress:
        of_start = method == "exact" and names[1] is None and position is None and not all_states
        by_turns = of_start and names[0].endswith(".json")
        if by_turns:
            from rollwise.analysis.thumb.turns import evaluate_rule, has_turns

            by_turns = has_turns(game)
        policies = kept.policies_in_one_graph(
            game, other_way=by_turns, max_states=ASKED.max_states, progress=progress
        )
        if policies is None:
            found, graph = evaluate_rule(game, names[0], progress=progress)
            return graph, 0, None, None, found
        graph = policies.graph
        s = 0 if position is None else graph.find(position)
        mine, theirs = (None if name is None else policies.find(name) for name in names)
        assert mine is not None
        progress("evaluating", 0, None)
        # sweeps are counted as the textbooks do it: over the whole game
        starts = [s] if method == "exact" and not all_states else None
        found = evaluate(policies, mine, theirs, method=method, starts=starts, **options)
    return found.graph, s, mine, theirs, found


def _rows(
    game: Game,
    graph: StateGraph,
    policies: Sequence[Policy],
    found: Evaluation | Shares,
    where: str | None,
) -> pl.DataFrame:
    """The value of policies in every position; parameters as of `evaluated_rows`."""
    from rollwise.answer.filters import numbered
    from rollwise.answer.rows import evaluated_rows
    from rollwise.graph.layout import members_of

    kept = where and numbered(where, members_of(game))
    return evaluated_rows(graph, policies, found, kept)


def _tell_rows(
    game: Game, rows: pl.DataFrame, form: str | None, out: Path | None, document: Evaluated
) -> None:
    """Print or write the value of the policy in every position."""
    from rollwise.graph.layout import field_words

    if form is not None:
        words = field_words(game)
        tell_rows(
            rows, form, out, lambda shown: encode(replace(document, **with_rows(shown, words)))
        )
        return
    shown = rows[:SHOWN]
    cells = shown.to_dict(as_series=False)
    if any(name is not None for name in cells["action"]):
        cells["action"] = ["mixed" if name is None else name for name in cells["action"]]
    if not isfinite(as_number(document.error_bound)):
        typer.echo("not certified: values after the last sweep")
        del cells["error_bound"]
    print_rows(strategy_rows(in_words(game, cells)), len(rows))


def _method(method: str | None, **iterative: Any) -> str:
    """The method. Options of sweeps select the iterative one."""
    from rollwise.answer.evaluation import METHODS

    if method is None:
        method = "exact" if all(value is None for value in iterative.values()) else "iterative"
    if method not in METHODS:
        raise UsageError(f"--method is {method!r}; it must be {' or '.join(METHODS)}")
    if method == "exact":
        refuse("is for --method iterative", **iterative)
    return method


def _tell_unfinished(found: Evaluation) -> None:
    change = found.history[-1] if found.history else float("nan")
    typer.echo(
        f"rollwise: the evaluation ended without an answer: {found.status} after "
        f"{found.sweeps:,} sweeps, and the last one changed a value by {change:.3g}",
        err=True,
    )


def _tell_seats(
    game: Game,
    names: tuple[str, str | None],
    position: dict[str, Any] | None,
    where: str | None,
    form: str | None,
    out: Path | None,
    *,
    table: bool,
) -> None:
    """Print or write the result of each seat, or of one policy in each seat against another."""
    from rollwise.answer.evaluation import evaluate, in_seats
    from rollwise.answer.references import names_in
    from rollwise.graph.policies import ties_in_play

    policy, against = names
    with Progress() as progress:
        policies = policies_of(game, progress)
        graph, seated = policies.graph, [policies.find(name) for name in names_in(policy)]
        state = None if position is None else graph.find(position)
        if against is not None:
            seated += [policies.find(against)] * (graph.players - 1)
        if table or against is None:
            shares = evaluate(policies, tuple(seated), starts=None if table else [state or 0])
            ties = ties_in_play(graph, *seated, start=state or 0) if graph.players == 2 else None
        if against is None:
            document = shares_document(graph, shares, ties, state)
        else:
            places = [(state or 0, seat) for seat in range(graph.players)]
            found = in_seats(policies, seated[0], seated[1], places)
            document = against_document(graph, (seated[0].name, seated[1].name), found, state)
    if not table:
        render(document)
        return
    movers = seated[: 1 if against else len(shares.values)]
    _tell_rows(game, _rows(game, graph, movers, shares, where), form, out, document)


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
    position = None if state is None else read_state(state, chosen)
    if has_many(chosen):
        _print_response_of_seats(chosen, to, position)
        return
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


def _print_response_of_seats(game: Game, to: str, position: dict[str, Any] | None) -> None:
    """Print the best result of one seat against one policy of all others."""
    from rollwise.answer.evaluation import ADVERSARIES, ALLIES, respond_to, respond_to_all

    with Progress() as progress:
        policies = policies_of(game, progress)
        policy = None if to in (ADVERSARIES, ALLIES) else policies.find(to)
    state = None if position is None else policies.graph.find(position)
    if policy is None:
        response = respond_to_all(policies.graph, to, state or 0)
    else:
        response = respond_to(policies.graph, policy, state or 0)
    render(seats_response_document(policies.graph, response, state))
