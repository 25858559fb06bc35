"""What the commands about scores share: chases, policies by name, lists of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.errors import UsageError
from rollwise.game import Game

if TYPE_CHECKING:
    from rollwise.graph.policies import Ties

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
PlayersOption = Annotated[
    int, typer.Option("--players", metavar="N", help="How many take a turn each.")
]


def as_played(
    game: Game,
    *,
    chase: bool = False,
    contest: bool = False,
    target: int | None = None,
    ties: str | None = None,
    need_target: bool = False,
) -> Game:
    """The game that --chase, --contest, --target and --ties make of a solitaire game.

    Raises
    ------
    UsageError
        One of them says nothing, since it goes with another that wasn't given.
    """
    if target is not None and not chase:
        raise UsageError("--target goes with --chase")
    if chase and contest:
        raise UsageError("--chase and --contest can't both be had")
    if chase:
        return _chase(game, target, ties, need_target)
    if contest:
        from rollwise.derive.contest import Duel

        return Duel(game, "shared" if ties is None else ties)
    if ties is not None:
        raise UsageError("--ties goes with --chase or --contest")
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


def ties_document(ties: Ties | None) -> dict[str, int] | None:
    """What --json prints as ``equally_good``: in how many states several actions are."""
    return None if ties is None else ties._asdict()


def tell_ties(told: dict[str, int] | None, indent: str = "  ") -> None:
    """The line about ties of what `ties_document` gave, where there are any."""
    from rollwise.graph.policies import Ties

    if told is not None:
        typer.echo(f"{indent}{Ties(**told).text}")


def read_scores_option(text: str | None) -> tuple[int, ...]:
    """Scores as typed: ``7,5``."""
    if text is None or not text.strip():
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{text!r} isn't a list of scores such as 7,5") from None
