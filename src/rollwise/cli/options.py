"""Options shared by several commands, each declared once, and the reading of their values."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rollwise.cli.printing import check_file
from rollwise.documents.model import encode
from rollwise.errors import RollwiseError, UsageError
from rollwise.game import Game
from rollwise.games import find
from rollwise.machine import memory_limits, user_cache
from rollwise.machine.atomic_files import write_text
from rollwise.methods import METHODS, find_method
from rollwise.numbers.printed import CHANCE_ROUNDING, between, bytes_of, scaled
from rollwise.parameters import parameter_specs


def _complete_game(incomplete: str) -> list[str]:
    """Names of games with this beginning, for the shell."""
    from rollwise.games import available

    return [name for name in available() if name.startswith(incomplete)]


def _kind_typed(ctx: typer.Context) -> type[Game] | None:
    """The game before the word to complete."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    typed = ctx.params.get("game") or "".join(line.split()[2:3])
    try:
        return find(typed)
    except RollwiseError:
        return None


def _complete_parameter(ctx: typer.Context, incomplete: str) -> list[str]:
    """Parameters of the typed game, for the shell."""
    name, equals, _ = incomplete.partition("=")
    kind = _kind_typed(ctx)
    specs = () if kind is None else parameter_specs(kind)
    if equals:
        values = [word for spec in specs if spec.name == name for word in map(str, spec.among)]
        forms = ("chase", "contest", "score") if name == "as" else ()
        return [f"{name}={value}" for value in (*values, *forms)]
    return [f"{spec.name}=" for spec in specs if spec.name.startswith(name)]


def _complete_policy(ctx: typer.Context, incomplete: str) -> list[str]:
    """Policies of the typed game, for the shell."""
    kind = _kind_typed(ctx)
    own = () if kind is None else kind.policies()
    return [name for name in ("optimal", "random", *own) if name.startswith(incomplete)]


def _complete_method(incomplete: str) -> list[str]:
    """Methods with this beginning, for the shell."""
    return [name for name in METHODS if name.startswith(incomplete)]


GameArgument = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        autocompletion=_complete_game,
        help="A game (`rollwise games` lists them), file.py:ClassName, a model (.umb, .drn, .tra).",
    ),
]


ParametersArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME=VALUE]...",
        autocompletion=_complete_parameter,
        help="Parameters; as=chase, as=contest, ...",
    ),
]


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document only.")]


MaxStatesOption = Annotated[
    int | None,
    typer.Option("--max-states", min=1, help="Give up beyond this many states."),
]


def _use_cache(no_cache: bool) -> bool:
    user_cache.use(not no_cache)
    return no_cache


NoCacheOption = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        callback=_use_cache,
        help="Neither read nor keep answers: see `rollwise cache`.",
    ),
]


ModeOption = Annotated[
    str,
    typer.Option("--mode", help="Execution of the rules: auto, interpreted or compiled."),
]


POLICIES = (
    "optimal, random, longest, shortest (most, fewest moves), a policy of the game, a .csv or "
    ".parquet table, a file of `learn --save` (.npz), a rule of thumb (.json), or a mixture: "
    "0.9*optimal+0.1*random."
)


PolicyOption = Annotated[
    str, typer.Option(metavar="P", autocompletion=_complete_policy, help=POLICIES)
]


PositionOption = Annotated[
    str | None, typer.Option(metavar="FIELD=N,...", help="A position, and not the start.")
]


LoadOption = Annotated[
    str | None,
    typer.Option(
        "--load",
        metavar="FILE",
        help="Use an answer of `solve --save`: a file, or with --by-layer a folder.",
    ),
]


OptionalGameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[GAME]",
        help="A game's name (`rollwise games` lists them), or path/to/file.py:ClassName. A kept "
        "game says it itself, unless its rules are in a file of yours.",
    ),
]


ContestTiesOption = Annotated[
    str, typer.Option("--ties", help="Winner of a tie: shared, first or win-or-tie.")
]


DEFAULT = "strategy-iteration"
_METHOD: Any = typer.Option(
    "--method", autocompletion=_complete_method, help=f"One of: {', '.join(METHODS)}."
)
MethodOption = Annotated[str, _METHOD]
MaybeMethodOption = Annotated[str | None, _METHOD]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="An option of the method: `rollwise methods METHOD` lists them.",
    ),
]
TimeLimitOption = Annotated[
    float | None, typer.Option("--time-limit", help="Give up after as many seconds.")
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


def method_options(method: str, typed: Sequence[str] | None, **given: Any) -> dict[str, Any]:
    """The options of a method.

    Parameters
    ----------
    typed : sequence of str, optional
        The values of ``--set``: ``epsilon=1e-6``.
    **given
        Options with their own flags; None for options not given.

    Raises
    ------
    UsageError
        An unknown method or option, or a value of a wrong type or out of range.
    """
    known, settings = find_method(method).options(), find_method(method).settings()
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in known:
            flag = "--print-sweeps" if name == "on_sweep" else "--" + name.replace("_", "-")
            raise UsageError(f"the method {method} has no {flag}")
    for text in typed or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set {text}: write NAME=VALUE")
        if name not in settings:
            names = ", ".join(name for name in settings if name not in given) or "none"
            raise UsageError(f"the method {method} has no option {name!r} (its options: {names})")
        if name in options:
            raise UsageError(f"{name} is given twice")
        options[name] = settings[name].parse(method, value.strip())
    if options.get("time_limit", 0) < 0:
        raise UsageError(f"--time-limit is {options['time_limit']}; it can't be less than 0")
    if isinstance(options.get("start"), str):
        find_method(options["start"])
    return options


def printing_sweeps(as_json: bool, digits: int = 12) -> Callable[[int, float], None]:
    """A callback that prints each sweep; on stderr where stdout is for JSON."""

    def tell(sweep: int, change: float) -> None:
        typer.echo(f"sweep {sweep:>6}  change {change:.{digits}g}", err=as_json)

    return tell


def write_history(path: Path, history: Any) -> None:
    """The change of every sweep as a table ``sweep,change``."""
    if path.suffix == ".json":
        rows = [{"sweep": sweep, "change": change} for sweep, change in enumerate(history, 1)]
        write_text(path, encode(rows) + "\n")
        return
    lines = [f"{sweep},{float(change)!r}" for sweep, change in enumerate(history, 1)]
    write_text(path, "\n".join(["sweep,change", *lines]) + "\n")


def check_history_path(path: Path | None) -> None:
    """Refuse a bad name before any work is done."""
    check_file("--history", path, ".csv", ".json")


def _how_far(solution: Any) -> str:
    """The progress of a method that gave up, where it reports any."""
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
    what, unit, ends = "value", "", between(low, high)
    if not solution.is_score:
        # widened by more than these operations round
        low = max(win_probability(low) - CHANCE_ROUNDING, 0.0)
        high = min(win_probability(high) + CHANCE_ROUNDING, 1.0)
        what, unit, ends = "win probability", " %", between(scaled(low, 100), scaled(high, 100), 6)
    where = "the start" if state == 0 else "the state"
    typer.echo(
        f"rollwise: {solution.method} ended without an answer: {solution.status}"
        f"{_how_far(solution)}; "
        f"the {what} of {where} is between {ends[0]}{unit} and {ends[1]}{unit}",
        err=True,
    )


LEAST_MEMORY = 500_000_000  # bytes; Numba takes half of them


def _limit_memory(text: str | None) -> str | None:
    """Take no more memory than --memory says."""
    if text is not None:
        size = bytes_of(text)
        if size is None or size < LEAST_MEMORY:
            raise UsageError(f"--memory is {text}; it is an amount such as 8GB, at least 500MB")
        memory_limits.limit(size)
    return text


MemoryOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        callback=_limit_memory,
        help="Memory limit, as in 8GB; larger problems are refused.",
    ),
]


ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let the workers of a Dask scheduler do it, as in tcp://10.0.0.1:8786.",
    ),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes that work in parallel; 1."),
]
