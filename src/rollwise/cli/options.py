"""Options that several commands share, each declared once, and what is made of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from rollwise.cli.app import parameter_not_option
from rollwise.cli.common import Typed, read_game, refuse
from rollwise.cli.printing import check_file
from rollwise.documents.parts import number_or_none
from rollwise.errors import ParameterError, UsageError
from rollwise.game import Game, has_many
from rollwise.machine import memory_limits, user_cache
from rollwise.machine.atomic_files import write_text
from rollwise.methods import METHODS, find_method
from rollwise.numbers.printed import CHANCE_ROUNDING, between, bytes_of

if TYPE_CHECKING:
    pass


GameArgument = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A game's name (`rollwise games` lists them), or path/to/file.py:ClassName.",
    ),
]


ParametersArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=VALUE]...", help="Parameters of the game."),
]


JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]


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
    typer.Option("--mode", help="Who runs the rules: auto, interpreted or compiled."),
]


POLICIES = (
    "optimal, random, longest, shortest (what makes the game so), a policy of the game, a .csv or "
    ".parquet table, what `learn --save` kept (.npz), a rule of thumb (.json), or a mixture: "
    "0.9*optimal+0.1*random."
)


PolicyOption = Annotated[str, typer.Option(metavar="P", help=POLICIES)]


PositionOption = Annotated[
    str | None, typer.Option(metavar="FIELD=N,...", help="A position, and not the start.")
]


LoadOption = Annotated[
    str | None,
    typer.Option(
        "--load",
        metavar="FILE",
        help="Use what `solve --save` saved: a file, or with --by-layer a folder.",
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


Command = TypeVar("Command", bound=Callable[..., None])

ChaseOption = Annotated[
    bool,
    typer.Option("--chase", help="Play a solitaire game to reach a score instead of for the mean."),
]
TargetOption = Annotated[
    int | None, typer.Option("--target", metavar="SCORE", help="The score to reach in a chase.")
]
ContestOption = Annotated[
    bool,
    typer.Option(
        "--contest", help="Make two players of it: a whole turn each; the better score wins."
    ),
]
TiesOption = Annotated[
    str | None,
    typer.Option(
        "--ties",
        help="Ties: in a chase win (the default), draw or lose; in a contest shared (the "
        "default), first or win-or-tie.",
    ),
]
ContestTiesOption = Annotated[
    str, typer.Option("--ties", help="Who has the prize: shared, first or win-or-tie.")
]


WithScoreOption = Annotated[
    bool,
    typer.Option(
        "--with-score",
        help="Keep the points made so far in the states, for policies that look at them.",
    ),
]


class Form(NamedTuple):
    """How a game is played, as the options say."""

    chase: bool = False
    target: int | None = None
    contest: bool = False
    ties: str | None = None
    with_score: bool = False

    @property
    def said(self) -> dict[str, Any]:
        """The options that were given, by name."""
        given = self._asdict().items()
        return {name: value for name, value in given if value is not None and value is not False}


def as_played(game: Game, form: Form, *, need_target: bool = False) -> Game:
    """The game that --chase, --contest and the like make of a solitaire game.

    Parameters
    ----------
    need_target : bool
        Whether a chase needs a target, since one position is asked about.

    Raises
    ------
    UsageError
        One of them says nothing, since it goes with another that wasn't given.
    """
    chase, target, contest, ties, with_score = form
    if target is not None and not chase:
        if "target" in [spec.name for spec in game.specs]:
            raise ParameterError(f"{game.name}: {parameter_not_option('target', target)}")
        raise UsageError("--target goes with --chase")
    if chase and contest:
        raise UsageError("--chase and --contest can't both be had")
    if with_score and (chase or contest):
        raise UsageError("--with-score goes with neither --chase nor --contest")
    if chase:
        return _chase(game, target, ties, need_target)
    if contest:
        from rollwise.derive.contest import Duel

        return Duel(game, "shared" if ties is None else ties)
    if ties is not None:
        raise UsageError("--ties goes with --chase or --contest")
    if with_score:
        from rollwise.derive.chase import WithScore

        return WithScore(game)
    return game


def _chase(game: Game, target: int | None, ties: str | None, need_target: bool) -> Game:
    from rollwise.derive.chase import Chase

    chase = Chase(game, target, "win" if ties is None else ties)
    if need_target and target is None:
        low, high = chase.target_range
        raise UsageError(
            f"a chase of {chase.inner_graph.title} needs a target: --target SCORE, from {low} "
            f"to {high}"
        )
    return chase


def also_for_many(
    *takes: str, instead: Mapping[str, str] | None = None
) -> Callable[[Command], Command]:
    """Let a command whose answer has a number for each seat take three or more players too.

    The function in `rollwise.cli.many` that is named like the command answers then.

    Parameters
    ----------
    *takes : str
        The options that such games have; others are refused.
    instead : mapping, optional
        What serves such games in the place of an option that is refused.
    """

    def wrap(command: Command) -> Command:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            game = read_game(given["game"], given["parameters"])
            if not has_many(game):
                command(**{**given, "game": Typed(given["game"], game)})
                return
            known = {"game", "parameters", "no_cache", *takes}
            usual = inspect.signature(command).parameters
            others = {
                name: value
                for name, value in given.items()
                if name not in known and value != usual[name].default
            }
            for name in others:
                because = f"isn't for games of three or more players, such as {game.name}"
                if instead is not None and name in instead:
                    because += f"; {instead[name]}"
                refuse(because, **{name: True})
            from rollwise.cli import many

            getattr(many, command.__name__)(game, **{name: given[name] for name in takes})

        return run  # type: ignore[return-value]

    return wrap


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
    """A function that prints each sweep as it runs; on stderr where stdout is for JSON."""

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
    check_file("--history", path, ".csv", ".json")


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


LEAST_MEMORY = 500_000_000  # bytes, of which Numba takes a half


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
        help="Take no more memory, as in 8GB; what doesn't fit is refused.",
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
    typer.Option("--workers", metavar="N", help="Processes that work at the same time; 1."),
]
