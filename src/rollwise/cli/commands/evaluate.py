"""``rollwise evaluate``: the value of a policy."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import replace

from rollwise.cli.app import app
from rollwise.cli.common import policies_of, read_game, read_state, refuse, refuse_with_seats
from rollwise.cli.options import (
    GameArgument,
    HistoryOption,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    PolicyOption,
    PositionOption,
    PrintSweepsOption,
    TimeLimitOption,
    check_history_path,
    printing_sweeps,
    write_history,
)
from rollwise.cli.printing import (
    SHOWN,
    CsvOption,
    LimitOption,
    OutOption,
    WhereOption,
    form_of,
    print_rows,
    render,
    write_rows,
)
from rollwise.cli.progress import Progress
from rollwise.documents.answers import (
    Evaluated,
    evaluation_document,
    shares_document,
    with_rows,
)
from rollwise.documents.model import as_number, encode
from rollwise.errors import UsageError
from rollwise.game import has_many
from rollwise.numbers.printed import as_text

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from rollwise.answer.evaluation import Evaluation
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy

THETA, ORDER = 1e-10, "reversed"
AgainstOption = Annotated[
    str | None, typer.Option(metavar="Q", help="The opponent's policy; P unless given.")
]
EvaluationOption = Annotated[
    str | None,
    typer.Option(
        help="exact (linear systems, certified; the default) or iterative (sweeps; the default "
        "with an option of it)."
    ),
]
SweepsOption = Annotated[
    int | None,
    typer.Option(
        "--max-sweeps",
        min=1,
        help="Iterative: the values after so many sweeps; with --theta, give up after them.",
    ),
]
ThetaOption = Annotated[
    float | None,
    typer.Option(
        help=f"Iterative: stop when a sweep changes all win probabilities by less ({THETA:g})."
    ),
]
SweepsOrderOption = Annotated[
    str | None,
    typer.Option(
        help="Iterative: reversed (default), forward, breadth-first, components, or synchronous."
    ),
]
RowsOption = Annotated[
    bool, typer.Option("--table", help="The value of the policy in each position, a row each.")
]


@app.command("evaluate")
def evaluate(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: PolicyOption = ...,  # type: ignore[assignment]
    against: AgainstOption = None,
    method: EvaluationOption = None,
    theta: ThetaOption = None,
    order: SweepsOrderOption = None,
    max_sweeps: SweepsOption = None,
    time_limit: TimeLimitOption = None,
    history: HistoryOption = None,
    print_sweeps: PrintSweepsOption = False,
    state: PositionOption = None,
    table: RowsOption = False,
    where: WhereOption = None,
    limit: LimitOption = None,
    out: OutOption = None,
    csv: CsvOption = False,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Compute the exact value of a policy."""
    _check_rows(table, where=where, limit=limit, out=out, csv=csv)
    form = form_of(out, csv=csv, json=json)
    from rollwise.graph.policies import ties_in_play
    from rollwise.methods.result import Status

    told = {"history": history, "print_sweeps": print_sweeps or None}
    iterative = {"theta": theta, "order": order, "max_sweeps": max_sweeps, "time_limit": time_limit}
    others = {"method": method, "against": against, "state": state, "table": table}
    method, options = _options(method, told, **iterative)
    if print_sweeps:
        options["on_sweep"] = printing_sweeps(json)
    check_history_path(history)
    chosen = read_game(game, parameters)
    if has_many(chosen) or "," in policy:
        refuse_with_seats(chosen, **others, **told, **iterative)
        _print_seats(chosen, policy, max_states, json=json)
        return
    position = None if state is None else read_state(state, chosen)
    graph, s, mine, theirs, found = _evaluated(
        chosen, (policy, against), position, max_states, all_states=table, method=method, **options
    )
    if history is not None:
        write_history(history, found.history)
    finished = found.status is Status.CONVERGED
    # against itself an optimal policy has the value of the game, whichever it is
    resting = None if theirs is None else ties_in_play(graph, mine, theirs, start=s)
    document = evaluation_document(graph, found, s, resting, order or ORDER)
    # so many sweeps and no more were asked for, and not a threshold
    iterate = found.status is Status.SWEEP_LIMIT and max_sweeps is not None and theta is None
    if table:
        from rollwise.answer.rows import evaluated_rows

        assert mine is not None
        _tell_rows(evaluated_rows(graph, mine, found, where), limit, form, out, document)
    elif json or finished or iterate:
        render(document, json)
    if not (finished or iterate):
        _tell_unfinished(found)
        raise typer.Exit(1)


def _evaluated(
    game: Game,
    names: tuple[str, str | None],
    position: dict[str, Any] | None,
    max_states: int | None,
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
            game, other_way=by_turns, max_states=max_states, progress=progress
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
        found = evaluate(graph, mine, theirs, method=method, starts=starts, **options)
    return graph, s, mine, theirs, found


def _check_rows(table: bool, **rows: Any) -> None:
    """Refuse the options of rows without rows."""
    if not table:
        refuse("goes with --table", **rows)


def _tell_rows(
    rows: pl.DataFrame, limit: int | None, form: str | None, out: Path | None, document: Evaluated
) -> None:
    """Print or write the value of the policy in every position."""
    if form is not None:
        write_rows(
            rows[:limit], form, out, lambda shown: encode(replace(document, **with_rows(shown)))
        )
        return
    shown = rows[: SHOWN if limit is None else limit]
    cells = shown.to_dict(as_series=False)
    if any(name is not None for name in cells["action"]):
        cells["action"] = ["mixed" if name is None else name for name in cells["action"]]
    if not isfinite(as_number(document.error_bound)):
        typer.echo("not certified: values after the last sweep")
        del cells["error_bound"]
    print_rows(as_text(cells), len(shown), len(rows))


def _options(
    method: str | None, told: dict[str, Any], **iterative: Any
) -> tuple[str, dict[str, Any]]:
    """The method and the settings of its sweeps. Options of sweeps select the iterative method.

    Parameters
    ----------
    told : dict
        Callbacks of its sweeps.
    **iterative
        Options of the iterative method.
    """
    from rollwise.answer.evaluation import METHODS

    if method is None:
        asked = any(value is not None for value in (iterative | told).values())
        method = "iterative" if asked else "exact"
    if method not in METHODS:
        raise UsageError(f"--method is {method!r}; it must be {' or '.join(METHODS)}")
    for name in ("theta", "time_limit"):
        value = iterative[name]
        if value is not None and not value >= 0:
            flag = name.replace("_", "-")
            raise UsageError(f"--{flag} is {value}; it can't be less than 0")
    if method == "exact":
        refuse("is for --method iterative", **iterative, **told)
    return method, {name: value for name, value in iterative.items() if value is not None}


def _tell_unfinished(found: Evaluation) -> None:
    change = found.history[-1] if found.history else float("nan")
    typer.echo(
        f"rollwise: the evaluation ended without an answer: {found.status} after "
        f"{found.sweeps:,} sweeps, and the last one changed a value by {change:.3g}",
        err=True,
    )


def _print_seats(game: Game, policy: str, max_states: int | None, *, json: bool) -> None:
    """Print the result of each seat, with a policy for each."""
    from rollwise.answer.evaluate_seats import evaluate_seats
    from rollwise.answer.references import names_in

    with Progress() as progress:
        found = policies_of(game, max_states, progress)
        seated = [found.find(name) for name in names_in(policy)]
    shares = evaluate_seats(found.graph, seated)
    render(shares_document(found.graph, shares), json)
