"""What several commands share: their arguments, reading a game, and printing."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rollwise.cli.progress import Progress
from rollwise.cli.streams import write_json
from rollwise.documents.parts import as_json
from rollwise.errors import (
    ParameterError,
    TooManyStates,
    UnknownGame,
    UsageError,
)
from rollwise.game import Game, has_many
from rollwise.games import create, find
from rollwise.graph.naming import read_numbers, state_text, typed_state
from rollwise.machine import user_cache
from rollwise.numbers.printed import certified, chance, how_many

if TYPE_CHECKING:
    from rich.table import Table

    from rollwise.answer.answer import Answer
    from rollwise.answer.references import Policies
    from rollwise.answer.solution import Solution
    from rollwise.builders import Mode
    from rollwise.graph import StateGraph

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
_ASSIGNMENT = re.compile(r"[^\W\d]\w*=")
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


def refuse(because: str, **given: Any) -> None:
    """Make sure that no option was given that would say nothing.

    Parameters
    ----------
    because : str
        Why it would: "goes with --simulate".
    **given
        What was typed for the options, None or False where nothing was.
    """
    for name, value in given.items():
        if value is not None and value is not False:
            raise UsageError(f"--{name.rstrip('_').replace('_', '-')} {because}")


def sizes_text(document: Mapping[str, Any]) -> str:
    """How large the graph of an answer is: "3 states, 4 actions, 6 outcomes"."""
    return ", ".join(how_many(document[f"{one}s"], one) for one in ("state", "action", "outcome"))


def about_draws(has_draws: bool) -> str:
    """What is said behind a chance to win where games can be drawn."""
    return "; a draw is half a win" if has_draws else ""


def print_worth(place: str, value: float, bound: float | None, *, name: str, draws: bool) -> None:
    """Two lines: what the start is worth, certified.

    Parameters
    ----------
    name : str
        What a value is called; see `rollwise.graph.view.worth_name`.
    """
    worth = certified(value, bound)
    if bound is None or not math.isfinite(bound):
        typer.echo(f"  {name} from the start ({place}): no bound was proved, so it isn't known")
        return
    if name != "win probability":
        typer.echo(f"  {name} from the start ({place}): {worth.number} (certified ± {worth.bound})")
        return
    wins = chance(value, bound)
    typer.echo(
        f"  the mover at the start ({place}) wins with probability {wins.number} "
        f"(certified ± {wins.bound}{about_draws(draws)})"
    )
    typer.echo(f"  value {worth.number} (certified ± {worth.bound} in every state)")


class Typed(str):
    """A GAME as it was typed, with the game that was read then."""

    def __new__(cls, text: str, game: Game) -> Typed:
        typed = super().__new__(cls, text)
        typed.game = game
        return typed

    game: Game


def read_game(reference: str, assignments: Sequence[str] | None) -> Game:
    """The game that GAME and NAME=VALUE... ask for."""
    if isinstance(reference, Typed):
        return reference.game
    return create(find(reference), read_values(assignments or ()))


def read_values(assignments: Sequence[str]) -> dict[str, str]:
    """Parameters as typed: NAME=VALUE..."""
    values: dict[str, str] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParameterError(f"{text!r} isn't a parameter; write name=value")
        if name in values:
            raise ParameterError(f"the parameter {name!r} is given twice")
        values[name] = value
    return values


class Words(NamedTuple):
    """The words of a command line that aren't options, by what they are.

    Attributes
    ----------
    games : list of str
        The game, as typed; empty where none is.
    files : list of Path
    values : dict of str
        Parameters, as text.
    """

    games: list[str]
    files: list[Path]
    values: dict[str, str]

    @property
    def kind(self) -> type[Game] | None:
        """The rules of the game that was typed."""
        return find(self.games[0]) if self.games else None

    def make_game(self) -> Game:
        """The game that was typed, with its parameters.

        Raises
        ------
        UnknownGame
            None was.
        """
        if self.kind is None:
            raise UnknownGame("which game? `rollwise games` lists them")
        return create(self.kind, self.values)


def split_words(*words: str | None, files: int) -> Words:
    """Tell apart GAME, FILE and NAME=VALUE, in whatever order they are typed.

    Parameters
    ----------
    files : int
        How many of them are files: none, or one.

    Raises
    ------
    UsageError
        There are too many, or too few.
    """
    given = [word for word in words if word is not None]
    values = read_values([word for word in given if _ASSIGNMENT.match(word)])
    names = [word for word in given if not _ASSIGNMENT.match(word)]
    if len(names) > 1 + files:
        raise ParameterError(f"{names[-1]!r} isn't a parameter; write name=value")
    if not files:
        return Words(names, [], values)
    names.sort(key=lambda word: not _is_rules(word))
    if len(names) == 2 and not _is_rules(names[0]) and _likeness(names[0]) > _likeness(names[1]):
        names.reverse()
    if not names or _is_rules(names[-1]):
        raise UsageError("which FILE? Its name is missing")
    return Words(names[:-1], [Path(names[-1])], values)


def _is_rules(word: str) -> bool:
    return word.endswith(".py") or ".py:" in word


def _likeness(word: str) -> int:
    """How much a word is like the name of a file: 2 if it is one, 1 if it may be damaged."""
    place = Path(word)
    return 2 if place.is_file() or (place / "manifest.json").is_file() else int(place.is_dir())


def read_state(text: str, game: Game) -> dict[str, Any]:
    """A state of a game as typed: ``banked=50,rival=50,turn=20``."""

    def example() -> str:
        from rollwise.builders.rules import Rules

        rules = Rules(game, any_players=True)
        start = state_text(rules.field_names, rules.start_row[0].tolist())
        return f"as in {start.replace(' ', '')}"

    return typed_state(text, example)


def read_throw(text: str | None) -> tuple[int, ...] | None:
    """A throw as typed: ``3,5``.

    Raises
    ------
    UsageError
        It isn't one.
    """
    numbers = None if text is None else read_numbers(text)
    if text is not None and not numbers:
        raise UsageError(f"--throw {text!r} isn't a throw; write its numbers, as in --throw 3,5")
    return numbers


def read_mode(mode: str) -> Mode:
    """The value of --mode."""
    if mode not in ("auto", "interpreted", "compiled"):
        raise UsageError(f"--mode is {mode!r}; it must be auto, interpreted or compiled")
    return mode  # type: ignore[return-value]


def file_stem(game: str) -> str:
    """What files about a game are called, in this folder, whatever characters its name has."""
    return re.sub(r"[^\w.]+", "-", game).strip("-.")[:100] or "game"


def solve_or_load(game: Game, load_from: str | None, max_states: int | None) -> Solution:
    """The solution of a game in one graph: found now, or read from a file that must fit it."""
    from rollwise.answer import kept
    from rollwise.builders.rules import require_two

    require_two(game)
    if load_from is not None and Path(load_from).is_dir():
        raise UsageError(
            f"--load {load_from} is a folder of layers, which advise, table, play, plot and "
            "report read"
        )
    with Progress() as progress:
        how: dict[str, Any] = {"max_states": max_states, "progress": progress.listener}
        return kept.solve(game, **how) if load_from is None else kept.load(load_from, game, **how)


def solve_or_open(
    game: Game,
    load_from: str | None,
    max_states: int | None,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    in_all_states: bool = False,
) -> Answer:
    """The answer to a game of any size and number of players: found now, or read.

    Parameters
    ----------
    in_all_states : bool
        Whether all states are needed: they are solved again where only some were kept.
    """
    said = {"method": method, **(options or {})}
    if has_many(game):
        refuse(f"isn't for games of three or more players, such as {game.name}", **said)
    from rollwise.answer.kept import answer

    if load_from is not None:
        refuse("can't be had with --load: the values are there already", **said)
    with Progress() as progress:
        how: dict[str, Any] = {"method": method, "options": options}
        found = answer(game, load_from, max_states=max_states, progress=progress.listener, **how)
        if in_all_states:
            from rollwise.answer import solve_by_layers

            return solve_by_layers.in_all_states(found, progress.listener)
        return found


def policies_of(game: Game, max_states: int | None, progress: Progress) -> Policies:
    """The policies of a game of any number of players, with the answer that is kept."""
    from rollwise.answer.kept import policies

    return policies(game, any_players=True, max_states=max_states, progress=progress.listener)


@contextmanager
def in_one_graph(command: str) -> Iterator[None]:
    """Say of a game that is too large what the command needs, and what other commands can do."""
    try:
        yield
    except TooManyStates as error:
        raise UsageError(
            f"{error}. But {command} looks at all positions at once, and an answer by layers "
            "doesn't do for that: take smaller parameters. Of a game that can be solved by layers, "
            "`rollwise simulate` estimates who wins and how long it lasts"
        ) from None


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    write_json(as_json(document) + "\n")


def tell_written(of: StateGraph | Game, place: Path, *, json: bool, size: bool = False) -> None:
    """That a picture, a report or a page was written, and how large it is."""
    from rollwise.documents.games import written_document

    if json:
        print_json(written_document(of, place))
    else:
        kilobytes = f" ({place.stat().st_size / 1000:,.0f} kB)" if size else ""
        typer.echo(f"wrote {place}{kilobytes}")


def tell_ties(told: dict[str, int] | None, indent: str = "  ") -> None:
    """The line about a document's ``equally_good``, where there is any."""
    from rollwise.graph.policies import Ties

    if told is not None:
        typer.echo(f"{indent}{Ties(**told).text}")


def tell_undecided(states: int, indent: str = "  ") -> None:
    """The line about states in which the bounds don't tell what is best, where there are any."""
    if states:
        typer.echo(
            f"{indent}in {how_many(states, 'state')} the error bounds don't tell which of several "
            "actions is best (advise says what one may cost); the optimal policy takes one that "
            "keeps to them"
        )


def print_table(table: Table) -> None:
    """A Rich table on stdout, as wide as it needs to be where that isn't a terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200
    Console(width=width, highlight=False, markup=False).print(table)
