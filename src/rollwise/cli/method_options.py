"""What commands share that let one pick a method and tell it things."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rollwise.documents.parts import number_or_none
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_text
from rollwise.methods import METHODS, find_method
from rollwise.numbers.printed import CHANCE_ROUNDING, between

DEFAULT = "strategy-iteration"
FLAGS = {"on_sweep": "--print-sweeps", "start": "--start-from"}  # not named like the option

MethodOption = Annotated[str, typer.Option("--method", help=f"One of: {', '.join(METHODS)}.")]
MaybeMethodOption = Annotated[
    str | None, typer.Option("--method", help=f"One of: {', '.join(METHODS)}.")
]
EpsilonOption = Annotated[
    float | None,
    typer.Option(help="Value iteration: stop after a sweep that changes no value by more."),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        help="Value iteration: synchronous, or in place: forward, reversed, breadth-first, "
        "components."
    ),
]
SoundOption = Annotated[
    bool | None,
    typer.Option("--sound", help="Value iteration: close lower and upper bounds instead."),
]
MaxSweepsOption = Annotated[
    int | None, typer.Option("--max-sweeps", min=1, help="Give up after as many sweeps.")
]
TimeLimitOption = Annotated[
    float | None, typer.Option("--time-limit", help="Give up after as many seconds.")
]
SolverOption = Annotated[str | None, typer.Option(help="Mixed-integer: scip or highs.")]
WholeOption = Annotated[
    bool | None,
    typer.Option(
        "--whole/--by-component",
        help="Programs: one for all states (the default of linear-programming); "
        "--by-component: one a component (that of mixed-integer).",
    ),
]
RimOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Linear programming: solve the game with a parameter larger by so much, and read "
        "the game itself in it.",
    ),
]
ObjectiveOption = Annotated[
    str | None, typer.Option(help="Mixed-integer: none, or the sum smallest or largest.")
]
TightenOption = Annotated[
    int | None,
    typer.Option(min=0, help="Mixed-integer: sweeps of interval iteration beforehand."),
]
StartOption = Annotated[
    str | None,
    typer.Option("--start-from", metavar="METHOD", help="Mixed-integer: start from its answer."),
]
SamplesOption = Annotated[
    int | None, typer.Option(metavar="N", help="Sampled: draws of each chance (300,000).")
]
SampleSeedOption = Annotated[
    int | None,
    typer.Option("--seed", help="Sampled: of the draws; a fresh one unless given."),
]
PrintSweepsOption = Annotated[
    bool, typer.Option("--print-sweeps", help="Print the change of every sweep as it runs.")
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the change of every sweep to a .csv or .json file."),
]


def method_options(method: str, **given: Any) -> dict[str, Any]:
    """The options that were given, checked against what the method knows.

    Raises
    ------
    UsageError
        No such method; an option that it doesn't have; a value out of range.
    """
    known = find_method(method).options()
    options = {name: value for name, value in given.items() if value is not None}
    for name, value in options.items():
        if name not in known:
            flag = FLAGS.get(name, "--" + name.replace("_", "-"))
            raise UsageError(f"the method {method} has no {flag}")
        if name in ("epsilon", "time_limit") and not value >= 0:
            raise UsageError(f"--{name.replace('_', '-')} is {value}; it can't be less than 0")
    if "start" in options:
        find_method(options["start"])
    return options


def printing_sweeps(as_json: bool, digits: int = 12) -> Callable[[int, float], None]:
    """What prints each sweep as it runs; on stderr where stdout is for JSON."""

    def tell(sweep: int, change: float) -> None:
        typer.echo(f"sweep {sweep:>6}  change {change:.{digits}g}", err=as_json)

    return tell


def write_history(path: Path, history: Any) -> None:
    """The change of every sweep as a table ``sweep,change``."""
    if path.suffix == ".json":
        import json

        rows = [
            {"sweep": sweep, "change": number_or_none(float(change))}
            for sweep, change in enumerate(history, 1)
        ]
        write_text(path, json.dumps(rows) + "\n")
        return
    lines = [f"{sweep},{float(change)!r}" for sweep, change in enumerate(history, 1)]
    write_text(path, "\n".join(["sweep,change", *lines]) + "\n")


def check_history_path(path: Path | None) -> None:
    """Refuse a bad name before any work is done."""
    if path is not None and path.suffix not in (".csv", ".json"):
        raise UsageError(f"--history {path}: the name must end in .csv or .json")
    check_place(path)


def _how_far(solution: Any) -> str:
    """How far a method came that gave up, as far as it says."""
    run = solution.run
    if run is None:
        return ""
    if "states_solved" in run.details:
        return (
            f" with {run.details['states_solved']:,} of {solution.graph.n_states:,} states solved"
        )
    return f" after {run.sweeps:,} {run.details.get('sweeps', 'sweeps')}" if run.sweeps else ""


def tell_unfinished(solution: Any, state: int = 0) -> None:
    """One line on stderr: how it ended, and the best bounds on the value of a state."""
    from rollwise.graph import win_probability

    low, high = (float(bound[state]) for bound in solution.bounds)
    what = "value"
    if not solution.is_score:
        # widened by more than these operations round
        low = max(win_probability(low) - CHANCE_ROUNDING, 0.0)
        high = min(win_probability(high) + CHANCE_ROUNDING, 1.0)
        what = "win probability"
    where = "the start" if state == 0 else "the state"
    least, most = between(low, high)
    typer.echo(
        f"rollwise: {solution.method} ended without an answer: {solution.status}"
        f"{_how_far(solution)}; "
        f"the {what} of {where} is between {least} and {most}",
        err=True,
    )
