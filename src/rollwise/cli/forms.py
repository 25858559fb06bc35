"""The forms in which a game is played: as it is, as a chase, as a contest, or by more than two."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from rollwise.cli.app import parameter_not_option
from rollwise.cli.common import Typed, read_game, refuse
from rollwise.errors import ParameterError, UsageError
from rollwise.game import Game, has_many

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
