"""Options shared by several commands, each declared once, and the reading of their values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rollwise.cli.described import POLICIES
from rollwise.cli.printing import check_file
from rollwise.cli.streams import ASKED
from rollwise.documents.model import encode
from rollwise.errors import RollwiseError, UsageError, suggestion
from rollwise.game import Game
from rollwise.games import find
from rollwise.machine.atomic_files import write_text
from rollwise.methods import METHODS, Setting, find_method
from rollwise.numbers.printed import CHANCE_ROUNDING, between, scaled
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


def complete_parameter(ctx: typer.Context, incomplete: str) -> list[str]:
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
        autocompletion=complete_parameter,
        help="Parameters; as=chase, as=contest, ...",
    ),
]


ModeOption = Annotated[
    str,
    typer.Option("--mode", help="Execution of the rules: auto, interpreted or compiled."),
]

PolicyOption = Annotated[
    str, typer.Option(metavar="P", autocompletion=_complete_policy, help=POLICIES)
]


OptionalPolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="P",
        autocompletion=_complete_policy,
        help=f"{POLICIES} Needed where somebody has a choice.",
    ),
]


PositionOption = Annotated[
    str | None, typer.Option(metavar="FIELD=N,...", help="A position other than the start.")
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
        help="A game's name (`rollwise games` lists them), or path/to/file.py:ClassName. A saved "
        "game names its own, unless its rules are in a file of yours.",
    ),
]


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
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the change of every sweep to a .csv or .json file; - prints each sweep.",
    ),
]


def typed_settings(
    typed: Sequence[str] | None, settings: Mapping[str, Setting], subject: str
) -> dict[str, Any]:
    """The values of ``--set``: ``epsilon=1e-6``.

    Parameters
    ----------
    subject : str
        The owner of the settings, for messages: "the method exact".

    Raises
    ------
    UsageError
        An unknown option, or a value of a wrong type or out of range.
    """
    options: dict[str, Any] = {}
    for text in typed or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set {text}: write NAME=VALUE")
        if name not in settings:
            names = ", ".join(settings) or "none"
            hint = suggestion(name, settings)
            raise UsageError(f"{subject} has no option {name!r}{hint} (its options: {names})")
        if name in options:
            raise UsageError(f"{name} is given twice")
        options[name] = settings[name].parse(subject, value.strip())
    return options


def method_options(
    method: str, typed: Sequence[str] | None, history: Path | None = None
) -> dict[str, Any]:
    """The options of a method: the values of ``--set``, and a callback for ``--history -``."""
    chosen = find_method(method)
    settings = chosen.settings() if typed else {}  # which imports the method
    options = typed_settings(typed, settings, f"the method {method}")
    if isinstance(options.get("start"), str):
        find_method(options["start"])
    if history is not None and "on_sweep" not in chosen.options():
        raise UsageError(
            f"--history: the method {method} has no sweeps; --method value-iteration has"
        )
    if history == STDOUT:
        options["on_sweep"] = print_sweep
    return options


STDOUT = Path("-")  # of --history


def print_sweep(sweep: int, change: float) -> None:
    """Print the change of a sweep; on stderr where stdout is for JSON."""
    typer.echo(f"sweep {sweep:>6}  change {change:.12g}", err=ASKED.json)


def write_history(path: Path | None, history: Any) -> None:
    """The change of every sweep as a table ``sweep,change``."""
    if path in (None, STDOUT):
        return
    if path.suffix == ".json":
        rows = [{"sweep": sweep, "change": change} for sweep, change in enumerate(history, 1)]
        write_text(path, encode(rows) + "\n")
        return
    lines = [f"{sweep},{float(change)!r}" for sweep, change in enumerate(history, 1)]
    write_text(path, "\n".join(["sweep,change", *lines]) + "\n")


def check_history_path(path: Path | None) -> None:
    """Refuse a bad name before any work is done."""
    if path != STDOUT:
        check_file("--history", path, ".csv", ".json")


def _how_far(solution: Any) -> str:
    """The progress of a method that gave up, where it reports any."""
    run = solution.run
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


WorkersOption = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Workers in parallel; 1 unless given. Or the address of a Dask scheduler, as in "
        "tcp://10.0.0.1:8786.",
    ),
]


def answered_apart(game: Game, command: str, *own: Any, **refused: Any) -> bool:
    """Whether a game has hidden dice or simultaneous choices, and was answered for that.

    Parameters
    ----------
    command : str
        The function of `rollwise.cli.hidden_games` that answers.
    *own
        Its arguments after the game.
    **refused
        Options that aren't for such games.
    """
    if game.is_hidden:
        from rollwise.cli import hidden_games

        hidden_games.refuse_options(game, **refused)
        getattr(hidden_games, command)(game, *own)
    return game.is_hidden
