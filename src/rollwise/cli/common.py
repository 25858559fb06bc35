"""Shared by several commands: reading the typed words, and finding the answer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rollwise.cli.described import POLICIES
from rollwise.cli.progress import Progress, working
from rollwise.cli.streams import ASKED
from rollwise.errors import ParameterError, TooManyStates, UnknownGame, UsageError
from rollwise.game import Game, has_many
from rollwise.games import create, find, names_a_file
from rollwise.graph.naming import title_of
from rollwise.parameters import read_values

if TYPE_CHECKING:
    from rollwise.answer.references import Policies
    from rollwise.answer.solution import Solution
    from rollwise.builders import Mode
    from rollwise.cluster.pool import Pool
    from rollwise.coach.table import Table


_ASSIGNMENT = re.compile(r"[^\W\d]\w*=")


def refuse(because: str, **given: Any) -> None:
    """Refuse options without effect.

    Parameters
    ----------
    because : str
        The reason: "goes with --simulate".
    **given
        Values of the options; None or False for options not given.

    Raises
    ------
    UsageError
    """
    for name, value in given.items():
        if value is not None and value is not False:
            raise UsageError(f"--{name.rstrip('_').replace('_', '-')} {because}")


def refuse_with_seats(game: Game, instead: str = "", /, **given: Any) -> None:
    """Refuse options that don't exist where each seat has a policy, as in games of three or more.

    Parameters
    ----------
    instead : str
        The option or command for such games.
    """
    because = "doesn't go with a policy for each seat"
    if has_many(game):
        because = f"isn't for games of three or more players, such as {game.name}"
    refuse(f"{because}; {instead}" if instead else because, **given)


def make_game(kind: type[Game], values: Mapping[str, str]) -> Game:
    """A game with parameters as typed. A bar is shown while beliefs are found."""
    with working("reading the rules") if kind.has_secrets() else nullcontext():
        return create(kind, values)


def read_game(
    reference: str, assignments: Sequence[str] | None, *, any_target: bool = False
) -> Game:
    """The game of the arguments GAME and NAME=VALUE...

    Parameters
    ----------
    any_target : bool
        Whether the command answers for all targets of a chase, and needs none.
    """
    game = make_game(find(reference), read_values(assignments or ()))
    return game if any_target else require_target(game)


def tell_of_cycles(game: Game) -> None:
    """Warn that figures of a play are those of a cycle, in a game for an average."""
    if game.made_from.objective == "average":
        warnings.warn(
            f"{game.name} goes on for ever: here a game is a cycle, until play returns to its "
            "beginning, and each unit of time costs the average of best play",
            UserWarning,
            stacklevel=2,
        )


def require_target(game: Game) -> Game:
    """The game itself, unless it is a chase without a target.

    Raises
    ------
    UsageError
        It is one, and the start of the game rests on the target.
    """
    is_derived = game.made_from is not game
    if is_derived and getattr(game, "target", 0) is None:  # only a chase has a target
        target = game.specs[-2]
        raise UsageError(
            f"a chase of {title_of(game.name, game.made_from.parameters)} needs a target: "
            f"{target.name}=SCORE, {target.range_text}"
        )
    return game


class Words(NamedTuple):
    """The arguments of a command line, by kind.

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
        """The rules of the typed game."""
        return find(self.games[0]) if self.games else None

    def make_game(self) -> Game:
        """The typed game, with its parameters.

        Raises
        ------
        UnknownGame
            No game was typed.
        """
        if self.kind is None:
            raise UnknownGame("which game? `rollwise games` lists them")
        return make_game(self.kind, self.values)


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
    names.sort(key=lambda word: not names_a_file(word))
    if len(names) == 2 and not names_a_file(names[0]) and _likeness(names[0]) > _likeness(names[1]):
        names.reverse()
    if not names or names_a_file(names[-1]):
        game = f"{names[-1]} names a game, and " if names else ""
        raise UsageError(f"which FILE? {game}the name of a file is missing")
    return Words(names[:-1], [Path(names[-1])], values)


def _likeness(word: str) -> int:
    """How much a word is like the name of a file: 2 if it is one, 1 if it may be damaged."""
    place = Path(word)
    return 2 if place.is_file() or (place / "manifest.json").is_file() else int(place.is_dir())


def read_state(text: str, game: Game) -> dict[str, Any]:
    """A state of a game as typed: ``banked=50,rival=50,turn=20``."""
    from rollwise.graph.layout import members_of
    from rollwise.graph.typed import typed_state

    return typed_state(text, partial(_example, game), members_of(game))


def _example(game: Game) -> str:
    text = start_text(game).replace(", ", ",")
    return f'as in "{text}"' if " " in text else f"as in {text}"


def start_text(game: Game) -> str:
    """The start of a game, as a state is typed but for spaces: ``banked=0, rival=0, turn=0``."""
    from rollwise.builders.rules import Rules

    rules = Rules(game, any_players=True)
    return rules.state_text(rules.start)


def read_throw(text: str | None) -> tuple[int, ...] | None:
    """A throw as typed: ``3,5``.

    Raises
    ------
    UsageError
        It isn't one.
    """
    from rollwise.graph.typed import read_numbers

    numbers = None if text is None else read_numbers(text)
    if text is not None and not numbers:
        raise UsageError(f"--throw {text!r} isn't a throw; write its numbers, as in --throw 3,5")
    return numbers


def read_mode(mode: str) -> Mode:
    """The value of --mode."""
    if mode not in ("auto", "interpreted", "compiled"):
        raise UsageError(f"--mode is {mode!r}; it must be auto, interpreted or compiled")
    return mode  # type: ignore[return-value]


def file_stem(game: Game) -> str:
    """The beginning of the names of files about a game: its form and name, in usual characters."""
    name = "-".join(map(str, filter(None, (game.parameters.get("as"), game.name))))
    return re.sub(r"[^\w.]+", "-", name).strip("-.")[:100] or "game"


def solve_or_open(
    game: Game,
    load_from: str | None,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    by_layers: bool = True,
) -> Solution:
    """The answer to a game of any size and number of players: found now, or read.

    Parameters
    ----------
    by_layers : bool
        Whether a game too large for one graph is solved by layers.
    """
    given = {"method": method, **(options or {})}
    if has_many(game):
        refuse(f"isn't for games of three or more players, such as {game.name}", **given)
    from rollwise.answer.kept import answer

    if load_from is not None:
        refuse("can't be had with --load: the values are there already", **given)
    with Progress() as progress:
        how: dict[str, Any] = {"method": method, "options": options, "by_layers": by_layers}
        return answer(
            game, load_from, max_states=ASKED.max_states, progress=progress.listener, **how
        )


def policies_of(game: Game, progress: Progress | None = None) -> Policies:
    """The policies of a game of any number of players, with a cached answer."""
    from rollwise.answer.kept import policies

    listener = None if progress is None else progress.listener
    return policies(game, any_players=True, max_states=ASKED.max_states, progress=listener)


SOUGHT = 20_000  # states of a game in which a choice is looked for


def policy_or_only_one(game: Game, policy: str | None) -> str:
    """The typed policy; without one, the only policy of a game in which nobody has a choice.

    Raises
    ------
    UsageError
        A policy is needed, and none is typed.
    """
    if policy is not None:
        return policy
    if game.is_hidden:
        from rollwise.hidden.positions import policy_names

        *others, last = policy_names(game)
        raise UsageError(f"Missing option '--policy': {', '.join(others)} or {last}")
    from rollwise.answer.kept import build
    from rollwise.graph.choices import has_choice

    with suppress(TooManyStates):
        most = min(SOUGHT, ASKED.max_states or SOUGHT)
        if not has_choice(build(game, any_players=True, max_states=most)).any():
            return "optimal"
    raise UsageError(f"Missing option '--policy': {POLICIES}")


def lay_table(game: Game, load: str | None) -> Table:
    """The table to play at: the game solved, or its solution loaded."""
    from rollwise.coach.table import Table

    return Table.of(solve_or_open(game, load), game)


class Workers(NamedTuple):
    """The value of ``--workers``: a number on this machine, or the address of a Dask scheduler."""

    number: int | None
    cluster: str | None

    @classmethod
    def read(cls, text: str | None) -> Workers:
        """The typed value.

        Raises
        ------
        UsageError
            It is neither, or the number is too small.
        """
        if text is None:
            return cls(None, None)
        if "://" in text:
            from rollwise.cluster.dask_workers import check_address

            check_address(text)
            return cls(None, text)
        if not re.fullmatch(r"-?\d{1,9}", text):
            raise UsageError(
                f"--workers is {text!r}; it is a number, or the address of a Dask scheduler, as in "
                "tcp://10.0.0.1:8786"
            )
        if int(text) < 1:
            raise UsageError(f"--workers is {text}; it must be at least 1")
        return cls(int(text), None)

    def cluster_pool(self) -> AbstractContextManager[Pool | None]:
        """The workers of the cluster, if it is given."""
        if self.cluster is None:
            return nullcontext()
        from rollwise.cluster.dask_workers import DaskWorkers

        return DaskWorkers(self.cluster)

    def processes(self) -> AbstractContextManager[Pool | None]:
        """The workers of the cluster, or several processes of this machine."""
        if self.number in (None, 1):
            return self.cluster_pool()
        from rollwise.cluster.pool import Processes

        return Processes(self.number)
